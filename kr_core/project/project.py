"""The user's project on this machine: what is installed, what is locked, and so which version is in use."""

from __future__ import annotations

import itertools
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.git_index import came_with_repository
from kr_core.project.dependency_files import DependencyFiles, NamedDependency
from kr_core.project.distributions import Distribution, InstalledDistributions, import_names, version_key
from kr_core.project.environments import (
    OWN_LABEL,
    VENV_NAMES,
    Environment,
    find_environments,
    folders_upward,
    label_of,
    python_version,
    standard_library_of,
    workspace_of,
)
from kr_core.project.lockfiles.pins import key_of
from kr_core.project.node_modules import NodeModule, NodeModules
from kr_core.project.package_names import distributions_called, normalise, spoken_names
from kr_core.project.package_places import places_beside
from kr_core.project.version_ranges import allows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kr_core.project.lockfiles import Ecosystem, LockFile

BELIEVED_SECONDS = 1.0
_MOST_NAMES = 20
"""The import names of a distribution that are compared with those of others."""
_Stamp = tuple[int | None, ...]

__all__ = ["Distribution", "Environment", "LocalProject", "import_names", "is_python", "is_standard"]


def is_python(framework: str) -> bool:
    """Whether a framework is Python itself, by any of its names."""
    return framework.strip().lower() in {"python", *spoken_names("python")}


def is_standard(framework: str) -> bool:
    """Whether a framework is Python or a module of its standard library."""
    name = framework.strip()
    dotted = all(part.isidentifier() for part in name.split("."))  # `io.ktor:ktor-client` is none of Python's
    return is_python(framework) or (dotted and name.partition(".")[0] in sys.stdlib_module_names)


class KnownVersion(NamedTuple):
    """A package of the project, with the version in use and its origin."""

    name: str
    version: str
    where: str
    direct: bool
    """Whether the project asks for it itself."""


