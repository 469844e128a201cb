"""The project itself, watched where no sandbox keeps agents from it: what they change there is found, and put back.

It is for runs without a sandbox alone. Branches and tags, hooks, settings and rules of git are put back as they were; so are
files of the work tree that were as the branch has them. KR keeps a copy of what it found in their place. KR cannot tell an agent from
a person who works there at the same time, and says so before it starts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kr_core.dispatch.manifest import changes, scan
from kr_core.git.raw_checkout import LINK, blobs, tree_entries
from kr_core.git.work_tree_files import write_file
from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.dispatch.manifest import Change, Manifest
    from kr_core.git.repository import Git

__all__ = ["FoundChange", "ProjectGuard"]

_UNWATCHED = {
    "objects",
    "lfs",
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "gc.log",
    "gc.pid",
    "fsmonitor--daemon",
    "fsmonitor--daemon.ipc",
}
"""What lies in git's folder and decides nothing; objects have their own check, and are too many."""
_LARGEST = 64 * 2**20
"""Bytes of a file of git that is put back; an index has some hundred for each file."""


class _Content(NamedTuple):
    """A file of git, or a link."""

    mode: int
    text: bytes
    """Its bytes, or where the link leads."""


class FoundChange(NamedTuple):
    """What was changed in the project."""

    name: str
    restored: bool
    kept: str
    """The copy of what KR found; empty if there is none."""


