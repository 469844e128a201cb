"""What agents that ask a service over HTTP share: one request and what its refusal means, and forms of answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import httpx
from pydantic import Field

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome
from kr_core.toolkit import json_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from kr_core.plugin import Job

__all__ = [
    "Address",
    "ResponseFormats",
    "ServiceRefusedError",
    "ask",
    "key_of",
    "leaves_machine",
    "limit_of",
    "model_of",
    "number",
    "without_thoughts",
]

Address = Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(?:/[^\s?#]*)?$")]
"""Where a service is; no name and no password in it, which would be told with each request."""
_TIMEOUT = httpx.Timeout(None, connect=10.0)
"""A model thinks as long as it likes: the deadline of the job ends it."""
_MAX_SAID_LENGTH = 300
_OUTCOMES = {
    401: Outcome.blocked, 402: Outcome.limited, 403: Outcome.blocked, 404: Outcome.unavailable, 407: Outcome.blocked,
    408: Outcome.timeout, 429: Outcome.limited,
}  # fmt: skip
_HINTS = {
    401: "see that its `api_key` is right", 402: "see to the account's balance", 404: "see that its `base_url` and the model are right",
}  # fmt: skip
_FOR_GOOD = frozenset({"insufficient_quota", "billing_error", "billing_not_active"})
"""What no waiting helps against, though it comes as a limit."""
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|window|size)|prompt is too long|too many tokens", re.IGNORECASE
)
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)

Answered = TypeVar("Answered")


class HasClient(Protocol):
    """A job, or whatever else has a client to send requests by."""

    @property
    def http(self) -> httpx.AsyncClient:
        """The client."""


class ServiceRefusedError(RequestError):
    """The service answered with a status that is no answer.

    Args:
        status: the HTTP status.
        code: what the service calls it; empty where it has no such names.
    """

    def __init__(
        self, outcome: str, what: str, *, status: int, code: str, where: str, hint: str = ""
    ) -> None:
        super().__init__(outcome, what, where=where, hint=hint)
        self.status = status
        self.code = code


async def ask(
    job: HasClient, url: str, headers: Mapping[str, str], body: Mapping[str, Any], *, secret: str
) -> dict[str, Any]:
    """Send one request to a model, and return the object that is answered.

    Args:
        job: whose client sends it.
        url: where it goes.
        headers: sent with it.
        body: sent as JSON.
        secret: taken out of what is told of a failure.

    Raises:
        RefusedError: the status is no success.
        RequestError: nobody answered, or the answer is not a JSON object.
    """
    try:
        response = await job.http.post(
            url, headers=dict(headers), json=dict(body), timeout=_TIMEOUT, extensions={"repeat": _may_pass}
        )
    except httpx.TimeoutException:
        raise RequestError(Outcome.timeout, "did not answer in time", where=url) from None
    except httpx.TransportError as error:
        said = f"{type(error).__name__}: {_without(secret, str(error))}".removesuffix(": ")
        raise RequestError(Outcome.unavailable, f"cannot be reached: {said}", where=url) from None
    if not response.is_success:
        raise _refusal(response, url, secret)
    told = json_of(response)
    if not isinstance(told, dict):
        raise RequestError(Outcome.bad_answer, "the answer is not a JSON object", where=url)
    return told


def _may_pass(response: httpx.Response) -> bool:
    """Whether the same request may be answered later; it changes nothing, so it may be sent again."""
    return _error_of(response)[0] not in _FOR_GOOD


def _refusal(response: httpx.Response, url: str, secret: str) -> ServiceRefusedError:
    status = response.status_code
    code, said = _error_of(response)
    outcome = _OUTCOMES.get(
        status, Outcome.unavailable if status >= 500 or status < 400 else Outcome.bad_answer
    )
    told = _without(secret, f"{code}: {said}" if code else said)[:_MAX_SAID_LENGTH]
    return ServiceRefusedError(
        outcome,
        f"answered {status}{f': {told}' if told else ''}",
        status=status,
        code=code,
        where=url,
        hint=_HINTS.get(status, ""),
    )


def _error_of(response: httpx.Response) -> tuple[str, str]:
    """What a service calls its refusal, and what it says of it; each empty where it is not told in JSON."""
    try:
        told = json_of(response)
    except RequestError:
        return "", ""
    error = told.get("error") if isinstance(told, dict) else None
    if isinstance(error, str):
        return "", error
    if not isinstance(error, dict):
        return "", ""
    codes = [error.get(name) for name in ("code", "type")]
    said = error.get("message")
    code = next((one for one in codes if isinstance(one, str) and one), "")
    return code[:60], said if isinstance(said, str) else ""


def _without(secret: str, text: str) -> str:
    """A text without the key, and without line breaks."""
    text = " ".join(text.split())
    return text.replace(secret, "***") if secret else text


# -- forms of answers ------------------------------------------------------------------------------------------


class ResponseFormats:
    """The forms of answers that may be asked of a service, the strictest first; what it refuses is remembered.

    Args:
        ladder: their names; the last one asks for nothing that a service could refuse.
    """

    def __init__(self, ladder: Sequence[str]) -> None:
        self._ladder = tuple(ladder)
        self._known: dict[str, int] = {}

    async def asked(self, model: str, ask_for: Callable[[str], Awaitable[Answered]]) -> Answered:
        """Ask for the strictest form that the model's service knows, as far as that was found out.

        Raises:
            RequestError: there is no answer in any form.
        """
        first, last = self._known.get(model, 0), len(self._ladder) - 1
        for rung in range(first, last + 1):
            try:
                answered = await ask_for(self._ladder[rung])
            except ServiceRefusedError as refused:
                if rung == last or not _may_be_about_the_form(refused):
                    raise
            else:
                self._known[model] = rung
                return answered
        raise AssertionError("the last rung answers or raises")


def _may_be_about_the_form(refused: ServiceRefusedError) -> bool:
    """Services have no common word for it; a prompt that is too long is so in any form."""
    return refused.status in {400, 415, 422, 501} and not _TOO_LONG.search(f"{refused.code} {refused.what}")


# -- answers ---------------------------------------------------------------------------------------------------


def without_thoughts(text: str) -> str:
    """What a model wrote, without the thoughts that some servers leave in front of it."""
    return _THOUGHTS.sub("", text).strip()


def number(told: Any, *names: str) -> int | None:
    """A count of tokens at a path of names; None where it is not told."""
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) and told >= 0 else None


def leaves_machine(base_url: str) -> bool:
    """Whether a service is elsewhere; what `kr doctor` says of it."""
    host = httpx.URL(base_url).host
    return host not in {"localhost", "::1"} and not host.startswith("127.")


def messages_of(job: Job) -> list[dict[str, str]]:
    """What the system and the user say, as the chat of most services takes it."""
    said = (("system", job.system), ("user", job.prompt))
    return [{"role": role, "content": text} for role, text in said if text]


def model_of(job: Job, configured: str | None, plugin: str) -> str:
    """The model to ask.

    Raises:
        RequestError: none is configured.
    """
    model = job.model or configured
    if not model:
        hint = f"set `agents.{job.name}.model`, or `plugins.{plugin}.model`"
        raise RequestError(
            Outcome.unavailable, "no model is configured", where=f"agent {job.name}", hint=hint
        )
    return model


def limit_of(job: Job, configured: int) -> int:
    """The longest reply, in tokens: what is configured, or less where less is wanted."""
    return configured if job.max_tokens is None else min(configured, job.max_tokens)


def key_of(setting: str | None) -> str:
    """A key, fit for a header.

    Raises:
        ConfigError: it has characters that no key has.
    """
    key = (setting or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        # The HTTP client would refuse it as well, and show it in its message.
        raise ConfigError("`api_key` has characters that no key has", hint="copy it anew")
    return key
