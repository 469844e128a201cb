"""The pages of expeditions: the list, and one with its axioms and what says them. All of it works without the script."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.routing import Route

from kr_core.expedition.facts.axiom import MEANINGS
from kr_core.expedition.facts.corroboration import voices, where
from kr_core.expedition.provenance import ending_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.model.expedition import Axiom, Finished, Signal
    from kr_core.server.web.expedition_browser import ExpeditionBrowser

__all__ = ["ExpeditionPages"]

_MAX_LINK_LENGTH = 2000


class ExpeditionPages:
    """Shows expeditions.

    Args:
        research: looks at them.
        shown: makes a page of a template and its values, for whoever asks.
    """

    def __init__(self, research: ExpeditionBrowser, shown: Callable[..., Awaitable[Response]]) -> None:
        self._research = research
        self._shown = shown

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/expeditions", self._list), Route("/expeditions/{id}", self._one)]

    async def _list(self, request: Request) -> Response:
        before = request.query_params.get("before", "")
        found = await self._research.listed(before)
        return await self._shown(request, "expeditions.html", found=found, paged=bool(before))

    async def _one(self, request: Request) -> Response:
        seen = await self._research.seen(request.path_params["id"])
        return await self._shown(
            request,
            "expedition.html",
            seen=seen,
            kept=seen.kept,
            done=seen.kept.finished,
            ending=None if seen.kept.finished is None else ending_of(seen.kept.finished),
            answer=None if seen.kept.finished is None else _body(seen.kept.finished),
            branches=_branches(seen.axioms),
            link=_link,
            where=where,
            independent=_independent,
        )


def _branches(axioms: Sequence[Axiom]) -> list[tuple[str, list[Axiom]]]:
    """The axioms by category, those without any left out."""
    return [
        (category, ours)
        for category in MEANINGS
        if (ours := [axiom for axiom in axioms if axiom.category == category])
    ]


def _body(finished: Finished) -> str:
    """The answer without the question above it, which is the page's own heading."""
    return finished.answer.partition("\n")[2] if finished.answer.startswith("# ") else finished.answer


def _link(signal: Signal) -> str:
    """Where a browser finds what a signal was taken from; empty for what lies on a disk."""
    try:
        parts = urlsplit(signal.source)
    except ValueError:
        return ""
    safe = parts.scheme in {"http", "https"} and parts.hostname and len(signal.source) <= _MAX_LINK_LENGTH
    return signal.source if safe else ""


def _independent(axiom: Axiom) -> int:
    return len(voices(axiom.signals))
