"""What a recommendation changes in the project's files: a lesson, an agent's knowledge, the intake template, the configuration.

KR writes nothing here: each change is planned as the file's text before and after, so that a person can look at it.
"""

from __future__ import annotations

import datetime as dt
import json
import textwrap
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.config import toml_edit, yaml_edit
from kr_core.config.config_file import is_toml
from kr_core.config.loader import with_text
from kr_core.config.yaml_edit import UnsuitableTextError
from kr_core.errors import ConfigError, suggestion
from kr_core.file_edits import FileEdit, check_writable, text_of
from kr_core.model.time_limits import duration_text
from kr_core.net.redaction import redacted
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.lessons.lesson_service import Lessons
    from kr_core.model.retro_report import Recommendation
    from kr_core.retro.logged_questions import AskedQuestion

__all__ = ["PlannedChange", "plan"]

_LARGEST = 1_000_000
_KNOWLEDGE = "knowledge"
_KNOWLEDGE_FILE = "decided-by-people.md"
_KNOWLEDGE_TITLE = "# What people decided\n"
_INTAKE_SECTION = "## Context that questions need"
_BULLETS = 5
_LONGEST = 300
_LONGEST_LESSON = 120
_LONGEST_WAIT = 86_400
_DECIDED = {"correct", "choose", "chat"}
_PATTERN = frozenset("*?[]")


class PlannedChange(NamedTuple):
    """What accepting a recommendation would write."""

    kind: str
    """`lesson`, `knowledge`, `intake` or `configuration`."""
    edits: tuple[FileEdit, ...]
    from_people: bool = False
    """Whether it holds words that people wrote, which no person has looked at as knowledge yet."""

    @property
    def fingerprint(self) -> str:
        """Tells this change, of these texts, from any other."""
        texts = [[str(one.path), one.before, one.after] for one in self.edits]
        return sha256(json.dumps(texts).encode()).hexdigest()[:8]


class _Planner(NamedTuple):
    config: Config
    lessons: Lessons
    advice: Recommendation
    questions: Sequence[AskedQuestion]
    agent: str | None
    """Whom the person who accepts names, where a rule or a fallback needs one."""

    @property
    def subject(self) -> str:
        return str(self.advice.about.get("agent", ""))


def plan(
    config: Config,
    lessons: Lessons,
    advice: Recommendation,
    questions: Sequence[AskedQuestion],
    agent: str | None = None,
) -> PlannedChange:
    """What a recommendation becomes.

    Args:
        config: of the project.
        lessons: of the project.
        advice: the recommendation.
        questions: of the feature whose retrospective gave it.
        agent: who a new rule or fallback names.

    Raises:
        ConfigError: KR cannot write it; the message says what a person can do.
        StorageError: the lessons cannot be read.
    """
    change = _PLANS[advice.detector](_Planner(config, lessons, advice, questions, agent))
    if not change.edits:
        raise ConfigError("is in the files already", where=advice.id, hint="there is nothing to write")
    for one in change.edits:
        check_writable(one.path)
    return change


# -- lessons -----------------------------------------------------------------------------------------------


def _lesson(it: _Planner) -> PlannedChange:
    summary = textwrap.shorten(it.advice.text.partition(":")[0] + ".", _LONGEST_LESSON, placeholder="...")
    path, before, after = it.lessons.addition(
        summary, phase="story-creation", tags=("retro", it.advice.id[:60])
    )
    return _changed("lesson", [FileEdit(path, before or None, after)])


# -- knowledge ---------------------------------------------------------------------------------------------


