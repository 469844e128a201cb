"""Whether the cases are what the record says: they are kept beside its entries, and no hash ties them to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.errors import StorageError
from kr_core.escalation.case_repository import CaseRepository
from kr_core.net.redaction import redacted
from kr_core.protocols import Issue
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.escalation.case import Case
    from kr_core.model import Event
    from kr_core.model.questions import Answer
    from kr_core.protocols import EventLog, Journal

__all__ = ["flaws"]

_PAGE = 1000
_SHORTENED = re.compile(r"\n\n\[Shortened: .* in the log, exchange (\S+)\]\Z")
_STATES = {"open", "notified", "resolved", "expired", "superseded", "withdrawn"}
_HINT = "compare it with `kr log` and `kr inbox show --json`; what counts is the log"


_About = tuple[str, str]
"""The feature and the id of a question."""
_WITH_TEXT = {"question.asked", "agent.failed", "answer.received"}


class _LoggedCases:
    """What entries say of cases.

    Args:
        journal: the record.
        questions: those that cases are about; what was asked and answered otherwise is not looked at, in a record that may have
            a million entries.
    """

    def __init__(self, journal: EventLog, questions: Iterable[_About]) -> None:
        self.opened: dict[str, Event] = {}
        """The last opening of each case."""
        self.replies: dict[str, set[tuple[str, str, str]]] = {}
        """Action, who, and text of each reply that was applied."""
        self.ends: dict[str, set[str]] = {}
        """How the exchanges of each case ended."""
        self.superseded: set[str] = set()
        self.expired: set[str] = set()
        self._texts: dict[_About, set[tuple[Any, ...]]] = {}
        for about in questions:  # what was taken out of an id before it was kept makes no difference
            self._texts[about] = self._texts.setdefault((_same(about[0]), _same(about[1])), set())
        self._cleaned: dict[_About, set[tuple[Any, ...]]] = {}
        after = 0
        while page := journal.entries(after=after, limit=_PAGE):
            for _, event in page:
                self._learn(event)
            after = page[-1][0]

    def _learn(self, event: Event) -> None:
        data = event.data
        name = str(data.get("escalation_id"))
        if event.kind == "escalation.opened":
            self.opened[name] = event
        elif event.kind == "escalation.superseded":
            self.superseded.add(name)
        elif event.kind == "escalation.expired":
            self.expired.add(name)
        elif event.kind == "human.replied" and data.get("applied"):
            said = (str(data.get("action")), _same(data.get("by")), _same(data.get("content")))
            self.replies.setdefault(name, set()).add(said)
        elif event.kind == "exchange.finished" and data.get("escalation_id"):
            self.ends.setdefault(name, set()).add(str(data.get("status")))
        elif event.kind in _WITH_TEXT and (texts := self._texts.get(_about(data))) is not None:
            texts.update(_marks(event.kind, data))

    def has(self, about: _About, what: str, text: Any, *more: Any) -> bool:
        """Whether a question was asked, or an answer given, as it is kept; most texts are the same to the letter."""
        texts = self._texts.get(about, set())
        if (what, text, *more) in texts:
            return True
        if about not in self._cleaned:
            self._cleaned[about] = {(kind, _same(said), *others) for kind, said, *others in texts}
        return (what, _same(text), *more) in self._cleaned[about]


def _about(data: Any) -> _About:
    return _plain_text(data.get("feature_id")), _plain_text(data.get("question_id"))


def _marks(kind: str, data: Any) -> Iterator[tuple[Any, ...]]:
    """What an entry says, in the forms in which it is looked up."""
    if kind == "question.asked":
        yield "asked", _plain_text(data.get("text"))
    elif kind == "agent.failed" and data.get("answer"):
        yield "outside", _plain_text(data.get("answer"))
    elif kind == "answer.received":
        yield "answer", _plain_text(data.get("content"))
        yield "decided", _plain_text(data.get("content")), *_decided(data)


def flaws(journal: Journal) -> list[Issue]:
    """The cases that are not what the record says, each with the first thing that is not.

    Compared are the id that a case is kept under, its question, its revision, reason and tentative answers, whether it
    waits, who decided how, and the final answer.

    Raises:
        StorageError: the record cannot be read.
    """
    cases = CaseRepository(journal)
    try:
        under = dict(cases.keyed())
    except StorageError as error:
        return [Issue("unreadable", "cases", error.what, error.hint or "restore the journal from a backup")]
    kept = {name: case for name, case in under.items() if case.request.id == name}
    found = [
        Issue("altered", name, f"what is kept under it is {case.request.id}", _HINT)
        for name, case in under.items()
        if name not in kept
    ]
    keys = {key for some in cases.ids() for key in some}
    questions = [case.request.question for case in kept.values()]
    told = _LoggedCases(journal, ((one.feature_id, one.id) for one in questions))
    missing = [
        name for name in told.opened if name not in keys and journal.document("escalation", name) is None
    ]
    found += [Issue("missing", name, "the record has it, and it is not kept", _HINT) for name in missing]
    for name, case in kept.items():
        if name in missing:
            continue
        differs = next(_differing(journal, case, told), None)
        if differs is not None and cases.get(name).version == case.version:  # else it was changed meanwhile
            found.append(Issue("altered", name, differs, _HINT))
    return found


def _differing(journal: EventLog, case: Case, told: _LoggedCases) -> Iterator[str]:
    request, name = case.request, case.request.id
    about = (request.question.feature_id, request.question.id)
    opened = told.opened.get(name)
    if opened is None:
        yield "the record does not have it"
        return
    of_request = (request.revision, request.agent, request.exchange_id, _same(request.reason))
    data = opened.data
    if of_request != (
        data.get("revision"), data.get("agent"), data.get("exchange_id"), _same(data.get("reason"))
    ):  # fmt: skip
        yield "its revision, reason or agent is not the one on record"
    if not told.has(about, "asked", request.question.text):
        yield "its question is not the one on record"
    tentative = (*request.alternatives, *([] if request.answer is None else [request.answer]))
    if not all(_received(journal, about, one, told) for one in tentative):
        yield "its tentative answer is not on record"
    if not all(_received(journal, about, one, told, "outside") for one in request.outside):
        yield "what an agent said outside of its choices is not on record"
    if case.status not in _STATES:
        yield f"its state `{printable(case.status)}` is none"
    if case.waits and told.ends.get(name, set()) & {"answered", "accepted", "expired"}:
        yield "it waits, and the record says that it is answered"
    if case.status == "superseded" and name not in told.superseded:
        yield "it was asked anew, and the record does not say so"
    if case.status == "expired":
        yield from _of_expiry(case, about, told)
    if case.status in {"resolved", "withdrawn"}:
        yield from _of_decision(case, about, told)


def _of_expiry(case: Case, about: _About, told: _LoggedCases) -> Iterator[str]:
    answer = case.answer
    if answer is None or not answer.warning or answer.validated_by is not None:
        yield "nobody decided it, and its answer has no warning"
        return
    if case.request.id not in told.expired:
        yield "nobody decided it in time, and the record does not say so"
    if not told.has(about, "decided", answer.content, *_decided(answer.model_dump())):
        yield "its answer is not the one on record"


def _of_decision(case: Case, about: _About, told: _LoggedCases) -> Iterator[str]:
    resolution, answer = case.resolution, case.answer
    if resolution is None or (answer is None) != (case.status == "withdrawn"):
        yield f"it is {case.status} {'without' if answer is None else 'with'} an answer"
        return
    said = (resolution.action, _same(resolution.by), _same(resolution.content))
    if said not in told.replies.get(case.request.id, set()):
        yield "the record has no such reply of a human"
    if answer is None:
        return
    if resolution.action == "add_context":  # the agent's own; of several that agree it is more sure than each
        as_told = told.has(about, "answer", answer.content)
    else:
        as_told = told.has(about, "decided", answer.content, *_decided(answer.model_dump()))
    if not as_told:
        yield "its answer is not the one on record"


_KEPT_IN = {"answer": ("answer.received", "content"), "outside": ("agent.failed", "answer")}
"""Where the record has what agents said."""


def _received(
    journal: EventLog, about: _About, answer: Answer, told: _LoggedCases, what: str = "answer"
) -> bool:
    shortened = _SHORTENED.search(answer.content)
    if shortened is None:
        return told.has(about, what, answer.content)
    start = _same(answer.content[: shortened.start()])
    kind, name = _KEPT_IN[what]
    return any(
        event.kind == kind and _same(event.data.get(name)).startswith(start)
        for _, event in journal.entries(exchange=shortened[1], limit=_PAGE)
    )


def _decided(data: Any) -> tuple[Any, ...]:
    """What is compared of a human's decision besides its text."""
    told = (data.get("agent"), data.get("confidence"), data.get("validated_by"))
    return tuple(one if isinstance(one, str | int | None) else repr(one) for one in told)


def _plain_text(text: Any) -> str:
    return text if isinstance(text, str) else ""


def _same(text: Any) -> str:
    """A text as it is compared: what was taken out of it before it was kept, or after, makes no difference."""
    return printable(redacted(text)).strip() if isinstance(text, str) else ""
