"""A signed webhook as a way to a human: cases and notices are sent to an address, and replies come back by a call.

Every message has an id, which is the same whenever it is sent again: after a fault, or by another process after a crash.
Who receives it shows it once. The same holds for what comes back, which KR applies once.
"""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome, PollResult, Provider, Settings, hookimpl
from kr_escalation_webhook.messages import Message, of_case, of_notice
from kr_escalation_webhook.signing import Signer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.plugin import CaseView, Escalation, EscalationContext, Notice, OpenCase, Setup

__all__ = ["Webhook", "WebhookSettings", "kr_escalation"]

KR_CONTRACT = 2
_EMPTY = frozenset({httpx.codes.ACCEPTED, httpx.codes.NO_CONTENT})
"""With these nothing more has to be said."""
_OF_THE_MESSAGE = frozenset({400, 413, 415, 422})
"""Refused is this message, and others may be taken."""


class WebhookSettings(Settings):
    """Settings of the way to a human, `plugins.webhook` in `kr.yaml`."""

    url: str
    """Where cases and notices are sent; as `{env: NAME}` where whoever knows the address may post there."""
    secret: str
    """What both directions are signed with, as `{env: NAME}`: at least 24 bytes in Base64, as of `openssl rand -base64 32`."""
    allow: tuple[str, ...] = ()
    """Who may answer, by the names that the service gives in `by`; without any nobody may."""


class Webhook:
    """The way to a human.

    Args:
        settings: where to, and who may answer.
        now: seconds since 1970.

    Raises:
        ConfigError: the address or the secret is none; the message shows neither.
    """

    def __init__(self, settings: WebhookSettings, now: Callable[[], float] = time.time) -> None:
        self._url = settings.url.strip()
        self._signer = Signer(settings.secret)
        self._hidden = (self._url, settings.secret)
        self._allow = frozenset(settings.allow)
        self._place = _place(self._url)
        self._now = now

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """Send a case; returns the host, since the rest of an address may be a secret."""
        await self._send(of_case(case), context)
        return self._place

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """Nothing: replies come by calls, which are repeated until they are taken."""
        del shown, context
        return PollResult(mark=mark)

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Send a notice."""
        await self._send(of_notice(case, notice), context)

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        """Let a call pass that is signed with the secret, and was signed lately."""
        self._signer.verify(headers, body, self._now())

    async def receive(
        self, shown: Sequence[OpenCase], headers: Mapping[str, str], body: bytes, context: EscalationContext
    ) -> PollResult:
        """What a person has written, by a call of the service.

        A call that comes again is told again: KR knows by the ids what it has applied, also after a restart.
        """
        del context
        self.verify(headers, body)
        return PollResult(Message.read(body).replies(shown, self._allow))

    async def _send(self, message: dict[str, Any], context: EscalationContext) -> None:
        body = json.dumps(message | {"text": self._without_secrets(message["text"])}).encode()
        headers = {
            "Content-Type": "application/json",
            **self._signer.headers(message["id"], int(self._now()), body),
        }
        try:
            response = await context.http.post(self._url, content=body, headers=headers)
        except httpx.TimeoutException:
            raise RequestError(Outcome.timeout, "did not answer in time", where=self._place) from None
        except httpx.TransportError as error:
            said = f"cannot be reached: {type(error).__name__}: {self._without_secrets(str(error))}"
            raise RequestError(Outcome.unavailable, said.removesuffix(": "), where=self._place) from None
        fault = _refusal(response, self._place)
        if fault is not None:
            raise fault

    def _without_secrets(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text


def _place(url: str) -> str:
    """The part of an address that may be shown.

    Raises:
        ConfigError: it is none.
    """
    try:
        httpx.URL(url)
        parts = urlsplit(url)
        host = parts.hostname if parts.port != 0 else ""
    except (httpx.InvalidURL, ValueError):
        host = ""
    if not host or parts.scheme not in {"http", "https"} or not re.fullmatch(r"[!-~]+", url):
        raise ConfigError("`url` is not an address of http or https", hint="copy it again from the service")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _refusal(response: httpx.Response, place: str) -> RequestError | None:
    """What is wrong with an answer; None where the message was taken. Nothing of its text is told: it may repeat the secret."""
    status = response.status_code
    if response.is_success:
        if _is_taken(response):
            return None
        said = f"answered {status}, but not as one that has taken the message"
        hint = "see that `url` is right; README of kr-escalation-webhook tells what to answer"
        return RequestError(Outcome.unavailable, said, where=place, hint=hint)
    said = f"answered {status}"
    if status == httpx.codes.TOO_MANY_REQUESTS:
        wait = response.headers.get("retry-after", "")
        seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) < 6 else None
        return RequestError(Outcome.limited, said, where=place, seconds=seconds)
    if status in _OF_THE_MESSAGE:
        return RequestError(Outcome.bad_answer, said, where=place)
    if status < httpx.codes.INTERNAL_SERVER_ERROR:
        return RequestError(Outcome.blocked, said, where=place, hint="see that `url` and `secret` are right")
    return RequestError(Outcome.unavailable, said, where=place)


def _is_taken(response: httpx.Response) -> bool:
    """Whether an answer says so: no more than `ok`, nothing with 202 or 204, or JSON that does not say otherwise.

    A page to sign in or a refusal in words comes with status 200 as well.
    """
    body = response.content.strip()
    if not body:
        return response.status_code in _EMPTY
    if body.lower() == b"ok":
        return True
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(told, dict) and told.get("ok", told.get("success", True)) is True and "error" not in told
    )


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    """Provide the way to a human by a signed webhook."""

    def build(settings: WebhookSettings, _setup: Setup) -> Webhook:
        return Webhook(settings)

    return Provider(build, WebhookSettings)
