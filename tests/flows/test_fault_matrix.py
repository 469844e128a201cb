"""Three sources, eight ways each to end: 512 runs against a table that was written by hand from the requirements."""

from __future__ import annotations

import asyncio
import itertools
import re
import tempfile
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import httpx
import pytest
from support.patience import in_time
from support.projects import Bench, found, passage

from kr_core import Finding, Outcome

pytestmark = [pytest.mark.faults, pytest.mark.req("R5", "R6", "R7", "R8", "R9", "R13", "R15")]

QUOTA = "Quota exceeded: you have reached your monthly limit."
SECONDS = 0.2
"""The limit that each source suggests."""


class End(NamedTuple):
    """How a consultation may end, by the requirements."""

    shown: str
    """R6: its word in `sources_consulted`."""
    calls: int
    """R7: what it costs."""
    note: str
    """R9: its line in `degradation_notes`."""
    failed: bool
    """R9: whether the source could not look, as against having found nothing."""


ENDS = {
    "ok": End("success", 1, "", False),
    "empty": End("unavailable", 1, "{}: empty: found nothing", False),
    "pending": End("unavailable", 1, "{}: pending: still being indexed", True),
    "limited": End(
        "unavailable", 1, "{}: limited: Quota exceeded: you have reached your monthly limit.", True
    ),
    "blocked": End("unavailable", 1, "{}: blocked: answered 403", True),
    "timeout": End("timeout", 1, "{}: timeout after 0.2 s", True),
    "unavailable": End("unavailable", 0, "{}: unavailable: ConnectError: connection refused", True),
    "bad_answer": End("unavailable", 1, "{}: bad_answer: returned dict, not a Finding", True),
}
CONFIDENCE = {"context7": "high", "deepwiki": "medium", "web_search": "low"}
"""R13: official documentation with a code example; DeepWiki; one result of the web."""
MEDIUM = 50
NAMES = tuple(CONFIDENCE)


class Source:
    """Ends as it is told."""

    external = True
    timeout_seconds = SECONDS

    def __init__(self, name, end):
        self.name = name
        self.end = end

    async def query(self, _query, _context):
        if self.end == "timeout":
            await asyncio.sleep(3600)
        if self.end == "unavailable":
            raise httpx.ConnectError("connection refused")
        return {
            "ok": found(official=self.name == "context7", agreement=2 if self.name == "deepwiki" else 1),
            "empty": Finding(outcome=Outcome.empty, reason="found nothing"),
            "pending": Finding(outcome=Outcome.pending, reason="still being indexed"),
            "limited": Finding(
                outcome=Outcome.ok, passages=(passage(QUOTA, code=()),)
            ),  # dressed as an answer
            "blocked": Finding(outcome=Outcome.blocked, reason="answered 403"),
            "bad_answer": {"answer": "yes"},
        }[self.end]


def expected(ends):
    """What the requirements say of three sources that end like this."""
    served = next((number for number, end in enumerate(ends) if end == "ok"), None)
    asked = ends if served is None else ends[: served + 1]
    if served is None:
        status = "degraded"
    elif "timeout" in asked:
        status = "timeout"
    elif len(asked) > 1:
        status = "partial"
    else:
        status = "success"
    confidence = "low" if served is None else CONFIDENCE[NAMES[served]]
    failed = [ENDS[end].failed for end in asked]
    notes = [ENDS[end].note.format(name) for name, end in zip(NAMES, asked, strict=False) if end != "ok"]
    if served is None and all(failed):
        notes.append("all_sources_unavailable: no cached content available")
    indexed = None if served is None else "stale" if confidence == "low" else "fresh"
    return {
        "status": status,
        "consulted": [ENDS[end].shown for end in asked] + ["skipped"] * (3 - len(asked)),
        "outcomes": [*asked, *[None] * (3 - len(asked))],
        "notes": notes,
        "budget": 3 - sum(ENDS[end].calls for end in asked),
        "confidence": confidence,
        "indexed": indexed,
    }


def seconds_allowed(ends):
    """Its deadlines, a tenth and half a second."""
    served = next((number for number, end in enumerate(ends) if end == "ok"), 2)
    return SECONDS * 1.1 * ends[: served + 1].count("timeout") + 0.5


def run(folder, ends):
    """What came, and how long it took."""
    bench = Bench(folder)
    try:
        begun = monotonic()
        pipeline = bench.pipeline({name: Source(name, end) for name, end in zip(NAMES, ends, strict=True)})
        result = pipeline.research(pipeline.read_request(bench.request())).result
        took = monotonic() - begun
    finally:
        bench.close()
    results = result.results
    entries = bench.index if (folder / "knowledge-base/index.yaml").exists() else []
    place = "" if results.report_path.startswith(".kr/") else "knowledge-base"
    skeleton = (
        "[No research results available, manual research required]"
        in (folder / place / results.report_path).read_text()
    )
    assert skeleton == (result.status == "degraded")
    assert [line.source for line in results.sources_consulted] == list(NAMES)
    assert all(line.url is None for line in results.sources_consulted if line.status == "skipped")
    assert (results.score >= MEDIUM) == (results.confidence != "low")
    came = {
        "status": result.status,
        "consulted": [line.status for line in results.sources_consulted],
        "outcomes": [line.outcome for line in results.sources_consulted],
        "notes": list(results.degradation_notes),
        "budget": results.budget_remaining,
        "confidence": results.confidence,
        "indexed": entries[0]["status"] if entries else None,
    }
    return came, took


@pytest.mark.parametrize("first", ENDS)
def test_every_combination(tmp_path, first):
    """Status, words, notes, budget, confidence and index are those of the table; and nobody waits beyond the deadlines."""
    wrong, slow = [], []
    for number, rest in enumerate(itertools.product(ENDS, repeat=2)):
        ends = (first, *rest)
        came, took = run(tmp_path / str(number), ends)
        wanted = expected(ends)
        came["notes"] = [re.sub(r"\s+", " ", note) for note in came["notes"]]
        if came != wanted:
            wrong.append(
                (ends, {key: (came[key], wanted[key]) for key in wanted if came[key] != wanted[key]})
            )
        if took > seconds_allowed(ends):
            slow.append(ends)
    assert wrong == []
    for ends in slow:
        in_time(lambda ends=ends: run(Path(tempfile.mkdtemp(dir=tmp_path)), ends), seconds_allowed(ends))
