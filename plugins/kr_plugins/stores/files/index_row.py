"""One item of an index: its lines as the file has them, and the entry that they make."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kr_plugins.stores.files.entries import ReadEntry, read
from kr_plugins.stores.files.index_edit import entry_of, item_of, topic_of

if TYPE_CHECKING:
    from kr_core.plugin import Entry
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
