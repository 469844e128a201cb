"""Sections of a README, documentation file or module docstring: cut with their lines, and turned into passages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage
from kr_plugins.sources.installed_docs.code_blocks import code_blocks, fence_end
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_plugins.sources.installed_docs.code_blocks import CodeBlock

_HOUSEKEEPING = re.compile(
    r"^v?\d+\.\d+|\bv\d+\.\d|\b(?:change(?:s|log)?|release|history|contribut|licen[cs]e|credit|sponsor|author|community|support(?:ing)? |badge|donate"
    r"|acknowledg|security|code of conduct|what's new|backers|documentation$|links?$)",
    re.IGNORECASE,
)


CHANGES = re.compile(r"(?:change(?:s|log)?|history|news|releases?(?:[-_ ]notes)?)\b", re.IGNORECASE)
"""The beginning of a changelog's name."""
_TITLE = re.compile(r"^(?:title|name):[ \t]*+([^\n]{1,200})$", re.MULTILINE)
_LONGEST_FRONT_MATTER = 10_000
_LONGEST_HEADING = 300
"""Characters of a heading, which is repeated with each part of its section."""
_LONG = 2600
"""A longer section is cut at a paragraph, so that a passage stays something one can cite."""
_ATX = re.compile(r"^(#{1,6})\s++(.*)$")
_SETEXT = re.compile(r"^(=+|-+|~+|\^+|\"+|'+|\*+|\++|#+)\s*$")
_SUMMARY = re.compile(r"^\s*+<summary>(.*?)</summary>\s*+$", re.IGNORECASE)
_NOISE = re.compile(
    r"^\s*(?:\[?!\[|<img|<a |</|<p|<div|<br|\.\. image::|\.\. figure::|\.\. \||\{/\*)|^\s*</?[A-Z]\w*[^>]*>?\s*$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]{1,1000}+>")


class TextFile(NamedTuple):
    """A README or documentation file: its text, and the line of the file on which the text begins (from 1)."""

    title: str
    path: str
    text: str
    first_line: int = 1


def without_front_matter(text: str) -> tuple[str, str, int]:
    """The title in a page's front matter (YAML between lines of `---`), the text below it, and the line that it begins on."""
    if not text.startswith("---\n"):
        return "", text, 1
    head, found, body = text[4:].partition("\n---\n")
    if not found or len(head) > _LONGEST_FRONT_MATTER:
        return "", text, 1
    title = _TITLE.search(head)
    return title[1].strip("\"' ") if title else "", body, head.count("\n") + 4


def text_passages(
    text: TextFile,
    *,
    docstring: bool = False,
    code: Callable[[list[str]], list[CodeBlock]] = code_blocks,
) -> Iterator[IndexedPassage]:
    """The sections of a README or documentation file; `code` finds the examples in their lines."""
    is_changes = CHANGES.match(text.path.rpartition("/")[2]) is not None
    for section in sections(text.text, docstring=docstring, code_of=code):
        title = " § ".join([text.title, *section.headings[-2:]])
        heading = " ".join(section.headings[-2:])
        prose = _prose(section.text.split("\n"))
        yield IndexedPassage(
            kind="section",
            title=title,
            text=section.text,
            locator=f"{text.path}:{text.first_line + section.line}",
            name=heading,
            lead=docstrings.lead(prose),
            code=section.code,
            prior=0.3 if is_changes else _prior(heading, section.text),
            data={"lines": [[0, text.first_line + section.line]]},
        )


def _prior(heading: str, text: str) -> float:
    return 0.4 if _HOUSEKEEPING.search(heading) else 0.75 if _is_feature_list(text) else 0.9


def _is_feature_list(text: str) -> bool:
    """Bulleted praise mentions everything and explains nothing."""
    lines = [line for line in text.split("\n") if line.strip()]
    bullets = sum(line.lstrip().startswith(("* ", "- ", "+ ")) for line in lines)
    return bullets >= 4 and bullets >= 0.6 * len(lines)


