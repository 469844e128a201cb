"""Long examples that list options, each with its comment (axios's request configuration), as one passage for each option.

A fence of three hundred lines answers everything and nothing: what was asked is one of its paragraphs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.toolkit import IndexedPassage

_LONG = 30
"""A fence of so many lines, half of its paragraphs led by a comment, is a list of options."""
_COMMENT = re.compile(r"^\s*+(?://++|#|\*|/\*++)\s?+(.*)$")
_KEY = re.compile(r"^\s*['\"]?([A-Za-z_$][\w$.-]*)['\"]?\s*\??[:=(]")


class _Option(NamedTuple):
    """A paragraph of a fence, counted from the beginning of the section: a comment, and what it speaks of."""

    start: int
    message: list[str]
    """The lines of the comment without its marks."""
    code: list[str]
    key: str


def split(section: IndexedPassage) -> Iterator[IndexedPassage]:
    """A section, and a passage for each option that a long fence in it lists."""
    lines = section.text.split("\n")
    first_line = section.data["lines"][0][1]
    kept = list(lines)
    cut: list[str] = []
    made = []
    number = 0
    while number < len(lines):
        end = docstrings.fence_end(lines, number)
        if not end:
            number += 1
            continue
        options = _options(lines, number + 1, end - 1) if end - number > _LONG else []
        if options:
            kept[number:end] = [""] * (end - number)
            cut.append("\n".join(lines[number + 1 : end - 1]).strip("\n"))
            made += [_passage(section, option, lines[number].strip(), first_line) for option in options]
        number = end
    if not made:
        yield section
        return
    code = tuple(block for block in section.code if block not in cut)
    yield section._replace(prose="\n".join(kept), code=code)
    yield from made


def _options(lines: list[str], first: int, end: int) -> list[_Option]:
    paragraphs = []
    start = first
    for number in range(first, end + 1):
        if number == end or not lines[number].strip():
            if number > start:
                paragraphs.append((start, lines[start:number]))
            start = number + 1
    found = [option for place, paragraph in paragraphs if (option := _option(place, paragraph)) is not None]
    return found if 2 * len(found) >= len(paragraphs) and len(found) > 3 else []


def _option(start: int, lines: list[str]) -> _Option | None:
    while lines and lines[0].strip() in {"{", "["}:
        start, lines = start + 1, lines[1:]
    said: list[str] = []
    for line in lines:
        comment = _COMMENT.match(line)
        if comment is None:
            break
        text = comment[1]
        said.append((text.removesuffix("*/")).rstrip())
    code = lines[len(said) :]
    key = next((found for line in code if not _COMMENT.match(line) and (found := _KEY.match(line))), None)
    return _Option(start, said, code, key[1]) if key is not None and "".join(said) else None


def _passage(section: IndexedPassage, option: _Option, fence: str, first_line: int) -> IndexedPassage:
    margin = min(len(line) - len(line.lstrip()) for line in option.code if line.strip())
    code = "\n".join(line[margin:] for line in option.code)
    line = first_line + option.start
    count = len(option.message)
    path = section.locator.rpartition(":")[0]
    return section._replace(
        title=f"{section.title} § {option.key}",
        text="\n".join([*option.message, fence, code, "```"]),
        locator=f"{path}:{line}",
        name=f"{section.name} {option.key}",
        lead=docstrings.lead(option.message),
        prior=round(section.prior * 0.9, 4),  # it says less than a section that says the same words
        code=(code,),
        prose="\n".join([*option.message, code]),
        data={**section.data, "lines": [[0, line], [count, line + count - 1]]},
    )
