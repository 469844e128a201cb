"""`index.yaml` and `_archived-index.yaml` as values: searched, changed item by item, written as they were found.

What KR does not understand stays where it is: comments, unknown keys, and items that are not entries. An index that
is a bare list stays one, and so do CRLF and a byte order mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from kr_core.toolkit import fold_name, uncollected
from kr_plugins.stores.files.index_edit import (
    ReadEntry,
    edited,
    entry_of,
    item_of,
    item_with,
    loses_comments,
    read,
    topic_of,
    written,
)
from kr_plugins.stores.report_names import is_report_path

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from kr_core.plugin import Entry
    from kr_core.toolkit import TopicIndex
    from kr_plugins.stores.files.index_edit import OwnForm


class IndexRow:
    """An item of the list: its lines as the file has them, and what they say.

    One in KR's own form is read when it is needed: of thousands, most never are.

    Args:
        text: its lines; empty for one that has no lines of its own yet.
        read: what they say; None to read them later.
        own: what is known of it without; needed where `read` is None.
        undated: the day of an entry that has none.
    """

    __slots__ = ("_entry", "_own", "_read", "_undated", "text")

    def __init__(
        self, text: str, read: ReadEntry | None, own: OwnForm | None = None, undated: date = date.min
    ) -> None:
        self.text = text
        self._read = read
        self._entry: Entry | None = None
        self._own = own
        self._undated = undated

    @property
    def read(self) -> ReadEntry:
        """The item and its entry."""
        if self._read is None:
            self._read = read(item_of(self.text), self._undated)
            if self._entry is not None:
                self._read = self._read._replace(entry=self._entry)
        return self._read

    @property
    def entry(self) -> Entry | None:
        """Its entry, made without the item where that has KR's own form."""
        if self._entry is None and self._read is None and self.is_plain():
            self._entry = entry_of(self.text)
        return self._entry or self.read.entry

    @property
    def was_read(self) -> bool:
        """Whether its values were asked for."""
        return self._read is not None or self._entry is not None

    @property
    def key(self) -> tuple[str, str, str] | None:
        """The id, framework and path of its entry; None where it has none."""
        if self._own is not None:
            return self._own[:3]
        entry = self.read.entry
        return None if entry is None else (entry.id, entry.framework, entry.path)

    @property
    def topic(self) -> tuple[str, str, tuple[str, ...]]:
        """The framework, topic and tags of its entry, which it must have; no entry is made for it."""
        found = topic_of(self.text) if self._read is None and self._own is not None else None
        if found is not None and self._own is not None:
            return self._own.framework, *found
        entry = self.read.entry
        assert entry is not None
        return entry.framework, entry.topic, entry.tags

    def is_plain(self, today: date = date.max) -> bool:
        """Whether its values need no closer look, by this day."""
        return self._own is not None and self._own.is_plain and self._undated <= today

    @property
    def is_dated(self) -> bool:
        """Whether it says when its entry was created."""
        return self.is_plain() or self.read.dated

    def __eq__(self, other: object) -> bool:
        """Whether the lines are the same, and say the same."""
        if not isinstance(other, IndexRow) or self.text != other.text:
            return False
        return (bool(self.text) and self.is_plain() and other.is_plain()) or self.read == other.read

    def __hash__(self) -> int:
        """By its lines."""
        return hash(self.text)


LIVE, ARCHIVED = "entries", "archived_entries"
"""The keys under which the two files hold their lists."""

_A_USUAL_PATH = r"frameworks(?:/[\w-][\w.-]*)+\.md"
_USUAL_PATH = re.compile(_A_USUAL_PATH, re.ASCII)
"""What nearly all paths of reports look like; the others are looked at part by part."""
_USUAL_PATHS = re.compile(rf"(?>{_A_USUAL_PATH}(?:\n|\Z))*+", re.ASCII)
_FEW = 8
"""Rows of one id or path that are looked at each time; KR's own have one."""
BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


