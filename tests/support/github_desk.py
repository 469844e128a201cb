"""A project with the way to a human over GitHub, as one process has it, before a GitHub without a connection."""

import asyncio

import httpx
import pytest

from kr_core import Answer, EscalationRequest, Question, RequestError
from kr_core.escalation.render import shown as case_of
from kr_core.plugin import HumanReply, Notice, OpenCase, UnparsedReply
from kr_core.testing.surroundings import context_in
from kr_plugins.escalations.github import GitHub, GitHubSettings
from support.github_server import REPOSITORY, TOKEN


class Desk:
    """A project with the channel, as one process has it; `again` is another process."""

    def __init__(self, folder, server, **settings):
        self.folder = folder
        self.server = server
        self.settings = settings
        self.mark, self.complete = "", True
        self.shown = {}
        self.again()

    def again(self):
        known = {"repository": REPOSITORY, "token": TOKEN, "base_url": "https://github.example/api/v3"}
        self.channel = GitHub(GitHubSettings(**{**known, **self.settings}), self.folder / ".kr")
        return self

    def call(self, work, respond=None):
        async def run():
            deadline = asyncio.get_running_loop().time() + 30
            transport = (
                None if self.settings.get("base_url") else httpx.MockTransport(respond or self._respond)
            )
            async with context_in(self.folder, deadline, transport) as context:
                return await work(context)

        return asyncio.run(run())

    def _respond(self, request):
        assert request.url.path.startswith("/api/v3/")
        return self.server.respond(httpx.Request(
            request.method, str(request.url).replace("/api/v3", "", 1), headers=request.headers, content=request.read()
        ))  # fmt: skip

    def open(self, case):
        place = self.call(lambda context: self.channel.open(case, context))
        self.shown[case.request.id] = OpenCase(case.request.id, case.request.revision, place, waits=True)
        return place

    def poll(self, keep=True, requests=None):
        """What was written; where the service is slow, with time for so many requests alone."""

        def work(context):
            if requests is not None:
                left = iter(range(requests - 1))

                def ending(_asked):
                    if next(left, None) is None:
                        context.deadline = 0

                self.server.fault_of = ending
            return self.channel.poll(list(self.shown.values()), self.mark, context)

        heard = self.call(work)
        if keep:
            self.mark, self.complete = heard.mark, heard.complete
        return list(heard.replies)

    def receive(self, headers, body):
        shown = list(self.shown.values())
        return list(self.call(lambda context: self.channel.receive(shown, headers, body, context)).replies)

    def say(self, case, kind="understood", said="E1 is answered", notice="n1", **more):
        notice = Notice(notice, kind, said, **more)
        self.call(lambda context: self.channel.acknowledge(case, notice, context))


def case(
    escalation_id="E1", revision=1, place=None, feature="general", text="Which session store?", **values
):
    answer = Answer(
        question_id="q-1", content="Use Redis.", rationale="It is quick.", confidence=65, agent="duc"
    )
    known = {
        "revision": revision, "exchange_id": "x-1", "question": Question(text=text, feature_id=feature), "answer": answer,
        "agent": "duc", "threshold": 80, "reason": "confidence 65 is below 80",
    }  # fmt: skip
    return case_of(EscalationRequest(id=escalation_id, **{**known, **values}), ())._replace(location=place)


def failing(desk, work):
    """The error that some work of a desk ends with."""
    with pytest.raises(RequestError) as caught:
        work()
    return caught.value


def understood(replies):
    """Who has replied what."""
    return [
        (one.response.by, one.response.action, one.response.content)
        for one in replies
        if isinstance(one, HumanReply)
    ]


def unclear(replies):
    """Who was not understood, and how."""
    return [(one.by, one.kind) for one in replies if isinstance(one, UnparsedReply)]
