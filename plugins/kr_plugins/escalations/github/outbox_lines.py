"""Stores the lines of an outbox: in a file that the processes of a machine share, or in a journal that machines share."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from kr_core import Outcome, RequestError
from kr_core.plugin import Document
from kr_core.toolkit import make_state_folder, read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kr_core.plugin import Journal

__all__ = ["FileLines", "JournalLines", "Lines"]

Line = dict[str, Any]

_LARGEST = 100_000_000
_FIRST = "first"
_PAGE = 1000


class Lines(Protocol):
    """Lines of JSON, each durable before it counts; the first one has the project's secret."""

    def new(self) -> tuple[bool, list[Line]]:
        """Return the lines since the last call, and whether these are all lines again, since the file was replaced.

        Raises:
            RequestError: they cannot be read or made.
            StorageError: the journal cannot be used.
        """

    def add(self, line: Line) -> None:
        """Add one line; durable on return.

        Raises:
            RequestError: it cannot be written.
            StorageError: the journal cannot be used.
        """


class FileLines:
    """In a file of the project's `.kr/`.

    Args:
        folder: that one.
        name: of the outbox.
        kept: the lines that a journal has, for a file that is new: the project was moved from another journal.
    """

    def __init__(self, folder: Path, name: str, kept: Callable[[], list[Line]] = list) -> None:
        self._folder = folder
        self._kept = kept
        self.path = folder / "github" / f"{name}.jsonl"
        self._read_up_to = 0
        self._last = b""
        """The last line that was read, by which a file is known to be the same."""

    def new(self) -> tuple[bool, list[Line]]:
        """As `Lines.new`."""
        try:
            make_state_folder(self._folder)
            self.path.parent.mkdir(exist_ok=True)
            if not self.path.exists():
                self._make()
            content = read_bytes(self.path, limit=_LARGEST)
        except OSError as error:
            raise RequestError(
                Outcome.unavailable, f"cannot be read or made: {error}", where=str(self.path)
            ) from error
        anew = content[self._read_up_to - len(self._last) : self._read_up_to] != self._last
        if anew:
            self._read_up_to = 0
        added = content[self._read_up_to :]
        whole = added[: added.rfind(b"\n") + 1]  # the rest is being written, or was cut off by a crash
        self._read_up_to += len(whole)
        lines = whole.splitlines(keepends=True)
        self._last = lines[-1] if lines else b"" if anew else self._last
        return anew, list(_parsed(lines))

    def _make(self) -> None:
        lines = self._kept() or [_new_secret()]
        handle, name = tempfile.mkstemp(
            dir=self.path.parent, prefix=".", suffix=".tmp"
        )  # for its owner alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(f"{json.dumps(line)}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):  # another process was first
                os.link(name, self.path)
        finally:
            Path(name).unlink()

    def add(self, line: Line) -> None:
        """As `Lines.add`."""
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND)
            try:
                size = os.fstat(handle).st_size
                cut_off = bool(size) and os.pread(handle, 1, size - 1) != b"\n"
                written = f"{chr(10) if cut_off else ''}{json.dumps(line)}\n".encode()
                if os.write(handle, written) < len(written):
                    raise OSError("the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise RequestError(
                Outcome.unavailable, f"cannot be written: {error}", where=str(self.path)
            ) from error


class JournalLines:
    """As documents of a journal.

    Args:
        journal: which one.
        name: of the outbox.
        file: the lines of this machine from the time before the journal was shared; the first machine's are taken over.
    """

    def __init__(self, journal: Journal, name: str, file: FileLines) -> None:
        self._journal = journal
        self._kind = f"github.{name}"
        self._file = file
        self._after = ""

    def new(self) -> tuple[bool, list[Line]]:
        """As `Lines.new`."""
        lines = self.read()
        if not self._after:
            there = self._file.new()[1] if self._file.path.exists() else []
            self._keep(_FIRST, there or [_new_secret()])  # another machine may be first
            lines = self.read()
        return False, lines

    def read(self) -> list[Line]:
        """What was added since the last call; nothing is made."""
        lines: list[Line] = []
        while True:
            page = self._journal.documents(self._kind, limit=_PAGE, after=self._after)
            lines += (line for one in page for line in one.data["lines"])
            if page:
                self._after = page[-1].key
            if len(page) < _PAGE:
                return lines

    def add(self, line: Line) -> None:
        """As `Lines.add`."""
        self._keep(uuid4().hex, [line])

    def _keep(self, key: str, lines: list[Line]) -> None:
        self._journal.change(Document(self._kind, key, "", 1, {"lines": lines}))


def _new_secret() -> Line:
    return {"secret": secrets.token_hex(32)}


def _parsed(lines: list[bytes]) -> Iterator[Line]:
    for line in lines:
        with suppress(ValueError):  # a line that a crash cut off
            parsed: Mapping[str, Any] = json.loads(line)
            if isinstance(parsed, dict):
                yield parsed