class LocalProject:
    """The project that KR works in; it reads environments and lock files on demand.

    It checks for changes at most once a second, and reads only changed files again. It executes nothing that it finds.
    It skips files that cannot be parsed, and names them in `warnings`, with the line.

    Args:
        root: the project root; labels are relative to it.
        working_folder: where it looks for the nearest environment and lock file first.
        environ: the environment variables (`VIRTUAL_ENV`, `CONDA_PREFIX`).
        own_prefix: the environment that KR itself runs in, used last; None to leave it out.
    """

    def __init__(
        self,
        root: Path,
        working_folder: Path,
        environ: Mapping[str, str],
        *,
        own_prefix: Path | None = Path(sys.prefix),
    ) -> None:
        self.root = root
        self.working_folder = working_folder
        self.warnings: list[str] = []
        self._environ = environ
        self._own_prefix = own_prefix
        self._home = root.resolve()
        self._folders = folders_upward(working_folder.resolve(), self._home)
        self._environments: tuple[Environment, ...] | None = None
        self._scans: list[InstalledDistributions] | None = None
        self._stamp: _Stamp = ()
        self._looked = time.monotonic()
        self._configs = [folder / name / "pyvenv.cfg" for folder in self._folders for name in VENV_NAMES]
        self._declared = DependencyFiles(self._folders, self._home, self._markers, self.warnings)
        self.workspace = workspace_of(self._folders, self._home)
        """The highest folder whose files are the project's: nothing that came with it is read beyond, whatever leads there."""
        self._modules = NodeModules(self._folders, self.workspace)

    def environments(self) -> tuple[Environment, ...]:
        """List the Python environments, nearest first, KR's own last."""
        if self._environments is None:
            self._environments = find_environments(self._folders, self._home, self._environ, self._own_prefix)
            self._stamp = self._stamped()
            self._tell_refused(self._environments)
        return self._environments

    def refused_links(self) -> list[str]:
        """List links in `node_modules` that lead out of the project and are not followed, one line per folder.

        It checks each link, so use it for diagnosis, not for an answer.
        """
        by_folder: dict[str, list[str]] = {}
        for link in self._modules.refused():
            whole = link.name == "node_modules"
            folder = link if whole else next(each for each in link.parents if each.name == "node_modules")
            by_folder.setdefault(label_of(folder, self._home), []).append(
                "" if whole else link.relative_to(folder).as_posix()
            )
        return [
            f"{label}: {_some(names)} out of the project and nothing there is read; "
            "install a copy, or give a folder above both a kr.yaml"
            for label, names in by_folder.items()
        ]

    def _tell_refused(self, environments: tuple[Environment, ...]) -> None:
        for environment in environments:
            if environment.refused:
                names = ", ".join(
                    label_of(Path(os.path.realpath(each)), self._home) for each in environment.refused[:3]
                )
                more = f" and {len(environment.refused) - 3} more" if len(environment.refused) > 3 else ""
                said = (
                    f"{environment.label} imports from {names}{more}, outside of the project, and nothing there is read; "
                    "if you trust it, put a `kr.yaml` into a folder that holds both"
                )
                if said not in self.warnings:
                    self.warnings.append(said)

    def distributions(self, *, own: bool = False) -> Iterator[Distribution]:
        """Yield installed distributions, nearest environment first; KR's own only with `own=True`."""
        for scan in self._installed(own=own):
            yield from scan.by_name.values()

    def distribution(self, framework: str, *, own: bool = True) -> Distribution | None:
        """Find an installed distribution by its name, an import name, or a common name.

        It searches the nearest environment first, and KR's own last or, with `own=False`, never. Modules of the
        standard library belong to no distribution, and a name that another language alone asks for means none.
        """
        self._forget_what_changed()
        found = self._find(framework, own=False) or (self._find(framework, own=True) if own else None)
        return None if found and self._asked_for_elsewhere(framework, found) else found

    def module(self, framework: str) -> NodeModule | None:
        """Find the package in `node_modules` for a name: the one whose version `version_of` returns, or None."""
        self._forget_what_changed()
        return None if is_python(framework) else self._module(framework, self._find(framework, own=False))

    def version_of(self, framework: str) -> tuple[str, str] | None:
        """Return the version in use and its origin, relative to the root; None if unknown.

        It searches the environments and each `node_modules` first, then the lock files, nearest first. If none pins a
        version, it returns the range that the project requires. KR's own environment comes last, for a package that
        no lock file of Python names. Where another language alone asks for a package of the name, it is that one.
        """
        self._forget_what_changed()
        if is_python(framework):
            return self._python()
        installed = self._find(framework, own=False)
        if module := self._module(framework, installed):
            return module.version, label_of(module.folder, self._home)
        elsewhere = self._asked_for_elsewhere(framework, installed)
        if installed and not elsewhere:
            return installed.version, installed.environment.label
        if is_standard(framework) and not elsewhere:
            return self._python()
        locked = self._declared.find([framework], elsewhere) if elsewhere else self._locked(framework)
        if locked:
            return locked.pin.version, self._declared.label(locked.lock)
        if elsewhere or self._declared.is_locked(_names(framework), "python"):
            return None
        borrowed = self._find(framework, own=True)
        return (borrowed.version, borrowed.environment.label) if borrowed else None

    def standard_library(self) -> tuple[Path, str, str]:
        """Find the folder of the standard library in use, its version, and its origin."""
        for environment in self.environments():
            version = python_version(environment.prefix)
            folder = standard_library_of(environment.prefix)
            if version and folder and not environment.own:
                return folder, version, environment.label
        import sysconfig

        return Path(sysconfig.get_path("stdlib")), _running(), OWN_LABEL

    def versions(self) -> list[tuple[str, str, str]]:
        """List name, version and origin of every known package, as `listed` has them."""
        return [(each.name, each.version, each.where) for each in self.listed()]

    def listed(self) -> list[KnownVersion]:
        """List every known package, sorted by name; the nearest origin wins.

        A name in two ecosystems appears twice. KR's own environment is left out, unless it is the project's too.
        """
        self._forget_what_changed()
        known: dict[tuple[str, Ecosystem], tuple[str, str, str]] = {}
        for scan in self._installed(own=False):
            for one in filter(self._is_of_project, filter(None, map(scan.confirmed, scan.by_name.values()))):
                known.setdefault((one.name, "python"), (one.name, one.version, one.environment.label))
        for module in self._modules.all():
            label = label_of(module.folder, self._home)
            known.setdefault((module.name, "node"), (module.name, module.version, label))
        if self._modules.left_out:
            said = f"node_modules: {self._modules.left_out:,} packages left out; their package.json files are too large together"
            if said not in self.warnings:
                self.warnings.append(said)
        for pin, lock, _depth in self._declared.all():
            key = key_of(pin.name, lock.ecosystem)
            name = key if lock.ecosystem == "python" else pin.name
            known.setdefault((key, lock.ecosystem), (name, pin.version, self._declared.label(lock)))
        direct = {(key, ecosystem) for ecosystem, key, _pin in self._declared.asked_for()}
        ordered = sorted(known, key=lambda each: (normalise(each[0]), *each))
        return [KnownVersion(*known[each], each in direct) for each in ordered]

    def direct_dependencies(self, *, development: bool = True) -> frozenset[str]:
        """Return the project's direct dependencies, normalised; with or without those only for development."""
        asked = self._declared.asked_for()
        return frozenset(normalise(key) for _, key, pin in asked if development or not pin.development)

    def why_private(self, framework: str) -> str:
        """Return why a package may come from another place than its public registry; KR then sends its name to no one.

        It is empty where a lock file says that the package is public, or nothing names another place.
        """
        from kr_core.project.package_origins import why_private

        within = [*self._folders, self.workspace]
        prefixes = [environment.prefix for environment in self.environments()]
        files = self._declared.files()
        return why_private(framework.strip(), files, self._folders, within, self._environ, prefixes)

    def named_packages(self) -> frozenset[str]:
        """Return every package that a lock file or list of dependencies names, normalised; and as its language has it."""
        return frozenset(
            key for lock in self._declared.locks() for key in itertools.chain(lock.pins, lock.alike)
        )

    def npm_names(self, name: str) -> list[str]:
        """List the npm packages that a normalised name may mean, as npm knows them: `object-assign` and `object.assign`."""
        plain = normalise(name)
        locks = [lock for lock in self._declared.locks() if lock.ecosystem == "node"]
        keys = (key for lock in locks for key in (plain, *lock.alike.get(plain, ())) if key in lock.pins)
        return list(dict.fromkeys(keys))

    def looked_in(self) -> list[str]:
        """List the existing environments and files that versions come from, in search order."""
        modules = [label_of(folder, self._home) for folder in self._modules.folders if folder.is_dir()]
        locks = [self._declared.label(lock) for lock in self._declared.locks()]
        of_project = [each.label for each in self.environments() if not each.own]
        return [*of_project, *modules, *locks, *(each.label for each in self.environments() if each.own)]

    def disagreement(self, framework: str) -> str | None:
        """Describe where the installed version differs from the nearest lock file, or return None."""
        self._forget_what_changed()
        installed = self._find(framework, own=False)
        if module := self._module(framework, installed):
            where = label_of(module.folder, self._home)
            differing = self._difference(module.name, "node", module.version, where)
            return differing or self._namesake(framework, where)
        if installed is None or self._asked_for_elsewhere(framework, installed):
            return None
        where = installed.environment.label
        differing = self._difference(installed.name, "python", installed.version, where)
        return differing or self._rivals(installed)

    def files(self) -> tuple[Path, ...]:
        """List the files and folders, including absent ones, whose change may change the result of `version_of`."""
        found = dict.fromkeys([*self._configs, *self._modules.folders])
        for environment in self.environments():
            found[environment.prefix / "pyvenv.cfg"] = None
            found.update(dict.fromkeys(environment.site_packages))
        return tuple(found | dict.fromkeys(self._declared.files()) | self._modules.looked_at)

    def _difference(self, name: str, ecosystem: Ecosystem, installed: str, where: str) -> str | None:
        locked = self._declared.find([name], ecosystem, loosely=False)
        if locked is None or _agrees(installed, locked):
            return None
        verb = "says" if locked.pin.exact else "asks for"
        label = self._declared.label(locked.lock)
        return f"{label} {verb} {locked.pin.version}, {where} has {installed}"

    def _module(self, framework: str, installed: Distribution | None) -> NodeModule | None:
        """Of a name that Python and Node both have, the nearer one is meant, or what only Node's part asks for."""
        module = self._modules.find(framework)
        if module and module.name != framework and self._declared.find([framework], "node", loosely=False):
            return None  # the very name lies deeper in `node_modules`
        if module and self._of_python(framework) and not self._declared.asker([framework], "node"):
            return None  # anybody's dependency may have the name of what Python's part asks for
        if module is None or installed is None:
            return module
        nearer = self._modules.find(framework, below=self._depth(installed.environment))
        return nearer or (module if self._declared.elsewhere(framework).keys() == {"node"} else None)

    def _of_python(self, framework: str) -> LockFile | None:
        """The nearest file in which Python's part of the project asks for what a name means."""
        return self._declared.asker(_names(framework), "python")

    def _namesake(self, framework: str, where: str) -> str | None:
        """Say that Python's part of the project asks for a package of the same name as the one of Node that is taken."""
        lock = self._of_python(framework)
        asked = f"{self._declared.label(lock)} asks for a package of Python by this name" if lock else ""
        return f"{framework} is taken for the package of Node in {where}; {asked}" if asked else None

    def _depth(self, environment: Environment) -> int:
        """How many folders up from the nearest one an environment lies; conda's base, which is on for all projects, is above."""
        if environment.label == "CONDA_PREFIX" and self._environ.get("CONDA_DEFAULT_ENV") == "base":
            return len(self._folders)
        folder = environment.prefix.parent
        return self._folders.index(folder) if folder in self._folders else 0

    def _asked_for_elsewhere(self, framework: str, installed: Distribution | None) -> Ecosystem | None:
        """The other language whose part of the project alone asks for a package of this name, also by its short name.

        An environment in a folder below the one that asks is nearer, and so is what Python's part asks for by any name.
        """
        asking = self._declared.elsewhere(framework, installed.name if installed else "")
        folder = installed.environment.prefix.parent if installed else None
        highest = self._folders.index(folder) if folder in self._folders else len(self._folders)
        return next((whose for whose, depth in asking.items() if depth <= highest), None)

    def _markers(self) -> Mapping[str, str] | None:
        """The values of environment markers (PEP 508) in the project's Python; None where it is not known."""
        found = (python_version(each.prefix) for each in self.environments() if not each.own)
        version = next((each for each in found if each), None)
        if version is None:
            return None
        from packaging.markers import default_environment

        known: dict[str, str] = {name: str(value) for name, value in default_environment().items()}
        minor = ".".join(version.split(".")[:2])
        return known | {"python_version": minor, "python_full_version": version, "extra": ""}

    def _forget_what_changed(self) -> None:
        """Look again for environments and files that appeared, went, or changed, if the last look was a while ago.

        A look takes some ten calls of the system, and a cache hit in a service has no time for them.
        """
        if time.monotonic() - self._looked >= BELIEVED_SECONDS:
            self.look_again()

    def folder_in_repository(self, package: Path | Distribution) -> str | None:
        """Return the folder in which a package came with the project's repository, relative to the root; None for any other.

        Such a package is tracked by git in the project: in `node_modules`, as a member of a workspace that is linked from
        there, in an environment, or where an editable install of Python leads.

        Args:
            package: one of Python, or the folder of one of npm.
        """
        if isinstance(package, Distribution) and package.environment.tracked:
            return label_of(Path(os.path.realpath(package.environment.prefix)), self._home)
        places = places_beside(package) if isinstance(package, Distribution) else iter([package])
        came = (one for one in places if came_with_repository(one, self.working_folder))
        return next((label_of(Path(os.path.realpath(one)), self._home) for one in came), None)

    def look_again(self) -> None:
        """Check for changes now, even if the last check was moments ago."""
        self._looked = time.monotonic()
        self._declared.look_again()
        self._modules.look_again()
        if self._environments is not None and self._stamp != self._stamped():
            self._environments = self._scans = None

    def _stamped(self) -> _Stamp:
        sites = (site for each in self._environments or () for site in each.site_packages)
        return tuple(_changed(path) for path in self._configs) + tuple(_changed(site) for site in sites)

    def _installed(self, *, own: bool) -> list[InstalledDistributions]:
        if self._scans is None:
            self._scans = [
                InstalledDistributions(environment, self.warnings) for environment in self.environments()
            ]
        return [scan for scan in self._scans if own or not scan.environment.own]

    def _find(self, framework: str, *, own: bool) -> Distribution | None:
        name = "-".join(framework.split())
        if is_python(framework):
            return None
        parts = name.split(".")
        longer = [normalise(".".join(parts[:count])) for count in range(len(parts), 0, -1)]
        standard = parts[0] in sys.stdlib_module_names
        for scan in self._installed(own=own):
            # `google.protobuf` is not of the distribution `google`, so the bare head comes after the owner.
            named = [scan.by_name[key] for key in longer[:-1] or longer if key in scan.by_name]
            # a backport has the very name of the module
            meant = named if standard else self._meant(scan, name, named)
            if found := self._first(scan, meant):
                return found
        return None

    def _meant(
        self, scan: InstalledDistributions, name: str, named: list[Distribution]
    ) -> Iterator[Distribution]:
        """What a name may mean, the likeliest first: who ships the module comes before what is only called like it.

        Args:
            scan: of the environment.
            name: of a distribution, of a module, or of what a module defines.
            named: the distributions that are called so.
        """
        if scan.imports(name):
            wanted = self._asked_of_python()
            yield from (one for one in named if scan.is_meant(one, name, wanted))
            yield from scan.owners(name, wanted)
        yield from named
        called = (normalise(name.partition(".")[0]), *distributions_called(name))
        yield from (scan.by_name[key] for key in called if key in scan.by_name)

    def _asked_of_python(self) -> frozenset[str]:
        """The distributions that the project asks for itself, normalised."""
        asked = self._declared.asked_for()
        return frozenset(normalise(key) for ecosystem, key, _pin in asked if ecosystem == "python")

    def _rivals(self, installed: Distribution) -> str | None:
        """Say that others ship a module of a distribution too, where the project asks for neither of them itself."""
        wanted = self._asked_of_python()
        if installed.name in wanted:
            return None
        scan = next(each for each in self._installed(own=False) if each.environment is installed.environment)
        label = installed.environment.label
        for top in import_names(installed)[:_MOST_NAMES]:
            owners = scan.owners(top, wanted)
            names = [one.name for one in owners]
            if installed.name in names and len(names) > 1:
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                return f"{label}: {', '.join(names[:3])}{more} ship {top}; {installed.name} is taken"
            if installed.name not in names and any(scan.has_package(one, top) for one in owners):
                return f"{label}: {names[0]} ships {top}; {installed.name} says that it ships a part of it"
        return None

    def _first(self, scan: InstalledDistributions, found: Iterable[Distribution]) -> Distribution | None:
        return next(filter(self._is_of_project, filter(None, map(scan.confirmed, found))), None)

    def _is_of_project(self, found: Distribution) -> bool:
        """Whether a distribution is in use here: not where its environment lies above a lock file that names it.

        That file is of a project with an environment of its own, wherever it is.
        """
        environment = found.environment
        return environment.own or not self._declared.locks_below(found.name, self._depth(environment))

    def _locked(self, framework: str) -> NamedDependency | None:
        return self._declared.find(_names(framework))

    def _python(self) -> tuple[str, str]:
        for environment in self.environments():
            if not environment.own and (version := python_version(environment.prefix)):
                return version, environment.label
        return _running(), OWN_LABEL


