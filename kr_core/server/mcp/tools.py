"""The work behind each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.model import ResearchRequest
from kr_core.model.lessons import PHASES
from kr_core.server.mcp import reply_text
from kr_core.server.mcp.elicitation import CANNOT_ASK, ElicitationResult, Human
from kr_core.server.mcp.resources import entry_of, found, report_of
from kr_core.server.mcp.search_task import task_of
from kr_core.server.mcp.text_pages import fitted, page_of
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_types import InputRequiredResult

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.model import Entry, Fault
    from kr_core.model.questions import AskResult
    from kr_core.qalog.reader import LoggedExchange
    from kr_core.server.mcp import tool_arguments
    from kr_core.server.served_project import ServedProject

__all__ = ["ToolReply", "Tools"]

PER_PAGE = 20
"""Entries and exchanges on a page, unless it is to be short."""
_TOKENS_EACH = 400
"""That an entry or an exchange takes at most, or so."""
_MAX_CELL_LENGTH = 300
_MAX_WAITING = 20
"""Characters of a question or an answer in a list of exchanges."""


class ToolReply(NamedTuple):
    """What a tool says: in words, and as plain values in the published shape."""

    text: str
    values: dict[str, Any] | None = None
    failed: bool = False


class Tools:
    """The tools; each takes its arguments and the human at the client.

    Args:
        project: what they work on.
    """

    def __init__(self, project: ServedProject) -> None:
        self._project = project

    # -- research and knowledge -----------------------------------------------------------------------------

    async def research(self, given: tool_arguments.ResearchArguments, _human: Human) -> ToolReply:
        """Answer a question from the knowledge base or the sources."""
        options = given.model_dump(exclude={"question"}, exclude_none=True, exclude_defaults=True)
        service = await self._project.service()
        pipeline = service.pipeline
        result = (await service.research(given.question, **options)).result
        task = None
        if result.status != "failure" and given.max_calls != 0:  # which stays on this machine
            request = await shielded(lambda: pipeline.request(given.question, **options))
            task = task_of(result, request.query) if isinstance(request, ResearchRequest) else None
        values = {**result.to_dict(), **({} if task is None else {"search_this": task})}
        return ToolReply(reply_text.researched(result, task), fitted(values), result.status == "failure")

    async def expedition(self, given: tool_arguments.ExpeditionArguments, _human: Human) -> ToolReply:
        """Research a large question, or go on with an expedition that was begun."""
        from kr_core.server.mcp.expedition_tool import researched

        finished = await researched(await self._project.pipeline(), given)
        return ToolReply(
            reply_text.expedition(finished), fitted(finished.model_dump(mode="json"), given.max_tokens)
        )

    async def research_request(
        self, given: tool_arguments.ResearchRequestArguments, _human: Human
    ) -> ToolReply:
        """Answer a team's request, by the same handler as `kr team`."""
        resident = await self._project.resident()
        values = await resident.research(
            given.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        )
        return ToolReply(
            reply_text.requested(values), reply_text.shortened(values), reply_text.is_failure(values)
        )

    async def search_knowledge(
        self, given: tool_arguments.SearchKnowledgeArguments, _human: Human
    ) -> ToolReply:
        """List the reports that are about some words."""
        store = (await self._project.pipeline()).store
        entries, notes = await shielded(
            lambda: found(store, given.question, given.framework, archived=given.archived)
        )
        shown, pages = _page(entries, given)
        lines = [reply_text.entry_line(one) for one in shown] or [
            "Nothing was found. `research` may find an answer."
        ]
        lines += notes
        if shown:
            lines += ["", "Read one: get_report(report=PATH)."]
        values = {
            "found": [_entry(one) for one in shown],
            "total": len(entries),
            "page": given.page,
            "pages": pages,
        }
        return ToolReply("\n".join([*lines, *_more(given.page, pages)]), fitted(values, given.max_tokens))

    async def get_report(self, given: tool_arguments.GetReportArguments, _human: Human) -> ToolReply:
        """Give a kept report, page by page."""
        store = (await self._project.pipeline()).store
        entry, report = await shielded(lambda: report_of(store, given.report))
        page = page_of(printable(report), given.page, given.max_tokens)
        if page.number > page.of:
            raise ConfigError(f"has {page.of} pages", where=entry.path, hint=f"ask for page 1 to {page.of}")
        values = {**_entry(entry), "text": page.text, "page": page.number, "pages": page.of}
        return ToolReply(
            "\n".join([page.text.rstrip("\n"), *_more(page.number, page.of)]), fitted(values, None)
        )

    async def reject_answer(self, given: tool_arguments.RejectAnswerArguments, _human: Human) -> ToolReply:
        """Take an answer that is wrong out of the knowledge base."""
        from kr_core.research.rejection import reject

        pipeline = await self._project.pipeline()

        def rejected() -> tuple[Entry, tuple[str, ...]]:
            entry = entry_of(pipeline.store, given.report)
            return entry, reject(pipeline.components, entry, given.why)

        entry, notes = await shielded(rejected)
        values = {"rejected": entry.id, "report": entry.path, "notes": [*notes]}
        return ToolReply(
            printable("\n".join([f"Taken out: {entry.id} {entry.path}", *notes])), fitted(values)
        )

    # -- lessons --------------------------------------------------------------------------------------------

    async def lessons(self, given: tool_arguments.LessonsArguments, _human: Human) -> ToolReply:
        """Hand out the lessons of a phase."""
        known = (await self._project.pipeline()).lessons
        result = await shielded(
            lambda: known.inject(given.phase, framework=given.framework, topic=given.topic, text=given.text)
        )
        said = [_of_phase(fault) for fault in result.errors] or list(result.results.notes)
        text = result.results.injection_block or "; ".join(said)
        return ToolReply(printable(text), fitted(result.to_dict()), result.status == "failure")

    async def record_lesson(self, given: tool_arguments.RecordLessonArguments, _human: Human) -> ToolReply:
        """Record a lesson."""
        known = (await self._project.pipeline()).lessons
        done = await shielded(
            lambda: known.add(given.summary, phase=given.phase, tags=given.tags, ref=given.ref)
        )
        said = "Recorded" if done.added else "Known already"
        values = {
            "added": done.added,
            "lesson": done.lesson.model_dump(mode="json"),
            "notes": list(done.notes),
        }
        return ToolReply(printable(f"{said}: {done.lesson.summary}"), fitted(values))

    # -- questions ------------------------------------------------------------------------------------------

    async def ask(self, given: tool_arguments.AskArguments, human: Human) -> ToolReply | InputRequiredResult:
        """Ask an agent, and the human where no agent is sure enough."""
        from kr_core.model.questions import GENERAL, Question

        service = await self._project.service()
        if human.case:  # the question was asked in the round before
            return await self._settled(service, human.case, human)
        result = await service.ask(
            Question(
                text=given.question,
                topic=given.topic,
                suggested_target=given.target,
                feature_id=given.feature_id or GENERAL,
                context=given.context,
                choices=given.choices,
            )
        )
        if result.status == "escalated" and result.escalation is not None and human.reachable:
            return await self._settled(service, result.escalation.id, human)
        return _answered(service, result, "" if human.reachable else CANNOT_ASK)

    async def answer_escalation(
        self, given: tool_arguments.AnswerEscalationArguments, human: Human
    ) -> ToolReply | InputRequiredResult:
        """Ask the human to decide a case that waits; say what was decided of one that does not."""
        service = await self._project.service()
        name = given.escalation_id or human.case or await self._only_one(service)
        result = await shielded(lambda: service.result_of(name))
        if result.status == "escalated" and not human.reachable:
            hint = (
                f"a human answers it: {_where(service, name)}."
                " Do not decide it yourself; go on with other work and look again later"
            )
            raise ConfigError(CANNOT_ASK, where=name, hint=hint)
        return await self._settled(service, name, human)

    @staticmethod
    async def _only_one(service: AsyncKnowledgeRouterService) -> str:
        waiting = await shielded(
            lambda: service.cases.ids()[0]
        )  # the journal may have to be opened, which is a file
        if len(waiting) == 1:
            return waiting[0]
        if not waiting:
            raise ConfigError("no question waits for a human", hint="go on")
        more = len(waiting) - _MAX_WAITING
        ids = ", ".join(waiting[:_MAX_WAITING]) + (f" and {more} more" if more > 0 else "")
        raise ConfigError(
            "several questions wait for a human", hint=f"give the id of one as `escalation_id`: {ids}"
        )

    @staticmethod
    async def _settled(
        service: AsyncKnowledgeRouterService, name: str, human: Human
    ) -> ToolReply | InputRequiredResult:
        came = await human.settle(service, name)
        return _answered(service, came.result, came.message) if isinstance(came, ElicitationResult) else came

    async def qa_log(self, given: tool_arguments.QaLogArguments, _human: Human) -> ToolReply:
        """Show what was asked and answered, the latest first."""
        from kr_core.qalog.reader import LogFilter, exchanges

        pipeline = await self._project.pipeline()
        wanted = LogFilter(
            given.feature_id, given.exchange_id, agent=given.agent, topic=given.topic, text=given.text
        )
        listed = await shielded(lambda: exchanges(pipeline.journal, wanted)[::-1])
        if given.exchange_id:
            return await self._exchange(given, listed)
        shown, pages = _page(listed, given)
        lines = [reply_text.exchange_line(one) for one in shown] or ["Nothing is on the record."]
        if shown:
            lines += ["", "All of one: qa_log(exchange_id=ID)."]
        values = {
            "exchanges": [_exchange(one, _MAX_CELL_LENGTH) for one in shown],
            "total": len(listed), "page": given.page, "pages": pages,
        }  # fmt: skip
        return ToolReply("\n".join([*lines, *_more(given.page, pages)]), fitted(values, given.max_tokens))

    async def _exchange(
        self, given: tool_arguments.QaLogArguments, listed: Sequence[LoggedExchange]
    ) -> ToolReply:
        from kr_core.qalog.reader import LogFilter, entries

        if not listed:
            raise ConfigError("is not on the record", where=given.exchange_id, hint="qa_log() lists what is")
        pipeline = await self._project.pipeline()
        told = await shielded(lambda: list(entries(pipeline.journal, LogFilter(exchange=given.exchange_id))))
        page = page_of("\n".join(map(reply_text.log_entry, told)), given.page, given.max_tokens)
        values = {
            "exchanges": [_exchange(one, None) for one in listed],
            "total": len(listed), "page": given.page, "pages": page.of,
        }  # fmt: skip
        return ToolReply(
            "\n".join([page.text, *_more(given.page, page.of)]), fitted(values, given.max_tokens)
        )

    # -- tasks ----------------------------------------------------------------------------------------------

    async def dispatch_task(self, given: tool_arguments.DispatchTaskArguments, _human: Human) -> ToolReply:
        """Start a task."""
        from kr_core.server.mcp.task_tools import dispatched, task_lines

        values = await dispatched(await self._project.service(), given)
        return ToolReply(printable("\n".join(task_lines(values))), fitted(values))

    async def get_agent_status(
        self, given: tool_arguments.GetAgentStatusArguments, _human: Human
    ) -> ToolReply:
        """Say how far a task is."""
        from kr_core.server.mcp.task_tools import status_values, task_lines

        values = await status_values(await self._project.service(), given.handle)
        return ToolReply(printable("\n".join(task_lines(values))), fitted(values))


