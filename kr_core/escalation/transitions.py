"""What a human's reply does to a case: each action, applied once, or refused with the reason."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.agents.exchange import MAX_QUESTION_LENGTH, told
from kr_core.escalation.case import options
from kr_core.escalation.sanitize import harmless, harmless_line
from kr_core.escalation.schedule import PendingRequest
from kr_core.model.event import Event, new_id
from kr_core.model.questions import Answer, Resolution
from kr_core.model.routing import HUMAN
from kr_core.net.redaction import redacted
from kr_core.protocols import Notice
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from kr_core.escalation.case import Case
    from kr_core.model.questions import EscalationRequest, HumanResponse, Question
    from kr_core.protocols import UnparsedReply

__all__ = [
    "NO_PARTNER",
    "ReplyOrigin",
    "apply_reply",
    "choice",
    "clean",
    "clean_name",
    "clean_text",
    "concluded",
    "ending",
    "event",
    "expired",
    "final_answer",
    "note_unparsed",
    "put_again",
    "refusal",
    "replied",
    "resolved",
    "with_context",
]

NO_PARTNER = (
    "no agent was asked and none is configured, so there is none to talk with; give the answer with `correct`"
)
_MAX_NAME_LENGTH = 200
_MAX_REFUSALS = 20
"""So often one person is told by one channel that a reply to a case was refused."""
_MAX_UNCLEAR = 5
"""So often one person is told by one channel, about one case, that they are not understood."""
_MAX_PEOPLE = 50
"""So many people are told by one channel, about one case, that they are not understood, or may not answer."""


class ReplyOrigin(NamedTuple):
    """Where a reply comes from."""

    channel: str = ""
    """Empty for the terminal, the page, and whoever else is told at once what became of it."""
    external_id: str = ""

    @property
    def mark(self) -> str:
        """What tells it from any other; empty where it comes but once."""
        digest = hashlib.sha256(self.external_id.encode("utf-8", "replace")).hexdigest()[:20]
        return f"{self.channel} {digest}" if self.channel and self.external_id else ""


HERE = ReplyOrigin()
"""Where a reply comes from whose writer is told at once what became of it."""


def clean(response: HumanResponse) -> HumanResponse:
    """A reply fit to be kept and shown."""
    content = clean_text(response.content)
    return response.model_copy(update={"content": content, "by": clean_name(response.by)})


def clean_text(text: str) -> str:
    """A text fit to be kept and shown: without what looks like a secret, and without what steers a terminal."""
    return printable(redacted(text)).strip()


def clean_name(by: str) -> str:
    """A person's name, in the same way."""
    return " ".join(printable(redacted(by)).split())[:_MAX_NAME_LENGTH] or HUMAN


def with_context(question: Question, added: str) -> Question:
    """The question with what a human added to its context; what is said again is not added again."""
    if f"\n\n{added}\n\n" in f"\n\n{question.context}\n\n":
        return question
    return question.model_copy(update={"context": f"{question.context}\n\n{added}".strip()})


def refusal(case: Case, response: HumanResponse) -> str:
    """Why a reply cannot be applied to a case as it stands; empty if it can."""
    request = case.request
    if case.status == "expired":
        return "it is expired: nobody had decided in time, and the agent's answer is used"
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
    if response.action in {"correct", "add_context", "chat", "withdraw"} and not response.content:
        no_agent = _no_agent_to_talk(case) if response.action == "chat" else ""
        return no_agent or f"`{response.action.removeprefix('add_')}` needs a text"
    check = {
        "confirm": lambda: _nothing_to_confirm(case),
        "chat": lambda: _no_agent_to_talk(case),
        "add_context": lambda: _no_context(case, response.content),
        "choose": lambda: _no_choice(case, response.content),
    }.get(response.action)
    return "" if check is None else check()


def _nothing_to_confirm(case: Case) -> str:
    if case.request.alternatives:
        return "there are several answers; say which with `choose`, or give your own with `correct`"
    return "there is no answer to confirm; give one with `correct`" if case.request.answer is None else ""


def _no_agent_to_talk(case: Case) -> str:
    return "" if case.request.partner is not None else NO_PARTNER


def _no_choice(case: Case, written: str) -> str:
    shown = written[:_MAX_NAME_LENGTH]
    if len(_meant(case, written)) > 1:
        return (
            f"`{shown}` is the letter of one choice and the text of another; give the answer with `correct`"
        )
    if choice(case, written) is not None:
        return ""
    letters = ", ".join(letter for letter, _ in options(case.request))
    if not letters:
        return "there is nothing to choose from; give the answer with `correct`"
    return f"`{shown}` is no choice; there are: {letters}"


def _no_context(case: Case, added: str) -> str:
    if case.request.agent is None:
        return "no agent was asked, so none can be asked again; give the answer with `correct`"
    question = with_context(case.request.question, added)
    length = len(question.text) + len(question.context)
    if length > MAX_QUESTION_LENGTH:
        return f"the question would have {length:,} characters with this context, at most {MAX_QUESTION_LENGTH:,} can be asked"
    return ""


def final_answer(case: Case, response: HumanResponse) -> Answer:
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


