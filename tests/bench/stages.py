"""What it costs to be a stage: seven no-op plugins through the engine, against seven plain calls.

Run as a program it prints one JSON object of lists, in seconds for one run: `plain`, `engine` and `engine of 1000`
(a thousand runs in flight in one event loop), and the same for whole research (`research`, `research of 1000`).
"""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import Future
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from kr_core import Pipeline
from kr_core.config import given
from kr_core.plugin import Candidates, Finding, Outcome, Passage, Score, WriteResult
from kr_core.research.stage_runner import StageRunner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


ROUNDS = 9
RUNS = 5_000
RESEARCHED = 300
MANY = 1_000

_PASSAGE = Passage(text="x", url="https://example.org/x", title="x", coverage=1.0)
_FINDING = Finding(outcome=Outcome.ok, passages=(_PASSAGE,))
_SCORE = Score(score=50, level="medium", reasons=("no-op",))
_DURABLE: Future[None] = Future()
_DURABLE.set_result(None)


class Idle:
    """Offers whatever a protocol asks for; what a run does not use does nothing."""

    def __getattr__(self, _name: str) -> Callable[..., Any]:
        return lambda *_values, **_options: ()


class Journal(Idle):
    """Keeps nothing."""

    def append(self, _events: Any) -> Future[None]:
        return _DURABLE

    def spend(self, *_call: Any) -> bool:
        return True

    def refund(self, _grant: str) -> None:
        return None

    def spent(self, *_story: Any) -> int:
        return 0


class Store(Idle):
    """Has nothing and keeps nothing."""

    def candidates(self, _query: Any) -> Candidates:
        return Candidates(())

    def write(self, _report: str, _evidence: Any, entry: Any, **_how: Any) -> WriteResult:
        return WriteResult(entry, entry.path, 1)


class Source:
    """Always has the same answer, and lets others run before it gives it."""

    external = False
    timeout_seconds = 5.0

    async def query(self, _query: Any, _context: Any) -> Finding:
        await asyncio.sleep(0)  # else no two runs would be in flight at a time
        return _FINDING


class Scorer:
    """Always says the same."""

    def score(self, *_answer: Any) -> Score:
        return _SCORE


class Renderer:
    """Always prints the same."""

    def render(self, _report: Any) -> str:
        return "x"


def watch(_event: object) -> None:
    """An observer."""


def runs() -> tuple[Callable[[], Awaitable[None]], Callable[[], Awaitable[None]]]:
    """Seven calls of no-op plugins: plainly, and each as a stage of a run with a journal and an observer."""
    store, source, scorer, renderer, journal = Store(), Source(), Scorer(), Renderer(), Journal()

    class Entry:
        path = ""

    def look_up() -> Candidates:
        return store.candidates(None)

    def route() -> Source:
        return source

    async def consult() -> Finding:
        return await source.query(None, None)

    def compose() -> None:
        return None

    def score() -> Score:
        return scorer.score(None, None, None)

    def render() -> str:
        return renderer.render(None)

    def keep() -> WriteResult:
        return store.write("", None, Entry)

    async def plain() -> None:
        look_up()
        route()
        await consult()
        compose()
        score()
        render()
        keep()

    async def engine() -> None:
        run = StageRunner(journal, (watch,))
        run.stage("lookup", look_up)
        run.stage("route", route)
        await run.wait_for_stage("consult", consult)
        run.stage("compose", compose)
        run.stage("score", score)
        run.stage("render", render)
        run.stage("keep", keep)
        run.settle()

    return plain, engine


def research(folder: Path, journal: Any = None) -> Callable[[], Awaitable[None]]:
    """A whole run of research with the same plugins: threads, deadlines, checked findings and a composed answer too."""
    pipeline = Pipeline(
        given({}, folder),
        store=cast("Any", Store()),
        sources=[Source()],
        scorer=Scorer(),
        renderer=Renderer(),
        journal=journal or Journal(),
        logs=[],
    )
    # Many versions, since the same question in flight twice would be researched once.
    versions = [f"1.{number}" for number in range(2 * MANY)]
    question = "How do I set a timeout?"
    requests = cycle([pipeline.request(question, framework="example", version=each) for each in versions])

    async def whole() -> None:
        answer = await pipeline.aresearch(next(requests))
        assert answer.result.status == "success", answer.result

    return whole


async def seconds_each(work: Callable[[], Awaitable[None]], runs: int, in_flight: int = 1) -> float:
    """Seconds for one of so many runs, with some of them in flight at a time."""

    async def worker() -> None:
        for _ in range(runs // in_flight):
            await work()

    start = perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return (perf_counter() - start) / runs


async def measure(folder: Path) -> dict[str, list[float]]:
    """All of them in turn, so that what slows the machine for a while slows all."""
    plain, engine = runs()
    whole = research(folder)
    kinds: dict[str, tuple[Callable[[], Awaitable[None]], int, int]] = {
        "plain": (plain, RUNS, 1),
        "engine": (engine, RUNS, 1),
        "engine of 1000": (engine, RUNS, MANY),
        "research": (whole, RESEARCHED, 1),
        "research of 1000": (whole, MANY, MANY),
    }
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for warm in range(ROUNDS + 1):
        for name, (work, count, in_flight) in kinds.items():
            seconds = await seconds_each(work, count, in_flight)
            if warm:
                found[name].append(seconds)
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1])))))
