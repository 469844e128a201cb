"""The folder of a knowledge base: who may write, how files are replaced, and what to say where that fails."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
import stat
import time
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.toolkit import lock, read_text, too_many_values, write_atomically
from kr_plugins.stores.files import report_files
from kr_plugins.stores.files.reports import as_text, lies_inside
from kr_plugins.stores.report_names import is_report_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFTOVER = re.compile(r"\..+\.[a-z0-9_]{8}\.tmp")
_SETTLED_NS = 1_000_000_000
"""File systems tell times in steps of up to some milliseconds."""
_LARGEST_IGNORE = 1024 * 1024
_SPACE = {errno.ENOSPC, errno.EDQUOT}
_PERMISSION = {errno.EROFS, errno.EACCES, errno.EPERM}


def _remove_leftovers(folder: Path) -> None:
    report_files.settle_folder(folder)
    for name in os.listdir(folder):  # noqa: PTH208  names are enough
        if _LEFTOVER.fullmatch(name):
            (folder / name).unlink(missing_ok=True)


def _as_mapping(evidence: str | None) -> dict[str, Any]:
    try:
        if too_many_values(evidence or ""):
            return {}
        found = json.loads(evidence or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def utc_now() -> datetime:
    """The time in the names of files that are set aside."""
    return datetime.now(UTC)


class KnowledgeFolder:
    """The files of a knowledge base.

    Args:
        root: the folder; made on the first write.
        now: the time in the name of a file that is set aside.
        turns: where writers queue; None to let them in as they come.
    """

    def __init__(
        self, root: Path, *, now: Callable[[], datetime] = utc_now, turns: Path | None = None
    ) -> None:
        self.root = root
        self.written: list[Path] = []
        """What was written since the lock was taken."""
        self._now = now
        self._turns = turns
        self._swept_now: set[Path] = set()
        """Folders that were swept since the lock was taken; no other writer leaves anything there meanwhile."""
        self._swept: dict[str, tuple[int, list[str]]] = {}
        """Folders of reports that hold nothing of killed writers: when each was last changed, and the folders in it."""

    # -- reading -----------------------------------------------------------------------------------------

    def report(self, path: str) -> Path | None:
        """The file of a report's path, or None for a path that no report of this knowledge base can have."""
        # The path as it was given: a link that leads elsewhere inside is replaced, not what it leads to.
        return self.root / path if is_report_path(path) and lies_inside(self.root, path) else None

    def read(self, path: str) -> tuple[str, dict[str, Any]] | None:
        """A report and its evidence; None if it is gone, empty, not text or not in this folder."""
        file = self.report(path)
        if file is None:
            return None
        report, evidence = report_files.read(file, self._is_ours)
        text = as_text(report)
        return None if text is None else (text, _as_mapping(as_text(evidence)))

    def why_unreadable(self, path: str) -> str:
        """Why a report that is there cannot be read; nothing for one that is gone or empty, and one that can be."""
        file = self.report(path)
        if file is None:
            return "not in the knowledge base"
        try:
            raw = report_files.content(file)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return reason(error)
        return "not text" if raw.strip() and as_text(raw) is None else ""

    def _is_ours(self, file: Path) -> bool:
        # A link that leads out is not.
        return lies_inside(self.root, os.fspath(file).removeprefix(f"{os.fspath(self.root)}/"))

    def require_inside(self, file: Path) -> None:
        """Refuse a file of this folder where links on the way to it, or itself, lead out.

        Raises:
            OSError: it leads out.
        """
        if not self._is_ours(file):
            raise OSError(errno.ELOOP, "a link leads out of the knowledge base", str(file))

    # -- writing -----------------------------------------------------------------------------------------

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Exclude other writers, and say what to do about what the system refuses."""
        try:
            with self._turn(), lock(self.root):
                self.written = []  # the lock excludes other threads too
                self._swept_now = set()
                yield
        except (OSError, UnicodeError) as error:
            raise self.failure("the knowledge base cannot be written", error) from error

    def _turn(self) -> Any:
        if self._turns is None:
            return nullcontext()
        from kr_plugins.stores.files.ticket_lock import in_turn

        return in_turn(self._turns)

    def replace(self, file: Path, text: str) -> os.stat_result:
        """Replace a file as a whole; returns the new one's status."""
        self.require_inside(file)
        self._sweep(file.parent)
        status = write_atomically(file, text)
        self.written.append(file)
        return status

    def put(self, path: str, text: str, evidence: str) -> None:
        """Replace a report and its evidence as one."""
        report = self.root / path
        self.require_inside(report)
        self._sweep(report.parent)
        report_files.stage(report, text, evidence)
        report_files.move_report(report)
        with self.report_stays(path):
            report_files.move_evidence(report)
        self.written += [report, report_files.evidence_of(report)]

    def _sweep(self, folder: Path) -> None:
        """Bring to an end what killed writers left, in whatever folder they wrote.

        All writers hold the lock: what looks like a temporary file was left by one that was killed.
        """
        report_files.make_folder(folder)
        if folder in self._swept_now:
            return
        if folder != self.root:
            _remove_leftovers(folder)
        is_first = self.root not in self._swept_now
        self._swept_now |= {self.root, folder}
        if not is_first:
            return
        _remove_leftovers(self.root)
        left = [str(self.root / "frameworks")]
        while left:
            left += self._swept_folder(left.pop())

    def _swept_folder(self, folder: str) -> list[str]:
        """The folders in a folder, from which what was left is gone; one that did not change is not read again."""
        try:
            status = os.lstat(folder)
        except OSError:
            return []
        if not stat.S_ISDIR(status.st_mode):  # a link leads to what is not this knowledge base's
            return []
        changed, below = self._swept.get(folder, (0, []))
        if changed == status.st_mtime_ns:
            return below
        with os.scandir(folder) as found:
            below, has_leftovers = [], False
            for one in found:
                has_leftovers = has_leftovers or one.name.startswith(".")
                if one.is_dir(follow_symlinks=False):
                    below.append(one.path)
        if has_leftovers:
            _remove_leftovers(Path(folder))
        changed = os.lstat(folder).st_mtime_ns
        if time.time_ns() - changed > _SETTLED_NS:  # else it may change again, and have the same time
            self._swept[folder] = (changed, below)
        return below

    def set_aside(self, file: Path, label: str) -> str:
        """Give a file a second name, which is returned; the first one is replaced at once by who calls.

        Renaming it instead would leave a moment without an index, and a process killed then would leave an
        empty knowledge base.
        """
        name = f"{file.name}.{label}-{self._now():%Y%m%dT%H%M%S}"
        names = itertools.chain([name], (f"{name}-{n}" for n in itertools.count(2)))
        aside = next(place for place in map(self.root.joinpath, names) if not os.path.lexists(place))
        try:
            aside.hardlink_to(file)
        except OSError:  # not every file system has hard links
            shutil.copyfile(file, aside)
        self._ignore_copies(file)
        return aside.name

    def _ignore_copies(self, file: Path) -> None:
        """Keep the copies of a file out of git: what they hold is in its history, as far as it was ever committed."""
        ignore = self.root / ".gitignore"
        try:
            lines = read_text(ignore, limit=_LARGEST_IGNORE, within=self.root).splitlines()
        except FileNotFoundError:
            lines = []
        except (OSError, UnicodeError):
            return  # it is not for KR to mend
        wanted = [f"/{file.name}.{label}-*" for label in ("before", "corrupt")]
        if lacking := [line for line in wanted if line not in lines]:
            self.replace(ignore, "".join(f"{line}\n" for line in [*lines, *lacking]))

    @contextmanager
    def report_stays(self, path: str) -> Iterator[None]:
        """Say of what fails from here on that the report was kept."""
        try:
            yield
        except (OSError, UnicodeError) as error:
            what = (
                f"the report was kept as {self.root / path}, but its evidence or the index cannot be written"
            )
            raise self.failure(what, error) from error

    def failure(self, what: str, error: Exception) -> StorageError:
        """What to say, and to do, about what the system refused."""
        number = error.errno if isinstance(error, OSError) else None
        hint = "see what lies there"
        if number in _SPACE:
            hint = "make room on the disk"
        elif number == errno.ELOOP:
            hint = "remove the link"
        elif number in _PERMISSION:
            hint = "make the folder writable, or set knowledge_research.knowledge_base_path to one that is"
        where = Path(getattr(error, "filename2", None) or getattr(error, "filename", None) or self.root)
        where = where.parent if _LEFTOVER.fullmatch(where.name) else where
        return StorageError(f"{what}: {reason(error)}", where=str(where), hint=hint)


def reason(error: Exception) -> str:
    """What an error says, without its number."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