def choice(case: Case, written: str) -> Answer | str | None:
    """The choice or alternative that a letter or its own text means."""
    meant = _meant(case, written)
    return meant[0] if len(meant) == 1 else None


def _meant(case: Case, written: str) -> list[Answer | str]:
    """What a text may mean: nothing, one option, or two: one by its letter and one by its own text."""
    folded = " ".join(written.split()).casefold()
    by_letter: list[Answer | str] = []
    by_text: list[Answer | str] = []
    for letter, option in options(case.request):
        text = option.content if isinstance(option, Answer) else option
        by_letter += [option] if folded == letter.casefold() else []
        by_text += [option] if folded == " ".join(text.split()).casefold() else []
    return by_letter if by_text[:1] == by_letter[:1] or not by_text else [*by_letter, by_text[0]]


def _of_human(case: Case, content: str) -> Answer:
    """The answer of a human; who that was stands in the case's resolution and on the record."""
    return Answer(
        question_id=case.request.question.id,
        content=content,
        rationale="",
        confidence=100,
        agent=HUMAN,
        validated_by="human",
    )


def apply_reply(
    case: Case, response: HumanResponse, written: ReplyOrigin = HERE
) -> tuple[Case, list[Event], str] | None:
    """What a reply does to a case: the case as it is to be kept, what is said of it, and why it was refused, if it was.

    None where it was dealt with before. Nothing is kept here: the caller does so in one transaction, or not at all.

    Args:
        case: as it is kept.
        response: the reply, cleaned.
        written: where it comes from.
    """
    if written.mark and written.mark in case.care.heard:
        return None
    invited = response.action == "chat" and not response.content and bool(written.channel)
    refused = refusal(case, response.model_copy(update={"content": "-"}) if invited else response)
    events = [replied(case, response, refused, written.channel)]
    changed = case
    if (
        case.care.settled and written.channel
    ):  # else nobody would look at it to tell whoever has replied so late
        changed = case._replace(care=case.care._replace(settled=False, late=dt.datetime.now(dt.UTC)))
    if refused:
        changed, said = _refused(changed, response, written, refused), ""
    elif invited:
        said = _INVITED.format(id=case.request.id)
    elif response.action == "add_context":
        question = with_context(case.request.question, response.content)
        again = PendingRequest(response.by, response.content, case.request.revision)
        changed = changed._replace(
            request=case.request.model_copy(update={"question": question}),
            care=case.care._replace(pending=again),
        )
        said = f"{_who(response)} has added context to {case.request.id}; {case.request.agent} is asked again"
    elif response.action == "withdraw":
        changed = resolved(case, response, None, but=written.channel)
        events.append(_finished(case, None, "failed"))
        said = ending(changed)
    else:
        answer = final_answer(case, response)
        changed = resolved(case, response, answer, but=written.channel)
        events += concluded(case, answer)
        said = ending(changed)
    care = changed.care
    if said and written.channel:
        name = f"{case.request.id}-{written.mark.partition(' ')[2] or new_id()}"
        care = care.owing(Notice(name, "understood", said, written.external_id), [written.channel])
    if written.mark:
        care = care._replace(heard=(*care.heard, written.mark))
    return changed._replace(care=care), events, refused


_INVITED = (
    "To talk about {id}, write `kr inbox chat {id}` at a shell in the project, or open {id} on the page of `kr serve`. It waits"
    " meanwhile."
)


def _refused(case: Case, response: HumanResponse, written: ReplyOrigin, why: str) -> Case:
    """The case with what somebody is to be told whose reply was refused; not for ever the same one."""
    care = case.care
    key = f"{written.channel} refused {response.by}"
    if not written.channel or care.told.get(key, 0) >= _MAX_REFUSALS:
        return case
    reason = " ".join(_sayable(why).split())
    said = f"{case.request.id}: {_who(response)}, `{_word(response)}` was not done: {reason}"
    notice = Notice(
        f"{case.request.id}-{written.mark.partition(' ')[2] or new_id()}",
        "refused",
        said,
        written.external_id,
    )
    told = {**care.told, key: care.told.get(key, 0) + 1}
    return case._replace(care=care.owing(notice, [written.channel])._replace(told=told))


def note_unparsed(case: Case, said: UnparsedReply, channel: str) -> tuple[Case, list[Event]] | None:
    """What comes of something that cannot be applied: its writer is told so; None where nothing more is said to them.

    The same is said to a person once for each case, and something else a few times: two programs may answer each other.
    """
    care = case.care
    by = clean_name(said.by)
    text = _sayable(redacted(said.message)).strip()
    digest = hashlib.sha256(f"{channel} {said.kind} {by}\n{text}".encode("utf-8", "replace")).hexdigest()[:20]
    before = f"{channel} {said.kind} "
    key = f"{before}{digest} of {by}"
    people = [one.partition(" of ")[2] for one in care.told if one.startswith(before)]
    again, new = people.count(by) >= _MAX_UNCLEAR, by not in people
    if key in care.told or again or (new and len(set(people)) >= _MAX_PEOPLE):
        return None
    kind: Literal["refused", "help"] = "refused" if said.kind == "refused" else "help"
    notice = Notice(f"{case.request.id}-{said.kind}-{digest}", kind, text, said.external_id)
    care = care.owing(notice, [channel])._replace(told={**care.told, key: 1})
    told = event(
        case,
        "human.unclear",
        escalation_id=case.request.id,
        channel=channel,
        by=by,
        kind=said.kind,
        message=text,
    )
    return case._replace(care=care), [told]


