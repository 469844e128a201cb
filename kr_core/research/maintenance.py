"""Care of a knowledge base: what is wrong with it (`kr cache check`), what has to leave it (`kr cache gc`), and which entries are marked as stale (K9)."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.files import read_text, write_atomically
from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.retention import (
    CapacityLimits,
    EvictionPlan,
    FreshnessLimits,
    judge,
    outgoing,
    times_matter,
)
from kr_core.model import STALE_MARK
from kr_core.project.environments import OWN_LABEL
from kr_core.project.version_gaps import gap, is_earlier_major
from kr_core.protocols import ConditionalWrites, Inspectable, Issue, Repairable
from kr_core.research.entry_lookup import as_reported, describe, report_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from kr_core.config import Config, KnowledgeResearch
    from kr_core.model import Entry, Event, Finding, ResearchQuery
    from kr_core.protocols import EventLog, Project, Store, WriteResult
    from kr_core.research.container import Container
    from kr_core.research.entry_lookup import LookupResult

STALE, UNUSED = "stale", "unused"
"""Kinds of flaws: an answer that was overtaken, and one that nobody asked for lately, which says nothing of its truth."""
MAX_WHEN_STALE = 30
"""The score of a stale report that serves in place of an answer, at most; out of 100."""
_CONFIDENCE = re.compile(r"^(\*\*Confidence:\*\*).*$", re.MULTILINE)
_SCORE = re.compile(r"^(\*\*Score:\*\*).*$", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)


def version_in_use(project: Project, framework: str) -> str | None:
    """The version that the project itself uses; what only KR's own environment has does not count."""
    version = project.version_of(framework)
    return None if version is None or version[1] == OWN_LABEL else version[0]


def check(store: Store, settings: KnowledgeResearch, project: Project, today: date) -> list[Issue]:
    """Everything that is wrong, then what is stale or was not used for long.

    Raises:
        StorageError: the store cannot be read, and cannot say why.
    """
    issues: list[Issue] = []
    is_readable = True
    version_of = cache(lambda framework: version_in_use(project, framework))
    limits = _Limits(
        # How long an answer was not used says nothing of its truth, and the reverse.
        FreshnessLimits(_NEVER, _NEVER, settings.max_age_days, settings.version_match),
        FreshnessLimits(settings.cache_ttl_days, settings.archive_after_days, max_age_days=None),
    )
    if isinstance(store, Inspectable):
        seen: list[Issue] = []
        flaws = store.inspect(
            lambda entry, report: seen.extend(
                _of_report(entry, report, version_of(entry.framework), today, limits)
            )
        )
        return list(dict.fromkeys([*flaws, *seen]))
    if isinstance(store, Repairable):
        issues += store.check()
        is_readable = not any(flaw.kind == "unreadable" for flaw in issues)
    try:
        entries = store.entries()
    except Exception:
        if is_readable:
            raise
        return issues
    for entry in entries:
        stored = store.read(entry)
        if stored is not None:
            issues += _of_report(entry, stored[0], version_of(entry.framework), today, limits)
        elif not isinstance(store, Repairable):
            hint = "it is researched anew when it is asked for"
            issues.append(Issue("dangling", entry.id, "its report is gone or empty", hint))
    return list(dict.fromkeys(issues))


class _Limits(NamedTuple):
    age: FreshnessLimits
    use: FreshnessLimits


_NEVER = 10_000_000
"""Days, more than a calendar has."""


def _of_report(
    entry: Entry, report: str, version: str | None, today: date, limits: _Limits
) -> Iterator[Issue]:
    reported = as_reported(entry, report, version) if version else entry
    researched = report_date(report)
    fresh = judge(reported, researched, version or entry.framework_version, today, limits.age)
    if fresh.state != "fresh":
        hint = "ask the question again, or `kr research --refresh`"
        yield Issue(STALE, entry.id, "; ".join(fresh.reasons), hint)
        return
    idle = judge(entry, researched, entry.framework_version, today, limits.use)
    if idle.state != "fresh":
        hint = "when it is next asked for it is researched anew; `kr cache gc` archives what is too old"
        yield Issue(UNUSED, entry.id, "; ".join(idle.reasons), hint)


_USES = frozenset({"run.finished", "run.repeated"})
_BATCH = 1000
_LARGEST = 50_000_000


class ArchiveResult(NamedTuple):
    """What left the index."""

    expired: int
    evicted: int
    entries: tuple[Entry, ...]
    files: tuple[Path, ...]


