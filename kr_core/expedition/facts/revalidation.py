"""Whether what an axiom quotes still stands in the documents that are indexed and the packages that are installed: a page that was changed says it no longer, nor does another version."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.config.plugin_names import DOCUMENTS_SOURCE
from kr_core.errors import StorageError
from kr_core.evidence.citations import holds
from kr_core.files import read_text
from kr_core.project.project import LocalProject
from kr_core.search.documents.hits import shown
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.model.expedition import Signal
    from kr_core.protocols import Project

__all__ = ["lost"]

_LARGEST = 10_000_000
_PACKAGE = re.compile(r"pkg:pypi/([^@]+)@(.+)")
_LINE = re.compile(r":\d+(?:-\d+)?$")
_COMMENT = re.compile(r"^[ \t]*#:?", re.MULTILINE)
"""Marks of documentation that stands in comments; quotes are without them."""


def lost(
    signals: Iterable[Signal], state_folder: Path | None = None, project: Project | None = None
) -> frozenset[Signal]:
    """The signals whose quotes indexed documents, and the files of installed Python packages, do not hold any more.

    A document that was taken out of the index holds nothing. Where there is no index, or it cannot be read, nothing can be
    looked up, and nothing is lost; nor is what stands in a package that is not installed. Reads files; call it off the
    event loop.

    Args:
        signals: of any kind; those of other sources are passed over.
        state_folder: the project's `.kr/`, where the index lies; without it no document is looked up.
        project: in whose environments packages are installed; without it none is looked up.
    """
    every = tuple(signals)
    found = set(_of_documents(every, state_folder) if state_folder is not None else ())
    if isinstance(project, LocalProject):
        found.update(one for one in every if _of_another_version(one, project))
    return frozenset(found)


def _of_another_version(signal: Signal, project: LocalProject) -> bool:
    """Whether another version of a signal's package is installed, whose file does not hold the quote."""
    told = _PACKAGE.fullmatch(signal.source)
    installed = project.distribution(told[1]) if told else None
    if told is None or installed is None or installed.version == told[2]:
        return False
    name = _LINE.sub("", signal.locator)
    first, _slash, below = name.partition("/")
    path = installed.metadata_folder / below if first.endswith(".dist-info") else installed.site / name
    if ".." in path.parts or not path.resolve().is_relative_to(installed.site.resolve()):
        return False
    try:
        text = read_text(path, limit=_LARGEST, within=installed.environment.bounds, errors="replace")
    except OSError:  # it has no such file any more
        return True
    return not (holds(text, signal.quote) or holds(_COMMENT.sub("", text), signal.quote))


def _of_documents(signals: Iterable[Signal], state_folder: Path) -> frozenset[Signal]:
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
    ours = signal.found_by == DOCUMENTS_SOURCE or signal.type == "INFERENCE"
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