_ID = re.compile("(E[0-9]{1,9}@)\N{ZERO WIDTH SPACE}(?=[0-9])")
_COMMAND = re.compile(r"^(?=/kr)", re.IGNORECASE | re.MULTILINE)


def _sayable(text: str) -> str:
    """A text in which nobody is mentioned and no line is a command; ids (`E7@2`) stay as they are, to be copied."""
    return _COMMAND.sub("    ", _ID.sub(r"\1", harmless(text)))


def ending(case: Case) -> str:
    """What people are told of a case that is decided."""
    resolution, name = case.resolution, case.request.id
    if resolution is None:
        return f"{name} needs no reply any more: its question was asked anew"
    if case.status == "expired":
        return f"{name} is expired: nobody has decided in time, and the agent's answer is used, unconfirmed"
    by = harmless_line(resolution.by)
    if resolution.action == "withdraw":
        return f"{name} is withdrawn, by {by}: {harmless_line(resolution.content or '')}"
    if resolution.action == "add_context":
        return f"{name} is answered by {harmless_line(case.answered_by)}, with what {by} has added"
    return f"{name} is answered, by {by} ({resolution.action})"


def _who(response: HumanResponse) -> str:
    return harmless_line(response.by)


def _word(response: HumanResponse) -> str:
    return response.action.removeprefix("add_")


def expired(case: Case, limit: str) -> tuple[Case, list[Event]]:
    """The case whose time is over, with the agent's answer and a warning; nobody has confirmed it."""
    answer = case.request.answer
    assert answer is not None, "there is one to be used"
    warning = f"nobody has decided within {limit}; it is the agent's answer, which was not sure enough"
    answer = answer.model_copy(update={"warning": warning, "validated_by": None})
    now = dt.datetime.now(dt.UTC)
    changed = case._replace(
        status="expired",
        answer=answer,
        resolution=Resolution(action="timeout", by=_NOBODY, time=now),
    )
    changed = changed.ended(Notice(f"{case.request.id}-ended", "ended", ending(changed)))
    told = event(
        case,
        "escalation.expired",
        escalation_id=case.request.id,
        revision=case.request.revision,
        agent=answer.agent,
    )
    return changed, [told, *concluded(case, answer, "expired")]


_NOBODY = "nobody"


def put_again(case: Case, request: EscalationRequest) -> Case:
    """The case with a new revision, which waits as if it were new."""
    care = case.care._replace(
        since=dt.datetime.now(dt.UTC), seen=None, reminded=None, tiers=0, timed_out=False
    )
    for name, state in care.channels.items():
        owed = tuple(notice for notice in state.owed if notice.kind != "reminder")
        care = care.with_channel(name, state._replace(owed=owed))
    return case._replace(request=request, status="open", care=care)


def resolved(case: Case, response: HumanResponse, answer: Answer | None, but: str = "") -> Case:
    """The case with the human's decision; every channel is to say so, but the one that says so as it answers.

    Without an answer it is withdrawn.
    """
    changed = case._replace(
        status="withdrawn" if answer is None else "resolved",
        answer=answer,
        resolution=Resolution(
            action=response.action,
            by=response.by,
            content=response.content or None,
            time=dt.datetime.now(dt.UTC),
        ),
    )
    return changed.ended(Notice(f"{case.request.id}-ended", "ended", ending(changed)), but)


def replied(case: Case, response: HumanResponse, refused: str = "", channel: str = "") -> Event:
    """The record of a reply, applied or refused."""
    return event(
        case,
        "human.replied",
        escalation_id=case.request.id,
        revision=case.request.revision if response.revision is None else response.revision,
        action=response.action,
        content=response.content,
        by=response.by,
        channel=channel,
        applied=not refused,
        reason=refused,
    )


def concluded(case: Case, answer: Answer, status: str = "answered") -> list[Event]:
    """The record of a decision: the answer, and the end of the exchange."""
    return [event(case, "answer.received", **told(answer)), _finished(case, answer, status)]


def _finished(case: Case, answer: Answer | None, status: str) -> Event:
    return event(
        case,
        "exchange.finished",
        status=status,
        agent=None if answer is None else answer.agent,
        confidence=None if answer is None else answer.confidence,
        escalation_id=case.request.id,
        seconds=None,
    )


def event(case: Case, kind: str, /, **data: object) -> Event:
    """An event of the exchange that has put a case."""
    question = case.request.question
    about = {
        "exchange_id": case.request.exchange_id,
        "parent_id": case.request.parent_id,
        "feature_id": question.feature_id,
        "question_id": question.id,
    }
    return Event(kind, case.request.exchange_id, {**about, **data}, f"{case.request.exchange_id}-{new_id()}")
