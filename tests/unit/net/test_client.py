"""The client that sources are handed: it asks again, waits as it is told, gives up in time, and reads no more than it must."""

import asyncio
import gzip
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.loopback import Answer, serving

from kr_core import EVENTS, RequestError
from kr_core.net import circuit_breaker
from kr_core.net.body import MAX_BYTES
from kr_core.net.gateway import CircuitOpen, RateReached
from kr_core.net.rate_limit import RateLimiter
from kr_core.net.retry import retry_after
from kr_core.plugin import Rate
from kr_core.toolkit import json_of


class InTurn:
    """Answers one after the other; the last one again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, _asked):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.req("Z5")
@pytest.mark.parametrize("first", [Answer(500), Answer(502), Answer(503), Answer(504), Answer(reset=True)])
def test_what_fails_in_passing_is_asked_again(way, first):
    """A GET that fails once is answered the second time, and each request is an event."""
    with serving(InTurn(first, "well")) as server:
        assert way.get(server.url).text == "well"
        assert len(server.asked) == 2
    assert [data["status"] for _kind, data in way.events] == [first.status if not first.reset else None, 200]


@pytest.mark.req("Z5")
def test_it_is_not_asked_for_ever(way):
    """Three times, and then the failure is the answer."""
    with serving(InTurn(Answer(503))) as server:
        assert way.get(server.url).status_code == 503
        assert len(server.asked) == 3


@pytest.mark.req("Z5")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429])
def test_what_will_not_change_is_not_asked_again(way, status):
    """Nor is a limit that does not say how long: to come back at once makes it worse."""
    with serving(InTurn(Answer(status))) as server:
        assert way.get(server.url).status_code == status
        assert len(server.asked) == 1


@pytest.mark.req("Z5")
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(way, status):
    """It is waited as long as the service asks, not less."""
    times = []

    def answer(_asked):
        times.append(time.monotonic())
        return Answer(status, headers={"Retry-After": "1"}) if len(times) == 1 else "well"

    with serving(answer) as server:
        assert way.get(server.url).text == "well"
    assert times[1] - times[0] >= 1.0


@pytest.mark.req("Z5")
def test_a_wait_beyond_the_deadline_is_not_begun(way):
    """Who asks for an hour is answered with the limit at once."""
    with serving(InTurn(Answer(429, headers={"Retry-After": "3600"}))) as server:
        started = time.monotonic()
        assert way.get(server.url, seconds=60.0).status_code == 429
        assert time.monotonic() - started < 30
        assert len(server.asked) == 1


@pytest.mark.req("Z5")
def test_retry_after_in_both_forms():
    """Seconds, or a date (RFC 9110); what is neither asks for nothing."""
    now = datetime(2026, 11, 22, tzinfo=UTC)
    assert retry_after({"retry-after": "120"}) == 120
    assert retry_after({"retry-after": format_datetime(now + timedelta(seconds=90), usegmt=True)}, now) == 90
    assert retry_after({"retry-after": format_datetime(now - timedelta(days=1), usegmt=True)}, now) == 0
    assert retry_after({"retry-after": "1", "retry-after-ms": "40"}) == 0.04
    assert retry_after({"retry-after": "1", "retry-after-ms": "soon"}) == 1
    for rubbish in ("", "soon", "-5", "nan", "1e400", "9" * 400, "Wed, 99 Foo 2026"):
        asked = retry_after({"retry-after": rubbish}, now)
        assert asked is None or asked == 86_400, rubbish


@pytest.mark.req("Z5")
def test_a_body_is_sent_once(way):
    """What may have changed something is not sent twice after a broken connection."""

    async def go(url):
        async with way.out() as context:
            await context.http.post(url, json={"order": 1})

    with serving(InTurn(Answer(reset=True), "well")) as server:
        with pytest.raises(httpx.TransportError):
            asyncio.run(go(server.url))
        assert len(server.asked) == 1


@pytest.mark.req("R7")
def test_a_refused_connection_costs_nothing(way):
    """Nobody was reached, and so nothing was sent; the error says so in its type."""

    async def go(url):
        async with way.out() as context:
            with pytest.raises(httpx.ConnectError):
                await context.http.get(url)
            assert (context.tried, context.reached) == (True, False)

    with serving(InTurn("well")) as server:
        url = server.url
    asyncio.run(go(url))


@pytest.mark.req("R7")
@pytest.mark.parametrize(
    "ask",
    [
        lambda context: context.http.get("https://docs.example/search"),
        lambda context: context.call_tool("https://docs.example/mcp", "search", {}),
    ],
    ids=["http", "mcp"],
)
def test_a_proxy_that_leads_nowhere_costs_nothing(way, monkeypatch, ask):
    """It was asked for a way to the host, and refused; the host was told nothing."""

    async def go():
        async with way.out() as context:
            with pytest.raises((httpx.ProxyError, RequestError), match="403"):
                await ask(context)
            assert not context.reached

    with serving(InTurn(Answer(403))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        asyncio.run(go())
        assert {asked.method for asked in proxy.asked} == {"CONNECT"}


@pytest.mark.req("R7")
def test_a_request_that_was_sent_costs_a_call(way):
    """Also one whose answer never came."""

    async def go(url):
        async with way.out() as context:
            with pytest.raises(httpx.TransportError):
                await context.http.post(url)
            assert context.reached

    with serving(InTurn(Answer(reset=True))) as server:
        asyncio.run(go(server.url))


@pytest.mark.req("Z5")
def test_a_host_that_keeps_failing_is_left_alone(way):
    """After five failures nothing is sent to it for a while, from any source; another host is asked as ever."""
    with serving(InTurn(Answer(500))) as bad, serving(InTurn("well")) as good:
        way.get(bad.url)  # three times
        way.get(bad.url)  # and two
        before = len(bad.asked)
        with pytest.raises(CircuitOpen, match="failed again and again"):
            way.get(bad.url, name="another")
        assert before == len(bad.asked) == circuit_breaker.FAILURES
        assert way.get(good.url).text == "well"


@pytest.mark.req("Z5")
def test_a_circuit_closes_after_a_trial():
    """One request may try; if it fails the rest is twice as long, if not everything passes."""
    now = [0.0]
    circuit = circuit_breaker.CircuitBreaker(lambda: now[0])
    for _ in range(circuit_breaker.FAILURES):
        assert circuit.admits() == 0
        circuit.failed()
    assert circuit.admits() == circuit_breaker.REST_SECONDS
    now[0] += circuit_breaker.REST_SECONDS
    assert circuit.admits() == 0, "the trial"
    assert circuit.admits() > 0, "nobody else meanwhile"
    circuit.failed()
    assert circuit.admits() == 2 * circuit_breaker.REST_SECONDS
    now[0] += 2 * circuit_breaker.REST_SECONDS
    assert circuit.admits() == 0
    circuit.succeeded()
    assert [circuit.admits() for _ in range(3)] == [0, 0, 0]


@pytest.mark.req("Z5")
def test_what_was_under_way_is_no_trial():
    """Many that fail at once open a circuit for as long as five do."""
    now = [0.0]
    circuit = circuit_breaker.CircuitBreaker(lambda: now[0])
    under_way = 4 * circuit_breaker.FAILURES
    assert [circuit.admits() for _ in range(under_way)] == [0.0] * under_way
    for _ in range(under_way):
        circuit.failed()
    assert circuit.admits() == circuit_breaker.REST_SECONDS


@pytest.mark.req("Z5")
@given(
    st.integers(1, 5), st.floats(0.1, 10.0), st.lists(st.floats(0.0, 3.0), min_size=1, max_size=40)
)  # fmt: skip
def test_no_span_has_more_turns_than_the_rate(calls, seconds, gaps):
    """Whenever they are asked for; and nobody waits for a turn that was free before."""
    now = [0.0]
    limiter = RateLimiter(Rate(calls, seconds), lambda: now[0])
    turns = []
    for gap in gaps:
        now[0] += gap
        turns.append(now[0] + limiter.take(1e9))
        earlier = turns[-1 - calls] + seconds if len(turns) > calls else 0.0
        assert turns[-1] == pytest.approx(max(now[0], earlier))
    assert turns == pytest.approx(sorted(turns))  # what is waited is a difference, and so rounded


@pytest.mark.req("Z5")
def test_a_rate_is_held_by_all_who_ask(way):
    """However many ask at once, none is refused and it takes as long as the rate says."""
    rate = Rate(5, 0.2)
    times = []

    def answer(_asked):
        times.append(time.monotonic())
        return "well"

    async def go(url):
        async def one():
            async with way.out(seconds=30.0, rate=rate) as context:
                await context.http.get(url)

        await asyncio.gather(*(one() for _ in range(23)))

    began = time.monotonic()
    with serving(answer) as server:
        asyncio.run(go(server.url))
    assert len(times) == 23
    assert time.monotonic() - began >= 4 * rate.seconds


@pytest.mark.req("Z5")
def test_no_turn_before_the_deadline_is_told_at_once(way):
    """Nothing is sent, and nobody waits in vain."""

    async def go(url):
        async with way.out(rate=Rate(1, 60.0)) as context:
            await context.http.get(url)
        async with way.out(rate=Rate(1, 60.0)) as context:
            with pytest.raises(RateReached, match="rate limit"):
                await context.http.get(url)
            assert not context.reached

    with serving(InTurn("well")) as server:
        asyncio.run(go(server.url))
        assert len(server.asked) == 1


@pytest.mark.req("Z4")
@pytest.mark.parametrize("packed", ["gzip", "deflate", None])
def test_an_answer_is_read_whole(way, packed):
    """Packed or not, and told without the headers of its packing."""
    text = "well " * 1000
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, None: bytes}[packed]
    answer = Answer(200, pack(text.encode()), {"Content-Encoding": packed} if packed else {})
    with serving(InTurn(answer)) as server:
        got = way.get(server.url)
    assert got.text == text
    assert "content-encoding" not in got.headers


def gzipped(body):
    return Answer(200, body, {"Content-Encoding": "gzip"})


@pytest.mark.req("Z4")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda: Answer(200, b"x" * (MAX_BYTES + 1)), "longer than 8 MB"),
        (lambda: gzipped(gzip.compress(b"\0" * (50 * 2**20))), "longer than 8 MB"),
        (lambda: gzipped(b"no gzip"), "cannot be unpacked"),
        (lambda: gzipped(gzip.compress(b"x" * 1000)[:-12]), "ends too early"),
        (lambda: Answer(200, b"x", {"Content-Encoding": "br"}), "packed as br"),
    ],
)
def test_an_answer_that_cannot_be_read(way, answer, reason):
    """It is a bad answer with its reason, and no reason to ask again."""
    with serving(InTurn(answer())) as server:
        with pytest.raises(RequestError, match=reason) as caught:
            way.get(server.url)
        assert len(server.asked) == 1
    assert caught.value.outcome == "bad_answer"


@pytest.mark.req("R9")
@pytest.mark.parametrize("packing", ["gzip", "deflate"])
def test_an_empty_answer_is_packed_as_anything(way, packing):
    """A refusal without a body keeps its status, though its head tells of a packing."""
    with serving(InTurn(Answer(429, b"", {"Content-Encoding": packing}))) as server:
        got = way.get(server.url)
    assert (got.status_code, got.content) == (429, b"")


@pytest.mark.req("Z4")
@pytest.mark.parametrize(("body", "reason"), [("[" * 100_000, "nested too deeply"), ("<html>", "no JSON")])
def test_json_that_is_none(body, reason):
    """Which of the two depends on Python's parser; both are a bad answer."""
    with pytest.raises(RequestError, match=reason):
        json_of(httpx.Response(200, text=body))


