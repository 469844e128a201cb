"""Requests to GitHub's REST API: what their refusals mean, and the limits that are kept to.

Formats: https://docs.github.com/en/rest, version 2026-03-10; limits:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeGuard

import httpx

from kr_core import Outcome, RequestError
from kr_core.toolkit import json_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_plugins.escalations.github.outbox import Outbox

__all__ = ["GONE", "MOVED", "GitHubClient", "GitHubRefusedError", "Pace", "date_of", "is_whole"]

GONE = frozenset({404, 410})
"""What is not there, any more or for this token."""
MOVED = frozenset({301, 302, 307, 308})
"""What is elsewhere: an issue that was transferred, a repository that was renamed."""
_VERSION = "2026-03-10"
_BETWEEN_WRITES = 1.0
"""Seconds, as GitHub asks for."""
_SECONDARY_SECONDS = 60.0
"""The least pause after a secondary limit that does not say how long; doubled each time."""
_MAX_WAIT_LENGTH = 4000.0
"""A limit lasts an hour at most; a clock that was set wrong does not stop KR for longer."""
_MAX_SAID_LENGTH = 300
_LIMITED = re.compile(r"rate limit|abuse|too many|wait a few minutes", re.IGNORECASE)
_LOCKED = re.compile(r"\block(?:ed)?\b", re.IGNORECASE)


class GitHubRefusedError(RequestError):
    """GitHub answered with a status that is no success.

    Args:
        status: the HTTP status.
        seconds: how long GitHub is to be left alone, where it said so.
    """

    def __init__(
        self,
        outcome: str,
        what: str,
        *,
        status: int,
        where: str,
        hint: str = "",
        seconds: float | None = None,
    ) -> None:
        super().__init__(outcome, what, where=where, hint=hint, seconds=seconds)
        self.status = status


class Pace:
    """How a process keeps to GitHub's limits.

    Args:
        now: seconds since 1970.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.is_limited = False
        """Whether the server has told of limits: one without any needs no pauses."""
        self.strikes = 0
        """Secondary limits that were met, one after the other."""
        self._last_write = float("-inf")

    async def write(self) -> None:
        """Wait until another write is polite."""
        if self.is_limited:
            left = self._last_write + _BETWEEN_WRITES - time.monotonic()
            await asyncio.sleep(max(left, 0.0))
        self._last_write = time.monotonic()


