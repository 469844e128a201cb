"""Answers of a model over OpenAI's chat completions API, which most services and local servers also offer.

As `embedder` it makes vectors with the same service's embeddings.

It requests the reply's form as a JSON schema; if the server refuses that, as any JSON object; if it refuses that too,
by the prompt alone. The same pipeline does not repeat a refused form.

Format: https://platform.openai.com/docs/api-reference/chat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

import kr_core
from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome, Provider, Reply, Settings
from kr_plugins.agents.http_api import (
    Address,
    ResponseFormats,
    ask,
    key_of,
    leaves_machine,
    limit_of,
    messages_of,
    model_of,
    number,
    without_thoughts,
)

if TYPE_CHECKING:
    from kr_core.plugin import Job, Setup

__all__ = ["OpenAICompatible", "OpenAICompatibleSettings", "kr_agent", "kr_embedder"]

_OPENAI = "https://api.openai.com/v1"
_NAME = "kr_answer"
"""Of the form; services ask for one."""


class OpenAICompatibleSettings(Settings):
    """Settings of the agent, `plugins.openai_compatible` in `kr.yaml`."""

    base_url: Address = _OPENAI
    """The address of the service, without `/chat/completions`: `http://localhost:8000/v1`."""
    api_key: str | None = None
    """The API key, as `{env: OPENAI_API_KEY}`; most local servers need none."""
    model: str | None = None
    """The model of agents without one of their own."""
    embedding_model: str | None = None
    """As `embedder`: the model that makes vectors, such as `text-embedding-3-small`. Not set: `model`."""
    max_tokens: Annotated[int, Field(ge=1)] = 8192
    """The longest reply in tokens, including the model's thinking."""
    max_tokens_parameter: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """The service's name for that limit: OpenAI's newer name, or the older one, which many servers require."""


class OpenAICompatible:
    """The agent.

    Args:
        settings: where the service is, and what it is asked for.
        name: the plugin's name in the configuration.
    """

    def __init__(self, settings: OpenAICompatibleSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self.needs_model = settings.model is None
        self.external = leaves_machine(settings.base_url)
        self._key = key_of(settings.api_key)
        self._forms = ResponseFormats(("json_schema", "json_object", ""))
        missing = settings.base_url == _OPENAI and not self._key
        hint = f"set `plugins.{name}.api_key`, such as `{{env: OPENAI_API_KEY}}`, or `base_url` for another service"
        self.unready = f"OpenAI needs a key; {hint}" if missing else ""

    async def run(self, job: Job) -> Reply:
        """Ask for one completion."""
        if self.unready:
            raise RequestError(Outcome.unavailable, self.unready)
        model = model_of(job, self._settings.model, self._name)
        url = f"{self._settings.base_url.rstrip('/')}/chat/completions"
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        body = {
            "model": model,
            "messages": messages_of(job),
            self._settings.max_tokens_parameter: limit_of(job, self._settings.max_tokens),
        }

        async def ask_for(form: str) -> dict[str, Any]:
            return await ask(job, url, headers, {**body, **_form(form, job)}, secret=self._key)

        return _reply(await self._forms.asked(model, ask_for), model)


def _form(form: str, job: Job) -> dict[str, Any]:
    """How the reply's form is asked for."""
    if form == "json_schema":
        schema = {"name": _NAME, "strict": True, "schema": dict(job.schema)}
        return {"response_format": {"type": form, "json_schema": schema}}
    return {"response_format": {"type": form}} if form else {}


def _reply(told: dict[str, Any], model: str) -> Reply:
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise RequestError(Outcome.bad_answer, "the answer holds no message")
    ending = choice.get("finish_reason")
    refusal = message.get("refusal")
    if refusal or ending == "content_filter":
        said = refusal if isinstance(refusal, str) else "its filter took the answer out"
        raise RequestError(Outcome.blocked, f"the model refused: {said[:300]}")
    if ending == "length":
        raise RequestError(
            Outcome.bad_answer,
            "the reply was cut off at its limit of tokens",
            hint="raise `max_tokens`, or ask for less",
        )
    text = without_thoughts(_text(message.get("content")))
    if not text:
        raise RequestError(Outcome.bad_answer, "the model wrote nothing")
    named = told.get("model")
    return Reply(
        text=text,
        model=named if isinstance(named, str) and named else model,
        input_tokens=number(told, "usage", "prompt_tokens"),
        output_tokens=number(told, "usage", "completion_tokens"),
        finish_reason=str(ending or ""),
    )


def _text(content: Any) -> str:
    """The text of a message; some servers send it in parts."""
    if isinstance(content, list):
        parts = (
            part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"
        )
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


@kr_core.hookimpl
def kr_agent() -> Provider[kr_core.plugin.Agent]:
    """A model behind chat completions."""

    def build(settings: OpenAICompatibleSettings, setup: Setup) -> OpenAICompatible:
        return OpenAICompatible(settings, setup.name)

    return Provider(build, OpenAICompatibleSettings)


@kr_core.hookimpl
def kr_embedder() -> Provider[kr_core.plugin.Embedder]:
    """A model behind embeddings."""

    def build(settings: OpenAICompatibleSettings, setup: Setup) -> kr_core.plugin.Embedder:
        from kr_plugins.embedders.embeddings_api import Embeddings

        model = settings.embedding_model or settings.model
        if not model:
            raise ConfigError("no model is configured", hint=f"set `plugins.{setup.name}.embedding_model`")
        key = key_of(settings.api_key)
        if settings.base_url == _OPENAI and not key:
            raise ConfigError("OpenAI needs a key", hint=f"set `plugins.{setup.name}.api_key`, or `base_url`")
        if setup.http is None:
            raise ConfigError("it sends requests, which takes a pipeline")
        return Embeddings(settings.base_url, model, key, setup.http)

    return Provider(build, OpenAICompatibleSettings)
