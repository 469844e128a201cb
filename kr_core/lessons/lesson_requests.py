"""Requests for lessons, as programs send them and as a phase of a workflow names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from kr_core.model import Fault, new_id
from kr_core.model.lessons import PHASES, LessonsRequest
from kr_core.research.request_form import (
    KEYS,
    LESSONS_MODE,
    InvalidRequest,
    context_text,
    form_fault,
    session_faults,
    story_faults,
    text_of,
    unknown_fields,
    without_inputs,
)

_KEYS = {*KEYS, "context_hints"}
_HINTS = ("framework", "topic", "text")


def wants_lessons(raw: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a request is one for lessons (L1)."""
    return isinstance(raw, Mapping) and without_inputs(raw)[0].get("mode") == LESSONS_MODE


def lessons_from_mapping(raw: Any) -> LessonsRequest | InvalidRequest:
    """Read a request for lessons in the published form (L1); hints that make no sense are left out and noted."""
    if not isinstance(raw, Mapping):
        return InvalidRequest(
            (form_fault("request", "a request is a mapping with lessons_inject and the other fields"),),
            "0-0",
            "",
        )
    raw, faults = without_inputs(raw)
    faults += unknown_fields(raw, _KEYS)
    if not wants_lessons(raw):
        faults.append(Fault(type="validation_error", field="mode", message="Invalid mode"))
    inner = raw.get("lessons_inject")
    values = inner if isinstance(inner, Mapping) else {}
    faults += unknown_fields(values, {"phase", "context_hints", "text"}, "lessons_inject.")
    text = values.get("text") or context_text(raw.get("context")) or None
    hints, notes = _hints(raw.get("context_hints"), values.get("context_hints"), text)
    made = for_phase(
        values.get("phase"), text_of(raw.get("story_key")), text_of(raw.get("session_id")), **hints
    )
    if isinstance(made, InvalidRequest):
        return made._replace(faults=(*faults, *made.faults))
    if faults:
        return InvalidRequest(tuple(faults), made.story_key, made.session_id)
    return made.model_copy(update={"notes": tuple(notes)})


def for_phase(
    phase: Any,
    story_key: str = "0-0",
    session_id: str | None = None,
    *,
    framework: str = "",
    topic: str = "",
    text: str = "",
) -> LessonsRequest | InvalidRequest:
    """Make a request for the lessons of a phase; what the caller is about only ranks them."""
    session = new_id() if session_id is None else session_id
    faults = [*story_faults(story_key), *session_faults(session)]
    if not isinstance(phase, str) or phase not in PHASES:
        faults.append(
            Fault(type="validation_error", field="lessons_inject.phase", message="Invalid phase tag")
        )
    if faults:
        return InvalidRequest(tuple(faults), story_key, session)
    return LessonsRequest(
        story_key=story_key, session_id=session, phase=phase, framework=framework, topic=topic, text=text
    )


def _hints(*given: Any) -> tuple[dict[str, str], list[str]]:
    """What the caller is about, from its `context_hints` and its text, and a note for each hint that is not a text."""
    hints_by_name: dict[str, str] = {}
    notes = []
    *mappings, text = given
    for hints in [*mappings, {"text": text}]:
        for name, value in hints.items() if isinstance(hints, Mapping) else ():
            if value is None:
                continue
            if name in _HINTS and isinstance(value, (str, int, float)):
                hints_by_name[name] = str(value)
            else:
                notes.append(f"context_hints.{name}: not understood, left out")
    return hints_by_name, notes


def phase_of(asked: Any) -> str:
    """The phase of a request, valid or not, as far as it was readable."""
    fields = without_inputs(asked)[0] if isinstance(asked, Mapping) else {}
    inner = fields.get("lessons_inject") if isinstance(asked, Mapping) else {"phase": asked}
    phase = inner.get("phase") if isinstance(inner, Mapping) else ""
    return phase if isinstance(phase, str) else ""
