"""One value written below `[tool.kr]` of a TOML text, in which all else stays as it is: comments, order, quotes.

As in `yaml_edit`, the text is changed at the place of the value, and read again: where that gives anything but the old values
and the new one, nothing is changed.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

from kr_core.config.config_file import toml_lines
from kr_core.config.yaml_edit import UnsuitableTextError
from kr_core.toml_text import load_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["added", "assigned", "with_value"]

_TOP = ("tool", "kr")
_MOST_TRIES = 50
"""Ends of a list that are tried; a list of rules has a few."""
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_VALUE = re.compile(
    r"""([^=\n]*+=[ \t]*+)(?:"[^"\\\n]*+"|'[^'\n]*+'|\[[^\]\[#\n]*+\]|[\w.+:-]++)([ \t]*+(?:\#[^\r\n]*+)?+\r?+\n?+)"""
)
"""A key with a value of one line, up to the value, and what follows it."""


def with_value(text: str, key: Sequence[str], value: Any) -> str:
    """The text with a value under a key below `[tool.kr]`, whose missing parents are added.

    Raises:
        UnsuitableTextError: it has no plain place there, as in an inline table.
    """
    return _first(_written(text, tuple(key), value), text, tuple(key), value)


def added(text: str, key: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with a table at the end of the list under a key below `[tool.kr]`.

    Raises:
        UnsuitableTextError: it has no plain end there.
    """
    there: Any = _values(text)
    for part in (*_TOP, *key):
        there = there.get(part) if isinstance(there, dict) else None
    if not isinstance(there, list):
        return with_value(text, key, [value])
    tries = (*_at_an_end(text, tuple(key), value), text + _gap(text) + _table(key, [value], _ending(text)))
    return _first(tries, text, tuple(key), [*there, value])


def _table(key: Sequence[str], value: Any, ending: str = "\n") -> str:
    """The lines that set a value, to be put at the end of a file."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        tables = [(f"[[{_dotted((*_TOP, *key))}]]", one) for one in value]
    else:
        tables = [(f"[{_dotted((*_TOP, *key[:-1]))}]", {key[-1]: value})]
    return ending.join(
        "".join(
            f"{line}{ending}" for line in (head, *(assigned((name,), one) for name, one in table.items()))
        )
        for head, table in tables
    )


def _first(tries: Iterator[str] | Sequence[str], text: str, key: tuple[str, ...], value: Any) -> str:
    """The first of the texts that has the value, and else what it had before."""
    wanted = _set(_values(text), (*_TOP, *key), value)
    for tried in tries:
        try:
            found = _values(tried)
        except UnsuitableTextError:
            continue
        if found == wanted:
            return tried
    raise UnsuitableTextError


def _written(text: str, key: tuple[str, ...], value: Any) -> Iterator[str]:
    """Texts with the value: in its place, beside what is set near it, in a table of its own."""
    lines, places = text.splitlines(keepends=True), toml_lines(text)
    at = places.get(key)
    found = None if at is None else _VALUE.fullmatch(lines[at - 1])
    if at is not None and found is not None:
        yield "".join([*lines[: at - 1], f"{found[1]}{_plain(value)}{found[2]}", *lines[at:]])
    for length in range(len(key) - 1, 0, -1):
        near = [line for path, line in places.items() if path[:length] == key[:length]]
        if near:
            line = max(near)
            table = _table_at(lines, line)
            if table == key[: len(table)]:
                end = "" if lines[line - 1].endswith("\n") else _ending(text)
                new = f"{end}{assigned(key[len(table) :], value)}{_ending(text)}"
                yield "".join([*lines[:line], new, *lines[line:]])
    yield text + _gap(text) + _table(key, value, _ending(text))


def _table_at(lines: Sequence[str], number: int) -> tuple[str, ...]:
    """Below `[tool.kr]`, the table that a line is in or opens; of another table all of its name, which no key begins with."""
    for line in reversed(lines[:number]):
        if line.lstrip().startswith("["):
            opened = toml_lines(line)
            return tuple(map(str, next(iter(opened)))) if opened else (line,)
    return ("",)


def _at_an_end(text: str, key: tuple[str, ...], value: Mapping[str, Any]) -> Iterator[str]:
    """Texts with a table before a bracket that may close the list."""
    number = toml_lines(text).get(key)
    if number is None:
        return
    start = sum(map(len, text.splitlines(keepends=True)[: number - 1]))
    closing = [one.start() for one in re.finditer(r"\]", text[start:])][:_MOST_TRIES]
    for at in (start + one for one in closing):
        before = text[:at].rstrip()
        own_line = text[text.rfind("\n", 0, at) + 1 : at].strip() == ""
        if own_line:
            begins = text.rfind("\n", 0, at) + 1
            indent = re.match(r"[ \t]*+", text[text.rfind("\n", 0, begins - 1) + 1 : begins])
            new = f"{indent[0] if indent else ''}{_plain(value)},{_ending(text)}"
            yield text[:begins] + new + text[begins:]
            yield f"{before},{_ending(text)}{new}{text[begins:]}"
        yield f"{before}, {_plain(value)}{text[at:]}"
        yield f"{before}{_plain(value)}{text[at:]}"


def _values(text: str) -> dict[str, Any]:
    try:
        return load_toml(text.removeprefix("\ufeff"), parse_float=str)
    except (ValueError, RecursionError) as error:
        raise UnsuitableTextError from error


def _set(values: dict[str, Any], key: Sequence[str], value: Any) -> dict[str, Any]:
    whole = copy.deepcopy(values)
    here: Any = whole
    for part in key[:-1]:
        here = here.setdefault(part, {})
        if not isinstance(here, dict):
            raise UnsuitableTextError
    here[key[-1]] = value
    return whole


def assigned(key: Sequence[str], value: Any) -> str:
    """A key with its value, on one line without an end."""
    return f"{_dotted(key)} = {_plain(value)}"


def _dotted(key: Sequence[str]) -> str:
    return ".".join(part if _BARE.fullmatch(part) else _plain(part) for part in key)


def _plain(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(assigned((name,), one) for name, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str) -> str:
    """What is put between a text and a table at its end."""
    ending = _ending(text)
    return ("" if text.endswith("\n") or not text else ending) + (ending if text.strip() else "")
