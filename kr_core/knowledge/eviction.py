"""Which entries leave the knowledge base for its archive, which come back, and which a new version has overtaken; pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from kr_core.project.version_gaps import gap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from kr_core.model import Entry

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class CapacityLimits(NamedTuple):
    """How much the knowledge base holds, and for how long."""

    max_entries: int
    archive_after_days: int


class EvictionPlan(NamedTuple):
    """The entries that leave, in the order of the index."""

    expired: tuple[Entry, ...]
    """Not used for longer than the limit, or marked as archived."""
    evicted: tuple[Entry, ...]
    """The least recently used of those beyond the limit."""

    @property
    def all(self) -> tuple[Entry, ...]:
        """Both."""
        return (*self.expired, *self.evicted)


def outgoing(
    entries: Sequence[Entry],
    limits: CapacityLimits,
    today: date,
    *,
    spare: Entry | None = None,
    used: Mapping[str, datetime] | None = None,
) -> EvictionPlan:
    """Choose what leaves: first what was not used for too long, then the least recently used beyond the limit.

    Args:
        entries: all of the index.
        limits: of the configuration, whatever the index says of itself.
        today: dates in the future, from a clock that runs ahead, count as today.
        spare: an entry that never leaves, since it was just written.
        used: when entries were last used, by id; it decides between those that were last used on the same day.
    """
    free = [entry for entry in entries if not _is(entry, spare)]
    expired = tuple(entry for entry in free if _is_expired(entry, limits.archive_after_days, today))
    gone = set(map(_key, expired))
    left = [entry for entry in free if _key(entry) not in gone]
    excess = len(entries) - len(expired) - limits.max_entries
    if excess <= 0:
        return EvictionPlan(expired, ())
    times = used or {}
    oldest = sorted(left, key=lambda entry: (_last_used(entry, today), times.get(entry.id, _LONG_AGO)))[
        :excess
    ]
    chosen = set(map(_key, oldest))
    return EvictionPlan(expired, tuple(entry for entry in left if _key(entry) in chosen))


def times_matter(entries: Sequence[Entry], chosen: EvictionPlan, today: date) -> bool:
    """Whether an entry was evicted that was last used on the same day as one that stays."""
    gone = set(map(_key, chosen.all))
    days = {_last_used(entry, today) for entry in chosen.evicted}
    return any(_last_used(entry, today) in days for entry in entries if _key(entry) not in gone)


def overtaken(entries: Sequence[Entry], version_of: Callable[[str], str | None]) -> list[Entry]:
    """The entries, not stale yet, that were written for another major version than the one in use."""
    versions: dict[str, str | None] = {}
    found = []
    for entry in entries:
        if entry.framework not in versions:
            versions[entry.framework] = version_of(entry.framework)
        version = versions[entry.framework]
        if entry.status == "fresh" and version and gap(entry.framework_version, version) == "major":
            found.append(entry)
    return found


def restored(entry: Entry, today: date) -> Entry:
    """An archived entry as it comes back: used today, and as good as its age and version let it be."""
    return entry.model_copy(update={"last_accessed": today, "status": "fresh"})


def _is_expired(entry: Entry, archive_after_days: int, today: date) -> bool:
    return entry.status == "archived" or (today - entry.last_accessed).days > archive_after_days


def _last_used(entry: Entry, today: date) -> date:
    return min(entry.last_accessed, today)


def _key(entry: Entry) -> tuple[str, str, str]:
    return entry.framework, entry.id, entry.path


def _is(entry: Entry, other: Entry | None) -> bool:
    return other is not None and _key(entry) == _key(other)
