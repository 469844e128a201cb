"""Answers from web pages that a search engine finds: an instance of SearXNG, or Brave.

It sends the framework's name and the question to the engine, as far as `egress` allows; the sites of the pages see
neither. It fetches five pages, and three more if too few are readable, only from the public internet and as their
robots.txt allows, and searches their sections for the question. No page counts as official documentation, even if it
claims to be: KR rates an answer `low`, or `medium` if independent sites agree. Copies and mirrors of a page count as
one site.

SearXNG is the default, and needs the address of your own instance with JSON enabled (`search.formats: [html, json]`);
public instances refuse programs. Brave needs a key; KR tests it with responses from its documentation, not against the
service. It needs the extra `web`: `pip install "kr-core[web]"`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

import kr_core
from kr_core.plugin import Finding, Outcome, Provider, Rate, Settings
from kr_plugins.sources.web_search.engines import Brave, SearXNG
from kr_plugins.sources.web_search.query import search_text
from kr_plugins.sources.web_search.result_pages import FailedPage, ReadPage, choose, read_pages
from kr_plugins.sources.web_search.web_answer import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import ResearchQuery, Setup, SourceContext
    from kr_plugins.sources.web_search.engines import Engine

__all__ = ["WebSearch", "WebSearchSettings", "kr_source"]

_NOT_SET = {
    "searxng": "set `plugins.web_search.url` to the address of a SearXNG instance, or `engine: brave` with an `api_key`",
    "brave": "set `plugins.web_search.api_key`, such as `{env: BRAVE_API_KEY}`",
}
_TOLD = 5
"""So many pages that could not be read are told of."""


class WebSearchSettings(Settings):
    """Settings of the source, `plugins.web_search` in `kr.yaml`."""

    engine: Literal["searxng", "brave"] = "searxng"
    """The engine that finds the pages."""
    url: Annotated[str, Field(pattern=r"^(?:https?://[^\s/?#]+[^\s?#]*)?$")] = ""
    """The address of the SearXNG instance; for Brave, only if it differs from the service's own."""
    api_key: str | None = None
    """The API key for Brave, as `{env: BRAVE_API_KEY}`."""
    allow_hosts: tuple[
        Annotated[str, Field(pattern=r"^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/@?#\[\]]+)(?::\d{1,5})?$")], ...
    ] = ()
    """Private hosts whose pages KR may fetch: `docs.intranet` (ports 80 and 443) or `docs.intranet:8080`. KR compares
    them with the host name in an address, not with its IP address.
    """


class WebSearch:
    """The source.

    Args:
        engine: what finds the pages; None where none is configured.
        not_set: what to configure then.
        allow_hosts: whose pages may be fetched although they are private.
    """

    external = True
    timeout_seconds = 45.0

    def __init__(self, engine: Engine | None, not_set: str, allow_hosts: Sequence[str]) -> None:
        self.rate: Rate = SearXNG.rate if engine is None else engine.rate
        self.unready = "" if engine else f"no search engine is configured; {not_set}"
        self._engine = engine
        self._allow_hosts = allow_hosts

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Search, read the best pages, and search those."""
        engine, text = self._engine, search_text(query)
        if engine is None:
            return Finding(outcome=Outcome.unavailable, reason=self.unready, reached=False)
        if not text:
            return Finding(
                outcome=Outcome.unavailable, reason="the question has no words to search for", reached=False
            )
        results = await engine.search(context, text)
        if not results.found:
            reason = f"nothing was found for `{text}`"
            return Finding(outcome=Outcome.empty, reason=reason, url=engine.location, notes=results.notes)
        made = await read_pages(choose(results.found), query.question, context, self._allow_hosts)
        pages = [one for one in made if isinstance(one, ReadPage)]
        failed = [one for one in made if isinstance(one, FailedPage)]
        notes = (*results.notes, *(f"{one.host}: {one.reason}" for one in failed[:_TOLD]))
        found = await asyncio.to_thread(answer, pages, query)
        if not found.passages:
            if len(pages) < len(failed):  # what the few others do not say means little
                outcome = _common(failed)
                reason = f"{len(failed)} of {len(made)} pages could not be read"
            else:
                outcome = Outcome.empty
                reason = f"none of {len(pages)} pages is about the question"
            return Finding(
                outcome=outcome, reason=reason, url=engine.location, notes=notes, missing=found.missing
            )
        return Finding(
            outcome=Outcome.ok,
            passages=found.passages,
            url=found.passages[0].url,
            notes=notes,
            missing=found.missing,
        )


def _common(failed: Sequence[FailedPage]) -> Outcome:
    """What became of all pages alike; else that they could not be asked."""
    outcomes = Counter(one.outcome for one in failed)
    only = next(iter(outcomes)) if len(outcomes) == 1 else ""
    return (
        Outcome(only) if only in {Outcome.timeout, Outcome.blocked, Outcome.limited} else Outcome.unavailable
    )


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """Pages of the web."""

    def build(settings: WebSearchSettings, setup: Setup) -> WebSearch:
        del setup
        kr_core.toolkit.require("trafilatura", "web")
        kr_core.toolkit.require("protego", "web")
        engine: Engine | None = None
        if settings.engine == "brave" and settings.api_key:
            engine = Brave(settings.url, settings.api_key)
        elif settings.engine == "searxng" and settings.url:
            engine = SearXNG(settings.url)
        return WebSearch(engine, _NOT_SET[settings.engine], settings.allow_hosts)

    return Provider(build, WebSearchSettings)
