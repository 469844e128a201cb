"""The two index files on disk: read again only where they changed, never overwritten with less."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import StorageError
from kr_core.toolkit import read_bytes
from kr_plugins.stores.files.folder import reason
from kr_plugins.stores.files.index_parser import UnreadableIndexError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from kr_plugins.stores.files.folder import KnowledgeFolder
    from kr_plugins.stores.files.index import Index
    from kr_plugins.stores.files.index_row import IndexRow

_LARGEST = 40_000_000
"""Bytes of an index; one of 50,000 entries has some 20 million."""


class _Snapshot(NamedTuple):
    stamp: tuple[int, int, int]
    contents: Index


class IndexFile:
    """One index file.

    Args:
        folder: where it lies.
        name: of the file.
        key: of its list.
        header: makes the header of a new one.
        today: the date of what is new.
        warn: is called with what a person should know of a change.
    """

    def __init__(
        self,
        folder: KnowledgeFolder,
        name: str,
        key: str,
        header: Callable[[], Mapping[str, Any]],
        today: Callable[[], date],
        warn: Callable[[str], None],
    ) -> None:
        self.path = folder.root / name
        self._folder = folder
        self._key = key
        self._header = header
        self._today = today
        self._warn = warn
        self._snapshot: _Snapshot | None = None

    def read(self) -> Index:
        """The index as it is on disk; an empty one where there is none.

        Raises:
            OSError, UnreadableError
        """
        known = self._snapshot
        try:
            # Before it is read: what is written in between is read again the next time.
            status = os.stat(self.path)  # noqa: PTH116  a cache hit pays for it
            stamp = _stamp(status)
            if known is not None and known.stamp == stamp:
                return known.contents
            text = _decoded(self._bytes())
        except FileNotFoundError:
            return self.new()
        index = parse(
            text, key=self._key, header=self._header(), known=_rows(known),
            undated=datetime.fromtimestamp(status.st_mtime, UTC).date(),
        )  # fmt: skip
        self._snapshot = _Snapshot(stamp, index)
        return index

    def readable(self) -> Index:
        """The same for those who cannot go on without it.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            return self.read()
        except (OSError, UnreadableIndexError) as error:
            raise StorageError(
                f"the index cannot be read: {reason(error)}",
                where=self.place_of(error),
                hint="mend it, or `kr cache rebuild`; the next report that is kept sets it aside and rebuilds it from the reports",
            ) from error

    def new(self) -> Index:
        """An index with nothing in it."""
        return parse("", key=self._key, header=self._header(), undated=self._today())

    def place_of(self, error: Exception) -> str:
        """The file, and the line where one is known."""
        line = getattr(error, "line", None)
        return f"{self.path}:{line}" if line else str(self.path)

    def save(self, index: Index, *, before: Index | None) -> None:
        """Write an index that says something else than before; `before` is None where that could not be read.

        Raises:
            OSError: nothing was changed.
        """
        if before is None or index.rows != before.rows:
            if before is not None and index.loses_comments:
                aside = self._folder.set_aside(self.path, "before")
                self._warn(f"{self.path} was written in KR's form; {aside} is a copy with your comments")
            status = self._folder.replace(self.path, index.text())
            if index.is_as_written:  # else it is read, as others will read it
                self._snapshot = _Snapshot(_stamp(status), index)

    def raw(self) -> str:
        """What stands in a file that is no index; what is not text is replaced."""
        return self._bytes().decode("utf-8", "replace")

    def _bytes(self) -> bytes:
        return read_bytes(self.path, limit=_LARGEST, within=self._folder.root)


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeError as error:
        raise UnreadableIndexError(
            f"not UTF-8: {error}", raw.count(b"\n", 0, _start_of(error)) + 1
        ) from error


def _start_of(error: UnicodeError) -> int:
    return error.start if isinstance(error, UnicodeDecodeError) else 0


def _rows(known: _Snapshot | None) -> dict[str, IndexRow]:
    """The rows that need not be read again; the date of a file stands in for one that an entry lacks."""
    if known is None:
        return {}
    return {row.text: row for row in known.contents.rows if row.text and row.is_dated}
