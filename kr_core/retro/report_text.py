"""A retrospective as Markdown, for people: figures first, then what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.calibration import MINIMUM_VERDICTS
from kr_core.retro.improvement import FEWEST_VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model.retro_report import ChangeOutcome, RetroReport
    from kr_core.retro.improvement import Improvement

__all__ = ["as_markdown", "compared", "effect", "proven", "told"]

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_ENTRIES = 5
"""Entries that a recommendation names."""


def as_markdown(report: RetroReport) -> str:
    """The report as a page of Markdown."""
    rate = "" if report.acceptance_rate is None else f" ({report.acceptance_rate:.0%})"
    lines = [
        f"# Retrospective: {_inline(report.feature)}",
        "",
        f"{report.accepted} of {_count(report.questions, 'question')}{rate} needed no human.",
        "",
        *_facts(report),
        "",
        "## What to change",
        "",
        *_advice(report),
        "",
        *_changes(report),
        "## Agents",
        "",
        *_table(
            ("Agent", "Answers", "Accepted", "Stated", "Worth", "Overturned"),
            (
                (
                    name,
                    one.n,
                    one.accepted,
                    f"{one.mean_confidence:.0f}",
                    _whole(one.calibrated),
                    one.overturned,
                )
                for name, one in report.agents.items()
            ),
        ),
        "",
        "## Topics",
        "",
        *_table(
            ("Topic", "Questions", "No human", "Escalated", "Stated"),
            (
                (name or "none", one.n, one.accepted, one.escalated, _whole(one.mean_confidence))
                for name, one in report.topics.items()
            ),
        ),
        "",
        "## How sure is sure",
        "",
        _calibration(report),
        "",
        *_certificates(report),
    ]
    return "\n".join(lines) + "\n"


def _facts(report: RetroReport) -> list[str]:
    facts = []
    if report.escalated_topics:
        facts.append(
            f"- Escalated topics: {', '.join(_inline(one or 'none') for one in report.escalated_topics)}"
        )
    if report.human_actions:
        done = ", ".join(f"{_inline(action)} {count}" for action, count in report.human_actions.items())
        facts.append(f"- Humans: {done}")
    if report.human_seconds is not None:
        facts.append(f"- Half of the replies came within {_time(report.human_seconds)}")
    if report.tokens or report.cost_usd:
        facts.append(f"- Cost: {report.tokens:,} tokens, ${report.cost_usd:.2f}")
    return facts or ["- No human had to reply."]


def _advice(report: RetroReport) -> list[str]:
    if not report.recommendations:
        return ["Nothing came back often enough to recommend a change."]
    lines = []
    for one in report.recommendations:
        shown = ", ".join(f"`{entry}`" for entry in one.evidence[:_ENTRIES])
        more = f" and {len(one.evidence) - _ENTRIES} more" if len(one.evidence) > _ENTRIES else ""
        lines.append(f"- {_inline(one.text)}")
        lines.append(f"  `{one.id}`; entries {shown}{more}")
    return lines


def _changes(report: RetroReport) -> list[str]:
    if not report.changes:
        return []
    lines = ["## What came of earlier changes", ""]
    for one in report.changes:
        back = " The same finding is made again." if one.again else ""
        lines.append(
            f"- `{one.id}` of {_inline(one.feature)}, accepted on {one.accepted[:10]}: {effect(one)}.{back}"
        )
    return [*lines, ""]


def effect(one: ChangeOutcome) -> str:
    """In words, what was predicted of a change and what was seen."""
    if one.seen is None:
        return "no answer since"
    seen = f"seen {one.seen:.0%} of {_count(one.answers, 'answer')}"
    if one.predicted is None:
        return f"escalated answers: {seen}"
    held = {True: "held", False: "did not hold", None: "too few to say"}[one.held]
    return f"escalated answers: predicted {one.predicted:.0%}, {seen}: {held}"


def compared(before: RetroReport, after: RetroReport) -> str:
    """Two retrospectives beside each other, as a table of Markdown."""

    def cells(one: RetroReport) -> tuple[str, ...]:
        stated = sum(of.n * of.mean_confidence for of in one.agents.values())
        answers = sum(of.n for of in one.agents.values())
        found = one.calibration
        return (
            str(one.questions),
            "" if one.acceptance_rate is None else f"{one.acceptance_rate:.0%}",
            f"{stated / answers:.0f} (n = {answers})" if answers else "",
            "" if found.brier is None else f"{found.brier:.2f} (n = {found.n})",
            "" if found.ece is None else f"{found.ece:.2f}",
        )

    names = ("Questions", "No human", "Stated", "Brier score", "Calibration error")
    rows = zip(names, cells(before), cells(after), strict=True)
    return "\n".join(_table(("", before.feature, after.feature), rows)) + "\n"


def told(found: Improvement, about: str) -> str:
    """An improvement in words."""
    if found.gain is None:
        return f"{about}: no agent answered them on both sides."
    said = (
        f"{about} (n = {found.n}): mean confidence {found.confidence_before:.0f} before, {found.confidence_after:.0f} "
        f"after: {found.gain:+.0%}, 90 % interval {found.low:+.0%} to {found.high:+.0%}."
    )
    if found.accuracy_before is not None:
        said += (
            f" Right {found.accuracy_before:.0%} before, {found.accuracy_after:.0%} after; Brier score "
            f"{found.brier_before:.2f} before, {found.brier_after:.2f} after (n = {found.judged})."
        )
    met = {
        True: "Met.",
        False: "Not met.",
        None: f"Not enough verdicts ({found.judged} of {FEWEST_VERDICTS}).",
    }
    return f"{said} {met[found.met]}"


def _calibration(report: RetroReport) -> str:
    found = report.calibration
    if not found.n:
        return "No human has judged an answer, so there is nothing to measure."
    order = "" if found.auroc is None else f", AUROC {found.auroc:.2f}"
    few = ""
    if found.stage == "raw":
        few = f" Not enough verdicts on any agent to correct its confidence by ({found.most} of {MINIMUM_VERDICTS})."
    return f"{_count(found.n, 'verdict')}: Brier score {found.brier:.2f}, calibration error {found.ece:.2f}{order}.{few}"


def _certificates(report: RetroReport) -> list[str]:
    lines = [f"- {_inline(name)}: {_inline(said)}" for name, said in proven(report)]
    return ["Accepted answers, by spot checks:", "", *lines] if lines else []


def proven(report: RetroReport) -> list[tuple[str, str]]:
    """What is proven of each topic, and what is estimated of each agent."""
    found = [(topic or "no topic", said) for topic, said in report.certificates.items()]
    for name, one in report.agents.items():
        if one.accuracy is not None:
            share, low, high = (
                f"{of:.0%}" for of in (one.accuracy.share, one.accuracy.low, one.accuracy.high)
            )
            checked = f"{low} to {high}, {one.accuracy.audited} checked"
            found.append((name, f"about {share} of its accepted answers are right ({checked})"))
    return found


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(_inline(str(cell)) for cell in row)} |" for row in rows),
    ]


def _inline(text: str) -> str:
    """Text from outside on one line, which ends no table cell and begins no tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _time(seconds: float) -> str:
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= unit:
            return _count(round(seconds / unit), name)
    return _count(round(seconds), "second")
