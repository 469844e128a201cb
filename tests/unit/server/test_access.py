"""Who may ask over HTTP."""

import asyncio
import socket

import pytest

from kr_core.errors import ConfigError
from kr_core.server.access import AccessGuard, check_token, is_loopback

TOKEN = "of-a-test-0123456789"


def asked(token=None, **headers):
    """The status of a request with these headers; None where it has passed."""
    status = []

    async def inner(_scope, _receive, _send):
        pass

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])

    scope = {
        "type": "http",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    asyncio.run(AccessGuard(inner, token)(scope, None, send))
    return status[0] if status else None


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("127.0.0.1:8001", True), ("localhost", True), ("LOCALHOST:1", True), ("[::1]:8001", True),
        ("192.0.2.7:8001", True), (f"{socket.gethostname()}:8001", True), ("stranger.example", False),
        ("127.0.0.1.stranger.example:8001", False), ("localhost.stranger.example", False), ("", False),
        ("[::1", False), ("user@stranger.example", False), ("127.0.0.1@stranger.example", False),
        ("stranger.example@localhost", False), ("@localhost", False), ("stranger.example@127.0.0.1:8001", False),
    ],
)  # fmt: skip
def test_the_host_is_no_name_that_a_stranger_can_point_here(host, passes):
    """Addresses and this machine's own names pass; of any other name a stranger may be the owner."""
    assert asked(host=host) == (None if passes else 421)


@pytest.mark.req("Z8")
@pytest.mark.parametrize(
    ("origin", "passes"),
    [
        ("http://localhost:6274", True), ("http://127.0.0.1", True), ("http://[::1]:3000", True),
        ("http://192.0.2.7:99", True), ("http://192.0.2.8", False), ("https://stranger.example", False),
        ("null", False), ("", False), ("http://localhost.stranger.example", False), ("file://", False),
        ("http://stranger.example@localhost", False),
    ],
)  # fmt: skip
def test_an_origin_is_of_this_machine_or_the_same_as_the_host(origin, passes):
    """A page of somebody else is refused."""
    assert asked(host="192.0.2.7:8001", origin=origin) == (None if passes else 403)


@pytest.mark.req("Z8")
def test_the_token_is_asked_of_everybody():
    """Also on this machine, where one was given."""
    assert asked(TOKEN, host="localhost") == 401
    assert asked(TOKEN, host="localhost", authorization=f"Bearer {TOKEN}x") == 401
    assert asked(TOKEN, host="localhost", authorization="Bearer \xff") == 401
    assert asked(TOKEN, host="stranger.example", authorization=f"Bearer {TOKEN}") == 421
    assert asked(TOKEN, host="localhost", authorization=f"Bearer {TOKEN}") is None


@pytest.mark.req("Z8")
def test_beyond_this_machine_a_token_is_needed():
    """0.0.0.0 is every address of the machine; a short token is none."""
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        assert is_loopback(host)
        check_token(host, None, "KR_TOKEN")
    for host in ("0.0.0.0", "::", "192.0.2.7", "example.org"):
        assert not is_loopback(host)
        with pytest.raises(ConfigError, match="token"):
            check_token(host, None, "KR_TOKEN")
        check_token(host, TOKEN, "KR_TOKEN")
    with pytest.raises(ConfigError, match="16"):
        check_token("localhost", "short", "KR_TOKEN")
