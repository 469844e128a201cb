"""What happened with a case so far, from the record: its exchange, those before it, and those of the talk about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.escalation.sanitize import harmless_line

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable

    from kr_core.model.questions import QALogEntry

__all__ = ["Step", "steps"]

_MOST = 500
_LONGEST = 400


class Step(NamedTuple):
    """One thing that happened."""

    time: dt.datetime
    exchange_id: str
    message: str


def steps(entries: Iterable[QALogEntry]) -> list[Step]:
    """What happened, in words.

    Args:
        entries: of all exchanges of a case, in order.
    """
    told = ((entry, _said(entry.kind, entry.data)) for entry in entries)
    found = [
        Step(entry.time, entry.exchange_id, harmless_line(said, _LONGEST)) for entry, said in told if said
    ]
    return found[-_MOST:]


def _said(kind: str, data: dict[str, Any]) -> str:
    """A step in words; empty for what only machines want to know."""
    tell = _WORDS.get(kind)
    return kind.replace(".", " ").replace("_", " ") if tell is None else tell(data)


def _replied(data: dict[str, Any]) -> str:
    action = str(data.get("action", "")).replace("_", " ")
    by = f" by {data['channel']}" if data.get("channel") else ""
    reply = f"{data.get('by')} replied{by} to revision {data.get('revision')}: {action}"
    return reply if data.get("applied") else f"{reply}; refused: {data.get('reason')}"


def _shown(data: dict[str, Any]) -> str:
    if data.get("error"):
        return f"{data.get('channel')} could not show it: {data['error']}"
    return f"shown by {data.get('channel')}: {data['location']}" if data.get("location") else ""


def _told(data: dict[str, Any]) -> str:
    if data.get("error"):
        return f"{data.get('channel')} could not tell it: {data['error']}"
    return f"said by {data.get('channel')}: {data.get('message')}"


def _of(people: object) -> str:
    return f": {', '.join(map(str, people))}" if isinstance(people, list) and people else ""


def _routed(data: dict[str, Any]) -> str:
    agent = data.get("agent") or "a human"
    return f"sent to {agent}: {data['reason']}" if data.get("reason") else f"sent to {agent}"


def _answered(data: dict[str, Any]) -> str:
    if data.get("agent") == "human":
        return "the human's answer was kept"
    confirmed = ", confirmed by a human" if data.get("validated_by") else ""
    return f"{data.get('agent')} answered, confidence {data.get('confidence')} of 100{confirmed}"


def _gated(data: dict[str, Any]) -> str:
    return f"{'accepted' if data.get('accepted') else 'not accepted'}: {data.get('reason')}"


_WORDS: dict[str, Callable[[dict[str, Any]], str]] = {
    "question.asked": lambda data: f"asked: {data.get('text')}",
    "question.routed": _routed,
    "agent.started": lambda _data: "",
    "agent.request": lambda _data: "",
    "channel.request": lambda _data: "",
    "agent.repaired": lambda data: f"{data.get('agent')} was asked once more: {data.get('fault')}",
    "agent.failed": lambda data: (
        f"{data.get('agent')} gave no answer ({data.get('outcome')}): {data.get('reason')}"
    ),
    "answer.received": _answered,
    "answers.compared": lambda data: f"compared: {data.get('message')}",
    "answer.gated": _gated,
    "escalation.opened": lambda data: (
        f"put to a human as revision {data.get('revision')}: {data.get('reason')}"
    ),
    "escalation.shown": _shown,
    "escalation.superseded": lambda _data: "ended, since the question was asked anew",
    "escalation.reminded": lambda data: f"reminded{_of(data.get('ask'))}",
    "escalation.timed_out": lambda data: (
        "the time is over; it waits on" if data.get("policy") == "block" else "the time is over"
    ),
    "escalation.expired": lambda data: (
        f"the answer of {data.get('agent')} is used, which nobody has confirmed"
    ),
    "report.reviewed": lambda data: f"the knowledge base has it: {data.get('report')}",
    "escalation.told": _told,
    "human.replied": _replied,
    "human.unclear": lambda data: (
        f"{data.get('by')} wrote by {data.get('channel')} what cannot be applied: {data.get('message')}"
    ),
    "exchange.finished": lambda data: f"ended: {data.get('status')}",
}
