"""Summary and Details of a report written by an agent, from the passages that the sources found.

What the agent may cost is bounded before it is asked: the passages are cut to so many tokens, and the one second chance
that a reply gets, which sends them again, is reckoned with. So a run never stops in the middle for want of tokens.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.agents.caller import AgentCaller, AgentPrompt
from kr_core.agents.personas import researcher
from kr_core.agents.prompts import fenced, quoted
from kr_core.config.template_trust import template_folders
from kr_core.errors import RequestError
from kr_core.evidence.generated import GeneratedProse
from kr_core.model import WrittenBy
from kr_core.model.questions import Question
from kr_core.templates import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from kr_core.model import Draft, Finding, ResearchQuery, ResearchResult
    from kr_core.research.container import Container

__all__ = ["EarlierAnswer", "Synthesis", "synthesise"]

MAX_TOKENS = 32_000
"""Of one run, prompts and replies of both tries together."""
_REPLY_TOKENS = 4_000
_BYTES = 3
"""Of UTF-8 that are a token at the least, in English prose and code as in Chinese; models differ, this errs on the safe side."""
_PERSONA_BYTES = 12_000
"""The longest persona of BMAD has half of it; the passages matter more."""
_EARLIER_BYTES = 4_000
"""Of the answer of a stale report."""
_BESIDE = 200
"""Bytes of a passage's heading, without title, and of what joins it."""
_MIN_BYTES = 500
"""Less of a passage than that is not sent."""
_MIN_SECONDS = 5

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {"type": "array", "items": {"type": "string"}, "description": "1 to 5 sentences"},
        "details": {"type": "array", "items": {"type": "string"}, "description": "0 to 10 sentences"},
    },
    "required": ["summary", "details"],
    "additionalProperties": False,
}


class EarlierAnswer(NamedTuple):
    """The answer of a stale report that new research replaces, and why it is stale."""

    text: str
    reason: str


class Synthesis(NamedTuple):
    """What an agent wrote, what it cost, and what to note; no prose where it failed."""

    prose: GeneratedProse | None
    by: WrittenBy | None
    notes: tuple[str, ...]

    def written(self, draft: Draft, notes: list[str]) -> WrittenBy | None:
        """Who wrote the draft, None where it was composed by rule after all; what was dropped is counted in the notes."""
        if self.by is None:
            return None
        count = len(draft.unsupported)  # not what they say: it would stand in the report after all
        said = (
            f"{self.by.agent}: dropped {count} sentence{'s' * (count > 1)} without support" if count else ""
        )
        if any(claim.written for claim in draft.summary):
            notes += [said] if said else []
            return self.by.model_copy(update={"dropped": count})
        notes.append(f"{said or f'{self.by.agent}: wrote no summary'}; composed by rule ({self.by.told})")
        return None


async def synthesise(
    components: Container,
    query: ResearchQuery,
    found: Sequence[tuple[str, Finding]],
    seconds: float,
    emit: Callable[[str, dict[str, Any]], None],
    earlier: EarlierAnswer | None = None,
) -> Synthesis:
    """Have the configured agent write from what was found.

    Args:
        components: the pipeline's.
        query: what is asked.
        found: what the named sources found, the passages in the order in which the report numbers them.
        seconds: how long the run may still take.
        emit: says what happens.
        earlier: the answer that this one replaces. The agent reads it, but cannot cite it.

    Raises:
        ConfigError: the agent's plugin is wrongly configured, or not trusted.
    """
    name = components.config.settings.knowledge_research.agent
    assert name is not None, "one is configured"
    profile = components.table().agents[name]
    if seconds < _MIN_SECONDS:
        return Synthesis(None, None, (f"{name}: no time was left to write; composed by rule",))
    profile = profile.model_copy(update={"timeout_seconds": int(min(profile.timeout_seconds, seconds))})
    folders = template_folders(components.config.root, components.config.environ)
    who, notes = researcher(folders, components.config)
    persona = _cut(who, _PERSONA_BYTES)
    notes += [f"the persona was shortened to {_PERSONA_BYTES:,} bytes"] if persona != who else []
    system = render(folders, "prompts/synthesis-system.md.j2", persona=persona)
    prompt = _prompt(folders, query, found, system, earlier)
    if prompt is None:
        notes.append(f"{name}: no passage fits into its limit of tokens; composed by rule")
        return Synthesis(None, None, tuple(notes))
    desk = AgentCaller(components.project, folders, components.outside, components.agent, _refuse)
    emit("synthesis.started", {"agent": name, "plugin": profile.plugin, "model": profile.model})
    came = await desk.consult(
        profile,
        AgentPrompt(Question(text=query.question, topic=query.topic), system, prompt, _SCHEMA, _REPLY_TOKENS),
        emit,
    )
    reply = came.reply
    by = WrittenBy(
        agent=name,
        model=reply.model or profile.model or "",
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
        seconds=came.seconds,
    )
    emit("synthesis.finished", {**by.model_dump(mode="json"), "outcome": came.outcome, "reason": came.reason})
    if came.fields is None:
        cost = "" if by.input_tokens is None and by.cost_usd is None else f" ({by.told})"
        return Synthesis(
            None, None, (*notes, f"{name}: {came.outcome}: {came.reason}; composed by rule{cost}")
        )
    prose = GeneratedProse(tuple(came.fields.get("summary", ())), tuple(came.fields.get("details", ())))
    return Synthesis(prose, by, tuple(notes))


def _prompt(
    folders: tuple[Path, ...],
    query: ResearchQuery,
    found: Sequence[tuple[str, Finding]],
    system: str,
    earlier: EarlierAnswer | None,
) -> str | None:
    """The question and the passages, numbered from 1 in order, as many as the limit allows; None if it allows none.

    Both tries are reckoned with, the second of which reads the first one's reply.
    """

    def rendered(passages: Sequence[Mapping[str, object]]) -> str:
        return render(
            folders,
            "prompts/synthesise.md.j2",
            question=fenced(query.question),
            framework=query.framework,
            version=query.framework_version,
            passages=passages,
            earlier=fenced(_cut(earlier.text, _EARLIER_BYTES)) if earlier else "",
            why_stale=quoted(earlier.reason) if earlier else "",
        )

    left = (MAX_TOKENS - 3 * _REPLY_TOKENS) * _BYTES // 2 - _size(system) - _size(rendered(()))
    left -= _size(json.dumps(_SCHEMA))
    passages: list[Mapping[str, object]] = []
    numbered = [passage for _source, finding in found for passage in finding.passages]
    for number, passage in enumerate(numbered, 1):
        title = quoted(passage.title) if passage.title else ""
        left -= _size(title) + _BESIDE
        if left < _MIN_BYTES:
            break
        text = fenced(_cut(passage.text, left))
        left -= _size(text)
        if left < -_BESIDE:  # a fence may be as long as what it fences
            break
        passages.append({"number": number, "title": title, "official": passage.official, "text": text})
    return rendered(passages) if passages else None


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _cut(text: str, size: int) -> str:
    """The beginning of a text, as much as so many bytes hold."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


async def _refuse(_question: str, **_options: Any) -> ResearchResult:
    raise RequestError(
        "blocked", "research cannot be asked to write its own report", hint="name another agent"
    )
