"""Sites to fetch pages from, and an event loop with look-ups and roads of its own."""

from __future__ import annotations

import asyncio
import socket

from support.loopback import Answer

_HTML = {"Content-Type": "text/html; charset=utf-8"}


class Site:
    """Paths and what they answer; nothing else is there, and no robots.txt unless it is among them."""

    def __init__(self, **paths):
        self.paths = {"/" + name.replace("robots", "robots.txt"): answer for name, answer in paths.items()}

    def __call__(self, asked):
        return self.paths.get(asked.path, Answer(404, "not here"))


def page(body="<p>Hello.</p>", status=200, **headers):
    return Answer(status, body, {**_HTML, **{name.replace("_", "-"): said for name, said in headers.items()}})


def leading_to(place):
    return Answer(302, "", {"Location": place})


class Loop(asyncio.SelectorEventLoop):
    """An event loop with its own look-ups and roads: names have the addresses given, one list for each look-up."""

    def __init__(self, names=None, roads=None):
        super().__init__()
        self.names = {name: list(answers) for name, answers in (names or {}).items()}
        self.roads = roads or {}
        self.looked_up, self.connected = [], []

    async def getaddrinfo(self, host, port, **options):
        if host not in self.names:
            return await super().getaddrinfo(host, port, **options)
        self.looked_up.append(host)
        answers = self.names[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    async def sock_connect(self, sock, address):
        self.connected.append(address[0])
        await super().sock_connect(sock, self.roads.get(address[0], address))


class Fetched:
    """What came of a fetch: a page, or the error."""

    def __init__(self, page, error, loop):
        self.page, self.error, self.loop = page, error, loop
        self.outcome = error.outcome if error else "ok"
