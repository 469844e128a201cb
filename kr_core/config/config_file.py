"""Which folder is the project and which file its configuration; the file as plain values, and the line of each key.

The project root is the nearest folder upwards with a `kr.yaml`, a `[tool.kr]` in its `pyproject.toml` or a
`_bmad/`, in this order within one folder; else the working folder. One file wins, nothing is merged. A bare
`pyproject.toml` or `.git` makes no project.
"""

from __future__ import annotations

import errno
import os
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import ConfigError
from kr_core.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""The way to a value: `("knowledge_research", "sources", 1)`."""

_LARGEST = 1_000_000
"""Bytes of a configuration, or of a `pyproject.toml` with the tables of many tools; one has a few thousand."""
_MAX_NODES = 50_000  # a configuration has a few hundred; aliases of aliases come to millions
_LONGEST_PATH = 300
"""Characters of the path of a key, which each value below it has."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TABLE = ("tool", "kr")
BMAD_FILE = Path("_bmad", "bso", "config.yaml")


class ConfigDocument:
    """A file that was read: its values, and where each key stands.

    Args:
        path: the file.
        shown: its path as messages show it.
        raw: its bytes.

    Raises:
        ConfigError: it is not UTF-8, not YAML or TOML, or not a mapping.
    """

    def __init__(self, path: Path, shown: str, raw: bytes) -> None:
        self.path = path
        self.shown = shown
        self._raw = raw
        self._text = _decoded(raw, shown)
        self.values = _toml_table(self._text, shown) if is_toml(path) else _yaml_values(self._text, shown)

    @cached_property
    def _lines(self) -> Mapping[KeyPath, int]:
        if is_toml(self.path):
            return toml_lines(self._text)
        from kr_core import yaml_text

        return yaml_text.node_lines(self._text)

    @cached_property
    def sha256(self) -> str:
        """What tells this text of the file from any other, in hexadecimal."""
        import hashlib

        return hashlib.sha256(self._raw).hexdigest()

    def origin(self, key: KeyPath) -> str:
        """`kr.yaml:12`, the file and line of a key, or of its nearest parent that the file has."""
        for length in range(len(key), 0, -1):
            line = self._lines.get(key[:length])
            if line is not None:
                return f"{self.shown}:{line}"
        return self.shown


def is_toml(path: Path) -> bool:
    """Whether a file is read as TOML; everything else is YAML."""
    return path.suffix.lower() == ".toml"


def shown(path: Path, working_folder: Path) -> str:
    """A path as a person in the working folder would write it, or in full where that is shorter."""
    try:
        near = os.path.relpath(path, working_folder)
    except ValueError:  # another drive
        return str(path)
    return min(near, str(path), key=len)


def read(path: Path, name: str) -> ConfigDocument:
    """Read a configuration file; an empty one is an empty mapping.

    Args:
        path: the file.
        name: the path as messages show it.

    Raises:
        ConfigError: it is missing, no file, not UTF-8, not YAML or TOML, or not a mapping.
    """
    return ConfigDocument(path, name, _bytes_of(path, name))


def has_table(path: Path, name: str) -> bool:
    """Whether a `pyproject.toml` has a table `[tool.kr]`.

    One that cannot be read concerns us only where it plainly has the table.

    Raises:
        ConfigError: the file mentions `[tool.kr` and is not TOML; it is a pipe or a device, or far too large.
    """
    try:
        raw = read_bytes(path, limit=_LARGEST)
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.EFBIG}:  # whether it concerns us, nobody can tell
            raise ConfigError(
                f"cannot be read: {error.strerror}", where=name, hint="put a plain file in its place"
            ) from None
        return False
    if not re.search(rb"\bkr\b", raw):  # spares nearly every project the import of tomllib
        return False
    try:
        tool = _parse_toml(_decoded(raw, name), name).get("tool")
    except ConfigError:
        if re.search(rb"^[^\S\n]*+\[[^\S\n]*+tool[^\S\n]*+\.[^\S\n]*+kr[^\S\n]*+[.\]]", raw, re.MULTILINE):
            raise
        return False
    return isinstance(tool, dict) and "kr" in tool


