"""The page of spot checks: one accepted answer at a time, with a key for each verdict. It works without the script."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import RedirectResponse
from starlette.routing import Route

from kr_core.errors import ConfigError
from kr_core.review.spot_check_review import CheckVerdict, SpotCard, SpotChecks
from kr_core.server.web.case_inbox import MAX_NAME_LENGTH, MAX_TEXT_LENGTH
from kr_core.server.web.forms import fields_of
from kr_core.server.web.problems import RequestRefused, able

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.server.web.pages import Pages
    from kr_core.server.web.sessions import Sessions

__all__ = ["ChecksPages"]

_VERDICTS: dict[str, CheckVerdict] = {"right": "right", "wrong": "wrong", "unsure": "unsure"}
_ID = re.compile(r"S[0-9]{1,9}")
_STALE_FORM = "This page was shown by another run of the server. Nothing was done; look at it again and send it once more."


class _Shown(NamedTuple):
    card: SpotCard | None
    waiting: int


class ChecksPages:
    """Shows spot checks and takes verdicts.

    Args:
        service: the project's.
        sessions: knows which forms are ours.
        pages: shows a page.
    """

    def __init__(self, service: AsyncKnowledgeRouterService, sessions: Sessions, pages: Pages) -> None:
        self._checks = SpotChecks(service.pipeline)
        self._sessions = sessions
        self._pages = pages

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/checks", self._next),
            Route("/checks/{id}", self._back),
            Route("/checks/{id}", self._judge, methods=["POST"]),
        ]

    async def _next(self, request: Request) -> Response:
        return await self._page(request)

    async def _back(self, _request: Request) -> Response:
        """A refused verdict has the address of its form; loading that again shows what waits."""
        return RedirectResponse("/checks", HTTPStatus.SEE_OTHER)

    async def _page(self, request: Request, status: int = 200, refused: str = "") -> Response:
        after, done = request.query_params.get("after", ""), request.query_params.get("done", "")
        shown = await able(lambda: self._look(after))
        return await self._pages.shown(
            request,
            "checks.html",
            status,
            card=shown.card,
            waiting=shown.waiting,
            refused=refused,
            done=done if _ID.fullmatch(done) and not refused else "",
            longest=MAX_TEXT_LENGTH,
        )

    def _look(self, after: str) -> _Shown:
        """The oldest that waits, or the one behind another that is left for later."""
        ids = [one.id for one in self._checks.waiting()]
        place = ids.index(after) + 1 if after in ids else 0
        if not ids:
            return _Shown(None, 0)
        return _Shown(self._checks.card(ids[place % len(ids)]), len(ids))

    async def _judge(self, request: Request) -> Response:
        fields = await fields_of(request)
        name, by = request.path_params["id"], " ".join(fields.get("by", "").split())
        verdict = _VERDICTS.get(fields.get("verdict", ""))
        if not self._sessions.is_ours(request, fields.get("form", "")):
            return await self._page(request, HTTPStatus.FORBIDDEN, _STALE_FORM)
        fault = ""
        if verdict is None:
            fault = "Say whether the answer is right, wrong, or that you cannot tell."
        elif not by or len(by) > MAX_NAME_LENGTH:
            fault = f"Say who you are, in at most {MAX_NAME_LENGTH} characters."
        if verdict is None or fault:
            return await self._page(request, HTTPStatus.UNPROCESSABLE_ENTITY, fault)
        because = fields.get("because", "")[:MAX_TEXT_LENGTH]
        try:
            await able(lambda: self._checks.judge(name, verdict, by, because))
        except ConfigError as error:
            return await self._page(request, HTTPStatus.CONFLICT, f"Not done: {error.what}.")
        except RequestRefused as error:
            return await self._page(request, error.status, f"Not done: {error.message}")
        answer = RedirectResponse(f"/checks?done={name.strip().upper()}", HTTPStatus.SEE_OTHER)
        self._sessions.keep_name(answer, by)
        return answer
