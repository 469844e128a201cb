"""`index.yaml` and `_archived-index.yaml` as values: read with tolerance, changed item by item, written as they were found.

What KR does not understand stays where it is: comments, unknown keys, and items that are not entries. An index that
is a bare list stays one, and so do CRLF and a byte order mark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import fold_name, yaml_text
from kr_plugins.stores.files.entries import ReadEntry, closeness, is_report_path, item_with, read
from kr_plugins.stores.files.yaml_edit import IndexText, cut, edited, item_of, loses_comments, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from kr_core.plugin import Entry
    from kr_core.toolkit import TopicIndex

LIVE, ARCHIVED = "entries", "archived_entries"
"""The keys under which the two files hold their lists."""

_ANCHOR = re.compile(r"(?<!\S)&([^\s\[\]{},]+)")
_COMMENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|>{7})(?: |$)|^={7}$", re.MULTILINE)
_MOST_LINES = 60
"""So many lines of an item are tried where a file is broken; KR's own have about a dozen."""
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


class UnreadableIndexError(Exception):
    """The text is not an index; the message says where and why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class IndexRow(NamedTuple):
    """An item of the list: its lines as they stand in the file, and what they say."""

    text: str
    """Empty for one that has no lines of its own yet."""
    read: ReadEntry


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
        return tuple(row.read.entry for row in self.rows if row.read.entry is not None)

    @cached_property
    def by_framework(self) -> dict[str, TopicIndex]:
        """The entries of each framework, by its folded name; what matching needs of them is computed once."""
        from kr_core.toolkit import TopicIndex  # brings the stemmer, which not every process needs

        folded: dict[str, list[Entry]] = {}
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            same = found.get(entry.framework)
            if same is None:
                same = found[entry.framework] = folded.setdefault(fold_name(entry.framework), [])
            same.append(entry)
        return {name: TopicIndex(entries) for name, entries in folded.items()}

    @cached_property
    def paths(self) -> frozenset[str]:
        """The reports that belong to an entry."""
        return frozenset(_normal(entry.path) for entry in self.entries)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The rows in which an id or a path stands; a path is told by its ending."""
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            entry = row.read.entry
            if entry is not None:
                found.setdefault(entry.id, []).append(number)
                found.setdefault(entry.path, []).append(number)
        return found

    def on_report(self, path: str) -> tuple[Entry, ...]:
        """The entries that lead to one report."""
        return tuple(entry for n in self._places.get(path, ()) if (entry := self.entry_at(n)).path == path)

    def position(self, entry: Entry) -> int | None:
        """Where the entry stands: its framework's item with its id, else the one with its report and topic.

        Two items may lead to one report under one id, as after a merge: of them it is the one that says the same.
        """
        places = sorted({*self._places.get(entry.id, ()), *self._places.get(entry.path, ())})
        known = [
            (self._closeness(number, entry), self.rows[number].read.entry == entry, -number)
            for number in places
        ]
        best, _, number = max(known, default=(0, False, 0))
        return -number if best else None

    def _closeness(self, number: int, entry: Entry) -> int:
        known = self.rows[number].read.entry
        return 0 if known is None else closeness(known, entry)

    def entry_at(self, position: int) -> Entry:
        """The entry of a row that has one."""
        entry = self.rows[position].read.entry
        assert entry is not None
        return entry

    # -- changes -----------------------------------------------------------------------------------------

    def with_entry(self, entry: Entry, position: int | None = None, *, item: Any = None) -> Index:
        """The index with the entry in the row at this position, whose unknown keys and comments stay; None appends.

        Args:
            entry: what the row shall stand for.
            position: of the row.
            item: of a row that is appended, the item whose unknown keys come along.
        """
        if position is None:
            new = item_with(entry, item)
            return replace(
                self, rows=(*self.rows, IndexRow(written(new, self.indent), ReadEntry(new, entry)))
            )
        return self._with_item(position, item_with(entry, self.rows[position].read.item), entry)

    def touched(self, position: int, today: date) -> Index:
        """The index with the entry at this position used today; its other values stay as they were written."""
        item = {**self.rows[position].read.item, "last_accessed": today.isoformat()}
        return self._with_item(
            position, item, self.entry_at(position).model_copy(update={"last_accessed": today})
        )

    def _with_item(self, position: int, item: Mapping[str, Any], entry: Entry) -> Index:
        row = self.rows[position]
        text = edited(row.text, self.indent, row.read.item, item)
        changed = IndexRow(text, row.read._replace(item=item, entry=entry))
        return replace(
            self,
            rows=(*self.rows[:position], changed, *self.rows[position + 1 :]),
            loses_comments=self.loses_comments or loses_comments(row.text, text),
        )

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
        return _BOM + text if self.bom else text

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
        return plain and all(row.text.endswith("\n") and row.read.dated for row in self.rows)

    # -- what is wrong -----------------------------------------------------------------------------------

    def line_of(self, position: int) -> int | None:
        """The line of the file, from 1, on which a row begins."""
        if not all(row.text for row in self.rows[:position]):
            return None
        before = self.head.count("\n") + sum(row.text.count("\n") for row in self.rows[:position])
        return before + 1

    @cached_property
    def oddities(self) -> tuple[Oddity, ...]:
        """Items that are no entries, ids that two entries have, and paths that no report can have."""
        found: list[tuple[str, int, str]] = []
        first: dict[tuple[str, str], int] = {}
        for number, row in enumerate(self.rows):
            entry = row.read.entry
            if entry is None:
                found.append(
                    ("unreadable", number, f"lacks {row.read.lacking}; it is skipped, and kept as it is")
                )
                continue
            if not is_report_path(entry.path):
                found.append(
                    ("path", number, f"names {entry.path!r}, where no report can lie; none is read there")
                )
            earlier = first.setdefault((entry.framework, entry.id), number)
            if earlier != number:
                said = f"has the id of entry {earlier + 1}, {entry.id}; both are kept"
                found.append(("duplicate", number, said))
        return tuple(
            Oddity(kind, number + 1, self.line_of(number), f"entry {number + 1} {said}")
            for kind, number, said in found
        )


