"""A source for KR: answers from a collection of ChromaDB that is there already, in a folder or on a server.

knowledge_research:
  sources: [chroma, installed_docs]
plugins:
  chroma: {folder: data/chroma, collection: handbook}
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlsplit

from pydantic import Field

from kr_core import ConfigError
from kr_core.plugin import Finding, Outcome, Passage, Provider, Settings, Source, hookimpl
from kr_source_chroma.folder import Folder
from kr_source_chroma.searching import best, candidates
from kr_source_chroma.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.plugin import Embedder, ResearchQuery, Setup, SourceContext
    from kr_source_chroma.records import Collection, Record
    from kr_source_chroma.searching import Hit

__all__ = ["Chroma", "ChromaSettings", "kr_source"]

KR_CONTRACT = 2
"""The version of KR's plugin contract that this is written for."""

_NEAREST = 30
_SHOWN = 6
_MAX_ADDRESS_LENGTH = 2000


class ChromaSettings(Settings):
    """Settings of the source, `plugins.chroma` in `kr.yaml`."""

    folder: str = Field(default="", description="The folder of a PersistentClient, relative to the project.")
    url: Annotated[str, Field(pattern=r"^(?:https?://[^\s/?#]+[^\s?#]*)?$")] = Field(
        default="", description="A Chroma server."
    )
    collection: str = Field(min_length=1, description="The collection's name.")
    tenant: str = Field(default="default_tenant", description="On a server.")
    database: str = Field(default="default_database", description="On a server.")
    token: str | None = Field(default=None, description="For a server that wants one, as `{env: NAME}`.")
    official: bool = Field(
        default=False,
        description="Whether its documents are the authority on what they describe; else no answer from them "
        "is rated better than `low`.",
    )


class Chroma:
    """The source.

    Args:
        collection: what is searched.
        name: what it is called in citations.
        embedder: gives what makes vectors, or None.
        external: whether a search leaves the machine.
        official: whether the passages count as official documentation.
    """

    timeout_seconds = 30.0

    def __init__(
        self,
        collection: Collection,
        name: str,
        embedder: Callable[[], Embedder | None] | None,
        *,
        external: bool,
        official: bool,
    ) -> None:
        self.external = external
        self._collection = collection
        self._name = name
        self._embedder = embedder
        self._official = official

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Search by words and, with an embedder, by vectors.

        Raises:
            RequestError: the collection cannot be read, or the server has refused.
            httpx.TransportError: the server cannot be reached.
        """
        wanted = candidates(query.question)
        if not wanted:
            return Finding(outcome=Outcome.empty, reason="there are no words in the question", reached=False)
        found = {one.id: one for one in await self._collection.holding(wanted, context)}
        near, notes = await self._near(query.question, context)
        found |= {one.id: one for one in near}
        hits, missing = await asyncio.to_thread(best, query.question, sorted(found.values()), _SHOWN)
        passages = tuple(self._passage(hit) for hit in hits)
        return Finding(
            outcome=Outcome.ok if passages else Outcome.empty,
            reason="" if passages else f"nothing about the question in the collection {self._name}",
            passages=passages,
            missing=missing,
            notes=tuple(notes),
            url=passages[0].url if passages else None,
        )

    async def _near(self, question: str, context: SourceContext) -> tuple[Sequence[Record], list[str]]:
        """The documents whose vectors lie nearest to the question's, and a note where they cannot be had."""
        if self._embedder is None:
            return (), []
        try:
            embedder = await asyncio.to_thread(self._embedder)
            if embedder is None:
                return (), []
            (vector,) = await asyncio.to_thread(lambda: list(embedder.embed([question])))
        except KeyboardInterrupt:
            raise
        except Exception as error:  # a plugin may raise anything; words are searched in any case
            return (), [f"embedder: {error}; words alone were searched"]
        length = await self._collection.length(context)
        if not length:
            return (), []
        if len(vector) != length:
            said = f"the embedder's vectors have {len(vector)} numbers, those of the collection {length}"
            return (), [f"{said}: it was made by another one; words alone were searched"]
        return await self._collection.nearest([float(value) for value in vector], _NEAREST, context), []

    def _passage(self, hit: Hit) -> Passage:
        record = hit.record
        page = record.metadata.get("page")
        return Passage(
            text=record.text,
            url=_address(record) or f"chroma:{quote(self._name)}/{quote(record.id)}",
            locator=f"{record.id}, page {page}" if isinstance(page, int | str) and page != "" else record.id,
            title=_title(record),
            kind="section",
            official=self._official,
            coverage=hit.coverage,
            covered=hit.covered,
        )


def _address(record: Record) -> str:
    """Where a document was taken from, if its metadata say it as an address of the web."""
    for key in ("url", "source"):
        value = record.metadata.get(key)
        if not isinstance(value, str) or len(value) > _MAX_ADDRESS_LENGTH or not value.isprintable():
            continue
        try:
            parts = urlsplit(value)
        except ValueError:
            continue
        if parts.scheme in {"http", "https"} and parts.hostname and " " not in value:
            return value
    return ""


def _title(record: Record) -> str:
    title = record.metadata.get("title")
    return " ".join(title.split())[:200] if isinstance(title, str) else ""


@hookimpl
def kr_source() -> Provider[Source]:
    """A collection of ChromaDB."""

    def build(settings: ChromaSettings, setup: Setup) -> Chroma:
        if bool(settings.folder) == bool(settings.url):
            raise ConfigError("needs either `folder` or `url`", hint="name the one where the collection is")
        collection: Collection
        if settings.url:
            place = (settings.tenant, settings.database, settings.collection)
            collection = Server(settings.url, place, settings.token)
        else:
            collection = Folder(setup.project.root, settings.folder, settings.collection)
        return Chroma(
            collection,
            settings.collection,
            setup.embedder,
            external=bool(settings.url),
            official=settings.official,
        )

    return Provider(build, ChromaSettings)
