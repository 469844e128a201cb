"""What the files of a project say of versions: lock files, and lists of what is asked for."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.project import lockfiles
from kr_core.project.environments import label_of, workspace_of
from kr_core.project.lockfiles import UnreadableError
from kr_core.project.lockfiles.formats import (
    NODE_LOCKS,
    NODE_UNREAD,
    PYTHON_LOCKS,
    format_of,
    names_choices,
    names_direct,
)
from kr_core.project.version_ranges import allows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.project.lockfiles import Ecosystem, LockFile, Pin

_State = tuple[int, int, int] | None
_WITH_WORKSPACES = {"python": ("uv.lock",), "node": tuple(NODE_LOCKS), "rust": ("Cargo.lock",)}
_MOST_BESIDE = 8
"""Files of requirements in which a range is looked for that rules a version out."""
_LIMIT_BYTES = 30_000_000
"""Of all files of a project together, which take half a minute and a gigabyte at most; the largest that are known have a third."""


class NamedDependency(NamedTuple):
    """A package as one file names it."""

    pin: Pin
    lock: LockFile
    depth: int
    """How many folders up from the nearest one the file lies."""


class DependencyFiles:
    """The lock files and wishes in some folders, each read when it is first asked and again when it has changed.

    Args:
        folders: where files are looked for, nearest first.
        root: labels are relative to it.
        environment: the values of environment markers for the project's Python, None where that is unknown;
            asked when a file of Python is first read.
        warnings: what cannot be read, or is odd, is added here.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        root: Path,
        environment: Callable[[], Mapping[str, str] | None],
        warnings: list[str],
    ) -> None:
        self._folders = folders
        self._root = root
        self._environment = environment
        self._warnings = warnings
        self._candidates: list[tuple[Path, int]] | None = None
        self._looked_at: set[Path] = set()
        self._read: dict[Path, tuple[tuple[tuple[Path, _State], ...], LockFile | None]] = {}

    def find(
        self, names: Sequence[str], ecosystem: Ecosystem | None = None, *, loosely: bool = True
    ) -> NamedDependency | None:
        """Find the version in use of a package that is known by one of some names.

        A package of this very name comes first; with `loosely`, one with a like or longer name serves too.
        The nearest file that names it decides the ecosystem, if that is not given. Of its files the nearest that has
        chosen a version is believed, unless the wish of a folder below it says otherwise, and the lock file does not list
        that folder as a member of its workspace. Where no version was chosen, it is the range that is asked for.
        """
        for name in names:
            found = _in_use(self._naming(name, ecosystem))
            if found is None and loosely and (meant := self._meant(name, ecosystem)):
                found = _in_use(self._naming(*meant))
            if found:
                self._compare(found)
                return found
        return None

    def all(self) -> Iterator[NamedDependency]:
        """Yield the version in use of each package that is named with one; one for each ecosystem."""
        named: dict[tuple[str, Ecosystem], list[NamedDependency]] = {}
        for path, depth in self._believed():
            if lock := self._lock_file(path):
                for key, pin in lock.pins.items():
                    named.setdefault((key, lock.ecosystem), []).append(NamedDependency(pin, lock, depth))
        for _, each in sorted(named.items()):
            if found := _in_use(each):
                yield found

    def locks_below(self, name: str, depth: int) -> bool:
        """Whether a lock file of Python in the nearest folders, fewer than `depth` folders up, names a package."""
        for path, at in self._believed():
            if at >= depth:
                break
            if path.name in PYTHON_LOCKS and (lock := self._lock_file(path)) and name in lock.pins:
                return True
        return False

    def is_locked(self, names: Sequence[str], ecosystem: Ecosystem) -> bool:
        """Whether a lock file of an ecosystem names a package by one of some names, also without a version."""
        return any(not lock.wish and any(map(lock.named, names)) for lock in self.locks(ecosystem))

    def asked_for(self) -> Iterator[tuple[Ecosystem, str, Pin]]:
        """Yield what the project asks for itself: ecosystem, key and pin, nearest file first."""
        for path, _depth in self._all():
            if names_direct(path) and (lock := self._lock_file(path)):
                yield from ((lock.ecosystem, key, pin) for key, pin in lock.pins.items() if pin.direct)

    def elsewhere(self, name: str, installed: str = "") -> dict[Ecosystem, int]:
        """The ecosystems that ask for what a name means, nearest first, and how far up each does.

        It is empty where Python's part of the project asks for that too, or for what is `installed` by another name.
        """
        found: dict[Ecosystem, int] = {}
        for each in self._asking(name, python=False):
            found.setdefault(each.lock.ecosystem, each.depth)
        if found and any(any(self._asking(each, python=True)) for each in (name, installed or name)):
            return {}
        return found

    def asker(self, names: Sequence[str], ecosystem: Ecosystem) -> LockFile | None:
        """The nearest file of an ecosystem in which the project itself asks for a package that has one of some names."""
        asking = (each.lock for name in names for each in self._asking(name, python=ecosystem == "python"))
        return next((lock for lock in asking if lock.ecosystem == ecosystem), None)

    def _asking(self, name: str, *, python: bool) -> Iterator[NamedDependency]:
        """The files of Python, or those of others, in which the project asks for a package itself."""
        for path, depth in self._all():
            is_one = names_direct(path) and (format_of(path).ecosystem == "python") == python
            if is_one and (lock := self._lock_file(path)) and (pin := lock.find(name)) and pin.direct:
                yield NamedDependency(pin, lock, depth)

    def locks(self, ecosystem: Ecosystem | None = None) -> Iterator[LockFile]:
        """The files that are there and can be read, nearest first; those of one ecosystem, if it is given."""
        for path, _depth in self._believed():
            of_it = ecosystem is None or format_of(path).ecosystem == ecosystem
            if of_it and (lock := self._lock_file(path)):
                yield lock

    def look_again(self) -> None:
        """Look again whether files have changed, when they are next asked."""
        self._looked_at.clear()

    def label(self, lock: LockFile) -> str:
        """A file's path relative to the root."""
        return label_of(lock.path, self._root)

    def files(self) -> list[Path]:
        """The files that answers may rest on, absent ones included."""
        found: list[Path] = []
        for path, _depth in self._all():
            found.append(path)
            if path.suffix == ".txt":  # what `-r` includes is not known before it is read
                self._lock_file(path)
        return found + [path for states, _lock in self._read.values() for path, _state in states[1:]]

    def _meant(self, name: str, ecosystem: Ecosystem | None) -> tuple[str, Ecosystem] | None:
        """The package that a like or shorter name means: that of the nearest file which knows one by it; None where a package has the name."""
        if any(self._naming(name, ecosystem)):
            return None
        found = ((lock.find(name), lock.ecosystem) for lock in self.locks(ecosystem))
        return next(((pin.name, whose) for pin, whose in found if pin), None)

    def _naming(self, name: str, ecosystem: Ecosystem | None) -> Iterator[NamedDependency]:
        """The files that name a package, nearest first; files of another ecosystem than the first are not read."""
        for path, depth in self._believed():
            if ecosystem is not None and format_of(path).ecosystem != ecosystem:
                continue
            lock = self._lock_file(path)
            if lock is not None and (pin := lock.named(name)):
                ecosystem = lock.ecosystem
                yield NamedDependency(pin, lock, depth)

    def _believed(self) -> Iterator[tuple[Path, int]]:
        """The files that are asked, nearest first: not those that are left over.

        Another tool has left one beside the lock file of the one in use, or a folder has one from before it became a member of
        a workspace, which is locked above.
        """
        for path, depth in self._all():
            if self._is_governed(path, depth):
                continue
            tool = NODE_LOCKS.get(path.name)
            if tool is None or not _is_there(path):
                yield path, depth
                continue
            named = self._named_tool(depth)
            own = [each for each, module in {**NODE_LOCKS, **NODE_UNREAD}.items() if module == named]
            if named == tool or not any(_is_there(path.with_name(each)) for each in own):
                yield path, depth

    def _is_governed(self, path: Path, depth: int) -> bool:
        """Whether a lock file lies in a member of a workspace that a lock file above is for."""
        kind = format_of(path)
        if kind.wish or kind.ecosystem not in _WITH_WORKSPACES or not _is_there(path):
            return False
        for above in self._folders[depth + 1 :]:
            for name in _WITH_WORKSPACES[kind.ecosystem]:
                if (lock := self._lock_file(above / name)) and lock.governs(path.parent):
                    return True
        return False

    def _named_tool(self, depth: int) -> str:
        """The tool that the nearest `package.json` names that names one, from a folder upwards."""
        for folder in self._folders[depth:]:
            if (lock := self._lock_file(folder / "package.json")) and lock.tool:
                return lock.tool
        return ""

    def _compare(self, found: NamedDependency) -> None:
        """Warn where the lock file of another tool beside the one that is believed has another version of a dependency."""
        lock, of_node = found.lock, found.lock.ecosystem == "node"
        tools = NODE_LOCKS if of_node else PYTHON_LOCKS
        tool = tools.get(lock.path.name)
        if tool is None or (of_node and (not found.pin.direct or self._named_tool(found.depth))):
            return
        for other in (lock.path.with_name(each) for each, writer in tools.items() if writer != tool):
            rival = self._lock_file(other)
            pin = rival.named(found.pin.name) if rival else None
            is_meant = pin is not None and pin.exact and (pin.direct or not of_node)
            if rival and pin and is_meant and pin.version != found.pin.version:
                mend = (
                    "name the tool that you use in packageManager of package.json, or delete the other file"
                )
                self._warn(
                    f"{self.label(lock)} says {found.pin.version} of {pin.name}, {self.label(rival)} says {pin.version}; "
                    + (
                        mend
                        if lock.ecosystem == "node"
                        else "delete the file of the tool that you do not use"
                    )
                )

    def _all(self) -> list[tuple[Path, int]]:
        if self._candidates is None:
            self._candidates = [
                (path, depth)
                for depth, folder in enumerate(self._folders)
                for path in lockfiles.candidates(folder)
            ]
        return self._candidates

    def _lock_file(self, path: Path) -> LockFile | None:
        known = self._read.get(path)
        if known is not None and path in self._looked_at:
            return known[1]
        self._looked_at.add(path)
        if known is not None and all(_state(each) == state for each, state in known[0]):
            return known[1]
        state = _state(path)
        lock = self._read_anew(path) if state is not None and self._fits(path, state) else None
        others = lock.files if lock else ()
        states = ((path, state), *((other, _state(other)) for other in others if other != path))
        self._read[path] = states, lock
        return lock

    def _fits(self, path: Path, state: tuple[int, int, int]) -> bool:
        """Whether a file fits into what is read of all files of a project together."""
        others = (states for known, (states, _lock) in self._read.items() if known != path)
        spent = sum(each[2] for states in others for _path, each in states if each)
        if spent + state[2] <= _LIMIT_BYTES:
            return True
        self._warn(
            f"{label_of(path, self._root)}: left out; the files that name versions have more than {_LIMIT_BYTES // 1_000_000} MB together"
        )
        return False

    def _read_anew(self, path: Path) -> LockFile | None:
        label = label_of(path, self._root)
        python = format_of(path).ecosystem == "python"
        try:
            lock = lockfiles.read(
                path,
                working_folder=self._folders[0],
                top=self._top(path),
                workspace=workspace_of(self._folders, self._root),
                environment=self._environment() if python else None,
            )
        except UnreadableError as error:
            at = f":{error.line}" if error.line else ""
            self._warn(f"{label}{at}: {error}; left out until it is mended")
            return None
        except (TypeError, AttributeError, KeyError, IndexError):
            self._warn(
                f"{label}: its values are not of the types that KR expects; left out until it is mended"
            )
            return None
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error).partition("\n")[0]
            self._warn(f"{label}: cannot be read and is left out ({reason})")
            return None
        if lock is None:
            self._warn(f"{label}: not a regular file; left out")
        for line, what in lock.notes if lock else ():
            self._warn(f"{label}{f':{line}' if line else ''}: {what}")
        return lock

    def _warn(self, text: str) -> None:
        if text not in self._warnings:
            self._warnings.append(text)

    def _top(self, path: Path) -> Path:
        return next(folder for folder in reversed(self._folders) if path.is_relative_to(folder))


