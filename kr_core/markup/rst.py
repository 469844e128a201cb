"""reStructuredText as blocks: headings by their underlines, literal blocks and tables whole, lists that are shown as tables too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.markup.blocks import Block
from kr_core.markup.markdown import paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNDER = re.compile(r"([!-/:-@\[-`{-~])\1*\s*$")
_SKIPPED = re.compile(
    r"\.\. (?>\S.*::(?![ \t]*\S)|_[^:]*:|\|.*?\||index::|toctree::|contents::|meta::|highlight::).*"
)
_CODE = re.compile(r"\.\. (?:code|code-block|sourcecode|literalinclude|doctest|testcode|parsed-literal)::")
_SYMBOL = re.compile(
    r"\.\. (?:[a-z]+:)?(?:function|method|class|attribute|module|data|exception|option|envvar|directive|setting|confval)::\s*(\S.*)"
)
_WARNS = re.compile(r"\.\. (?:attention|caution|danger|warning)::")
"""A directive that says how to take what is below it."""
_SAYS = re.compile(r"\.\. (?:admonition|error|hint|important|note|seealso|tip|topic)::")
"""One whose text is prose like any other, if it stands right below."""
_GRID = re.compile(r"(?:\+[-=+]+\+|=+(?: +=+)+)\s*$")
_LIST_TABLE = re.compile(r"[ \t]*\.\. list-table::")
_DEFINED = 90
_HEADING_LINES = 3
"""Of a heading with a line above it."""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text."""
    levels: list[str] = []
    literal = False
    for paragraph, first in _with_lists(paragraphs(text)):
        line = first
        rows = paragraph.split("\n")
        indented = paragraph[0] in " \t"
        if literal and indented:
            yield Block("code", paragraph, f":{line}")
            continue
        literal = paragraph.endswith("::") or bool(_CODE.match(paragraph))
        symbol = _SYMBOL.match(rows[0])
        if symbol:
            yield Block("heading", paragraph, f":{line}", _DEFINED, symbol[1])
            continue
        if _GRID.match(rows[0]) or _LIST_TABLE.match(rows[0]):
            yield Block("table", paragraph, f":{line}")
            continue
        at = 0
        while not indented and (found := _heading(rows[at : at + _HEADING_LINES])) is not None:
            heading, style, taken = found
            if style not in levels:
                levels.append(style)
            shown = "\n".join(rows[at : at + taken])
            yield Block("heading", shown, f":{line + at}", levels.index(style) + 1, heading)
            at += taken
        rows, line = rows[at:], line + at
        if rows and (
            not _SKIPPED.fullmatch(rows[0])
            or (_SAYS.match(rows[0]) and len(rows) > 1)
            or _WARNS.match(rows[0])
        ):
            yield Block("prose", "\n".join(rows), f":{line}")


def _with_lists(paragraphs: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The paragraphs, each list that is shown as a table with all that is indented below it as one."""
    held: list[str] = []
    held_line = held_end = 0
    for paragraph, line in paragraphs:
        if held and _indented(paragraph) > _indented(held[0]):
            held += ["\n" * (line - held_end), paragraph]
            held_end = line + paragraph.count("\n")
            continue
        if held:
            yield "".join(held), held_line
            held = []
        if _LIST_TABLE.match(paragraph):
            held, held_line, held_end = [paragraph], line, line + paragraph.count("\n")
        else:
            yield paragraph, line
    if held:
        yield "".join(held), held_line


def _indented(paragraph: str) -> int:
    return len(paragraph) - len(paragraph.lstrip())


def _heading(rows: list[str]) -> tuple[str, str, int] | None:
    """A heading's words, its style and its lines, where rows begin with one."""
    if len(rows) >= 3 and _UNDER.match(rows[0]) and rows[0].rstrip() == rows[2].rstrip() and rows[1].strip():
        return rows[1].strip(), rows[0][0] * 2, 3
    if len(rows) >= 2 and rows[0].strip() and _UNDER.match(rows[1]) and not _UNDER.match(rows[0]):
        under = rows[1].rstrip()
        if len(under) >= 3 and len(under) >= len(rows[0].rstrip()) - 1 and not rows[0][0].isspace():
            return rows[0].strip(), under[0], 2
    return None
