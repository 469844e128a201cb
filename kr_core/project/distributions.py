"""The distributions installed in an environment, read from the names of their metadata folders.

Only folder names are read for the list, so that 100 distributions cost about a millisecond; `importlib.metadata`
would read a file for each.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import lies_within, read_start, read_text
from kr_core.project.environments import named_by_pth
from kr_core.project.package_names import distributions_called, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.project.environments import Environment

_DIST_INFO = re.compile(r"(?P<name>[A-Za-z0-9][\w. -]*)-(?P<version>[A-Za-z_.+!]*+\d[\w.+!]*)\.dist-info")
_EGG_INFO = re.compile(
    r"(?=[^/]*\.egg-info\Z)(?P<name>[A-Za-z0-9][\w. -]*?)-(?P<version>\d[\w.+!]*)(?:-py\d[\d.]*)?(?:-[^/]+)?\.egg-info"
)
_NAME_LINE = re.compile(r"^Name:[ \t]*+([\w.-]{1,200})[ \t\r]*$", re.MULTILINE)
_VERSION_LINE = re.compile(r"^Version:[ \t]*+([\w.!+-]{1,200})[ \t\r]*$", re.MULTILINE | re.ASCII)
_MODULE = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\.[\w-]+)?\.(?:pyi?|so|pyd)", re.ASCII)
_RECORDED = re.compile(r'^"?([^/\\,"\n]++)([/\\,"])(__init__\.)?', re.MULTILINE)
"""A line of a RECORD: the first part of its path, the rest, and whether it makes a folder a package."""
_START = 100_000
"""Bytes of METADATA or PKG-INFO that are read for the name and the version, which come first."""
_LARGEST_RECORD = 20_000_000
"""Bytes; a RECORD of 100,000 files has some ten million."""
_MOST_FILES = 200_000
"""Of a RECORD."""
_LARGEST_TOP_LEVEL = 100_000
"""Bytes of a `top_level.txt`; most name one package."""
_MOST_EDITABLE = 20
"""The `.pth` files of one distribution, and their lines that may name folders."""
_MOST_SEARCHED = 300_000_000
"""What it may cost to look for the modules of an environment; the largest known ones have a tenth."""
_MOST_CALLED = 3
"""The first parts of a dotted name by which people speak of a package."""
_WHOLE, _PART, _SAID = range(3)
"""What a distribution has of a module that it says it ships."""
_PER_FILE = 100
_PER_NAME = 2_000
"""What a file of a RECORD, and a name that is imported, cost in bytes that are read."""
_NOT_IMPORTED = frozenset({"__pycache__", "bin", "docs", "doc", "examples", "scripts", "test", "tests"})
"""Top-level folders that packages leave behind by mistake, or that hold no code to import."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed distribution; `name` is normalised (PEP 503), `site` is its folder."""

    name: str
    version: str
    metadata_folder: Path
    site: Path
    environment: Environment


