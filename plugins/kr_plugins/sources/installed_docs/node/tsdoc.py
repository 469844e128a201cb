"""TSDoc and JSDoc comments taken apart: what is said, of which parameter, and the examples, each with its line.

The tags are those of https://tsdoc.org and https://jsdoc.app that say something to a user of a package. Line numbers
are those of the file, so that a citation can name them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OPEN = re.compile(r"^\s*/\*\*[ \t]?")
_STAR = re.compile(r"^\s*\*(?!/)[ \t]?")
_TAG = re.compile(r"@([A-Za-z]++)\b[ \t]*+(.*)$")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_PARAMETER = re.compile(
    r"(?:\{[^}]*+\}\s*+)?\[?([\w$.]++)(?:=(?:\[[^\[\]]*+\]|[^\]])*+)?\]?\s*+(?:-\s*+)?(.*)$"
)
_CAPTION = re.compile(r"^\s*<caption>.*</caption>\s*$")
_SPOKEN = frozenset({"description", "remarks", "summary", "desc", "overview"})
_DEFAULT = frozenset({"default", "defaultValue", "defaultvalue"})
_HIDDEN = frozenset({"internal", "private", "hidden", "ignore"})


class CommentLine(NamedTuple):
    """A line of a comment without its star, and the line of the file that it stands on (from 1)."""

    number: int
    text: str


class Example(NamedTuple):
    """Code of an `@example`: the line of its tag, and the lines below it; `fenced` where it has fences of its own."""

    tag_line: int
    lines: tuple[CommentLine, ...]
    fenced: bool


class TSDocComment(NamedTuple):
    """What a comment says."""

    prose: tuple[CommentLine, ...] = ()
    """The description, and what stands below `@description`, `@summary` or `@remarks`."""
    parameters: tuple[tuple[str, tuple[CommentLine, ...]], ...] = ()
    """Of each `@param` its name and its lines, the tag itself included."""
    examples: tuple[Example, ...] = ()
    deprecated: bool = False
    hidden: bool = False
    """`@internal` and the like: not meant for users."""
    deprecation: tuple[CommentLine, ...] = ()
    """The lines of `@deprecated`, the tag itself included."""
    default: tuple[CommentLine, ...] = ()
    """The lines of `@default` or `@defaultValue`, the tag itself included."""


def parse(text: str, first_line: int) -> TSDocComment:
    """Take a comment apart, `/**` and stars included; `first_line` is the file's line of its beginning."""
    prose: list[CommentLine] = []
    summary: list[CommentLine] = []
    parameters: list[tuple[str, tuple[CommentLine, ...]]] = []
    examples: list[Example] = []
    deprecation: list[CommentLine] = []
    default: list[CommentLine] = []
    tags: set[str] = set()
    for tag, block in _blocks(_lines(text, first_line)):
        tags.add(tag)
        if tag == "summary":
            summary = _trimmed(block)
        elif not tag or tag in _SPOKEN:
            apart = prose and block[0].text and prose[-1].text
            prose += [*([CommentLine(block[0].number, "")] if apart else []), *block]
        elif tag == "param":
            named = _PARAMETER.match(block[0].text.partition("@param")[2].strip())
            below = any(line.text.strip() for line in block[1:])
            if named and (named[2].strip(" -") or below):
                parameters.append((named[1], tuple(_trimmed(block))))
        elif tag == "example":
            examples += _examples(block)
        elif tag == "deprecated":
            deprecation = _trimmed(block)
        elif tag in _DEFAULT:
            default = _trimmed(block)
    return TSDocComment(
        tuple(_trimmed(prose) or summary),
        tuple(parameters),
        tuple(examples),
        "deprecated" in tags,
        bool(tags & _HIDDEN),
        tuple(deprecation),
        tuple(default),
    )


def _lines(text: str, first_line: int) -> list[CommentLine]:
    found = []
    for offset, raw in enumerate(text.split("\n")):
        line = raw.rstrip()
        if line.endswith("*/"):
            line = line[:-2].rstrip("*")
        line = _OPEN.sub("", line) if offset == 0 else _STAR.sub("", line)
        found.append(CommentLine(first_line + offset, line.rstrip()))
    return found


def _blocks(lines: list[CommentLine]) -> list[tuple[str, list[CommentLine]]]:
    """The comment cut at its tags; the description has the tag "". Text beside a tag that is spoken stays, the tag goes."""
    blocks: list[tuple[str, list[CommentLine]]] = [("", [])]
    fenced = False
    for line in lines:
        found = None if fenced else _TAG.match(line.text.lstrip())
        if _FENCE.match(line.text):
            fenced = not fenced
        if found is None:
            blocks[-1][1].append(line)
        elif found[1] in _SPOKEN:
            blocks.append((found[1], [CommentLine(line.number, found[2])]))
        else:
            blocks.append((found[1], [line]))
    return blocks


def _examples(block: list[CommentLine]) -> list[Example]:
    tag, *rest = block
    beside = tag.text.partition("@example")[2].strip()
    fenced = any(_FENCE.match(line.text) for line in rest)
    if fenced:
        return [Example(tag.number, tuple(_trimmed(rest)), fenced=True)]
    lines = [CommentLine(tag.number, beside), *rest] if beside and not _CAPTION.match(beside) else rest
    code = [line for line in _trimmed(lines) if not _CAPTION.match(line.text)]
    return [Example(tag.number, tuple(code), fenced=False)] if code else []


def _trimmed(lines: list[CommentLine]) -> list[CommentLine]:
    """Lines without blank ones at either end."""
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]
