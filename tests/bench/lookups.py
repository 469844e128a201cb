"""Look-ups of KR: an answer of this process, the best of 10,000 topics, an index that has not changed.

Run as a program, with a folder and the file of topics that `knowledge.py` writes, it prints one JSON object of lists, in seconds
for one look-up: `again` (a question, understood and answered before), `watched` (the same with an observer), `warm` (a request,
whose session has a budget of its own to ask for), `fuzzy` (asked for with a topic and tags of their own), `inferred` (with
every word as a tag, as questions of people are), `unchanged` and, of the same index, `yaml`.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import yaml

from kr_core import Pipeline
from kr_core.config import given
from kr_core.knowledge.ids import report_path
from kr_core.plugin import Candidates, Entry, Finding, Outcome, Passage, ResearchQuery
from kr_core.toolkit import TopicIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.plugin import Store

ROUNDS = 9
RUNS = 200
WARM_RUNS = 1000
QUESTION = "How do I set a timeout for a request in httpx?"
ENTRIES = 200
DAY = date(2026, 2, 5)


class Source:
    """Always has the same answer."""

    external = False
    timeout_seconds = 5.0

    async def query(self, *_asked: Any) -> Finding:
        passage = Passage(
            text="Pass `timeout=` to `send` to set the timeout for a parcel.",
            url="https://docs.example/parcel", locator="Timeouts", title="Timeouts", coverage=0.9,
        )  # fmt: skip
        return Finding(outcome=Outcome.ok, passages=(passage,))


def entry(topic: str, tags: tuple[str, ...]) -> Entry:
    return Entry(
        id=f"f-{topic}", framework="f", framework_version="1.0", topic=topic, tags=tags,
        path=report_path("f", topic), created=DAY, last_accessed=DAY,
    )  # fmt: skip


def query(topic: str, tags: tuple[str, ...], *inferred: str) -> ResearchQuery:
    return ResearchQuery(
        framework="f", framework_version="1.0", topic=topic, tags=tags, question=topic, inferred=frozenset(inferred)
    )  # fmt: skip


def warm(
    folder: Path, *, as_request: bool = False, on_event: Callable[[object], None] | None = None
) -> Callable[[], object]:
    """The same question again, in the process that has answered it; its journal and log are those of every project.

    A thousand are asked in a row, so what the journal's thread takes from them counts.
    """
    pipeline = Pipeline(given({}, folder), sources=[Source()], on_event=on_event)
    asked = pipeline.request(QUESTION) if as_request else QUESTION
    seen: list[object] = []
    for _ in range(5):  # researched, found twice, found again by what was kept
        found = pipeline.research(asked)
        seen.append(found.report)
        sleep(0.05)
    assert found.result.status == "cache-hit"
    assert seen[-1] is seen[-2], "it was looked up"
    return lambda: pipeline.research(asked)


def ignore(_event: object) -> None:
    """An observer."""


def fuzzy(topics: Any, *, inferred: bool) -> Callable[[], object]:
    """The best of ten thousand, for one query after the other."""
    named = ("topic", "tags") if inferred else ()
    index = TopicIndex(
        [entry(topic, tuple(topic.split()) if inferred else tags(topic)) for topic in topics["entries"]]
    )
    asked = [
        query(topic, tuple(topic.split()) if inferred else tags(topic), *named) for topic in topics["queries"]
    ]
    position = 0

    def one() -> object:
        nonlocal position
        position = (position + 1) % len(asked)
        return index.best(asked[position])

    for _ in asked:
        one()
    return one


def tags(topic: str) -> tuple[str, ...]:
    """What a person would choose: the longest word."""
    return (max(topic.split(), key=len),)


def unchanged(store: Store) -> Callable[[], Candidates]:
    """The entries of an index that is as it was when it was last read."""
    return lambda: store.candidates(query("topic 7", ("topic",)))


def measure(folder: Path, topics: Any) -> dict[str, list[float]]:
    """All of them in turn."""
    pipeline = Pipeline(given({}, folder / "indexed"), sources=[])
    for number in range(ENTRIES):
        pipeline.store.write(
            "# A report\n", {}, entry(f"topic {number} of many that were asked about", ("topic",))
        )
    text = next((folder / "indexed").rglob("index.yaml")).read_text("utf-8")
    kinds: dict[str, tuple[Callable[[], object], int]] = {
        "again": (warm(folder / "again"), WARM_RUNS),
        "watched": (warm(folder / "watched", on_event=ignore), WARM_RUNS),
        "warm": (warm(folder / "warm", as_request=True), WARM_RUNS),
        "fuzzy": (fuzzy(topics, inferred=False), RUNS),
        "inferred": (fuzzy(topics, inferred=True), RUNS),
        "unchanged": (unchanged(pipeline.store), RUNS),
        "yaml": (lambda: yaml.load(text, Loader=yaml.CSafeLoader), 1),
    }
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for first in range(ROUNDS + 1):
        for name, (work, runs) in kinds.items():
            start = perf_counter()
            for _ in range(runs):
                work()
            if first:
                found[name].append((perf_counter() - start) / runs)
    return found


if __name__ == "__main__":
    where = Path(sys.argv[1])
    for name in ("indexed", "again", "watched", "warm"):
        (where / name).mkdir(exist_ok=True)
    print(json.dumps(measure(where, json.loads(Path(sys.argv[2]).read_text("utf-8")))))
