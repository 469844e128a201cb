"""The tools as clients see them: names, descriptions, schemas. Each description says when to call the tool, and when not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_types import Tool, ToolAnnotations

from kr_core.model import ResearchResult
from kr_core.model.expedition import Axiom
from kr_core.model.lessons import Lesson, LessonsResult
from kr_core.server.mcp import search_task, tool_arguments, tool_schemas

if TYPE_CHECKING:
    from kr_core.server.mcp.tool_schemas import Schema

__all__ = ["ARGUMENTS", "tools"]


class _Entry(NamedTuple):
    """A tool, but for its schemas."""

    title: str
    takes: type[tool_arguments.Arguments]
    description: str
    reads: bool
    """It changes nothing that anybody would miss."""
    outside: bool = False
    """It may ask services outside the machine."""


_TOOLS = {
    "research": _Entry(
        "Research a library",
        tool_arguments.ResearchArguments,
        "Look up how a library, framework or API works, in the version that this project has installed, and get an answer"
        " with numbered sources and a confidence. Call it before you write or change code that uses an API you are not certain"
        " of: names, parameters, defaults, behaviour, migration. Say in `names` what you would reach for: its documentation comes first."
        " You get the documentation itself, passage by passage. The answer is kept, so a repeated question is free."
        " Where KR has no answer, `search_this` says what you may search the web for, and how to hand back what you find."
        " Not for decisions (use `ask`), and not for questions about this project's own code.",
        reads=False,
        outside=True,
    ),
    "research_request": _Entry(
        "Research the questions of a story",
        tool_arguments.ResearchRequestArguments,
        "Have several questions about libraries researched at once, for a story: the same as `research` for each, with one budget"
        " of external calls for the story. Call it when a story begins and you know what you will need; for one question use"
        " `research`.",
        reads=False,
        outside=True,
    ),
    "expedition": _Entry(
        "Research a large question",
        tool_arguments.ExpeditionArguments,
        "Research a question that one look-up cannot answer, over all sources, in cycles until no new facts turn up: each fact with"
        " what says it, conflicts side by side. It takes seconds to minutes. Call it for surveys and comparisons across libraries"
        " or versions; for one thing about one library use `research`, which is quicker.",
        reads=False,
        outside=True,
    ),
    "ask": _Entry(
        "Ask for a decision",
        tool_arguments.AskArguments,
        "Ask who may decide something that is not yours to decide: architecture, security, data, product, cost. The question"
        " goes to the agent that the project's rules name; an answer that is sure enough is `accepted`, otherwise a human is"
        " asked and the result is `answered`, or `escalated` while it waits. Build on accepted and answered ones only."
        " Not for how a library works (use `research`).",
        reads=False,
        outside=True,
    ),
    "lessons": _Entry(
        "Lessons of a phase",
        tool_arguments.LessonsArguments,
        "Get what went wrong before in a phase of work, as a short list of warnings. Call it when a phase begins.",
        reads=True,
    ),
    "record_lesson": _Entry(
        "Record a lesson",
        tool_arguments.RecordLessonArguments,
        "Record what went wrong and how to avoid it, for whoever works in the same phase next time. Call it after a mistake that"
        " one sentence would have prevented; not for progress or plans. The same lesson is not recorded twice.",
        reads=False,
    ),
    "search_knowledge": _Entry(
        "Search the knowledge base",
        tool_arguments.SearchKnowledgeArguments,
        "List the reports of earlier research that are about some words. It asks nobody and finds only what was researched"
        " before; to have a question answered use `research`, which looks here first by itself.",
        reads=True,
    ),
    "get_report": _Entry(
        "Read a report",
        tool_arguments.GetReportArguments,
        "Read a report of earlier research in full, page by page: details, code examples, all sources. Call it when the summary"
        " that `research` gave is not enough.",
        reads=True,
    ),
    "reject_answer": _Entry(
        "Reject an answer",
        tool_arguments.RejectAnswerArguments,
        "Say that an answer of `research` is wrong. Call it when the code that you ran, or the installed source, shows that it is."
        " The answer leaves the knowledge base, so that it misleads no one after you; its report and your reason stay on record."
        " Not for an answer that is only short or old: ask again with `refresh`.",
        reads=False,
    ),
    "qa_log": _Entry(
        "Read the record",
        tool_arguments.QaLogArguments,
        "See what was asked with `ask`, who answered, and what was decided, the latest first. Call it before you ask something"
        " that may have been decided already.",
        reads=True,
    ),
    "answer_escalation": _Entry(
        "Have the human answer",
        tool_arguments.AnswerEscalationArguments,
        "Show the human a question that waits for them (an `escalated` result of `ask`), so that they decide it; or learn what"
        " they have decided meanwhile. You cannot answer in their place: the tool takes no answer. It is refused where this"
        " client cannot ask its human.",
        reads=False,
    ),
    "dispatch_task": _Entry(
        "Dispatch a task",
        tool_arguments.DispatchTaskArguments,
        "Send a task to a specialist (tests, code, infrastructure, review), who works in a worktree of its own. It returns at once."
        " What keeps to the specialist's folders lands on the branch as a commit; all else is refused. Call it for a task of"
        " spec-kit's tasks.md, or one that you would hand over; not for what you do yourself.",
        reads=False,
        outside=True,
    ),
    "get_agent_status": _Entry(
        "See how far a task is",
        tool_arguments.GetAgentStatusArguments,
        "See whether a task that `dispatch_task` sent is queued, running, succeeded, failed, timed out or blocked by its scope, what"
        " landed, what was refused and why, and what its agent printed. A task takes minutes: do something else in between.",
        reads=True,
    ),
}

ARGUMENTS: dict[str, type[tool_arguments.Arguments]] = {name: entry.takes for name, entry in _TOOLS.items()}
"""What each tool is called with, by its name."""


@cache
def tools() -> tuple[Tool, ...]:
    """The tools with their schemas."""
    results = _results()
    return tuple(
        Tool(
            name=name,
            title=entry.title,
            description=entry.description,
            input_schema=tool_schemas.of_arguments(entry.takes),
            output_schema=results[name],
            annotations=ToolAnnotations(
                read_only_hint=entry.reads,
                destructive_hint=False,
                idempotent_hint=entry.reads,
                open_world_hint=entry.outside,
            ),
        )
        for name, entry in _TOOLS.items()
    )


_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _with_notes(**properties: Schema) -> Schema:
    """An object that has `notes` only where there is something to say."""
    made = _object(**properties)
    return {**made, "properties": {**properties, "notes": _TEXTS}}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _results() -> dict[str, Schema]:
    researched = tool_schemas.of_result(ResearchResult)
    asked = _object(
        exchange_id=_TEXT,
        question_id=_TEXT,
        status={"type": "string", "enum": ["accepted", "escalated", "answered", "expired", "failed"]},
        route=_object(target=_maybe(_TEXT), agent=_maybe(_TEXT), rule=_maybe(_TEXT), reason=_TEXT),
        answer=_maybe(
            _object(
                content=_TEXT,
                rationale=_TEXT,
                confidence=_NUMBER,
                raw_confidence=_NUMBER,
                calibration=_maybe(
                    _object(stage=_TEXT, calibrated=_maybe(_NUMBER), verdicts=_NUMBER, needed=_NUMBER)
                ),
                uncertainty_reasons=_TEXTS,
                agent=_TEXT,
                model=_TEXT,
                validated_by=_maybe(_TEXT),
                warning=_maybe(_TEXT),
            )
        ),
        threshold=_NUMBER,
        escalation=_maybe(_object(id=_TEXT, revision=_NUMBER, reason=_TEXT)),
        certificate=_maybe(_TEXT),
        notes=_TEXTS,
    )
    entry: dict[str, Any] = {
        "id": _TEXT, "framework": _TEXT, "version": _TEXT, "topic": _TEXT, "tags": _TEXTS, "path": _TEXT,
        "status": _TEXT, "created": _TEXT,
    }  # fmt: skip
    exchange = _object(
        exchange_id=_TEXT,
        parent_id=_maybe(_TEXT),
        time=_TEXT,
        feature_id=_TEXT,
        topic=_TEXT,
        agents=_TEXTS,
        confidence=_maybe(_NUMBER),
        threshold=_maybe(_NUMBER),
        result=_TEXT,
        escalation_id=_TEXT,
        question=_TEXT,
        answer=_TEXT,
    )
    task = _object(
        handle=_TEXT,
        title=_TEXT,
        role=_TEXT,
        commit=_TEXT,
        waits_for=_TEXTS,
        state=_TEXT,
        agent=_maybe(_TEXT),
        started=_maybe(_TEXT),
        finished=_maybe(_TEXT),
        error=_TEXT,
        log=_TEXT,
        changed=_TEXTS,
        refused=_TEXTS,
    )
    return {
        "research": {
            **researched,
            "properties": {**researched["properties"], "search_this": search_task.SCHEMA},
        },
        "research_request": _with_notes(
            story_key=_maybe(_TEXT),
            results=_list(
                _with_notes(
                    query=_TEXT,
                    status=_TEXT,
                    report_path=_maybe(_TEXT),
                    confidence=_maybe(_TEXT),
                    summary=_TEXT,
                )
            ),
            requesting_agent=_maybe(_TEXT),
            errors=_list(_object(type=_TEXT, message=_TEXT, field=_maybe(_TEXT))),
        ),
        "expedition": _object(
            id=_TEXT,
            query=_TEXT,
            reason=_TEXT,
            cycles=_NUMBER,
            axioms=_list(tool_schemas.of_result(Axiom)),
            sources=_TEXTS,
            answer=_TEXT,
        ),
        "ask": asked,
        "lessons": tool_schemas.of_result(LessonsResult),
        "record_lesson": _object(
            added={"type": "boolean"}, lesson=tool_schemas.of_result(Lesson), notes=_TEXTS
        ),
        "search_knowledge": _object(
            found=_list(_object(**entry)), total=_NUMBER, page=_NUMBER, pages=_NUMBER
        ),
        "get_report": _object(**entry, text=_TEXT, page=_NUMBER, pages=_NUMBER),
        "reject_answer": _object(rejected=_TEXT, report=_TEXT, notes=_TEXTS),
        "qa_log": _object(exchanges=_list(exchange), total=_NUMBER, page=_NUMBER, pages=_NUMBER),
        "answer_escalation": asked,
        "dispatch_task": task,
        "get_agent_status": task,
    }
