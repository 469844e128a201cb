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
_AGAIN = frozenset({500, 502, 503, 504})
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_WAIT_SECONDS = 86_400.0
_LEAST_SECONDS = 0.1
"""There is no use in coming back with less than this left."""


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that a response asks to wait, given as such or as a date; None where it asks for nothing readable."""
    said = headers.get("retry-after", "").strip()
    try:
        seconds = float(said) if said.isascii() and said.replace(".", "", 1).isdigit() else None
        if seconds is None:
            seconds = (parsedate_to_datetime(said) - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):  # no date, or one without its time zone
        return None
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)


def pause(attempt: int) -> float:
    """Seconds before attempt 1, 2, ...: doubled each time, and half of it by chance, so that callers do not come in step."""
    whole = _FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1)
    return whole * random.uniform(0.5, 1.0)  # noqa: S311  no secret depends on it


def is_in_time(wait: float, left: float) -> bool:
    """Whether to come back after so many seconds is of use, with so many left until the deadline."""
    return wait + _LEAST_SECONDS < left


def wait_after_answer(request: httpx.Request, response: httpx.Response, attempt: int) -> float | None:
    """Seconds before the request is sent again after this answer; None where the answer stands.

    A limit (429) without a `Retry-After` stands: who comes back at once makes it worse.
    """
    asked = retry_after(response.headers)
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return asked
    if response.status_code not in _AGAIN or request.method not in _REPEATABLE:
        return None
    return pause(attempt) if asked is None else asked


def wait_after_error(request: httpx.Request, error: httpx.TransportError, attempt: int) -> float | None:
    """Seconds before the request is sent again after this error; None where it stands."""
    if isinstance(error, httpx.ConnectError):  # nothing was sent; a name may be found the second time
        return pause(attempt) if attempt == 1 else None
    broken = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
    return pause(attempt) if broken and request.method in _REPEATABLE else None
