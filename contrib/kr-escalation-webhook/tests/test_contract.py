"""KR's contract for ways to a human."""

import json
import time
from contextlib import suppress
from typing import ClassVar

import httpx
from receiver import SECRET, Desk, signed

from kr_core import RequestError
from kr_core.plugin import PollResult
from kr_core.testing import EscalationContract
from kr_escalation_webhook import Webhook, WebhookSettings

SETTINGS = {"url": "http://desk.invalid/hook", "secret": SECRET, "allow": ["ann"]}


class _Called(Webhook):
    """The contract asks by `poll`; what people wrote comes by `receive`, and here again with each poll, as after faults."""

    def __init__(self, written):
        super().__init__(WebhookSettings(**SETTINGS))
        self._written = written

    async def poll(self, shown, mark, context):
        found = []
        for body in self._written:
            with suppress(RequestError):  # a call that is refused keeps nobody else from calling
                found += (await self.receive(shown, signed(body, int(time.time())), body, context)).replies
        return PollResult(found, mark)


class TestWebhook(EscalationContract):
    module = "kr_escalation_webhook"
    settings: ClassVar = SETTINGS
    desks: ClassVar = {}

    def prepare(self, project):
        self.desk, self.written = self.desks[project] = Desk(), []

    def build(self, project):
        return _Called(self.desks[project][1])

    def respond(self, request):
        status, text = self.desk.take(request.headers, request.content)
        return httpx.Response(status, text=text)

    def seen(self, project):
        return self.desks[project][0].text

    def answer(self, project, case, text):  # noqa: ARG002  the contract's signature; replies to all cases are calls of one address
        written = self.desks[project][1]
        written.append(json.dumps({"text": text, "by": "ann", "id": f"m{len(written)}"}).encode())
