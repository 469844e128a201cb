"""A thousand questions at once in one process, two hundred of them with agents that take a second.

Run as a program it prints one JSON object of lists, in seconds: `whole` and `gap` (99th percentile of how late the event loop
comes back to a task that sleeps for 5 ms), and the same for as many sleeps of a second with nothing around them: `asleep`,
`asleep gap`. It fails where a question is without its own answer, and where the process has grown beyond 400 MB.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path
from typing import Any

from at_once import _watched as watched

from kr_core import AsyncKnowledgeRouterService, Pipeline, Question
from kr_core.plugin import Job, Reply

QUESTIONS = 1000
AT_ONCE = 200
SECONDS = 1.0
MAX_BYTES = 400 * 2**20


class Slow:
    """An agent that repeats what it was asked, after a second."""

    async def run(self, job: Job) -> Reply:
        await asyncio.sleep(SECONDS)
        answer = f"The answer to {job.question.text}"
        return Reply(
            text=json.dumps({"answer": answer, "rationale": "", "confidence": 90, "uncertainty_reasons": []})
        )


async def ask(folder: Path) -> tuple[float, float]:
    """Ask all of them; how long it took, and how late the loop was."""
    config: dict[str, Any] = {
        "defaults": {"max_concurrent": AT_ONCE},
        "knowledge_research": {"knowledge_base_path": str(folder / "knowledge-base")},
    }
    pipeline = Pipeline(config, agents={"duc": Slow()})
    async with AsyncKnowledgeRouterService(pipeline) as service:

        async def one(number: int) -> None:
            text = f"Which store of number {number} should we use?"
            result = await service.ask(Question(text=text, topic="storage"))
            if result.status != "accepted" or result.answer is None:
                raise SystemExit(f"{result.status}: {result.notes}")
            if result.answer.content != f"The answer to {text}":
                raise SystemExit(f"{text}: {result.answer.content}")

        async def everything() -> None:
            await asyncio.gather(*map(one, range(QUESTIONS)))

        return await watched(everything)


async def sleep() -> tuple[float, float]:
    """The same without anything around it."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with gate:
            await asyncio.sleep(SECONDS)

    async def everything() -> None:
        await asyncio.gather(*(one() for _ in range(QUESTIONS)))

    return await watched(everything)


def main(folder: Path) -> None:
    """Measure in a folder of its own, and print."""
    asleep, asleep_gap = asyncio.run(sleep())
    whole, gap = asyncio.run(ask(folder))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if size > MAX_BYTES:
        raise SystemExit(f"it took {size / 2**20:.0f} MB")
    print(json.dumps({"whole": [whole], "gap": [gap], "asleep": [asleep], "asleep gap": [asleep_gap]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
