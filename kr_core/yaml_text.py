"""YAML as people mean it: versions stay text (`2.10` is not `2.1`), and so do dates, `on` and `off`.

It refuses deep nesting before composing anything, because libyaml's recursive composer would crash the process. It also
refuses references to anchors that expand to more than a person would write, which would fill the memory.
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


class LiteralBlock(str):
    """A text that YAML shows line by line, after a `|`."""

    __slots__ = ()


class _Dumper(_BaseDumper):  # type: ignore[misc]  # one of two bases, of one shape
    """The safe dumper, which knows blocks too."""


_Dumper.add_representer(
    LiteralBlock, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")
)

for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:merge", r"^(?:<<)$", "<"),
):
    _TextLoader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def _number(loader: Any, node: Any) -> Any:
    """A number as the safe loader reads it; `!!int` of many digits, or in sixties, would take it hours."""
    text = loader.construct_scalar(node)
    if len(text) > _MAX_NUMBER_LENGTH:
        raise yaml.constructor.ConstructorError(None, None, "a number that is too long", node.start_mark)
    kind = node.tag.rpartition(":")[2]
    return getattr(loader, f"construct_yaml_{kind}")(node)


for _kind in ("int", "float"):
    _TextLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _number)

YAMLError = yaml.YAMLError
MAX_LEVELS = 100
"""The deepest nesting that is read for sure; what people and programs write has ten levels."""
_ROOM = 50
MAX_ALIASES = 100
"""So many references to anchors are read."""
MAX_REFERRED = 1_000_000
"""So many characters and values may all references together stand for; ten lines of them can stand for 10^10."""
MAX_VALUES = 500_000
"""So many texts, lists and mappings are read; each takes some 700 bytes while it is. An index in KR's own form is read in pieces."""
_MAX_NUMBER_LENGTH = 100
_ALIAS = re.compile(r"(?:^|[\s\[{,:-])\*[^\s,\[\]{}]", re.MULTILINE)


class AliasError(yaml.MarkedYAMLError):
    """The text refers to anchors too often to be read, or what they stand for is too much."""

    def __init__(self, mark: Any, problem: str = f"more than {MAX_ALIASES} references to anchors") -> None:
        super().__init__(problem=problem, problem_mark=mark)


class NestingError(yaml.MarkedYAMLError):
    """The text is nested too deeply to be read."""

    def __init__(self, mark: Any) -> None:
        super().__init__(problem="nested too deeply", problem_mark=mark)


def load(text: str) -> Any:
    """Parse one YAML document into plain values.

    Raises:
        YAMLError: the text is not YAML, nested too deeply, or refers to anchors too often.
        ValueError: the text contains something that safe YAML has no value for.
    """
    check_bounds(text)
    try:
        return yaml.load(text, Loader=_TextLoader)  # noqa: S506  a subclass of the safe loader
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:  # `!!int ""`, `!!bool maybe`
        raise ValueError(f"a value that does not fit its tag ({type(error).__name__})") from error


def check_bounds(text: str) -> None:
    """Refuse a text that is nested too deeply, has too many values, or whose references to anchors expand to too much.

    Raises:
        NestingError, AliasError: with the place.
        YAMLError: the text is not YAML, or too long.
    """
    if _is_flat(text) and _ALIAS.search(text) is None and _is_short(text):
        return
    count = _Count()
    for event in yaml.parse(text, Loader=_Base):
        count.take(event)


class _Count:
    """The levels, values and references of a text, counted as the parser meets them; nothing is composed."""

    def __init__(self) -> None:
        self._anchored: dict[str, tuple[int, int] | None] = {}
        """Size and height of what each anchor names; None while it is open."""
        self._open: list[tuple[str | None, int, int]] = []
        """Anchor, size and height of each list and mapping that is not at its end."""
        self._values = 0
        self._references = 0
        self._referred = 0

    def take(self, event: Any) -> None:
        """Count one event of the parser.

        Raises:
            YAMLError: it is one too many, or one too deep.
        """
        if isinstance(event, yaml.AliasEvent):
            self._refer(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._end(event.anchor, 1 + len(event.value), 0, event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, 1, 0))
            if len(self._open) > MAX_LEVELS:
                raise NestingError(event.start_mark)
            if event.anchor:
                self._anchored[event.anchor] = None
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size, height = self._open.pop()
            self._end(anchor, size, height + 1, event)

    def _end(self, anchor: str | None, size: int, height: int, event: Any) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise yaml.MarkedYAMLError(
                problem=f"more than {MAX_VALUES:,} values", problem_mark=event.start_mark
            )
        if anchor:
            self._anchored[anchor] = size, height
        self._add(size, height)

    def _refer(self, event: Any) -> None:
        self._references += 1
        if self._references > MAX_ALIASES:
            raise AliasError(event.start_mark)
        named = self._anchored.get(event.anchor, (0, 0))  # of an anchor that is not there, loading speaks
        if named is None:
            raise AliasError(event.start_mark, "an anchor that refers to itself")
        size, height = named
        self._referred += size
        if self._referred > MAX_REFERRED:
            raise AliasError(event.start_mark, "references to anchors that stand for too much")
        if len(self._open) + height > MAX_LEVELS:
            raise NestingError(event.start_mark)
        self._add(size, height)

    def _add(self, size: int, height: int) -> None:
        """Count something into the list or mapping that it stands in."""
        if self._open:
            anchor, known, tallest = self._open[-1]
            self._open[-1] = anchor, known + size, max(tallest, height)


def _is_short(text: str) -> bool:
    """Whether a glance shows that a text cannot have too many values: two at most follow each of these marks."""
    return len(text) < MAX_VALUES or 2 * sum(map(text.count, "\n,[{:-?")) < MAX_VALUES


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
    """The line (from 1) of each key or list item of a YAML document, by its path.

    Raises:
        YAMLError: the text is not YAML, or nested too deeply.
    """
    check_bounds(text)
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
    """The line (from 1) of a YAML error, if it has one."""
    mark = getattr(error, "problem_mark", None)
    return None if mark is None else int(mark.line) + 1


def dump(value: Any) -> str:
    """Plain values as YAML, with keys in the given order and any script readable."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))
