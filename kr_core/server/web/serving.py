"""The page and the API served, with what is due done by the way."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.escalation.presence import present
from kr_core.server.listening import Listening
from kr_core.server.web.application import application
from kr_core.server.web.desk import Desk
from kr_core.server.web.sessions import Sessions

if TYPE_CHECKING:
    from kr_core.server.mcp.project import Project

__all__ = ["serve"]


async def serve(
    project: Project, host: str, port: int, token: str | None, url: str | None, user: str
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
    """
    listening = Listening(host, port)
    try:
        service = await project.service()
        desk = Desk(service)
        shown = (url or listening.reached_at).rstrip("/")
        sessions = Sessions(token, listening.port, secure=shown.startswith("https:"))
        app = application(desk, sessions, shown, user)
        print(f"kr: the inbox is at {shown}/", file=sys.stderr, flush=True)
        try:
            with present(service.pipeline.config.state_folder, shown):
                try:
                    await listening.serve(app)
                finally:
                    await desk.close()
        except OSError as error:
            raise StorageError(str(error), where=".kr") from error
    finally:
        listening.close()
        await project.close()
