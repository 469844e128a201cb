"""The results of a team's request, shortened evenly: each query keeps its line, however many there are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kr_core.server.mcp.reply_text import brief
from kr_core.server.mcp.text_pages import DEFAULT_TOKENS, fitted, tokens
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["is_failure", "requested", "shortened"]

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
