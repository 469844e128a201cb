"""Named detectors: each looks for one pattern in a feature's questions, and recommends what to change.

A detector speaks from its `minimum` of cases on, and where what it measures passes its `limit`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from hashlib import sha256
from math import sqrt
from statistics import mean, median
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.calibration import auroc
from kr_core.model.retro_report import Recommendation
from kr_core.retro.added_context import often_added
from kr_core.retro.logged_questions import by_agent, in_use
from kr_core.retro.thresholds import lowest, propose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.calibration import Calibrator
    from kr_core.config.schema import DetectorName, Retro
    from kr_core.retro.logged_questions import AnswerRound, AskedQuestion, Call
    from kr_core.retro.thresholds import ThresholdProposal
    from kr_core.verdicts import Subject

__all__ = ["DETECTORS", "Detector", "Findings", "Limits", "recommendations"]

_HOUR = 3600.0
_USEFUL = 0.7
"""AUROC of a confidence that is worth going by."""
_NO_ANSWER = 100
"""The threshold that no answer passes."""
_PHRASES = 5
"""Of what humans keep adding, the most frequent; a template with more fields is not filled in."""
_SHORT_DIGEST = 6
_FEW = 5
"""A threshold may leave out one in this many of the answers that it is lowered for: a single low one must not decide."""


class Limits(NamedTuple):
    """When a detector speaks."""

    minimum: int
    """Cases that it needs."""
    limit: float
    """What it measures must pass this."""


class Findings(NamedTuple):
    """What the detectors look at."""

    questions: Sequence[AskedQuestion]
    calibrators: Mapping[Subject, Calibrator]
    """Of each agent with its model and prompt."""
    wanted: Mapping[tuple[str, int], int] = {}
    """What answers must be worth where a retrospective has set a threshold, by agent and threshold."""


class Detector(NamedTuple):
    """A pattern to look for."""

    find: Callable[[Findings, Limits], Iterator[Recommendation]]
    limits: Limits
    """Where the configuration does not say otherwise."""


def recommendations(findings: Findings, settings: Retro) -> tuple[Recommendation, ...]:
    """What all detectors recommend, in their order.

    Args:
        findings: what they look at.
        settings: which are off, and which have other limits than the usual ones.
    """
    return tuple(
        one for name, detector in DETECTORS.items() for one in _found(findings, name, detector, settings)
    )


def _found(
    findings: Findings, name: DetectorName, detector: Detector, settings: Retro
) -> Iterator[Recommendation]:
    entry = settings.detectors.get(name)
    if entry is None:
        return detector.find(findings, detector.limits)
    minimum = detector.limits.minimum if entry.minimum is None else entry.minimum
    limit = detector.limits.limit if entry.limit is None else entry.limit
    return detector.find(findings, Limits(minimum, limit)) if entry.enabled else iter(())


def _unsure_topic(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent whose answers about a topic mostly do not pass the gate (`limit`: percent)."""
    first: dict[tuple[str, str], list[AnswerRound]] = defaultdict(list)
    for question in findings.questions:
        for one in question.rounds[:1]:
            first[one.agent, one.topic].append(one)
    for (agent, topic), rounds in sorted(first.items()):
        refused = [one for one in rounds if not one.accepted and one.used < one.threshold]
        if len(refused) >= limits.minimum and 100 * len(refused) / len(rounds) >= limits.limit:
            sure = mean(one.used for one in rounds)
            yield _recommendation(
                "unsure_topic",
                {"agent": agent, "topic": topic},
                f"Extend {agent}'s knowledge about {topic}: {len(refused)} of its {len(rounds)} answers did not pass the "
                f"gate, with a mean confidence of {sure:.0f}.",
                [one.entry_id for one in refused],
                {"escalations_avoided": float(len(refused))},
            )


