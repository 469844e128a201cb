"""Stale marks: on entries that a new major version overtakes (K9), and on what a look-up finds outdated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.retention import FreshnessLimits, judge
from kr_core.model import STALE_MARK
from kr_core.project.version_gaps import gap, is_earlier_major
from kr_core.research.entry_lookup import describe, report_date
from kr_core.research.maintenance import version_in_use, write_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kr_core.model import Entry, Finding, ResearchQuery
    from kr_core.protocols import Project, Store
    from kr_core.research.container import Container
    from kr_core.research.entry_lookup import LookupResult

MAX_WHEN_STALE = 30
"""The score of a stale report that serves in place of an answer, at most; out of 100."""
_CONFIDENCE = re.compile(r"^(\*\*Confidence:\*\*).*$", re.MULTILINE)
_SCORE = re.compile(r"^(\*\*Score:\*\*).*$", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)


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
