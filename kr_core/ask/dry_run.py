"""The questions of a feature asked again under another configuration, in a record of their own that is thrown away."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.agents.question_dependencies import PriorAnswer, own_context, told_of
from kr_core.ask.sync_service import KnowledgeRouterService
from kr_core.errors import ConfigError
from kr_core.model.questions import Answer, Question
from kr_core.model.routing import HUMAN
from kr_core.research import Pipeline
from kr_core.retro.logged_questions import read_questions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.config import Config
    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["asked_again"]

_FIELDS = ("topic", "text", "suggested_target", "context")
_LISTS = ("also", "choices", "depends_on")
_DECIDING = frozenset({"confirm", "correct", "choose", "chat"})


def asked_again(
    config: Config,
    feature: str,
    questions: Sequence[AskedQuestion],
    others: Sequence[AskedQuestion] = (),
    **components: Any,
) -> tuple[list[AskedQuestion], list[str]]:
    """What agents answer to questions under a configuration, with notes on those that were not asked.

    A question that builds on others is asked after them, with their new answers. Where the gate does not accept one of these,
    what a person decided about it counts: that is what would be built on again.

    Nothing is written to the project: not to its record, its inbox, its channels, its logs or its knowledge base.

    Args:
        config: the other configuration.
        feature: whose questions they are.
        questions: as the record has them.
        others: of the feature, that are not asked again; what people decided about them is built on.
        components: as of `Pipeline`, such as `agents`.

    Raises:
        ConfigError: no question can be asked under this configuration, such as one that is not trusted.
    """
    notes = []
    refused: dict[str, list[str]] = defaultdict(list)
    decided = {one.question_id: said for one in (*others, *questions) if (said := _decision(one)) is not None}
    came: dict[str, PriorAnswer] = {}
    with tempfile.TemporaryDirectory(prefix="kr-") as scratch:
        settings = config.settings.model_copy(update={"escalations": (), "logs": (), "hooks": ()})
        dry = replace(config, settings=settings, temporary_state=Path(scratch, ".kr"))
        with KnowledgeRouterService(Pipeline(dry, **components)) as service:
            for one in _in_order(questions):
                lost = next((name for name in _grounds(one) if name not in {**decided, **came}), None)
                if lost is not None:
                    notes.append(f"not asked: {one.question_id} builds on `{lost}`, which has no answer")
                    continue
                try:
                    result = service.ask(_question(feature, one, {**decided, **came}))
                except ConfigError as error:
                    refused[str(error)].append(one.question_id)
                    if len(refused[str(error)]) == len(questions):
                        raise
                    continue
                goes_on = result.status == "accepted" or one.question_id not in decided
                if result.answer is not None and goes_on:
                    came[one.question_id] = PriorAnswer(one.text, result.answer)
            notes += [f"not asked: {_named(names)}: {error}" for error, names in refused.items()]
            return read_questions(service.pipeline.journal, feature), notes


def _named(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} questions"


def _grounds(question: AskedQuestion) -> tuple[str, ...]:
    return tuple(question.data.get("depends_on") or ())


def _in_order(questions: Sequence[AskedQuestion]) -> list[AskedQuestion]:
    """Each after those that it builds on; those that build on each other come last, as they are."""
    waiting, ordered = list(questions), []
    while waiting:
        left = {one.question_id for one in waiting}
        ready = [one for one in waiting if left.isdisjoint(_grounds(one))]
        if not ready:
            break
        ordered += ready
        done = {one.question_id for one in ready}
        waiting = [one for one in waiting if one.question_id not in done]
    return [*ordered, *waiting]


def _decision(question: AskedQuestion) -> PriorAnswer | None:
    """What a person decided the first time; None where none did."""
    for reply in reversed(question.replies):
        confirmed = [one for one in question.rounds if one.verdict]
        content = confirmed[-1].content if reply.action == "confirm" and confirmed else reply.content
        if reply.action in _DECIDING and content.strip():
            answer = Answer(question_id=question.question_id, content=content, agent=HUMAN)
            return PriorAnswer(question.text, answer)
    return None


def _question(feature: str, asked: AskedQuestion, known: Mapping[str, PriorAnswer]) -> Question:
    """The question as it was asked, with the answers that it builds on as they are now."""
    data = asked.data
    fields = {key: data[key] for key in _FIELDS if data.get(key)}
    lists = {key: tuple(data[key]) for key in _LISTS if data.get(key)}
    question = Question.model_validate({"id": asked.question_id, "feature_id": feature, **fields, **lists})
    if not question.depends_on:
        return question
    own = question.model_copy(update={"context": own_context(question)})
    answers = {(feature, name): known[name] for name in question.depends_on}
    return told_of(own, answers).model_copy(update={"depends_on": ()})
