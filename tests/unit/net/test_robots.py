"""Pages are fetched as the robots.txt of their host allows (Z2, RFC 9309)."""

import asyncio
import gzip

import pytest
from support.heartbeat import heartbeats
from support.loopback import Answer, serving
from support.sites import Site, leading_to, page

pytestmark = pytest.mark.req("Z2")


def robots(text, status=200, kind="text/plain", **headers):
    return Answer(status, text, {"Content-Type": kind, **headers})


FORBIDS = "User-agent: *\nDisallow: /page\n"


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        (robots(FORBIDS), "blocked"),
        (robots("User-agent: kr-core\nDisallow: /\n\nUser-agent: *\nAllow: /\n"), "blocked"),
        (robots("User-agent: *\nDisallow: /\nAllow: /page$\n"), "ok"),
        (robots("User-agent: other\nDisallow: /\n"), "ok"),
        (robots("User-agent: *\nDisallow: /*a*e\n"), "blocked"),
        (robots("", 404), "ok"),
        (robots("", 403), "ok"),
        (robots("", 429), "limited"),
        (robots("", 500), "unavailable"),
        (robots("", 503), "unavailable"),
        (robots(f"<html>{FORBIDS}", kind="text/html"), "ok"),
        (robots(b"\xff\xfe\x00" * 100), "ok"),
        (robots(FORBIDS.encode() + b"# " + b"x" * 3_000_000), "blocked"),
        (robots(b"# " + b"x" * 3_000_000 + b"\n" + FORBIDS.encode()), "ok"),
        (robots(gzip.compress(FORBIDS.encode()), **{"Content-Encoding": "gzip"}), "blocked"),
        (robots(b"rubbish", **{"Content-Encoding": "gzip"}), "ok"),
        (leading_to("/rules"), "blocked"),
        (leading_to("/robots.txt"), "ok"),
        (leading_to("http://10.0.0.1/robots.txt"), "blocked"),
        (leading_to("javascript:alert(1)"), "blocked"),
        (Answer(reset=True), "unavailable"),
    ],
)
def test_what_robots_txt_says(fetch, rules, outcome):
    """It is obeyed (RFC 9309): without one all may be fetched, and nothing while the host cannot say."""
    with serving(Site(robots=rules, rules=robots(FORBIDS), page=page())) as server:
        assert fetch(f"{server.url}/page", [server.host]).outcome == outcome
        assert ("/page" in [asked.path for asked in server.asked]) is (outcome == "ok")


def test_robots_txt_is_asked_for_once(fetch):
    """It is remembered for a day, for each host and port."""
    with serving(Site(robots=robots("User-agent: *\nAllow: /\n"), page=page(), other=page())) as server:
        for path in ("page", "other", "page"):
            assert fetch(f"{server.url}/{path}", [server.host]).outcome == "ok"
        assert [asked.path for asked in server.asked].count("/robots.txt") == 1


def test_rules_without_end_hold_up_nothing(way):
    """Half a megabyte of rules is read beside the event loop."""
    rules = "User-agent: *\n" + "".join(f"Disallow: /*a{number}*b*c\n" for number in range(20_000))

    async def go(server):
        async with way.out(seconds=20) as context:
            with heartbeats() as gaps:
                await context.fetch(f"{server.url}/page", allow_hosts=[server.host])
            return gaps

    with serving(Site(robots=robots(rules), page=page())) as server:
        gaps = asyncio.run(go(server))
    assert max(gaps) < 0.25
