"""What a human's reply does to a case: each action, applied once, or refused with the reason."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from kr_core.asking.answering import LONGEST_QUESTION
from kr_core.asking.exchange import told
from kr_core.escalation.options import options
from kr_core.model.events import Event, new_id
from kr_core.model.questions import Answer, Resolution
from kr_core.model.routing import HUMAN
from kr_core.net.egress import redacted
from kr_core.printable import printable

if TYPE_CHECKING:
    from kr_core.escalation.cases import KeptCase
    from kr_core.model.questions import HumanResponse, Question

__all__ = ["choice", "clean", "concluded", "final_answer", "refusal", "replied", "resolved", "with_context"]

_LONGEST_NAME = 200


def clean(response: HumanResponse) -> HumanResponse:
    """A reply fit to be kept and shown: without what looks like a secret, and without what steers a terminal."""
    by = " ".join(printable(redacted(response.by)).split())[:_LONGEST_NAME] or HUMAN
    return response.model_copy(update={"content": printable(redacted(response.content)).strip(), "by": by})


def with_context(question: Question, added: str) -> Question:
    """The question with what a human added to its context; what is said again is not added again."""
    if f"\n\n{added}\n\n" in f"\n\n{question.context}\n\n":
        return question
    return question.model_copy(update={"context": f"{question.context}\n\n{added}".strip()})


def refusal(case: KeptCase, response: HumanResponse) -> str:
    """Why a reply cannot be applied to a case as it stands; empty if it can."""
    request = case.request
    if not case.waits:
        by = f", by {case.resolution.by} ({case.resolution.action})" if case.resolution else ""
        return f"it is {case.status} already{by}"
    if response.revision is not None and response.revision != request.revision:
        return (
            f"{request.id}@{response.revision} is an older answer; the one that waits now is"
            f" {request.id}@{request.revision}"
            if response.revision < request.revision
            else f"there is no {request.id}@{response.revision}; the one that waits is {request.id}@{request.revision}"
        )
    if response.action == "confirm" and (request.answer is None or request.alternatives):
        return (
            "there are several answers; say which with `choose`, or give your own with `correct`"
            if request.alternatives
            else "there is no answer to confirm; give one with `correct`"
        )
    if response.action == "chat" and request.agent is None:
        return "no agent was asked, so there is none to talk with; give the answer with `correct`"
    if response.action in {"correct", "add_context", "chat"} and not response.content:
        return f"`{response.action.removeprefix('add_')}` needs a text"
    if response.action == "add_context":
        return _no_context(case, response.content)
    if response.action == "choose" and len(_meant(case, response.content)) > 1:
        return f"`{response.content[:_LONGEST_NAME]}` is the letter of one choice and the text of another; give the answer with `correct`"
    if response.action == "choose" and choice(case, response.content) is None:
        letters = ", ".join(letter for letter, _ in options(request))
        if not letters:
            return "there is nothing to choose from; give the answer with `correct`"
        return f"`{response.content[:_LONGEST_NAME]}` is no choice; there are: {letters}"
    return ""


def _no_context(case: KeptCase, added: str) -> str:
    if case.request.agent is None:
        return "no agent was asked, so none can be asked again; give the answer with `correct`"
    question = with_context(case.request.question, added)
    length = len(question.text) + len(question.context)
    if length > LONGEST_QUESTION:
        return f"the question would have {length:,} characters with this context, at most {LONGEST_QUESTION:,} can be asked"
    return ""


def final_answer(case: KeptCase, response: HumanResponse) -> Answer:
    """The answer that a human's decision comes to; for every action but `add_context`."""
    request = case.request
    if response.action == "confirm":
        assert request.answer is not None, "it was not refused"
        return request.answer.model_copy(update={"validated_by": "human"})
    if response.action == "choose":
        found = choice(case, response.content)
        assert found is not None, "it was not refused"
        if isinstance(found, Answer):
            return found.model_copy(update={"validated_by": "human"})
        return _of_human(case, found)
    if response.action == "chat":  # ended with what the agent said last, or with the human's own words
        answers = [turn.answer for turn in case.turns if turn.answer is not None]
        same = [answer for answer in answers if printable(answer.content).strip() == response.content]
        if same:
            return same[-1].model_copy(update={"validated_by": "human"})
    return _of_human(case, response.content)


def choice(case: KeptCase, written: str) -> Answer | str | None:
    """The choice or alternative that a letter or its own text means."""
    meant = _meant(case, written)
    return meant[0] if len(meant) == 1 else None


def _meant(case: KeptCase, written: str) -> list[Answer | str]:
    """What a text may mean: nothing, one option, or two: one by its letter and one by its own text."""
    folded = " ".join(written.split()).casefold()
    by_letter: list[Answer | str] = []
    by_text: list[Answer | str] = []
    for letter, option in options(case.request):
        text = option.content if isinstance(option, Answer) else option
        by_letter += [option] if folded == letter.casefold() else []
        by_text += [option] if folded == " ".join(text.split()).casefold() else []
    return by_letter if by_text[:1] == by_letter[:1] or not by_text else [*by_letter, by_text[0]]


def _of_human(case: KeptCase, content: str) -> Answer:
    """The answer of a human; who that was stands in the case's resolution and on the record."""
    return Answer(
        question_id=case.request.question.id,
        content=content,
        rationale="",
        confidence=100,
        agent=HUMAN,
        validated_by="human",
    )


def resolved(case: KeptCase, response: HumanResponse, answer: Answer) -> KeptCase:
    """The case with the human's decision."""
    return case._replace(
        status="resolved",
        version=case.version + 1,
        answer=answer,
        resolution=Resolution(
            action=response.action,
            by=response.by,
            content=response.content or None,
            time=dt.datetime.now(dt.UTC),
        ),
    )


def replied(case: KeptCase, response: HumanResponse, refused: str = "") -> Event:
    """The record of a reply, applied or refused."""
    return _event(
        case,
        "human.replied",
        escalation_id=case.request.id,
        revision=case.request.revision if response.revision is None else response.revision,
        action=response.action,
        content=response.content,
        by=response.by,
        applied=not refused,
        reason=refused,
    )


def concluded(case: KeptCase, answer: Answer) -> list[Event]:
    """The record of a human's decision: the answer, and the end of the exchange."""
    return [
        _event(case, "answer.received", **told(answer)),
        _event(
            case,
            "exchange.finished",
            status="answered",
            agent=answer.agent,
            confidence=answer.confidence,
            escalation_id=case.request.id,
        ),
    ]


def _event(case: KeptCase, kind: str, **data: object) -> Event:
    question = case.request.question
    about = {
        "exchange_id": case.request.exchange_id,
        "parent_id": case.request.parent_id,
        "feature_id": question.feature_id,
        "question_id": question.id,
    }
    return Event(kind, case.request.exchange_id, {**about, **data}, f"{case.request.exchange_id}-{new_id()}")
