"""Why a call failed, in one line that a person reads."""

from __future__ import annotations

import sys
from typing import Any

from kr_core.errors import KRError
from kr_core.terminal_text import printable

MAX_REASON_LENGTH = 300


def is_of_httpx(error: BaseException, kind: str) -> bool:
    httpx = sys.modules.get("httpx")  # where nobody has imported it, nobody has raised its errors
    return httpx is not None and isinstance(error, getattr(httpx, kind))


def said(error: BaseException) -> str:
    """What an error says, in one line; one of a connection names the host."""
    if isinstance(error, KRError):
        return short(str(error))
    if is_of_httpx(error, "TransportError") and (host := _host_of(error)):
        return short(f"{host}: {type(error).__name__}: {error}".removesuffix(": "))
    return short(f"{type(error).__name__}: {error}")


def _host_of(error: Any) -> str:
    try:
        return str(error.request.url.host)
    except (RuntimeError, AttributeError):  # httpx: the request was not set
        return ""


def short(text: str) -> str:
    """A text from outside on one line, not longer than a person reads."""
    line = " ".join(printable(text).split())
    return (
        line if len(line) <= MAX_REASON_LENGTH else f"{line[: MAX_REASON_LENGTH - 1]}\N{HORIZONTAL ELLIPSIS}"
    )
