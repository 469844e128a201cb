"""Answers from documentation: the research pipeline as an agent, for topics that need no model.

Its confidence is the report's score, which measures evidence rather than the sources' own opinion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kr_core
from kr_core import RequestError
from kr_core.plugin import Outcome, Provider, Reply

if TYPE_CHECKING:
    from kr_core import ResearchResult
    from kr_core.plugin import Citation, Job

__all__ = ["ResearchAgent", "kr_agent"]

_FAILED = {"timeout": Outcome.timeout, "failure": Outcome.unavailable}
_CITED = 10
"""So many sources are named."""


class ResearchAgent:
    """The agent."""

    async def run(self, job: Job) -> Reply:
        """Research the question, and make a reply of the report."""
        result = await job.research(job.question.text)
        found = result.results
        if result.status in _FAILED and not found.summary:
            said = "; ".join(error.message for error in result.errors) or "; ".join(found.degradation_notes)
            raise RequestError(
                _FAILED[result.status],
                f"the research ended with `{result.status}`: {said or 'no reason told'}",
            )
        if not found.citations:  # a skeleton says that it is none; nobody may confirm it as an answer
            raise RequestError(
                Outcome.unavailable, "the sources have no answer", hint="see the notes of the report"
            )
        data = _data(result)
        return Reply(
            text=data["answer"], data=data, model="research", cost_usd=0.0, notes=found.degradation_notes
        )


def _data(result: ResearchResult) -> dict[str, Any]:
    found = result.results
    cited = [one for one in found.citations if f"[{one.n}]" in found.summary]
    sources = [f"[{one.n}] {_place(one)}" for one in cited[:_CITED]]
    consulted = ", ".join(f"{one.source} ({one.outcome or one.status})" for one in found.sources_consulted)
    rationale = f"from the report {found.report_path}" if found.report_path else "from what the sources say"
    return {
        "answer": "\n".join([found.summary, *(["", "Sources:", *sources] if sources else [])]),
        "rationale": f"Confidence {found.confidence or 'low'}, {rationale}{f'; consulted: {consulted}' if consulted else ''}.",
        "confidence": found.score or 0,
        "uncertainty_reasons": _doubts(result),
    }


def _doubts(result: ResearchResult) -> list[str]:
    """What speaks against the answer; the reasons of a score are doubts where it is not high."""
    found = result.results
    reasons = () if found.confidence == "high" else found.reasons
    return list(dict.fromkeys([*found.degradation_notes, *reasons]))


def _place(citation: Citation) -> str:
    return f"{citation.url} ({citation.locator})" if citation.locator else citation.url


@kr_core.hookimpl
def kr_agent() -> Provider[kr_core.plugin.Agent]:
    """The research pipeline."""
    return Provider(lambda _settings, _setup: ResearchAgent())
