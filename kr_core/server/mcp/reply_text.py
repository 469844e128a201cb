"""Results in words, for the model that called: short, with their sources, and with what to do next.

Some clients show their model the text of a result, others (Claude Code) its plain values alone; so neither leaves out what a
model has to know.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from kr_core.routing.table import UNKNOWN_TOPIC
from kr_core.server.mcp import search_task
from kr_core.server.mcp.text_pages import DEFAULT_TOKENS, fitted, tokens
from kr_core.terminal_text import fence_around, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.model import Entry, ResearchResult
    from kr_core.model.expedition import Finished
    from kr_core.model.questions import AskResult, QALogEntry
    from kr_core.model.research import ResultPassage
    from kr_core.qalog.reader import LoggedExchange

__all__ = [
    "answered",
    "brief",
    "entry_line",
    "exchange_line",
    "expedition",
    "in_arguments",
    "is_failure",
    "log_entry",
    "requested",
    "researched",
    "shortened",
    "waiting",
]

_MAX_SUMMARY_LENGTH = 12_000
_MAX_NOTES = 8
_MAX_NOTE_LENGTH = 400
_OPTION = re.compile(r"(?<![\w`-])--([a-z]+)(?![\w-])")


def researched(result: ResearchResult, task: Mapping[str, Any] | None = None) -> str:
    """A result of research; `task` is what an agent may search for where it is no answer."""
    results = result.results
    if result.status == "failure":
        return in_arguments(printable("; ".join(fault.message for fault in result.errors)))
    score = f" ({results.score}/100)" if results.score is not None else ""
    lines = [f"Status: {result.status}. Confidence: {results.confidence}{score}.", ""]
    if results.cache_hit and results.match is not None and results.match.question:
        lines += [f"Kept answer to: {brief(results.match.question, _MAX_NOTE_LENGTH)}", ""]
    if results.match is not None and results.match.warning:
        lines += [f"Warning: {results.match.warning}.", ""]
    lines += [brief(results.summary, _MAX_SUMMARY_LENGTH) or "Nothing was found.", ""]
    lines += _passages(results.passages)
    cited = [one for one in results.citations if f"[{one.n}]" in results.summary]
    if cited:
        lines += ["Sources:"]
        lines += [
            f"[{one.n}] {one.url} {one.locator}".rstrip() + (f" `{one.symbol}`" if one.symbol else "")
            for one in cited
        ]
        lines += [""]
    if results.report_path and not results.report_path.startswith(".kr/"):  # what was not found is all here
        lines += [f'All of it: get_report(report="{results.report_path}").']
    lines += _noted(results.degradation_notes)
    lines += _noted([fault.message for fault in result.errors])
    return printable(_within("\n".join([*lines, *search_task.lines(task)]).rstrip()))


def _passages(passages: Sequence[ResultPassage]) -> list[str]:
    """The documentation itself, each passage below what it describes and where it stands."""
    lines: list[str] = []
    for one in passages:
        version = f" ({one.version})" if one.version else ""
        lines += [f"Passage {one.n}: {one.symbol or one.kind}{version}, {one.url} {one.locator}".rstrip()]
        lines += [f"Deprecated: {brief(one.deprecated, _MAX_NOTE_LENGTH)}"] if one.deprecated else []
        fence = fence_around(one.text)  # in which nothing reads as a line of KR's own
        lines += ["", fence, one.text, fence, ""]
    return lines


def expedition(finished: Finished) -> str:
    """What an expedition has found."""
    lines = [
        f"{finished.id} ended after {finished.cycles} cycles by {finished.reason}: {len(finished.axioms)} axioms.",
        "",
        brief(finished.answer, _MAX_SUMMARY_LENGTH),
    ]
    return printable(_within("\n".join([*lines, *_noted(finished.notes)]).rstrip()))


def waiting(result: AskResult, said: str, where: str) -> list[str]:
    """What an agent has to know about a question that waits for a human; empty for another.

    Args:
        result: the question's.
        said: what came of asking the human now, if they were.
        where: where else they answer.
    """
    escalation = result.escalation
    if result.status != "escalated" or escalation is None:
        return []
    unruled = result.route.reason == UNKNOWN_TOPIC
    return [
        *([f"{escalation.id}: {said}"] if said else []),
        *(
            ["no rule is for its topic; if it asks how a library works, call `research` with it"]
            if unruled
            else []
        ),
        f"{escalation.id} waits for a human: {where}",
        f'do not decide it yourself: go on, and look again with answer_escalation(escalation_id="{escalation.id}")',
    ]


def answered(result: AskResult, waits: Sequence[str]) -> str:
    """A result of a question; `waits` says what to do about one that waits."""
    answer, escalation = result.answer, result.escalation
    lines: list[str] = []
    if waits and escalation is not None:
        lines += [f"Not decided: {escalation.reason}.", "", *(f"- {one}" for one in waits)]
        if answer is not None:
            lines += ["", f"Tentative answer of {answer.agent}, confidence {answer.confidence}:"]
            lines += ["", brief(answer.content, _MAX_SUMMARY_LENGTH)]
    elif answer is None:
        lines += ["No answer, and no channel to a human."]
    else:
        by = "a human" if answer.validated_by else answer.agent
        lines += [f"Decided by {by}, confidence {answer.confidence} of 100.", ""]
        lines += [brief(answer.content, _MAX_SUMMARY_LENGTH)]
        lines += ["", f"Why: {brief(answer.rationale, _MAX_SUMMARY_LENGTH)}"] if answer.rationale else []
    lines += ["", f'The record: qa_log(exchange_id="{result.exchange_id}").']
    lines += _noted(result.notes)
    return printable(_within("\n".join(lines)))


def entry_line(entry: Entry) -> str:
    """An entry of the knowledge base."""
    version = f" {entry.framework_version}" if entry.framework_version else ""
    return printable(f"- {entry.framework}{version}: {entry.topic} ({entry.status}), {entry.path}")


def exchange_line(one: LoggedExchange) -> str:
    """An exchange in the record."""
    who = ", ".join(one.agents) or "nobody yet"
    result = one.result or "under way"
    case = f" {one.escalation_id}" if one.escalation_id else ""
    question = brief(one.question, 200)
    return printable(
        f"- {one.time:%Y-%m-%d %H:%M} {one.id} [{one.topic or 'no topic'}] {result}{case}, {who}: {question}"
    )


def log_entry(entry: QALogEntry) -> str:
    """An entry of an exchange, with the texts in it."""
    texts = {
        key: brief(str(value), _MAX_SUMMARY_LENGTH)
        for key, value in entry.data.items()
        if key in {"agent", "by", "action", "text", "content", "reason", "status", "confidence", "context"}
        and value not in (None, "")
    }
    told = "; ".join(f"{key}: {value}" for key, value in texts.items())
    return printable(f"{entry.time:%Y-%m-%d %H:%M:%S} {entry.kind} {told}".rstrip())


def in_arguments(said: str) -> str:
    """An error that speaks of options of the command line, for who gave arguments: `--framework` is `framework` there."""
    return _OPTION.sub(r"`\1`", said)


def brief(text: str, most: int) -> str:
    """The beginning of a text that is too long, marked."""
    return text if len(text) <= most else f"{text[:most]} [... {len(text) - most:,} more characters]"


def _noted(notes: Sequence[str]) -> list[str]:
    shown = [f"Note: {brief(note, _MAX_NOTE_LENGTH)}" for note in notes[:_MAX_NOTES]]
    more = len(notes) - _MAX_NOTES
    return [*shown, f"Note: and {more} more"] if more > 0 else shown


def _within(text: str) -> str:
    """A text of at most the tokens of a page; its end is cut, and says so."""
    while tokens(text) > DEFAULT_TOKENS:
        text = brief(text, len(text) * DEFAULT_TOKENS // (tokens(text) + 100))
    return text


_LENGTHS = (12_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60, 30, 0)
"""Characters of each summary; the first that fits is taken."""
_SHORTEST_QUERY = 30
_WITH_NOTES = 120
"""Where summaries are shorter than this, notes are only counted."""
_MAX_FAULTS = 8


def is_failure(values: Mapping[str, Any]) -> bool:
    """Whether nothing of a request was answered: then the call has failed, and not where one query of several has."""
    return all(one["status"] == "failure" for one in values["results"])


def shortened(values: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a request, as its tool gives it: `notes` say how much is missing, if anything is."""
    clean: dict[str, Any] = fitted(dict(values), None)
    return _first_that_fits(clean, lambda made: json.dumps(made, ensure_ascii=False))