@pytest.mark.req("R19")
def test_each_request_is_on_record_without_secrets(way):
    """What was told, where, how it went and how long it took; keys in headers are not even looked at."""

    async def go(url):
        async with way.out() as context:
            await context.http.get(
                f"{url}/search", params={"q": "why", "api_key": "hunter2hunter2"},
                headers={"Authorization": "Bearer abcdefghijklmnop"},
            )  # fmt: skip

    with serving(InTurn("well")) as server:
        asyncio.run(go(server.url))
        assert server.asked[0].headers["user-agent"].startswith("kr-core/")
    [(kind, data)] = way.events
    assert kind == "source.request"
    assert set(data) == set(EVENTS[kind].__annotations__)
    assert (data["method"], data["url"], data["status"]) == ("GET", f"{server.url}/search", 200)
    assert (data["sent"], data["received"], data["error"]) == ("q=why api_key=[redacted]", 4, "")


@pytest.mark.req("R8")
def test_many_at_once_share_connections(way):
    """Twenty questions at once open twenty connections, and the next ones none, as long as somebody is at it."""
    together = threading.Barrier(20, timeout=60)

    def answer(asked):
        if asked.path != "/first":
            together.wait()  # nobody is answered before all have asked
        return "well"

    async def go(url):
        async def one(_number):
            async with way.out() as context:
                return (await context.http.get(url)).text

        async with way.out() as first:
            await first.http.get(f"{url}/first")
            return [await asyncio.gather(*map(one, range(20))) for _ in range(3)]

    with serving(answer) as server:
        assert asyncio.run(go(server.url)) == [["well"] * 20] * 3
        assert len(server.asked) == 61
        assert len({asked.peer for asked in server.asked}) == 20


@pytest.mark.req("R7", "R8")
def test_nothing_is_sent_when_the_consultation_is_over(way):
    """What a source left running can neither send, which nobody would have paid for, nor keep connections open."""

    async def go(url):
        async with way.out() as context:
            await context.http.get(url)
        with pytest.raises(RuntimeError, match="the consultation is over"):
            async with context.exchange("docs:80", "GET", url):
                pass
        with pytest.raises(RuntimeError, match="closed"):
            await context.http.get(url)

    with serving(InTurn("well")) as server:
        asyncio.run(go(server.url))
        assert len(server.asked) == 1