def _bytes_of(path: Path, name: str) -> bytes:
    try:
        return read_bytes(path, limit=_LARGEST)
    except FileNotFoundError:
        raise ConfigError(
            "there is no such file", where=name, hint="check the path of the configuration"
        ) from None
    except IsADirectoryError:
        raise ConfigError("this is a folder", where=name, hint="name the configuration file itself") from None
    except OSError as error:
        odd = error.errno in {errno.EINVAL, errno.EFBIG}
        hint = "put a plain file of some kilobytes in its place" if odd else "check its permissions"
        raise ConfigError(f"cannot be read: {error.strerror or error}", where=name, hint=hint) from None


def _decoded(raw: bytes, name: str) -> str:
    try:
        text = raw.decode("utf-8-sig")  # editors on Windows write a byte order mark
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8", where=f"{name}:{line}", hint="save the file in UTF-8") from None
    control = _CONTROL.search(text)
    if control is not None:  # neither YAML nor TOML allows one, but YAML's error has no line
        line = text.count("\n", 0, control.start()) + 1
        raise ConfigError("contains a control character", where=f"{name}:{line}", hint="remove it")
    return text


# -- YAML ------------------------------------------------------------------------------------------------


def _yaml_values(text: str, name: str) -> dict[str, Any]:
    import yaml  # takes longer than looking for the file, which is not always there

    from kr_core import yaml_text

    try:
        yaml_text.check_bounds(text)
        _check_nodes(yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), name)
        values = yaml_text.load(text)
    except yaml_text.NestingError as error:
        line = yaml_text.error_line(error)
        where = f"{name}:{line}" if line else name
        raise ConfigError("nested too deeply", where=where, hint="write it without such nesting") from None
    except yaml_text.AliasError:
        raise _without_end(name) from None
    except yaml.YAMLError as error:
        line = yaml_text.error_line(error)
        problem = getattr(error, "problem", None) or str(error)
        faulty = "".join(text.split("\n")[line - 1 : line]) if line else ""
        tabbed = "\t" in faulty[: len(faulty) - len(faulty.lstrip())]
        hint = "indent with spaces, not tabs" if tabbed else "correct the YAML there"
        raise ConfigError(
            f"not valid YAML: {problem}", where=f"{name}:{line}" if line else name, hint=hint
        ) from None
    except ValueError as error:
        raise ConfigError(
            f"not valid YAML: {error}", where=name, hint="write the value as plain text"
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        line = yaml_text.node_lines(text).get((0,), 1)
        raise ConfigError(
            "the top level is not a mapping", where=f"{name}:{line}", hint="write `key: value` lines"
        )
    return values


def _without_end(name: str) -> ConfigError:
    return ConfigError("its aliases (`*name`) grow without end", where=name, hint="write the values out")


def _too_many(name: str) -> ConfigError:
    return ConfigError(f"has more than {_MAX_NODES:,} values", where=name, hint="make it shorter")


def _check_nodes(root: Any, name: str) -> None:
    """Refuse a key that stands twice (YAML would keep the last in silence), and aliases that grow without end."""
    import yaml

    waiting: list[tuple[Any, str]] = [(root, "")]
    seen = 0
    known: set[int] = set()
    while waiting:
        node, above = waiting.pop()
        seen += 1
        known.add(id(node))
        if seen > _MAX_NODES:
            raise _too_many(name) if len(known) == seen else _without_end(name)
        if isinstance(node, yaml.SequenceNode):
            waiting.extend(
                (item, f"{above[:_LONGEST_PATH]}[{number}]") for number, item in enumerate(node.value)
            )
        elif isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key.value, str):
                    continue  # a key that is a list; loading says so
                here = f"{above[:_LONGEST_PATH]}.{key.value[:_LONGEST_PATH]}".lstrip(".")
                if key.value in first and key.value != "<<":
                    raise ConfigError(
                        f"`{here}` stands twice, in line {first[key.value]} and in line {line}",
                        where=f"{name}:{line}",
                        hint="keep one of them",
                    )
                first[key.value] = line
                waiting.append((value, here))


# -- TOML ------------------------------------------------------------------------------------------------