class ProjectGuard:
    """Finds what changes in a project between two looks.

    Args:
        git: of the project.
        state: KR's own folder in it, which is not looked at.
        aside: where copies of what it finds go.
    """

    def __init__(self, git: Git, state: Path, aside: Path) -> None:
        self._git = git
        self._aside = aside
        inside = state.is_relative_to(git.top)
        self._skip = (".git", state.relative_to(git.top).as_posix()) if inside else (".git",)
        self._head = ""
        self._files: Manifest | None = None
        self._objects: Manifest | None = None
        self._own: dict[Path, _Content | None] = {}
        self.look()

    def look(self) -> None:
        """Take what is there now for right."""
        self._head = self._git.head()
        self._files = scan(self._git.top, self._files, skip=self._skip)
        self._objects = scan(self._git.common / "objects", self._objects, skip=("info",))
        self._own = self._read_own()

    def check(self) -> list[FoundChange]:
        """What has changed since the last look; it is put back as far as that can be done.

        Raises:
            OSError: the project cannot be read.
        """
        found = [*self._check_own(), *self._check_objects()]
        assert self._files is not None
        now = scan(self._git.top, self._files, skip=self._skip)
        differing = changes(self._files, now)
        if differing:
            found += self._restore(differing)
        if found:
            self.look()
        else:
            self._files = now
        return found

    # -- git's own files -----------------------------------------------------------------------------------

    def _read_own(self) -> dict[Path, _Content | None]:
        found: dict[Path, _Content | None] = {}
        for home in dict.fromkeys((self._git.folder, self._git.common)):
            watched = [one for one in home.iterdir() if one.name not in _UNWATCHED]
            for place in (home / "objects/info", *watched):
                inside = sorted(place.rglob("*")) if _is_folder(place) else [place]
                found |= {
                    one: _content(one) for one in inside if os.path.lexists(one) and not _is_folder(one)
                }
        pointer = self._git.top / ".git"  # a file in a further work tree: it says where the repository lies
        return found if _is_folder(pointer) else {**found, pointer: _content(pointer)}

    def _check_own(self) -> list[FoundChange]:
        now = self._read_own()
        found = []
        for place in sorted({*self._own, *now}):
            before, after = self._own.get(place), now.get(place)
            if place in self._own and place in now and before == after:
                continue
            name = self._name(place)
            kept = self._keep(place, name) if os.path.lexists(place) else ""
            found.append(
                FoundChange(shown(name), self._put_back(place, before, existed=place in self._own), kept)
            )
        return found

    def _name(self, place: Path) -> str:
        """A file of git as a person knows it."""
        homes = (home for home in (self._git.common, self._git.folder) if place.is_relative_to(home))
        return f".git/{place.relative_to(home)}" if (home := next(homes, None)) else place.name

    def _check_objects(self) -> list[FoundChange]:
        """Objects that were there and are gone, or have other bytes: git does not compare them with their names."""
        assert self._objects is not None
        now = scan(self._git.common / "objects", self._objects, skip=("info",))
        old = [
            one
            for one in changes(self._objects, now)
            if one.before is not None and not stat.S_ISDIR(one.before[0])
        ]
        gone = [one.path for one in old if one.after is None or one.after[6] != (one.before or one.after)[6]]
        return [FoundChange(shown(f".git/objects/{path}"), restored=False, kept="") for path in gone]

    @staticmethod
    def _put_back(place: Path, before: _Content | None, *, existed: bool) -> bool:
        try:
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
            if existed and before is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                if stat.S_ISLNK(before.mode):
                    place.symlink_to(os.fsdecode(before.text))
                else:
                    place.write_bytes(before.text)
                    place.chmod(stat.S_IMODE(before.mode))
        except OSError:
            return False
        return before is not None or not existed

    # -- the work tree -------------------------------------------------------------------------------------

    def _restore(self, differing: list[Change]) -> list[FoundChange]:
        try:
            entries = tree_entries(self._git, self._head)
        except GitRefusedError:
            entries = {}
        found = []
        for change in differing:
            nodes = [node for node in (change.before, change.after) if node is not None]
            if all(stat.S_ISDIR(node[0]) for node in nodes) and change.before is None:
                continue  # what lies in it is found by itself
            place = self._git.top / change.path
            kept = (
                self._keep(place, change.path)
                if change.after is not None and not stat.S_ISDIR(change.after[0])
                else ""
            )
            restored = False
            with suppress(OSError, GitRefusedError):
                restored = self._restored(change, place, entries.get(os.fsencode(change.path)))
            found.append(FoundChange(shown(change.path), restored, kept))
        return found

    def _restored(self, change: Change, place: Path, entry: tuple[bytes, bytes] | None) -> bool:
        before = change.before
        if before is None:
            place.unlink()
            return True
        if stat.S_ISDIR(before[0]):
            place.mkdir(exist_ok=True)
            place.chmod(stat.S_IMODE(before[0]))
            return True
        content = None if entry is None else next(blobs(self._git, [entry[1]]))
        if entry is None or content is None or hashlib.sha256(content).digest() != before[6]:
            return False  # it had changes of its own, of which there is no copy
        place.parent.mkdir(parents=True, exist_ok=True)
        if change.after is not None:
            place.unlink()
        if entry[0] == LINK:
            place.symlink_to(os.fsdecode(content))
        else:
            place.write_bytes(content)
            place.chmod(stat.S_IMODE(before[0]))
        return True

    def _keep(self, place: Path, name: str) -> str:
        """Copy what was found; only files of a bounded size."""
        try:
            if not stat.S_ISREG(place.lstat().st_mode) or place.lstat().st_size > 2 * _LARGEST:
                return ""
            # Not by its name alone: an agent may have put a link there, and lead the copy into the project.
            self._aside.mkdir(parents=True, exist_ok=True)
            write_file(self._aside, os.fsencode(f"found/{name.lstrip('/')}"), b"100644", place.read_bytes())
        except OSError:
            return ""
        return str(self._aside / "found" / name.lstrip("/"))


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _content(place: Path) -> _Content | None:
    """A file or link; None for what is neither, is gone, or is too large."""
    try:
        status = place.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _Content(status.st_mode, os.fsencode(place.readlink()))
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return None
        return _Content(status.st_mode, place.read_bytes())
    except FileNotFoundError:
        return None
