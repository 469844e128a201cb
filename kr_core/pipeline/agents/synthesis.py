"""Summary and Details of a report written by an agent, from the passages that the sources found.

What the agent may cost is bounded before it is asked: the passages are cut to so many tokens, and the one second chance
that a reply gets, which sends them again, is reckoned with. So a run never stops in the middle for want of tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import RequestError
from kr_core.evidence.written import Prose
from kr_core.model import WrittenBy
from kr_core.model.questions import Question
from kr_core.pipeline.agents.consulting import Desk
from kr_core.pipeline.agents.personas import researcher
from kr_core.pipeline.agents.prompts import fenced
from kr_core.templating import render, search_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.model import Draft, Finding, ResearchQuery, ResearchResult
    from kr_core.pipeline.components import Components

__all__ = ["Synthesis", "synthesise"]

MOST_TOKENS = 32_000
"""Of one run, prompts and replies of both tries together."""
_REPLY_TOKENS = 4_000
_CHARACTERS = 3
"""Of a token, at the least, in English prose and code; models differ, and this errs on the safe side."""
_LEAST_SECONDS = 5

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {"type": "array", "items": {"type": "string"}, "description": "1 to 5 sentences"},
        "details": {"type": "array", "items": {"type": "string"}, "description": "0 to 10 sentences"},
    },
    "required": ["summary", "details"],
    "additionalProperties": False,
}


class Synthesis(NamedTuple):
    """What an agent wrote, what it cost, and what to note; no prose where it failed."""

    prose: Prose | None
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
        notes.append(f"{said or f'{self.by.agent}: wrote nothing'}; composed by rule ({self.by.told})")
        return None


async def synthesise(
    components: Components,
    query: ResearchQuery,
    found: Sequence[tuple[str, Finding]],
    seconds: float,
    emit: Callable[[str, dict[str, Any]], None],
) -> Synthesis:
    """Have the configured agent write from what was found.

    Args:
        components: the pipeline's.
        query: what is asked.
        found: what the named sources found, the passages in the order in which the report numbers them.
        seconds: how long the run may still take.
        emit: says what happens.

    Raises:
        ConfigError: the agent's plugin is wrongly configured, or not trusted.
    """
    name = components.config.settings.knowledge_research.agent
    assert name is not None, "one is configured"
    profile = components.table().agents[name]
    if seconds < _LEAST_SECONDS:
        return Synthesis(None, None, (f"{name}: no time was left to write; composed by rule",))
    profile = profile.model_copy(update={"timeout_seconds": int(min(profile.timeout_seconds, seconds))})
    folders = search_folders(components.config.root)
    who, notes = researcher(folders, components.config)
    system = render(folders, "prompts/synthesis-system.md.j2", persona=who)
    desk = Desk(components.project, folders, components.outside, components.agent, _refuse)
    emit("synthesis.started", {"agent": name, "plugin": profile.plugin, "model": profile.model})
    came = await desk.consult(
        profile,
        Question(text=query.question, topic=query.topic),
        system,
        _prompt(folders, query, found, len(system)),
        _SCHEMA,
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
        return Synthesis(None, None, (*notes, f"{name}: {came.outcome}: {came.reason}; composed by rule"))
    prose = Prose(tuple(came.fields.get("summary", ())), tuple(came.fields.get("details", ())))
    return Synthesis(prose, by, tuple(notes))


def _prompt(folders: Any, query: ResearchQuery, found: Sequence[tuple[str, Finding]], system: int) -> str:
    """The question and the passages, numbered from 1 in order, as many as the limit allows."""
    left = ((MOST_TOKENS - 2 * _REPLY_TOKENS) * _CHARACTERS) // 2 - system - len(query.question)
    passages: list[dict[str, object]] = []
    numbered = [passage for _source, finding in found for passage in finding.passages]
    for number, passage in enumerate(numbered, 1):
        text = fenced(passage.text)
        left -= len(text) + 200
        if left < 0:
            break
        passages.append(
            {
                "number": number,
                "title": passage.title,
                "url": passage.url,
                "official": passage.official,
                "text": text,
            }
        )
    return render(
        folders,
        "prompts/synthesise.md.j2",
        question=fenced(query.question),
        framework=query.framework,
        version=query.framework_version,
        passages=passages,
    )


async def _refuse(_question: str, **_options: Any) -> ResearchResult:
    raise RequestError(
        "blocked", "research cannot be asked to write its own report", todo="name another agent"
    )