def _parse_toml(text: str, name: str) -> dict[str, Any]:
    import tomllib

    from kr_core.toml_text import LongKeyError, load_toml

    try:
        return load_toml(text, parse_float=str)  # so that a version 2.10 is not 2.1
    except LongKeyError as error:
        raise ConfigError(f"{error}", where=f"{name}:{error.line}", hint="write a shorter one") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"(?<!\s)\s*+\(at line (\d+), column \d+\)", str(error))
        problem = str(error).replace(place.group(), "") if place else str(error)
        where = f"{name}:{place.group(1)}" if place else name
        raise ConfigError(f"not valid TOML: {problem}", where=where, hint="correct the TOML there") from None
    except RecursionError:
        raise ConfigError("nested too deeply", where=name, hint="write it without such nesting") from None


def _toml_table(text: str, name: str) -> dict[str, Any]:
    tool = _parse_toml(text, name).get("tool")
    if not isinstance(tool, dict) or "kr" not in tool:
        raise ConfigError("it has no table [tool.kr]", where=name, hint="add [tool.kr], or name another file")
    table = tool["kr"]
    if not isinstance(table, dict):
        line = toml_lines(text).get((), 0)
        where = f"{name}:{line}" if line else name
        raise ConfigError(
            "`tool.kr` is not a table", where=where, hint="write [tool.kr] and the keys under it"
        )
    return table


_TOML_LINE = re.compile(
    r"""\s*+(?:\[\[?+\s*+(?P<table>(?:"[^"]*+"|'[^']*+'|[^\]"'])++)\]|(?P<key>[\w."'-]++(?:\s++[\w."'-]++)*+)\s*+=)""",
)
_TOML_PART = re.compile(r""""([^"]*)"|'([^']*)'|([^.\s"']+)""")


def toml_lines(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of each table header and key under `[tool.kr]`, by its path below that table.

    Keys inside inline tables and items of lists have no line of their own: the TOML parser keeps none, and
    their parent's is near enough.
    """
    lines: dict[KeyPath, int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        found = _TOML_LINE.match(line)
        if found is None:
            continue
        parts = tuple(a or b or c for a, b, c in _TOML_PART.findall(found["table"] or found["key"]))
        if found["table"]:
            table = parts
        path = parts if found["table"] else table + parts
        if path[:2] == _TABLE:
            lines.setdefault(path[2:], number)
    return lines


class DiscoveredProject(NamedTuple):
    """A project: its root, its configuration file and what was looked at to find them."""

    root: Path
    file: Path | None
    """None where the defaults hold."""
    bmad: bool
    """Whether the file is BMAD's own, which has other readers and so keys that KR does not know."""
    looked_at: tuple[Path, ...]
    """Every path that decided, whether it exists or not: while none changes, the answer is the same."""


def find(working_folder: Path, file: Path | None = None) -> DiscoveredProject:
    """Find the project of a working folder.

    Args:
        working_folder: where to start.
        file: the file that the user names (relative to the working folder); the project is then its folder,
            or the one that holds `_bmad/` for BMAD's own file. It need not exist.

    Raises:
        ConfigError: a `pyproject.toml` with `[tool.kr` is not TOML.
    """
    start = Path(os.path.abspath(working_folder))  # noqa: PTH100  resolve() would follow symlinks
    if file is not None:
        return _named(Path(os.path.abspath(start / file)))  # noqa: PTH100  links are kept as they were named
    looked_at: list[Path] = []
    for folder in (start, *start.parents):
        own, pyproject, bmad = folder / "kr.yaml", folder / "pyproject.toml", folder / BMAD_FILE
        looked_at.append(own)
        if os.path.lexists(own):  # also a folder or a dangling link: reading it says what is wrong
            return DiscoveredProject(folder, own, bmad=False, looked_at=tuple(looked_at))
        looked_at.append(pyproject)
        if has_table(pyproject, shown(pyproject, start)):
            return DiscoveredProject(folder, pyproject, bmad=False, looked_at=tuple(looked_at))
        looked_at += [folder / "_bmad", bmad]
        if os.path.isdir(folder / "_bmad"):  # noqa: PTH112  False, not an error, in a closed folder
            there = os.path.lexists(bmad)
            return DiscoveredProject(folder, bmad if there else None, bmad=there, looked_at=tuple(looked_at))
    return DiscoveredProject(start, None, bmad=False, looked_at=tuple(looked_at))


def _named(file: Path) -> DiscoveredProject:
    bmad = file.parts[-3:] == BMAD_FILE.parts
    root = file.parents[2] if bmad else file.parent
    return DiscoveredProject(root, file, bmad=bmad, looked_at=(file,))