class InstalledDistributions:
    """What is installed in one environment, scanned once and when it is first asked for.

    What is odd, such as two versions of one distribution, is added to `warnings`.
    """

    def __init__(self, environment: Environment, warnings: list[str]) -> None:
        self.environment = environment
        self.warnings = warnings
        self._by_name: dict[str, Distribution] | None = None
        self._top_level: frozenset[str] = frozenset()
        self._shipping: dict[str, list[tuple[int, Distribution]]] | None = None
        self._owners: dict[str, tuple[Distribution, ...]] = {}
        self._confirmed: dict[Path, Distribution | None] = {}

    @property
    def by_name(self) -> dict[str, Distribution]:
        """The distributions by normalised name."""
        if self._by_name is None:
            self._by_name, self._top_level = self._scan()
        return self._by_name

    @property
    def top_level(self) -> frozenset[str]:
        """Everything that `import` finds at the top, in lower case."""
        assert self.by_name is not None
        return self._top_level

    def confirmed(self, one: Distribution) -> Distribution | None:
        """A distribution as its METADATA names it, which pip and importlib.metadata believe; None where it is another one.

        A folder without METADATA is believed by its name.
        """
        if one.metadata_folder not in self._confirmed:
            self._confirmed[one.metadata_folder] = self._confirm(one)
        return self._confirmed[one.metadata_folder]

    def _confirm(self, one: Distribution) -> Distribution | None:
        head = _start(one.metadata_folder / "METADATA", self.environment.bounds).partition("\n\n")[0]
        name, version = _NAME_LINE.search(head), _VERSION_LINE.search(head)
        said = f"{self.environment.label}: {one.metadata_folder.name} is "
        if name and normalise(name[1]) != one.name:
            self._warn(f"{said}{name[1]} by its METADATA; it is not taken for {one.name}")
            return None
        if version is None or version_key(version[1]) == version_key(one.version):
            return one
        self._warn(f"{said}version {version[1]} by its METADATA, which is taken")
        return replace(one, version=version[1])

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def owners(self, dotted: str) -> tuple[Distribution, ...]:
        """Find the distribution that ships a module, whatever the case: `yaml`, `PIL.Image`, `google.protobuf`.

        They are several where nothing here says which of them: each has the module itself, not only a part of it.
        """
        key = dotted.lower()
        if key.partition(".")[0] not in self.top_level:
            return ()
        if key not in self._owners:
            self._owners[key] = self._find_owners(key)
        return self._owners[key]

    def _find_owners(self, dotted: str) -> tuple[Distribution, ...]:
        parts = dotted.split(".")
        head = normalise(parts[0])
        if self._shipping is None:
            self._shipping = self._find_shipping()
        shipping = self._shipping.get(parts[0], ())
        if len(shipping) < 2:
            return tuple(one for _doubt, one in shipping)
        heads = [".".join(parts[:count]) for count in range(1, _MOST_CALLED + 1)]
        known = {each for name in heads for each in distributions_called(name)}
        left = _MOST_SEARCHED
        ranked = []
        for doubt, one in sorted(shipping, key=lambda each: (head not in each[1].name, each[1].name)):
            # Several distributions may share the top of a dotted name (`google`): the deepest that is owned wins.
            record = _record(one).lower() if left >= 0 and len(parts) > 1 else ""
            left -= len(record)
            is_known = one.name in known or (bool(known) and one.name == head)
            ranked.append(((not is_known, -_depth(record, parts), one.name != head, doubt), one))
        best = min(rank for rank, _one in ranked)
        found = tuple(one for rank, one in ranked if rank == best)
        return found if best[-1] == _WHOLE else found[:1]

    def _find_shipping(self) -> dict[str, list[tuple[int, Distribution]]]:
        """Which distributions ship what is imported by a name, in lower case, and how much of it; beyond the limit only by their own names."""
        found: dict[str, list[tuple[int, Distribution]]] = {}
        left = _MOST_SEARCHED
        for one in self.by_name.values():
            names = {one.name.replace("-", "_"): _PART}
            if left >= 0:
                recorded = _recorded(one)
                told = (*_import_names(one, recorded), *recorded.tops)
                names = {name.lower(): recorded.doubt(name) for name in told}
                left -= recorded.cost + len(names) * _PER_NAME
            for name, doubt in names.items():
                found.setdefault(name, []).append((doubt, one))
        if left < 0:
            self._warn(
                f"{self.environment.label}: its packages list more files than are looked through; name some by the names of their distributions"
            )
        return found

    def _scan(self) -> tuple[dict[str, Distribution], frozenset[str]]:
        found: dict[str, Distribution] = {}
        top_level: set[str] = set()
        for site in self.environment.site_packages:
            here: dict[str, Distribution] = {}
            for name in _names(site):
                lower = name.lower()
                if lower.endswith((".dist-info", ".egg-info")):
                    one = self._distribution(site, name)
                    if one is not None:
                        here[one.name] = self._preferred(here[one.name], one) if one.name in here else one
                elif (module := _MODULE.fullmatch(name)) is not None:
                    top_level.add(module["name"].lower())
                elif name.isidentifier() and lower not in _NOT_IMPORTED:
                    top_level.add(lower)
            for key, one in here.items():
                found.setdefault(key, one)  # an earlier folder hides a later one, as `import` has it
        return found, frozenset(top_level)

    def _distribution(self, site: Path, name: str) -> Distribution | None:
        parsed = _DIST_INFO.fullmatch(name) or _EGG_INFO.fullmatch(name)
        if parsed:
            return Distribution(
                normalise(parsed["name"]), parsed["version"], site / name, site, self.environment
            )
        if name.endswith(".egg-info") and (
            version := _version_in(site / name / "PKG-INFO", self.environment.bounds)
        ):
            # A development install by setuptools: the folder beside the sources bears no version.
            return Distribution(
                normalise(name[: -len(".egg-info")]), version, site / name, site, self.environment
            )
        return None

    def _preferred(self, a: Distribution, b: Distribution) -> Distribution:
        """Choose between two versions of one distribution; an interrupted upgrade leaves such a pair.

        A folder without METADATA or RECORD is what is left of an uninstalled one.
        """

        def rank(one: Distribution) -> tuple[bool, bool, tuple[object, ...]]:
            folder = one.metadata_folder
            return (folder / "METADATA").exists(), (folder / "RECORD").exists(), version_key(one.version)

        first, second = sorted((a, b), key=rank, reverse=True)
        self.warnings.append(
            f"{self.environment.label}: two versions of {a.name}, {second.version} and {first.version}; "
            f"{first.version} is taken"
        )
        return first


def version_key(version: str) -> tuple[object, ...]:
    """Order versions as PEP 440 does, with what is no version before all others."""
    from packaging.version import Version

    try:
        return (1, Version(version), "")
    except ValueError:  # not of PEP 440, or a number of thousands of digits
        return (0, Version("0"), version)


def import_names(distribution: Distribution) -> tuple[str, ...]:
    """List the import names of a distribution: its top-level packages and modules, sorted.

    They come from `top_level.txt`, otherwise from RECORD, otherwise (for an editable install) from the folders in its
    `.pth` file; if all are missing, from the distribution's name.
    """
    return _import_names(distribution, None)


