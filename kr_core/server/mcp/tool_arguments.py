"""What each tool is called with; a model of a client reads the descriptions, so each says when to give the argument."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, WithJsonSchema

from kr_core.model.base import Value, Whole
from kr_core.model.lessons import PHASES
from kr_core.model.questions import GENERAL
from kr_core.server.mcp.text_pages import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS

__all__ = [
    "AnswerEscalationArguments",
    "Arguments",
    "AskArguments",
    "DispatchTaskArguments",
    "ExpeditionArguments",
    "GetAgentStatusArguments",
    "GetReportArguments",
    "LessonsArguments",
    "QaLogArguments",
    "RecordLessonArguments",
    "ResearchArguments",
    "ResearchRequestArguments",
    "SearchKnowledgeArguments",
    "said_of",
]

_LISTED = 3


class Arguments(Value):
    """The arguments of a tool; an unknown one is an error, so that a misspelt one is never ignored."""

    model_config = ConfigDict(coerce_numbers_to_str=False)  # the number 2.10 is 2.1, and no version


Phase = Annotated[
    str,
    WithJsonSchema({"type": "string", "enum": list(PHASES)}),
    Field(description="What is being worked on."),
]
_Framework = Annotated[
    str | None,
    Field(
        description="The library asked about, by its package name, such as `httpx` or `@tanstack/react-query`."
        " Leave it out where the question names it."
    ),
]
_Story = Annotated[
    str | None,
    Field(
        description="The story that is worked on, such as `3-1`; external calls are counted for each story."
    ),
]
_Session = Annotated[
    str | None, Field(description="The session that the story's budget belongs to; any text, kept the same.")
]
_Page = Annotated[
    Whole, Field(ge=1, description="Which page of the answer; `pages` in the answer says how many there are.")
]
_MaxTokens = Annotated[
    Whole, Field(ge=MIN_TOKENS, le=MAX_TOKENS, description="The longest that a page may be, in tokens.")
]


class ResearchArguments(Arguments):
    """A question about a library."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            description="One question in English that names the library and what you want to do with it,"
            " such as `How do I set a timeout for a single request in httpx?`. Never put secrets or private code in it.",
        ),
    ]
    names: Annotated[
        tuple[str, ...],
        Field(
            description="What you would reach for, best first: up to 20 names of functions, classes or parameters that may be"
            " the answer, a parameter beside what takes it: `pandas.read_csv`, `usecols`. Always give one or two. Each is checked"
            " in the installed version: you get its documentation, or hear that it does not exist, with the nearest names."
        ),
    ] = ()
    framework: _Framework = None
    version: Annotated[
        str | None,
        Field(
            description="The version that you write for, as text, such as `2.10`."
            " Leave it out to use the version that the project has."
        ),
    ] = None
    topic: Annotated[
        str | None,
        Field(
            description="The topic to file the answer under, a few words. Leave it out to have it inferred."
        ),
    ] = None
    tags: Annotated[
        tuple[str, ...] | None, Field(description="Words by which the answer is found again; else inferred.")
    ] = None
    story_key: _Story = None
    session_id: _Session = None
    max_calls: Annotated[
        Whole | None,
        Field(
            ge=0, description="How many external calls this story may take in all; 0 stays on this machine."
        ),
    ] = None
    max_tokens: Annotated[
        Whole | None,
        Field(ge=1, le=MAX_TOKENS, description="How long the passages may be in all, in tokens; else 1,500."),
    ] = None
    refresh: Annotated[
        bool,
        Field(
            description="Ask the sources again though the answer is known; only where it seems wrong or old."
        ),
    ] = False


class ExpeditionArguments(Arguments):
    """A large question, or an expedition that was begun."""

    question: Annotated[
        str | None,
        Field(
            description="What is to be found out, in one sentence that can be understood without the conversation. Never put"
            " secrets or private code in it."
        ),
    ] = None
    expedition_id: Annotated[
        str | None,
        Field(
            description="An expedition that was begun, such as `X3`, in place of a question: what it found, or where it was"
            " ended before its end, going on with it."
        ),
    ] = None
    max_cycles: Annotated[
        Whole,
        Field(
            ge=2, le=10, description="How many cycles it may take, 2 to 10; most end sooner by themselves."
        ),
    ] = 10
    max_calls: Annotated[
        Whole, Field(ge=0, description="How many searches may leave this machine; 0 stays on it.")
    ] = 30
    max_tokens: _MaxTokens = DEFAULT_TOKENS


class AskArguments(Arguments):
    """A question of decision."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            description="What has to be decided, in one or two sentences that can be understood without the conversation.",
        ),
    ]
    topic: Annotated[
        str,
        Field(
            description="What it is about, such as `authentication`, `database` or `security/oauth`;"
            " it decides who is asked. Leave it out if nothing fits."
        ),
    ] = ""
    target: Annotated[
        str | None,
        Field(
            description="Who should answer: a role, an agent of the roster, or `human`. Leave it out to let the rules decide."
        ),
    ] = None
    feature_id: Annotated[
        str | None,
        Field(
            min_length=1,
            description="The feature that is worked on, any short text kept the same; the record can be read by it.",
        ),
    ] = None
    context: Annotated[
        str,
        Field(
            description="What the answerer must know and cannot see: constraints, what was tried, relevant code."
        ),
    ] = ""
    choices: Annotated[
        tuple[str, ...], Field(description="The options, if the answer has to be one of several.")
    ] = ()


class QueryArguments(Arguments):
    """One question of a team's request."""

    query: Annotated[str, Field(min_length=1, description="One question in English that names the library.")]
    framework: _Framework = None
    framework_version: Annotated[
        str | None, Field(description="The version asked about. Leave it out for the one in use.")
    ] = None
    topic: Annotated[str | None, Field(description="What it is about, in a few words.")] = None
    tags: Annotated[tuple[str, ...], Field(description="Words to find the answer by later.")] = ()
    priority: Annotated[
        str | None, Field(description="`high` is researched before others; else `normal` or `low`.")
    ] = None