class GitHubClient:
    """GitHub, as it is asked during one call of the engine.

    Args:
        http: sends the requests.
        base_url: where the API is.
        token: whose requests they are.
        ledger: where it is noted that GitHub asks to wait.
        pace: of this process.
    """

    def __init__(
        self, http: httpx.AsyncClient, base_url: str, token: str, ledger: Outbox, pace: Pace
    ) -> None:
        self._http = http
        self._base = base_url.rstrip("/")
        self._token = token
        self._ledger = ledger
        self._pace = pace
        self.date = ""
        """When GitHub has answered last, by its own clock; empty where it has not said."""

    async def get(self, path: str, params: Mapping[str, str] | None = None, etag: str = "") -> httpx.Response:
        """Ask for something; with an ETag, status 304 means that it is as it was.

        Raises:
            RefusedError: GitHub refuses.
            RequestError: it did not answer.
        """
        headers = {"If-None-Match": etag} if etag else {}
        return await self._asked("GET", path, dict(params or {}), headers, None)

    async def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, latest: float = math.inf
    ) -> Any:
        """Change something, and return what is answered: JSON, or None.

        Args:
            method: of HTTP.
            path: of the resource.
            body: what to.
            latest: a time (`time.monotonic()`) after which it is not to be begun.

        Raises:
            RefusedError: GitHub refuses; with a status of 500 or more it may have done it nevertheless.
            RequestError: it did not answer, and may have done it; or it is too late.
        """
        await self._pace.write()
        if time.monotonic() > latest:
            said = "this process was held up, and another one may have posted it; the next try looks for it"
            raise RequestError(Outcome.bad_answer, said, where=self._base, seconds=1)
        response = await self._asked(method, path, {}, {}, None if body is None else dict(body))
        return json_of(response) if response.content else None

    async def _asked(
        self, method: str, path: str, params: dict[str, str], headers: dict[str, str], body: Any
    ) -> httpx.Response:
        left = self._ledger.wait_until - self._pace.now()
        if 0 < left < _MAX_WAIT_LENGTH:
            said = f"GitHub has asked to wait; the limit ends in {left:.0f} s"
            raise RequestError(Outcome.limited, said, where=self._base, seconds=left)
        url = f"{self._base}{path}"
        known = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "X-GitHub-Api-Version": _VERSION,
        }
        try:
            response = await self._http.request(
                method, url, params=params or None, headers={**known, **headers}, json=body
            )
        except httpx.TimeoutException:
            raise RequestError(Outcome.timeout, "did not answer in time", where=url) from None
        except httpx.TransportError as error:
            said = f"{type(error).__name__}: {self._without_secret(str(error))}".removesuffix(": ")
            raise RequestError(Outcome.unavailable, f"cannot be reached: {said}", where=url) from None
        self._pace.is_limited = self._pace.is_limited or "x-ratelimit-limit" in response.headers
        self.date = date_of(response) or self.date
        if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
            self._pace.strikes = 0
            return response
        raise self._refusal(response, url)

    def _refusal(self, response: httpx.Response, url: str) -> GitHubRefusedError:
        status, said = response.status_code, self._without_secret(_message(response))[:_MAX_SAID_LENGTH]
        told = f"answered {status}{f': {said}' if said else ''}"
        seconds = self._wait_of(response, said)
        if seconds is not None:
            self._ledger.wait(self._pace.now() + seconds)
            what = f"{told}; it is left alone for {seconds:.0f} s"
            return GitHubRefusedError(Outcome.limited, what, status=status, where=url, seconds=seconds)
        outcome, hint = _meaning(status, said)
        return GitHubRefusedError(outcome, told, status=status, where=url, hint=hint)

    def _wait_of(self, response: httpx.Response, said: str) -> float | None:
        """The seconds that GitHub asks to wait; None where it has not refused because of a limit."""
        if response.status_code not in {403, 429}:
            return None
        headers = response.headers
        seconds = _number(headers.get("retry-after"))
        if seconds is None and headers.get("x-ratelimit-remaining") == "0":
            reset = _number(headers.get("x-ratelimit-reset"))
            # Of GitHub's clock, not ours: they may differ.
            now = _epoch_of(response)
            seconds = None if reset is None else max(reset - (self._pace.now() if now is None else now), 1.0)
        if seconds is None:
            if response.status_code != httpx.codes.TOO_MANY_REQUESTS and not _LIMITED.search(said):
                return None
            seconds = _SECONDARY_SECONDS * 2.0 ** min(self._pace.strikes, 5)
            self._pace.strikes += 1
        return min(seconds, _MAX_WAIT_LENGTH - 1)

    def _without_secret(self, text: str) -> str:
        text = " ".join(text.split())
        return text.replace(self._token, "***") if self._token else text


def _meaning(status: int, said: str) -> tuple[Outcome, str]:
    if status == httpx.codes.UNAUTHORIZED:
        return Outcome.blocked, "the token is wrong or has expired: set another as `token`"
    if status == httpx.codes.FORBIDDEN and _LOCKED.search(said):
        # Of one issue alone, not of the service: cases of other features are shown nevertheless.
        return (
            Outcome.bad_answer,
            "the issue is locked: unlock it, or give the token's account write permission",
        )
    if status == httpx.codes.FORBIDDEN:
        return Outcome.blocked, "give the token the permission to read and write issues of the repository"
    if status in GONE:
        return (
            Outcome.unavailable,
            "see that `repository` is right, has issues turned on, and that the token may see it",
        )
    if status in MOVED:
        return Outcome.unavailable, "it was moved or renamed: set `repository` to its new name"
    return Outcome.unavailable if status >= 500 else Outcome.bad_answer, ""


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a JSON value is a whole number above 0, as ids are."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _message(response: httpx.Response) -> str:
    try:
        told = json_of(response)
    except RequestError:
        return ""
    said = told.get("message") if isinstance(told, dict) else None
    return said if isinstance(said, str) else ""


def _number(told: str | None) -> float | None:
    return float(told) if told is not None and told.isascii() and told.isdigit() else None


def date_of(response: httpx.Response) -> str:
    """When GitHub has answered, by its own clock and in its own form; empty where it does not say."""
    epoch = _epoch_of(response)
    return "" if epoch is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def _epoch_of(response: httpx.Response) -> float | None:
    try:
        return parsedate_to_datetime(response.headers.get("date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
