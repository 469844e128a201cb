"""Answers of a model over Anthropic's Messages API.

It requests the reply's form as structured output; if a compatible server refuses that, by the prompt alone.

Format: https://docs.anthropic.com/en/api/messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

import kr_core
from kr_core import RequestError
from kr_core.plugin import Outcome, Provider, Reply, Settings
from kr_plugins.agents.http_api import (
    Address,
    ResponseFormats,
    ask,
    key_of,
    leaves_machine,
    limit_of,
    model_of,
    number,
)

if TYPE_CHECKING:
    from kr_core.plugin import Job, Setup

__all__ = ["Anthropic", "AnthropicSettings", "kr_agent"]

_ANTHROPIC = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_CUT = {
    "max_tokens": ("the reply was cut off at its limit of tokens", "raise `max_tokens`, or ask for less"),
    "model_context_window_exceeded": (
        "the reply was cut off at the end of the model's window",
        "ask for less",
    ),
}


class AnthropicSettings(Settings):
    """Settings of the agent, `plugins.anthropic` in `kr.yaml`."""

    base_url: Address = _ANTHROPIC
    """The address of the service, without `/v1/messages`."""
    api_key: str | None = None
    """The API key, as `{env: ANTHROPIC_API_KEY}`."""
    model: str | None = None
    """The model of agents without one of their own."""
    max_tokens: Annotated[int, Field(ge=1)] = 8192
    """The longest reply in tokens, including the model's thinking."""


class Anthropic:
    """The agent.

    Args:
        settings: where the service is, and what it is asked for.
        name: the plugin's name in the configuration.
    """

    def __init__(self, settings: AnthropicSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self.needs_model = settings.model is None
        self.external = leaves_machine(settings.base_url)
        self._key = key_of(settings.api_key)
        self._forms = ResponseFormats(("json_schema", ""))
        missing = settings.base_url == _ANTHROPIC and not self._key
        hint = f"set `plugins.{name}.api_key`, such as `{{env: ANTHROPIC_API_KEY}}`"
        self.unready = f"Anthropic needs a key; {hint}" if missing else ""

    async def run(self, job: Job) -> Reply:
        """Ask for one message."""
        if self.unready:
            raise RequestError(Outcome.unavailable, self.unready)
        model = model_of(job, self._settings.model, self._name)
        url = f"{self._settings.base_url.rstrip('/')}/v1/messages"
        headers = {"anthropic-version": _VERSION, **({"x-api-key": self._key} if self._key else {})}
        body = {
            "model": model,
            "max_tokens": limit_of(job, self._settings.max_tokens),
            "messages": [{"role": "user", "content": job.prompt}],
            **({"system": job.system} if job.system else {}),
        }

        async def ask_for(form: str) -> dict[str, Any]:
            asked = {"output_config": {"format": {"type": form, "schema": dict(job.schema)}}} if form else {}
            return await ask(job, url, headers, {**body, **asked}, secret=self._key)

        return _reply(await self._forms.asked(model, ask_for), model)


def _reply(told: dict[str, Any], model: str) -> Reply:
    content = told.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    # Beside the answer there may be thoughts, and kinds of blocks that are yet to come.
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    text = "".join(one for one in texts if isinstance(one, str)).strip()
    ending = told.get("stop_reason")
    if ending == "refusal":
        raise RequestError(Outcome.blocked, f"the model refused{f': {text[:300]}' if text else ''}")
    if ending in _CUT:
        what, hint = _CUT[ending]
        raise RequestError(Outcome.bad_answer, what, hint=hint)
    if not text:
        raise RequestError(Outcome.bad_answer, "the model wrote nothing")
    named = told.get("model")
    return Reply(
        text=text,
        model=named if isinstance(named, str) and named else model,
        input_tokens=_read(told),
        output_tokens=number(told, "usage", "output_tokens"),
        finish_reason=str(ending or ""),
    )


def _read(told: dict[str, Any]) -> int | None:
    """The tokens that the model read, also those that the service had in its cache."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [number(told, "usage", name) for name in names]
    return None if counts[0] is None else sum(count or 0 for count in counts)


@kr_core.hookimpl
def kr_agent() -> Provider[kr_core.plugin.Agent]:
    """A model behind the Messages API."""

    def build(settings: AnthropicSettings, setup: Setup) -> Anthropic:
        return Anthropic(settings, setup.name)

    return Provider(build, AnthropicSettings)