def requested(values: Mapping[str, Any]) -> str:
    """The same in words."""
    made = _first_that_fits(fitted(dict(values), None), _in_words)
    return printable(_in_words(made))


def _first_that_fits(values: dict[str, Any], shown: Callable[[dict[str, Any]], str]) -> dict[str, Any]:
    made = values
    for length in _LENGTHS:
        made = _shorter(values, length)
        if tokens(shown(made)) <= DEFAULT_TOKENS:
            break
    return made


def _shorter(values: dict[str, Any], length: int) -> dict[str, Any]:
    results = [_result(one, length) for one in values["results"]]
    faults = [{**one, "message": brief(one["message"], max(length, 120))} for one in values["errors"]]
    if len(faults) > _MAX_FAULTS:
        more = {"type": "more", "message": f"and {len(faults) - _MAX_FAULTS} more", "field": None}
        faults = [*faults[:_MAX_FAULTS], more]
    made = {**values, "results": results, "errors": faults}
    missing = sum(max(0, len(one["summary"]) - length) for one in values["results"])
    notes = sum(len(one.get("notes", ())) for one in values["results"]) if length < _WITH_NOTES else 0
    said = [f"{missing:,} characters of summaries"] if missing else []
    said += [f"{notes:,} notes"] if notes else []
    if said:
        how = "get_report(report=REPORT_PATH) has all of one, and so has `research` with its query alone"
        made["notes"] = [f"{' and '.join(said)} are not shown: {how}"]
    return made


def _result(one: dict[str, Any], length: int) -> dict[str, Any]:
    made = {**one, "query": _begun(one["query"], max(length, _SHORTEST_QUERY))}
    made["summary"] = brief(one["summary"], length)
    if length < _WITH_NOTES:
        made.pop("notes", None)
    elif "notes" in one:
        made["notes"] = [brief(note, length) for note in one["notes"]]
    return made


def _begun(text: str, most: int) -> str:
    """Who asked knows the rest."""
    return text if len(text) <= most else f"{text[:most]}..."


def _in_words(values: Mapping[str, Any]) -> str:
    lines = [fault["message"] for fault in values["errors"]]
    for number, one in enumerate(values["results"], 1):
        where = f" Report: {one['report_path']}" if one["report_path"] else ""
        lines += [
            f"{number}. {one['query']}",
            f"Status: {one['status']}. Confidence: {one['confidence']}.{where}",
        ]
        lines += [one["summary"]] if one["summary"] else []
        lines += [f"Note: {note}" for note in one.get("notes", ())]
        lines += [""]
    if any(one["report_path"] for one in values["results"]):
        lines += ["All of one: get_report(report=PATH)."]
    lines += [f"Note: {note}" for note in values.get("notes", ())]
    return "\n".join(lines).rstrip()
