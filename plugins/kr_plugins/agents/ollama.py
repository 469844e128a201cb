"""Answers of a model that Ollama runs, on this machine or another, over its own API.

Ollama silently truncates a prompt that is longer than the model's window, and its default window is small. So KR always
sets the window, and treats a prompt that does not fit as a failure.

Format: https://github.com/ollama/ollama/blob/main/docs/api.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

import kr_core
from kr_core import RequestError
from kr_core.plugin import Outcome, Provider, Reply, Settings
from kr_plugins.agents.http_api import (
    Address,
    ask,
    leaves_machine,
    messages_of,
    model_of,
    number,
    without_thoughts,
)

if TYPE_CHECKING:
    from kr_core.plugin import Job, Setup

__all__ = ["Ollama", "OllamaSettings", "kr_agent"]

_CHARACTERS_OF_A_TOKEN = 6
"""No usual text has so many to a token; what would not even fit so was cut."""


class OllamaSettings(Settings):
    """Settings of the agent, `plugins.ollama` in `kr.yaml`."""

    base_url: Address = "http://localhost:11434"
    """The address of Ollama, without `/api/chat`."""
    model: str | None = None
    """The model of agents without one of their own."""
    num_ctx: Annotated[int, Field(ge=1)] = 16_384
    """The model's window in tokens; prompt and reply must fit into it. A larger window takes more memory."""


class Ollama:
    """The agent.

    Args:
        settings: where Ollama is, and how much it reads.
        name: the plugin's name in the configuration.
    """

    def __init__(self, settings: OllamaSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self.needs_model = settings.model is None
        self.external = leaves_machine(settings.base_url)

    async def run(self, job: Job) -> Reply:
        """Ask for one message."""
        model = model_of(job, self._settings.model, self._name)
        options = {"num_ctx": self._settings.num_ctx}
        if job.max_tokens is not None:
            options["num_predict"] = job.max_tokens
        body = {
            "model": model,
            "messages": messages_of(job),
            "stream": False,
            "format": dict(job.schema),
            "options": options,
            "truncate": False,
        }
        told = await ask(job, f"{self._settings.base_url.rstrip('/')}/api/chat", {}, body, secret="")
        return self._reply(told, model, len(job.system) + len(job.prompt), job.max_tokens)

    def _reply(self, told: dict[str, Any], model: str, characters: int, wanted: int | None) -> Reply:
        window = self._settings.num_ctx
        read = number(told, "prompt_eval_count")  # which is not told where the prompt was in its cache
        if (characters / _CHARACTERS_OF_A_TOKEN if read is None else read) >= window:
            raise self._too_long("the prompt is longer than the model's window, and was cut")
        ending = told.get("done_reason")
        if ending == "length":
            if wanted is not None and (number(told, "eval_count") or 0) >= wanted:
                raise RequestError(Outcome.bad_answer, f"the reply was cut off at {wanted} tokens")
            raise self._too_long("the reply was cut off at the end of the model's window")
        message = told.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        text = without_thoughts(content) if isinstance(content, str) else ""
        if not text:
            raise RequestError(Outcome.bad_answer, "the model wrote nothing")
        named = told.get("model")
        return Reply(
            text=text,
            model=named if isinstance(named, str) and named else model,
            input_tokens=read,
            output_tokens=number(told, "eval_count"),
            finish_reason=str(ending or ""),
        )

    def _too_long(self, what: str) -> RequestError:
        hint = f"set `plugins.{self._name}.num_ctx` higher than {self._settings.num_ctx}, or ask for less"
        return RequestError(Outcome.bad_answer, what, hint=hint)


@kr_core.hookimpl
def kr_agent() -> Provider[kr_core.plugin.Agent]:
    """A model that Ollama runs."""

    def build(settings: OllamaSettings, setup: Setup) -> Ollama:
        return Ollama(settings, setup.name)

    return Provider(build, OllamaSettings)
