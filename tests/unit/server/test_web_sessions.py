"""What browsers keep for the page, and what of it is believed."""

import time

import pytest
from starlette.requests import Request
from starlette.responses import Response

from kr_core.server.web.sessions import Sessions

pytestmark = pytest.mark.req("Z6")

TOKEN = "a-token-of-the-tests-0123456789"


def request(response=None, **headers):
    """A request of a browser that has had a response."""
    cookies = (
        []
        if response is None
        else [line.partition(";")[0] for line in response.headers.getlist("set-cookie")]
    )
    raw = {"cookie": "; ".join(cookies), **headers}
    return Request(
        {"type": "http", "headers": [(name.encode(), value.encode("latin-1")) for name, value in raw.items()]}
    )


def signed_in(sessions):
    response = Response()
    sessions.sign_in(response)
    return response


def test_who_has_signed_in_remains_so_when_the_server_is_started_anew():
    """As long as the token is the same, and for thirty days."""
    response = signed_in(Sessions(TOKEN, 1, secure=False))
    assert Sessions(TOKEN, 1, secure=False).signed_in(request(response))
    assert not Sessions(f"{TOKEN}x", 1, secure=False).signed_in(request(response))
    assert not Sessions(TOKEN, 2, secure=False).signed_in(request(response)), (
        "servers of a machine share cookies"
    )
    assert not Sessions(TOKEN, 1, secure=False).signed_in(request())


@pytest.mark.parametrize("days", [-1, 31])
def test_a_cookie_has_its_time(monkeypatch, days):
    """One that is too old, or from the future, is none."""
    sessions = Sessions(TOKEN, 1, secure=False)
    response = signed_in(sessions)
    now = time.time()
    monkeypatch.setattr("kr_core.server.web.sessions.time.time", lambda: now + days * 86_400)
    assert not sessions.signed_in(request(response))


@pytest.mark.parametrize("change", ["", "x", "é"])
def test_a_cookie_that_was_altered_is_none(change):
    """Whatever was altered of it."""
    sessions = Sessions(TOKEN, 1, secure=False)
    response = signed_in(sessions)
    cookie = request(response).cookies["kr_session_1"]
    began, seed, mac = cookie.split(".")
    for forged in (
        f"{int(began) + 1}.{seed}.{mac}",
        f"{began}.{seed}.{change}",
        f"{change}.{mac}",
        change,
        f".{mac}",
        mac,
    ):
        assert not sessions.signed_in(request(cookie=f"kr_session_1={forged}"))


def test_the_token_itself_lets_programs_in():
    """By the scheme Bearer alone, in any case of its letters."""
    sessions = Sessions(TOKEN, 1, secure=False)
    assert sessions.signed_in(request(authorization=f"Bearer {TOKEN}"))
    assert sessions.signed_in(request(authorization=f"bearer {TOKEN}"))
    for wrong in (TOKEN, f"Basic {TOKEN}", "Bearer ", "Bearer", f"Bearer {TOKEN}x"):
        assert not sessions.signed_in(request(authorization=wrong))
    assert not Sessions(None, 1, secure=False).knows_bearer(request(authorization="Bearer "))


def test_a_form_belongs_to_a_browser_and_to_who_has_signed_in_there():
    """What one browser was shown is of no use in another, nor after signing in as somebody else."""
    sessions = Sessions(TOKEN, 1, secure=True)
    seed, new = sessions.seed(request())
    assert new
    response = signed_in(sessions)
    sessions.keep_seed(response, seed)
    assert all("Secure" in line and "HttpOnly" in line for line in response.headers.getlist("set-cookie"))
    mine = request(response)
    assert sessions.seed(mine) == (seed, False)
    token = sessions.form_token(mine, seed)
    assert sessions.is_ours(mine, token)
    other = signed_in(sessions)
    sessions.keep_seed(other, seed)
    assert not sessions.is_ours(request(other), token)
    another, _ = sessions.seed(request())
    assert not sessions.is_ours(mine, sessions.form_token(mine, another))
    assert not sessions.is_ours(request(), sessions.form_token(request(), "")), "a browser that keeps nothing"


@pytest.mark.parametrize("name", ["Grace Hopper", "Ægir; path=/", "名前", "x" * 200])
def test_a_name_is_remembered_as_it_was_written(name):
    """Whatever letters it has."""
    sessions = Sessions(None, 1, secure=False)
    response = Response()
    sessions.keep_name(response, name)
    assert sessions.name(request(response)) == name
    assert sessions.name(request(cookie="kr_name_1=zz")) == ""