def _prose(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.lstrip().startswith(("<", "![", "[![", "{/*"))]


class TextSection(NamedTuple):
    """A headed part of a text."""

    headings: tuple[str, ...]
    """From the outermost heading to the section's own."""
    line: int
    """The line (from 0) of `text`'s first line."""
    text: str
    code: tuple[str, ...]


def sections(
    text: str, *, docstring: bool = False, code_of: Callable[[list[str]], list[CodeBlock]] = code_blocks
) -> list[TextSection]:
    """Cut a text at its headings; long sections at paragraphs, badges and images left out of account.

    In a docstring `# text` is a comment in an example, not a heading. `code_of` finds the code in lines.
    """
    lines = text.split("\n")
    found: list[TextSection] = []
    trail: list[tuple[int, str]] = []
    start = 0
    levels: dict[str, int] = {}
    number = 0
    while number < len(lines):
        if code_end := fence_end(lines, number):
            number = code_end
            continue
        heading = _heading(lines, number, levels, atx=not docstring)
        if heading is not None:
            level, title, taken = heading
            _close(found, lines, start, number, trail, code_of)
            while trail and trail[-1][0] >= level:
                trail.pop()
            trail.append((level, title))
            number += taken
            start = number
            continue
        number += 1
    _close(found, lines, start, len(lines), trail, code_of)
    return found


def _heading(
    lines: list[str], number: int, levels: dict[str, int], *, atx: bool
) -> tuple[int, str, int] | None:
    line = lines[number]
    hashes = _ATX.match(line) if atx else None
    if hashes:
        return len(hashes[1]), _plain(hashes[2].rstrip("#")), 1
    summary = _SUMMARY.match(line)
    if summary and summary[1].strip():
        return 6, _plain(summary[1]), 1
    following = lines[number + 1].rstrip() if number + 1 < len(lines) else ""
    title = line.strip()
    underlined = title and _SETEXT.match(following) and len(following) >= min(len(title), 3)
    if underlined and not _SETEXT.match(title) and not line.startswith(("    ", "|", ">")):
        return levels.setdefault(following[0], len(levels) + 1), _plain(title), 2
    if (
        _SETEXT.match(title) and len(title) > 3 and number + 2 < len(lines)
    ):  # overlined, as in reStructuredText
        inner, closing = lines[number + 1].strip(), lines[number + 2].strip()
        if inner and closing == title:
            return levels.setdefault(f"over{title[0]}", len(levels) + 1), _plain(inner), 3
    return None


def _plain(title: str) -> str:
    return re.sub(r"\s+", " ", _TAG.sub("", title)).strip(" *`#")[:_LONGEST_HEADING]


def _close(
    found: list[TextSection],
    lines: list[str],
    start: int,
    end: int,
    trail: list[tuple[int, str]],
    code_of: Callable[[list[str]], list[CodeBlock]],
) -> None:
    headings = tuple(title for _level, title in trail)
    for first, last in _pieces(lines, start, end):
        while first < last and (not lines[first].strip() or _NOISE.match(lines[first])):
            first += 1  # noqa: PLW2901  the lines that were read are passed over
        kept = lines[first:last]
        while kept and not kept[-1].strip():
            kept.pop()
        prose = [line for line in kept if line.strip() and not _NOISE.match(line)]
        if not prose or len(" ".join(prose)) < 20:
            continue
        code = tuple(block.code for block in code_of(kept))
        found.append(TextSection(headings, first, "\n".join(kept), code))


def _pieces(lines: list[str], start: int, end: int) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    size, first, code_end = 0, start, 0
    for number in range(start, end):
        line = lines[number]
        if number >= code_end:
            code_end = fence_end(lines, number)
        size += len(line) + 1
        # A break before a paragraph; never inside a fence, nor between a paragraph and its indented code.
        following = lines[number + 1] if number + 1 < end else ""
        if size > _LONG and number >= code_end and not line.strip() and following[:1].strip():
            pieces.append((first, number))
            first, size = number + 1, 0
    pieces.append((first, end))
    return pieces