# -- shapes ----------------------------------------------------------------------------------------------------


def _answered(service: AsyncKnowledgeRouterService, result: AskResult, said: str = "") -> ToolReply:
    where = "" if result.escalation is None else _where(service, result.escalation.id)
    waits = reply_text.waiting(result, said, where)
    values = result.to_dict()
    values["notes"] = [*waits, *values["notes"]]
    return ToolReply(reply_text.answered(result, waits), fitted(values), result.status == "failed")


def _where(service: AsyncKnowledgeRouterService, name: str) -> str:
    """Where a human answers a case."""
    channels = service.pipeline.config.settings.escalations
    told = f"it was sent to {', '.join(map(str, channels))}, and " if channels else ""
    return f"{told}`kr inbox show {name}` shows it in the project's folder"


def _of_phase(fault: Fault) -> str:
    known = f"; use one of {', '.join(PHASES)}" if fault.field == "lessons_inject.phase" else ""
    return f"{fault.message}{known}"


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "framework": entry.framework,
        "version": entry.framework_version,
        "topic": entry.topic,
        "tags": list(entry.tags),
        "path": entry.path,
        "status": entry.status,
        "created": entry.created.isoformat(),
    }


def _exchange(one: LoggedExchange, most: int | None) -> dict[str, Any]:
    question, answer = (
        text if most is None else reply_text.brief(text, most) for text in (one.question, one.answer)
    )
    return {
        "exchange_id": one.id,
        "parent_id": one.parent_id,
        "time": one.time.isoformat(),
        "feature_id": one.feature_id,
        "topic": one.topic,
        "agents": list(one.agents),
        "confidence": one.confidence,
        "threshold": one.threshold,
        "result": one.result,
        "escalation_id": one.escalation_id,
        "question": question,
        "answer": answer,
    }


def _page(
    listed: Sequence[Any], given: tool_arguments.SearchKnowledgeArguments | tool_arguments.QaLogArguments
) -> tuple[Sequence[Any], int]:
    each = max(1, min(PER_PAGE, given.max_tokens // _TOKENS_EACH))
    pages, number = max(1, -(-len(listed) // each)), given.page
    if number > pages:
        raise ConfigError(
            f"there are {pages} pages", where=f"page {number}", hint=f"ask for page 1 to {pages}"
        )
    return listed[(number - 1) * each : number * each], pages


def _more(number: int, pages: int) -> list[str]:
    if number >= pages:
        return []
    return ["", f"[Page {number} of {pages}. The rest: the same call with page={number + 1}.]"]