class _RowEntries(Sequence["Entry"]):
    """The entries of some rows of an index, each read when it is asked for."""

    def __init__(self, index: Index, rows: Sequence[int]) -> None:
        self._index = index
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, position: int) -> Entry: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Entry]: ...
    def __getitem__(self, position: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(position, slice):
            return [self._index.entry_at(number) for number in self._rows[position]]
        return self._index.entry_at(self._rows[position])


class RowChange(NamedTuple):
    """An entry to write into an index."""

    entry: Entry
    position: int | None = None
    """The row to write it into, whose unknown keys and comments stay; None for a row after all others."""
    item: Any = None
    """For a new row, the item whose unknown keys come along."""


class Oddity(NamedTuple):
    """What is wrong with an item, and what is made of it."""

    kind: str
    number: int
    """Which item it is, from 1."""
    line: int | None
    message: str


@dataclass(frozen=True)
class Index:
    """An index: what stands in the file, and the entries that KR understands."""

    key: str
    header: Mapping[str, Any] | None
    """The keys beside the list; None where the file is a bare list."""
    rows: tuple[IndexRow, ...]
    head: str
    """The text before the list."""
    tail: str = ""
    indent: str = ""
    missing: str = ""
    """What a file lacks that says nothing of itself; written with the next change."""
    crlf: bool = False
    bom: bool = False
    loses_comments: bool = field(default=False, compare=False)
    """Whether the file held comments that are not in this text: parts of it are in KR's own form now."""

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The entries, in the order of the file."""
        with uncollected():
            return tuple(entry for row in self.rows if (entry := row.entry) is not None)

    @property
    def count(self) -> int:
        """How many entries there are; none is read for it."""
        return len(self._keys) - self._keys.count(None)

    @cached_property
    def _keys(self) -> list[tuple[str, str, str] | None]:
        """The id, framework and path of each row's entry; None for a row that has none."""
        with uncollected():
            return [row.key for row in self.rows]

    def of_framework(self, name: str) -> Sequence[Entry]:
        """The entries of a framework, case and separators folded; what matching needs of them is computed once."""
        from kr_core.toolkit import TopicIndex  # brings the stemmer, which not every process needs

        folded = fold_name(name)
        rows = self._rows_by_framework.get(folded)
        if rows is None:
            return ()
        if folded not in self._topics:
            self._topics[folded] = TopicIndex(
                _RowEntries(self, rows), lambda: (self.rows[number].topic for number in rows)
            )
        return self._topics[folded]

    @cached_property
    def _topics(self) -> dict[str, TopicIndex]:
        return {}

    @cached_property
    def _rows_by_framework(self) -> dict[str, list[int]]:
        folded: dict[str, list[int]] = {}
        found: dict[str, list[int]] = {}
        for number, key in enumerate(self._keys):
            if key is not None:
                framework = key[1]
                same = found.get(framework)
                if same is None:
                    same = found[framework] = folded.setdefault(fold_name(framework), [])
                same.append(number)
        return folded

    @cached_property
    def paths(self) -> frozenset[str]:
        """The reports that belong to an entry."""
        return frozenset(_normal(key[2]) for key in self._keys if key is not None)

    def _rows_of(self, name: str) -> Sequence[int]:
        """The rows in which an id or a path stands: looked for each time at first, since most processes ask for one or two."""
        if "_places" in self.__dict__ or len(self._asked) >= _FEW:
            return self._places.get(name, ())
        if name not in self._asked:
            self._asked[name] = [
                number
                for number, key in enumerate(self._keys)
                if key is not None and name in (key[0], key[2])
            ]
        return self._asked[name]

    @cached_property
    def _asked(self) -> dict[str, list[int]]:
        return {}

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The rows in which an id or a path stands; a path is told by its ending."""
        found: dict[str, list[int]] = {}
        for number, key in enumerate(self._keys):
            if key is not None:
                found.setdefault(key[0], []).append(number)
                found.setdefault(key[2], []).append(number)
        return found

    def on_report(self, path: str) -> tuple[Entry, ...]:
        """The entries that lead to one report."""
        return tuple(entry for n in self._rows_of(path) if (entry := self.entry_at(n)).path == path)

    def position(self, entry: Entry) -> int | None:
        """Where the entry stands: its framework's item with its id, else the one with its report and topic.

        Two items may lead to one report under one id, as after a merge: of them it is the one that says the same.
        """
        found = (self._first_rows(name).get(key) for name, key in _keys(entry))
        return next((number for number in found if number is not None), None)

    def _first_rows(self, name: str) -> dict[Hashable, int]:
        """The first row of each key, among the rows in which an id or a path stands."""
        first = self._sorted.get(name)
        if first is None:
            first = {}
            places = self._rows_of(name)
            for number in places:
                for _name, key in _keys(self.entry_at(number)):
                    first.setdefault(key, number)
            if len(places) > _FEW:
                self._sorted[name] = first
        return first

    @cached_property
    def _sorted(self) -> dict[str, dict[Hashable, int]]:
        """The first rows of each id and path that many rows share: thousands may, in a crafted index."""
        return {}

    def entry_at(self, position: int) -> Entry:
        """The entry of a row that has one."""
        entry = self.rows[position].entry
        assert entry is not None
        return entry

    # -- changes -----------------------------------------------------------------------------------------

    def with_entry(self, entry: Entry, position: int | None = None, *, item: Any = None) -> Index:
        """The index with one entry more, or changed; see `RowChange`."""
        return self.with_entries([RowChange(entry, position, item)])

    def with_entries(self, changes: Iterable[RowChange]) -> Index:
        """The index after some changes of its rows, one after the other."""
        rows, loses = list(self.rows), self.loses_comments
        for entry, position, item in changes:
            if position is None:
                rows.append(self.new_row(entry, item))
                continue
            row = rows[position]
            rows[position] = self._changed(row, item_with(entry, row.read.item), entry)
            loses = loses or loses_comments(row.text, rows[position].text)
        return replace(self, rows=tuple(rows), loses_comments=loses)

    def new_row(self, entry: Entry, item: Any = None) -> IndexRow:
        """A row for an entry; with the unknown keys of an item, if there is one."""
        new = item_with(entry, item)
        return IndexRow(written(new, self.indent), ReadEntry(new, entry))

    def changed_row(self, position: int, entry: Entry) -> IndexRow:
        """The row at this position when it stands for the entry."""
        row = self.rows[position]
        return self._changed(row, item_with(entry, row.read.item), entry)

    def touched(self, position: int, today: date) -> Index:
        """The index with the entry at this position used today; its other values stay as they were written."""
        row = self.rows[position]
        entry = self.entry_at(position).model_copy(update={"last_accessed": today})
        changed = self._changed(row, {**row.read.item, "last_accessed": today.isoformat()}, entry)
        return replace(
            self,
            rows=(*self.rows[:position], changed, *self.rows[position + 1 :]),
            loses_comments=self.loses_comments or loses_comments(row.text, changed.text),
        )

    def _changed(self, row: IndexRow, item: Mapping[str, Any], entry: Entry) -> IndexRow:
        text = edited(row.text, self.indent, row.read.item, item)
        return IndexRow(text, row.read._replace(item=item, entry=entry))

    def with_rows(self, rows: Iterable[IndexRow]) -> Index:
        """The index with other rows."""
        return replace(self, rows=tuple(rows))

    def without(self, positions: Iterable[int]) -> Index:
        """The index without the rows at these positions."""
        gone = set(positions)
        return self.with_rows(row for number, row in enumerate(self.rows) if number not in gone)

    def text(self) -> str:
        """The index as YAML."""
        rows = [row.text or written(row.read.item, self.indent) for row in self.rows]
        # The last line of a file may lack its end, which is noticed only when another one follows.
        ended = [text if text.endswith("\n") else f"{text}\n" for text in rows]
        text = self._head(empty=not rows) + "".join(ended) + self.tail
        text = text.replace("\n", "\r\n") if self.crlf else text
        return BOM + text if self.bom else text

    def _head(self, *, empty: bool) -> str:
        head = self.head if self.head.endswith("\n") or not self.head else f"{self.head}\n"
        if self.header is None:
            return f"{head}[]\n" if empty else head
        line = re.search(rf"^{self.key}:(?: *\[\])?", head, re.MULTILINE)
        assert line is not None, "the list of a mapping has a key"
        key = f"{self.key}: []" if empty else f"{self.key}:"
        return head[: line.start()] + self.missing + key + head[line.end() :]

    @property
    def is_as_written(self) -> bool:
        """Whether its text, read again, would make the same index."""
        plain = not self.missing and not self.loses_comments and bool(self.rows)
        return plain and all(row.text.endswith("\n") and row.is_dated for row in self.rows)

    # -- what is wrong -----------------------------------------------------------------------------------

    def line_of(self, position: int) -> int | None:
        """The line of the file, from 1, on which a row begins."""
        return self._lines[position]

    @cached_property
    def _lines(self) -> list[int | None]:
        """The line on which each row begins, as far as all before it have lines."""
        found: list[int | None] = []
        line: int | None = self.head.count("\n") + 1
        for row in self.rows:
            found.append(line)
            line = line + row.text.count("\n") if line is not None and row.text else None
        return found

    @cached_property
    def oddities(self) -> tuple[Oddity, ...]:
        """Items that are no entries, ids that two entries have, and paths that no report can have."""
        with uncollected():
            if _are_usual(self._keys):
                return ()
        found: list[tuple[str, int, str]] = []
        first: dict[tuple[str, str], int] = {}
        for number, (row, key) in enumerate(zip(self.rows, self._keys, strict=True)):
            if key is None:
                found.append(
                    ("unreadable", number, f"lacks {row.read.lacking}; it is skipped, and kept as it is")
                )
                continue
            name, framework, path = key
            if not _USUAL_PATH.fullmatch(path) and not is_report_path(path):
                found.append(("path", number, f"names {path!r}, where no report can lie; none is read there"))
            earlier = first.setdefault((framework, name), number)
            if earlier != number:
                said = f"has the id of entry {earlier + 1}, {name}; both are kept"
                found.append(("duplicate", number, said))
        lines = self._lines if found else []
        return tuple(
            Oddity(kind, number + 1, lines[number], f"entry {number + 1} {said}")
            for kind, number, said in found
        )


def _are_usual(keys: Sequence[tuple[str, str, str] | None]) -> bool:
    """Whether nothing is odd about the keys of rows, which is nearly always so and costs little to see for all at once."""
    known = [key for key in keys if key is not None]
    paths = "\n".join([key[2] for key in known])
    are_single = len(known) == len(keys) == len({key[0] for key in known})
    return are_single and paths.count("\n") == len(known) - 1 and _USUAL_PATHS.fullmatch(paths) is not None


def _keys(entry: Entry) -> Iterator[tuple[str, Hashable]]:
    """What tells an entry, from the surest to the least sure: its id or path, and what a row with that must say.

    Ids of two frameworks may be equal (`vue` and `router guards`, `vue-router` and `guards`).
    """
    framework = fold_name(entry.framework)
    yield entry.id, entry
    yield entry.id, (framework, entry.id, entry.path)
    yield entry.id, (framework, entry.id)
    yield entry.path, ("topic", framework, fold_name(entry.topic), entry.path)


def _normal(path: str) -> str:
    """A path without empty parts and dots; nearly all are written so, and a path object costs a hundred times as much."""
    plain = "//" not in path and "/." not in path and path[:1] != "." and path[-1:] != "/"
    return path if plain else PurePosixPath(path).as_posix()
