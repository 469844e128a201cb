"""`index.yaml` as a value: read with tolerance, changed item by item, written back as it was found.

What KR does not understand stays where it is: the comment at the head of the file, unknown keys, and items that
are not entries. An index that is a bare list stays one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, get_args

from kr_core import Entry, EntryStatus, fold_name, yamltext

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = tuple(Entry.model_fields)
"""The keys of an entry, in the order in which they are written."""

_REQUIRED = ("id", "framework", "topic", "path")
_STATUSES: tuple[str, ...] = get_args(EntryStatus)
_COMMENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*")


class UnreadableError(Exception):
    """The text is not an index; the message says why."""


@dataclass(frozen=True)
class Index:
    """An index: what stands in the file, and the entries that KR understands."""

    comment: str
    header: Mapping[str, Any] | None
    """The keys beside the list of entries; None where the file is a bare list."""
    items: tuple[Any, ...]
    """The list as it stands in the file."""
    parsed: tuple[Entry | None, ...]
    """The entry that each item stands for; None for one that KR does not understand."""
    warnings: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries, in the order of the file."""
        return tuple(entry for entry in self.parsed if entry is not None)

    @cached_property
    def by_framework(self) -> dict[str, list[Entry]]:
        """The entries of each framework, by its folded name."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(fold_name(entry.framework), []).append(entry)
        return found

    @cached_property
    def paths(self) -> frozenset[str]:
        """The reports that belong to an entry."""
        return frozenset(PurePosixPath(entry.path).as_posix() for entry in self.entries)

    def position(self, entry: Entry) -> int | None:
        """Where the entry stands: its framework's item with its id, else the one with its report and topic.

        Ids of two frameworks may be equal (`vue` and `router guards`, `vue-router` and `guards`).
        """
        closeness = [_closeness(known, entry) for known in self.parsed]
        best = max(closeness, default=0)
        return closeness.index(best) if best else None

    def with_entry(self, entry: Entry, position: int | None) -> Index:
        """The index with the entry in the item at this position, whose unknown keys stay; None appends."""
        known = entry.model_dump(mode="json")
        if position is None:
            return replace(self, items=(*self.items, known), parsed=(*self.parsed, entry))
        return self._replaced(position, {**self.items[position], **known}, entry)

    def touched(self, position: int, today: date) -> Index:
        """The index with the entry at this position used today; its other values stay as they were written."""
        entry = self.parsed[position]
        assert entry is not None
        item = {**self.items[position], "last_accessed": today.isoformat()}
        return self._replaced(position, item, entry.model_copy(update={"last_accessed": today}))

    def without(self, position: int) -> Index:
        """The index without the item at this position."""
        return replace(
            self,
            items=self.items[:position] + self.items[position + 1 :],
            parsed=self.parsed[:position] + self.parsed[position + 1 :],
        )

    def _replaced(self, position: int, item: dict[str, Any], entry: Entry) -> Index:
        ordered = {key: item[key] for key in KEYS if key in item} | item
        return replace(
            self,
            items=(*self.items[:position], ordered, *self.items[position + 1 :]),
            parsed=(*self.parsed[:position], entry, *self.parsed[position + 1 :]),
        )

    def text(self) -> str:
        """The index as YAML."""
        items = list(self.items)
        return self.comment + yamltext.dump(
            items if self.header is None else {**self.header, "entries": items}
        )


def parse(text: str, *, header: Mapping[str, Any], undated: date) -> Index:
    """Read an index.

    Args:
        text: the file's text; empty for a new index.
        header: the header's keys and defaults, in order; what the file says wins.
        undated: the date of entries that have none.

    Raises:
        UnreadableError: the text is not YAML, or not an index.
    """
    comment = _COMMENT.match(text)
    try:
        document = yamltext.load(text)
    except (yamltext.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(" ".join(str(error).split())) from error
    found: dict[str, Any] | None = {} if document is None else None
    items = document
    if found is not None or isinstance(document, dict):
        found = {key: value for key, value in (document or {}).items() if key != "entries"}
        items = (document or {}).get("entries") or []
    if not isinstance(items, list):
        raise UnreadableError("it holds no list of entries")
    parsed: list[Entry | None] = []
    warnings: list[str] = []
    for number, item in enumerate(items, 1):
        entry, lacking = _entry(item, undated)
        parsed.append(entry)
        if lacking:
            warnings.append(f"index.yaml: entry {number} lacks {lacking}; it is skipped, and kept as it is")
    return Index(
        comment=comment.group() if comment else "",
        header=None if found is None else {**header, **found},
        items=tuple(items),
        parsed=tuple(parsed),
        warnings=tuple(warnings),
    )


def archived_paths(text: str) -> frozenset[str]:
    """The reports that `_archived-index.yaml` speaks of; none where it cannot be read."""
    try:
        document = yamltext.load(text)
    except (yamltext.YAMLError, ValueError, RecursionError):
        return frozenset()
    items = document.get("archived_entries") if isinstance(document, dict) else document
    return frozenset(
        PurePosixPath(str(item["path"])).as_posix()
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict) and item.get("path")
    )


def is_about(known: Entry, entry: Entry) -> bool:
    """Whether two entries are about the same topic of the same framework."""
    return fold_name(known.framework) == fold_name(entry.framework) and fold_name(known.topic) == fold_name(
        entry.topic
    )


def _closeness(known: Entry | None, entry: Entry) -> int:
    """How surely an entry of the index is the one that is meant; 0 if it is another."""
    if known is None or (known.id != entry.id and known.path != entry.path):
        return 0
    if known.id == entry.id and fold_name(known.framework) == fold_name(entry.framework):
        return 3 if known.path == entry.path else 2
    return 1 if known.path == entry.path and is_about(known, entry) else 0


def _entry(item: Any, undated: date) -> tuple[Entry | None, str]:
    """The entry that an item stands for, or None and what it lacks."""
    if not isinstance(item, dict):
        return None, "keys"
    required = {key: _text(item.get(key)) for key in _REQUIRED}
    if lacking := [key for key, value in required.items() if not value]:
        return None, ", ".join(lacking)
    created = _date(item.get("created")) or undated
    status = _text(item.get("status")).casefold()
    return (
        Entry.model_validate(
            {
                **required,
                "framework_version": _text(item.get("framework_version")),
                "tags": _tags(item.get("tags")),
                "created": created,
                "last_accessed": _date(item.get("last_accessed")) or created,
                # What a status means that we do not know is not ours to guess: the entry is researched again.
                "status": status if status in _STATUSES else "stale",
            }
        ),
        "",
    )


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _tags(value: Any) -> tuple[str, ...]:
    tags = value if isinstance(value, list) else _text(value).split(",")
    return tuple(tag for tag in map(_text, tags) if tag)


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(_text(value)[:10].replace("/", "-"))
    except ValueError:
        return None
