"""What every look-up keeps to (`kr_core.plugin.Lookup`)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from kr_core.knowledge.topic_lookup import TopicIndex
from kr_core.protocols import EntryMatch, KeptReport, LookupDecision, LookupRules
from kr_core.testing import samples
from kr_core.testing.checks import check_purity, returned
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import HOSTILE
from kr_core.testing.surroundings import DAY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.model import Entry, ResearchQuery
    from kr_core.protocols import Lookup

_RULES = LookupRules(today=DAY)
_TOPICS = ("letter rates", "timeout of a parcel", "insurance")
_KNOWN = samples.entry("parcel", "timeout of a parcel")


class LookupContract(PluginContract):
    """What a look-up keeps to, tried with entries that answer and ones that do not."""

    noun = "lookup"

    def test_the_entry_on_the_same_topic_is_found(self, project: Path) -> None:
        """Of several entries it finds that of the same framework, topic and tags, in any kind of sequence."""
        entries = [samples.entry("parcel", topic) for topic in _TOPICS]
        lookup = self.build(project)
        for given in (entries, tuple(reversed(entries)), TopicIndex(entries)):
            match = self._found(lookup, samples.query(), given)
            assert match is not None, (
                "the look-up found nothing, though an entry has the framework, topic and tags of the query; find it, and "
                "say in `judge` why its report does not answer"
            )
            assert match.entry is entries[1], (
                f"the look-up found {match.entry.topic!r} for the topic {samples.query().topic!r}; return the entry that "
                "answers best, the object itself"
            )
            assert 0 <= match.overlap <= 1, f"the match's overlap is {match.overlap}; it is a share, 0 to 1"

    def test_what_is_about_something_else_is_not_found(self, project: Path) -> None:
        """Without entries, or with one that has nothing in common with the query, there is no match."""
        other = samples.entry("weather", "colour of the sky").model_copy(update={"tags": ("sky",)})
        lookup = self.build(project)
        for entries in ([], [other]):
            match = self._found(lookup, samples.query(), entries)
            assert match is None, (
                f"the look-up found {match and match.entry.topic!r} of {match and match.entry.framework!r} for the topic "
                f"{samples.query().topic!r} of 'parcel'; return None where no entry is about the question"
            )

    def test_a_decision_says_why(self, project: Path) -> None:
        """What is not a hit has a reason, for reports young and old and for another version."""
        lookup = self.build(project)
        for entry, report, days in _cases():
            decision = self._judged(lookup, entry, report, days)
            assert decision.state in {"hit", "stale", "miss"}, (
                f"the look-up decided {decision.state!r}; a state is `hit`, `stale` or `miss`"
            )
            assert all(reason.strip() for reason in decision.reasons), "a reason is empty; leave it out"
            assert decision.state == "hit" or decision.near or decision.reasons, (
                f"the look-up decided `{decision.state}` without a reason; say in `reasons` why it is not a hit: the new "
                "report quotes it"
            )

    def test_the_day_is_that_of_the_rules(self, project: Path) -> None:
        """The same distances of days come to the same decision, on any day."""
        lookup = self.build(project)
        for entry, report, days in _cases():
            states = []
            for shift in (timedelta(0), timedelta(days=-3653), timedelta(days=36525)):
                update = {"created": entry.created + shift, "last_accessed": entry.last_accessed + shift}
                moved = report._replace(researched=report.researched and report.researched + shift)
                decision = self._judged(lookup, entry.model_copy(update=update), moved, days, shift)
                states.append(decision.state)
            assert len(set(states)) == 1, (
                f"the same report, ten years earlier and a hundred later, came to {', '.join(states)}; take the day from "
                "`rules.today`, not from the clock"
            )

    def test_it_is_pure(self, project: Path) -> None:
        """The same entries come to the same, nothing that was given is changed, and nothing else is read."""
        entries = [samples.entry("parcel", topic) for topic in _TOPICS]
        report = _report()
        evidence = dict(report.evidence)
        check_purity(
            "the look-up",
            lambda: self.build(project),
            lambda lookup: self._both(lookup, entries, report),
            given=entries,
        )
        assert dict(report.evidence) == evidence, (
            "the look-up changed the evidence; work on copies (`dict(...)`)"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_decided(self, project: Path, kind: str) -> None:
        """There is a decision for any text in entries, reports and evidence."""
        text = HOSTILE[kind]
        lookup = self.build(project)
        entry = samples.entry("parcel", "timeout of a parcel").model_copy(
            update={"topic": text, "tags": (text,)}
        )
        self._found(lookup, samples.query(), [entry])
        for evidence in ({"level": text}, {"level": None}, {"level": [text]}, {}):
            self._judged(lookup, _KNOWN, KeptReport(text, evidence, None), 0)

    def _both(
        self, lookup: Lookup, entries: list[Entry], report: KeptReport
    ) -> tuple[EntryMatch | None, LookupDecision]:
        return self._found(lookup, samples.query(), entries), self._judged(lookup, _KNOWN, report, 0)

    @staticmethod
    def _found(lookup: Lookup, query: ResearchQuery, entries: Sequence[Entry]) -> EntryMatch | None:
        hint = "return None where nothing answers. `entries` is any sequence: read it, and do not change it"
        match = returned("the look-up's `find`", lambda: lookup.find(query, entries, _RULES), hint)
        assert match is None or isinstance(match, EntryMatch), (
            f"`find` returned {type(match).__name__}; return a kr_core.plugin.EntryMatch, or None"
        )
        assert match is None or any(match.entry is entry for entry in entries), (
            f"`find` returned an entry that it was not given ({match and match.entry.id}); return the object from `entries` itself"
        )
        return match

    @staticmethod
    def _judged(
        lookup: Lookup, entry: Entry, report: KeptReport, days: int, shift: timedelta = timedelta(0)
    ) -> LookupDecision:
        """The decision on an entry that matches in full, so many days after the usual one."""
        rules = _RULES._replace(today=DAY + shift + timedelta(days=days))
        match = EntryMatch(entry, "full", 1.0, exact=True)
        hint = "decide `stale` or `miss`, with the reason, where a report is not as you expect it"
        decision = returned(
            "the look-up's `judge`", lambda: lookup.judge(samples.query(), match, report, rules), hint
        )
        assert isinstance(decision, LookupDecision), (
            f"`judge` returned {type(decision).__name__}; return a kr_core.plugin.LookupDecision"
        )
        return decision


def _report() -> KeptReport:
    return KeptReport(f"# Timeout\n\n## Summary\n\n{samples.SENTENCE}\n", {"level": "high"}, DAY)


def _cases() -> list[tuple[Entry, KeptReport, int]]:
    """Entries with their reports, and how many days later they are looked up."""
    other_version = _KNOWN.model_copy(update={"framework_version": "9.0"})
    undated = _report()._replace(researched=None)
    marked = _KNOWN.model_copy(update={"status": "stale"})
    return [
        (_KNOWN, _report(), 0), (_KNOWN, undated, 0), (_KNOWN, _report()._replace(evidence={}), 0), (marked, _report(), 0),
        (other_version, _report(), 0), (_KNOWN, _report(), 45), (_KNOWN, _report(), 1000),
    ]  # fmt: skip
