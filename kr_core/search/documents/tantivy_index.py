"""The words of all passages once more in tantivy (extra `fast`), which finds many times as quickly as SQLite.

It follows the index in SQLite, and is asked only while it holds what that holds. Its documents are the passages, and one that says
which state of SQLite's index they are. That one is written in the same commit: who is killed leaves what is behind, never what is wrong.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections import Counter
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from math import log
from string import ascii_letters, digits
from time import monotonic
from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.files import try_lock
from kr_core.search.documents.encoding import words_of
from kr_core.search.documents.sqlite_index import NAME_WEIGHT
from kr_core.text import stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tantivy import Index, IndexWriter, Query, Schema, Searcher

    from kr_core.search.documents.hits import Found
    from kr_core.search.documents.sqlite_index import DocumentStore

__all__ = ["FOLDER_NAME", "FastIndex", "follow"]

FOLDER_NAME = "docs-fast"
_FORMAT = "1"
"""Raised whenever the words that are put into it change; passages of another format are taken out."""
_FELT = 20_000
"""Passages from which on people may wonder that SQLite is asked."""
_SECONDS = 10.0
"""What a killed run loses at most."""
_HEAP = 60_000_000
"""Bytes that tantivy gathers before it writes them."""
_ROUNDS = 3
"""How often one follows a store that others change meanwhile; they follow it themselves when they are done."""
_ROOM = 2 * _HEAP
"""Bytes on the disk; with fewer, what could not be written is taken away again."""
_BEHIND = "is behind, and words are searched slowly; `kr docs index` brings it up to date"
_CLOSED = "may not be written, as reading takes; words are searched slowly"
_MAX_STEMS = 200_000
"""Words whose stems are remembered: about 30 MB."""
_TOKEN = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]+")
_TOKENS = bytes(ord(chr(at).lower()) if chr(at) in ascii_letters + digits else ord(" ") for at in range(256))
"""For `bytes.translate`: letters become small ones, what is no letter or digit a space; three times as fast as a pattern."""


_Stamp = tuple[int, int] | None


class FastIndex:
    """Finds words as a store does: in tantivy while that holds what the store holds, else in the store; for one thread at a time.

    Args:
        store: the passages.
        folder: where tantivy's index of them is, if there is one.

    Raises:
        ImportError: tantivy is not installed.
    """

    def __init__(self, store: DocumentStore, folder: Path) -> None:
        import tantivy  # noqa: F401  who has it not is told so before anything is found

        self._store, self._folder = store, folder
        self._index: Index | None = None
        self._searcher: Searcher | None = None
        self._of = ""
        self._failed: tuple[str, _Stamp] | None = None
        self.lacks = ""
        """Why the last words were looked for in the store, where that would take long, and what to do; else empty."""

    def bm25(self, query: str, limit: int) -> Found:
        """(passage, file, score) of the best passages for a query in FTS5's language, words or phrases joined by `OR`; larger is better.

        Raises:
            sqlite3.Error: the store cannot be read.
        """
        try:
            searcher = self._current()
            if searcher is not None and self._index is not None:
                with _faults(self._folder):
                    return _found(_query(query, self._index.schema), searcher, limit)
        except StorageError as error:
            self._let_go(error)
        return self._store.bm25(query, limit)

    def rarities(self, roots: Sequence[str]) -> dict[str, float]:
        """How rare stems are among the passages, as BM25 has it; a stem that stands nowhere is not in it.

        Raises:
            sqlite3.Error: the store cannot be read.
        """
        try:
            searcher = self._current()
            if searcher is not None:
                with _faults(self._folder):
                    counts = {root: searcher.doc_freq("text", root) for root in roots}
                    return {
                        root: log(1 + searcher.num_docs / count) for root, count in counts.items() if count
                    }
        except StorageError as error:
            self._let_go(error)
        return self._store.rarities(roots)

    def _current(self) -> Searcher | None:
        """What looks for words, if it holds what the store holds now."""
        state = self._store.state
        if self._failed is not None and self._failed == (state, _stamp(self._folder)):
            return None
        self._of, before = state, self._of
        if state != before or self._searcher is None:
            self._searcher = None
            with _faults(self._folder):
                if self._index is None and _may_be_opened(self._folder):
                    self._index = _opened(self._folder)
                if self._index is not None:
                    self._index.reload()
                    searcher = self._index.searcher()
                    self._searcher = searcher if _is_of(state, self._index, searcher) else None
        behind = self._searcher is None and self._store.size >= _FELT
        why = _CLOSED if self._index is None and self._folder.exists() else _BEHIND
        self.lacks = f"{self._folder}: {why}" if behind else ""
        return self._searcher

    def _let_go(self, error: StorageError) -> None:
        """Ask the store from now on, till one of the two has changed: then this may have been made anew."""
        self._index = self._searcher = None
        self._failed, self.lacks = (self._of, _stamp(self._folder)), f"{error}; words are searched slowly"


def _found(query: Query, searcher: Searcher, limit: int) -> Found:
    hits = searcher.search(query, limit, count=False).hits
    places = [place for _score, place in hits]
    numbers = searcher.fast_field_values("number", places)
    files = searcher.fast_field_values("file", places)
    found = [
        (int(number or 0), int(file or 0), float(score))
        for number, file, (score, _place) in zip(numbers, files, hits, strict=True)
    ]
    return sorted(found, key=lambda one: (-one[2], one[0]))


def _query(query: str, schema: Schema) -> Query:
    """Words that stand there more often, or as several words of one stem, weigh more."""
    from tantivy import Occur, Query

    either = []
    for said, weight in Counter(_stemmed(one) for one in query.split(" OR ")).items():
        match said.split():
            case []:
                continue
            case [root]:
                one = Query.term_query(schema, "text", root, "freq")
            case roots:
                one = Query.phrase_query(schema, "text", list(roots))
        either.append((Occur.Should, Query.boost_query(one, float(weight))))
    return Query.boolean_query(either)


def follow(store: DocumentStore, folder: Path, told: Callable[[float], None] = lambda _share: None) -> None:
    """Bring tantivy's index of a store up to date; one that is damaged is made anew.

    Args:
        store: what is followed.
        folder: of tantivy's index; made if it is missing.
        told: called often with the share of what is new that is in it, 0-1.

    Raises:
        ImportError: tantivy is not installed.
        StorageError: it cannot be written, or another process writes it; it is left behind.
        sqlite3.Error: the store cannot be read.
    """
    import tantivy  # noqa: F401  who has it not makes no folder and no lock

    with ExitStack() as held:
        with _faults(folder, "cannot be written"):
            alone = held.enter_context(try_lock(folder.with_name(f"{folder.name}.lock")))
        if not alone:
            raise StorageError(
                "another `kr docs` writes it", where=str(folder), hint="`kr docs index` when that is done"
            )
        try:
            for share in _follow(store, folder):
                told(share)
        except StorageError:
            if _is_full(folder):  # room on a full disk is for what this is a copy of
                shutil.rmtree(folder, ignore_errors=True)
            raise


def _follow(store: DocumentStore, folder: Path) -> Iterator[float]:
    with _faults(folder, "cannot be written"):
        index = _made(folder)
        for _round in range(_ROUNDS):
            index.reload()
            state, searcher = store.state, index.searcher()
            if _is_of(state, index, searcher):
                return
            yield from _bring(store, state, index, searcher)


def _bring(store: DocumentStore, state: str, index: Index, searcher: Searcher) -> Iterator[float]:
    """Take out passages that are gone, put in new ones, and say which state they are, if the store is still in that."""
    from tantivy import Document, Query

    made = store.made
    there = {name for name, _count in searcher.terms_with_prefix("block", "", filter_query=Query.all_query())}
    wanted = {_block_name(made, number): number for number in store.blocks()}
    writer = index.writer(_HEAP, 1)
    writer.garbage_collect_files()  # what a killed run has left would stand in the way of files of the same name
    for before, _count in searcher.terms_with_prefix("state", ""):
        writer.delete_documents_by_term("state", before)
    for name in there - wanted.keys():
        writer.delete_documents_by_term("block", name)
    new, until = sorted(wanted.keys() - there, key=wanted.__getitem__), monotonic() + _SECONDS
    for done, name in enumerate(new, start=1):
        _add(store, wanted[name], name, writer)
        yield done / len(new)
        if monotonic() > until:
            writer.commit()
            until = monotonic() + _SECONDS
    if store.state == state:
        says = Document()
        says.add_text("state", _state_name(state))
        writer.add_document(says)
    writer.commit()
    writer.wait_merging_threads()


def _add(store: DocumentStore, block: int, name: str, writer: IndexWriter) -> None:
    from tantivy import Document

    found = store.next_block(block - 1)
    passages = store.get(found[1]) if found is not None and found[0] == block else {}
    for number, one in passages.items():
        passage = Document()
        passage.add_unsigned("number", number)
        passage.add_unsigned("file", one.file)
        passage.add_text("block", name)
        named, said = words_of(one)
        for _time in range(int(NAME_WEIGHT)):  # one by one, so that no phrase reaches from one into the next
            passage.add_text("text", _stemmed_name(named))
        passage.add_text("text", _stemmed(said))
        writer.add_document(passage)


@lru_cache(256)
def _stemmed_name(words: str) -> str:
    return _stemmed(words)  # the passages of a file have much the same one after another


def _stemmed(text: str) -> str:
    """The words of a text as SQLite's `porter unicode61 remove_diacritics 2` takes them, with a space between them."""
    if text.isascii():
        tokens = text.encode().translate(_TOKENS).decode().split()
    else:
        plain = _ACCENT.sub("", unicodedata.normalize("NFD", text))
        tokens = _TOKEN.findall(unicodedata.normalize("NFC", plain).lower())
    return " ".join(map(_stems.__getitem__, tokens))


