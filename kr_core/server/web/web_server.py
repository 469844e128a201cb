"""The page and the API served; the project does by itself what is due for questions that wait."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kr_core.aio import consume_exception
from kr_core.errors import StorageError
from kr_core.escalation.page_url import present
from kr_core.server.http_server import ListeningSocket
from kr_core.server.web.application import application
from kr_core.server.web.case_inbox import Inbox
from kr_core.server.web.expedition_browser import ExpeditionBrowser
from kr_core.server.web.sessions import Sessions
from kr_core.server.web.webhooks import Webhooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.server.access import Application
    from kr_core.server.served_project import ServedProject

__all__ = ["answering", "serve"]

_PAUSE_SECONDS = 60.0


async def serve(
    project: ServedProject, host: str, port: int, token: str | None, url: str | None, user: str
) -> None:
    """Serve until SIGTERM or Ctrl-C; what is under way is then cancelled, and the project closed.

    Args:
        project: what is served.
        host: where it listens.
        port: 0 takes a free one; the address is told on standard error.
        token: what callers must know; None asks for nothing.
        url: under which people reach it, if that is another address.
        user: who answers where nobody says; empty where somebody has to.

    Raises:
        ConfigError: nobody can listen there, or the configuration is wrong.
        StorageError: the state folder cannot be written.
    """
    listening = ListeningSocket(host, port)
    try:
        service = await project.service()
        shown = (url or listening.reached_at).rstrip("/")
        sessions = Sessions(token, listening.port, secure=shown.startswith("https:"))
        try:
            with present(service.pipeline.config.state_folder, shown):
                async with answering(service, sessions, shown, user) as app:
                    handing_over = asyncio.ensure_future(_hand_over(project))
                    print(f"kr: the inbox is at {shown}/", file=sys.stderr, flush=True)
                    try:
                        await listening.serve(app)
                    finally:
                        handing_over.cancel()
        except OSError as error:
            raise StorageError(str(error), where=".kr") from error
    finally:
        listening.close()
        await project.close()


@asynccontextmanager
async def answering(
    service: AsyncKnowledgeRouterService, sessions: Sessions, url: str, user: str
) -> AsyncIterator[Application]:
    """The application, whose work is ended with it; see `application`."""
    desk, hooks = Inbox(service), Webhooks(service)
    reading = asyncio.ensure_future(desk.news(0))  # so that the list is at hand before anybody asks
    reading.add_done_callback(consume_exception)  # who asks is told if it cannot be read
    try:
        yield application(desk, ExpeditionBrowser(service), hooks, sessions, url, user, service.pipeline)
    finally:
        await asyncio.wait([reading])
        await desk.close()
        await hooks.close()


async def _hand_over(project: ServedProject) -> None:
    """Hand the logs what was said, now and then."""
    while True:
        await asyncio.sleep(_PAUSE_SECONDS)
        project.used()
