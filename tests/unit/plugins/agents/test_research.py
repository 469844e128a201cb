"""The agent `research`: what it makes of a result of the research pipeline."""

import pytest

from kr_core import RequestError, ResearchResult

CITATION = {
    "n": 1,
    "source": "installed_docs",
    "url": "file:parcel/__init__.py",
    "locator": "line 6",
    "quote": "Pass `timeout=`.",
}
FOUND = {
    "summary": "Pass `timeout=` to `send`. [1]",
    "score": 82,
    "confidence": "high",
    "reasons": ["the version is the one in use"],
    "report_path": "parcel/timeout.md",
    "citations": [CITATION],
    "sources_consulted": [{"source": "installed_docs", "status": "success", "outcome": "ok"}],
}


def ask(asking, status="success", errors=(), **results):
    """The reply to a result, and what was researched."""
    asked = []

    async def researcher(question, **options):
        asked.append((question, options))
        return ResearchResult(
            status=status, story_key="ask", session_id="s", results={**FOUND, **results}, errors=errors
        )

    return asking.ask(asking.agent("research"), researcher=researcher), asked


@pytest.mark.req("Q4")
def test_a_report_is_an_answer(asking):
    """The summary with its sources is the answer, the score its confidence; what speaks for it is no doubt."""
    reply, asked = ask(asking)
    assert asked == [("Which session store should we use?", {})]
    assert reply.data == {
        "answer": "Pass `timeout=` to `send`. [1]\n\nSources:\n[1] file:parcel/__init__.py (line 6)",
        "rationale": "Confidence high, from the report parcel/timeout.md; consulted: installed_docs (ok).",
        "confidence": 82,
        "uncertainty_reasons": [],
    }
    assert (reply.cost_usd, reply.notes) == (0.0, ())


@pytest.mark.req("Q6")
def test_doubts_are_told(asking):
    """Where confidence is not high, its reasons are doubts, and so is what went wrong; each once."""
    doubts = {
        "confidence": "medium",
        "score": 55,
        "reasons": ["one source alone"],
        "degradation_notes": ["docs: timeout"],
    }
    reply, _asked = ask(asking, status="degraded", **doubts)
    assert reply.data["confidence"] == 55
    assert reply.data["uncertainty_reasons"] == ["docs: timeout", "one source alone"]
    assert reply.notes == ("docs: timeout",)


@pytest.mark.req("Q6")
def test_what_nobody_measured_counts_as_nothing(asking):
    """Without a score the confidence is 0, and a human decides."""
    reply, _asked = ask(asking, score=None)
    assert reply.data["confidence"] == 0
    assert reply.data["answer"]


@pytest.mark.req("Q7", "R9")
def test_what_cites_nothing_is_no_answer(asking):
    """A skeleton is a text, too; it must not be there to be confirmed."""
    with pytest.raises(RequestError, match="no answer") as raised:
        ask(asking, status="degraded", summary="[No research results available]", citations=[])
    assert raised.value.outcome == "unavailable"


@pytest.mark.req("Q7")
@pytest.mark.parametrize(("status", "outcome"), [("timeout", "timeout"), ("failure", "unavailable")])
def test_research_that_failed_is_a_failure(asking, status, outcome):
    """Where there is no report at all the agent has failed, and says why."""
    errors = [{"type": "disabled", "message": "Knowledge research disabled in config"}]
    with pytest.raises(RequestError, match="disabled in config") as raised:
        ask(asking, status=status, errors=errors, summary="")
    assert raised.value.outcome == outcome
