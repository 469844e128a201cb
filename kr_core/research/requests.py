"""Requests: what must be there, what is inferred from a question, and what falls back to a default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from kr_core.model import Fault, ResearchQuery, ResearchRequest, new_id
from kr_core.model.lessons import PHASES, LessonsRequest
from kr_core.question.dependency_search import choose_framework, direct_dependencies
from kr_core.question.topics import topic_and_tags

if TYPE_CHECKING:
    from kr_core.project.project import LocalProject

MODE = "research"
LESSONS_MODE = "lessons-inject"
UNKNOWN_VERSION = "latest"
_STORY_KEY = re.compile(r"\d+-\d+", re.ASCII)
MAX_QUESTION_LENGTH = 10_000
_MAX_NAME = 200
_NO_TEXT = "is not text that UTF-8 has a form for"
_MAX_SECONDS = 600
_LIMITS = ("max_calls", "timeout_seconds", "max_tokens")
"""What a request may override."""
_MAY_BE_SECRET = re.compile(
    r"[\w/+-]{16,}|://[^/\s]*@|passw|pwd|secret|token|key|credential|bearer|basic|PRIVATE", re.IGNORECASE
)
"""What a text has that is worth a closer look, which takes longer than the rest of a request."""
_CHOSEN = "the question names no library; of the project's direct dependencies {} fits best: name another with --framework"
_TAKEN_OUT = "what looks like a secret was taken out of the question"
_QUERY_FIELDS = ("framework", "framework_version", "topic", "tags", "question", "names", "context")
_MAX_NAMES = 20
_KEYS = {
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
_LESSONS_KEYS = {*_KEYS, "context_hints"}
_HINTS = ("framework", "topic", "text")
_INPUTS = ("required", "optional")


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
            faults.append(_fault("inputs", "`required` and `optional` must be mappings"))
            continue
        faults += [_fault(f"inputs.{key}", "is there twice") for key in part or {} if key in fields]
        fields.update(part or {})
    return fields, faults


def from_mapping(raw: Any, project: LocalProject) -> ResearchRequest | InvalidRequest:
    """Read a request in the published form, also in its `inputs`; a bare question with options is accepted too.

    Every required field is checked, so that all faults are reported at once. An invalid override is dropped and
    noted.
    """
    if not isinstance(raw, Mapping):
        return InvalidRequest(
            (_fault("request", "a request is a mapping with research_query and the other fields"),), "0-0", ""
        )
    raw, faults = without_inputs(raw)
    if "question" in raw and "research_query" not in raw and not faults:
        return _from_person(raw, project)
    faults += _unknown(raw, _KEYS)
    story_key, session_id = _text(raw.get("story_key")), _text(raw.get("session_id"))
    faults += _mode_faults(raw.get("mode"))
    faults += story_faults(story_key)
    faults += _session_faults(session_id)
    query = raw.get("research_query")
    values = query if isinstance(query, Mapping) else {}
    if not isinstance(query, Mapping):
        faults.append(
            _fault(
                "research_query",
                "must be a mapping with framework, framework_version, topic, tags and question",
            )
        )
    else:
        faults += _query_faults(values)
    if faults:
        return InvalidRequest(tuple(faults), story_key, session_id)
    limits, notes = _overrides(raw.get("config_overrides"))
    texts = [_text(values["question"]), _text(values["topic"]), *map(_text, values["tags"])]
    question, topic, *tags = map(_without_secrets, texts)
    notes += [_TAKEN_OUT] if [question, topic, *tags] != texts else []
    return ResearchRequest(
        story_key=story_key,
        session_id=session_id,
        query=ResearchQuery(
            framework=_text(values["framework"]).strip(),
            framework_version=_text(values["framework_version"]).strip(),
            topic=topic.strip(),
            tags=tuple(tag.strip() for tag in tags),
            question=question.strip(),
            names=_names(values.get("names", ())),
        ),
        **limits,
        priority=_text(raw.get("priority")) or None,
        refresh=raw.get("refresh") is True,
        notes=tuple(notes),
    )


class QuestionOptions(NamedTuple):
    """What a question may come with; None, or nothing, for what is to be inferred or left at its default."""

    framework: str | None = None
    version: str | None = None
    topic: str | None = None
    tags: Sequence[str] = ()
    names: Sequence[str] = ()
    """Names that the answer may hold (`httpx.Timeout`); they help to find it, and make no other question."""
    context: str = ""
    """What the asker works on; the library is taken from it if the question names none, and it goes nowhere else."""
    story_key: str | None = None
    session_id: str | None = None
    max_calls: Any = None
    timeout_seconds: Any = None
    max_tokens: Any = None
    refresh: bool = False


_PERSON_KEYS = {"question", *QuestionOptions._fields}
"""What a bare question may come with; of the published form `mode`, `config_overrides` and `priority` too."""


def from_question(question: str, project: LocalProject, **options: Any) -> ResearchRequest | InvalidRequest:
    """Make a request from a question; KR infers what is missing from the question and the project.

    Args:
        question: in English.
        project: says which libraries there are, in which versions.
        options: those of `QuestionOptions`.

    Raises:
        TypeError: an option is unknown.
    """
    if unknown := [name for name in options if name not in QuestionOptions._fields]:
        raise TypeError(
            f"unknown options: {', '.join(unknown)}; there are {', '.join(QuestionOptions._fields)}"
        )
    given = QuestionOptions(**options)
    story = "0-0" if given.story_key is None else _text(given.story_key)
    session = new_id() if given.session_id is None else _text(given.session_id)
    faults = [*story_faults(story), *_session_faults(session), *_question_faults(question, "question")]
    asked, framework = question, given.framework
    searched: tuple[str, ...] = ()
    if not faults:
        question = _without_secrets(question)
        if framework is None:
            framework, searched = _framework_of(question, given.context, project)
            faults += [] if framework else [_fault("framework", _unnamed(project))]
    faults += _option_faults(given)
    if faults or framework is None:
        return InvalidRequest(tuple(faults), story, session)
    framework = _text(framework).strip()
    known = project.version_of(framework)
    topic, tags = topic_and_tags(question, framework)
    limits, notes = _overrides({name: getattr(given, name) for name in _LIMITS})
    notes += [_TAKEN_OUT] if question != asked else []
    notes += [_CHOSEN.format(framework)] if searched else []
    return ResearchRequest(
        story_key=story,
        session_id=session,
        query=ResearchQuery(
            framework=framework,
            framework_version=given.version or (known[0] if known else UNKNOWN_VERSION),
            topic=given.topic or topic,
            tags=tuple(given.tags) or tags,
            question=question.strip(),
            inferred=_inferred(given),
            version_from=known[1] if known and given.version is None else None,
            names=_names(given.names),
        ),
        **limits,
        refresh=given.refresh,
        notes=tuple(notes),
    )


def _framework_of(question: str, context: str, project: LocalProject) -> tuple[str | None, tuple[str, ...]]:
    """The library of a question: the one that it names, or its context, or the dependency that fits best, with the search."""
    framework, searched = choose_framework(question, project)
    if context and (framework is None or searched):
        other, other_searched = choose_framework(f"{context[:MAX_QUESTION_LENGTH]}\n{question}", project)
        if framework is None or not other_searched:
            return other, other_searched
    return framework, searched


def _option_faults(given: QuestionOptions) -> list[Fault]:
    """What is wrong with the names that a question came with."""
    faults = []
    for field, value in (
        ("framework", given.framework),
        ("framework_version", given.version),
        ("topic", given.topic),
    ):
        if value is not None:
            faults += _name_faults(value, field)
    if isinstance(given.tags, str) or not isinstance(given.tags, Sequence):
        faults.append(_fault("tags", "must be a list of tags"))
    else:
        faults += [fault for tag in given.tags for fault in _name_faults(tag, "tags")]
    return faults + _names_faults(given.names, "names")


def _names(given: Sequence[Any]) -> tuple[str, ...]:
    """The names, each once and without what surrounds it."""
    stripped = (str(name).strip(" \t`'\"()") for name in given)
    return tuple(dict.fromkeys(name for name in stripped if name))


def _inferred(given: QuestionOptions) -> frozenset[str]:
    """The fields of the query that were not given."""
    inferred = {
        "framework": given.framework is None,
        "framework_version": given.version is None,
        "topic": not given.topic,
        "tags": not given.tags,
    }
    return frozenset(field for field, is_inferred in inferred.items() if is_inferred)


def _without_secrets(text: str) -> str:
    """A text as it may be kept: reports lie in git, and events in logs."""
    if _MAY_BE_SECRET.search(text) is None:
        return text
    from kr_core.net.redaction import redacted

    return redacted(text)


def wants_lessons(raw: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a request is one for lessons (L1)."""
    return isinstance(raw, Mapping) and without_inputs(raw)[0].get("mode") == LESSONS_MODE