class _Recorded(NamedTuple):
    """What the RECORD of a distribution says of its modules."""

    tops: frozenset[str]
    whole: frozenset[str]
    """Those of `tops` that are modules, or packages with an `__init__`: what is not may be a part of a namespace."""
    pths: tuple[str, ...]
    """Its files that name folders."""
    cost: int
    """Of reading it, in bytes."""

    def doubt(self, name: str) -> int:
        """How little it says for a module: that the module is there, a part of it, or nothing.

        Without a RECORD, or for an editable install, KR believes `top_level.txt`: nothing else tells.
        """
        if name in self.tops:
            return _WHOLE if name in self.whole else _PART
        return _WHOLE if self.pths or not self.cost else _SAID


def _import_names(distribution: Distribution, recorded: _Recorded | None) -> tuple[str, ...]:
    """The import names; its RECORD is read where it matters and is not given."""
    told = _read(
        distribution.metadata_folder / "top_level.txt", distribution.environment.bounds, _LARGEST_TOP_LEVEL
    )
    names = {name for name in told.split() if name.isidentifier()}
    if not names:
        recorded = recorded or _recorded(distribution)
        names = set(recorded.tops or _editable_names(distribution, recorded.pths))
    return tuple(sorted(names)) or (distribution.name.replace("-", "_"),)


def _recorded(distribution: Distribution) -> _Recorded:
    record = _record(distribution)
    tops: set[str] = set()
    whole: set[str] = set()
    pths: list[str] = []
    count = 0
    for found in islice(_RECORDED.finditer(record), _MOST_FILES):
        count += 1
        part, mark, begins = found.groups()
        if mark in "/\\":
            if part not in tops and part.isidentifier() and part.lower() not in _NOT_IMPORTED:
                tops.add(part)
            if begins:
                whole.add(part)
        elif module := _MODULE.fullmatch(part):
            tops.add(module["name"])
            whole.add(module["name"])
        elif part.endswith(".pth"):
            pths.append(part)
    return _Recorded(frozenset(tops), frozenset(whole), tuple(pths), len(record) + count * _PER_FILE)


def _depth(record: str, parts: Sequence[str]) -> int:
    """How many parts of a dotted name lie in a distribution, given its RECORD in lower case; all of them have the first.

    Searching the text is ten times faster than parsing it, and to look for the name anywhere another ten times.
    """
    for depth in range(len(parts), 1, -1):
        folder = "/".join(parts[:depth])
        if folder in record and re.search(
            rf'^"?{re.escape(folder)}(?:/|(?:\.[\w-]+)?\.(?:pyi?|so|pyd)\b)', record, re.MULTILINE
        ):
            return depth
    return 1


def _editable_names(distribution: Distribution, pths: Sequence[str]) -> Iterator[str]:
    files = (distribution.site / path for path in pths[:_MOST_EDITABLE])
    folders = named_by_pth(files, distribution.environment.bounds, _MOST_EDITABLE)
    folders = [folder for folder in folders if _may_be_read(distribution, folder)]
    if distribution.metadata_folder.suffix == ".egg-info":
        folders.append(distribution.site)
    for folder in folders:
        names = _by_normalised(folder, _changed(folder))
        yield from (name.removesuffix(".py") for name in names.get(distribution.name, ()))


@lru_cache(maxsize=200)
def _by_normalised(folder: Path, _changed: int) -> Mapping[str, Sequence[str]]:
    """The names in a folder by how they are normalised; very many distributions may lead to one folder."""
    found: dict[str, list[str]] = {}
    for name in _names(folder):
        found.setdefault(normalise(name.removesuffix(".py")), []).append(name)
    return found


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _may_be_read(distribution: Distribution, folder: Path) -> bool:
    bounds = distribution.environment.bounds
    return bounds is None or lies_within(folder, bounds)


def _version_in(pkg_info: Path, bounds: tuple[Path, ...] | None) -> str | None:
    found = re.search(r"^Version:[ \t]*+([\w.!+-]{1,200})", _start(pkg_info, bounds), re.MULTILINE)
    return found[1] if found else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  names are enough, and faster
    except OSError:
        return []


def _record(distribution: Distribution) -> str:
    return _read(distribution.metadata_folder / "RECORD", distribution.environment.bounds, _LARGEST_RECORD)


def _start(path: Path, bounds: tuple[Path, ...] | None) -> str:
    """How a file of metadata begins; empty if it is not there or lies elsewhere."""
    try:
        start = read_start(path, _START, within=bounds)
    except (OSError, ValueError):
        return ""
    return start.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path, bounds: tuple[Path, ...] | None, limit: int) -> str:
    """A file of a distribution's metadata; empty where it cannot be read, is too large, or leads out of the environment."""
    try:
        return read_text(path, limit=limit, within=bounds, errors="replace")
    except (OSError, ValueError):
        return ""