def _knowledge(it: _Planner) -> PlannedChange:
    """A bullet for each question that a person decided, in the agent's knowledge folder."""
    root, evidence = it.config.root, set(it.advice.evidence)
    decided = [
        (words, evidence & {one.entry_id for one in question.rounds})
        for question in it.questions
        if (words := _decided(question)) and evidence & {one.entry_id for one in question.rounds}
    ][-_BULLETS:]
    if not decided:
        raise ConfigError(
            "no person has decided these questions, so there is nothing to add",
            where=it.advice.id,
            hint=f"answer them with `kr inbox`, or write what {it.subject} should know yourself",
        )
    profile = it.config.routing.agents.get(it.subject)
    folder = (
        f"{_KNOWLEDGE}/{it.subject}" if profile is None or profile.knowledge is None else profile.knowledge
    )
    path = root / folder / _KNOWLEDGE_FILE
    before = text_of(root, path, _LARGEST)
    topic = it.advice.about.get("topic") or "general"
    bullets = [
        f"- [{it.advice.id}-{number}] {topic}: {words} (entries {', '.join(sorted(entries))})"
        for number, (words, entries) in enumerate(decided, 1)
        if f"({it.advice.id}" not in (before or "") and words not in (before or "")
    ]
    edits = [FileEdit(path, before, _appended(before or _KNOWLEDGE_TITLE, bullets) if bullets else before)]
    if profile is None or profile.knowledge is None:
        edits.append(_configured(it.config, ("agents", it.subject, "knowledge"), folder))
    return _changed("knowledge", edits)._replace(from_people=True)


def _decided(question: AskedQuestion) -> str:
    """The question with what people made of it, on one line and without what looks like a secret."""
    said = [one.content for one in question.replies if one.action in _DECIDED][-1:]
    said = said or [one.content for one in question.replies if one.action == "add_context"]
    said = said or [one.content for one in question.rounds if one.verdict]
    return f"{_line(question.text)} {_line(' '.join(said))}" if said else ""


def _line(text: str) -> str:
    """On one line, which opens no comment and no tag."""
    plain = " ".join(printable(redacted(text)).split()).replace("<", "&lt;")
    return textwrap.shorten(plain, _LONGEST, placeholder=" ...")


def _appended(before: str, lines: Sequence[str]) -> str:
    ending = "\r\n" if "\r\n" in before else "\n"
    gap = "" if before.endswith("\n") else ending
    return before + gap + "".join(f"{line}{ending}" for line in lines)


# -- the intake template -----------------------------------------------------------------------------------


def _intake(it: _Planner) -> PlannedChange:
    root, name = it.config.root, it.config.settings.retro.intake_template
    path = root / name
    before = text_of(root, path, _LARGEST)
    if before is None:
        raise ConfigError(
            f"there is no intake template at {name}",
            where="retro.intake_template",
            hint="name the file that features begin from, or make it",
        )
    mark = f"<!-- {it.advice.id} -->"
    phrase = _line(str(it.advice.about["phrase"]))
    line = f"- {phrase[:1].upper()}{phrase[1:]}: [NEEDS CLARIFICATION: which {phrase}?] {mark}"
    section = [] if _INTAKE_SECTION in before else ["", _INTAKE_SECTION, ""]
    after = before if mark in before else _in_section(before, section, line)
    return _changed("intake", [FileEdit(path, before, after)])._replace(from_people=True)


def _in_section(before: str, section: Sequence[str], line: str) -> str:
    """The text with a line at the end of KR's section, which is at the end of the file unless a person moved it."""
    if section:
        return _appended(before, [*section, line])
    at = before.index(_INTAKE_SECTION) + len(_INTAKE_SECTION)
    end = before.find("\n#", at)
    if end < 0:
        return _appended(before, [line])
    kept = before[:end].rstrip()
    return _appended(kept, [line]) + before[len(kept) :].removeprefix("\n")


# -- the configuration -------------------------------------------------------------------------------------


def _threshold(it: _Planner) -> PlannedChange:
    threshold = it.advice.about.get("threshold")
    if threshold is None:
        raise ConfigError(
            "a rule sets the threshold, and KR does not lower that of a topic",
            where=it.advice.id,
            hint="change the rule yourself; `kr route --topic TOPIC --explain` shows its place",
        )
    return _of_configuration(it, ("agents", it.subject, "threshold"), threshold)


def _raised(it: _Planner) -> PlannedChange:
    return _threshold(it) if "threshold" in it.advice.about else _lesson(it)


def _reminder(it: _Planner) -> PlannedChange:
    now = it.config.settings.escalation.remind_every
    sooner = dt.timedelta(hours=24) if now is None else max(now / 2, dt.timedelta(minutes=1))
    whole = dt.timedelta(seconds=int(sooner.total_seconds()))
    return _of_configuration(it, ("escalation", "remind_every"), duration_text(whole))


