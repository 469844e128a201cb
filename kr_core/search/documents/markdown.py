"""Markdown and plain text as blocks, verbatim, each with its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from kr_core.search.documents.pieces import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NEVER_HEADING = re.compile(r"[ \t]*(?:[-*+>|<]|\d+[.)][ \t])|[ \t]*$")
_FENCE = re.compile(r" {0,9}(`{3,}|~{3,})([^`]*)$")
_FRONT = re.compile(r"\A---[ \t]*\n(?:.*\n){0,200}?(?:---|\.\.\.)[ \t]*\n")
_LIKE_MARKDOWN = re.compile(r"\A\s*#{1,6} \S")
_UNDERLINED = re.compile(r"(?=[^\S\n]*+\S)[^\n]*+\n([=\-~^*#+])\1{2,}+[ \t]*+\Z")
_HEADING_LENGTH = 400
"""Characters; what is longer is no heading with its underline."""
_INDENT = ("    ", "\t")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in Markdown; front matter is left out."""
    front = _FRONT.match(text)
    start = front.end() if front else 0
    fence: list[str] = []
    mark, fence_line = "", 0
    for paragraph, line in paragraphs(text, start):
        if not mark and "```" not in paragraph and "~~~" not in paragraph and not _has_heading(paragraph):
            yield Block(_kind(paragraph), paragraph, f":{line}")
            continue
        held: list[str] = []
        first = line
        lines = paragraph.split("\n")
        if mark:
            fence.extend([""] * (line - fence_line - len(fence)))
        for number, row in enumerate(lines):
            edge = _FENCE.match(row)
            if mark:
                fence.append(row)
                if edge and edge[1].startswith(mark) and not edge[2].strip():
                    yield Block("code", "\n".join(fence), f":{fence_line}")
                    fence, mark, first = [], "", line + number + 1
                continue
            heading = _HEADING.match(row)
            under = _UNDERLINE.match(row) if len(held) == 1 and not _NEVER_HEADING.match(held[0]) else None
            if under:
                yield Block(
                    "heading",
                    f"{held[0]}\n{row}",
                    f":{first}",
                    1 if under[1][0] == "=" else 2,
                    held[0].strip(),
                )
            elif edge or heading:
                if held:
                    yield Block(_kind("\n".join(held)), "\n".join(held), f":{first}")
                if heading:
                    yield Block(
                        "heading", row.strip(), f":{line + number}", len(heading[1]), _words(heading[2])
                    )
                elif edge:
                    fence, mark, fence_line = [row], edge[1], line + number
            else:
                if not held:
                    first = line + number
                held.append(row)
                continue
            held, first = [], line + number + 1
        if held:
            yield Block(_kind("\n".join(held)), "\n".join(held), f":{first}")
    if fence:
        yield Block("code", "\n".join(fence), f":{fence_line}")


def plain_blocks(text: str) -> Iterator[Block]:
    """The blocks of a plain text; one that begins with a heading of Markdown is read as Markdown."""
    if _LIKE_MARKDOWN.match(text):
        yield from blocks(text)
        return
    for paragraph, line in paragraphs(text):
        if len(paragraph) < _HEADING_LENGTH and paragraph.count("\n") == 1 and _UNDERLINED.match(paragraph):
            title, under = paragraph.split("\n")
            yield Block("heading", paragraph, f":{line}", 1 if under[0] in "=#*" else 2, title.strip())
        else:
            yield Block(_kind(paragraph), paragraph, f":{line}")


def _words(heading: str) -> str:
    """A heading's words without the marks that may close it; a pattern for both takes long where blanks are many."""
    heading = heading.rstrip()
    bare = heading.rstrip("#")
    return bare.rstrip() if bare.endswith((" ", "\t")) else heading


def _has_heading(paragraph: str) -> bool:
    return (
        "#" in paragraph
        or "\n==" in paragraph
        or "\n--" in paragraph
        or "\n=" in paragraph
        or "\n-" in paragraph
    )


def _kind(paragraph: str) -> Literal["code", "table", "prose"]:
    if paragraph.startswith(_INDENT) and all(
        row.startswith(_INDENT) or not row for row in paragraph.split("\n")
    ):
        return "code"
    return "table" if paragraph.lstrip().startswith("|") else "prose"


def paragraphs(text: str, start: int = 0) -> Iterator[tuple[str, int]]:
    """What stands between blank lines, with the line on which it begins; indented ones that follow each other are one."""
    line = 1 + text.count("\n", 0, start)
    held: list[str] = []
    held_line = held_end = 0
    position = start
    for gap in _GAP.finditer(text, start):
        paragraph = text[position : gap.start()]
        if position == start:
            lead = len(paragraph) - len(paragraph.lstrip("\n"))
            line += lead
            paragraph = paragraph[lead:]
        after = line + paragraph.count("\n") + gap[0].count("\n")
        if paragraph.startswith(_INDENT):
            if held:
                held.append("\n" * (line - held_end))
            else:
                held_line = line
            held.append(paragraph)
            held_end = line + paragraph.count("\n")
        else:
            if held:
                yield "".join(held), held_line
                held = []
            if paragraph.strip():
                yield paragraph, line
        position, line = gap.end(), after
    rest = text[position:]
    lead = len(rest) - len(rest.lstrip("\n"))
    rest, line = rest[lead:].rstrip(), line + lead
    if held and rest.startswith(_INDENT):
        rest, line, held = "".join([*held, "\n" * (line - held_end), rest]), held_line, []
    if held:
        yield "".join(held), held_line
    if rest.strip():
        yield rest, line
