"""Whether what an axiom quotes still stands in the documents that are indexed: a page that was changed says it no longer."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.evidence.quotes import holds
from kr_core.search.documents.searching import shown
from kr_core.search.documents.store import FILE_NAME, DocumentStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.model.expedition import Signal

__all__ = ["lost"]

_FOUND_BY = "local_docs"


def lost(signals: Iterable[Signal], state_folder: Path) -> frozenset[Signal]:
    """The signals of indexed documents whose quotes those documents do not hold any more.

    A document that was taken out of the index holds nothing. Where there is no index, or it cannot be read, nothing can be
    looked up, and nothing is lost. Reads files; call it off the event loop.

    Args:
        signals: of any kind; those of other sources are passed over.
        state_folder: the project's `.kr/`, where the index lies.
    """
    indexed = [one for one in signals if _indexed(one)]
    path = state_folder / FILE_NAME
    if not indexed or not path.exists():
        return frozenset()
    try:
        store = DocumentStore(path)
    except StorageError:  # of another version of KR, or broken
        return frozenset()
    try:
        texts = {
            source: _texts(store, source, state_folder.parent) for source in {one.source for one in indexed}
        }
    except sqlite3.Error:
        return frozenset()
    finally:
        store.close()
    return frozenset(one for one in indexed if not any(holds(text, one.quote) for text in texts[one.source]))


def _indexed(signal: Signal) -> bool:
    """Whether a signal's words were found in an indexed document, by rule or by a model."""
    ours = signal.found_by == _FOUND_BY or signal.type == "INFERENCE"
    return ours and signal.source.startswith(("docs:", "file:"))


def _texts(store: DocumentStore, source: str, root: Path) -> list[str]:
    """What the index has of a document: each passage as it is shown, and all of them in a row."""
    scheme, _colon, place = source.partition(":")
    passages = [
        stored
        for number, below in _places(store, scheme, place, root.resolve())
        for stored in store.of_file(number, below)
    ]
    return [*map(shown, passages), "\n".join(stored.body for stored in passages)]


def _places(store: DocumentStore, scheme: str, place: str, root: Path) -> Iterator[tuple[int, str]]:
    """Where a document may lie in the index: the number of what was indexed, and the path below that."""
    if scheme == "docs":
        collection, _slash, below = place.partition("/")
        yield from ((number, below) for number, _name, _path in store.roots_of(collection))
        return
    document = root / place
    for number, _name, path in store.roots_of():
        if document == Path(path):
            yield number, ""
        elif document.is_relative_to(path):
            yield number, document.relative_to(path).as_posix()
