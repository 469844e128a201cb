"""A member put into a JSON text, or taken out, with every other byte as it was."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs do not have it
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//|/\*")


class _Member(NamedTuple):
    """Where a member of an object stands: its key's beginning, its value's beginning and end."""

    start: int
    value: int
    end: int


def member(text: str, place: Sequence[str], *, where: str) -> Any:
    """The value under the keys of `place`; None where there is none.

    Raises:
        ConfigError: the text is not a JSON object; with file and line.
    """
    value: Any = _parsed(text, where)
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def with_member(text: str, place: Sequence[str], value: Mapping[str, Any], *, where: str) -> str:
    """The text with a value under the keys of `place`, where nothing stands; objects on the way are made where they are missing.

    Raises:
        ConfigError: the text is not a JSON object, or what stands on the way is none; with file and line.
    """
    inner = _parsed(text, where)
    at = _after_space(text, 0)
    for depth, key in enumerate(place):
        members = _members(text, at, where)
        if key not in members:
            rest: Any = value
            for name in reversed(place[depth + 1 :]):
                rest = {name: rest}
            return _inserted(text, at, members, key, rest)
        at, inner = members[key].value, inner[key]
        if not isinstance(inner, dict):
            hint = "mend it, and run this again"
            raise ConfigError(f"`{key}` is not an object", where=_place(where, text, at), hint=hint)
    return text


def without_member(text: str, place: Sequence[str], *, where: str) -> str:
    """The text without what stands under the keys of `place`, and without the objects that are empty then.

    Where that would be everything, the objects on the way stay: who has made them is not known.

    Raises:
        ConfigError: the text is not a JSON object.
    """
    value: Any = _parsed(text, where)
    spans: list[dict[str, _Member]] = []
    at = inner = _after_space(text, 0)
    for key in place:
        if not isinstance(value, dict) or key not in value:
            return text
        inner = at
        members = _members(text, at, where)
        spans.append(members)
        at, value = members[key].value, value[key]
    for key, members in zip(reversed(place), reversed(spans), strict=True):
        if len(members) > 1:
            return _cut(text, members, key)
    return text[: inner + 1] + text[_after_space(text, spans[-1][place[-1]].end) :]


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        if _COMMENT.match(text, at):
            what, hint = (
                "has comments, which would be lost",
                "add the entry by hand, or take the comments out",
            )
        else:
            what, hint = f"is not JSON: {error}", "mend it, and run this again"
        raise ConfigError(what, where=_place(where, text, at), hint=hint) from error
    if not isinstance(value, dict):
        raise ConfigError("is not a JSON object", where=f"{where}:1", hint="mend it, and run this again")
    return value


def _members(text: str, at: int, where: str) -> dict[str, _Member]:
    """The members of the object that begins at a place of a text that is JSON."""
    decoder = json.JSONDecoder()
    found: dict[str, _Member] = {}
    at = _after_space(text, at + 1)
    while text[at] != "}":
        start = at
        key, at = scanstring(text, at + 1)
        value = _after_space(text, _after_space(text, at) + 1)
        _, end = decoder.raw_decode(text, value)
        if key in found:
            hint = "leave one of them, and run this again"
            raise ConfigError(f"has `{key}` twice", where=_place(where, text, start), hint=hint)
        found[key] = _Member(start, value, end)
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found


def _inserted(text: str, at: int, members: Mapping[str, _Member], key: str, value: Any) -> str:
    """The text with one more member at the end of the object that begins at a place."""
    name = json.dumps(key, ensure_ascii=False)
    if members:
        last = list(members.values())[-1]
        space = text[at + 1 : next(iter(members.values())).start]
        one_line = "\n" not in space
        shown = json.dumps(value) if one_line else _shown(text, value, _indent_of(text, last.start))
        return f"{text[: last.end]},{space or ' '}{name}: {shown}{text[last.end :]}"
    outer = _indent_of(text, at)
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = outer + _step(text)
    end = _after_space(text, at + 1)
    return f"{text[: at + 1]}{newline}{inner}{name}: {_shown(text, value, inner)}{newline}{outer}{text[end:]}"


def _cut(text: str, members: Mapping[str, _Member], key: str) -> str:
    """The text without one of several members of an object, and without one comma."""
    names = list(members)
    number = names.index(key)
    if number:
        return text[: members[names[number - 1]].end] + text[members[key].end :]
    return text[: members[key].start] + text[members[names[1]].start :]


def _shown(text: str, value: Any, indent: str) -> str:
    """A value over several lines, as the rest of the text has them."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, ensure_ascii=False, indent=_step(text)).split("\n")
    return f"{newline}{indent}".join(lines)


def _step(text: str) -> str:
    """By how much the text indents."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found[1] if found else "  "


def _indent_of(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _after_space(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _place(where: str, text: str, at: int) -> str:
    return f"{where}:{text.count(chr(10), 0, at) + 1}"
