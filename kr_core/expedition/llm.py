"""What a language model does in an expedition: it says what to search for, takes facts from passages, and writes the answer.

What it says counts only as far as passages bear it out: each fact comes with a quote that is found again in its passage, and
each sentence of the answer with words of the axioms that it rests on. A reply that cannot be used is asked for again, then
repaired, then passed over with a note, and rules do that step. Texts from outside stand in fences, as data.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.agents.caller import AgentCaller, AgentPrompt
from kr_core.agents.personas import researcher
from kr_core.agents.prompts import fenced, quoted
from kr_core.config.template_trust import template_folders, unused_note
from kr_core.errors import ConfigError, RequestError
from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.generated import unsupported
from kr_core.expedition.answer import chosen
from kr_core.expedition.facts import extraction
from kr_core.expedition.facts.axiom import MEANINGS, of_inference, of_quote
from kr_core.expedition.passage_pool import is_private
from kr_core.model.expedition import Axiom, SubQuery, Tokens
from kr_core.model.questions import Question
from kr_core.templates import render
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.expedition.checkpoints import Checkpoints
    from kr_core.expedition.expedition_state import ExpeditionPlan, ExpeditionState
    from kr_core.expedition.passage_pool import PoolEntry
    from kr_core.model import ResearchResult
    from kr_core.model.expedition import Category
    from kr_core.research.container import Container

__all__ = ["AnswerProse", "LLMAnalyst"]

_BYTES = 3
"""Of UTF-8 that are a token at the least, in English prose and code as in Chinese; models differ, this errs on the safe side."""
_CHANCES = 3
"""The first try, the same once more, and the repair, which sends the bad reply too."""
_MAX_RESERVED = 36_000


def _bound(size: int, reply: int) -> int:
    """The most tokens that a call takes.

    Args:
        size: bytes of its prompt.
        reply: tokens of the longest reply.
    """
    return _CHANCES * (size // _BYTES + 2 * reply)


class TokenBudget:
    """The tokens of one expedition: what was spent, and what must be left for the ending.

    Before a model is asked, the most that this can cost is reckoned: the prompt and the longest reply, for each of its three
    chances. A call that would eat into the reserve is not made, so that an expedition never runs out before its answer.

    Args:
        limit: what it may spend.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0
        self.reserve = min(_MAX_RESERVED, limit // 2)
        """What the ending may take."""

    def affords(self, most: int, *, ending: bool = False) -> bool:
        """Whether a call that takes so many tokens at most may be made."""
        return self.spent + most + (0 if ending else self.reserve) <= self.limit

    @property
    def left(self) -> int:
        """What may still be spent, the reserve included."""
        return max(0, self.limit - self.spent)


_REPLY_TOKENS = 2_000
_MAX_QUERIES = 4
_MAX_QUERY_LENGTH = 200
_BATCH_BYTES = 15_000
"""Of passages that are read at once."""
_PASSAGE_BYTES = 4_000
_PERSONA_BYTES = 6_000
_MAX_FACTS = 20
_TOLD = 60
"""Axioms that a model is told of."""
_MIN_QUOTED = 3
_REST = re.compile(r"\[(\d{1,3})\s*:\s*[\"“”]((?:(?!\[\d{1,3}\s*:\s*[\"“”]).)*?)[\"“”]\s*\]", re.DOTALL)
_CATEGORY = re.compile(rf"^\s*({'|'.join(MEANINGS)})\s*:\s*", re.IGNORECASE)


class AnswerProse(NamedTuple):
    """What a model wrote of an answer."""

    lines: tuple[str, ...]
    """Sentences, each with `{A-...}` for the axioms that it rests on."""
    axioms: tuple[Axiom, ...]
    dropped: int


class LLMAnalyst:
    """The language model's part in one expedition.

    Args:
        components: the pipeline's.
        plan: names the agent, and what it may cost.
        emit: says what happens, for the logs.
    """

    def __init__(
        self, components: Container, plan: ExpeditionPlan, emit: Callable[[str, dict[str, Any]], None]
    ) -> None:
        assert plan.agent is not None, "rules need no mind"
        self._plan = plan
        self._emit = emit
        profile = components.table().agents.get(plan.agent)
        if profile is None:  # an expedition is resumed under another configuration
            raise ConfigError(
                f"its agent `{plan.agent}` is not configured any more",
                where=f"expedition {plan.id}",
                hint="put it back into `agents`, or start anew without it",
            )
        self._profile = profile
        self._folders = template_folders(components.config.root, components.config.environ)
        self._desk = AgentCaller(
            components.project, self._folders, components.outside, components.agent, _refuse
        )
        persona, notes = researcher(self._folders, components.config)
        persona = persona.encode()[:_PERSONA_BYTES].decode("utf-8", "ignore")
        self._system = render(self._folders, "prompts/expedition-system.md.j2", persona=persona)
        unused = unused_note(components.config.root, components.config.environ)
        self._notes = [*notes, unused] if unused else list(notes)
        self._ledger = TokenBudget(plan.max_tokens)
        self.spent_up = False
        """Whether something was not asked for want of tokens."""

    @property
    def left(self) -> int:
        """Tokens that may still be spent."""
        return self._ledger.left

    def take_notes(self) -> list[str]:
        """What is to be noted since the last time."""
        notes, self._notes = self._notes, []
        return notes

    def account(self, kept: Mapping[str, Any], state: ExpeditionState) -> None:
        """Count what a step has cost, when it was done or is found done."""
        tokens = Tokens.model_validate(kept.get("tokens") or {})
        state.spend(tokens)
        self._ledger.spent += tokens.total
        self._notes += kept.get("notes", ())
        self.spent_up = self.spent_up or bool(kept.get("spent_up"))

    # -- expansion ---------------------------------------------------------------------------------------

    async def expand(self, state: ExpeditionState) -> dict[str, Any]:
        """What to search for next; `queries` is None where rules have to say it."""
        tell = chosen(state)[:_TOLD]
        told = [f"- {_line(axiom.statement)}" for axiom in tell]
        prompt = render(
            self._folders,
            "prompts/expedition-expand.md.j2",
            question=fenced(state.plan.query),
            asked=fenced("\n".join(f"- {query}" for query in state.asked)) if state.asked else "",
            known=fenced("\n".join(told)) if told else "",
            most=_MAX_QUERIES,
        )
        came = await self._ask(prompt, "queries", f"up to {_MAX_QUERIES} search queries")
        if came["said"] is None:
            return {**came, "queries": None}
        asked = {_line(query).casefold() for query in state.asked}
        queries = [] if state.asked else [SubQuery(text=state.plan.query, why="the question")]
        private = any(one.private for one in state.pool) or any(
            is_private(signal.source) for axiom in tell for signal in axiom.signals
        )  # it was told what they say
        for text in came["said"]:
            query = _line(printable(text))[:_MAX_QUERY_LENGTH]
            if any(mark.isalnum() for mark in query) and query.casefold() not in asked:
                asked.add(query.casefold())
                queries.append(SubQuery(text=query, why=f"{self._profile.name} asks", private=private))
        if not queries:
            came["notes"].append(f"{self._profile.name}: asks nothing new; expanded by rule")
            return {**came, "queries": None}
        return {**came, "queries": [query.model_dump() for query in queries[:_MAX_QUERIES]]}

    # -- extraction --------------------------------------------------------------------------------------

    async def extract(
        self, state: ExpeditionState, steps: Checkpoints, name: str, read: Sequence[PoolEntry]
    ) -> list[Axiom]:
        """The facts of passages, batch by batch; by rule where the model has nothing that can be used."""
        axioms: list[Axiom] = []
        for number, batch in enumerate(_batches(read)):
            kept = await steps.do(f"{name} extract {number}", partial(self._facts, state, batch))
            self.account(kept, state)
            if kept["facts"] is None:
                axioms += extraction.extracted(state.plan.query, state.pool, batch)
            else:
                axioms += [self._axiom(fact, batch) for fact in kept["facts"]]
        return axioms

    async def _facts(self, state: ExpeditionState, batch: Sequence[PoolEntry]) -> dict[str, Any]:
        passages = [
            {
                "number": number,
                "title": quoted(one.passage.title) if one.passage.title else "",
                "text": fenced(_cut(one.passage.text, _PASSAGE_BYTES)),
            }
            for number, one in enumerate(batch, 1)
        ]
        prompt = render(
            self._folders,
            "prompts/expedition-extract.md.j2",
            question=fenced(state.plan.query),
            passages=passages,
            categories=MEANINGS,
            most=_MAX_FACTS,
        )
        came = await self._ask(prompt, "facts", f"up to {_MAX_FACTS} facts")
        if came["said"] is None:
            return {**came, "facts": None}
        facts, dropped = [], 0
        for line in came["said"][:_MAX_FACTS]:
            fact = _fact(line, [one.passage.text for one in batch])
            dropped += fact is None
            facts += [] if fact is None else [fact]
        if dropped:
            came["notes"].append(
                f"{self._profile.name}: {dropped} fact{'s' * (dropped > 1)} without support dropped"
            )
        return {**came, "facts": facts}

    def _axiom(self, fact: Mapping[str, Any], batch: Sequence[PoolEntry]) -> Axiom:
        """The axiom of a checked fact; one that several passages bear out only together is an inference."""
        category: Category | None = fact["category"]
        made = [
            of_quote(batch[number - 1].passage, quote, batch[number - 1].source, statement=fact["statement"], category=category)
            for number, quote in fact["rests"]
        ]  # fmt: skip
        return made[0] if len(made) == 1 else of_inference(made, self._profile.name)

    # -- the ending --------------------------------------------------------------------------------------

    async def write(self, state: ExpeditionState) -> dict[str, Any]:
        """The answer's sentences; `lines` is None where rules have to compose it."""
        axioms = [axiom for axiom in chosen(state) if axiom.status != "superseded"]
        size = self._ledger.reserve // _CHANCES - 2 * _REPLY_TOKENS
        room = size * _BYTES - len(self._system.encode())
        told: list[str] = []
        for number, axiom in enumerate(axioms, 1):
            against = f" (disputed by {', '.join(axiom.conflicts)})" if axiom.conflicts else ""
            line = f"{number}. {_line(axiom.statement)}{against}"
            room -= len(line.encode()) + 1
            if room < _PERSONA_BYTES // 2 or len(told) >= _TOLD:
                break
            told.append(line)
        if not told:
            return {"lines": None, "notes": []}
        prompt = render(
            self._folders,
            "prompts/expedition-write.md.j2",
            question=fenced(state.plan.query),
            axioms=fenced("\n".join(told)),
        )
        came = await self._ask(prompt, "sentences", "1 to 12 sentences", ending=True)
        if came["said"] is None:
            return {**came, "lines": None}
        lines: list[str] = []
        cited: dict[str, None] = {}
        dropped = 0
        for sentence in came["said"]:
            checked = _borne_out(sentence, axioms[: len(told)])
            if checked is None:
                dropped += 1
                continue
            lines.append(checked[0])
            cited.update(dict.fromkeys(checked[1]))
        if not lines:
            came["notes"].append(
                f"{self._profile.name}: wrote nothing that its axioms bear out; composed by rule"
            )
            return {**came, "lines": None, "dropped": dropped}
        return {**came, "lines": lines, "cited": list(cited), "dropped": dropped}

    # -- asking ------------------------------------------------------------------------------------------

    async def _ask(self, prompt: str, field: str, what: str, *, ending: bool = False) -> dict[str, Any]:
        """A list of texts from the model: `said` is None where there is none, and why is noted."""
        schema = {
            "type": "object",
            "properties": {field: {"type": "array", "items": {"type": "string"}, "description": what}},
            "required": [field],
            "additionalProperties": False,
        }
        size = len(self._system.encode()) + len(prompt.encode("utf-8", "replace")) + len(json.dumps(schema))
        name = self._profile.name
        if not self._ledger.affords(_bound(size, _REPLY_TOKENS), ending=ending):
            note = f"{name}: not asked for {field}: too few tokens are left{'' if ending else ' beside the ending'}"
            return {"said": None, "tokens": {}, "notes": [note], "spent_up": not ending}
        came = await self._desk.consult(
            self._profile,
            AgentPrompt(Question(text=self._plan.query), self._system, prompt, schema, _REPLY_TOKENS),
            self._emit,
            retried=True,
        )
        reply = came.reply
        told = reply.input_tokens is not None or reply.output_tokens is not None
        tokens = Tokens(
            input=(reply.input_tokens or 0) if told else size // _BYTES,
            output=(reply.output_tokens or 0)
            if told
            else len(reply.text.encode("utf-8", "replace")) // _BYTES,
            cost_usd=reply.cost_usd or 0.0,
        ).model_dump()
        if came.fields is None:
            note = f"{name}: no {field}: {came.outcome}: {came.reason}; by rule"
            return {"said": None, "tokens": tokens, "notes": [note]}
        return {"said": list(came.fields.get(field, ())), "tokens": tokens, "notes": []}


def _fact(line: str, texts: Sequence[str]) -> dict[str, Any] | None:
    """A fact as the model wrote it (`category: statement [2: "quote"]`), where its passages bear it out."""
    rests = [(int(number), folded(quote)) for number, quote in _REST.findall(line)]
    said = folded(_REST.sub(" ", line)).replace(" .", ".")
    found = _CATEGORY.match(said)
    statement = printable(said[found.end() :] if found else said).strip()
    if not statement or not rests or extraction.instructs(statement):
        return None
    for number, quote in rests:
        if (
            not 1 <= number <= len(texts)
            or len(quote.split()) < _MIN_QUOTED
            or not holds(texts[number - 1], quote)
        ):
            return None
    cited = [texts[number - 1] for number, _quote in rests]
    if unsupported(statement, cited, [quote for _number, quote in rests]):
        return None
    return {
        "statement": statement,
        "category": found[1].lower() if found else None,
        "rests": [list(rest) for rest in dict(rests).items()],
    }


def _borne_out(sentence: str, axioms: Sequence[Axiom]) -> tuple[str, list[str]] | None:
    """A sentence with marks for the axioms that it rests on, and their ids; None where they do not bear it out."""
    rests = [(int(number), folded(quote)) for number, quote in _REST.findall(sentence)]
    said = folded(_REST.sub(" ", sentence)).replace(" .", ".").strip()
    if not said or not rests or re.search(r"[{}]|\[\d", said) or extraction.instructs(said):
        return None
    if any(not 1 <= number <= len(axioms) for number, _quote in rests):
        return None
    resting = [axioms[number - 1] for number, _quote in rests]
    texts = [plain(axiom.statement) for axiom in resting]
    if any(not holds(text, quote) for text, (_number, quote) in zip(texts, rests, strict=True)):
        return None
    if unsupported(said, texts, texts):
        return None
    names = list(dict.fromkeys(axiom.id for axiom in resting))
    return f"{printable(said)} {''.join(f'{{{name}}}' for name in names)}", names


def _batches(read: Sequence[PoolEntry]) -> list[list[PoolEntry]]:
    """Passages in as many prompts as they need."""
    batches: list[list[PoolEntry]] = []
    room = 0
    for one in read:
        size = min(len(one.passage.text.encode("utf-8", "replace")), _PASSAGE_BYTES)
        if not batches or size > room:
            batches.append([])
            room = _BATCH_BYTES
        batches[-1].append(one)
        room -= size
    return batches


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def _line(text: str) -> str:
    return " ".join(text.split())


async def _refuse(_question: str, **_options: Any) -> ResearchResult:
    raise RequestError("blocked", "research cannot be asked within an expedition", hint="name another agent")