class _Stems(dict[str, str]):
    """The stems of words, made when they are first asked for; twice as fast as a call of `stem` for each."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MAX_STEMS:
            self.clear()
        made = self[word] = stem(word)
        return made


_stems = _Stems()


def _state_name(state: str) -> str:
    return f"{_FORMAT} {state}"


def _block_name(made: str, number: int) -> str:
    """What a block is called: in an index that was made anew another one has its number."""
    return f"{_FORMAT} {made} {number}"


def _is_of(state: str, index: Index, searcher: Searcher) -> bool:
    from tantivy import Query

    query = Query.term_query(index.schema, "state", _state_name(state), "basic")
    return bool(searcher.search(query, 1, count=False).hits)


def _schema() -> Schema:
    from tantivy import SchemaBuilder

    return (
        SchemaBuilder()
        .add_unsigned_field("number", fast=True)
        .add_unsigned_field("file", fast=True)
        .add_text_field("block", tokenizer_name="raw", index_option="basic")
        .add_text_field("text", tokenizer_name="whitespace", index_option="position")
        .add_text_field("state", tokenizer_name="raw", index_option="basic")
        .build()
    )


def _opened(folder: Path, schema: Schema | None = None) -> Index:
    """The index in a folder; with a schema, a new one."""
    from tantivy import Index

    index = Index.open(str(folder)) if schema is None else Index(schema, str(folder))
    index.config_reader("manual")  # else a thread looks for changes twice a second
    return index


def _made(folder: Path) -> Index:
    """The index in a folder, made where there is none; one that is damaged or has other fields is made anew."""
    if folder.exists():
        try:
            with _faults(folder):
                index = _opened(folder)
                index.reload()
                for field in ("block", "text", "state"):  # some of the files are looked into only now
                    index.searcher().doc_freq(field, "")
                if index.schema == _schema():
                    return index
        except StorageError:
            pass  # all that is in it is in the store
        shutil.rmtree(folder)
    folder.mkdir()
    return _opened(folder, _schema())


def _may_be_opened(folder: Path) -> bool:
    """Whether there is an index that may be read: tantivy makes a lock in its folder for that."""
    return folder.exists() and os.access(folder, os.W_OK)


def _stamp(folder: Path) -> _Stamp:
    """What changes with each commit."""
    try:
        status = (folder / "meta.json").stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _is_full(folder: Path) -> bool:
    return shutil.disk_usage(folder.parent).free < _ROOM


@contextmanager
def _faults(folder: Path, what: str = "cannot be used") -> Iterator[None]:
    """What tantivy and the system raise, as an error that says where; a damaged file makes tantivy panic, which is no `Exception`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise StorageError(f"{what}: {error}", where=str(folder), hint=_remedy(folder, error)) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise StorageError(f"{what}: {error}", where=str(folder), hint=_remedy(folder, error)) from None


def _remedy(folder: Path, error: BaseException) -> str:
    if _is_full(folder):
        return "make room on the disk; `kr docs index` tries again"
    if folder.exists() and not folder.is_dir():
        return "move it away; `kr docs index` makes the folder that belongs there"
    if isinstance(error, PermissionError) or not os.access(folder.parent, os.W_OK):
        return "make the project's folder writable"
    return "delete it; `kr docs index` makes it anew"
