"""How a request is refused: problem details (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.responses import JSONResponse, PlainTextResponse, Response

from kr_core.aio import shielded
from kr_core.errors import StorageError
from kr_core.server.web.page_templates import page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["PROBLEM", "RequestRefused", "able", "problem", "refusal"]

Result = TypeVar("Result")

PROBLEM = "application/problem+json"
_STATUS = {"unknown": 404, "decided": 409, "older": 409, "refused": 422, "unable": 500}


class RequestRefused(Exception):  # noqa: N818  it is an answer, not an error of the program
    """What a request asked for was not done.

    Args:
        kind: `unknown` (no such case), `decided` (somebody was first), `older` (it is about an older answer), `refused` (it
            cannot be applied) or `unable` (KR cannot do it now).
        said: why; one sentence for people.
        more: further members of the problem details.
    """

    def __init__(self, kind: str, said: str, more: Mapping[str, Any] | None = None) -> None:
        super().__init__(said)
        self.kind = kind
        self.message = said
        self.more = dict(more or {})

    @property
    def status(self) -> int:
        """The HTTP status."""
        return _STATUS[self.kind]


async def able(look: Callable[[], Result]) -> Result:
    """What a function that reads the journal returns, in a thread.

    Raises:
        RequestRefused: the journal cannot be read.
    """
    try:
        return await shielded(look)
    except StorageError as error:
        raise RequestRefused("unable", str(error)) from error


def problem(status: int, detail: str, kind: str = "", more: Mapping[str, Any] | None = None) -> Response:
    """Problem details; `type` is `urn:kr:problem:KIND`, or `about:blank` where the status says it all."""
    fields = {
        "type": f"urn:kr:problem:{kind}" if kind else "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **(more or {}),
    }
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return JSONResponse(fields, status, headers=headers, media_type=PROBLEM)


def refusal(path: str, status: int, said: str) -> Response:
    """A refusal in the form that fits the path: for a program, a service that calls, or a person."""
    if path.startswith("/api/") or path == "/openapi.json":
        return problem(status, said)
    if path.startswith("/hooks/"):
        return PlainTextResponse(f"{said}\n", status)
    return page("message.html", status, title=HTTPStatus(status).phrase, said=said, signed_in=False)