class ResearchRequestArguments(Arguments):
    """The questions of a story, as a team's `RESEARCH_REQUEST` has them."""

    story_key: Annotated[str, Field(description="The story that is worked on, such as `3-1`.")]
    requesting_agent: Annotated[str, Field(description="Who asks; the result names it.")]
    queries: Annotated[
        tuple[QueryArguments, ...],
        Field(min_length=1, max_length=100, description="The questions; results come in this order."),
    ]


class LessonsArguments(Arguments):
    """A phase of work."""

    phase: Phase
    framework: Annotated[str, Field(description="The library that the work is about, if any.")] = ""
    topic: Annotated[str, Field(description="What the work is about, a few words.")] = ""
    text: Annotated[
        str, Field(description="The task itself; among lessons of one day those that fit it come first.")
    ] = ""


class RecordLessonArguments(Arguments):
    """A lesson."""

    summary: Annotated[
        str,
        Field(
            min_length=1,
            description="What to do or to avoid next time, in one sentence of at most some 150 characters.",
        ),
    ]
    phase: Phase
    tags: Annotated[
        tuple[str, ...], Field(description="Further tags, such as the story or the library.")
    ] = ()
    ref: Annotated[str | None, Field(description="Where to look, such as `src/app.py:12`.")] = None


class SearchKnowledgeArguments(Arguments):
    """Words to look for."""

    question: Annotated[
        str, Field(min_length=1, description="Words to look for in the kept reports: library, topic, names.")
    ]
    framework: Annotated[str | None, Field(description="Only reports about this library.")] = None
    archived: Annotated[bool, Field(description="Look among the archived reports instead.")] = False
    page: _Page = 1
    max_tokens: _MaxTokens = DEFAULT_TOKENS


class GetReportArguments(Arguments):
    """A report to read."""

    report: Annotated[
        str,
        Field(
            min_length=1,
            description="The report's id or path, as `research` (`cache_entry_id`, `report_path`) and `search_knowledge` give it.",
        ),
    ]
    page: _Page = 1
    max_tokens: _MaxTokens = DEFAULT_TOKENS


class RejectAnswerArguments(Arguments):
    """An answer that is wrong."""

    report: Annotated[
        str,
        Field(
            min_length=1,
            description="The answer's id or path, as `research` (`cache_entry_id`, `report_path`) gives it.",
        ),
    ]
    why: Annotated[
        str, Field(min_length=1, description="What is wrong with it, and how you know, in a sentence.")
    ]


class QaLogArguments(Arguments):
    """What of the record to read."""

    feature_id: Annotated[str, Field(description="Only this feature. Leave it out for all.")] = ""
    exchange_id: Annotated[
        str, Field(description="One exchange alone, with its whole question and answer; as `ask` gives it.")
    ] = ""
    topic: Annotated[str, Field(description="Only exchanges about this topic, or one below it.")] = ""
    agent: Annotated[str, Field(description="Only exchanges in which this agent or person had a part.")] = ""
    text: Annotated[str, Field(description="Only exchanges in which this text stands, in any case.")] = ""
    page: _Page = 1
    max_tokens: _MaxTokens = DEFAULT_TOKENS


class AnswerEscalationArguments(Arguments):
    """A case that waits; nothing in here can say what the human decides."""

    escalation_id: Annotated[
        str,
        Field(description="The case, such as `E7`, as `ask` gave it. Leave it out where only one waits."),
    ] = ""


class DispatchTaskArguments(Arguments):
    """A task for a specialist."""

    task: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100,
            pattern=r"^[^/]+$",
            description="The task's id, such as `T004`, without `/`; with `file`, as it is there.",
        ),
    ]
    file: Annotated[
        str,
        Field(
            max_length=4096,
            description="The project's tasks.md of spec-kit that has the task, such as `specs/001-login/tasks.md`. Its box is ticked"
            " when the work lands. Leave it out for a task of your own.",
        ),
    ] = ""
    title: Annotated[
        str, Field(max_length=2000, description="What is to be done, for a task of your own: one sentence.")
    ] = ""
    role: Annotated[
        str,
        Field(
            description="Who does it: `marie` (tests), `dede` (code), `gustave` (infrastructure), `degaulle` (review). Leave it out"
            " with `file` to go by the plan."
        ),
    ] = ""
    feature_id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="The feature of a task of your own; with `file` it is the file's.",
        ),
    ] = GENERAL
    paths: Annotated[
        tuple[Annotated[str, Field(max_length=4096)], ...],
        Field(
            max_length=100,
            description="The files that a task of your own is about, relative to the project.",
        ),
    ] = ()
    criteria: Annotated[
        tuple[Annotated[str, Field(max_length=2000)], ...],
        Field(max_length=100, description="When a task of your own is done, a sentence each."),
    ] = ()


class GetAgentStatusArguments(Arguments):
    """A task that was dispatched."""

    handle: Annotated[
        str,
        Field(
            min_length=1,
            max_length=400,
            description="The task, as `dispatch_task` gave it: `FEATURE/TASK`.",
        ),
    ]


def said_of(error: ValidationError) -> str:
    """What is wrong with arguments, for the model that gave them."""
    faults = error.errors(include_url=False, include_context=False)
    said = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in faults[:_LISTED]]
    more = len(faults) - _LISTED
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _place(location: tuple[Any, ...]) -> str:
    return f"`{'.'.join(map(str, location))}`" if location else "the arguments"
