"""`/hooks/NAME`: where a service calls a channel by itself, beside being asked."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from kr_core.errors import ConfigError, KRError, RequestError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from kr_core.ask.async_service import AsyncKnowledgeRouterService

__all__ = ["Webhooks"]

_SECONDS = 8.0
"""Services give up after 10 s (GitHub's webhooks); what takes longer goes on without them."""
_MOST = 16
"""Calls at once; each holds its body."""
_STATUS = {"blocked": HTTPStatus.UNAUTHORIZED, "bad_answer": HTTPStatus.BAD_REQUEST}


class Webhooks:
    """Hands calls of services to their channels.

    Args:
        service: the project's.
    """

    def __init__(self, service: AsyncKnowledgeRouterService) -> None:
        self._service = service
        self._going_on: set[asyncio.Task[int]] = set()

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/hooks/{channel}", self._called, methods=["POST"])]

    async def _called(self, request: Request) -> Response:
        if len(self._going_on) >= _MOST:
            return PlainTextResponse("Too many calls at once.\n", HTTPStatus.SERVICE_UNAVAILABLE)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.body()
        task = asyncio.ensure_future(
            self._service.receive(str(request.path_params["channel"]), headers, body)
        )
        self._going_on.add(task)
        task.add_done_callback(self._going_on.discard)
        await asyncio.wait([task], timeout=_SECONDS)
        if not task.done():
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return PlainTextResponse("It is being applied.\n", HTTPStatus.ACCEPTED)
        try:
            count = task.result()
        except RequestError as error:
            status = _STATUS.get(error.outcome, HTTPStatus.SERVICE_UNAVAILABLE)
            return PlainTextResponse(f"{error.what}\n", status)
        except ConfigError as error:
            return PlainTextResponse(f"{error.what}\n", HTTPStatus.NOT_FOUND)
        except KRError as error:  # the service calls again
            return PlainTextResponse(f"{error.what}\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return PlainTextResponse(f"{count} new\n")

    async def close(self) -> None:
        """End what is being applied; the service's next call, or the next poll, brings it again."""
        tasks = list(self._going_on)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
