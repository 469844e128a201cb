"""The ASGI application of `kr serve`."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from kr_core._version import __version__
from kr_core.server.web.api import routes as api_routes
from kr_core.server.web.checks_pages import ChecksPages
from kr_core.server.web.expeditions_api import routes as research_routes
from kr_core.server.web.expeditions_pages import ExpeditionPages
from kr_core.server.web.middleware import RequestMiddleware
from kr_core.server.web.page_templates import static_folder
from kr_core.server.web.pages import Pages
from kr_core.server.web.problems import RequestRefused, problem, refusal
from kr_core.server.web.retro_pages import RetroPages
from kr_core.server.web.tasks_pages import TaskBrowser, TaskPages

if TYPE_CHECKING:
    from starlette.responses import Response

    from kr_core.research import Pipeline
    from kr_core.server.access import Application, Receive, Scope, Send
    from kr_core.server.web.case_inbox import Inbox
    from kr_core.server.web.expedition_browser import ExpeditionBrowser
    from kr_core.server.web.sessions import Sessions
    from kr_core.server.web.webhooks import Webhooks

__all__ = ["application"]


def application(
    desk: Inbox,
    research: ExpeditionBrowser,
    hooks: Webhooks,
    sessions: Sessions,
    url: str,
    user: str,
    pipeline: Pipeline,
) -> Application:
    """The application.

    Args:
        desk: does what is asked for.
        research: looks at expeditions.
        hooks: hands over what services call with.
        sessions: knows who has signed in.
        url: under which people reach it, without a slash at its end.
        user: who answers where nobody says; empty where somebody has to.
        pipeline: of the project, for tasks and retrospectives.
    """
    app = FastAPI(
        title="KR inbox",
        version=__version__,
        description="Questions that wait for a human, the human's answers, and expeditions.",
        docs_url=None,  # their scripts are loaded from elsewhere
        redoc_url=None,
    )
    app.include_router(api_routes(desk, user))
    app.include_router(research_routes(research))
    tasks = TaskBrowser(pipeline)
    pages = Pages(desk, research, tasks, sessions, user)
    app.router.routes.extend([*pages.routes(), *ExpeditionPages(research, pages.shown).routes()])
    app.router.routes.extend(TaskPages(tasks, pages.shown).routes())
    app.router.routes.extend(ChecksPages(desk.service, sessions, pages).routes())
    app.router.routes.extend(RetroPages(pipeline, desk.reads, pages.shown).routes())
    app.router.routes.extend(hooks.routes())
    app.router.routes.append(Mount("/static", _CachedFiles(directory=static_folder())))

    @app.exception_handler(RequestRefused)
    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestRefused), "it is called for nothing else"
        if request.url.path.startswith("/api/"):
            return problem(error.status, error.message, error.kind, error.more)
        return refusal(request.url.path, error.status, error.message)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError), "it is called for nothing else"
        said = "; ".join(
            f"{'.'.join(str(part) for part in one['loc'][1:]) or one['loc'][0]}: {one['msg']}"
            for one in error.errors()[:5]
        )
        bad_json = any(one["type"] == "json_invalid" for one in error.errors())
        status = HTTPStatus.BAD_REQUEST if bad_json else HTTPStatus.UNPROCESSABLE_ENTITY
        return problem(status, said, "invalid")

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "it is called for nothing else"
        said = "There is nothing here." if error.status_code == HTTPStatus.NOT_FOUND else str(error.detail)
        answer = refusal(request.url.path, error.status_code, said)
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:  # it is printed, too
        said = f"KR could not do this: {type(error).__name__}. Its standard error has more."
        return refusal(request.url.path, HTTPStatus.INTERNAL_SERVER_ERROR, said)

    return RequestMiddleware(_SignedIn(cast("Application", app), sessions), url)


class _SignedIn:
    """Lets pass who has signed in; others see the form to do so, and nothing else."""

    def __init__(self, inner: Application, sessions: Sessions) -> None:
        self._inner = inner
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "http" and self._sessions.asks:
            path = str(scope["path"])
            free = path == "/sign-in" or path.startswith(("/static/", "/hooks/"))
            request = Request(scope)
            if not free and not self._sessions.signed_in(request):
                if path.startswith("/api/") or path in {"/openapi.json", "/live"}:
                    said = "Authorization: Bearer with the server's token is needed."
                    answer: Response = problem(HTTPStatus.UNAUTHORIZED, said)
                else:
                    answer = RedirectResponse(f"/sign-in?{urlencode({'next': path})}", HTTPStatus.SEE_OTHER)
                await answer(scope, receive, send)
                return
        await self._inner(scope, receive, send)


class _CachedFiles(StaticFiles):
    """Files that browsers keep, since their addresses change with them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file."""
        answer = await super().get_response(path, scope)
        answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        return answer
