"""The two index files on disk: read again only where they changed, never overwritten with less.

KR cuts the text of an index into its rows where it has KR's layout, and loads it as YAML where it has another.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import StorageError
from kr_core.toolkit import read_bytes, uncollected, yaml_text
from kr_plugins.stores.files.folder import reason
from kr_plugins.stores.files.index import BOM, LIVE, Index, IndexRow
from kr_plugins.stores.files.index_edit import cut, item_of, own_form, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from kr_plugins.stores.files.folder import KnowledgeFolder
    from kr_plugins.stores.files.index_edit import IndexText, OwnForm

_ANCHOR = re.compile(r"(?<!\S)&([^\s\[\]{},]+)")
_COMMENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
CONFLICT_MARK = re.compile(r"^(?:<{7}|\|{7}|>{7})(?: |$)|^={7}$", re.MULTILINE)
_MOST_ROWS = 60_000
"""Entries of an index. A folder of knowledge has some hundreds; commands that look at all of them take ten seconds for so many."""
_MOST_INDEX_LINES = 800_000
"""Lines of an index; the entries of one with many tags take as much memory as the largest number of entries."""
_MOST_FOREIGN_LENGTH = 1_000_000
"""Characters of an index that cannot be cut into its entries."""


class UnreadableIndexError(Exception):
    """The text is not an index; the message says where and why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def parse(
    text: str,
    *,
    key: str = LIVE,
    header: Mapping[str, Any],
    undated: date,
    known: Mapping[str, IndexRow] | None = None,
) -> Index:
    """Read an index.

    Args:
        text: the file's text; empty for a new index.
        key: of the list, `LIVE` or `ARCHIVED`.
        header: the header's keys and defaults, in order; what the file says wins.
        undated: the date of entries that have none.
        known: rows that were read before, by their text.

    Raises:
        UnreadableError: the text is not YAML, or not an index.
    """
    bom, crlf = text.startswith(BOM), "\r" in text and "\r\n" in text
    text = text.removeprefix(BOM)
    text = text.replace("\r\n", "\n") if crlf else text
    conflict = CONFLICT_MARK.search(text) if "<<<<<<<" in text or ">>>>>>>" in text else None
    if conflict is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        raise UnreadableIndexError("a merge conflict that is not resolved", line)
    if text.count("\n") > _MOST_INDEX_LINES:
        raise UnreadableIndexError(f"more than {_MOST_INDEX_LINES:,} lines")
    with uncollected():
        pieces = cut(text, key, undated.isoformat())
        if pieces is not None and len(pieces.items) > _MOST_ROWS:
            raise UnreadableIndexError(f"more than {_MOST_ROWS:,} entries")
        index = None if pieces is None else _of_pieces(pieces, key, header, undated, known or {})
    index = index or _of_document(text, key, header, undated)
    return replace(index, bom=bom, crlf=crlf)


def _of_pieces(
    pieces: IndexText, key: str, header: Mapping[str, Any], undated: date, known: Mapping[str, IndexRow]
) -> Index | None:
    """The index of a text that could be cut; None where the pieces do not mean what the whole does."""
    whole = (pieces.head, *pieces.items, pieces.tail)
    anchors = [name for one in whole if "&" in one for name in _ANCHOR.findall(one)]
    if len(set(anchors)) < len(anchors):  # YAML refuses one that is there twice, and each piece has it once
        return None
    is_list = bool(pieces.items) and not re.search(rf"^{key}:", pieces.head, re.MULTILINE)
    try:
        beside = yaml_text.load(pieces.head + pieces.tail)
        day = undated.isoformat()
        forms = pieces.forms or repeat(None)
        rows = [
            known.get(text) or _row_of(text, own, undated, day)
            for text, own in zip(pieces.items, forms, strict=False)
        ]
    except (yaml_text.YAMLError, ValueError, RecursionError):
        return None
    if is_list and beside is None:
        return Index(key, None, tuple(rows), pieces.head, pieces.tail, pieces.indent)
    if is_list or not isinstance(beside, dict) or beside.get(key, 0) not in (None, []):
        return None
    found = {name: value for name, value in beside.items() if name != key}
    missing = "" if found or not header else yaml_text.dump(dict(header))
    return Index(key, found or header, tuple(rows), pieces.head, pieces.tail, pieces.indent, missing)


def _row_of(text: str, usual: OwnForm | None, undated: date, today: str) -> IndexRow:
    """The row of an item's lines, read already where they are not in KR's own form.

    Raises:
        YAMLError, ValueError: they are not a single item by themselves.
    """
    own = usual or own_form(text, today)
    return IndexRow(text, None, own, undated) if own else IndexRow(text, read(item_of(text), undated))


def _of_document(text: str, key: str, header: Mapping[str, Any], undated: date) -> Index:
    """The index of any YAML text; when it is changed, it is written in KR's own form."""
    if len(text) > _MOST_FOREIGN_LENGTH:
        raise UnreadableIndexError(f"more than {_MOST_FOREIGN_LENGTH:,} characters in another form than KR's")
    lists = list(re.finditer(rf"""^["']?{key}["']?[ ]*:""", text, re.MULTILINE))
    if len(lists) > 1:  # YAML would take the last one, and the others would be gone with the next change
        line = text.count("\n", 0, lists[1].start()) + 1
        raise UnreadableIndexError(f"it has the key `{key}` twice", line)
    try:
        document = yaml_text.load(text)
    except (yaml_text.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableIndexError(_said(error), _line_of(error, text)) from error
    found, items = _header_and_items(document, key)
    comment = _COMMENT.match(text)
    head = comment.group() if comment else ""
    full = None if found is None else found or header
    if full is not None:
        head += (yaml_text.dump(full) if full else "") + f"{key}:\n"
    rows = tuple(IndexRow("", read(item, undated)) for item in items)
    below = text[comment.end() :] if comment else text
    loses = re.search(r"(?:^|[ \t])#", below, re.MULTILINE) is not None
    return Index(key, full, rows, head, loses_comments=loses)


def _header_and_items(document: Any, key: str) -> tuple[dict[str, Any] | None, list[Any]]:
    """The other keys of a document, and its list; None where the document is the list itself."""
    found, items = None, document
    if document is None or isinstance(document, dict):
        found = {name: value for name, value in (document or {}).items() if name != key}
        items = (document or {}).get(key) or []
    if not isinstance(items, list):
        raise UnreadableIndexError(f"it holds no list of {key.replace('_', ' ')}", 1)
    return found, items


def _said(error: Exception) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None)
    return f"not YAML: {problem}" if problem else " ".join(str(error).split())


def _line_of(error: Exception, text: str) -> int | None:
    """The line of an error; of a character that YAML has no place for the parser tells the byte alone."""
    if isinstance(position := getattr(error, "position", None), int):
        return text.encode("utf-8", "surrogatepass")[:position].count(b"\n") + 1
    return yaml_text.error_line(error) if isinstance(error, yaml_text.YAMLError) else None


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
