"""Passages as they lie in the index: words for the full-text search, and blocks of passages compressed together."""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.search.documents.tokenizer import searchable
from kr_core.search.word_vectors import MAX_WORDS, readable_table, row_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.search.documents.chunking import Chunk
    from kr_core.search.word_vectors import WordTable

BLOCK = 16_384
"""Characters of passages that are compressed together: larger ones are smaller on disk, and slower to look into."""
NUMBERED = 1024
"""Passages of a block at most. A passage's number is its block's, times this, and its place in it; none is given twice."""
_LEVEL = 1

BLOCKS = """b.id, f.id, c.name, r.path, f.path, f.title, b.data
from blocks b join files f on f.id = b.file join roots r on r.id = f.root join collections c on c.id = r.collection"""
"""What `stored` takes, as SQLite selects it."""
_NAMES_COUNT = 4
"""How many times a word of the headings counts; chosen on one half of ODEX."""
_NAMES, _BODY = 60, 400
"""Words of the headings and of the text that count."""
_READ = 6_000
"""Characters that hold so many words."""
assert _NAMES_COUNT * _NAMES + _BODY <= MAX_WORDS


class PackedBlock(NamedTuple):
    """A block of a file's passages, as it is written."""

    words: list[tuple[str, str]]
    """For each passage what its headings and its file's name say, and what it says itself."""
    data: bytes
    vectors: bytes
    """The passages' vectors, one behind the other; empty where the table of words cannot be read."""


class StoredPassage(NamedTuple):
    """A passage as it lies in the index."""

    id: int
    file: int
    collection: str
    root: str
    """The folder or file that was indexed."""
    path: str
    """Below the root; empty where the root is the file."""
    location: str
    outer: str
    """The headings that lead to it and do not stand in it."""
    name: str
    """The heading that it begins with."""
    title: str
    """What its file calls itself."""
    body: str
    """Verbatim."""
    code: bool
    head: str = ""
    """The heading vector_rows of the table whose vector_rows it begins with."""


def packed(root: str, path: str, title: str, pieces: Iterable[Chunk]) -> Iterator[PackedBlock]:
    """The passages of a file in blocks, in order.

    Args:
        root: the folder or file that was indexed.
        path: below the root; empty where the root is the file.
        title: what the file calls itself.
        pieces: its passages.
    """
    named = path_words(root, path)
    held = 0
    waiting: list[Chunk] = []
    for piece in pieces:
        waiting.append(piece)
        held += len(piece.text)
        if held >= BLOCK or len(waiting) == NUMBERED:
            yield _block(waiting, named, title)
            waiting, held = [], 0
    if waiting:
        yield _block(waiting, named, title)


def _block(pieces: list[Chunk], named: str, title: str) -> PackedBlock:
    """Where each passage begins and ends, then their texts, compressed together."""
    places = [
        [len(one.outer), len(one.name), len(one.head), len(one.text), one.kind == "code", one.location]
        for one in pieces
    ]
    texts = "".join([part for one in pieces for part in (one.outer, one.name, one.head, one.text)])
    whole = f"{json.dumps(places)}\n{texts}"
    return PackedBlock(
        [(name_words(named, title, one.outer, one.name), body_words(one.head, one.text)) for one in pieces],
        zlib.compress(whole.encode("utf-8", "surrogatepass"), _LEVEL),
        vector_rows((f"{named} {title} {one.outer} {one.name}", f"{one.head}\n{one.text}") for one in pieces),
    )


def stored(
    vector_rows: Iterable[tuple[Any, ...]], wanted: frozenset[int] | None = None
) -> Iterator[StoredPassage]:
    """The passages of blocks as `BLOCKS` selects them, in order.

    Args:
        vector_rows: the blocks.
        wanted: the numbers of the passages; None for all.
    """
    for block, file, collection, root, path, title, data in vector_rows:
        places, _line, text = zlib.decompress(data).decode("utf-8", "surrogatepass").partition("\n")
        start = 0
        for number, (outer, name, head, body, code, place) in enumerate(
            json.loads(places), start=block * NUMBERED
        ):
            named, headed, begun = start + outer, start + outer + name, start + outer + name + head
            if wanted is None or number in wanted:
                yield StoredPassage(
                    number, file, collection, root, path, place, text[start:named], text[named:headed], title,
                    text[begun : begun + body], bool(code), text[headed:begun],
                )  # fmt: skip
            start = begun + body


def block_of(passage: int) -> int:
    """The number of the block in which a passage lies."""
    return passage // NUMBERED


def words_of(one: StoredPassage) -> tuple[str, str]:
    """What was put into the full-text index for a passage, letter by letter."""
    named = path_words(one.root, one.path)
    return name_words(named, one.title, one.outer, one.name), body_words(one.head, one.body)


def path_words(root: str, path: str) -> str:
    """The words of a path that tell what a file is about: its last folders below the root, and its name."""
    parts = (path or root.rpartition("/")[2]).split("/")
    stem, dot, ending = parts[-1].rpartition(".")
    return " ".join([*parts[-3:-1], stem if dot and len(ending) <= 8 else parts[-1]])


@lru_cache(256)
def name_words(named: str, title: str, outer: str, name: str) -> str:
    """What the headings of a passage and its file's name say, for the index."""
    return searchable(f"{named} {title} {outer} {name}")


def body_words(head: str, body: str) -> str:
    """What a passage says, for the index."""
    return searchable(f"{head}\n{body}" if head else body)


def vector_rows(passages: Iterable[tuple[str, str]]) -> bytes:
    """The vectors of passages, each given by its names and its text; nothing where the table cannot be read."""
    table = readable_table()
    if table is None:
        return b""
    made = bytearray()
    for names, text in passages:
        made += row_of(_total(table, names) + table.total(tokens(text[:_READ])[:_BODY])).tobytes()
    return bytes(made)


@lru_cache(256)
def _total(table: WordTable, names: str) -> int:
    # the same for one passage of a file after another
    return _NAMES_COUNT * table.total(tokens(names)[:_NAMES])
