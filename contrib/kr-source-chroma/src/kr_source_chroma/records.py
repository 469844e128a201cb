"""What a collection holds, and what the source asks of it, wherever it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kr_core import RequestError
from kr_core.plugin import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import SourceContext

__all__ = ["Collection", "Record", "records"]


class Record(NamedTuple):
    """A document of a collection; ordered by its id."""

    id: str
    text: str
    metadata: Mapping[str, Any]


class Collection(Protocol):
    """A collection of ChromaDB; each method raises RequestError where it cannot be read, which says what to do."""

    async def length(self, context: SourceContext) -> int:
        """How many numbers its vectors have; 0 while it holds none."""

    async def holding(self, words: Sequence[str], context: SourceContext) -> Sequence[Record]:
        """Documents that hold one of these words, letter by letter."""

    async def nearest(self, vector: Sequence[float], most: int, context: SourceContext) -> Sequence[Record]:
        """The documents whose vectors lie nearest."""


def records(answer: object, *, nested: bool, where: str) -> list[Record]:
    """The documents in an answer of ChromaDB; those that have no text are left out.

    Args:
        answer: what `get` or `query` came to.
        nested: whether there is a list for each of several questions, as of `query`; the first is taken.
        where: whose answer it is.

    Raises:
        RequestError: it is none.
    """
    try:
        assert isinstance(answer, Mapping)
        columns = [answer[key] for key in ("ids", "documents", "metadatas")]
        ids, texts, metadatas = [column[0] for column in columns] if nested else columns
        return [
            Record(str(one), text, metadata if isinstance(metadata, Mapping) else {})
            for one, text, metadata in zip(ids, texts, metadatas, strict=True)
            if isinstance(text, str) and text.strip()
        ]
    except (AssertionError, KeyError, IndexError, TypeError, ValueError):
        raise RequestError(Outcome.bad_answer, "the answer is none of ChromaDB's", where=where) from None
