"""Questions as runs that workers take: the run is a document of the journal, and the runtime only hands out its id.

A run ends where its question waits for a human; the upkeep applies the reply. What is queued twice, or
handed out again after its worker died, comes to one result: the first that is stored.
"""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kr_core.agents.exchange import key, redact_question
from kr_core.aio import shielded
from kr_core.errors import ConfigError, StorageError
from kr_core.escalation.serialization import document_of, read
from kr_core.model.questions import AskResult, Question
from kr_core.protocols import Document, QueuedRun

if TYPE_CHECKING:
    from concurrent.futures import Future

    from kr_core.agents.question_dispatch import AgentDispatcher
    from kr_core.ask.workflow import AskWorkflow
    from kr_core.escalation.case import Case
    from kr_core.escalation.case_repository import CaseRepository
    from kr_core.escalation.manager import EscalationManager
    from kr_core.model.event import Event
    from kr_core.protocols import Journal, Runtime
    from kr_core.research.pipeline import Pipeline

__all__ = ["ASK", "QuestionRuns"]

ASK = "ask"
"""The queue of the questions."""
_KIND = "run"
_QUEUED, _RUNNING, _ENDED = "queued", "running", "ended"
_LOOK_SECONDS, _LONGEST_LOOK = 0.02, 0.5
"""Between two looks whether a run has ended."""
_WARN_SECONDS = 5.0
"""How long a question waits for a worker until KR says so."""
_UNTAKEN_SECONDS = 120.0
"""How long a question for a human waits for a worker; one for an agent waits as long as that may take."""

_logger = logging.getLogger(__name__)


