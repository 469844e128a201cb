"""What the verdicts up to an entry of the record come to; it learns from one entry after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeGuard

from kr_core.calibration import MINIMUM_VERDICTS, Calibrator, audit_probability, fit
from kr_core.model.questions import Calibration
from kr_core.verdicts.judged import RESEARCH, Judged, OpenCheck, Subject, says_right, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from kr_core.model import Event

__all__ = ["Learned"]

_FORM = 1
_MOST_JUDGED = 5_000
_MOST_OPEN = 1_000
_FITTED = 2_000
"""Verdicts of an agent that its map is fitted on, the newest: a fit of so many takes some 30 ms."""
_CARRIED_OVER = 0.5
"""What a verdict counts for another model, or another prompt; for both, half of that."""


@dataclass(slots=True)
class Learned:
    """What the record says up to an entry.

    Args:
        position: the number of that entry.
        drawn: spot checks so far.
        passed: answers of each subject that met the threshold.
        judged: the answers that humans judged, oldest first.
        open: the answers that wait for a spot check, by their run.
    """

    position: int = 0
    drawn: int = 0
    passed: dict[Subject, int] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)
    open: dict[str, OpenCheck] = field(default_factory=dict)
    _maps: dict[Subject, tuple[int, Calibrator]] = field(default_factory=dict)
    """Maps, with the entry up to which the verdicts of each were read."""
    _last_judged: int = 0
    _runs: set[str] = field(init=False)
    """Of the answers that humans judged: one counts once."""

    def __post_init__(self) -> None:
        self._runs = {one.run for one in self.judged}

    # -- what follows from it --------------------------------------------------------------------------------

    def calibrator(self, subject: Subject) -> Calibrator:
        """What the confidence of a subject is worth, by the verdicts on it; those on what it was before count less."""
        known = self._maps.get(subject)
        if known is not None and known[0] == self._last_judged:
            return known[1]
        of_it = [
            one
            for one in self.judged
            if (one.subject.quantity, one.subject.agent) == (subject.quantity, subject.agent)
        ][-_FITTED:]
        found = fit(
            [one.confidence for one in of_it],
            [one.right for one in of_it],
            topic=[one.topic or None for one in of_it],
            probability=[one.probability or 1.0 for one in of_it],
            weight=[_share(one.subject, subject) for one in of_it],
            minimum=MINIMUM_VERDICTS,
        )
        self._maps[subject] = (self._last_judged, found)
        return found

    def calibration(
        self, subject: Subject, confidence: int, topic: str, setting: Literal["raw", "shadow", "calibrated"]
    ) -> Calibration:
        """What is known of a stated confidence.

        Args:
            subject: whose it is.
            confidence: as stated, 0-100.
            topic: of the question.
            setting: the configured stage, which the map does not pass.
        """
        found = self.calibrator(subject)
        fitted = setting != "raw" and found.stage != "raw"
        stage = "raw" if not fitted else "shadow" if setting == "shadow" else found.stage
        return Calibration(
            stage=stage,
            calibrated=int(found.mapped(confidence, topic or None)) if fitted else None,
            verdicts=found.verdicts,
            needed=MINIMUM_VERDICTS,
        )

    def draw(self, subject: Subject, topic: str, run: str) -> tuple[float, bool]:
        """The probability of a spot check of an answer that met the threshold, and whether it is drawn.

        The run's id decides, so that anybody can repeat the draw; it knows nothing of the answer.
        """
        overturned = any(
            not one.right
            and one.probability is not None
            and (one.subject.agent, one.topic) == (subject.agent, topic)
            for one in self.judged
        )
        probability = audit_probability(self.passed.get(subject, 0), overturned=overturned)
        chance = int.from_bytes(sha256(run.encode("utf-8", "replace")).digest()[:4]) / 2**32
        return probability, chance < probability

    def subjects(self) -> list[Subject]:
        """Those with a verdict: of each agent the newest."""
        newest = {(one.subject.quantity, one.subject.agent): one.subject for one in self.judged}
        return [newest[key] for key in sorted(newest)]

    # -- what it learns from ---------------------------------------------------------------------------------

    def learn(
        self, number: int, event: Event, exchange: Callable[[str], Sequence[tuple[int, Event]]]
    ) -> None:
        """Learn from an entry.

        Args:
            number: the entry's.
            event: what it says.
            exchange: gives the entries of an exchange.
        """
        self.position = number
        if event.kind == "answer.gated":
            self._passed(event, subject_of(event.data), event.data.get("raw_confidence"))
        elif event.kind == "run.finished":
            self._passed(event, RESEARCH, event.data.get("score"))
        elif event.kind == "answer.checked":
            self._checked(number, event)
        elif event.kind == "human.replied" and event.data.get("applied", True):
            self._replied(number, event, exchange(event.run))

    def _passed(self, event: Event, subject: Subject, confidence: Any) -> None:
        data = event.data
        probability = _probability(data)
        if probability is None or not _is_confidence(confidence):
            return
        self.passed[subject] = self.passed.get(subject, 0) + 1
        if data.get("audited") is not True:
            return
        self.drawn += 1
        self.open[event.run] = OpenCheck(
            f"S{self.drawn}",
            subject,
            _text(data, "topic"),
            confidence,
            probability,
            event.run,
            event.time.isoformat(),
        )
        while len(self.open) > _MOST_OPEN:
            del self.open[next(iter(self.open))]

    def _checked(self, number: int, event: Event) -> None:
        check = self.open.pop(event.run, None)
        verdict = event.data.get("verdict")
        if check is not None and verdict in {"right", "wrong"}:
            self._judge(
                number,
                Judged(
                    check.subject,
                    check.topic,
                    check.confidence,
                    verdict == "right",
                    check.probability,
                    check.run,
                ),
            )

    def _replied(self, number: int, event: Event, entries: Sequence[tuple[int, Event]]) -> None:
        self.open.pop(event.run, None)
        if event.run in self._runs:
            return
        before = [entry for place, entry in entries if place < number]
        gated = _last(before, "answer.gated")
        answer = _last([one for one in before if not one.data.get("validated_by")], "answer.received")
        if gated is None or answer is None:
            return
        stated = answer.data.get("raw_confidence", answer.data.get("confidence"))
        right = says_right(
            _text(event.data, "action"), _text(event.data, "content"), _text(answer.data, "content")
        )
        if right is None or not _is_confidence(stated):
            return
        asked = _last(before, "question.asked")
        topic = "" if asked is None else _text(asked.data, "topic")
        self._judge(
            number,
            Judged(_answerer(answer.data, topic), topic, stated, right, _probability(gated.data), event.run),
        )

    def _judge(self, number: int, one: Judged) -> None:
        self.judged.append(one)
        self._runs.add(one.run)
        while len(self.judged) > _MOST_JUDGED:
            self._runs.discard(self.judged.pop(0).run)
        self._last_judged = number

    # -- how it is kept --------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """It as JSON values."""
        return {
            "form": _FORM,
            "position": self.position,
            "drawn": self.drawn,
            "last_judged": self._last_judged,
            "passed": [[*subject, count] for subject, count in self.passed.items()],
            "judged": [[*one.subject, *one[1:]] for one in self.judged],
            "open": [[one.id, *one.subject, *one[2:]] for one in self.open.values()],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Learned:
        """It from JSON values; empty where they are of another version."""
        try:
            if data["form"] != _FORM:
                return cls()
            opened = [OpenCheck(one[0], Subject(*one[1:5]), *one[5:]) for one in data["open"]]
            return cls(
                data["position"],
                data["drawn"],
                {Subject(*one[:4]): one[4] for one in data["passed"]},
                [Judged(Subject(*one[:4]), *one[4:]) for one in data["judged"]],
                {one.run: one for one in opened},
                _last_judged=data["last_judged"],
            )
        except (KeyError, TypeError, IndexError):
            return cls()


def _share(one: Subject, other: Subject) -> float:
    return float(_CARRIED_OVER ** ((one.model != other.model) + (one.prompt != other.prompt)))


def _answerer(data: Mapping[str, Any], topic: str) -> Subject:
    """Whose confidence an answer has: doubtful answers of research are about topics of its own."""
    if data.get("feature_id") == "research" and topic.startswith("research/"):
        return RESEARCH
    return subject_of({**data, "prompt": data.get("prompt_version")})


def _last(events: Sequence[Event], kind: str) -> Event | None:
    return next((event for event in reversed(events) if event.kind == kind), None)


def _probability(data: Mapping[str, Any]) -> float | None:
    found = data.get("audit_probability")
    return float(found) if isinstance(found, int | float) and 0 < found <= 1 else None


def _is_confidence(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
