"""Spot checks: accepted answers that were drawn for a human to judge. No asker waits for them.

People audit a given judgement far better than they label afresh, so that a card shows claim, passage and KR's own verdict
beside each other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from kr_core.errors import ConfigError
from kr_core.model import Event, new_id
from kr_core.net.redaction import redacted
from kr_core.protocols import Document
from kr_core.research.rejection import reject
from kr_core.research.stage_runner import show
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.research import Pipeline
    from kr_core.verdicts import OpenCheck

__all__ = ["BATCH", "CheckVerdict", "SpotCard", "SpotChecks"]

CheckVerdict: TypeAlias = Literal["right", "wrong", "unsure"]
BATCH = 20
"""Cards that are shown at once: more in a row are not read."""
_KIND = "spot_check"
_ID = re.compile(r"S[0-9]{1,9}", re.IGNORECASE)
_PAGE = 1000
_LONGEST_NAME = 200
_LONGEST = 10_000
"""Characters of a text on a card."""


class SpotCard(NamedTuple):
    """An accepted answer as a human judges it."""

    id: str
    question: str
    topic: str
    claim: str
    """The answer."""
    passage: str
    """What it rests on: the documentation, or the agent's reasons."""
    where: str
    """Where the passage is from."""
    verdict: str
    """KR's own."""
    agent: str
    accepted: str
    """When, in ISO 8601."""
    entry: str | None
    """The entry of the knowledge base, of an answer of research."""

    def to_dict(self) -> dict[str, Any]:
        """It as JSON values."""
        return self._asdict()


class SpotChecks:
    """The spot checks of a project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def waiting(self) -> list[OpenCheck]:
        """What waits to be judged, oldest first.

        Raises:
            StorageError: the journal cannot be read.
        """
        return list(self._pipeline.components.verdicts.read().open.values())

    def cards(self, limit: int = BATCH) -> list[SpotCard]:
        """The oldest that wait, as they are judged.

        Raises:
            StorageError: the journal cannot be read.
        """
        return [self._card(one) for one in self.waiting()[:limit]]

    def card(self, name: str) -> SpotCard:
        """One that waits.

        Raises:
            ConfigError: none of this id waits.
        """
        return self._card(self._open(name))

    def judge(self, name: str, verdict: CheckVerdict, by: str, because: str = "") -> tuple[str, ...]:
        """Put a human's verdict on the record; a wrong answer of research leaves the knowledge base.

        Args:
            name: the id of the spot check.
            verdict: what the human says of the answer; `unsure` where there is no telling.
            by: who says so.
            because: what is wrong with it.

        Returns:
            Notes on what could not be done besides.

        Raises:
            ConfigError: none of this id waits, or another person judged it before.
            StorageError: the journal or the knowledge base cannot be written.
        """
        check = self._open(name)
        events = _events_of(self._pipeline, check.run)
        about = _last(events, "question.asked")
        entry = _last(events, "run.finished").get("entry")
        data = {
            "exchange_id": check.run,
            "parent_id": None,
            "feature_id": about.get("feature_id", check.subject.agent),
            "question_id": about.get("question_id", check.run),
            "check": check.id,
            "verdict": verdict,
            "by": redacted(printable(by))[:_LONGEST_NAME],
            "because": redacted(printable(because.strip()))[:_LONGEST],
            "agent": check.subject.agent,
            "model": check.subject.model,
            "prompt": check.subject.prompt,
            "topic": check.topic,
            "raw_confidence": check.confidence,
            "audit_probability": check.probability,
            "entry": entry if isinstance(entry, str) else None,
        }
        event = Event("answer.checked", check.run, data, f"{check.run}-{new_id()}")
        kept = Document(_KIND, check.run, verdict, 1, {"check": check.id, "by": data["by"]})
        journal = self._pipeline.journal
        if not journal.change(kept, [event]):
            raise self._judged_already(check.run, name)
        if self._pipeline.observers:
            show(event, self._pipeline.observers)
        return self._taken_out(data["entry"], because) if verdict == "wrong" else ()

    def _taken_out(self, name: str | None, because: str) -> tuple[str, ...]:
        """Do what `kr research --wrong` does with the entry of an answer."""
        entries = self._pipeline.store.entries() if name is not None else ()
        entry = next((one for one in entries if one.id == name), None)
        return (
            ()
            if entry is None
            else reject(self._pipeline.components, entry, because, self._pipeline.observers)
        )

    def _open(self, name: str) -> OpenCheck:
        if not _ID.fullmatch(name.strip()):
            raise ConfigError(
                f"`{printable(name)}` is not the id of a spot check",
                where="spot check",
                hint="write it as `S7`; `kr inbox check` lists those that wait",
            )
        wanted = name.strip().upper()
        found = next((one for one in self.waiting() if one.id == wanted), None)
        if found is None:
            raise ConfigError(
                f"no spot check {wanted} waits",
                where="spot check",
                hint="it was judged already, or there never was one; `kr inbox check` lists those that wait",
            )
        return found

    def _judged_already(self, run: str, name: str) -> ConfigError:
        before = self._pipeline.journal.document(_KIND, run)
        by = "" if before is None else f" by {printable(str(before.data.get('by')))}: {before.status}"
        return ConfigError(
            f"{name.upper()} was judged meanwhile{by}", where="spot check", hint="the first verdict counts"
        )

    def _card(self, check: OpenCheck) -> SpotCard:
        events = _events_of(self._pipeline, check.run)
        if check.subject.quantity == "research":
            return self._of_research(check, events)
        answer, gated = _last(events, "answer.received"), _last(events, "answer.gated")
        asked = _last(events, "question.asked")
        return SpotCard(
            check.id,
            _shown(asked.get("text")),
            check.topic,
            _shown(answer.get("content")),
            _shown(answer.get("rationale")),
            f"what {check.subject.agent or 'the program'} gave as its reasons",
            f"accepted: {_shown(gated.get('reason'))}",
            check.subject.agent,
            check.time,
            None,
        )

    def _of_research(self, check: OpenCheck, events: Sequence[Event]) -> SpotCard:
        started, finished = _last(events, "run.started"), _last(events, "run.finished")
        entry = next((one for one in self._pipeline.store.entries() if one.id == finished.get("entry")), None)
        stored = None if entry is None else self._pipeline.store.read(entry)
        evidence: Mapping[str, Any] = {} if stored is None else stored[1]
        cited = evidence.get("citations")
        first = cited[0] if isinstance(cited, list) and cited and isinstance(cited[0], dict) else {}
        reasons = evidence.get("reasons")
        why = f": {'; '.join(map(str, reasons))}" if isinstance(reasons, list) and reasons else ""
        return SpotCard(
            check.id,
            _shown(started.get("question")),
            check.topic,
            _shown(evidence.get("answer")) or "the answer is no longer in the knowledge base",
            _shown(first.get("quote")),
            _shown(" ".join(str(first.get(one) or "") for one in ("url", "locator")).strip()),
            f"high, {check.confidence} of 100{_shown(why)}",
            check.subject.agent,
            check.time,
            None if entry is None else entry.id,
        )


def _events_of(pipeline: Pipeline, run: str) -> list[Event]:
    return [event for _number, event in pipeline.journal.entries(exchange=run, limit=_PAGE)]


def _last(events: Sequence[Event], kind: str) -> Mapping[str, Any]:
    return next((event.data for event in reversed(events) if event.kind == kind), {})


def _shown(text: object) -> str:
    return text[:_LONGEST].strip() if isinstance(text, str) else ""