def _names(framework: str) -> list[str]:
    """The names by which files may know a package: this one, the first part of a dotted one, and what else they mean."""
    name = "-".join(framework.split())
    head = name.partition(".")[0] if re.fullmatch(r"[\w.-]+", name) else ""
    names = [each for each in (name, head) if each]
    called = [key for each in names for key in distributions_called(each)]
    return list(dict.fromkeys(names + called))


def _some(names: list[str]) -> str:
    """`a, b, c and 4 more lead`, for a message; an empty name is the folder itself."""
    if names == [""]:
        return "leads"
    shown = ", ".join(names[:3])
    return (
        f"{shown} and {len(names) - 3} more lead"
        if len(names) > 3
        else f"{shown} {'leads' if len(names) == 1 else 'lead'}"
    )


def _running() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def _agrees(installed: str, locked: NamedDependency) -> bool:
    """Whether a version is what a file names (but for a local part such as `+cu118`) or lets pass."""
    if locked.pin.exact and locked.lock.ecosystem == "python":
        return version_key(installed.partition("+")[0]) == version_key(locked.pin.version.partition("+")[0])
    return allows(locked.pin.version, installed, locked.lock.ecosystem) is not False


def _changed(path: str | Path) -> int | None:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116  a cache hit pays for each
    except OSError:
        return None
