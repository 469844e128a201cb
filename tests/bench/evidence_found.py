"""Expeditions without a model: how much of the evidence for questions that need two paragraphs is among the ten best passages.

The questions and paragraphs are HotpotQA's (Yang et al., 2018), the development half, the paragraphs of all questions pooled; one
source finds ten of them for each query by SQLite's FTS5 with Porter stems. Beside it stands what a single search finds.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sqlite3
from contextlib import aclosing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from harness import ROOT, Limit, Measured, figure

from kr_core import Expeditions, Finding, Outcome, Passage, Pipeline
from kr_core.expedition.passage_pool import PassagePool
from kr_core.toolkit import content_words

if TYPE_CHECKING:
    from kr_core.plugin import ResearchQuery, SourceContext

DATA = Path(os.environ.get("KR_DATA") or ROOT.parent / "shared/data") / "expedition/hotpotqa-dev.jsonl.gz"
CYCLES = 3
BEST = 10
RECALL, BOTH = 0.70, 0.45


class Paragraphs:
    """All paragraphs, searched by their words."""

    external = False
    timeout_seconds = 10.0

    def __init__(self, paragraphs: dict[str, str]) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE pages USING fts5 (title, body, tokenize = 'porter unicode61')"
        )
        self._database.executemany("INSERT INTO pages VALUES (?, ?)", paragraphs.items())

    def found(self, text: str) -> list[Passage]:
        """The ten best paragraphs for a query."""
        asked = " OR ".join(f'"{word}"' for word in content_words(text))
        rows = self._database.execute(
            "SELECT title, body FROM pages WHERE pages MATCH ? ORDER BY bm25(pages) LIMIT ?",
            (asked or '""', BEST),
        )
        return [
            Passage(text=body, title=title, url=f"https://hotpot.example/{title}") for title, body in rows
        ]

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """The same as a finding."""
        del context
        passages = self.found(query.question)
        return Finding(outcome=Outcome.ok if passages else Outcome.empty, passages=tuple(passages))


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure; nothing where the data is not there."""
    if not DATA.exists():
        print(f"expeditions: {DATA} is not there; KR_DATA names the folder of the data")
        return []
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    paragraphs = {title: "".join(sentences) for one in questions for title, sentences in one["context"]}
    source = Paragraphs(paragraphs)
    single = [({page.title for page in source.found(one["question"])}, _wanted(one)) for one in questions]
    seconds: list[float] = []
    several = []
    for number, one in enumerate(questions):
        began = perf_counter()
        several.append((_best(folder / f"expedition-{number}", source, one["question"]), _wanted(one)))
        seconds.append(perf_counter() - began)
    expedition = Measured(
        f"an expedition of at most {CYCLES} cycles over {len(paragraphs)} paragraphs", seconds
    )
    return [
        figure(expedition, expedition, None),
        figure(
            Measured(f"support recall@{BEST}", [_recall(several)]),
            Measured("a single search", [_recall(single)]),
            Limit("least", RECALL),
        ),
        figure(
            Measured(f"both supports in the best {BEST}", [_both(several)]),
            Measured("a single search", [_both(single)]),
            Limit("least", BOTH),
        ),
    ]


def _wanted(one: dict[str, Any]) -> set[str]:
    return {title for title, *_rest in one["supporting_facts"]}


def _recall(found: list[tuple[set[str], set[str]]]) -> float:
    return sum(len(best & wanted) / len(wanted) for best, wanted in found) / len(found)


def _both(found: list[tuple[set[str], set[str]]]) -> float:
    return sum(wanted <= best for best, wanted in found) / len(found)


def _best(folder: Path, source: Paragraphs, question: str) -> set[str]:
    """The titles of the passages that matter most at the end of an expedition, from what its journal has."""
    folder.mkdir()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with Pipeline({}, sources={"paragraphs": source}) as pipeline:
            return asyncio.run(_researched(pipeline, question))
    finally:
        os.chdir(before)


async def _researched(pipeline: Pipeline, question: str) -> set[str]:
    expeditions = Expeditions(pipeline)
    async with aclosing(expeditions.run_expedition(question, CYCLES)) as updates:
        queries = [update.queries async for update in updates if update.type == "sub_queries"]
    pool = PassagePool(question)
    source = pipeline.components.sources()[0].build()
    for number, asked in enumerate(queries, 1):
        for query in asked:
            for passage in source.found(query.text):  # type: ignore[attr-defined]  # it is ours
                pool.add("paragraphs", passage, number)
    return {one.passage.title for _worth, one in pool.ranked()[:BEST]}
