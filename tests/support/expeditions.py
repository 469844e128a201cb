"""A small world to research: pages about parcels on several sites, found by their words, and what may go wrong with them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime

from kr_core import Finding, Outcome, Passage
from kr_core.expedition.service import Expeditions
from kr_core.text import stems

QUERY = "Which carriers of parcels support tracking, and since which versions?"
PAGES = {
    "https://carriers.example/fast": (
        "Fast Carrier",
        "Fast Carrier supports tracking of parcels. Tracking of parcels was added in version 2.1 by the Relay Protocol.",
    ),
    "https://carriers.example/slow": (
        "Slow Carrier",
        "Slow Carrier does not support tracking of parcels. Its parcels arrive within nine days.",
    ),
    "https://relay.example/protocol": (
        "Relay Protocol",
        "The Relay Protocol tells carriers where parcels are. Since version 3 of the Relay Protocol carriers sign each message.",
    ),
    "https://forum.example/tracking": (
        "Tracking at the forum",
        "For parcels, tracking is supported by Fast Carrier. Nobody knows how the Owl Post works.",
    ),
    "https://owl.example/post": (
        "Owl Post",
        "The Owl Post carries parcels at night. Tracking of owls was removed in version 1.4 for safety.",
    ),
}
ENDINGS = {
    "maximum_cycles",
    "axiom_diminishing_returns",
    "source_exhaustion",
    "zero_findings",
    "budget_exhausted",
}
WHEN = datetime(2026, 2, 5, tzinfo=UTC)


class Library:
    """A source that finds pages by the words that they share with a query, best first.

    Args:
        pages: title and text by address.
        external: whether a search costs a call.
        most: pages of one finding.
        outcomes: what becomes of each search in turn, before the pages are looked at; `ok` for the rest.
        seconds: so long each search takes.
        begun: a file that gets a line when a search begins.
        ended: a file that gets a line when it has its answer.
    """

    timeout_seconds = 20.0

    def __init__(
        self,
        pages=PAGES,
        *,
        external=True,
        most=2,
        outcomes=(),
        seconds=0.0,
        begun=None,
        ended=None,
        **values,
    ):
        self.pages = pages
        self.external = external
        self.most = most
        self.outcomes = list(outcomes)
        self.seconds = seconds
        self.begun = begun
        self.ended = ended
        self.values = values
        self.asked = []

    async def query(self, query, context):
        self.asked.append(query.question)
        _line(self.begun, query.question)
        if self.external:
            context.emit("source.said", {"source": "library", "kind": "asked", "data": query.question})
        if self.seconds:
            await asyncio.sleep(self.seconds)
        outcome = self.outcomes.pop(0) if self.outcomes else "ok"
        if outcome != "ok":
            return Finding(outcome=Outcome(outcome), reason="the engine is down")
        wanted = stems(query.question)
        scored = sorted(
            (
                (len(wanted & stems(f"{title} {text}")), url, title, text)
                for url, (title, text) in self.pages.items()
            ),
            key=lambda entry: (-entry[0], entry[1]),
        )
        found = [
            Passage(text=text, url=url, title=title, locator=title, fetched_at=WHEN, **self.values)
            for score, url, title, text in scored[: self.most]
            if score
        ]
        _line(self.ended, query.question)
        return Finding(outcome=Outcome.ok if found else Outcome.empty, passages=tuple(found))


def _line(file, text):
    if file is not None:
        with open(file, "a") as opened:
            opened.write(f"{text}\n")


async def all_of(updates):
    """Every update of an expedition, in order."""
    async with aclosing(updates) as each:
        return [update async for update in each]


def research(pipeline, query=QUERY, max_cycles=10, **options):
    """Run an expedition to its end and return all that it said."""
    return asyncio.run(all_of(Expeditions(pipeline).run_expedition(query, max_cycles, **options)))


def resume(pipeline, name):
    """Go on with one."""
    return asyncio.run(all_of(Expeditions(pipeline).resume(name)))


def of(updates, kind):
    """The updates of a type."""
    return [update for update in updates if update.type == kind]
