"""The user's project on this machine: what is installed, what is locked, and so which version is in use."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.knowledge import lockfiles
from kr_core.knowledge.distributions import Distribution, Installed, import_names, version_key
from kr_core.knowledge.environments import (
    OWN_LABEL,
    VENV_NAMES,
    Environment,
    find_environments,
    folders_upward,
    label_of,
    python_version,
    standard_library_of,
)
from kr_core.knowledge.names import distributions_called, normalise, spoken_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kr_core.knowledge.lockfiles import LockFile, Pin

__all__ = ["Distribution", "Environment", "LocalProject", "import_names", "is_python", "is_standard"]

_NPM_NAME = re.compile(r"(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*", re.IGNORECASE)


def is_python(framework: str) -> bool:
    """Whether a framework is Python itself, by any of its names."""
    return framework.strip().lower() in {"python", *spoken_names("python")}


def is_standard(framework: str) -> bool:
    """Whether a framework is Python or a module of its standard library."""
    return is_python(framework) or framework.strip().partition(".")[0] in sys.stdlib_module_names


class LocalProject:
    """The project that KR works in, read from its environments and lock files when they are asked for.

    An object lives for one run: what was read once is not read again. Nothing found here is executed. Files
    that cannot be parsed are skipped and told in `warnings`.

    Args:
        root: the project root; labels are relative to it.
        working_folder: where the nearest environment and lock file are looked for first.
        environ: the environment variables (`VIRTUAL_ENV`, `CONDA_PREFIX`).
        own_prefix: the environment that KR itself runs in, the last to be asked; None to leave it out.
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
        self._scans: list[Installed] | None = None
        self._candidates: list[Path] | None = None
        self._locks: dict[Path, LockFile | None] = {}

    def environments(self) -> tuple[Environment, ...]:
        """List the Python environments, nearest first, KR's own one last."""
        if self._environments is None:
            self._environments = find_environments(self._folders, self._home, self._environ, self._own_prefix)
        return self._environments

    def distributions(self, *, own: bool = False) -> Iterator[Distribution]:
        """Yield what is installed, nearest environment first; KR's own one only where asked for."""
        for scan in self._installed(own=own):
            yield from scan.by_name.values()

    def distribution(self, framework: str, *, own: bool = True) -> Distribution | None:
        """Find an installed distribution by its name, by a name it is imported by, or by what people call it.

        The nearest environment is asked first, KR's own one last or, with `own=False`, never. Modules of the
        standard library belong to none.
        """
        return self._find(framework, own=False) or (self._find(framework, own=True) if own else None)

    def version_of(self, framework: str) -> tuple[str, str] | None:
        """Tell the version in use and where that was read, relative to the root; None where unknown.

        The environments are asked first, then `node_modules`, then the lock files, nearest first, then (for a
        package that none of them knows) KR's own environment.
        """
        if is_python(framework):
            return self._python()
        if installed := self._find(framework, own=False):
            return installed.version, installed.environment.label
        if is_standard(framework):
            return self._python()
        if known := self._node_module(framework) or self._locked(framework):
            return known
        borrowed = self._find(framework, own=True)
        return (borrowed.version, borrowed.environment.label) if borrowed else None

    def standard_library(self) -> tuple[Path, str, str]:
        """Find the folder of the standard library in use, its version, and whose it is."""
        for environment in self.environments():
            version = python_version(environment.prefix)
            folder = standard_library_of(environment.prefix)
            if version and folder and not environment.own:
                return folder, version, environment.label
        import sysconfig

        return Path(sysconfig.get_path("stdlib")), _running(), OWN_LABEL

    def versions(self) -> list[tuple[str, str, str]]:
        """List name, version and origin of everything that is known, sorted by name; the nearest origin wins.

        KR's own environment is left out, unless it is the project's too.
        """
        known: dict[str, tuple[str, str, str]] = {}
        for one in self.distributions():
            known.setdefault(one.name, (one.name, one.version, one.environment.label))
        for lock in self._lock_files():
            label = label_of(lock.path, self._home)
            npm = lock.path.name.startswith("package")
            for key, pin in lock.pins.items():
                if pin.version:
                    known.setdefault(key, (pin.name if npm else key, pin.version, label))
        return [known[key] for key in sorted(known)]

    def direct_dependencies(self, *, development: bool = True) -> frozenset[str]:
        """Name what the project itself asks for, normalised; without what only its development needs if told so."""
        wishes = self._lock_files(locked=False)
        return frozenset(
            key for lock in wishes for key, pin in lock.pins.items() if development or not pin.development
        )

    def named_packages(self) -> frozenset[str]:
        """Name every package that a lock file or list of dependencies names, normalised."""
        return frozenset(key for lock in self._lock_files() for key in lock.pins)

    def disagreement(self, framework: str) -> str | None:
        """Tell where the environment has another version than the nearest lock file says, or return None."""
        installed = self._find(framework, own=False)
        if installed is None:
            return None
        for lock, pin in self._pins(installed.name):
            label = label_of(lock.path, self._home)
            if not _agrees(installed.version, pin.version):
                verb = "says" if pin.version[0].isdigit() else "asks for"
                return f"{label} {verb} {pin.version}, {installed.environment.label} has {installed.version}"
            return None
        return None

    def files(self) -> tuple[Path, ...]:
        """List the files and folders, absent ones included, whose change may change what `version_of` says."""
        found: dict[Path, None] = {}
        for folder in self._folders:
            found.update(dict.fromkeys(folder / name / "pyvenv.cfg" for name in VENV_NAMES))
            found[folder / "node_modules"] = None
        for environment in self.environments():
            found[environment.prefix / "pyvenv.cfg"] = None
            found.update(dict.fromkeys(environment.site_packages))
        for path in self._candidate_files():
            found[path] = None
            if path.suffix == ".txt" and (lock := self._lock_file(path)):
                found.update(dict.fromkeys(lock.files))  # what `-r` includes
        return tuple(found)

    def _installed(self, *, own: bool) -> list[Installed]:
        if self._scans is None:
            self._scans = [Installed(environment, self.warnings) for environment in self.environments()]
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
            named = next((scan.by_name[key] for key in longer[:-1] or longer if key in scan.by_name), None)
            if named is not None:
                return named
            if standard:  # a backport has the module's very name
                continue
            if found := scan.owner(name) or scan.by_name.get(longer[-1]):
                return found
            for key in distributions_called(name):
                if key in scan.by_name:
                    return scan.by_name[key]
        return None

    def _locked(self, framework: str) -> tuple[str, str] | None:
        name = "-".join(framework.split())
        names = [name, name.partition(".")[0]] if name.partition(".")[0] else [name]
        called = [key for each in names for key in distributions_called(each)]
        for key in dict.fromkeys([normalise(each) for each in names] + called):
            for lock, pin in self._pins(key):
                return pin.version, label_of(lock.path, self._home)
        return None

    def _pins(self, key: str) -> Iterator[tuple[LockFile, Pin]]:
        """The lock files that name a version of a package, nearest first."""
        for path in self._candidate_files():
            lock = self._lock_file(path)
            if lock is not None and (pin := lock.pins.get(key)) and pin.version:
                yield lock, pin

    def _lock_files(self, *, locked: bool = True) -> list[LockFile]:
        paths = (path for path in self._candidate_files() if locked or path.name not in lockfiles.LOCKED)
        return [lock for path in paths if (lock := self._lock_file(path))]

    def _candidate_files(self) -> list[Path]:
        if self._candidates is None:
            self._candidates = [path for folder in self._folders for path in lockfiles.candidates(folder)]
        return self._candidates

    def _lock_file(self, path: Path) -> LockFile | None:
        if path not in self._locks:
            try:
                self._locks[path] = lockfiles.read(path)
            except (OSError, ValueError) as error:
                reason = str(error).partition("\n")[0]
                self.warnings.append(
                    f"{label_of(path, self._home)}: cannot be read and is left out ({reason})"
                )
                self._locks[path] = None
        return self._locks[path]

    def _node_module(self, framework: str) -> tuple[str, str] | None:
        if len(framework) > 214 or not _NPM_NAME.fullmatch(framework):  # npm's own limit
            return None
        import json

        for folder in self._folders:
            package = folder / "node_modules" / framework / "package.json"
            try:
                version = json.loads(package.read_text(encoding="utf-8"))["version"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            return str(version), label_of(folder / "node_modules", self._home)
        return None

    def _python(self) -> tuple[str, str]:
        for environment in self.environments():
            if not environment.own and (version := python_version(environment.prefix)):
                return version, environment.label
        return _running(), OWN_LABEL


def _running() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def _agrees(installed: str, wanted: str) -> bool:
    """Whether a version is what a lock file names (but for a local part such as `+cu118`) or lets pass."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if wanted[0].isdigit():
        return version_key(installed.partition("+")[0]) == version_key(wanted.partition("+")[0])
    try:
        return SpecifierSet(wanted).contains(installed, prereleases=True)
    except (InvalidSpecifier, ValueError):
        return True  # a range in the words of npm or Poetry is not judged