def archive_surplus(
    store: Store, journal: Callable[[], EventLog], config: Config, today: date, *, spare: Entry | None = None
) -> ArchiveResult:
    """Archive what was not used for too long, then the least recently used entries beyond the limit.

    Where nothing has to go, and that is nearly always, the index is looked at and nothing is locked. Which of several
    entries of one day was used last is asked of the journal, and only where that decides.

    Args:
        store: the knowledge base.
        journal: gives what knows every use, where that decides.
        config: the limits, which win over those in the index, and the state folder.
        today: the day that counts.
        spare: the entry that was just written, which stays.

    Raises:
        StorageError: the knowledge base or the journal cannot be used; no entry was lost.
    """
    settings = config.settings.knowledge_research
    limits = CapacityLimits(settings.max_entries, settings.archive_after_days)
    entries = store.entries()
    planned = outgoing(entries, limits, today, spare=spare)
    if not planned.all:
        return ArchiveResult(0, 0, (), ())
    used = None
    if times_matter(entries, planned, today):
        used = last_uses(journal(), config.state_folder / "uses.json", entries)
    chosen = planned

    def choose(now: Sequence[Entry]) -> tuple[Entry, ...]:
        nonlocal chosen
        chosen = outgoing(now, limits, today, spare=spare, used=used)
        return chosen.all

    moved = store.archive(choose)
    return ArchiveResult(*_counts(chosen, moved.entries), tuple(moved.entries), tuple(moved.files))


def write_over(
    store: Store, before: tuple[str, dict[str, Any]], report: str, evidence: dict[str, Any], entry: Entry
) -> WriteResult | None:
    """Write a report over the one that was read; where a newer one has come meanwhile, write nothing and return None.

    A store that cannot do both at once (`ConditionalWrites`) is read right before the write.

    Raises:
        StorageError: the knowledge base cannot be written.
    """
    if isinstance(store, ConditionalWrites):
        return store.write_over(before, report, evidence, entry)
    return store.write(report, evidence, entry) if store.read(entry) == before else None


def within_limits(write: WriteResult, components: Container, notes: list[str]) -> WriteResult:
    """What a write did, once the knowledge base is within its limits again; a failure is noted, and counts as -1."""
    if write.entry is None:
        return write
    store = components.store
    try:
        archived = archive_surplus(
            store, lambda: components.journal, components.config, components.today(), spare=write.entry
        )
        if not archived.entries:
            return write
        files = tuple(dict.fromkeys([*write.files, *archived.files]))
        return write._replace(evicted=archived.evicted, index_count=len(store.entries()), files=files)
    except Exception as error:  # the report was kept, which is what counts
        notes.append(f"capacity: the knowledge base was not brought within its limits: {describe(error)}")
        return write._replace(evicted=-1)


def _counts(chosen: EvictionPlan, moved: Sequence[Entry]) -> tuple[int, int]:
    evicted = min(len(chosen.evicted), len(moved))
    return len(moved) - evicted, evicted


def last_uses(journal: EventLog, file: Path, entries: Sequence[Entry]) -> dict[str, datetime]:
    """When each entry was last used, by id, to the moment.

    The journal has every hit already, the repeated ones of the command line too, durable before the answer is shown:
    to write the time down once more would cost each hit a sync, and in the index it would make git dirty. So it is read
    here, from where the last reading ended; what was read is kept beside the journal.

    Args:
        journal: numbers begin at 1 and grow.
        file: what was read so far; one that is spoilt, or speaks of another journal, is made anew.
        entries: whose uses are kept.
    """
    after, known = _known(file, journal)
    latest: Event | None = None
    while batch := journal.read(after, _BATCH):
        for number, event in batch:
            after, latest = number, event
            entry = event.data.get("entry") if event.kind in _USES else None
            if isinstance(entry, str):
                known[entry] = event.time
    present = {entry.id for entry in entries}
    uses = {name: time for name, time in known.items() if name in present}
    if latest is not None:
        record = {
            "after": after,
            "event": latest.id,
            "used": {name: time.isoformat() for name, time in uses.items()},
        }
        with suppress(OSError):  # then it is read once more next time
            write_atomically(file, json.dumps(record))
    return uses


