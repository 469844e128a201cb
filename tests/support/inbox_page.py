"""The inbox over HTTP, in the test's own process, and what stands in for a browser without a script."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import ssl
import threading
from contextlib import contextmanager
from html.parser import HTMLParser

import httpx
import uvicorn

from kr_core import AsyncKnowledgeRouterService, ConfigError, Pipeline, Question, Route
from kr_core.config import load
from kr_core.escalation.case import Case
from kr_core.escalation.case_repository import CaseRepository
from kr_core.model.questions import Resolution
from kr_core.server.http_server import ListeningSocket
from kr_core.server.web.sessions import Sessions
from kr_core.server.web.web_server import answering
from support.asked import Says, said

UNSURE = said(confidence=65, reasons=("How many sessions there are",))
QUESTION = "Which session store should we use?"
TOKEN = "a-token-of-the-tests-0123456789"


_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Given to clients, which would each read all certificates of the system otherwise."""


class Served:
    """A served inbox: where it is, and its service, whose coroutines run in the server's loop."""

    def __init__(self, service, loop, url, token):
        self.service = service
        self.loop = loop
        self.url = url
        self.token = token

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def ask(self, text=QUESTION, **values):
        """Ask a question of which the agent is not sure; the id of its case."""
        values = {"topic": "authentication", **values}
        return self.run(self.service.ask(Question(text=text, **values))).escalation.id

    def case(self, key):
        return self.service.cases.get(key)

    def person(self, **headers):
        """Somebody with a browser that has no script."""
        return Person(self.url, headers)

    def program(self):
        headers = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, verify=_NO_TLS)


@contextmanager
def served(folder, *, token=None, user="ada", config=None, escalations=None, **agents):
    """An inbox whose agents are these objects; `duc` is unsure of everything where none is given."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kr.yaml").write_text(json.dumps({"logs": [], "escalations": ["web"], **(config or {})}))
    loaded = load(folder, environ={"KR_CACHE_DIR": str(folder / "cache")})
    ready, ended = threading.Event(), []
    made: list[Served] = []

    async def serve():
        listening = ListeningSocket("127.0.0.1", 0)
        service = AsyncKnowledgeRouterService(
            Pipeline(loaded, agents=agents or {"duc": Says(UNSURE)}, escalations=escalations)
        )
        sessions = Sessions(token, listening.port, secure=False)
        async with answering(service, sessions, listening.url, user) as app:
            server = uvicorn.Server(
                uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
            )
            ended.append(server)
            made.append(Served(service, asyncio.get_running_loop(), listening.url, token))
            ready.set()
            try:
                await server.serve(sockets=[listening._bound])
            finally:
                listening.close()
        await service.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield made[0]
    finally:
        ended[0].should_exit = True
        thread.join(30)
        assert not thread.is_alive()


class OnPage:
    """The page as a way to a human, with what the engine does before: what is shown and told is in the journal.

    Args:
        channel: the way `web`.
        folder: the project's.
        url: where the page is served.
    """

    def __init__(self, channel, folder, url):
        self._channel = channel
        self._folder = folder
        self._url = url

    async def open(self, case, context):
        self._keep(case, "notified")
        return await self._channel.open(case, context)

    async def poll(self, shown, mark, context):
        return await self._channel.poll(shown, mark, context)

    async def acknowledge(self, case, notice, context):
        decided = Resolution(action="confirm", by="ada", time=dt.datetime.now(dt.UTC))
        self._keep(case, "resolved", decided, case.request.answer)
        await self._channel.acknowledge(case, notice, context)

    def _keep(self, case, status, *decided):
        with Pipeline.open({"logs": []}, folder=self._folder) as pipeline:
            cases = CaseRepository(pipeline.journal)
            try:
                version = cases.get(case.request.id).version + 1
            except ConfigError:
                version = 1
            route = Route(target="duc", agent="duc", threshold=80, reason="", where="")
            assert cases.keep(Case(case.request, route, status, version, *decided))

    def text(self):
        """The words of the pages of all cases."""

        async def read():
            service = AsyncKnowledgeRouterService(Pipeline.open({"logs": []}, folder=self._folder))
            async with (
                service,
                answering(service, Sessions(None, 1, secure=False), self._url, "ada") as app,
                httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=self._url) as client,
            ):
                return [(await client.get(f"/cases/{one.id}")).text for one in service.cases.index()]

        return "\n".join(words(page) for page in asyncio.run(read()))


def words(text):
    """What can be read on a page."""
    found = []

    class Reader(HTMLParser):
        def handle_data(self, data):
            found.append(data)

    Reader().feed(text)
    return "".join(found)


class _Forms(HTMLParser):
    """The forms of a page, each with its fields as they stand there; what is not checked is not sent."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self._area = None
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        of = dict(pairs)
        if tag == "form":
            self.forms.append((of["action"], {}))
        elif tag == "input" and self.forms and "name" in of:
            if of.get("type") != "radio" or "checked" in of:
                self.forms[-1][1][of["name"]] = of.get("value", "")
        elif tag == "textarea":
            self._area = of["name"]
            self.forms[-1][1][self._area] = ""

    def handle_data(self, data):
        if self._area is not None:
            self.forms[-1][1][self._area] += data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self.forms[-1][1][self._area] = self.forms[-1][1][self._area].removeprefix("\n")
            self._area = None


def elements(text):
    """All elements of a page, as a browser reads them: their names and attributes."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, pairs):
            found.append((tag, dict(pairs)))

    Reader().feed(text)
    return found


class Person(httpx.Client):
    """A browser without a script: it keeps cookies, follows links, and sends forms as they stand on the page."""

    def __init__(self, url, headers):
        super().__init__(base_url=url, headers=headers, follow_redirects=True, timeout=30, verify=_NO_TLS)
        self.page = None

    def open(self, path):
        self.page = self.get(path)
        return self.page

    def fields(self, ending):
        """Where a form goes, and its fields."""
        return next(
            (action, dict(fields))
            for action, fields in _Forms(self.page.text).forms
            if action.endswith(ending)
        )

    def fill(self, ending, headers=None, **filled):
        """Fill in a form of the page that is open, and send it."""
        action, fields = self.fields(ending)
        fields = {**fields, **filled}
        self.page = self.post(
            action, data={key: value for key, value in fields.items() if value is not None}, headers=headers
        )
        return self.page
