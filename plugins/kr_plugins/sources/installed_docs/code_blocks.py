"""Code in the text of docstrings, READMEs and pages: fenced, indented below `::`, doctest, or without any mark."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTIVE_CODE = re.compile(r"^\.\. (?:code-block|sourcecode|code|ipython|testcode|plot)::")
_DIRECTIVE = re.compile(r"^\.\. [\w-]+::")
_FENCE = re.compile(r"^(`{3,}|~{3,})\s*([\w+-]*)")
_LOOKS_LIKE_CODE = re.compile(
    r"^\s*(?:import [\w.]+|from [\w.]+ import |@\w|[a-z_][\w.]*(?:, ?\w+)* = \S|(?:async )?with [\w.]+\(.*:$"
    r"|(?:await |return |print)?[A-Za-z_][\w.]*\(.*\)\s*(?:#.*)?$)"
)

_MAX_TRIES = 8
"""So often unmarked code is looked for in a paragraph: to parse it from each of its lines on would be quadratic."""
_SHOWN_LANGUAGES = frozenset(
    ["", *"python py python3 pycon console shell bash sh toml ini yaml text json sql html jinja".split()]
)
"""Languages of fences whose code is shown."""


class CodeBlock(NamedTuple):
    """Code as it stands in a text, prompts and indentation removed."""

    code: str
    line: int
    end: int


class _CodeSpan(NamedTuple):
    """Where code stands in a text: its lines, and the line after what marks it."""

    start: int
    end: int
    following: int


def code_blocks(lines: list[str]) -> list[CodeBlock]:
    """Fenced, indented-literal and doctest code of a text, in order."""
    blocks: list[CodeBlock] = []
    number = tries = 0
    while number < len(lines):
        looks = _may_begin_code(lines, number)
        tries = tries + looks if lines[number].strip() else 0
        span = _code_at(lines, number, parse=looks and tries <= _MAX_TRIES)
        if span is None:
            number += 1
        else:
            _add(blocks, lines, span.start, span.end)
            number = span.following
    return blocks


def _code_at(lines: list[str], number: int, *, parse: bool) -> _CodeSpan | None:
    """The code that begins at a line, by the first of these forms that it has; `parse`: also what only parsing tells."""
    stripped = lines[number].strip()
    return (
        _fenced(lines, number, stripped)
        or _doctest(lines, number, stripped)
        or _literal(lines, number, stripped)
        or (_unmarked(lines, number) if parse else None)
    )


def _fenced(lines: list[str], number: int, stripped: str) -> _CodeSpan | None:
    after = fence_end(lines, number)
    fence = _FENCE.match(stripped) if after else None
    if fence is None:
        return None
    return _CodeSpan(number + 1, after - 1 if fence[2] in _SHOWN_LANGUAGES else number + 1, after)


def _doctest(lines: list[str], number: int, stripped: str) -> _CodeSpan | None:
    if not stripped.startswith(">>>"):
        return None
    end = number
    while end < len(lines) and lines[end].strip():
        end += 1
    return _CodeSpan(number, end, end)


def _literal(lines: list[str], number: int, stripped: str) -> _CodeSpan | None:
    """The indented block below `::` or a directive for code, without the directive's options."""
    if not (stripped.endswith("::") and not _DIRECTIVE.match(stripped)) and not _DIRECTIVE_CODE.match(
        stripped
    ):
        return None
    end = _indented_end(lines, number)
    start = number + 1
    while start < end and (not lines[start].strip() or re.match(r"^\s+:[\w-]+:", lines[start])):
        start += 1
    return _CodeSpan(start, end, end) if start < end else None


def _may_begin_code(lines: list[str], number: int) -> bool:
    """Whether a line looks like the first one of code, but for comments above it."""
    if not _LOOKS_LIKE_CODE.match(lines[number]):
        return False
    above = lines[number - 1].lstrip() if number else ""
    return not above or above.startswith("#")


def _unmarked(lines: list[str], number: int) -> _CodeSpan | None:
    """A paragraph of code without any mark-up, with the comments above it."""
    end = _unmarked_end(lines, number)
    if end <= number:
        return None
    start = number
    while start > 0 and lines[start - 1].lstrip().startswith("# "):
        start -= 1
    return _CodeSpan(start, end, end)


def _unmarked_end(lines: list[str], start: int) -> int:
    """Where a paragraph of code without any mark-up ends; `start` itself if it is not Python after all."""
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    try:
        ast.parse(textwrap.dedent("\n".join(lines[start:end])))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return start
    return end


def _indented_end(lines: list[str], opener: int) -> int:
    indent = len(lines[opener]) - len(lines[opener].lstrip())
    end = opener + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
    ):
        end += 1
    while end > opener + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _add(blocks: list[CodeBlock], lines: list[str], start: int, end: int) -> None:
    taken = lines[start:end]
    margin = min((len(line) - len(line.lstrip()) for line in taken if line.strip()), default=0)
    dedented = [line[margin:] for line in taken]
    if any(line.startswith(">>>") for line in dedented):
        dedented = _without_prompts(dedented)
    code = "\n".join(dedented).strip("\n")
    if code.strip():
        blocks.append(CodeBlock(code, start, end))


def _without_prompts(lines: list[str]) -> list[str]:
    """Doctest input without prompts; what it printed stays as a comment would not be verbatim, so it goes."""
    kept = []
    for line in lines:
        if line.startswith((">>> ", "... ")):
            kept.append(line[4:])
        elif line.rstrip() in {">>>", "..."}:
            kept.append("")
        elif not kept:
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def fenced_code(lines: list[str]) -> list[CodeBlock]:
    """The fenced code of Markdown, of any language, whole."""
    blocks = []
    for number, end in fences(lines):
        code = "\n".join(lines[number + 1 : end - 1]).strip("\n")
        if code.strip():
            blocks.append(CodeBlock(code, number + 1, end - 1))
    return blocks


def fences(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The line that opens each fenced block, and the line after it."""
    number = 0
    while number < len(lines):
        end = fence_end(lines, number)
        if end:
            yield number, end
        number = end or number + 1


def fence_end(lines: list[str], number: int) -> int:
    """The line after a fenced block that begins here; 0 where none does. A line of tildes may underline a title."""
    fence = _FENCE.match(lines[number].strip())
    if not fence:
        return 0
    title = lines[number - 1].strip() if number else ""
    if title and not lines[number].strip().strip("~") and not lines[number - 1].startswith(" "):
        return 0
    end = number + 1
    while end < len(lines) and not _closes(lines[end], fence[1]):
        end += 1
    return end + 1


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])