def _known(file: Path, journal: EventLog) -> tuple[int, dict[str, datetime]]:
    """The number that was read last, and what was read; nothing where the journal is another one."""
    try:
        record: Any = json.loads(read_text(file, limit=_LARGEST))
        after = int(record["after"])
        used = {str(name): datetime.fromisoformat(time) for name, time in record["used"].items()}
        if any(time.tzinfo is None for time in used.values()):
            return 0, {}
        same = [event.id for _number, event in journal.read(after - 1, 1)] == [record["event"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0, {}
    return (after, used) if same else (0, {})


def mark_overtaken(
    store: Store, project: Project, query: ResearchQuery, findings: Iterable[Finding]
) -> tuple[str, ...]:
    """Mark entries about an earlier major version of a framework stale; return notes on these, or why it failed.

    Nothing is marked where the project says which version it uses, or the request names an earlier major version than the
    newest: an answer for the version in use is not stale because there is a newer one.
    """
    framework = query.framework
    newest = next((finding.newest for finding in findings if finding.newest), None)
    if newest is None or version_in_use(project, framework) is not None:
        return ()
    if is_earlier_major(query.framework_version, newest):
        return ()

    def choose(entries: Sequence[Entry]) -> list[Entry]:
        return [
            entry
            for entry in entries
            if fold_name(entry.framework) == fold_name(framework)
            and entry.status == "fresh"
            and is_earlier_major(entry.framework_version, newest)
        ]

    try:
        if not choose(store.entries()):  # nearly always: nothing is locked
            return ()
        moved = store.mark_stale(choose)
    except Exception as error:  # a store is a plugin; the answer stands
        return (f"answers about earlier versions were not marked stale: {error}",)
    count = len(moved.entries)
    return (f"{framework} {newest} was released: {count} earlier answer{'s' * (count != 1)} marked stale",)


def mark_outdated(components: Container, query: ResearchQuery, found: LookupResult) -> tuple[str, ...]:
    """Mark the entry that a look-up found stale in the index, too; a note where that failed.

    An entry about a later version than the one asked for, or about another minor version, is not marked: two projects
    may share the knowledge base, and for the other one it holds.
    """
    if not _is_outdated(components, query, found):
        return ()
    assert found.matched is not None, "a report was found"
    outdated = found.matched.entry
    try:
        components.store.mark_stale(
            lambda entries: [one for one in entries if one.status == "fresh" and one == outdated]
        )
    except Exception as error:  # a store is a plugin; the research goes on
        return (f"{outdated.id} was not marked stale: {describe(error)}",)
    return ()


def mark_stand_in(
    components: Container, query: ResearchQuery, found: LookupResult
) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Mark the file of a stale report that serves in place of an answer; return notes, and the files that changed."""
    matched = found.matched
    assert matched is not None, "a report serves in place of an answer"
    is_marked = matched.entry.status == "stale"
    if STALE_MARK in found.report or not (is_marked or _is_outdated(components, query, found)):
        return (), ()
    entry = matched.entry.model_copy(update={"status": "stale"})
    report, evidence = _marked(found.report, found.evidence)
    try:
        before = (found.report, found.evidence)
        written = write_over(components.store, before, report, evidence, entry)
        return (), tuple(written.files) if written is not None else ()
    except Exception as error:  # a store is a plugin; the answer stands
        return (f"{entry.id}: its report was not marked as stale: {describe(error)}",), ()


def _is_outdated(components: Container, query: ResearchQuery, found: LookupResult) -> bool:
    """Whether its age, or an earlier major version than the one asked for, makes the entry stale for everybody."""
    if not (found.is_outdated or found.is_expired) or found.matched is None or found.match is None:
        return False
    entry, version = found.matched.entry, found.match.entry_version
    if entry.status != "fresh":
        return False
    settings = components.config.settings.knowledge_research
    limits = FreshnessLimits(
        settings.cache_ttl_days, settings.archive_after_days, settings.max_age_days, settings.version_match
    )
    by_age = judge(entry, report_date(found.report), entry.framework_version, components.today(), limits)
    differs = gap(version, query.framework_version, mode=settings.version_match)
    return by_age.state != "fresh" or bool(differs and is_earlier_major(version, query.framework_version))


def _marked(report: str, evidence: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A report and its evidence that say of themselves what the result of a stand-in says."""
    report = _CONFIDENCE.sub(r"\1 low", report, count=1)
    if evidence:  # `incomplete`: it is not served as the weak answer of today
        evidence = {**evidence, "level": "low", "incomplete": True}
    if isinstance(evidence.get("score"), int):
        evidence["score"] = min(evidence["score"], MAX_WHEN_STALE)
        report = _SCORE.sub(rf"\1 {evidence['score']}/100", report, count=1)
    section = _SECTION.search(report)
    place = section.start() if section else len(report)
    return f"{report[:place]}{STALE_MARK}\n\n{report[place:]}", evidence
