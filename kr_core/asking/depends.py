"""Questions that build on the answers of others: who waits for whom, and what each is told of the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.asking.answering import LONGEST_QUESTION
from kr_core.errors import ConfigError, suggestion
from kr_core.model.questions import Answer
from kr_core.pipeline.agents.prompts import fenced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.model import Event
    from kr_core.model.questions import Question
    from kr_core.protocols import Journal

__all__ = ["FINAL", "Known", "answered", "check", "missing", "told_of"]

_PAGE = 1000
_SHOWN = 500
_FRAME = 1000
"""Characters beside an answer: its question, as far as it is shown, and the fences."""
FINAL = ("accepted", "answered")
"""How a question ends that others can build on."""


class Known(NamedTuple):
    """A question that has its answer."""

    text: str
    answer: Answer


def missing(questions: Sequence[Question]) -> dict[str, set[str]]:
    """The ids that questions depend on and that are not among them, by feature."""
    there = {question.id for question in questions}
    found: dict[str, set[str]] = {}
    for question in questions:
        others = set(question.depends_on) - there
        if others:
            found.setdefault(question.feature_id, set()).update(others)
    return found


def check(questions: Sequence[Question], earlier: Iterable[str] = ()) -> None:
    """Check that every question can get its turn.

    Args:
        questions: asked together.
        earlier: ids of questions that have their answers.

    Raises:
        ConfigError: two have the same id, one depends on a question that there is not, or some wait for each other in a
            circle, which is named.
    """
    by_id: dict[str, Question] = {}
    for question in questions:
        if question.id in by_id:
            raise ConfigError(
                f"two questions have the id `{question.id}`", where="questions", todo="rename one"
            )
        by_id[question.id] = question
    known = {*by_id, *earlier}
    for question in questions:
        for one in question.depends_on:
            if one not in known:
                raise ConfigError(
                    f"`{question.id}` depends on `{one}`, which is not asked with it and has no answer yet",
                    where="questions",
                    todo=suggestion(one, others, "there are")
                    if (others := known - {question.id})
                    else "ask it first",
                )
    circle = _circle(by_id)
    if circle:
        raise ConfigError(
            f"questions wait for each other: {' -> '.join(circle)}",
            where="questions",
            todo="take one `depends_on` away",
        )


def _circle(by_id: Mapping[str, Question]) -> list[str]:
    """A circle of questions, its first one named again at its end; empty if there is none."""
    done: set[str] = set()
    for first in by_id:
        path: list[str] = []
        waiting = [(first, iter(by_id[first].depends_on))] if first not in done else []
        path += [first] if waiting else []
        while waiting:  # no recursion: a thousand questions may stand in a row
            current, others = waiting[-1]
            following = next((one for one in others if one in by_id and one not in done), None)
            if following is None:
                done.add(current)
                waiting.pop()
                path.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            else:
                path.append(following)
                waiting.append((following, iter(by_id[following].depends_on)))
    return []


def told_of(question: Question, answers: Mapping[str, Known]) -> Question:
    """The question with the answers that it builds on in its context, each in a fence that it cannot close."""
    parts = [question.context] if question.context.strip() else []
    length = len(question.text) + len(question.context) + sum(map(len, question.choices))
    room = max(0, (LONGEST_QUESTION - length) // max(1, len(question.depends_on)) - _FRAME)
    for one in question.depends_on:
        known = answers[one]
        by = known.answer.agent or "a human"
        content = known.answer.content
        if len(content) > room:
            content = (
                f"{content[:room]}\n[Shortened: {len(content):,} characters; the whole answer is in the log]"
            )
        parts.append(
            f"Answered before ({one}):\n\n{fenced(known.text[:_SHOWN])}\n\nThe answer of {by}:\n\n{fenced(content)}"
        )
    return question.model_copy(update={"context": "\n\n".join(parts)})


def answered(journal: Journal, wanted: Mapping[str, set[str]]) -> dict[str, Known]:
    """The questions that were accepted, or answered by a human, with their latest answers.

    Args:
        journal: the record.
        wanted: their ids, by feature.
    """
    found: dict[str, Known] = {}
    for feature_id, ids in wanted.items():
        texts: dict[str, str] = {}
        received: dict[tuple[str, str], Answer] = {}
        for event in _events(journal, feature_id):
            data = event.data
            one = data.get("question_id", "")
            if one not in ids:
                continue
            if event.kind == "question.asked":
                texts[event.run] = data["text"]
            elif event.kind == "answer.received":
                fields = {name: value for name, value in data.items() if name in Answer.model_fields}
                received[event.run, data["agent"]] = Answer.model_validate(fields)
            elif event.kind == "exchange.finished" and data["status"] in FINAL:
                answer = received.get((event.run, data["agent"]))  # of several, the one that was gone on with
                found |= {} if answer is None else {one: Known(texts.get(event.run, ""), answer)}
    return found


def _events(journal: Journal, feature_id: str) -> Iterator[Event]:
    after = 0
    while page := journal.entries(feature=feature_id, after=after, limit=_PAGE):
        yield from (event for _, event in page)
        after = page[-1][0]
