"""The distributions installed in an environment, read from the names of their metadata folders.

Only folder names are read for the list, so that 100 distributions cost about a millisecond; `importlib.metadata`
would read a file for each.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
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
_RECORDED = re.compile(r'^"?([^/\\,"\n]++)([/\\,"])[^\n]*+(?:\n"?\1[/\\][^\n]*+)*+', re.MULTILINE)
"""Lines of a RECORD, one below the other, whose paths begin alike: their first part, and what ends it."""
_HOLDS_MODULE = re.compile(r'\.(?:pyi?|so|pyd)[,"]')
_BEGINS_PACKAGE = re.compile(r'^"?[^/\\,"\n]++[/\\]__init__\.', re.MULTILINE)
_EXTENDED = re.compile(r"\b(?:extend_path|declare_namespace)\b")
"""How the `__init__` of a package says that other distributions add to it."""
_PATH = re.compile(r'^(?:"([^"\n]++)"|([^",\n]++)),', re.MULTILINE)
"""What a line of a RECORD lists."""
_START = 100_000
"""Bytes of METADATA or PKG-INFO that are read for the name and the version, which come first."""
_LARGEST_RECORD = 20_000_000
"""Bytes; a RECORD of 100,000 files has some ten million."""
_MOST_FILES = 200_000
"""Of a RECORD; those with one top-level folder count once."""
_LARGEST_TOP_LEVEL = 100_000
"""Bytes of a `top_level.txt`; most name one package."""
_MOST_EDITABLE = 20
"""The `.pth` files of one distribution, and their lines that may name folders."""
_MOST_SEARCHED = 300_000_000
"""What it may cost to look for the modules of an environment; the largest known ones have a tenth."""
_MOST_CALLED = 3
"""The first parts of a dotted name by which people speak of a package."""
_WHOLE, _BELIEVED, _PART, _SAID = range(4)
"""What a distribution has of a module that it says it ships."""
_NOWHERE = 1_000
"""Where a package begins that is not there; dotted names have fewer parts."""
_LARGEST_INIT = 20_000
"""Bytes of an `__init__` that are read; one that lets others add to the package is short."""
_PER_FILE = 100
_PER_NAME = 2_000
"""What a top-level folder of a RECORD, and a name that is imported, cost in bytes that are read."""
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
        self._shipping: dict[str, list[_Shipped]] | None = None
        self._recorded: dict[Path, _Recorded] = {}
        self._left = _MOST_SEARCHED
        self._owners: dict[tuple[str, frozenset[str]], tuple[Distribution, ...]] = {}
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

    def imports(self, dotted: str) -> bool:
        """Whether `import` finds the first part of a name here, in upper or lower case."""
        return dotted.lower().partition(".")[0] in self.top_level

    def is_meant(self, one: Distribution, name: str, wanted: frozenset[str]) -> bool:
        """Whether a name surely means a distribution that is called so, and no owner of a module has to be looked for.

        What the project asks for must have a module of its own; below a dotted name, one of this name. What it does not ask
        for must have the module itself, and nothing that the project asks for may have it too.
        """
        top, dot, _rest = name.lower().partition(".")
        if self._left < 0:
            return False
        recorded = self._read_record(one)
        if one.name in wanted:
            return recorded.is_believed or (top in recorded.held if dot else bool(recorded.held))
        if dot or not self.has_package(one, top):
            return False
        others = (self.by_name[key] for key in wanted if key in self.by_name)
        return not any(self._left < 0 or self.has_package(each, top) for each in others)

    def has_package(self, one: Distribution, top: str) -> bool:
        """Whether a distribution has a top-level module, or the `__init__` of a top-level package."""
        return self._read_record(one).doubt(top) in {_WHOLE, _BELIEVED}

    def _read_record(self, one: Distribution) -> _Recorded:
        if one.metadata_folder not in self._recorded:
            self._recorded[one.metadata_folder] = _recorded(one)
            self._left -= self._recorded[one.metadata_folder].cost
        return self._recorded[one.metadata_folder]

    def owners(self, dotted: str, wanted: frozenset[str]) -> tuple[Distribution, ...]:
        """Find the distribution that ships a module, whatever the case: `yaml`, `PIL.Image`, `google.protobuf`.

        They are several where nothing here says which of them, the likeliest first.

        Args:
            dotted: the module, or what it defines.
            wanted: the distributions that the project asks for itself; they come first.
        """
        if not self.imports(dotted):
            return ()
        key = dotted.lower(), wanted
        if key not in self._owners:
            self._owners[key] = self._find_owners(*key)
        return self._owners[key]

    def _find_owners(self, dotted: str, wanted: frozenset[str]) -> tuple[Distribution, ...]:
        parts = dotted.split(".")
        head = normalise(parts[0])
        if self._shipping is None:
            self._shipping = self._find_shipping()
        said = self._shipping.get(parts[0], [])
        shipped = [each for each in said if each.doubt != _SAID] or said
        if len(shipped) < 2:
            return tuple(each.by for each in shipped)
        heads = [".".join(parts[:count]) for count in range(1, _MOST_CALLED + 1)]
        known = {each for name in heads for each in distributions_called(name)}
        left = _MOST_SEARCHED
        ranked: list[tuple[tuple[int, ...], Distribution]] = []
        shipped = sorted(shipped, key=lambda one: (one.by.name != head, head not in one.by.name, one.by.name))
        for each in shipped:
            name = each.by.name
            record = _record(each.by) if left >= 0 and len(parts) > 1 else ""
            left -= len(record)
            begins, depth = _place(each, parts, record)
            is_known = name in known or (bool(known) and name == head)
            # What the project asks for, else what has the package at the top: anything may lay files below it.
            is_wanted = name in wanted and begins < _NOWHERE
            rank = (0, 0, -depth) if is_wanted else (2 - is_known, begins, -depth, each.doubt == _PART)
            ranked.append((rank, each.by))
        best = min(rank for rank, _one in ranked)
        found = tuple(one for rank, one in ranked if rank == best)
        return found if best[1] < _NOWHERE else found[:1]

    def _find_shipping(self) -> dict[str, list[_Shipped]]:
        """Which distributions ship what is imported by a name, in lower case, and how much of it; beyond the limit only by their own names."""
        found: dict[str, list[_Shipped]] = {}
        for one in self.by_name.values():
            shipped = [_Shipped(one.name.replace("-", "_"), one, _PART)]
            if self._left >= 0:
                recorded = self._read_record(one)
                names = {name.lower(): name for name in (*_import_names(one, recorded), *recorded.tops)}
                shipped = [_Shipped(name, one, recorded.doubt(name)) for name in names.values()]
                self._left -= len(names) * _PER_NAME
            for each in shipped:
                found.setdefault(each.name.lower(), []).append(each)
        if self._left < 0:
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


class OwnFiles:
    """Tells the files of a distribution from those that others have laid into its folders.

    It reads the RECORD with the first question, and those of others only where a file is not in it.

    Args:
        distribution: whose files they may be.
    """

    def __init__(self, distribution: Distribution) -> None:
        self._distribution = distribution
        self.left_out: dict[str, str] = {}
        """The files of others that it was asked for, and whose they are."""

    def __contains__(self, file: Path) -> bool:
        """Whether a file is its own: any that no other RECORD lists, and all of a distribution without a RECORD."""
        site = self._distribution.site
        if not self.recorded or site not in file.parents:
            return True
        path = file.relative_to(site).as_posix()
        if path in self.recorded or path.lower() not in self._of_others:
            return True
        self.left_out[path] = self._of_others[path.lower()]
        return False

    @cached_property
    def recorded(self) -> frozenset[str]:
        """What its RECORD lists, relative to its `site`."""
        return frozenset(_paths(_record(self._distribution)))

    @cached_property
    def _of_others(self) -> Mapping[str, str]:
        """What the RECORDs of others list in its top-level folders, in lower case: some file systems know no other."""
        tops = {name.lower() for name in import_names(self._distribution)}
        found: dict[str, str] = {}
        left = _MOST_SEARCHED
        for other in InstalledDistributions(self._distribution.environment, []).by_name.values():
            if other.name == self._distribution.name or left < 0:
                continue
            record = _record(other).lower()
            left -= len(record)
            if any(top in record for top in tops):
                listed = [path for path in _paths(record) if _top_of(path) in tops]
                found.update(dict.fromkeys(listed, other.name))
                left -= len(listed) * _PER_FILE
        return found


def _paths(record: str) -> Iterator[str]:
    for one in islice(_PATH.finditer(record), _MOST_FILES):
        yield (one[1] or one[2]).replace("\\", "/")


def _top_of(path: str) -> str:
    return path.partition("/")[0].partition(".")[0]


class _Shipped(NamedTuple):
    """What a distribution has of a module."""

    name: str
    by: Distribution
    doubt: int


class _Recorded(NamedTuple):
    """What the RECORD of a distribution says of its modules."""

    tops: frozenset[str]
    """Folders and modules that can be imported, also those without a module in them."""
    held: frozenset[str]
    """Those of `tops` that have a module, in lower case."""
    whole: frozenset[str]
    """Those of `held` that are modules, or packages with an `__init__`: what is not may be a part of a namespace."""
    pths: tuple[str, ...]
    """Its files that name folders."""
    cost: int
    """Of reading it, in bytes."""

    def doubt(self, name: str) -> int:
        """How little it says for a module: that the module is there, a part of it, or nothing.

        Without a RECORD, or for an editable install, KR believes `top_level.txt`: nothing else tells.
        """
        if name.lower() in self.held:
            return _WHOLE if name.lower() in self.whole else _PART
        return _BELIEVED if self.is_believed else _SAID

    @property
    def is_believed(self) -> bool:
        """Whether there is no RECORD, or it is one of an editable install."""
        return bool(self.pths) or not self.cost


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
    held: set[str] = set()
    whole: set[str] = set()
    pths: list[str] = []
    count = 0
    for found in islice(_RECORDED.finditer(record), _MOST_FILES):
        count += 1
        part, mark = found.groups()
        if mark in "/\\":
            if part.isidentifier() and part.lower() not in _NOT_IMPORTED:
                tops.add(part)
                held.update([part.lower()] if _HOLDS_MODULE.search(found[0]) else [])
                whole.update([part.lower()] if _BEGINS_PACKAGE.search(found[0]) else [])
        elif module := _MODULE.fullmatch(part):
            tops.add(module["name"])
            held.add(module["name"].lower())
            whole.add(module["name"].lower())
        elif part.endswith(".pth"):
            pths.append(part)
    return _Recorded(
        frozenset(tops), frozenset(held), frozenset(whole), tuple(pths), len(record) + count * _PER_FILE
    )


def _place(shipped: _Shipped, parts: Sequence[str], record: str) -> tuple[int, int]:
    """At which part of a dotted name a package or module of a distribution begins, and how many parts have a module in it.

    A package that lets other distributions add to it begins nothing: what lies in it is its owner's or theirs.

    Args:
        shipped: what the distribution has of the first part.
        parts: of the name, in lower case.
        record: the RECORD; empty where the first part alone counts.
    """
    if len(parts) == 1:
        return (1 if shipped.doubt in {_WHOLE, _BELIEVED} else _NOWHERE), 1
    if shipped.doubt == _BELIEVED:
        return (1 if _lies_there(shipped) else _NOWHERE), 1
    lowered = record.lower()
    begins, depth = _NOWHERE, 1
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        first = _listed(record, lowered, f"{folder}/__init__.") or _listed(record, lowered, f"{folder}.")
        if first and begins == _NOWHERE and _is_closed(shipped.by, shipped.by.site / first):
            begins = count
        if not first and not _listed(record, lowered, f"{folder}/", r'[^,"\n]*\.'):
            break
        depth = count
    return begins, depth


def _listed(record: str, lowered: str, start: str, between: str = r"(?:[\w-]+\.)?") -> str:
    """The first module in a RECORD whose path begins so, in upper or lower case; empty where there is none.

    To look for the beginning anywhere is a hundred times faster than to look at each line.
    """
    if start not in lowered:
        return ""
    pattern = rf'^"?({re.escape(start)}{between}(?:pyi?|so|pyd))[,"]'
    found = re.search(pattern, record, re.MULTILINE | re.IGNORECASE)
    return found[1] if found else ""


def _lies_there(shipped: _Shipped) -> bool:
    """Whether a module that no RECORD lists lies in the environment, and does not let other distributions add to it."""
    paths = (f"{shipped.name}/__init__.py", f"{shipped.name}.py")
    sites = shipped.by.environment.site_packages
    return any(
        (site / path).is_file() and _is_closed(shipped.by, site / path) for site in sites for path in paths
    )


def _is_closed(distribution: Distribution, file: Path) -> bool:
    """Whether the file that begins a package does not let other distributions add to it."""
    return not _EXTENDED.search(_read(file, distribution.environment.bounds, _LARGEST_INIT))


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
