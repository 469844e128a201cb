"""The pages behind the results: which are read, and what becomes of each."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core import RequestError
from kr_core.plugin import Outcome
from kr_core.toolkit import host_of, main_text, refusal, site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import SourceContext
    from kr_plugins.sources.web_search.engines import SearchResult

__all__ = ["FailedPage", "ReadPage", "choose", "read_pages"]

_AT_ONCE = 5
_ENOUGH = 3
"""Pages; with fewer, the next results are tried as well."""
_MOST = 8
"""Pages of one question that are tried."""
_OF_ONE_SITE = 2
_SPARED_SECONDS = 3.0
"""Kept of the time that is left, for what is done with the pages."""


class ReadPage(NamedTuple):
    """A page that was read."""

    url: str
    """Its address after redirects."""
    title: str
    text: str
    """Its main text, as Markdown."""


class FailedPage(NamedTuple):
    """A page that could not be read."""

    host: str
    outcome: str
    reason: str


def choose(results: Sequence[SearchResult]) -> list[SearchResult]:
    """The results whose pages are tried: each page once, and few of one site, since one site agrees with itself."""
    chosen: list[SearchResult] = []
    seen: set[str] = set()
    sites: Counter[str] = Counter()
    for result in results:
        page = result.url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")
        site = site_of(result.url)
        if page not in seen and sites[site] < _OF_ONE_SITE:
            seen.add(page)
            sites[site] += 1
            chosen.append(result)
    return chosen[:_MOST]


async def read_pages(
    results: Sequence[SearchResult], question: str, context: SourceContext, allow_hosts: Sequence[str]
) -> list[ReadPage | FailedPage]:
    """The pages of the first results, and of the next ones where too few could be read; in the order of the results."""
    made: list[ReadPage | FailedPage] = []
    for start in (0, _AT_ONCE):
        if sum(isinstance(one, ReadPage) for one in made) < _ENOUGH:
            made += await _together(results[start : start + _AT_ONCE], question, context, allow_hosts)
    return made


async def _together(
    results: Sequence[SearchResult], question: str, context: SourceContext, allow_hosts: Sequence[str]
) -> list[ReadPage | FailedPage]:
    """Several pages at once; those that are not there in time are left."""
    left = context.deadline - asyncio.get_running_loop().time()
    if not results or left <= 0:
        return []
    tasks = [asyncio.ensure_future(_page(result, question, context, allow_hosts)) for result in results]
    try:
        await asyncio.wait(tasks, timeout=left - min(_SPARED_SECONDS, 0.2 * left))
        return [
            task.result()
            if task.done()
            else FailedPage(host_of(result.url), Outcome.timeout, "not there in time")
            for task, result in zip(tasks, results, strict=True)
        ]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _page(
    result: SearchResult, question: str, context: SourceContext, allow_hosts: Sequence[str]
) -> ReadPage | FailedPage:
    try:
        page = await context.fetch(result.url, allow_hosts=allow_hosts)
        text = await main_text(page)
    except RequestError as error:
        reason = f"{error.what}; {error.hint}" if error.hint else error.what
        return FailedPage(host_of(result.url), error.outcome, reason)
    except Exception as error:  # a page may provoke anything, and others are left
        return FailedPage(host_of(result.url), Outcome.bad_answer, f"{type(error).__name__}: {error}"[:200])
    refused = refusal(text, question)
    if refused is not None or not text.strip():
        return FailedPage(
            host_of(page.url), refused or Outcome.bad_answer, "says nothing but that it cannot be read"
        )
    return ReadPage(page.url, result.title, text)
