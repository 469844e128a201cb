"""How long an entry serves and stays: fresh, stale, archived, brought back, or overtaken by a new version; pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.project.version_gaps import gap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from kr_core.model import Entry
    from kr_core.project.version_gaps import VersionMatch

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Freshness(NamedTuple):
    """How far an entry can be trusted, and why not further.

    `fresh` is a hit, `stale` the base of new research, `expired` a miss. `reasons` are short sentences for people.
    """

    state: Literal["fresh", "stale", "expired"]
    reasons: tuple[str, ...] = ()


class FreshnessLimits(NamedTuple):
    """How long an entry is good, and for which versions."""

    cache_ttl_days: int = 30
    archive_after_days: int = 60
    max_age_days: int | None = 180
    version_match: VersionMatch = "auto"


def judge(
    entry: Entry,
    report_date: date | None,
    query_version: str,
    today: date,
    limits: FreshnessLimits = FreshnessLimits(),  # noqa: B008  a tuple, which never changes
) -> Freshness:
    """Judge an entry by its status, the days since it was used and researched, and the version in use.

    Each limit is passed by strictly more days. A report whose research date is unknown is as old as its entry.
    Dates in the future, from a clock that runs ahead, count as today.
    """
    idle = max((today - entry.last_accessed).days, 0)
    age = max((today - (report_date or entry.created)).days, 0)
    expired, stale = [], []
    if entry.status == "archived":
        expired.append("archived")
    if idle > limits.archive_after_days:
        expired.append(f"not used for {_days(idle)}")
    if entry.status == "stale":
        stale.append("marked stale")
    if difference := gap(entry.framework_version, query_version, mode=limits.version_match):
        stale.append(
            f"written for {entry.framework_version}, you run {query_version} (another {difference} version)"
        )
    if limits.archive_after_days >= idle > limits.cache_ttl_days:
        stale.append(f"not used for {_days(idle)}")
    if limits.max_age_days is not None and age > limits.max_age_days:
        stale.append(f"researched {_days(age)} ago")
    if expired:
        return Freshness("expired", (*expired, *stale))
    return Freshness("stale" if stale else "fresh", tuple(stale))


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


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
