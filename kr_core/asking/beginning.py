"""How an exchange begins: what its question builds on is known, and the journal is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.asking import depends
from kr_core.net.egress import redacted
from kr_core.pipeline.running import to_its_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.asking.answering import Asking
    from kr_core.asking.depends import Key, Known
    from kr_core.asking.escalating import Escalating
    from kr_core.asking.exchange import Exchange
    from kr_core.model.questions import AskResult, Question
    from kr_core.model.routing import Route
    from kr_core.pipeline.pipeline import Pipeline

__all__ = ["Beginning"]


class Beginning:
    """Begins exchanges in an event loop.

    Args:
        pipeline: the project's.
        asking: opens them.
        escalating: knows which questions wait for a human.
    """

    def __init__(self, pipeline: Pipeline, asking: Asking, escalating: Escalating) -> None:
        self._pipeline = pipeline
        self._asking = asking
        self._escalating = escalating
        self._ready = False

    async def begun(self, question: Question) -> Exchange:
        """An exchange about a question, on the record and routed.

        Raises:
            ConfigError: the question is too long, or names a target that there is not; nothing is on the record.
        """
        if not self._ready:  # the first one opens the journal, which is a file
            await to_its_end(lambda: self._pipeline.journal)
            self._ready = True
        return self._asking.begin(question)

    async def answered(self, question: Question) -> Known | None:
        """The latest answer that a question has under its id; None where there is none, or it is another question's."""
        one = depends.key(question)
        known = (await to_its_end(lambda: depends.answered(self._pipeline.journal, [one]))).get(one)
        return known if known and known.route and known.text == redacted(question.text) else None

    async def put_off(self, question: Question, escalation_id: str) -> tuple[str, Route] | None:
        """The exchange in which a question under its own id was put off because of a case already, and its route."""
        if "id" not in question.model_fields_set:
            return None
        return await to_its_end(lambda: depends.put_off(self._pipeline.journal, question, escalation_id))

    async def before(self, questions: Sequence[Question]) -> tuple[dict[Key, Known], dict[Key, AskResult]]:
        """What questions depend on that are not among them: those answered before, and those that wait for a human.

        Raises:
            ConfigError: another question waits for a human under the id of one.
        """
        wanted = depends.missing(questions)
        known: dict[Key, Known] = {}
        if wanted:
            known = await to_its_end(lambda: depends.answered(self._pipeline.journal, wanted))
        named = [question for question in questions if "id" in question.model_fields_set]
        left = wanted - known.keys()
        waiting = await self._escalating.waiting_of(named, left) if named or left else []
        held = {depends.key(case.request.question): self._escalating.result_of(case) for case in waiting}
        return known, {one: result for one, result in held.items() if one in left}
