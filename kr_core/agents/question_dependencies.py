"""Questions that build on the answers of others: who waits for whom, and what each is told of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kr_core.agents.exchange import MAX_QUESTION_LENGTH, Key, key, question_event, redact_question, shortened
from kr_core.agents.prompts import fenced
from kr_core.errors import ConfigError, suggestion
from kr_core.model.base import Value
from kr_core.model.questions import Answer, AskResult
from kr_core.model.routing import Route

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.model import Event
    from kr_core.model.questions import Question
    from kr_core.protocols import EventLog

__all__ = ["FINAL", "PriorAnswer", "answered", "check", "missing", "own_context", "put_off", "told_of"]

Read = TypeVar("Read", bound=Value)
_PAGE = 1000
_SHOWN = 500
_FRAME = 1000
"""Characters beside an answer: its question, as far as it is shown, and the fences."""
FINAL = ("accepted", "answered", "expired")
"""How a question ends that others can build on."""


class PriorAnswer(NamedTuple):
    """A question that has its answer."""

    text: str
    answer: Answer
    status: str = "accepted"
    exchange_id: str = ""
    route: Route | None = None
    threshold: int = 0

    def result(self, question_id: str) -> AskResult:
        """The result of the question; its route is known."""
        assert self.route is not None, "the record has it"
        return AskResult(
            exchange_id=self.exchange_id,
            question_id=question_id,
            status="answered" if self.status == "answered" else "accepted",
            route=self.route,
            answer=shortened(self.answer, self.exchange_id),
            threshold=self.threshold,
        )


def _others(question: Question) -> list[Key]:
    """Those that a question depends on: of its own feature."""
    return [(question.feature_id, one) for one in question.depends_on]


def missing(questions: Sequence[Question]) -> set[Key]:
    """The questions that others depend on and that are not among them."""
    return {one for question in questions for one in _others(question)} - set(map(key, questions))


def check(questions: Sequence[Question], earlier: Iterable[Key] = ()) -> None:
    """Check that every question can get its turn.

    Args:
        questions: asked together.
        earlier: questions that have their answers, or wait for them.

    Raises:
        ConfigError: two of a feature have the same id, one depends on a question that there is not, or some wait for each other
            in a circle, which is named.
    """
    by_key: dict[Key, Question] = {}
    for question in questions:
        if key(question) in by_key:
            raise ConfigError(
                f"two questions have the id `{question.id}`", where="questions", hint="rename one"
            )
        by_key[key(question)] = question
    known = {*by_key, *earlier}
    for question in questions:
        for feature_id, one in _others(question):
            if (feature_id, one) not in known:
                there = {other for feature, other in known if feature == feature_id and other != question.id}
                raise ConfigError(
                    f"`{question.id}` depends on `{one}`, which is not asked with it and has no answer in their feature,"
                    f" `{feature_id}`",
                    where="questions",
                    hint=suggestion(one, there, "there are")
                    if there
                    else "ask it first, both in one feature",
                )
    circle = _circle({one: [other for other in _others(by_key[one]) if other in by_key] for one in by_key})
    if circle:
        raise ConfigError(
            f"questions wait for each other: {' -> '.join(one for _, one in circle)}",
            where="questions",
            hint="take one `depends_on` away",
        )


def _circle(waits_for: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """A circle of questions, its first one named again at its end; empty if there is none."""
    done: set[Key] = set()
    for first in waits_for:
        path: list[Key] = []
        waiting = [(first, iter(waits_for[first]))] if first not in done else []
        path += [first] if waiting else []
        while waiting:  # no recursion: a thousand questions may stand in a row
            current, others = waiting[-1]
            following = next((one for one in others if one not in done), None)
            if following is None:
                done.add(current)
                waiting.pop()
                path.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                path.append(following)
                waiting.append((following, iter(waits_for[following])))
    return []


def told_of(question: Question, answers: Mapping[Key, PriorAnswer]) -> Question:
    """The question with the answers that it builds on in its context, each in a fence that it cannot close."""
    parts = [question.context] if question.context.strip() else []
    length = len(question.text) + len(question.context) + sum(map(len, question.choices))
    room = max(0, (MAX_QUESTION_LENGTH - length) // max(1, len(question.depends_on)) - _FRAME)
    for one in question.depends_on:
        known = answers[question.feature_id, one]
        by = known.answer.agent or "a human"
        content = known.answer.content
        if len(content) > room:
            content = (
                f"{content[:room]}\n[Shortened: {len(content):,} characters; the whole answer is in the log]"
            )
        parts.append(
            f"{_told_first(one)}{fenced(known.text[:_SHOWN])}\n\nThe answer of {by}:\n\n{fenced(content)}"
        )
    return question.model_copy(update={"context": "\n\n".join(parts)})


def own_context(question: Question) -> str:
    """The context of a question on record without the answers that it builds on: what its asker gave."""
    first = next((_told_first(one) for one in question.depends_on), None)
    if first is None:
        return question.context
    before, told, _answers = f"\n\n{question.context}".partition(f"\n\n{first}")
    return before.removeprefix("\n\n") if told else question.context


def _told_first(name: str) -> str:
    return f"Answered before ({name}):\n\n"


def answered(journal: EventLog, wanted: Iterable[Key]) -> dict[Key, PriorAnswer]:
    """The questions that were accepted, or answered by a human, with their latest answers.

    Args:
        journal: the record.
        wanted: the questions.
    """
    ids: dict[str, set[str]] = {}
    for feature_id, one in wanted:
        ids.setdefault(feature_id, set()).add(one)
    return {
        key: known for feature_id in ids for key, known in _answered(journal, feature_id, ids[feature_id])
    }


def _answered(journal: EventLog, feature_id: str, ids: set[str]) -> Iterator[tuple[Key, PriorAnswer]]:
    texts: dict[str, str] = {}
    routes: dict[str, Route] = {}
    thresholds: dict[str, int] = {}
    received: dict[tuple[str, str], Answer] = {}
    for event in _events(journal, feature_id):
        data = event.data
        one = data.get("question_id", "")
        if one not in ids:
            continue
        if event.kind == "question.asked":
            texts[event.run] = data["text"]
        elif event.kind == "question.routed":
            routes[event.run] = _read(Route, data)
        elif event.kind == "answer.gated":
            thresholds[event.run] = data["threshold"]
        elif event.kind == "answer.received":
            received[event.run, data["agent"]] = _read(Answer, {**data, "question_id": one})
        elif event.kind == "exchange.finished" and data["status"] in FINAL:
            answer = received.get((event.run, data["agent"]))  # of several, the one that was gone on with
            if answer is not None:
                route = routes.get(event.run)
                threshold = thresholds.get(event.run, route.threshold if route else 0)
                yield (
                    (feature_id, one),
                    PriorAnswer(
                        texts.get(event.run, ""), answer, data["status"], event.run, route, threshold
                    ),
                )


def put_off(journal: EventLog, question: Question, escalation_id: str) -> tuple[str, Route] | None:
    """The exchange in which a question was put off last, and its route; None if it was not put off like this.

    Args:
        journal: the record.
        question: as it is asked now.
        escalation_id: the case that it waits for now.
    """
    written = question_event(redact_question(question))
    same: set[str] = set()
    routes: dict[str, Route] = {}
    found = None
    for event in _events(journal, question.feature_id):
        data = event.data
        if data.get("question_id") != question.id:
            continue
        if event.kind == "question.asked" and all(data.get(name) == said for name, said in written.items()):
            same.add(event.run)
        elif event.kind == "question.routed":
            routes[event.run] = _read(Route, data)
        elif event.kind == "exchange.finished":
            again = event.run in same & routes.keys() and data.get("escalation_id") == escalation_id
            found = (event.run, routes[event.run]) if again else None
    return found


def _read(of: type[Read], data: Mapping[str, Any]) -> Read:
    return of.model_validate({name: value for name, value in data.items() if name in of.model_fields})


def _events(journal: EventLog, feature_id: str) -> Iterator[Event]:
    after = 0
    while page := journal.entries(feature=feature_id, after=after, limit=_PAGE):
        yield from (event for _, event in page)
        after = page[-1][0]
