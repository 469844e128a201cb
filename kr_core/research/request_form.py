"""The form of a request: its fields, what each may hold, and what to say of a request that does not keep to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kr_core.model import Fault

MODE = "research"
LESSONS_MODE = "lessons-inject"
MAX_QUESTION_LENGTH = 10_000
KEYS = {
    "story_key",
    "mode",
    "session_id",
    "research_query",
    "lessons_inject",
    "config_overrides",
    "priority",
    "refresh",
    "context",
}
LIMITS = ("max_calls", "timeout_seconds", "max_tokens")
"""What a request may override."""
_QUERY_FIELDS = ("framework", "framework_version", "topic", "tags", "question", "names", "context")
_INPUTS = ("required", "optional")
_STORY_KEY = re.compile(r"\d+-\d+", re.ASCII)
_MAX_NAME = 200
_MAX_NAMES = 20
_MAX_SECONDS = 600
_NO_TEXT = "is not text that UTF-8 has a form for"


class InvalidRequest(NamedTuple):
    """A request that is not one, and why; story and session as far as they were readable."""

    faults: tuple[Fault, ...]
    story_key: str
    session_id: str


def without_inputs(raw: Mapping[Any, Any]) -> tuple[Mapping[Any, Any], list[Fault]]:
    """A request without the `inputs: {required, optional}` around its fields, and a fault for each field that is there twice."""
    inputs = raw.get("inputs")
    if not isinstance(inputs, Mapping):
        return raw, []
    fields = {key: value for key, value in raw.items() if key != "inputs"}
    faults = []
    rest = {key: value for key, value in inputs.items() if key not in _INPUTS}
    for part in (*(inputs.get(name) for name in _INPUTS), rest):
        if part is not None and not isinstance(part, Mapping):
            faults.append(form_fault("inputs", "`required` and `optional` must be mappings"))
            continue
        faults += [form_fault(f"inputs.{key}", "is there twice") for key in part or {} if key in fields]
        fields.update(part or {})
    return fields, faults


def context_text(value: Any) -> str:
    """A context as text: of a mapping or a list, its values."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return " ".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def text_of(value: Any) -> str:
    return "" if value is None or isinstance(value, (bool, Mapping, list)) else str(value)


def form_fault(field: str, detail: str) -> Fault:
    return Fault(type="validation_error", field=field, message=f"Validation failed: {field}: {detail}")


def unknown_fields(values: Mapping[Any, Any], known: Iterable[str], above: str = "") -> list[Fault]:
    allowed = known if isinstance(known, tuple) else sorted(known)
    return [
        form_fault(f"{above}{key}", f"unknown field; allowed are {', '.join(allowed)}")
        for key in values
        if key not in allowed
    ]


def mode_faults(mode: Any) -> list[Fault]:
    if mode == LESSONS_MODE:
        return [form_fault("mode", f"{LESSONS_MODE} is not a question; ask `Pipeline.lessons`")]
    return [] if mode == MODE else [Fault(type="validation_error", field="mode", message="Invalid mode")]


def story_faults(story_key: str) -> list[Fault]:
    """What is wrong with a story key."""
    if _STORY_KEY.fullmatch(story_key):
        return []
    return [form_fault("story_key", "must look like 3-1 (epic, hyphen, story)")]


def session_faults(session_id: str) -> list[Fault]:
    if not session_id.strip():
        return [form_fault("session_id", "must not be empty")]
    return [] if _is_text(session_id) else [form_fault("session_id", _NO_TEXT)]


def question_faults(value: Any, field: str) -> list[Fault]:
    if value is not None and not isinstance(value, str):
        return [form_fault(field, f"must be a text, not {value!r:.60}")]
    if not value or not value.strip():
        return [form_fault(field, "must not be empty")]
    if len(value) > MAX_QUESTION_LENGTH:
        return [form_fault(field, f"is {len(value)} characters long; at most {MAX_QUESTION_LENGTH} are read")]
    if not _is_text(value):
        return [form_fault(field, _NO_TEXT)]
    return [form_fault(field, "must not hold NUL characters")] if "\0" in value else []


def query_faults(values: Mapping[Any, Any]) -> list[Fault]:
    faults = unknown_fields(values, _QUERY_FIELDS, "research_query.")
    for field in ("framework", "framework_version", "topic"):
        faults += name_faults(values.get(field), f"research_query.{field}")
    faults += question_faults(values.get("question"), "research_query.question")
    tags = values.get("tags")
    if not isinstance(tags, (list, tuple)) or not tags:
        faults.append(form_fault("research_query.tags", "must be a list with at least one tag"))
    else:
        faults += [fault for tag in tags for fault in name_faults(tag, "research_query.tags")]
    return faults + names_faults(values.get("names", ()), "research_query.names")


def names_faults(names: Any, field: str) -> list[Fault]:
    """What is wrong with the names that an answer may hold."""
    if not isinstance(names, (list, tuple)):
        return [form_fault(field, "must be a list of names")]
    if len(names) > _MAX_NAMES:
        return [form_fault(field, f"are {len(names)}; at most {_MAX_NAMES} are looked up")]
    return [fault for name in names for fault in name_faults(name, field)]


def name_faults(value: Any, field: str) -> list[Fault]:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or not str(value).strip():
        return [form_fault(field, "must not be empty")]
    text = str(value)
    if len(text) > _MAX_NAME:
        return [form_fault(field, f"is {len(text)} characters long; at most {_MAX_NAME} are allowed")]
    if not _is_text(text):
        return [form_fault(field, _NO_TEXT)]
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return [form_fault(field, "must not hold control characters")]
    last = field.rpartition(".")[2]
    if last == "framework" and (".." in text.split("/") or "\\" in text or text.startswith("/")):
        return [form_fault(field, "must be the name of a library, not a path")]
    return []


def _is_text(value: str) -> bool:
    """Whether UTF-8 has a form for it: bytes of a command line that are not text arrive as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def read_overrides(raw: Any) -> tuple[dict[str, int | None], list[str]]:
    """The valid overrides, and a note for each that was not."""
    notes: list[str] = []
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        return {}, ["config_overrides: not a mapping, defaults used"]
    limits: dict[str, int | None] = dict.fromkeys(LIMITS)
    for key, value in raw.items():
        if key not in limits:
            notes.append(f"config_overrides.{key}: unknown, ignored")
        elif value is None:
            continue
        elif isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            notes.append(f"config_overrides.{key}: {value!r} is not a positive whole number, default used")
        else:
            limits[key] = value
    if (limits["timeout_seconds"] or 0) > _MAX_SECONDS:
        notes.append(f"config_overrides.timeout_seconds: no call may take longer than {_MAX_SECONDS} s")
    return limits, notes
