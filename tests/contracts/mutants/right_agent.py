"""An agent that keeps to the contract: one request to a service."""

import httpx

from kr_core import RequestError
from kr_core.plugin import Agent, Outcome, Provider, Reply, Settings, hookimpl
from kr_core.toolkit import json_of

ADDRESS = "https://model.example/answer"


class ServiceSettings(Settings):
    api_key: str = ""
    """The key."""


class Service:
    def __init__(self, key):
        self.key = key

    async def run(self, job):
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            answer = await job.http.post(ADDRESS, json={"prompt": job.prompt}, headers=headers, timeout=None)
        except httpx.TransportError as error:
            raise RequestError(Outcome.unavailable, f"cannot be reached: {error}") from error
        if not answer.is_success:
            raise RequestError(Outcome.unavailable, f"answered {answer.status_code}")
        told = json_of(answer)
        job.emit("agent.heard", {"text": told["text"]})
        return Reply(text=told["text"], input_tokens=told["tokens"])


@hookimpl
def kr_agent() -> Provider[Agent]:
    return Provider(lambda settings, setup: Service(settings.api_key), ServiceSettings)