def _available(it: _Planner) -> PlannedChange:
    """More time for an agent that had too little; a fallback for one that failed otherwise."""
    agents = it.config.routing.agents
    profile = agents.get(it.subject)
    if profile is None:
        raise _unknown(it, it.subject)
    evidence = set(it.advice.evidence)
    failed = [call for question in it.questions for call in question.calls if call.entry_id in evidence]
    if it.agent is None and all(call.outcome == "timeout" for call in failed):
        seconds = min(2 * profile.timeout_seconds, _LONGEST_WAIT)
        return _of_configuration(it, ("agents", it.subject, "timeout_seconds"), seconds)
    alike = [name for name, one in agents.items() if one.role == profile.role and name != it.subject]
    other = it.agent or next(iter(alike), None)
    if other is None or other not in agents:
        raise _unknown(it, other)
    return _of_configuration(it, ("agents", it.subject, "fallback"), [*profile.fallback, other])


def _rule(it: _Planner) -> PlannedChange:
    topic = str(it.advice.about["topic"])
    if not topic or not _PATTERN.isdisjoint(topic):
        raise ConfigError(
            "these questions have no topic that a rule could name",
            where=it.advice.id,
            hint="ask them with a topic of letters and digits",
        )
    if it.agent is None or it.agent not in it.config.routing.targets():
        raise _unknown(it, it.agent)
    rule = {"topic": topic, "agent": it.agent}
    key = ("routing", "rules")
    if (
        it.config.settings.routing.rules is None
    ):  # those of the configuration take the place of the usual ones
        usual = [{"topic": one.rule.topic, "agent": one.rule.agent} for one in it.config.routing.rules]
        return _of_configuration(it, key, [*usual, rule])
    return _changed("configuration", [_configured(it.config, key, rule, append=True)])


def _unknown(it: _Planner, agent: str | None) -> ConfigError:
    names = it.config.routing.targets()
    what = "it needs an agent" if agent is None else f"`{agent}` is not an agent"
    hint = suggestion(agent, names, "there are") if agent else f"name one with `--agent`: {', '.join(names)}"
    return ConfigError(what, where=it.advice.id, hint=hint)


def _of_configuration(it: _Planner, key: tuple[str, ...], value: Any) -> PlannedChange:
    return _changed("configuration", [_configured(it.config, key, value)])


def _configured(config: Config, key: tuple[str, ...], value: Any, *, append: bool = False) -> FileEdit:
    """The configuration with a value, or with one more at the end of a list, checked as a whole."""
    path = config.root / "kr.yaml" if config.file is None else config.file
    form = toml_edit if is_toml(path) else yaml_edit
    by_hand = f"set it there yourself: {_by_hand(path, key, value)}"
    if config.by_program:
        raise ConfigError("is not a file that KR edits", where=path.name, hint=by_hand)
    before = text_of(config.root, path, _LARGEST)
    try:
        after = (form.added if append else form.with_value)(before or "", key, value)
    except UnsuitableTextError:
        raise ConfigError(
            "has no plain place for the value", where=config.origin(key), hint=by_hand
        ) from None
    theirs = (*config.passed_over, *with_text(config, path, after).passed_over)
    if any(key[: len(one)] == one[: len(key)] for one in theirs):
        raise ConfigError(
            f"has a value of others in the way of `{'.'.join(key)}`", where=config.origin(key), hint=by_hand
        )
    return FileEdit(path, before, after)


def _by_hand(path: Path, key: tuple[str, ...], value: Any) -> str:
    """The value as a person would write it into the file, on one line."""
    if is_toml(path):
        return f"in [tool.kr], {toml_edit.assigned(key, value)}"
    return f"`{'.'.join(key)}` to {json.dumps(value, ensure_ascii=False)}"


def _changed(kind: str, edits: Sequence[FileEdit]) -> PlannedChange:
    return PlannedChange(kind, tuple(one for one in edits if one.before != one.after))


_PLANS: Mapping[str, Callable[[_Planner], PlannedChange]] = {
    "unsure_topic": _knowledge,
    "repeated_context": _intake,
    "overconfident_agent": _raised,
    "outgrown_threshold": _threshold,
    "uninformative_confidence": _threshold,
    "needless_escalation": _threshold,
    "slow_human": _reminder,
    "unavailable_agent": _available,
    "unknown_topics": _rule,
    "overturned_knowledge": _lesson,
}
