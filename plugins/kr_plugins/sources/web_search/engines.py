"""Search engines as they answer over the wire: SearXNG of both generations, and Brave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kr_core import RequestError
from kr_core.plugin import Outcome, Rate
from kr_core.toolkit import json_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from kr_core.plugin import SourceContext

__all__ = ["BRAVE", "Brave", "Engine", "SearXNG", "SearchResult", "SearchResults"]

BRAVE = "https://api.search.brave.com/res/v1/web/search"
_MOST = 20
"""Results that are looked at."""
_SUSPENDED_SECONDS = 120.0
"""So long searx leaves an engine that failed in peace, and does not say so: it then answers that there is nothing."""
_NAMED = 5
"""So many engines that did not answer are named."""


class SearchResult(NamedTuple):
    """A page that was found; what the engine says of it is not used, for a page must say it itself."""

    url: str
    title: str


class SearchResults(NamedTuple):
    """What was found, best first."""

    found: tuple[SearchResult, ...]
    notes: tuple[str, ...] = ()


class Engine(Protocol):
    """A search engine."""

    rate: Rate
    """How often it may be asked."""
    location: str
    """Its address, without what is asked there."""

    async def search(self, context: SourceContext, text: str) -> SearchResults:
        """Search.

        Raises:
            RequestError: it did not look; the `outcome` says of which kind that is.
        """


class SearXNG:
    """An instance of SearXNG, or of searx before it.

    Args:
        url: where the instance is, with or without `/search`.
    """

    rate = Rate(2, 1.0)
    """Whoever is asked too often by it suspends it, and for an hour."""

    def __init__(self, url: str) -> None:
        base = url.rstrip("/")
        self.location = base if base.endswith("/search") else f"{base}/search"

    async def search(self, context: SourceContext, text: str) -> SearchResults:
        """Search the engines of the instance."""
        # Its limiter takes requests without these headers for those of a robot that hides.
        headers = {"Accept": "application/json, text/html;q=0.1", "Accept-Language": "en;q=1.0, *;q=0.5"}
        params = {"q": text, "format": "json"}
        response = await context.http.get(self.location, params=params, headers=headers)
        self._check(response)
        try:
            told = json_of(response)
        except RequestError as error:
            raise RequestError(error.outcome, error.what, where=self.location, hint=_ENABLE) from None
        if not isinstance(told, dict) or not isinstance(told.get("results"), list):
            raise RequestError(Outcome.bad_answer, "the answer is no list of results", where=self.location)
        found = tuple(_results(told["results"]))
        silent = _unresponsive(told.get("unresponsive_engines"))
        if told["results"]:
            return SearchResults(found, (f"engines that did not answer: {silent}",) if silent else ())
        failed = f"unresponsive {self.location}"
        if silent:
            await context.cache.set(failed, silent, _SUSPENDED_SECONDS)
        elif before := await context.cache.get(failed):
            silent = f"{before}, a moment ago"
        if silent:
            raise RequestError(
                Outcome.unavailable, f"its engines did not answer: {silent}", where=self.location
            )
        return SearchResults(())

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        if status == 403:
            raise RequestError(
                Outcome.blocked, "it does not answer in JSON (403)", where=self.location, hint=_ENABLE
            )
        if status == 429:
            hint = (
                "set `server.limiter: false` there, or let this machine pass (`pass_ip` in its limiter.toml)"
            )
            raise RequestError(Outcome.limited, "its limiter refuses (429)", where=self.location, hint=hint)
        if response.has_redirect_location:
            target = response.headers["location"].partition("?")[0][:200]
            raise RequestError(
                Outcome.bad_answer,
                f"it redirects to {target}",
                where=self.location,
                hint="set `url` to its real address",
            )
        raise _refused(response, self.location)


_ENABLE = "enable JSON in its settings.yml: `search.formats: [html, json]`"


class Brave:
    """Brave Search, by its API.

    Args:
        url: where the API is.
        key: the subscription's token.
    """

    rate = Rate(1, 1.0)
    """The smallest plan's."""

    def __init__(self, url: str, key: str) -> None:
        self.location = url or BRAVE
        self._key = key

    async def search(self, context: SourceContext, text: str) -> SearchResults:
        """Search the web."""
        headers = {"Accept": "application/json", "X-Subscription-Token": self._key}
        params = {"q": text, "count": str(_MOST), "text_decorations": "false", "result_filter": "web"}
        response = await context.http.get(self.location, params=params, headers=headers)
        if response.status_code != 200:
            raise _refused(response, self.location)
        told = json_of(response)
        if not isinstance(told, dict) or told.get("type") != "search":
            raise RequestError(Outcome.bad_answer, "the answer is no list of results", where=self.location)
        web = told.get("web")  # which is not there where nothing was found
        results = web.get("results") if isinstance(web, dict) else None
        return SearchResults(tuple(_results(results if isinstance(results, list) else [])))


_OUTCOMES = {
    401: Outcome.blocked, 402: Outcome.limited, 403: Outcome.blocked, 407: Outcome.blocked, 429: Outcome.limited,
}  # fmt: skip


def _refused(response: httpx.Response, place: str) -> RequestError:
    """What an answer means that is none."""
    status = response.status_code
    outcome = _OUTCOMES.get(status, Outcome.unavailable if status >= 500 else Outcome.bad_answer)
    said = _said(response)
    if "TOKEN" in said:  # Brave says 422 of a wrong one
        outcome = Outcome.blocked
    return RequestError(outcome, f"answered {status}{f': {said}' if said else ''}", where=place)


def _said(response: httpx.Response) -> str:
    """What a service says of its refusal, where it says it in JSON."""
    try:
        told: Any = json_of(response)
    except RequestError:
        return ""
    error = told.get("error") if isinstance(told, dict) else None
    if isinstance(error, dict):
        error = " ".join(one for one in (error.get("code"), error.get("detail")) if isinstance(one, str))
    return error[:200] if isinstance(error, str) else ""


def _results(told: list[Any]) -> Iterator[SearchResult]:
    for one in told[:_MOST]:
        url, title = (one.get("url"), one.get("title")) if isinstance(one, dict) else (None, None)
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            yield SearchResult(url, title if isinstance(title, str) else "")


def _unresponsive(told: Any) -> str:
    """The engines that did not answer, and what each says: pairs, or in some versions more."""
    if not isinstance(told, list):
        return ""
    named = []
    for one in told:
        parts = [part for part in one if isinstance(part, str)] if isinstance(one, list) else [str(one)]
        named += [f"{parts[0]} ({', '.join(parts[1:])})" if parts[1:] else parts[0]] if parts else []
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more
