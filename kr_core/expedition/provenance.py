"""The tree of an expedition: the question, its axioms, and below each what says it; every quote found again in its passage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.expedition.facts.axiom import MEANINGS
from kr_core.expedition.facts.axiom_store import gone, stated
from kr_core.expedition.facts.corroboration import voices, where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.expedition.facts.axiom_store import AxiomStore
    from kr_core.expedition.service import Expeditions, StoredExpedition
    from kr_core.model.expedition import Axiom, Category, Finished, Signal

__all__ = ["ENDINGS", "as_data", "as_text", "ending_of"]

ENDINGS = {
    "maximum_cycles": "the limit of cycles was reached",
    "axiom_diminishing_returns": "the last cycle found fewer than 0.3 times the axioms of the one before",
    "source_exhaustion": "the last cycle found fewer than 0.2 times the sources of the one before",
    "zero_findings": "two cycles in a row found nothing new",
    "budget_exhausted": "the budget is spent",
}
"""What each rule that ends an expedition means."""
_IN_WORDS = {
    "maximum_cycles": "the limit of rounds",
    "axiom_diminishing_returns": "little that was new",
    "source_exhaustion": "hardly a new document",
    "zero_findings": "nothing new",
    "budget_exhausted": "the budget is spent",
}
_QUOTE = 200


def ending_of(done: Finished) -> str:
    """How it came out, in words, the outcome first: `Answered. Stopped after 2 rounds: nothing new`."""
    outcome = "Answered" if done.answered and done.axioms else "No answer"
    rounds = f"{done.cycles} round{'s' * (done.cycles != 1)}"
    return f"{outcome}. Stopped after {rounds}: {_IN_WORDS[done.reason]}"


def as_text(kept: StoredExpedition, expeditions: Expeditions) -> str:
    """The tree as lines of text."""
    now = expeditions.found(kept)
    lines = [f"{kept.id} {kept.query}", *(f"|   {line}" for line in _came_to(kept, expeditions, now))]
    faults = {(axiom.id, said) for axiom, said in expeditions.unsupported(now)}
    branches: list[tuple[Category, list[list[str]]]] = []
    for category in MEANINGS:
        axioms = [axiom for axiom in now if axiom.category == category]
        if axioms:
            branches.append((category, [list(_axiom(axiom, faults, expeditions.axioms)) for axiom in axioms]))
    for place, (category, twigs) in enumerate(branches):
        last = place == len(branches) - 1
        lines.append(f"{'`-- ' if last else '|-- '}{category}")
        for number, twig in enumerate(twigs):
            lines += _hung(twig, "    " if last else "|   ", last=number == len(twigs) - 1)
    if not branches:
        lines.append("`-- no axioms")
    return "\n".join(lines) + "\n"


def _came_to(kept: StoredExpedition, expeditions: Expeditions, now: Sequence[Axiom]) -> Iterator[str]:
    """How it ended, or how far it is."""
    done = kept.finished
    if done is None:
        cycles = expeditions.progress(kept).reports
        yield f"unfinished since {kept.begun:%Y-%m-%d %H:%M}: kr expedition resume {kept.id}"
        yield f"{_counted(cycles[-1].cycle if cycles else 0, 'cycle')} so far, {_counted(len(now), 'axiom')}"
        return
    by = f", written by {done.written_by}" if done.written_by else ""
    yield f"ended after {_counted(done.cycles, 'cycle')}: {ENDINGS[done.reason]} ({done.reason}){by}"
    spent = [_counted(done.calls, "call")] * bool(done.calls) + [f"{done.tokens:,} tokens"] * bool(
        done.tokens
    )
    found = [_counted(len(done.axioms), "axiom"), _counted(len(done.sources), "document")]
    yield ", ".join([*found, *spent])
    yield from (f"note: {note}" for note in done.notes)


def as_data(kept: StoredExpedition, expeditions: Expeditions) -> dict[str, Any]:
    """The tree as plain values: as when it ended, with what its axioms are now and the passages that say them."""
    done = kept.finished
    now = expeditions.found(kept)
    wanted = dict.fromkeys(signal.sha256 for axiom in now for signal in axiom.signals if signal.sha256)
    passages = {sha256: expeditions.axioms.passage(sha256) for sha256 in wanted}
    return {
        "id": kept.id,
        "query": kept.query,
        "status": kept.status,
        "begun": kept.begun.isoformat(),
        "finished": None if done is None else done.model_dump(mode="json"),
        "cycles": [report.model_dump(mode="json") for report in expeditions.progress(kept).reports],
        "axioms": [axiom.model_dump(mode="json") for axiom in now],
        "passages": {
            sha256: {
                "text": passage.text,
                "url": passage.url,
                "locator": passage.locator,
                "title": passage.title,
            }
            for sha256, passage in passages.items()
            if passage is not None
        },
        "unsupported": [{"axiom": axiom.id, "message": said} for axiom, said in expeditions.unsupported(now)],
    }


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _axiom(axiom: Axiom, faults: set[tuple[str, str]], store: AxiomStore) -> Iterator[str]:
    independent = len(voices(axiom.signals))
    alone = "" if independent == 1 else f" from {independent} independent sources"
    status = "" if axiom.status == "valid" else f", {axiom.status}"
    yield f"{axiom.id} {round(axiom.confidence * 100)}/100{alone}{status}: {' '.join(axiom.statement.split())}"
    for signal in axiom.signals:
        yield from _signal(signal)
    for name in axiom.conflicts:
        yield f"! conflicts with {_named(name, store)}"
    if gone(axiom):
        yield "! it was withdrawn" if stated(axiom) else "! its documents say it no longer"
    if axiom.superseded_by:
        yield f"! superseded by {_named(axiom.superseded_by, store)}"
    for name, said in sorted(faults):
        if name == axiom.id:
            yield f"! {said}"


def _named(name: str, store: AxiomStore) -> str:
    """Another axiom's id, and what it says."""
    other = store.get(name)
    return f"{name}: {' '.join(other.statement.split())}" if other else name


def _signal(signal: Signal) -> Iterator[str]:
    version = f" (version {signal.version})" if signal.version else ""
    yield f"{signal.type} {signal.weight:.2f} {where(signal)}{version}, {signal.timestamp:%Y-%m-%d}"
    if signal.quote:
        quote = signal.quote if len(signal.quote) <= _QUOTE else f"{signal.quote[: _QUOTE - 3]}..."
        yield f'  "{quote}"'


def _hung(twig: Sequence[str], indent: str, *, last: bool) -> list[str]:
    first, *rest = twig
    below = "    " if last else "|   "
    return [f"{indent}{'`-- ' if last else '|-- '}{first}", *(f"{indent}{below}{line}" for line in rest)]
