"""What a project's expeditions have found for a question before: it counts when the same question is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kr_core.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.protocols import Journal

__all__ = ["KIND", "found_before"]

KIND = "expedition"
"""Of a journal's documents, those that are expeditions."""


def found_before(journal: Journal, question: str) -> list[str]:
    """The ids of the axioms that ended expeditions of these very words have found, capitals and marks aside.

    Raises:
        StorageError: the journal cannot be read.
    """
    asked = words(question)
    found: dict[str, None] = {}
    after = ""
    while documents := journal.documents(KIND, "finished", after=after):
        for document in documents:
            finished = document.data.get("finished") or {}
            if words(str(finished.get("query", ""))) == asked:
                found.update(dict.fromkeys(_ids(finished)))
        after = documents[-1].key
    return list(found)


def _ids(finished: dict[str, Any]) -> Iterator[str]:
    for axiom in finished.get("axioms", ()):
        yield str(axiom.get("id", ""))
