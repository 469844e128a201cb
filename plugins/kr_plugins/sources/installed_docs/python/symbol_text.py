"""The text of a symbol's passage: its signature, and the part of its docstring that has no passage of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.python import deprecation

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from kr_plugins.sources.installed_docs.python import docstrings
    from kr_plugins.sources.installed_docs.python.definitions import Definition

MAX_TEXT = 6000
_MAX_MORE_CODE = 4000
"""Characters of the examples at the end of a long docstring."""
_MAX_OPENING = 4


def symbol_text(definition: Definition) -> tuple[str, list[list[int]]]:
    """Signature (a class's constructor too), docstring without its parameter sections, which are passages of their own, and short code."""
    parts = definition.signature.split("\n")
    lines = [[0, definition.line]]
    if definition.constructor is not None:
        lines.append([len(parts), definition.constructor[0]])
        parts.extend(definition.constructor[1].split("\n"))
    elif definition.kind == "class" and definition.fields:
        for field in definition.parameters[:40]:
            lines.append([len(parts), field.line])
            parts.extend(field.source.split("\n"))
    doc = definition.doc
    if added := deprecation_lines(definition):
        assert definition.deprecated is not None
        lines.append([len(parts), definition.deprecated.line])
        parts.extend(added)
    if doc is None:
        _add_body(definition, parts, lines)
        return "\n".join(parts), lines
    size = sum(map(len, parts))
    previous = None
    kept = _kept_lines(doc, doc.of_parameters(), MAX_TEXT - size)
    for number in kept:
        if previous is None or number != previous + 1:
            lines.append([len(parts), definition.doc_line + number])
        parts.append(doc.lines[number])
        previous = number
    _add_body(definition, parts, lines)
    return "\n".join(parts), lines


def _add_body(definition: Definition, parts: list[str], lines: list[list[int]]) -> None:
    """Add a short function's code between fences, so that no sentence is taken from it."""
    first, body = definition.body
    if body:
        fence = "~~~" if any("```" in line for line in body) else "```"
        lines.append([len(parts), first - 1])  # the fence takes the place of the line above
        parts.extend([f"{fence}python", *body, fence])


def deprecation_lines(definition: Definition) -> tuple[str, ...]:
    """The lines that say that a symbol is deprecated, where its docstring does not."""
    said, doc = definition.deprecated, definition.doc
    if said is None or (doc is not None and said.said in deprecation.folded(doc.lines)):
        return ()
    return said.lines


def _kept_lines(doc: docstrings.Docstring, skipped: AbstractSet[int], room: int) -> list[int]:
    """The lines of a docstring for which there is room, and some examples behind them: those of long docstrings stand last."""
    kept: list[int] = []
    for number, line in enumerate(doc.lines):
        room -= 0 if number in skipped else len(line) + 1
        if room < 0:
            break
        if number not in skipped:
            kept.append(number)
    else:
        return kept
    more = _MAX_MORE_CODE
    last = kept[-1] if kept else -1
    for block in doc.code:
        start = block.line if doc.lines[block.line].lstrip().startswith(">>>") else _opening(doc, block.line)
        run = [
            number
            for number in range(max(start, last + 1), min(block.end + 1, len(doc.lines)))
            if number not in skipped
        ]
        size = sum(len(doc.lines[number]) + 1 for number in run)
        if block.end <= last or size > min(more, MAX_TEXT):
            continue
        kept += run
        more -= size
        last = run[-1] if run else last
    return kept


def _opening(doc: docstrings.Docstring, start: int) -> int:
    """The line that opens a block of code: a fence, a directive, or what ends with `::`."""
    place = start - 1
    while place > 0 and start - place < _MAX_OPENING and not doc.lines[place].strip():
        place -= 1
    return max(place, 0)