def lessons_from_mapping(raw: Any) -> LessonsRequest | InvalidRequest:
    """Read a request for lessons in the published form (L1); hints that make no sense are left out and noted."""
    if not isinstance(raw, Mapping):
        return InvalidRequest(
            (_fault("request", "a request is a mapping with lessons_inject and the other fields"),), "0-0", ""
        )
    raw, faults = without_inputs(raw)
    faults += _unknown(raw, _LESSONS_KEYS)
    if not wants_lessons(raw):
        faults.append(Fault(type="validation_error", field="mode", message="Invalid mode"))
    inner = raw.get("lessons_inject")
    values = inner if isinstance(inner, Mapping) else {}
    faults += _unknown(values, {"phase", "context_hints", "text"}, "lessons_inject.")
    text = values.get("text") or context_text(raw.get("context")) or None
    hints, notes = _hints(raw.get("context_hints"), values.get("context_hints"), text)
    made = for_phase(values.get("phase"), _text(raw.get("story_key")), _text(raw.get("session_id")), **hints)
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
    faults = [*story_faults(story_key), *_session_faults(session)]
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
    """What the caller is about, from its `context_hints` and its text, and a note for each hint that is no text."""
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


def _from_person(raw: Mapping[Any, Any], project: LocalProject) -> ResearchRequest | InvalidRequest:
    """A bare question with options; what is null was not given."""
    given = {key: value for key, value in raw.items() if value is not None}
    overrides = given.pop("config_overrides", {})
    faults = _mode_faults(given.pop("mode", MODE))
    given.pop("priority", None)
    faults += _unknown(given, _PERSON_KEYS)
    options = {key: value for key, value in given.items() if key in _PERSON_KEYS}
    for key in ("framework", "version", "topic"):
        if key in options:
            options[key] = _text(options[key])
    for key in ("tags", "names"):
        several = options.get(key, ())
        options[key] = tuple(map(_text, several)) if isinstance(several, (list, tuple)) else (_text(several),)
    options["question"] = _text(raw["question"])
    options["context"] = context_text(given.get("context"))
    options["refresh"] = options.get("refresh") is True
    if isinstance(overrides, Mapping):
        options |= {key: overrides[key] for key in _LIMITS if key in overrides}
    made = from_question(**options, project=project)
    if isinstance(made, InvalidRequest):
        return made._replace(faults=(*faults, *made.faults))
    return InvalidRequest(tuple(faults), made.story_key, made.session_id) if faults else made


