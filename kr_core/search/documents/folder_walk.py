"""The files below a folder that may be documents, in order, and what was passed over."""

from __future__ import annotations

import os
import stat
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.documents.loaders import kind_of, limit_of
from kr_core.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEVER = frozenset("node_modules __pycache__ site-packages _sources _static _downloads".split())
"""Folders of what others wrote, of what is made by programs, and of a built page's sources beside it."""
_INDEXES = ("genindex", "py-modindex", "contents.html", "search.html", "searchindex.js")
"""Files of Sphinx that name everything and say nothing."""
_SEARCH = frozenset("search.js search-index.js search_index.js".split())
"""What looks things up in built pages, and its data; where no page lies beside it, it is somebody's program."""
_MINIFIED = (".min.js", ".min.mjs", ".min.cjs")


class CandidateFile(NamedTuple):
    """A file that may be read."""

    path: str
    size: int
    changed: int
    """Nanoseconds."""


class FolderWalk:
    """One walk below a folder; a file given by itself is read whatever it is called.

    No symbolic link is followed: what it leads to inside is met there, and what lies outside was not asked for. Where a link
    right in the folder leads to a folder outside, that is told, since it may be what was meant.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.passed: Counter[str] = Counter()
        """How often a reason stands; without the files' names, so that a million of them take no room."""
        self.faults: list[str] = []
        """What could not be looked at."""
        self.unread: set[str] = set()
        """Folders that could not be listed: what is known of files in them stays."""

    def files(self) -> Iterator[CandidateFile]:
        """The files, a folder's own before those of the folders in it."""
        try:
            status = self._root.lstat()
        except OSError as error:
            self.faults.append(f"{self._root}: {error.strerror}")
            return
        if stat.S_ISREG(status.st_mode):
            yield CandidateFile(str(self._root), status.st_size, status.st_mtime_ns)
            return
        if not stat.S_ISDIR(status.st_mode):  # to open a pipe is to wait for somebody who writes
            self.faults.append(
                f"{self._root}: passed over: is not a file or folder, but a link, pipe, socket or device"
            )
            return
        waiting = [str(self._root)]
        while waiting:
            folder = waiting.pop()
            files, folders = self._listed(folder)
            yield from files
            waiting.extend(reversed(folders))

    def _listed(self, folder: str) -> tuple[list[CandidateFile], list[str]]:
        files: list[CandidateFile] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._entry(entry, files, folders)
        except OSError as error:
            self.faults.append(f"{folder}: {error.strerror}")
            self.unread.add(folder)
        if folder != str(self._root) and os.path.lexists(os.path.join(folder, "pyvenv.cfg")):  # noqa: PTH118  a hot loop
            self.passed["virtual environments"] += 1
            return [], []
        return sorted(self._without_search(files)), sorted(folders)

    def _without_search(self, files: list[CandidateFile]) -> list[CandidateFile]:
        """A folder's files without those that look things up in its pages."""
        left = [one for one in files if os.path.basename(one.path) not in _SEARCH]  # noqa: PTH119  a hot loop
        if len(left) == len(files) or not any(kind_of(one.path) == "html" for one in files):
            return files
        self.passed["index pages"] += len(files) - len(left)
        return left

    def _entry(self, entry: os.DirEntry[str], files: list[CandidateFile], folders: list[str]) -> None:
        name = entry.name
        if name.startswith("."):
            return
        if one_line(name) != name:
            self.passed["names with control characters"] += 1
            return
        try:
            if entry.is_symlink():
                self._link(entry)
            elif entry.is_dir(follow_symlinks=False):
                if name not in _NEVER:
                    folders.append(entry.path)
            else:
                self._file(entry, files)
        except OSError as error:
            self.faults.append(f"{entry.path}: {error.strerror}")

    def _link(self, entry: os.DirEntry[str]) -> None:
        self.passed["symbolic links"] += 1
        folder = os.path.dirname(entry.path)  # noqa: PTH120  a hot loop
        if folder == str(self._root) and entry.is_dir():
            target = os.path.realpath(entry.path)
            if os.path.commonpath((target, os.path.realpath(folder))) != os.path.realpath(folder):
                self.faults.append(
                    f"{entry.path}: passed over: a link to {target}; to have it, index that folder"
                )

    def _file(self, entry: os.DirEntry[str], files: list[CandidateFile]) -> None:
        kind = kind_of(entry.name)
        if kind is None:
            ending = os.path.splitext(entry.name)[1].lower()  # noqa: PTH122  a hot loop
            self.passed[f"{ending[:12]} files" if ending else "files without an ending"] += 1
            return
        if entry.name.startswith(_INDEXES):
            self.passed["index pages"] += 1
            return
        if entry.name.endswith(_MINIFIED):
            self.passed["minified files"] += 1
            return
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            self.passed["devices and pipes"] += 1
        elif status.st_size > limit_of(kind):
            self.faults.append(f"{entry.path}: passed over: larger than {limit_of(kind) // 1_000_000} MB")
        elif status.st_size:
            files.append(CandidateFile(entry.path, status.st_size, status.st_mtime_ns))
