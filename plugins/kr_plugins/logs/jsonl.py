"""Every event as one line of JSON in `.kr/log.jsonl`.

    {"number": 7, "id": "9f...", "time": "2026-02-05T10:00:00+00:00", "run": "...", "kind": "keep.finished", "data": {...}}

A batch is one write under a lock on the file, durable on return. A process that is killed during a write may leave a
torn last line, which the next write removes, or a batch that the journal does not know about, which the next write
recognises by its ids.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kr_core import Event, StorageError
from kr_core.plugin import LogRecord, Provider, hookimpl
from kr_core.toolkit import make_state_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kr_core.plugin import Log

__all__ = ["JSONLines", "kr_log"]

_BLOCK = 65536


@hookimpl
def kr_log() -> Provider[Log]:
    """Provide the log in the project's state folder."""
    return Provider(lambda _, setup: JSONLines(setup.state_folder))


class JSONLines:
    """A log that any number of processes may write to.

    Args:
        folder: where `log.jsonl` lies; made on the first write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "log.jsonl"

    def write(self, records: Sequence[LogRecord]) -> None:
        """Append the events that the log does not have yet.

        Raises:
            StorageError: none of them was written.
        """
        if not records:
            return
        try:
            with self._opened() as handle:
                end, known = _known(handle, from_number=min(record.number for record in records))
                lines = b"".join(_line(record) for record in records if record.event.id not in known)
                _append(handle, end, lines)
        except OSError as error:
            raise StorageError(
                f"the log cannot be written: {error.strerror or error}",
                where=str(self._file),
                hint="see that it is a file that can be written; the events wait in the journal",
            ) from error

    def last_record(self) -> LogRecord | None:
        """The last record that is whole; None where there is none.

        Raises:
            StorageError: the log cannot be read.
        """
        try:
            handle = os.open(self._file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        try:
            found = next(filter(None, (_record(line) for _, line in _lines_from_the_end(handle))), None)
            return None if found is None else LogRecord(int(found["number"]), _event(found))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unreadable(error) from error
        finally:
            os.close(handle)

    def _unreadable(self, error: Exception) -> StorageError:
        return StorageError(
            f"the log cannot be read: {error}",
            where=str(self._file),
            hint="move it aside; KR starts a new one",
        )

    @contextmanager
    def _opened(self) -> Iterator[int]:
        make_state_folder(self._folder)
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # closing the file lets go of it
            yield handle
        finally:
            os.close(handle)


def _append(handle: int, end: int, lines: bytes) -> None:
    """Cut the file at `end` and append whole lines; on an error the file ends at `end` again."""
    if os.fstat(handle).st_size != end:
        os.ftruncate(handle, end)
    if end and os.pread(handle, 1, end - 1) != b"\n":
        lines = b"\n" + lines
    try:
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fdatasync(handle)
    except OSError:
        os.ftruncate(handle, end)
        raise


def _known(handle: int, *, from_number: int) -> tuple[int, set[str]]:
    """Where the last whole record ends, and the ids of the records at the end from a number on.

    Ids decide what is there, not numbers: a journal that was moved aside counts from 1 again.
    """
    end = 0
    ids: set[str] = set()
    later: int | None = None
    for stop, line in _lines_from_the_end(handle):
        record = _record(line)
        if record is None:
            if not end:
                continue  # torn: the file will be cut before it
            break
        end = end or stop
        number = int(record["number"])
        # Numbers fall towards the start; where they rise, another journal's events begin.
        if number < from_number or (later is not None and number > later):
            break
        later = number
        ids.add(str(record["id"]))
    return end, ids


def _lines_from_the_end(handle: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, last first, each with where it ends (after its newline)."""
    size = position = stop = os.fstat(handle).st_size
    tail = b""
    while position:
        start = max(0, position - _BLOCK)
        tail, *whole = (os.pread(handle, position - start, start) + tail).split(b"\n")
        position = start
        for line in reversed(whole):
            if line:
                yield min(stop + 1, size), line
            stop -= len(line) + 1
    if tail:
        yield min(stop + 1, size), tail


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    usable = isinstance(record, dict) and isinstance(record.get("number"), int) and "id" in record
    return record if usable else None


def _event(record: dict[str, Any]) -> Event:
    at = datetime.fromisoformat(record["time"])
    return Event(record["kind"], record["run"], record["data"], str(record["id"]), at)


def _line(record: LogRecord) -> bytes:
    event = record.event
    line = {
        "number": record.number,
        "id": event.id,
        "time": event.time.isoformat(),
        "run": event.run,
        "kind": event.kind,
        "data": event.data,
    }
    # A lone surrogate, which UTF-8 has no form for, becomes its JSON escape.
    return json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
