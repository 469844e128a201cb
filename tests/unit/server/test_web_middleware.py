"""Which page a browser says it comes from (Z6)."""

from __future__ import annotations

import asyncio

import pytest

from kr_core.server.web.middleware import RequestMiddleware

pytestmark = pytest.mark.req("Z6")


@pytest.mark.parametrize(
    ("url", "origin", "status"),
    [
        ("https://kr.example.org", "https://kr.example.org", 200),
        (
            "https://kr.example.org:443",
            "https://kr.example.org",
            200,
        ),  # browsers leave out the scheme's own port
        ("http://kr.example.org:80/", "http://kr.example.org", 200),
        ("https://kr.example.org:8443", "https://kr.example.org:8443", 200),
        ("https://kr.example.org:8443", "https://kr.example.org", 403),
        ("https://kr.example.org", "https://kr.example.org.evil.example", 403),
        ("https://kr.example.org", "null", 403),
    ],
)
def test_a_form_comes_from_the_page_itself(url, origin, status):
    """The address that people use is the page's own, however its port is written."""
    assert asyncio.run(_posted(url, origin)) == status


async def _posted(url, origin):
    sent = []

    async def inner(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    headers = [
        (b"host", b"127.0.0.1:8420"), (b"origin", origin.encode()), (b"accept", b"application/json"),
    ]  # fmt: skip
    scope = {
        "type": "http", "path": "/api/inbox/E1/reply", "method": "POST", "scheme": "http", "headers": headers,
        "query_string": b"", "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    await RequestMiddleware(inner, url)(scope, receive, send)
    return sent[0]["status"]