def _in_use(named: Iterable[NamedDependency]) -> NamedDependency | None:
    """The version in use among what files of one ecosystem say of a package, nearest first."""
    first: NamedDependency | None = None
    wish: NamedDependency | None = None
    left = iter(named)
    for each in left:
        if not each.pin.version:
            continue
        first = first or each
        if not (each.pin.exact and names_choices(each.lock.path)):
            wish = wish or (each if each.lock.wish else None)
            continue
        if not _is_for_one_use(each):
            return wish if wish is not None and _is_outside(wish, each) else each
        # `requirements-py27.txt` beside a range for the Python in use, which may come after it
        beside = [each, *islice(left, _MOST_BESIDE)]
        wish = wish or next(
            (one for one in beside if one.lock.wish and one.pin.version and not one.pin.exact), None
        )
        chosen = (
            one
            for one in beside
            if one.pin.exact and names_choices(one.lock.path) and one.depth <= each.depth
        )
        return next((one for one in chosen if wish is None or not _contradict(wish, one)), wish or each)
    return first


def _is_for_one_use(one: NamedDependency) -> bool:
    """Whether one of several files of requirements says it, which lie side by side for different uses."""
    name = one.lock.path.name
    return name.startswith("requirements") and name != "requirements.txt"


def _is_outside(wish: NamedDependency, chosen: NamedDependency) -> bool:
    """Whether a list asks for something else than a lock file above has, which is then not for it.

    A member of its workspace has what is locked: the root may override what the member asks for.
    """
    is_below = wish.depth < chosen.depth and not chosen.lock.governs(wish.lock.path.parent)
    return is_below and _contradict(wish, chosen)


def _contradict(wish: NamedDependency, chosen: NamedDependency) -> bool:
    return allows(wish.pin.version, chosen.pin.version, chosen.lock.ecosystem) is False


def _is_there(path: Path) -> bool:
    return _state(path) is not None


def _state(path: Path) -> _State:
    try:
        status = os.stat(path)  # noqa: PTH116  a third of the time, and a cache hit takes a hundred
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size
