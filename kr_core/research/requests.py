"""Requests: what must be there, what is inferred from a question, and what falls back to a default."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.model import ResearchQuery, ResearchRequest, new_id
from kr_core.question.dependency_search import choose_framework, direct_dependencies
from kr_core.question.topics import topic_and_tags
from kr_core.research.request_form import (
    KEYS,
    LIMITS,
    MAX_QUESTION_LENGTH,
    MODE,
    InvalidRequest,
    context_text,
    form_fault,
    mode_faults,
    name_faults,
    names_faults,
    query_faults,
    question_faults,
    read_overrides,
    session_faults,
    story_faults,
    text_of,
    unknown_fields,
    without_inputs,
)

if TYPE_CHECKING:
    from kr_core.model import Fault
    from kr_core.project.project import LocalProject

UNKNOWN_VERSION = "latest"
_MAY_BE_SECRET = re.compile(
    r"[\w/+-]{16,}|://[^/\s]*@|passw|pwd|secret|token|key|credential|bearer|basic|PRIVATE", re.IGNORECASE
)
"""What a text has that is worth a closer look, which takes longer than the rest of a request."""
_CHOSEN = "the question does not say for certain which library it means; of the project's direct dependencies {} fits best: name another with --framework"
_TAKEN_OUT = "what looks like a secret was taken out of the question"


def from_mapping(raw: Any, project: LocalProject) -> ResearchRequest | InvalidRequest:
    """Read a request in the published form, also in its `inputs`; a bare question with options is accepted too.

    Every required field is checked, so that all faults are reported at once. An invalid override is dropped and
    noted.
    """
    if not isinstance(raw, Mapping):
        return InvalidRequest(
            (form_fault("request", "a request is a mapping with research_query and the other fields"),),
            "0-0",
            "",
        )
    raw, faults = without_inputs(raw)
    if "question" in raw and "research_query" not in raw and not faults:
        return _from_person(raw, project)
    faults += unknown_fields(raw, KEYS)
    story_key, session_id = text_of(raw.get("story_key")), text_of(raw.get("session_id"))
    faults += mode_faults(raw.get("mode"))
    faults += story_faults(story_key)
    faults += session_faults(session_id)
    query = raw.get("research_query")
    values = query if isinstance(query, Mapping) else {}
    if not isinstance(query, Mapping):
        faults.append(
            form_fault(
                "research_query",
                "must be a mapping with framework, framework_version, topic, tags and question",
            )
        )
    else:
        faults += query_faults(values)
    if faults:
        return InvalidRequest(tuple(faults), story_key, session_id)
    limits, notes = read_overrides(raw.get("config_overrides"))
    texts = [text_of(values["question"]), text_of(values["topic"]), *map(text_of, values["tags"])]
    question, topic, *tags = map(_without_secrets, texts)
    notes += [_TAKEN_OUT] if [question, topic, *tags] != texts else []
    return ResearchRequest(
        story_key=story_key,
        session_id=session_id,
        query=ResearchQuery(
            framework=text_of(values["framework"]).strip(),
            framework_version=text_of(values["framework_version"]).strip(),
            topic=topic.strip(),
            tags=tuple(tag.strip() for tag in tags),
            question=question.strip(),
            names=_names(values.get("names", ())),
        ),
        **limits,
        priority=text_of(raw.get("priority")) or None,
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
    story = "0-0" if given.story_key is None else text_of(given.story_key)
    session = new_id() if given.session_id is None else text_of(given.session_id)
    faults = [*story_faults(story), *session_faults(session), *question_faults(question, "question")]
    asked, framework = question, given.framework
    searched: tuple[str, ...] = ()
    if not faults:
        question = _without_secrets(question)
        if framework is None:
            framework, searched = _framework_of(question, given.context, _names(given.names), project)
            faults += [] if framework else [form_fault("framework", _unnamed(project))]
    faults += _option_faults(given)
    if faults or framework is None:
        return InvalidRequest(tuple(faults), story, session)
    framework = text_of(framework).strip()
    known = project.version_of(framework)
    topic, tags = topic_and_tags(question, framework)
    limits, notes = read_overrides({name: getattr(given, name) for name in LIMITS})
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


def _framework_of(
    question: str, context: str, names: Sequence[str], project: LocalProject
) -> tuple[str | None, tuple[str, ...]]:
    """The library of a question: the one that it names, or its names or context, or the dependency that fits best, with the search."""
    framework, searched = choose_framework(question, project, names)
    if context and (framework is None or searched):
        other, other_searched = choose_framework(
            f"{context[:MAX_QUESTION_LENGTH]}\n{question}", project, names
        )
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
            faults += name_faults(value, field)
    if isinstance(given.tags, str) or not isinstance(given.tags, Sequence):
        faults.append(form_fault("tags", "must be a list of tags"))
    else:
        faults += [fault for tag in given.tags for fault in name_faults(tag, "tags")]
    return faults + names_faults(given.names, "names")


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


def _from_person(raw: Mapping[Any, Any], project: LocalProject) -> ResearchRequest | InvalidRequest:
    """A bare question with options; what is null was not given."""
    given = {key: value for key, value in raw.items() if value is not None}
    overrides = given.pop("config_overrides", {})
    faults = mode_faults(given.pop("mode", MODE))
    given.pop("priority", None)
    faults += unknown_fields(given, _PERSON_KEYS)
    options = {key: value for key, value in given.items() if key in _PERSON_KEYS}
    for key in ("framework", "version", "topic"):
        if key in options:
            options[key] = text_of(options[key])
    for key in ("tags", "names"):
        several = options.get(key, ())
        options[key] = (
            tuple(map(text_of, several)) if isinstance(several, (list, tuple)) else (text_of(several),)
        )
    options["question"] = text_of(raw["question"])
    options["context"] = context_text(given.get("context"))
    options["refresh"] = options.get("refresh") is True
    if isinstance(overrides, Mapping):
        options |= {key: overrides[key] for key in LIMITS if key in overrides}
    made = from_question(**options, project=project)
    if isinstance(made, InvalidRequest):
        return made._replace(faults=(*faults, *made.faults))
    return InvalidRequest(tuple(faults), made.story_key, made.session_id) if faults else made


def _unnamed(project: LocalProject) -> str:
    known = direct_dependencies(project)[:8] or [name for name, _version, _where in project.versions()[:8]]
    hint = f" (known here: {', '.join(known)})" if known else ""
    return (
        f"the question names no library that is known here; name it in the question or with --framework{hint}"
    )
