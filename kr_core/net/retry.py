"""When a request is sent again, and after how long: jittered back-off that honours `Retry-After` (RFC 9110, 10.2.3)."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping

ATTEMPTS = 3
"""A request is sent so often at most."""
_FIRST_PAUSE_SECONDS = 0.25
REPEAT = "repeat"
"""An extension of a request that changes nothing although it is a POST, so that it is sent again as a GET is:
`extensions={"repeat": may_pass}`, where `may_pass(response)` says whether another answer may come of it later."""
_AGAIN = frozenset({500, 502, 503, 504, 529})
"""529 is said by services of models that are overloaded."""
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_WAIT_SECONDS_LENGTH = 86_400.0
_MIN_SECONDS = 0.1
"""There is no use in coming back with less than this left."""


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that a response asks to wait, given as such or as a date; None where it asks for nothing readable.

    Services of models give milliseconds as well (`Retry-After-Ms`), which are more exact.
    """
    said = headers.get("retry-after", "").strip()
    milliseconds = _number(headers.get("retry-after-ms", "").strip())
    try:
        seconds = _number(said) if milliseconds is None else milliseconds / 1000
        if seconds is None:
            seconds = (parsedate_to_datetime(said) - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):  # no date, or one without its time zone
        return None
    return min(max(seconds, 0.0), _MAX_WAIT_SECONDS_LENGTH)


def _number(said: str) -> float | None:
    return float(said) if said.isascii() and said.replace(".", "", 1).isdigit() else None


def pause(attempt: int) -> float:
    """Seconds before attempt 1, 2, ...: doubled each time, and half of it by chance, so that callers do not come in step."""
    whole = _FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1)
    return whole * random.uniform(0.5, 1.0)  # noqa: S311  no secret depends on it


def is_in_time(wait: float, left: float) -> bool:
    """Whether to come back after so many seconds is of use, with so many left until the deadline."""
    return wait + _MIN_SECONDS < left


def wait_after_answer(request: httpx.Request, response: httpx.Response, attempt: int) -> float | None:
    """Seconds before the request is sent again after this answer; None where the answer stands.

    A limit (429) without a `Retry-After` stands: who comes back at once makes it worse. So does what the service says not to
    come back for (`X-Should-Retry`).
    """
    if response.headers.get("x-should-retry") == "false":
        return None
    asked = retry_after(response.headers)
    limited = response.status_code == httpx.codes.TOO_MANY_REQUESTS
    if not limited and (response.status_code not in _AGAIN or not _is_repeatable(request)):
        return None
    may_pass = request.extensions.get(REPEAT)
    if may_pass is not None and not may_pass(response):
        return None
    if limited:
        return asked
    return pause(attempt) if asked is None else asked


def wait_after_error(request: httpx.Request, error: httpx.TransportError, attempt: int) -> float | None:
    """Seconds before the request is sent again after this error; None where it stands."""
    if isinstance(error, httpx.ConnectError):  # nothing was sent; a name may be found the second time
        return pause(attempt) if attempt == 1 else None
    broken = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
    return pause(attempt) if broken and _is_repeatable(request) else None


def _is_repeatable(request: httpx.Request) -> bool:
    return request.method in _REPEATABLE or REPEAT in request.extensions
