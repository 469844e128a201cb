"""The folder of a knowledge base: who may write, how files are replaced, and what to say where that fails."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shutil
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.toolkit import inside, lock, write_atomically
from kr_plugins.stores.files import report_files
from kr_plugins.stores.files.entries import is_report_path
from kr_plugins.stores.files.reports import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LEFTOVER = re.compile(r"\..+\.[a-z0-9_]{8}\.tmp")
_SPACE = {errno.ENOSPC, errno.EDQUOT}
_PERMISSION = {errno.EROFS, errno.EACCES, errno.EPERM}


def _as_mapping(evidence: str | None) -> dict[str, Any]:
    try:
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
        self._swept: set[Path] = set()

    # -- reading -----------------------------------------------------------------------------------------

    def report(self, path: str) -> Path | None:
        """The file of a report's path, or None for a path that no report of this knowledge base can have."""
        # The path as it was given: a link that leads elsewhere inside is replaced, not what it leads to.
        return self.root / path if is_report_path(path) and inside(self.root, path) else None

    def read(self, path: str) -> tuple[str, dict[str, Any]] | None:
        """A report and its evidence; None if it is gone, empty, not text or not in this folder."""
        file = self.report(path)
        if file is None:
            return None
        report, evidence = report_files.read(file, self._is_ours)
        text = as_text(report)
        return None if text is None else (text, _as_mapping(as_text(evidence)))

    def _is_ours(self, file: Path) -> bool:
        # A link that leads out is not.
        return inside(self.root, file.relative_to(self.root).as_posix()) is not None

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
                yield
        except (OSError, UnicodeError) as error:
            raise self.failure("the knowledge base cannot be written", error) from error

    def _turn(self) -> Any:
        if self._turns is None:
            return nullcontext()
        from kr_plugins.stores.files.fair_lock import in_turn

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
        """Bring to an end what killed writers left in a folder; once, since a folder may hold very many reports.

        All writers hold the lock: what looks like a temporary file was left by one that was killed.
        """
        report_files.make_folder(folder)
        if folder in self._swept and folder != self.root:
            return
        self._swept.add(folder)
        report_files.settle_folder(folder)
        for name in [file.name for file in folder.iterdir()]:
            if _LEFTOVER.fullmatch(name):
                (folder / name).unlink(missing_ok=True)

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
        return aside.name

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
