"""A collection in a folder, read by the package `chromadb`; none of its documents and vectors is changed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome
from kr_source_chroma.records import records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.plugin import SourceContext
    from kr_source_chroma.records import Record

__all__ = ["Folder"]

Result = TypeVar("Result")

_FILE = "chroma.sqlite3"
_MOST = 200
_NAMED = 10
_INCLUDE = ["documents", "metadatas"]


class Folder:
    """The collection.

    Args:
        root: the project.
        folder: where ChromaDB keeps it, relative to the project.
        name: the collection's.

    Raises:
        ConfigError: the folder is not in the project.
    """

    def __init__(self, root: Path, folder: str, name: str) -> None:
        self._folder = (root.resolve() / folder).resolve()
        self._shown = folder
        self._name = name
        self._lock = threading.Lock()
        if not self._folder.is_relative_to(root.resolve()):
            raise ConfigError(
                f"the folder `{folder}` is not in the project", hint="set `folder` to one below the project"
            )

    async def length(self, context: SourceContext) -> int:
        """How many numbers its vectors have."""
        del context

        def look(collection: Any) -> int:
            vectors = collection.get(limit=1, include=["embeddings"])["embeddings"]
            return 0 if vectors is None or not len(vectors) else len(vectors[0])

        return await self._read(look)

    async def holding(self, words: Sequence[str], context: SourceContext) -> Sequence[Record]:
        """Documents that hold one of these words."""
        del context
        clauses = [{"$contains": word} for word in words]
        where = {"$or": clauses} if len(clauses) > 1 else clauses[0]
        answer = await self._read(
            lambda one: dict(one.get(where_document=where, limit=_MOST, include=_INCLUDE))
        )
        return records(answer, nested=False, where=self._shown)

    async def nearest(self, vector: Sequence[float], most: int, context: SourceContext) -> Sequence[Record]:
        """The documents whose vectors lie nearest."""
        del context
        asked = [list(vector)]
        answer = await self._read(
            lambda one: dict(one.query(query_embeddings=asked, n_results=most, include=_INCLUDE))
        )
        return records(answer, nested=True, where=self._shown)

    async def _read(self, look: Callable[[Any], Result]) -> Result:
        return await asyncio.to_thread(self._look, look)

    def _look(self, look: Callable[[Any], Result]) -> Result:
        """Look into the collection; opened anew each time, since it may be made anew."""
        if not (self._folder / _FILE).is_file():  # ChromaDB would make one
            raise RequestError(Outcome.unavailable, "there is no ChromaDB", where=self._shown)
        try:
            chromadb: Any = import_module("chromadb")
        except ImportError as error:
            hint = 'pip install "kr-source-chroma[folder]"'
            raise RequestError(
                Outcome.unavailable, f"the package chromadb: {error}", where=self._shown, hint=hint
            ) from None
        self._check_version(Path(chromadb.__file__).parent / "migrations")
        with self._lock:
            try:
                client = chromadb.PersistentClient(
                    path=str(self._folder), settings=chromadb.Settings(anonymized_telemetry=False)
                )
                try:
                    there = sorted(one.name for one in client.list_collections())
                    if self._name in there:
                        return look(client.get_collection(self._name, embedding_function=None))
                finally:
                    client.close()  # programs of the user may want to write
            except Exception as error:  # of Rust, SQLite and ChromaDB itself
                raise self._unreadable(error) from None
        named = ", ".join(there[:_NAMED]) or "none"
        raise RequestError(
            Outcome.unavailable,
            f"there is no collection `{self._name}`",
            where=self._shown,
            hint=f"there are: {named}",
        )

    def _check_version(self, shipped: Path) -> None:
        """See that the tables are not those of an older ChromaDB than is installed: it would bring them up to date.

        Raises:
            RequestError: they are not, or this is no database.
        """
        known = {(one.parent.name, one.name) for one in shipped.glob("*/*.sql")}
        if not known:  # it has gone elsewhere; ChromaDB says itself what it cannot read
            return
        try:
            with closing(sqlite3.connect(f"{(self._folder / _FILE).as_uri()}?mode=ro", uri=True)) as database:
                applied = set(database.execute("select dir, filename from migrations").fetchall())
        except sqlite3.Error as error:
            raise self._unreadable(error) from None
        if known - applied:
            raise RequestError(
                Outcome.unavailable,
                "its tables are those of an older ChromaDB",
                where=self._shown,
                hint="open it once with a program of your own, which brings it up to date",
            )

    def _unreadable(self, error: Exception) -> RequestError:
        said = f"ChromaDB cannot read it: {' '.join(str(error).split())[:200] or type(error).__name__}"
        return RequestError(
            Outcome.unavailable,
            said,
            where=self._shown,
            hint="see whether it is whole, and which version of ChromaDB wrote it",
        )
