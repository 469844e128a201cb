"""Docstrings taken apart: lead, documented parameters, sections and code, each with its line.

Four styles are read, as they are met in the wild: Google (`Args:`), NumPy (underlined headings), Sphinx
(`:param name:`) and Markdown bullets (`* **name** - text`). Line numbers count from 0 within the cleaned text,
so that a citation can name the line of the file.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_GOOGLE_PARAMETERS = re.compile(
    r"^(?:Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Attributes):\s*$"
)
_GOOGLE_SECTION = re.compile(
    r"^(?:Returns?|Raises|Yields?|Examples?|Notes?|References|See Also|Todo|Warnings?|Warns|Usage):\s*$"
)
_NUMPY_PARAMETERS = frozenset({"parameters", "other parameters", "attributes", "keyword arguments"})
_MARKDOWN_PARAMETERS = re.compile(
    r"^(?:\*\*|#+ *)(?:Parameters|Arguments|Args|Options):?(?:\*\*)?:?\s*$", re.IGNORECASE
)
_FIELD = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword|kwarg|kwparam|attr|ivar|cvar)\s++([^:]++):(?:\s++(.*))?$"
)
_ANY_FIELD = re.compile(r"^:[a-zA-Z][^:`]*:(?:\s|$)")
_NAME = r"\*{0,2}[A-Za-z_][\w.\-]*+"
_GOOGLE_ENTRY = re.compile(
    rf"^({_NAME}(?:\s*(?:,|/)\s*{_NAME})*)\s*+(?:\(((?:[^()]*+\([^)]*+\))*[^)]*+)\)\s*+)?:(?:\s++(.*))?$"
)
_NUMPY_ENTRY = re.compile(rf"^({_NAME}(?:\s*+,\s*+{_NAME})*+)\s*+(?::\s*+(.*))?$")
_BULLET_ENTRY = re.compile(
    rf"^[*+-]\s+(?:\*\*|``?)({_NAME}(?:(?:\*\*|``?)?\s*,\s*(?:\*\*|``?)?{_NAME})*)(?:\*\*|``?)\s*+(?:[-:–—]++\s*+)?(.*)$"
)
_MARKED_NAME = r"[*+-]?\s*(?:\*\*|\*|``?)?(\w++)(?:\*\*|\*|``?)?"
_HEADED = re.compile(rf"{_MARKED_NAME}\s*(?:(?:--?|[–—:])\s+\S.*|:?)$")
_ALONE = re.compile(rf"{_MARKED_NAME}:?")
_UNDERLINE = re.compile(r"^([-=~^\"'`#*+])\1{2,}\s*$")
_DIRECTIVE_CODE = re.compile(r"^\.\. (?:code-block|sourcecode|code|ipython|testcode|plot)::")
_DIRECTIVE = re.compile(r"^\.\. [\w-]+::")
_FENCE = re.compile(r"^(`{3,}|~{3,})\s*([\w+-]*)")
_LOOKS_LIKE_CODE = re.compile(
    r"^\s*(?:import [\w.]+|from [\w.]+ import |@\w|[a-z_][\w.]*(?:, ?\w+)* = \S|(?:async )?with [\w.]+\(.*:$"
    r"|(?:await |return |print)?[A-Za-z_][\w.]*\(.*\)\s*(?:#.*)?$)"
)

_MAX_NAMES = 20
"""Parameters that one description may name; each of them gets the whole description."""
_MAX_PARAGRAPH = 900
"""Characters of a paragraph that says something of one parameter; a longer one is about the whole."""


class DocumentedParameter(NamedTuple):
    """A parameter as a docstring describes it."""

    name: str
    type_text: str
    line: int
    end: int
    """The line after its last one."""
    default: str = ""
    """The default beside the name: `:param pool_size=5:`."""


class CodeBlock(NamedTuple):
    """Code as it stands in a text, prompts and indentation removed."""

    code: str
    line: int
    end: int


class DocstringSection(NamedTuple):
    """A headed part of a docstring; the unheaded beginning has the title ''."""

    title: str
    line: int
    end: int
    parameters: bool


class Docstring(NamedTuple):
    """A cleaned docstring and where its parts are."""

    lines: tuple[str, ...]
    lead: str
    """The first paragraph, folded into one line."""
    sections: tuple[DocstringSection, ...]
    parameters: tuple[DocumentedParameter, ...]
    code: tuple[CodeBlock, ...]


def clean(value: str) -> tuple[list[str], int]:
    """The lines of a docstring without its indentation and outer blank lines, and how many lines were cut off at the top.

    The same as `inspect.cleandoc`, but that it says what it removed.
    """
    lines = value.expandtabs().split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    cleaned = [lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]
    while cleaned and not cleaned[-1]:
        cleaned.pop()
    cut = 0
    while cleaned and not cleaned[0]:
        cleaned.pop(0)
        cut += 1
    return cleaned, cut


def parse(lines: list[str]) -> Docstring:
    """Take a cleaned docstring apart."""
    sections = _sections(lines)
    parameters: list[DocumentedParameter] = []
    for section in sections:
        if section.parameters:
            parameters.extend(_entries(lines, section))
    parameters.extend(_fields(lines))
    return Docstring(tuple(lines), lead(lines), tuple(sections), tuple(parameters), tuple(code_blocks(lines)))


def lead(lines: list[str]) -> str:
    """The first paragraph of prose, folded into one line; admonitions, directives, headings and code are not prose."""
    paragraph: list[str] = []
    skipping = False
    aside: int | None = None  # how far an admonition is indented: what stands deeper belongs to it
    code_end = 0
    for number, line in enumerate(lines):
        stripped = line.strip()
        if number < code_end:
            continue
        if not stripped or _ANY_FIELD.match(line):
            if paragraph:
                break
            skipping = False
            continue
        if aside is not None and len(line) - len(line.lstrip()) > aside:
            continue
        aside = None
        code_end = fence_end(lines, number)
        if code_end:
            if paragraph:
                break
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not paragraph and (stripped.startswith(("!!!", "???", "..", "@")) or _UNDERLINE.match(following)):
            skipping = True  # to the end of this paragraph
            indent = len(line) - len(line.lstrip())
            aside = indent if stripped.startswith(("!!!", "???", "..")) else None
        if skipping:
            continue
        if _UNDERLINE.match(line) or stripped.startswith(">>>"):
            if paragraph:
                break
            continue
        paragraph.append(stripped)
    return re.sub(r"^[-*+•]\s+", "", " ".join(paragraph))


def _sections(lines: list[str]) -> list[DocstringSection]:
    starts: list[tuple[int, int, str, bool]] = [(0, 0, "", False)]  # line, first body line, title, parameters
    begun: dict[int, str] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if code_end := fence_end(lines, number):
            number = code_end
            continue
        if line.strip() and not line.startswith(" ") and _UNDERLINE.match(following):
            title = line.strip()
            starts.append((number, number + 2, title, title.lower() in _NUMPY_PARAMETERS))
            number += 2
            continue
        if _MARKDOWN_PARAMETERS.match(line):
            starts.append((number, number + 1, "Parameters", True))
        elif _GOOGLE_PARAMETERS.match(line):
            starts.append((number, number + 1, line.strip().rstrip(":"), True))
        elif _GOOGLE_SECTION.match(line):
            starts.append((number, number + 1, line.strip().rstrip(":"), False))
        elif starts[-1][3] and line and not line[0].isspace() and re.match(r"^\*\*[^*]+:?\*\*:?\s*$", line):
            starts.append((number, number + 1, line.strip("*: "), False))
        elif (
            starts[-1][3]
            and starts[-1][1] == starts[-1][0] + 1
            and _leaves(lines, starts[-1][1], number, begun)
        ):
            starts.append((number, number, "", False))
        number += 1
    ends = [start[0] for start in starts[1:]] + [len(lines)]
    return [
        DocstringSection(title, body, end, parameters)
        for (_line, body, title, parameters), end in zip(starts, ends, strict=True)
        if end > body
    ]


def _leaves(lines: list[str], start: int, number: int, begun: dict[int, str]) -> bool:
    """Whether an unindented line comes after a list of parameters: below indented ones, or in a paragraph of its own.

    `begun` keeps the first line with text of each list, which is looked for once.
    """
    line = lines[number]
    if not line.strip() or line[0].isspace() or _BULLET_ENTRY.match(line):
        return False
    if start not in begun:
        begun[start] = next(lines[place] for place in range(start, number + 1) if lines[place].strip())
    return begun[start][0].isspace() or not (lines[number - 1].strip() or _GOOGLE_ENTRY.match(line))


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


def _entries(lines: list[str], section: DocstringSection) -> list[DocumentedParameter]:
    found: list[tuple[str, str, int]] = []
    margin = min(
        (len(line) - len(line.lstrip()) for line in lines[section.line : section.end] if line.strip()),
        default=0,
    )
    numpy = section.line > 0 and bool(_UNDERLINE.match(lines[section.line - 1]))
    end = section.end
    for number in range(section.line, section.end):
        line = lines[number]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) > margin:
            continue
        text = line.strip()
        bullet = _BULLET_ENTRY.match(text)
        if bullet:
            found.append((bullet[1], "", number))
            continue
        if margin == 0 and not numpy and found and section.title != "Parameters":
            end = number  # unindented text after a Google section is no longer part of it
            break
        entry = _NUMPY_ENTRY.match(text) if numpy else _GOOGLE_ENTRY.match(text)
        if entry:
            found.append((entry[1], (entry[2] or "").strip(), number))
    if not found:
        return []
    ends = [line for _names, _type, line in found[1:]] + [end]
    return [
        DocumentedParameter(name, type_text, line, last)
        for (names, type_text, line), last in zip(found, ends, strict=True)
        for name in _split_names(names)
    ]


def described(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """The lines (first, one past the last) in which a docstring describes a parameter outside of any section; None if it does not.

    Three ways are met: the name alone on a line with indented text below it, the name before a dash or colon, and a
    paragraph that marks the name as code.
    """
    if not any(name in line for line in lines):
        return None
    for number, line in enumerate(lines):
        stripped = line.strip()
        headed = _HEADED.match(stripped) if name in stripped else None
        if headed is None or headed[1] != name:
            continue
        end = _block_end(lines, number)
        if end > number + 1 or not _ALONE.fullmatch(stripped):
            return number, end
    marked = tuple(f"{before}{name}{after}" for before in "*`" for after in "*`")
    end = 0
    for number, line in enumerate(lines):
        if number >= end and name in line and any(mark in line for mark in marked):
            start, end = _paragraph(lines, number)
            if sum(map(len, lines[start:end])) <= _MAX_PARAGRAPH:
                return start, end
    return None


def _block_end(lines: Sequence[str], number: int) -> int:
    """The line after a block: a line, and those below it that are indented more, with the blank ones between them."""
    depth = len(lines[number]) - len(lines[number].lstrip())
    end = number + 1
    for place in range(number + 1, len(lines)):
        line = lines[place]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= depth:
            break
        end = place + 1
    return end


def _paragraph(lines: Sequence[str], number: int) -> tuple[int, int]:
    start, end = number, number + 1
    while start and lines[start - 1].strip():
        start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return start, end


def _split_names(names: str) -> list[str]:
    parts = re.split(r"[,/]", names, maxsplit=_MAX_NAMES)[:_MAX_NAMES]
    return [name.strip(" *`") for name in parts if name.strip(" *`")]


def _fields(lines: list[str]) -> list[DocumentedParameter]:
    found: list[DocumentedParameter] = []
    types: dict[str, str] = {}
    for number, line in enumerate(lines):
        typed = re.match(r"^\s*+:type\s++(\S[^\s:]*+):\s*+(.*)$", line)
        if typed:
            types[typed[1]] = typed[2]
        field = _FIELD.match(line.strip())
        if not field:
            continue
        indent = len(line) - len(line.lstrip())
        end = number + 1
        while end < len(lines) and (
            not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
        ):
            end += 1
        while end > number + 1 and not lines[end - 1].strip():
            end -= 1
        *kind, name = field[1].replace(",", " ").split()
        name, _equals, default = name.partition("=")
        found.append(DocumentedParameter(name.strip("*\\"), " ".join(kind), number, end, default))
    return [entry._replace(type_text=entry.type_text or types.get(entry.name, "")) for entry in found]


class _CodeSpan(NamedTuple):
    """Where code stands in a text: its lines, and the line after what marks it."""

    start: int
    end: int
    following: int


_MAX_TRIES = 8
"""So often unmarked code is looked for in a paragraph: to parse it from each of its lines on would be quadratic."""
_SHOWN_LANGUAGES = frozenset(
    ["", *"python py python3 pycon console shell bash sh toml ini yaml text json sql html jinja".split()]
)
"""Languages of fences whose code is shown."""


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
