"""YAML read as people mean it: versions stay text (`2.10` is not `2.1`), and dates, `on` and `off` do too.

Deep nesting is refused before anything is composed: libyaml's recursive composer would end the whole process.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BaseDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _TextLoader(_Base):  # type: ignore[misc]  # one of two bases, of one shape
    """The safe loader, with true/false, null and plain integers as its only special scalars."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  yaml's own API


class Block(str):
    """A text that YAML shows line by line, after a `|`."""

    __slots__ = ()


class _Dumper(_BaseDumper):  # type: ignore[misc]  # one of two bases, of one shape
    """The safe dumper, which knows blocks too."""


_Dumper.add_representer(
    Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)

for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:merge", r"^(?:<<)$", "<"),
):
    _TextLoader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))

YAMLError = yaml.YAMLError
MOST_LEVELS = 100
"""The deepest nesting that is read for sure; what people and programs write has ten levels."""
_ROOM = 50
MOST_ALIASES = 100
"""So many references to anchors are read; a few lines of them can stand for more than any memory holds."""
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s,\[\]{}]", re.MULTILINE)


class AliasError(yaml.MarkedYAMLError):
    """The text refers to anchors too often to be read."""

    def __init__(self, mark: Any) -> None:
        super().__init__(problem=f"more than {MOST_ALIASES} references to anchors", problem_mark=mark)


class NestingError(yaml.MarkedYAMLError):
    """The text is nested too deeply to be read."""

    def __init__(self, mark: Any) -> None:
        super().__init__(problem="nested too deeply", problem_mark=mark)


def load(text: str) -> Any:
    """Parse one YAML document into plain values.

    Raises:
        YAMLError: the text is not YAML, nested too deeply, or refers to anchors too often.
        ValueError: the text holds something safe YAML has no value for.
    """
    check_depth(text)
    _check_aliases(text)
    return yaml.load(text, Loader=_TextLoader)  # noqa: S506  a subclass of the safe loader


def check_depth(text: str) -> None:
    """Refuse a text that is nested too deeply.

    Raises:
        NestingError: with the place.
        YAMLError: the text is not YAML.
    """
    if _is_flat(text):
        return
    depth = 0
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MOST_LEVELS:
                raise NestingError(event.start_mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_aliases(text: str) -> None:
    """Refuse a text with very many references; `* a` in plain text is told from one only by the parser."""
    if sum(1 for _ in _ALIAS.finditer(text)) <= MOST_ALIASES:
        return
    count = 0
    for event in yaml.parse(text, Loader=_Base):
        if isinstance(event, yaml.AliasEvent):
            count += 1
            if count > MOST_ALIASES:
                raise AliasError(event.start_mark)


def _is_flat(text: str) -> bool:
    """Whether a glance shows that nothing can be nested deeply; spares an index of 200 entries 20 ms.

    A level takes a bracket, or a column of indentation, or a mark (`-`, `?`, `:`) on its line.
    """
    if text.count("[") + text.count("{") > _ROOM:
        return False
    return all(
        bool(line[:_ROOM].strip()) and line.count("-") + line.count("?") + line.count(":") <= _ROOM
        for line in text.splitlines()
        if len(line) > _ROOM
    )


def node_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line (from 1) on which each key or list item of a YAML document stands, by its path.

    Raises:
        YAMLError: the text is not YAML, or nested too deeply.
    """
    check_depth(text)
    _check_aliases(text)
    lines: dict[tuple[str | int, ...], int] = {}

    def walk(node: Any, path: tuple[str | int, ...]) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                here = (*path, str(key.value))
                lines[here] = key.start_mark.line + 1
                walk(value, here)
        elif isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                lines[(*path, number)] = value.start_mark.line + 1
                walk(value, (*path, number))

    walk(yaml.compose(text, Loader=_TextLoader), ())
    return lines


def error_line(error: yaml.YAMLError) -> int | None:
    """The line (from 1) of a YAML error, where it has one."""
    mark = getattr(error, "problem_mark", None)
    return None if mark is None else int(mark.line) + 1


def dump(value: Any) -> str:
    """Plain values as YAML, keys in the order given, any script readable."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))
