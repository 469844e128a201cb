"""Python of a newer version written as an older one parses it: KR may run on an older Python than the project.

What a newer grammar added is rewritten in its place, so that each name stays in its line and column: type parameters
(PEP 695, 696), `type X = ...`, quotes, backslashes and line ends in the fields of an f-string (PEP 701), t-strings (PEP 750),
and `except A, B:` (PEP 758), whose line alone gets two more characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["as_older"]

_PREFIX = r"(?:(?<!\w)(?P<prefix>[rRbBuUfFtT]{1,2}))?"
_NEXT = re.compile(
    rf"#[^\n]*+|{_PREFIX}(?P<quote>\"\"\"|'''|\"|')"
    r"|\b(?P<headed>(?:def|class)[ \t]++\w++[ \t]*+)(?=\[)"
    r"|^(?P<indent>[ \t]*+)type[ \t]++(?P<alias>\w++)[ \t]*+(?=[\[=])"
    r"|^(?P<except>[ \t]*+except\*?)[ \t]++(?P<kinds>[\w.]++(?:[ \t]*+,[ \t]*+[\w.]++)++)(?=[ \t]*+:)",
    re.MULTILINE,
)
_STRING = re.compile(rf"{_PREFIX}(?P<quote>\"\"\"|'''|\"|')")
_NESTED = re.compile(r"#[^\n]*+|[\[({]|[\])}]|(?:[rRbBuUfFtT]{1,2})?[\"']|:")
_GIVEN = re.compile(r"[ \t]{0,20}=(?!=)")
_SPEC = re.compile(r"[{}]")
_NAMED_CHARACTER = re.compile(r"\\N\{[^{}\n]*+\}")
_PLAIN_FIELD = re.compile(r"[^\"'\\#\n]*+")


def as_older(text: str) -> str:
    """The text as Python 3.11 parses it, as far as only what is listed above is newer in it.

    Raises:
        ValueError: a string or a bracket is not closed.
        RecursionError: f-strings are nested too deeply.
    """
    return "".join(_rewritten(text))


def _rewritten(text: str) -> Iterator[str]:
    place = 0
    while (found := _NEXT.search(text, place)) is not None:
        yield text[place : found.start()]
        place = found.end()
        if found["quote"]:
            place, piece = _string(text, found)
            yield piece
        elif found["headed"]:
            place = _closed(text, found.end())
            yield found[0] + _blank(text[found.end() : place])
        elif found["alias"]:
            end = _closed(text, place) if text[place] == "[" else place
            is_alias = _GIVEN.match(text, end)
            place = end if is_alias else place
            gap = text[found.start("alias") : place] if is_alias else ""
            moved = " " * (found.start("alias") - found.end("indent")) + _blank(gap[len(found["alias"]) :])
            yield found["indent"] + found["alias"] + moved if is_alias else found[0]
        elif found["except"]:
            yield f"{found['except']} ({found['kinds']})"
        else:
            yield found[0]
    yield text[place:]


def _string(text: str, start: re.Match[str]) -> tuple[int, str]:
    """The place after a string, and the string as an older Python has it."""
    prefix, quote = start["prefix"] or "", start["quote"]
    if not {*prefix.lower()} & {"f", "t"}:
        end = _end_of_plain(text, start.end(), quote)
        return end, text[start.start() : end]
    older = prefix.replace("t", "f").replace("T", "F")
    pieces = [older, quote]
    place = start.end()
    mark = re.compile(rf"\\N\{{|\\[^{{}}]|\{{\{{|\}}\}}|\{{|{quote}|\n", re.DOTALL)
    while True:
        found = mark.search(text, place)
        if found is None or (found[0] == "\n" and len(quote) == 1):
            raise ValueError("a string is not closed")
        pieces.append(text[place : found.start()])
        place = found.end()
        if found[0] == quote:
            return place, "".join([*pieces, quote])
        if found[0] == "{":
            place = _closed(text, found.start(), is_field=True)
            pieces.append(_older_field(text[found.start() : place], len(quote) == 1))
        elif found[0] == "\\N{" and (named := _NAMED_CHARACTER.match(text, found.start())):
            place = named.end()
            pieces.append(named[0])
        else:
            pieces.append(found[0])


def _end_of_plain(text: str, place: int, quote: str) -> int:
    for found in re.compile(rf"\\.|{quote}|\n", re.DOTALL).finditer(text, place):
        if found[0] == quote:
            return found.end()
        if found[0] == "\n" and len(quote) == 1:
            break
    raise ValueError("a string is not closed")


def _signs(text: str, place: int) -> Iterator[tuple[str, int]]:
    """The brackets and colons from a place on outside of strings and comments, each with the place after it."""
    while (found := _NESTED.search(text, place)) is not None:
        place = found.end()
        if found[0].startswith("#"):
            continue
        if found[0][-1] in "\"'":
            opened = _STRING.match(text, found.start()) or _STRING.match(text, found.end() - 1)
            assert opened is not None, "it begins with a quote"
            place, _older = _string(text, opened)
        elif len(found[0]) == 1:
            yield found[0], place


def _end_of_spec(text: str, place: int) -> int:
    """The place after a field, from the one where its format begins; quotes mean nothing there."""
    while (found := _SPEC.search(text, place)) is not None:
        if found[0] == "}":
            return found.end()
        place = _closed(text, found.start(), is_field=True)
    raise ValueError("a format is not closed")


def _older_field(field: str, in_line: bool) -> str:
    """A field as it is, or where an older Python does not read it, a name and blanks in its place."""
    if _PLAIN_FIELD.fullmatch(field):
        return field
    *lines, last = [
        "{_}".ljust(_width(line)) if not at else " " * _width(line)
        for at, line in enumerate(field.split("\n"))
    ]
    end = "\\\n" if in_line else "\n"
    return "".join(f"{line}{end}" for line in lines) + last


def _closed(text: str, place: int, *, is_field: bool = False) -> int:
    """The place after the bracket that closes the one here; a field of an f-string may end with a format."""
    depth = 0
    for sign, end in _signs(text, place):
        depth += (sign in "[({") - (sign in "])}")
        if not depth:
            return end
        if is_field and sign == ":" and depth == 1:
            return _end_of_spec(text, end)
    raise ValueError("a bracket is not closed")


def _blank(text: str) -> str:
    """Blanks as wide as a text, whose lines go on in one another."""
    *lines, last = text.split("\n")
    return "".join(f"{' ' * (_width(line) - 1)}\\\n" for line in lines) + " " * _width(last)


def _width(text: str) -> int:
    """How many bytes a text has: columns of a syntax tree count these."""
    return len(text.encode())
