"""What an item of an index stands for: an entry, read with tolerance, and what is wrong with it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from kr_core.plugin import Entry, EntryStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = tuple(Entry.model_fields)
"""The keys of an entry, in the order in which they are written."""

_REQUIRED = ("id", "framework", "topic", "path")
_STATUSES: tuple[str, ...] = get_args(EntryStatus)


class ReadEntry(NamedTuple):
    """An item and the entry that it stands for."""

    item: Any
    entry: Entry | None
    """None where KR does not understand the item."""
    lacking: str = ""
    """What an item lacks that is no entry."""
    dated: bool = True
    """False where the day it was created is not said, so that the day of the file stands in."""


def read(item: Any, undated: date) -> ReadEntry:
    """The entry that an item stands for; `undated` is the day of one that has none."""
    if not isinstance(item, dict):
        return ReadEntry(item, None, "keys")
    required = {key: _text(item.get(key)) for key in _REQUIRED}
    if lacking := [key for key, value in required.items() if not value]:
        return ReadEntry(item, None, ", ".join(lacking))
    known = _date(item.get("created"))
    created = known or undated
    status = _text(item.get("status")).casefold()
    entry = Entry.model_validate(
        {
            **required,
            "framework_version": _text(item.get("framework_version")),
            "tags": _tags(item.get("tags")),
            "created": created,
            "last_accessed": _date(item.get("last_accessed")) or created,
            # What a status means that we do not know is not ours to guess: the entry is researched again.
            "status": status if status in _STATUSES else "stale",
        }
    )
    return ReadEntry(item, entry, dated=known is not None)


def item_with(entry: Entry, item: Any) -> dict[str, Any]:
    """The item that stands for an entry; unknown keys of the one before, and values that mean the same, stay."""
    values = entry.model_dump(mode="json")
    if not isinstance(item, dict):
        return values
    before = read(item, entry.created).entry
    unchanged = {
        key
        for key in KEYS
        if key in item and before is not None and getattr(before, key) == getattr(entry, key)
    }
    merged = {**item, **{key: value for key, value in values.items() if key not in unchanged}}
    return {key: merged[key] for key in KEYS} | merged


def odd_values(item: Mapping[str, Any], entry: Entry, today: date) -> list[str]:
    """What is said in an entry that cannot be meant; each is read as something safe."""
    said = []
    for key in ("created", "last_accessed"):
        value = item.get(key)
        if value is not None and _date(value) is None:
            said.append(f"`{key}` is no date")
        elif value is not None and getattr(entry, key) > today:
            said.append(f"`{key}` lies in the future ({getattr(entry, key)})")
    if "tags" in item and not isinstance(item["tags"], list | str | None):
        said.append("`tags` is no list")
    if _text(item.get("status", "fresh")).casefold() not in _STATUSES:
        said.append(f"`status` is none of {', '.join(_STATUSES)}, and so counts as stale")
    return said


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
