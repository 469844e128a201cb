"""What is sent and what comes in: JSON, version 1; README tells each field."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import RequestError
from kr_core.plugin import HumanReply, Outcome, UnparsedReply
from kr_core.toolkit import read_replies

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core.plugin import CaseView, Notice, OpenCase

__all__ = ["VERSION", "Message", "of_case", "of_notice"]

VERSION = 1
_MAX_FIELD_LENGTH = 250
_MAX_NAME_LENGTH = 200
_MAX_TEXT_LENGTH = 65_536
_MAX_SAID_LENGTH = 4000


def of_case(case: CaseView) -> dict[str, Any]:
    """The message that shows a case."""
    return _message(case, "case", f"{case.request.revision}", case.message)


def of_notice(case: CaseView, notice: Notice) -> dict[str, Any]:
    """The message that says something about a case."""
    people = f"{', '.join(notice.ask)}: " if notice.ask else ""
    message = _message(case, "notice", f"notice {notice.id}", f"{people}{notice.message}")
    reply_to = notice.reply_to.rpartition(":")[0]  # without the line, which the channel has put there
    return message | {"notice": {"kind": notice.kind, "reply_to": reply_to or None, "ask": list(notice.ask)}}


def _message(case: CaseView, event: str, about: str, text: str) -> dict[str, Any]:
    request = case.request
    # Several projects may send to one address, and each has an E1: when it was opened tells them apart, and stays.
    name = f"{request.id} {request.opened.isoformat()} {about}"
    return {
        "version": VERSION,
        "event": event,
        "id": f"kr_{hashlib.sha256(name.encode()).hexdigest()[:32]}",
        "text": text,
        "case": {
            "id": request.id,
            "revision": request.revision,
            "topic": request.question.topic[:_MAX_FIELD_LENGTH],
            "feature": request.question.feature_id[:_MAX_FIELD_LENGTH],
            "agent": request.agent,
            "confidence": None if request.answer is None else request.answer.confidence,
            "threshold": request.threshold,
            "opened": request.opened.isoformat(),
        },
    }


class Message(NamedTuple):
    """What a person has written, as the service tells it."""

    text: str
    by: str
    id: str

    @classmethod
    def read(cls, body: bytes) -> Message:
        """The message in the body of a call.

        Raises:
            RequestError: it cannot be understood (`bad_answer`).
        """
        try:
            told = json.loads(body)
        except (ValueError, RecursionError):
            told = None
        if not isinstance(told, dict):
            raise RequestError(Outcome.bad_answer, "the call is no JSON object")
        return cls(
            _text(told, "text", _MAX_TEXT_LENGTH),
            _text(told, "by", _MAX_NAME_LENGTH),
            _text(told, "id", _MAX_NAME_LENGTH),
        )

    def replies(self, shown: Sequence[OpenCase], allow: Collection[str]) -> list[HumanReply | UnparsedReply]:
        """What it means for the cases that were shown; nothing where it is talk.

        Args:
            shown: the cases.
            allow: who may answer.
        """
        revisions = {one.escalation_id: one.revision for one in shown}
        waiting = [one.escalation_id for one in shown if one.waits]
        closed = [one.escalation_id for one in shown if not one.waits]
        read = read_replies(self.text, waiting, closed, others=True)
        if not revisions or not (read.commands or read.faults):
            return []
        named = (one.escalation_id for one in read.commands if one.escalation_id in revisions)
        about = next(named, next(iter([*waiting, *closed])))
        if self.by not in allow:
            said = (
                "You may not answer here; who may is named in KR's configuration, as `allow` of this webhook."
            )
            return [UnparsedReply(about, self.by, "refused", said, f"{self.id}:0")]
        found: list[HumanReply | UnparsedReply] = []
        for command in read.commands:
            response = command.response(self.by)
            if response.revision is None:  # what they saw is meant, not what has come since
                seen = revisions.get(command.escalation_id)
                response = response.model_copy(update={"revision": seen})
            external = f"{self.id}:{command.line}"
            found.append(HumanReply(command.escalation_id, response, external, beside=about))
        if read.faults:
            said = "\n".join(f"- line {fault.line}: {fault.message}" for fault in read.faults)[
                :_MAX_SAID_LENGTH
            ]
            found.append(UnparsedReply(about, self.by, "help", said, f"{self.id}:0"))
        return found


def _text(told: dict[str, Any], name: str, most: int) -> str:
    value = told.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise RequestError(Outcome.bad_answer, f"the call's `{name}` is no text of 1 to {most} characters")
    return value.encode("utf-8", "replace").decode()  # JSON may hold half a character