def context_text(value: Any) -> str:
    """A context as text: of a mapping or a list, its values."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return " ".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _unnamed(project: LocalProject) -> str:
    known = direct_dependencies(project)[:8] or [name for name, _version, _where in project.versions()[:8]]
    hint = f" (known here: {', '.join(known)})" if known else ""
    return (
        f"the question names no library that is known here; name it in the question or with --framework{hint}"
    )


def _query_faults(values: Mapping[Any, Any]) -> list[Fault]:
    faults = _unknown(values, _QUERY_FIELDS, "research_query.")
    for field in ("framework", "framework_version", "topic"):
        faults += _name_faults(values.get(field), f"research_query.{field}")
    faults += _question_faults(values.get("question"), "research_query.question")
    tags = values.get("tags")
    if not isinstance(tags, (list, tuple)) or not tags:
        faults.append(_fault("research_query.tags", "must be a list with at least one tag"))
    else:
        faults += [fault for tag in tags for fault in _name_faults(tag, "research_query.tags")]
    return faults + _names_faults(values.get("names", ()), "research_query.names")


def _names_faults(names: Any, field: str) -> list[Fault]:
    if not isinstance(names, (list, tuple)):
        return [_fault(field, "must be a list of names")]
    if len(names) > _MAX_NAMES:
        return [_fault(field, f"are {len(names)}; at most {_MAX_NAMES} are looked up")]
    return [fault for name in names for fault in _name_faults(name, field)]


def _mode_faults(mode: Any) -> list[Fault]:
    if mode == LESSONS_MODE:
        return [_fault("mode", f"{LESSONS_MODE} is not a question; ask `Pipeline.lessons`")]
    return [] if mode == MODE else [Fault(type="validation_error", field="mode", message="Invalid mode")]


def _unknown(values: Mapping[Any, Any], known: Iterable[str], above: str = "") -> list[Fault]:
    allowed = known if isinstance(known, tuple) else sorted(known)
    return [
        _fault(f"{above}{key}", f"unknown field; allowed are {', '.join(allowed)}")
        for key in values
        if key not in allowed
    ]


def story_faults(story_key: str) -> list[Fault]:
    """What is wrong with a story key."""
    if _STORY_KEY.fullmatch(story_key):
        return []
    return [_fault("story_key", "must look like 3-1 (epic, hyphen, story)")]


def _session_faults(session_id: str) -> list[Fault]:
    if not session_id.strip():
        return [_fault("session_id", "must not be empty")]
    return [] if _is_text(session_id) else [_fault("session_id", _NO_TEXT)]


def _is_text(value: str) -> bool:
    """Whether UTF-8 has a form for it: bytes of a command line that are not text arrive as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _question_faults(value: Any, field: str) -> list[Fault]:
    if value is not None and not isinstance(value, str):
        return [_fault(field, f"must be a text, not {value!r:.60}")]
    if not value or not value.strip():
        return [_fault(field, "must not be empty")]
    if len(value) > MAX_QUESTION_LENGTH:
        return [_fault(field, f"is {len(value)} characters long; at most {MAX_QUESTION_LENGTH} are read")]
    if not _is_text(value):
        return [_fault(field, _NO_TEXT)]
    return [_fault(field, "must not hold NUL characters")] if "\0" in value else []


def _name_faults(value: Any, field: str) -> list[Fault]:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or not str(value).strip():
        return [_fault(field, "must not be empty")]
    text = str(value)
    if len(text) > _MAX_NAME:
        return [_fault(field, f"is {len(text)} characters long; at most {_MAX_NAME} are allowed")]
    if not _is_text(text):
        return [_fault(field, _NO_TEXT)]
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return [_fault(field, "must not hold control characters")]
    last = field.rpartition(".")[2]
    if last == "framework" and (".." in text.split("/") or "\\" in text or text.startswith("/")):
        return [_fault(field, "must be the name of a library, not a path")]
    return []


def _overrides(raw: Any) -> tuple[dict[str, int | None], list[str]]:
    """The valid overrides, and a note for each that was not."""
    notes: list[str] = []
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        return {}, ["config_overrides: not a mapping, defaults used"]
    limits: dict[str, int | None] = dict.fromkeys(_LIMITS)
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


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, (bool, Mapping, list)) else str(value)


def _fault(field: str, detail: str) -> Fault:
    return Fault(type="validation_error", field=field, message=f"Validation failed: {field}: {detail}")
