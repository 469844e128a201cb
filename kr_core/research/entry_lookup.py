"""Whether the knowledge base already has the answer."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from kr_core.errors import KRError
from kr_core.knowledge.ids import entry_id, report_path
from kr_core.knowledge.matching import TIERS
from kr_core.knowledge.report_facts import report_facts
from kr_core.knowledge.topic_lookup import TopicLookup
from kr_core.model import Entry, Match
from kr_core.project.version_gaps import gap
from kr_core.protocols.lookup import EntryMatch, KeptReport, LookupDecision, LookupRules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kr_core.model import EntryStatus, ResearchQuery
    from kr_core.plugin_calls import PluginCalls
    from kr_core.protocols import Lookup, Store
    from kr_core.research.container import Container

_REPORT_DATE = re.compile(
    r"^\*\*(?:Research Date|Researched|Date):?\*\*:?\s*(\d{4}-\d{2}-\d{2})", re.MULTILINE
)

_REPORT_VERSION = re.compile(r"^\*\*Version:?\*\*:?[ \t]*`?(v?\d[\w.+-]*)", re.MULTILINE)
_SUMMARY = re.compile(r"^## Summary\s*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BEST = 100
"""The highest score."""
_MOST_TRIED = 20
"""Entries whose reports are tried for one question; the rest waits for the next one, or `kr cache check`."""
_MOST_TOLD = 3
"""Entries that cannot be dropped, each with the reason."""
_HEAD = 2000
"""Where the lines about a report stand, in characters."""


class LookupResult(NamedTuple):
    """What the knowledge base has: a hit, a stale base for new research, or nothing."""

    state: Literal["hit", "stale", "miss"]
    matched: EntryMatch | None = None
    report: str = ""
    evidence: dict[str, Any] = {}  # noqa: RUF012  never changed
    match: Match | None = None
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    inferred: bool = False
    notes: tuple[str, ...] = ()
    """Those of the warnings that a reader of a hit sees, too: the plugin that should have decided failed."""

    @property
    def replaces(self) -> bool:
        """Whether new research is about the same thing, and so updates the matched entry in place."""
        return (
            self.matched is not None
            and self.matched.tier != "tags"
            and (self.matched.exact or not self.inferred)
        )

    @property
    def serves_when_stale(self) -> bool:
        """Whether the report may stand in where no source gives anything: not if it is near another question."""
        return self.state != "miss" and self.matched is not None and (self.matched.exact or not self.inferred)

    @property
    def is_outdated(self) -> bool:
        """Whether the report is too old, or for another version: new research wants new answers of the sources."""
        return self.state == "stale" and self.match is not None and self.match.stale

    @property
    def is_expired(self) -> bool:
        """Whether a report matches that was not used for so long that it serves no one any more."""
        return self.state == "miss" and self.match is not None and self.match.stale


NOTHING = LookupResult("miss")


def look_up(components: Container, query: ResearchQuery) -> LookupResult:
    """Find the entry that answers a query, and say whether it is still good.

    An entry whose report is gone is dropped, one whose report cannot be read stays, and the next best one is tried, up to 20. A store that fails is a miss, and
    noted; where the look-up fails, KR's own decides, and that is noted.

    Raises:
        ConfigError: the store or the look-up is wrongly configured.
        PluginError: it cannot be built.
    """
    store = components.store
    decider = _Decider(components.lookup)
    rules = _rules(components)
    try:
        candidates = store.candidates(query)
    except Exception as error:
        return LookupResult("miss", warnings=(f"knowledge base not read: {describe(error)}",))
    entries, files = candidates.entries, tuple(candidates.files)
    warnings = list(candidates.warnings)
    stored = None
    gone: list[Entry] = []
    for _ in range(_MOST_TRIED):
        matched = decider.find(query, entries, rules)
        stored = None if matched is None else _read(store, matched, gone, warnings)
        if matched is None or stored is not None:
            break
        tried = matched.entry
        entries = [entry for entry in entries if entry is not tried and entry.path != tried.path]
    warnings += _drop(store, gone)
    if matched is None or stored is None:
        return LookupResult("miss", warnings=(*warnings, *decider.notes), files=files)
    report, evidence = stored
    entry = as_reported(matched.entry, report, query.framework_version)
    kept = KeptReport(report, evidence, report_date(report))
    decision = decider.judge(query, matched._replace(entry=entry), kept, rules)
    if decision.near:
        matched = matched._replace(exact=False)
    match = Match(
        tier=matched.tier, overlap=round(matched.overlap, 2), entry_version=entry.framework_version,
        version=query.framework_version, stale=decision.state != "hit" and not decision.near,
        warning="; ".join(decision.reasons) or None, question=_question_of(evidence),
    )  # fmt: skip
    inferred = bool(query.inferred & {"topic", "tags"})
    return LookupResult(
        decision.state, matched, report, evidence, match, (*warnings, *decider.notes), files, inferred=inferred,
        notes=tuple(decider.notes),
    )  # fmt: skip


def _question_of(evidence: Mapping[str, Any]) -> str | None:
    question = evidence.get("question")
    return question if isinstance(question, str) and question.strip() else None


def _rules(components: Container) -> LookupRules:
    research = components.config.settings.knowledge_research
    return LookupRules(
        components.today(), research.cache_fuzzy_match, research.cache_match_tiers, research.cache_ttl_days,
        research.archive_after_days, research.max_age_days, research.version_match,
    )  # fmt: skip


class _Decider:
    """The look-up; KR's own in its place from its first fault on, which is noted."""

    def __init__(self, calls: PluginCalls[Lookup]) -> None:
        self._calls = calls
        self._is_own = type(calls.component) is TopicLookup  # it needs neither a check nor a time limit
        self.notes: list[str] = []

    def find(self, query: ResearchQuery, entries: Sequence[Entry], rules: LookupRules) -> EntryMatch | None:
        """The entry that it finds."""

        def found(lookup: Lookup) -> EntryMatch | None:
            match = lookup.find(query, entries, rules)
            _check_match(match, entries)
            return match

        return self._first_of(found, lambda: _OWN.find(query, entries, rules))

    def judge(
        self, query: ResearchQuery, match: EntryMatch, report: KeptReport, rules: LookupRules
    ) -> LookupDecision:
        """What it decides."""

        def decided(lookup: Lookup) -> LookupDecision:
            decision = lookup.judge(query, match, report, rules)
            _check_decision(decision)
            return decision

        return self._first_of(decided, lambda: _OWN.judge(query, match, report, rules))

    def _first_of(self, theirs: Callable[[Lookup], _T], ours: Callable[[], _T]) -> _T:
        if self._is_own:
            return ours()
        try:
            return self._calls(theirs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything
            fault = self._calls.fault(error)
            self.notes.append(f"lookup {self._calls.name}: it failed ({fault}); KR's own look-up decided")
            self._is_own = True
            return ours()


_OWN = TopicLookup()
_T = TypeVar("_T")


def _check_match(match: object, entries: Sequence[Entry]) -> None:
    """Refuse what is not a match of one of these entries.

    Raises:
        TypeError: it is not.
    """
    if match is None:
        return
    if not isinstance(match, EntryMatch):
        raise TypeError(f"`find` returned {type(match).__name__}, not an EntryMatch or None")
    if not any(entry is match.entry for entry in entries):
        raise TypeError("`find` returned an entry that is not one of those it was given")
    if match.tier not in TIERS or not isinstance(match.overlap, int | float):
        raise TypeError("`find` returned an EntryMatch whose `tier` or `overlap` is not one")


def _check_decision(decision: object) -> None:
    """Refuse what is not a decision.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(decision, LookupDecision):
        raise TypeError(f"`judge` returned {type(decision).__name__}, not a LookupDecision")
    if decision.state not in {"hit", "stale", "miss"}:
        raise TypeError("`judge` returned a state that is not `hit`, `stale` or `miss`")
    if not isinstance(decision.reasons, tuple) or not all(isinstance(one, str) for one in decision.reasons):
        raise TypeError("`judge` returned reasons that are not a tuple of texts")


def files_read(lookup_result: LookupResult, knowledge_base: Path) -> tuple[Path, ...]:
    """The files that a look-up read; none where the store does not tell, or had something to say."""
    if lookup_result.matched is None or not lookup_result.files or lookup_result.warnings:
        return ()
    report, evidence = _report_files(knowledge_base, lookup_result.matched.entry.path)
    return (*lookup_result.files, report, evidence) if report.is_file() else ()


def depends_on(lookup_result: LookupResult, report: str, components: Container) -> tuple[Path, ...]:
    """The files whose change may change what a hit on a report says."""
    config = components.config
    files = [*config.looked_at, *lookup_result.files, *_report_files(config.knowledge_base, report)]
    return tuple(dict.fromkeys([*files, *components.project.files()]))


def _report_files(knowledge_base: Path, path: str) -> tuple[Path, Path]:
    report = knowledge_base / path
    return report, report.with_suffix(".evidence.json")


def entry_to_write(
    lookup_result: LookupResult, query: ResearchQuery, version: str, today: date, status: EntryStatus
) -> Entry:
    """The entry to write: the matched one brought up to date, or a new one.

    Args:
        lookup_result: what the look-up came to.
        query: what is asked.
        version: the version that the report is filed under.
        today: the day of the research.
        status: of the entry.
    """
    if lookup_result.matched is not None and lookup_result.replaces:
        update = {"framework_version": version, "last_accessed": today, "status": status}
        return lookup_result.matched.entry.model_copy(update=update)
    return Entry(
        id=entry_id(query.framework, query.topic),
        framework=query.framework,
        framework_version=version,
        topic=query.topic,
        tags=query.tags,
        path=report_path(query.framework, query.topic),
        created=today,
        last_accessed=today,
        status=status,
    )


def _read(
    store: Store, matched: EntryMatch, gone: list[Entry], warnings: list[str]
) -> tuple[str, dict[str, Any]] | None:
    try:
        stored = store.read(matched.entry)
    except Exception as error:
        warnings.append(f"{matched.entry.id}: {describe(error)}")
        return None
    if stored is None:
        gone.append(matched.entry)
    return stored


def _drop(store: Store, gone: Sequence[Entry]) -> list[str]:
    """Drop entries whose reports are gone; one line says so, and others what could not be dropped."""
    dropped: list[Entry] = []
    failed: list[str] = []
    for entry in gone:
        try:
            store.drop(entry)
            dropped.append(entry)
        except Exception as error:
            failed.append(f"{entry.id}: {describe(error)}")
    told = []
    if len(dropped) == 1:
        told = [f"{dropped[0].id}: its report is gone or empty; the entry is dropped"]
    elif dropped:
        more = f"{dropped[0].id} and {len(dropped) - 1} more"
        told = [f"{more}: their reports are gone or empty; the entries are dropped"]
    unsaid = len(failed) - _MOST_TOLD
    return [
        *told,
        *failed[:_MOST_TOLD],
        *([f"{unsaid} more entries cannot be dropped"] if unsaid > 0 else []),
    ]


def describe(error: BaseException) -> str:
    """What an error says, with its kind where it is not one of KR's own."""
    return str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"


def report_date(report: str) -> date | None:
    """The day of the research, where the report says it, in any language."""
    line = _REPORT_DATE.search(report)
    if line is None:
        return report_facts(report).researched
    try:
        return date.fromisoformat(line[1])
    except ValueError:
        return None


def as_reported(entry: Entry, report: str, version: str) -> Entry:
    """The entry, for the version that its report names where that is another: a merge may have mixed two answers.

    An entry that does not fit the version in use itself stays as it is.
    """
    line = _REPORT_VERSION.search(report, 0, _HEAD)
    if line is None or line[1] == entry.framework_version or gap(entry.framework_version, version):
        return entry
    differs = gap(line[1], entry.framework_version)
    return entry.model_copy(update={"framework_version": line[1]}) if differs else entry


def confidence_of(report: str, evidence: dict[str, Any]) -> str:
    """The stored level: of the evidence, else of the report's Confidence line, else `low`."""
    level = evidence.get("level")
    if not isinstance(level, str) or level not in {
        "high",
        "medium",
        "low",
    }:  # as git has it, not as KR wrote it
        line = re.search(
            r"^\*\*Confidence:?\*\*:?\s*(high|medium|low)\b", report, re.MULTILINE | re.IGNORECASE
        )
        level = line[1].lower() if line else "low"
    return level


def score_of(evidence: Mapping[str, Any]) -> int | None:
    """The stored score; None where it is none that KR gives."""
    score = evidence.get("score")
    return score if type(score) is int and 0 <= score <= _BEST else None


def has_summary(report: str) -> bool:
    """Whether a report has a Summary section."""
    return _SUMMARY.search(report) is not None


def summary_of(report: str) -> str:
    """The Summary section of a report; its first paragraphs where it has none."""
    section = _SUMMARY.search(report)
    body = section[1] if section else re.sub(r"^(?:#|\*\*).*$", "", report, flags=re.MULTILINE)
    return body.strip()[:4000]
