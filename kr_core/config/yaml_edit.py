"""One value written into a YAML text, in which all else stays as it is: comments, order, quotes.

The text is changed at the place of the value, and read again: where that gives anything but the old values and the new one,
nothing is changed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from kr_core import yaml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UnsuitableTextError", "added", "with_value"]


_LISTED = 4
"""A list with this many values or more has a line for each."""


class UnsuitableTextError(Exception):
    """The text is written in a way in which the value has no plain place."""


def with_value(text: str, key: Sequence[str], value: Any) -> str:
    """The text with a value under a key, whose missing parents are added.

    Raises:
        UnsuitableTextError: it has no plain place there, as below an alias.
    """
    wanted = _set(yaml_text.load(text) or {}, key, value)
    return _checked(_written(text, list(key), value), wanted)


def added(text: str, key: Sequence[str], value: Any) -> str:
    """The text with a value at the end of the list under a key.

    Raises:
        UnsuitableTextError: there is no list, or it has no plain end.
    """
    values = yaml_text.load(text) or {}
    there = values
    for part in key:
        there = there.get(part) if isinstance(there, dict) else None
    if not isinstance(there, list):
        return with_value(text, key, [value])
    node = _node(text, key)
    if not isinstance(node, yaml.SequenceNode) or not node.value:
        return with_value(text, key, [*there, value])
    wanted = _set(values, key, [*there, value])
    if node.flow_style:
        return _checked(
            _inserted(text, node.value[-1].end_mark.index, f", {json.dumps(value, ensure_ascii=False)}"),
            wanted,
        )
    indent = " " * node.start_mark.column
    return _checked(_below(text, node, f"{indent}- {_plain(value)}"), wanted)


def _written(text: str, key: list[str], value: Any) -> str:
    if not text.strip() or _node(text, ()) is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}{_block(key, value, 0)}\n"
    for length in range(len(key), -1, -1):
        node = _node(text, key[:length])
        if node is not None:
            break
    left = key[length:]
    if not left:
        return text[: node.start_mark.index] + _plain(value) + text[node.end_mark.index :]
    if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
        nested = " " + _plain(_nested(left, value))
        return text[: node.start_mark.index].rstrip(" ") + nested + text[node.end_mark.index :]
    if not isinstance(node, yaml.MappingNode):
        raise UnsuitableTextError
    if node.flow_style:
        entry = f"{json.dumps(left[0])}: {json.dumps(_nested(left[1:], value), ensure_ascii=False)}"
        if not node.value:
            return _inserted(text, node.start_mark.index + 1, entry)
        return _inserted(text, node.value[-1][1].end_mark.index, f", {entry}")
    return _below(text, node, _block(left, value, node.start_mark.column))


def _below(text: str, node: Any, lines: str) -> str:
    """The text with lines below the last one of a node in block style, before the comments that follow it."""
    last = _last(node)
    at = last.end_mark.index
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = f"{lines}\n".replace("\n", ending)
    if at and text[at - 1] == "\n":  # a text of several lines ends at the beginning of the next one
        return _inserted(text, at, lines)
    end = text.find("\n", at)
    return f"{text}{ending}{lines}" if end < 0 else _inserted(text, end + 1, lines)


def _last(node: Any) -> Any:
    """The last value inside a node in block style."""
    while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        child = node.value[-1]
        node = child[1] if isinstance(node, yaml.MappingNode) else child
    return node


def _block(key: Sequence[str], value: Any, column: int) -> str:
    lines = [f"{' ' * (column + 2 * depth)}{_key(part)}:" for depth, part in enumerate(key)]
    if not isinstance(value, list) or len(value) < _LISTED:
        return "\n".join(lines) + f" {_plain(value)}"
    indent = " " * (column + 2 * len(key))
    return "\n".join([*lines, *(f"{indent}- {_plain(one)}" for one in value)])


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "").isalnum() and yaml_text.load(name) == name
    return name if plain else json.dumps(name, ensure_ascii=False)


def _plain(value: Any) -> str:
    """A value on one line; JSON is YAML, and names and numbers need no quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)}: {_plain(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    return _key(value) if isinstance(value, str) else json.dumps(value)


def _nested(key: Sequence[str], value: Any) -> Any:
    for part in reversed(key):
        value = {part: value}
    return value


def _inserted(text: str, at: int, more: str) -> str:
    return text[:at] + more + text[at:]


def _node(text: str, key: Sequence[str]) -> Any:
    """The node under a key; None where there is none."""
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)  # C's marks count bytes where there are some
    for part in key:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for name, value in node.value if name.value == part), None)
    return node


def _set(values: Any, key: Sequence[str], value: Any) -> Any:
    whole = json.loads(json.dumps(values))  # without what several references share
    here = whole
    for part in key[:-1]:
        if not isinstance(here, dict):
            raise UnsuitableTextError
        if here.get(part) is None:
            here[part] = {}
        here = here[part]
    if not isinstance(here, dict):
        raise UnsuitableTextError
    here[key[-1]] = value
    return whole


def _checked(text: str, wanted: Any) -> str:
    try:
        found = yaml_text.load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise UnsuitableTextError from error
    if found != wanted:
        raise UnsuitableTextError
    return text
