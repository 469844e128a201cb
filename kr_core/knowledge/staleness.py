"""Whether a stored report may still serve as an answer; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.project.version_gaps import gap

if TYPE_CHECKING:
    from datetime import date

    from kr_core.model import Entry
    from kr_core.project.version_gaps import VersionMatch


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