class QuestionRuns:
    """The questions that wait for workers, or are with one.

    Args:
        pipeline: the project's.
        runtime: hands them out.
        dispatcher: checks them.
        manager: knows which wait for a human.
        cases: those.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        runtime: Runtime,
        dispatcher: AgentDispatcher,
        manager: EscalationManager,
        cases: CaseRepository,
    ) -> None:
        self._pipeline = pipeline
        self._runtime = runtime
        self._dispatcher = dispatcher
        self._manager = manager
        self._cases = cases

    async def ask(self, question: Question) -> AskResult:
        """Queue a question, unless it is queued under its id, and wait for what comes of it.

        Where no worker takes it, a warning says so soon, and the result is `failed` after the time limit of its agent. The
        question stays queued.

        Raises:
            ConfigError: the question or the configuration is wrong, here or where it was taken.
            StorageError: the journal or the runtime cannot be used.
        """
        run = await self.submit(question)
        loop = asyncio.get_running_loop()
        pause, began, warned = _LOOK_SECONDS, loop.time(), False
        route, _ = await shielded(lambda: self._dispatcher.route(redact_question(question)))
        profile = self._pipeline.components.table().agents.get(route.agent or "")
        limit = _UNTAKEN_SECONDS if profile is None else profile.timeout_seconds
        while True:
            document = await self._document(run)
            if document is not None and document.status == _ENDED:
                return await self._result(document)
            waited = loop.time() - began
            if document is not None and document.status == _QUEUED and waited >= min(limit, _WARN_SECONDS):
                note = f"no worker has taken it for {waited:.0f} s; start `kr worker`"
                if not warned:
                    _logger.warning("question %s: %s", question.id, note)
                    warned = True
                if waited >= limit:
                    return AskResult(
                        exchange_id=run,
                        question_id=question.id,
                        status="failed",
                        route=route,
                        threshold=route.threshold,
                        notes=(note,),
                    )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)

    async def submit(self, question: Question) -> str:
        """Queue a question; the id of its run, which is the same for the same feature and id.

        Raises:
            ConfigError: the question is wrong, or another one has its id.
            StorageError: the journal or the runtime cannot be used.
        """
        await asyncio.to_thread(self._dispatcher.check, question)
        clean = redact_question(question)
        run = _run_of(clean)
        data = {"question": clean.model_dump(mode="json")}
        document = Document(_KIND, run, _QUEUED, 1, data)
        if await self._changed(document):
            await self._runtime.submit(QueuedRun(run, ASK))
            return run
        known = await self._document(run)
        assert known is not None, "it could not be new"
        if known.data["question"]["text"] != clean.text:
            raise ConfigError(
                "another question has this id",
                where=f"question {clean.id!r}",
                hint="give it an id of its own",
            )
        if self._is_to_be_asked_again(known):
            await self._changed(Document(_KIND, run, _QUEUED, known.version + 1, data))
        elif known.status == _ENDED:
            return run
        await self._runtime.submit(
            QueuedRun(run, ASK)
        )  # the process that stored it may have died before it did
        return run

    @staticmethod
    def _is_to_be_asked_again(document: Document) -> bool:
        """Whether a run came to nothing: there was an error, no agent, or a question before it that waits for a human."""
        if document.status != _ENDED:
            return False
        result = document.data.get("result")
        if result is None or result["status"] == "failed":
            return True
        asked = document.data["question"]
        return bool(result["status"] == "escalated" and result["escalation"]["question"]["id"] != asked["id"])

    async def sweep(self) -> None:
        """Queue the runs again that have not ended: the runtime may have lost them, or never heard of them.

        Raises:
            StorageError: the journal or the runtime cannot be used.
        """
        journal = self._pipeline.journal
        for document in await shielded(
            lambda: (*journal.documents(_KIND, _QUEUED), *journal.documents(_KIND, _RUNNING))
        ):
            await self._runtime.submit(QueuedRun(document.key, ASK))

    async def perform(self, run: QueuedRun, workflow: AskWorkflow) -> None:
        """Take a run to its end, or to where it waits for a human; nothing is done for one that has ended.

        Raises:
            StorageError: the journal cannot be used, or another worker has taken the run over.
        """
        document = await self._document(run.id)
        if document is None or document.status == _ENDED:
            return
        question = Question.model_validate(document.data["question"])
        holder = uuid4().hex
        mine = Document(_KIND, run.id, _RUNNING, document.version + 1, {**document.data, "holder": holder})
        if not await self._changed(mine):
            raise StorageError("another worker has taken it", where=run.id, hint="it does the work")

        claim = _WorkerClaim(self._pipeline.journal, mine)
        reserved = mine.data.get("case")
        try:
            if reserved is None:
                result = await workflow.resume(question, claim)
            else:  # a worker that died since has decided so
                result = await shielded(lambda: self._manager.take_over(read(Document(*reserved))))
        except ConfigError as error:
            ended: dict[str, Any] = {"what": error.what, "where": error.where, "hint": error.hint}
            data = {"question": mine.data["question"], "error": ended}
        else:
            data = {"question": mine.data["question"], "result": result.model_dump(mode="json")}
        await self._changed(Document(_KIND, run.id, _ENDED, claim.document.version + 1, data))

    async def _result(self, document: Document) -> AskResult:
        error = document.data.get("error")
        if error is not None:
            raise ConfigError(error["what"], where=error["where"], hint=error["hint"])
        result = AskResult.model_validate(document.data["result"])
        if result.status != "escalated" or result.escalation is None:
            return result
        case = result.escalation
        if key(case.question) != key(Question.model_validate(document.data["question"])):
            return result  # it is held up by another question, which waits
        return await shielded(lambda: self._manager.result_of(self._cases.get(case.id)))

    async def _document(self, run: str) -> Document | None:
        return await shielded(lambda: self._pipeline.journal.document(_KIND, run))

    async def _changed(self, document: Document) -> bool:
        return await shielded(lambda: self._pipeline.journal.change(document))


def _run_of(question: Question) -> str:
    targets = (question.suggested_target or "", *question.also)
    return sha256("\x00".join((*key(question), *targets)).encode()).hexdigest()


class _WorkerClaim:
    """A worker's claim to a run: the latest version of its document, which each decision must follow.

    Args:
        journal: where the run is.
        document: by which the worker has taken it.
    """

    def __init__(self, journal: Journal, document: Document) -> None:
        self._journal = journal
        self.document = document

    def end(self, events: tuple[Event, ...]) -> Future[None]:
        """Keep how the exchange has ended, in one transaction with the run."""
        kept = shielded(lambda: self._follow(self.document.data, events))
        return asyncio.run_coroutine_threadsafe(kept, asyncio.get_running_loop())

    def reserve(self, case: Case) -> None:
        """Keep the whole case with the run, so that a worker that takes over opens the same one.

        Raises:
            StorageError: another worker has taken the run over.
        """
        self._follow({**self.document.data, "case": list(document_of(case))})

    def _follow(self, data: dict[str, Any], events: tuple[Event, ...] = ()) -> None:
        document = self.document._replace(version=self.document.version + 1, data=data)
        if not self._journal.change(document, events):
            raise StorageError(
                "another worker has taken it over", where=document.key, hint="it does the work"
            )
        self.document = document
