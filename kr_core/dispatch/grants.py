"""Grants: a person lets one task change one path outside of its role's scope, by a case in the inbox.

A case opens only where grants would let the whole work land. What git and KR obey, and what the configuration denies, cannot be
granted.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kr_core.agents.question_dispatch import AgentDispatcher
from kr_core.aio import shielded
from kr_core.dispatch.record import GrantRequest
from kr_core.errors import ConfigError
from kr_core.escalation.case_repository import CaseUpdater
from kr_core.escalation.manager import EscalationManager
from kr_core.escalation.worker import EscalationWorker
from kr_core.model.execution_task import GRANT_TOPIC
from kr_core.model.questions import Question
from kr_core.model.routing import HUMAN, Route

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.dispatch.plan import PlannedTask
    from kr_core.dispatch.record import TaskRecord
    from kr_core.research import Pipeline

__all__ = ["MOST", "Decisions", "Grants"]

MOST = 5
"""Paths of one task that a person is asked about; an agent that changes more has lost its way."""
_CHOICES = ("yes", "no")
_PATCH = 8_000
"""Characters of the difference that the case shows."""


class Decisions(NamedTuple):
    """What people have said of the paths that a task asked for."""

    requests: tuple[GrantRequest, ...] = ()

    @property
    def granted(self) -> tuple[str, ...]:
        """The paths that the task may change."""
        return tuple(one.path for one in self.requests if one.answer == "yes")

    @property
    def denied(self) -> tuple[str, ...]:
        """The paths that a person has said no to."""
        return tuple(one.path for one in self.requests if one.answer == "no")

    @property
    def waiting(self) -> tuple[GrantRequest, ...]:
        """Those that no one has decided yet."""
        return tuple(one for one in self.requests if not one.answer)


class Grants:
    """Asks for grants, and reads what was decided.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._dispatcher = AgentDispatcher(pipeline)
        self._updater = CaseUpdater(pipeline)
        self._manager = EscalationManager(self._updater, EscalationWorker(self._updater))

    def decisions(self, record: TaskRecord | None, title: str, role: str) -> Decisions:
        """What was decided of the paths that the last attempt at a task asked for.

        Args:
            record: of that attempt; None if there was none.
            title: the task's title now: what is another task by now has no grants.
            role: who does it now: a yes to one opens nothing for another.

        Raises:
            StorageError: the journal cannot be read.
        """
        same = record is not None and (record.title, record.role) == (title, role)
        known = record.requests if record is not None and same else ()
        return Decisions(tuple(now for one in known if (now := self._now(one)) is not None))

    def _now(self, request: GrantRequest) -> GrantRequest | None:
        try:
            case = self._updater.cases.get(request.escalation)
        except ConfigError:  # the journal is another one
            return None
        if case.waits:
            return request.model_copy(update={"answer": ""})
        said = "" if case.answer is None else case.answer.content.strip().casefold()
        answer = "yes" if case.decided_by_person and said == "yes" else "no"
        return request.model_copy(update={"answer": answer})

    async def request(
        self, planned: PlannedTask, feature: str, patches: Mapping[str, str]
    ) -> tuple[list[GrantRequest], list[str]]:
        """Ask a person for paths.

        Args:
            planned: the task.
            feature: its feature.
            patches: what it would change, by each path that its role may not write.

        Returns:
            The cases that were opened, and notes.

        Raises:
            StorageError: the journal cannot be used.
        """
        requests: list[GrantRequest] = []
        notes: list[str] = []
        for path, patch in patches.items():
            question = _question(planned, feature, path, patch)
            known = await shielded(partial(self._updater.cases.latest_of, question.feature_id, question.id))
            if known is not None and known.waits:
                requests.append(GrantRequest(path=path, escalation=known.request.id))
                continue
            reason = f"`{path}` is outside of what {planned.assignment.role} may write"
            route = Route(target=HUMAN, reason=reason, threshold=0)
            try:
                exchange = self._dispatcher.begin(question, route=route)
            except ConfigError as error:
                notes.append(f"no one was asked about `{path}`: {error}")
                continue
            case = await self._manager.open(exchange, None, reason, 0)
            self._dispatcher.finish(exchange, "escalated" if case else "failed", None, 0, case)
            await exchange.settled()
            notes += exchange.notes
            if case is not None:
                requests.append(GrantRequest(path=path, escalation=case.id))
        return requests, notes


def _question(planned: PlannedTask, feature: str, path: str, patch: str) -> Question:
    """The same task, role and path are the same question."""
    task, role = planned.task, planned.assignment.role
    digest = hashlib.sha256(f"{task.title}\0{role}\0{path}".encode("utf-8", "replace")).hexdigest()[:12]
    shown = patch if len(patch) <= _PATCH else f"{patch[:_PATCH]}\n... ({len(patch)} characters)"
    return Question(
        id=f"{task.id}-grant-{digest}",
        feature_id=feature,
        topic=GRANT_TOPIC,
        text=f"May task {task.id} change `{path}`? It is outside of what {role} may write.",
        context=f"{task.id}: {task.title}\n\nA yes is for this task and this path alone. What the task would change there:\n\n{shown}",
        choices=_CHOICES,
    )
