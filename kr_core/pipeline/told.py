"""What the stages of research tell of their results: the data of their `finished` events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kr_core.model import Draft, Fault, Score
    from kr_core.pipeline.chain import Chain
    from kr_core.pipeline.lookup import Found
    from kr_core.protocols import Kept


def lookup(found: Found) -> dict[str, Any]:
    """How the knowledge base was found."""
    entry = found.matched.entry.id if found.matched else None
    return {"state": found.state, "entry": entry, "warnings": list(found.warnings)}


def chain(chain: Chain) -> dict[str, Any]:
    """How the chain ended."""
    return {
        "sufficient": chain.sufficient,
        "budget_cut": chain.budget_cut,
        "run_timeout": chain.run_timeout,
    }


def draft(draft: Draft) -> dict[str, Any]:
    """What of the answer is cited, and what was dropped since it was not found."""
    return {
        "citations": len(draft.citations),
        "dropped": len(draft.dropped),
        "unsupported": list(draft.unsupported),
    }


def score(scored: tuple[Score, list[str]]) -> dict[str, Any]:
    """How sure the scorer is."""
    score = scored[0]
    return {"score": score.score, "level": score.level, "reasons": list(score.reasons)}


def kept(outcome: tuple[Kept | None, list[Fault]]) -> dict[str, Any]:
    """Where the report lies."""
    kept, faults = outcome
    return {
        "path": kept.path if kept else None,
        "entry": kept.entry.id if kept and kept.entry else None,
        "evicted": kept.evicted if kept else 0,
        "error": faults[0].message if faults else None,
    }
