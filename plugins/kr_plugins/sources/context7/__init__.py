"""Answers from the documentation that Context7 collects, over its REST API.

It sends two requests: one to find the framework's library, one to search its documentation for the question. It caches
the library for 30 days, and never reads a library whose name differs from the framework's. If Context7 lists versions,
it reads the one closest to the version in use, and notes a difference.

It sends the framework's name and the question to the service, as far as `egress` allows.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

import kr_core
from kr_core import ConfigError
from kr_core.plugin import Finding, Outcome, Provider, Settings
from kr_plugins.sources.context7.context7_api import Service, ServiceError, sendable
from kr_plugins.sources.context7.libraries import CachedLibrary, Library, choose
from kr_plugins.sources.context7.library_versions import RequestedVersion, newest, reading
from kr_plugins.sources.context7.snippets import answer, snippets_in
from kr_plugins.sources.repositories import repository_of

if TYPE_CHECKING:
    from kr_core.plugin import ResearchQuery, Setup, SourceContext
    from kr_plugins.sources.context7.snippets import Snippet

_OFFERED = 3
"""So many libraries of other names are named where none has the right one."""


class Context7Settings(Settings):
    """Settings of the source, `plugins.context7` in `kr.yaml`."""

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/?#]+[^\s?#]*$")] = "https://context7.com/api"
    """The address of the REST API."""
    api_key: str | None = None
    """The API key, as `{env: CONTEXT7_API_KEY}`; without a key the service answers fewer questions."""


class Context7:
    """The source.

    Args:
        base_url: where the REST API is.
        api_key: sent with each request; empty for none.
    """

    external = True
    timeout_seconds = 20.0

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Look the library up, unless it is remembered, and ask its documentation."""
        service = Service(context.http, self._base_url, self._api_key, query.question or query.topic)
        repository, notes = await asyncio.to_thread(repository_of, query.framework, context.project)
        finding = await self._asked(service, query, context, repository)
        return finding.model_copy(update={"notes": (*notes, *finding.notes)})

    async def _asked(
        self, service: Service, query: ResearchQuery, context: SourceContext, repository: str | None
    ) -> Finding:
        known = CachedLibrary(context.cache, self._base_url, query.framework, repository)
        try:
            library = await known.library()
            if library is not None:
                try:
                    return await self._read(service, known, library, query)
                except ServiceError as error:
                    if error.code != "library_not_found":
                        raise
            return await self._looked_up(service, known, query, repository)
        except ServiceError as error:
            return Finding(outcome=error.outcome, reason=error.what, url=error.where or None)

    async def _looked_up(
        self, service: Service, known: CachedLibrary, query: ResearchQuery, repository: str | None
    ) -> Finding:
        if not sendable(query.framework, 1):
            return Finding(outcome=Outcome.unavailable, reason="no framework is named", reached=False)
        offered = await service.libraries(query.framework)
        library = choose(offered, query.framework, repository)
        if library is None:
            return Finding(outcome=Outcome.empty, reason=_not_there(query.framework, offered))
        await known.keep(library)
        return await self._read(service, known, library, query)

    async def _read(
        self, service: Service, known: CachedLibrary, library: Library, query: ResearchQuery
    ) -> Finding:
        """What the documentation of a library says, in the version that is closest to the one in use.

        Raises:
            ServiceError: the service does not answer, or has moved the library twice.
        """
        chosen = reading(library.versions, query.framework_version)
        while True:
            try:
                body = await service.context(library.location(chosen.tag))
                break
            except ServiceError as error:
                moved = library.moved_to(error.redirected_to)
                if moved is not None and library.moved_from is None:
                    library = moved
                    await known.keep(library)
                elif error.code == "tag_not_found" and chosen.tag:
                    chosen = chosen.unpinned()
                else:
                    if error.code == "library_not_found":
                        await known.forget()
                    raise error.at(library.page(chosen.tag)) from None
        return await asyncio.to_thread(_finding, snippets_in(body), library, chosen, query)


def _finding(
    snippets: list[Snippet], library: Library, chosen: RequestedVersion, query: ResearchQuery
) -> Finding:
    page = library.page(chosen.tag)
    answered = answer(snippets, library, chosen, query)
    place = library.location(chosen.tag)
    reason = f"Context7 has nothing about the question in {place}"
    if snippets:
        count = f"{len(snippets)} snippet{'s' * (len(snippets) != 1)}"
        reason = f"of {count} that Context7 chose in {place}, none is about the question"
    return Finding(
        outcome=Outcome.ok if answered.passages else Outcome.empty,
        reason="" if answered.passages else reason,
        passages=answered.passages,
        missing=answered.missing,
        url=page,
        version=chosen.version,
        # it marks earlier answers stale, which no stranger's list may do
        newest=newest(library.versions) if library.official else None,
        notes=chosen.notes,
    )


def _not_there(framework: str, offered: list[Library]) -> str:
    others = ", ".join(library.title or library.id for library in offered[:_OFFERED])
    return f"Context7 has no library called {framework}" + (f"; it offers {others}" if others else "")


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """The documentation at Context7."""

    def build(settings: Context7Settings, setup: Setup) -> Context7:
        del setup
        key = (settings.api_key or "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            # The HTTP client would refuse it as well, and show it in its message.
            raise ConfigError("`api_key` has characters that no key has", hint="copy it anew")
        return Context7(settings.base_url, key)

    return Provider(build, Context7Settings, mcp_server=True)