def _normal(path: str) -> str:
    """A path without empty parts and dots; nearly all are written so, and a path object costs a hundred times as much."""
    plain = "//" not in path and "/." not in path and path[:1] != "." and path[-1:] != "/"
    return path if plain else PurePosixPath(path).as_posix()


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
    bom, crlf = text.startswith(_BOM), "\r\n" in text
    text = text.removeprefix(_BOM).replace("\r\n", "\n")
    conflict = _CONFLICT.search(text) if "<<<<<<<" in text or ">>>>>>>" in text else None
    if conflict is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        raise UnreadableIndexError("a merge conflict that is not resolved", line)
    pieces = cut(text, key)
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
        rows = [known.get(text) or IndexRow(text, read(item_of(text), undated)) for text in pieces.items]
    except (yaml_text.YAMLError, ValueError, RecursionError):
        return None
    if is_list and beside is None:
        return Index(key, None, tuple(rows), pieces.head, pieces.tail, pieces.indent)
    if is_list or not isinstance(beside, dict) or beside.get(key, 0) not in (None, []):
        return None
    found = {name: value for name, value in beside.items() if name != key}
    missing = "" if found or not header else yaml_text.dump(dict(header))
    return Index(key, found or header, tuple(rows), pieces.head, pieces.tail, pieces.indent, missing)


def _of_document(text: str, key: str, header: Mapping[str, Any], undated: date) -> Index:
    """The index of any YAML text; when it is changed, it is written in KR's own form."""
    lists = list(re.finditer(rf"""^["']?{key}["']?[ ]*:""", text, re.MULTILINE))
    if len(lists) > 1:  # YAML would take the last one, and the others would be gone with the next change
        line = text.count("\n", 0, lists[1].start()) + 1
        raise UnreadableIndexError(f"the key `{key}` stands there twice", line)
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
    """What stands beside the list of a document, and the list; None where the document is the list itself."""
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


# -- what a broken file still tells ------------------------------------------------------------------------


def head_of(text: str, key: str, new: Index, undated: date) -> Index:
    """An empty index with the comments and keys before the list of a broken file, as far as they can be read."""
    text = _without_marks(text)
    found = re.search(rf"^{key}:", text, re.MULTILINE)
    if found is None:
        return new
    try:
        return parse(f"{text[: found.start()]}{key}: []\n", key=key, header=new.header or {}, undated=undated)
    except UnreadableIndexError:
        return new


def _without_marks(text: str) -> str:
    text = text.removeprefix(_BOM).replace("\r\n", "\n")
    return "".join(line for line in text.splitlines(keepends=True) if not _CONFLICT.match(line))


def salvaged(text: str, undated: date) -> list[IndexRow]:
    """The items of a file that is no index any more and can still be read one by one.

    The marks of a merge conflict are passed over, so that both sides count.
    """
    found = (read(_item(chunk), undated) for chunk in _chunks(_without_marks(text)))
    return [IndexRow("", made) for made in found if made.entry is not None]


def _item(chunk: str) -> Any:
    """What a piece of a broken file says; where it cannot be read, what its lines before the break say."""
    lines = chunk.splitlines(keepends=True)[:_MOST_LINES]
    while lines:
        try:
            return item_of("".join(lines))
        except (yaml_text.YAMLError, ValueError, RecursionError):
            lines.pop()
    return None


def _chunks(text: str) -> list[str]:
    """The text cut wherever the least indented dashes stand."""
    dashes = list(re.finditer(r"^( *)- ", text, re.MULTILINE))
    if not dashes:
        return []
    indent = min((dash.group(1) for dash in dashes), key=len)
    starts = [dash.start() for dash in dashes if dash.group(1) == indent]
    chunks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    # Where the list ends, or the file was cut off, what follows is none of the item's.
    return [
        re.split(rf"^(?!{indent}[ -]|[^\S\n]*+(?:$|#))", chunk, maxsplit=1, flags=re.MULTILINE)[0]
        for chunk in chunks
    ]