def _repeated_context(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """A phrase that humans add to several questions (`limit`: how many times more often than the questions have it)."""
    for one in often_added(findings.questions, minimum=limits.minimum, lift=limits.limit)[:_PHRASES]:
        yield _recommendation(
            "repeated_context",
            {"phrase": one.phrase},
            f'Ask for "{one.phrase}" in the feature intake template: humans added it to {len(one.replies)} questions.',
            [reply.entry_id for reply in one.replies],
            {"replies_avoided": float(len(one.replies))},
        )


def _overconfident_agent(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent that the gate takes for more than its answers are worth (`limit`: points)."""
    for agent, judged in _judged(findings.questions).items():
        off = mean(one.used for one in judged) - 100 * mean(bool(one.verdict) for one in judged)
        if len(judged) >= limits.minimum and off >= limits.limit:
            wrong = [one.entry_id for one in judged if not one.verdict]
            current = max((one.threshold for one in judged if not _is_of_a_rule(one)), default=_NO_ANSWER)
            wanted = findings.wanted.get((agent, current), current)
            proposed = _threshold(findings, agent, wanted)
            if proposed is not None and proposed.threshold <= current:
                if wanted < current:
                    continue  # raised for this already
                proposed = None
            raised = (
                ""
                if proposed is None
                else f" A threshold of {proposed.threshold} would let pass what is worth it."
            )
            yield _recommendation(
                "overconfident_agent",
                {"agent": agent}
                | ({} if proposed is None else {"threshold": proposed.threshold, "wanted": wanted}),
                f"Trust {agent} less: over {len(judged)} verdicts it stated {off:.0f} points more than came true.{raised}",
                wrong,
                None if proposed is None else proposed.predicted,
            )


def _outgrown_threshold(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent whose threshold a retrospective raised higher than its answers need by now (`limit`: points)."""
    useless = DETECTORS["uninformative_confidence"].limits
    for agent, judged in _judged(findings.questions).items():
        own = [one.threshold for one in judged if not _is_of_a_rule(one)]
        calibrator = findings.calibrators.get(judged[-1].subject)
        if not own or calibrator is None or calibrator.stage == "raw" or len(judged) < limits.minimum:
            continue
        current = own[-1]
        if _order(judged, useless) or (current == _NO_ANSWER and not _is_useful(judged)):
            continue  # no threshold does for it
        wanted = findings.wanted.get((agent, current), current)
        # what the gate corrects is worth what it says
        lower = wanted if _is_corrected(judged) else max(lowest(calibrator, wanted) or current, wanted)
        if current - lower >= limits.limit:
            yield _recommendation(
                "outgrown_threshold",
                {"agent": agent, "threshold": lower, "wanted": wanted},
                f"Lower the threshold of {agent} again, from {current} to {lower}: by {len(judged)} verdicts its answers "
                f"are worth {wanted} from there on.",
                [one.entry_id for one in judged],
                _predicted(findings, agent, judged, lower),
            )


def _is_useful(judged: Sequence[AnswerRound]) -> bool:
    order = auroc([one.used for one in judged], [bool(one.verdict) for one in judged])
    return order is not None and order >= _USEFUL


def _is_corrected(judged: Sequence[AnswerRound]) -> bool:
    """Whether the gate goes by what a confidence is worth, and no longer by the confidence."""
    return any(one.used != one.confidence for one in judged)


def _uninformative_confidence(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent whose confidence does not tell right from wrong (`limit`: standard errors that AUROC must be below 0.7)."""
    for agent, judged in _judged(findings.questions).items():
        order = _order(judged, limits)
        if order:
            current = max(one.threshold for one in judged)
            yield _recommendation(
                "uninformative_confidence",
                {
                    "agent": agent,
                    "threshold": _NO_ANSWER,
                    "wanted": findings.wanted.get((agent, current), current),
                },
                f"Do not let {agent}'s confidence decide: over {len(judged)} verdicts it "
                + (
                    "was higher where the answer was wrong."
                    if order == "turned"
                    else "did not tell right answers from wrong ones."
                ),
                [one.entry_id for one in judged],
            )


def _order(judged: Sequence[AnswerRound], limits: Limits) -> Literal["", "none", "turned"]:
    """Whether verdicts show that a confidence does not tell right from wrong, or is higher where it is wrong.

    With few verdicts a useful confidence may look like a useless one, so that it is not enough to be near 0.5.

    The standard error is that of Hanley and McNeil, The meaning and use of the area under a ROC curve, 1982, for a
    signal that says nothing.
    """
    right = [bool(one.verdict) for one in judged]
    order = auroc([one.used for one in judged], right)
    if len(judged) < limits.minimum or order is None:
        return ""
    error = sqrt((len(judged) + 1) / (12 * sum(right) * (len(right) - sum(right))))
    if order >= _USEFUL - limits.limit * error:
        return ""
    return "turned" if order < 0.5 - limits.limit * error else "none"


def _needless_escalation(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent whose escalated answers humans mostly confirm as they are (`limit`: percent)."""
    for agent, judged in _judged(findings.questions).items():
        escalated = [one for one in judged if not one.accepted and one.used < one.threshold]
        confirmed = [one for one in escalated if one.verdict]
        if len(confirmed) < limits.minimum or 100 * len(confirmed) / len(escalated) < limits.limit:
            continue
        free = [one for one in confirmed if not _is_of_a_rule(one)]
        used = sorted(one.used for one in free or confirmed)
        lower = used[len(used) // _FEW]
        current = confirmed[-1].threshold
        wanted = findings.wanted.get((agent, current), current)
        yield _recommendation(
            "needless_escalation",
            {"agent": agent} | ({"threshold": lower, "wanted": wanted} if free else {}),
            f"Lower the threshold of {agent}: humans confirmed {len(confirmed)} of its {len(escalated)} escalated "
            f"answers as they were, {sum(one >= lower for one in used)} of them from a confidence of {lower} on.",
            [one.entry_id for one in confirmed],
            _predicted(findings, agent, judged, lower),
        )


def _predicted(
    findings: Findings, agent: str, judged: Sequence[AnswerRound], threshold: int
) -> dict[str, float]:
    """What a lower threshold would have come to; a spot check speaks for the wrong answers that were not drawn, too."""
    ours = _rounds(findings, agent)
    still = [one for one in ours if _would_escalate(one, threshold)]
    wrong = [one for one in judged if not one.verdict and not _would_escalate(one, threshold)]
    return {
        "escalations_avoided": float(sum(not one.accepted for one in ours) - len(still)),
        "answers": float(len(ours)),
        "escalations": float(len(still)),
        "wrong_accepts": round(sum(1 / one.probability for one in wrong), 1),
    }


def _is_of_a_rule(one: AnswerRound) -> bool:
    return one.threshold_reason.startswith("rule ")


def _would_escalate(one: AnswerRound, threshold: int) -> bool:
    """Whether a human would hear of an answer if this were its agent's threshold."""
    for_another_reason = _is_of_a_rule(one) or (not one.accepted and one.used >= one.threshold)
    return not one.accepted if for_another_reason else one.used < threshold


def _slow_human(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """Questions that wait long for a human (`limit`: hours, at the median)."""
    waited = [
        (reply.waited, reply.entry_id)
        for question in findings.questions
        for reply in question.replies[:1]
        if reply.waited is not None
    ]
    if len(waited) >= limits.minimum and median(one for one, _ in waited) >= limits.limit * _HOUR:
        hours = median(one for one, _ in waited) / _HOUR
        yield _recommendation(
            "slow_human",
            {},
            f"Remind people earlier, or through another channel: half of {len(waited)} questions waited for more than "
            f"{hours:.0f} hours.",
            [entry for one, entry in waited if one >= limits.limit * _HOUR],
        )


def _unavailable_agent(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """An agent whose calls fail (`limit`: percent)."""
    calls: dict[str, list[Call]] = defaultdict(list)
    for question in findings.questions:
        for call in question.calls:
            calls[call.agent].append(call)
    for agent, of_it in sorted(calls.items()):
        failed = [one for one in of_it if one.failed]
        begun = max(len(of_it) - len(failed), len(failed))
        if len(failed) >= limits.minimum and 100 * len(failed) / begun >= limits.limit:
            yield _recommendation(
                "unavailable_agent",
                {"agent": agent},
                f"Give {agent} a fallback, or more time: {len(failed)} of its {begun} calls failed, the last one because "
                f"{failed[-1].reason or 'it did not answer'}.",
                [one.entry_id for one in failed],
            )


def _unknown_topics(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """Topics that no rule knows (`limit`: questions about one of them)."""
    asked: dict[str, list[str]] = defaultdict(list)
    for question in findings.questions:
        if question.unknown_topic:
            asked[question.topic].append(question.entry_id)
    total = sum(map(len, asked.values()))
    for topic, entries in sorted(asked.items()):
        if total >= limits.minimum and len(entries) >= limits.limit:
            yield _recommendation(
                "unknown_topics",
                {"topic": topic},
                f"Add a routing rule for {topic or 'questions without a topic'}: {_times(len(entries), 'question')} went "
                "to a human because no rule knows it.",
                entries,
                {"escalations_avoided": float(len(entries))},
            )


def _overturned_knowledge(findings: Findings, limits: Limits) -> Iterator[Recommendation]:
    """Answers of the knowledge base that humans overturn (`limit`: percent)."""
    judged = _judged(findings.questions).get(_KNOWLEDGE_BASE, [])
    wrong = [one for one in judged if not one.verdict]
    if len(wrong) >= limits.minimum and 100 * len(wrong) / len(judged) >= limits.limit:
        topics = sorted({one.topic for one in wrong})
        yield _recommendation(
            "overturned_knowledge",
            {},
            f"Look through the knowledge base on {', '.join(topics)}: humans overturned {len(wrong)} of {len(judged)} "
            "answers from it.",
            [one.entry_id for one in wrong],
        )


_KNOWLEDGE_BASE = "research"
"""The agent that answers from research, which keeps what it finds in the knowledge base."""

DETECTORS: Mapping[DetectorName, Detector] = {
    "unsure_topic": Detector(_unsure_topic, Limits(2, 50)),
    "repeated_context": Detector(_repeated_context, Limits(2, 2)),
    "overconfident_agent": Detector(_overconfident_agent, Limits(10, 15)),
    "outgrown_threshold": Detector(_outgrown_threshold, Limits(20, 5)),
    "uninformative_confidence": Detector(_uninformative_confidence, Limits(20, 1.64)),
    "needless_escalation": Detector(_needless_escalation, Limits(5, 80)),
    "slow_human": Detector(_slow_human, Limits(3, 24)),
    "unavailable_agent": Detector(_unavailable_agent, Limits(2, 20)),
    "unknown_topics": Detector(_unknown_topics, Limits(2, 1)),
    "overturned_knowledge": Detector(_overturned_knowledge, Limits(2, 20)),
}


def _judged(questions: Sequence[AskedQuestion]) -> dict[str, list[AnswerRound]]:
    """The answers of each agent, as it is now, that a human judged."""
    found = by_agent(one for question in questions for one in question.rounds)
    judged = {
        agent: [one for one in in_use(rounds) if one.verdict is not None] for agent, rounds in found.items()
    }
    return {agent: rounds for agent, rounds in judged.items() if rounds}


def _rounds(findings: Findings, agent: str) -> list[AnswerRound]:
    """The answers of an agent, as it is now."""
    return in_use([one for asked in findings.questions for one in asked.rounds if one.agent == agent])


def _threshold(findings: Findings, agent: str, wanted: int) -> ThresholdProposal | None:
    """The threshold that would do for an agent as it is now; None where verdicts do not say, or the gate corrects it."""
    rounds = _rounds(findings, agent)
    calibrator = findings.calibrators.get(rounds[-1].subject)
    if calibrator is None or rounds[-1].used != rounds[-1].confidence:
        return None
    own = [(one.confidence, one.topic) for one in rounds if not _is_of_a_rule(one)]
    found = propose(own, calibrator, wanted)
    if found is None:
        return None
    of_rules = [one for one in rounds if _is_of_a_rule(one)]
    passed = [calibrator.mapped(one.confidence, one.topic) for one in of_rules if one.accepted]
    return found._replace(
        answers=len(rounds),
        escalations=found.escalations + len(of_rules) - len(passed),
        wrong_accepts=found.wrong_accepts + sum(1 - worth / 100 for worth in passed),
    )


def _recommendation(
    detector: DetectorName,
    about: Mapping[str, str | int],
    text: str,
    evidence: Sequence[str],
    predicted: dict[str, float] | None = None,
) -> Recommendation:
    """One of a detector; its id is made of what it is about, but not of what it proposes."""
    named = [value for value in about.values() if isinstance(value, str)]
    return Recommendation(
        id=_name(detector.replace("_", "-"), named),
        detector=detector,
        text=text,
        evidence=tuple(evidence),
        predicted=predicted,
        about=dict(about),
    )


def _name(detector: str, about: Sequence[str]) -> str:
    """An id that can be typed; where that leaves out signs or letters, a few digits tell it from others."""
    parts = [re.sub(r"[^a-z0-9]+", "-", one.casefold()).strip("-") for one in about]
    exact = [one.casefold().replace(" ", "-") for one in about]
    digest = sha256("\0".join(about).encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT_DIGEST]
    return "-".join(filter(None, [detector, *parts, "" if parts == exact else digest]))


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
