"""Pages are fetched from the public internet alone, bounded in time and size, and as robots.txt allows (Z2)."""

import asyncio
import gzip
import socket
import threading
import time
import tracemalloc
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import Answer, serving

from kr_core import RequestError
from kr_core.net import pages
from kr_core.net.pages import MOST_BYTES, MOST_REDIRECTS, allowed_hosts

pytestmark = pytest.mark.req("Z2")

HTML = {"Content-Type": "text/html; charset=utf-8"}
PUBLIC = "93.184.216.34"


class Site:
    """Paths and what they answer; nothing else is there, and no robots.txt unless it is among them."""

    def __init__(self, **paths):
        self.paths = {"/" + name.replace("robots", "robots.txt"): answer for name, answer in paths.items()}

    def __call__(self, asked):
        return self.paths.get(asked.path, Answer(404, "not here"))


def page(body="<p>Hello.</p>", status=200, **headers):
    return Answer(status, body, {**HTML, **{name.replace("_", "-"): said for name, said in headers.items()}})


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


@pytest.fixture
def fetch(way):
    def fetched(url, allow=(), *, seconds=10.0, loop=None):
        async def go():
            async with way.out(seconds=seconds) as context:
                return await context.fetch(url, allow_hosts=allow)

        loop = loop or Loop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            try:
                return Fetched(runner.run(go()), None, loop)
            except RequestError as error:
                return Fetched(None, error, loop)

    return fetched


@contextmanager
def speaking(say):
    """A server of bare sockets: `say(connection, request)` for each connection, apart from robots.txt, which is not there."""
    server = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve(connection):
        with connection:
            try:
                request = connection.recv(65536)
                if b"GET /robots.txt" in request:
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                else:
                    say(connection, done)
            except OSError:  # the client had enough
                pass

    def accept():
        while True:
            try:
                connection, _address = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        done.set()
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


# -- addresses ---------------------------------------------------------------------------------------------


def test_a_page(fetch, way):
    """A page comes with its address, its type and its text; each request is an event."""
    with serving(Site(page=page("<p>Käse</p>"))) as server:
        fetched = fetch(f"{server.url}/page?x=1#part", [server.host])
        assert fetched.page == (f"{server.url}/page?x=1#part", "text/html", "<p>Käse</p>")
        assert [asked.path for asked in server.asked] == ["/robots.txt", "/page"]
        assert server.asked[1].headers["user-agent"].startswith("kr-core/")
        assert "text/markdown" in server.asked[1].headers["accept"]
    assert [data["status"] for _kind, data in way.events] == [404, 200]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]",
     "[::ffff:7f00:1]", "169.254.169.254", "[fe80::1]", "10.0.0.1", "[64:ff9b::7f00:1]", "0"],
)  # fmt: skip
@pytest.mark.parametrize("redirected", [False, True])
def test_no_private_address(fetch, host, redirected):
    """However it is written, an address of this machine or its network is refused, at once or after a redirect."""
    if redirected:
        with serving(Site(page=leading_to(f"http://{host}/secret"))) as server:
            fetched = fetch(f"{server.url}/page", [server.host])
            assert "/secret" not in [asked.path for asked in server.asked]
    else:
        fetched = fetch(f"http://{host}/secret")
    assert fetched.outcome == "blocked" or (redirected and fetched.outcome == "bad_answer"), fetched.error
    assert len(fetched.loop.connected) == 2 * redirected  # for the first page and its robots.txt


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "ftp://example.com/x", "data:text/html,x", "//example.com/", "example.com", "",
     "http://", "http://user:secret@example.com/", "http://example.com:22/", "https://example.com:8443/", "http://exa mple.com:x/",
     f"https://example.com/{'x' * 3000}", f"https://example.com/?q={'x' * 100_000}", "http://example.com\r\nHost: evil/"],
)  # fmt: skip
def test_no_address_of_a_page(fetch, url):
    """Other schemes and ports, passwords, and addresses without end are refused before anything is looked up."""
    fetched = fetch(url)
    assert fetched.outcome == "blocked"
    assert "secret" not in str(fetched.error)
    assert len(str(fetched.error)) < 500
    assert fetched.loop.connected == []


def test_a_name_that_leads_inside(fetch):
    """A name is as good as the addresses that it has; where some are public, those alone are connected to."""
    with serving(Site(page=page())) as server:
        port = int(server.host.rpartition(":")[2])
        inside = Loop({"evil.example": [["127.0.0.1", "10.0.0.7"]]})
        assert fetch("http://evil.example/page", loop=inside).outcome == "blocked"
        assert inside.connected == []
        both = Loop({"half.example": [["10.0.0.7", PUBLIC]]}, {PUBLIC: ("127.0.0.1", port)})
        assert fetch("http://half.example/page", loop=both).outcome == "ok"
        assert set(both.connected) == {PUBLIC}


def test_an_answer_that_changes(fetch):
    """The address that was vetted is the one that is connected to, whatever the next look-up would say (DNS rebinding)."""
    with serving(Site(page=page())) as server:
        port = int(server.host.rpartition(":")[2])
        loop = Loop({"twice.example": [[PUBLIC], ["127.0.0.1"]]}, {PUBLIC: ("127.0.0.1", port)})
        fetched = fetch("http://twice.example/page", loop=loop)
        # the first connection, for robots.txt, goes to the public address; the second look-up is vetted anew
        assert (fetched.outcome, loop.connected) == ("blocked", [PUBLIC])
        assert loop.looked_up == ["twice.example"] * 2
        assert [asked.path for asked in server.asked] == ["/robots.txt"]


def test_each_redirect_is_vetted(fetch):
    """A page on the public internet that leads to a name with a private address leads nowhere."""
    with serving(Site(page=leading_to("http://inside.example/secret"), secret=page("secret"))) as server:
        port = int(server.host.rpartition(":")[2])
        loop = Loop(
            {"outside.example": [[PUBLIC]], "inside.example": [["127.0.0.1"]]}, {PUBLIC: ("127.0.0.1", port)}
        )
        fetched = fetch("http://outside.example/page", loop=loop)
        assert fetched.outcome == "blocked"
        assert "allow_hosts" in str(fetched.error)
        assert "/secret" not in [asked.path for asked in server.asked]


def test_redirects_end(fetch):
    """A few are followed, relative ones too; not more, and none in a circle."""
    site = Site(
        a=leading_to("/b"),
        b=leading_to("c"),
        c=leading_to("?d"),
        circle=leading_to("/circle"),
        off=leading_to("http://here:there/"),
    )
    with serving(site) as server:
        site.paths["/c"] = page("there")
        assert fetch(f"{server.url}/a", [server.host]).page.url == f"{server.url}/c"
        before = len(server.asked)
        assert fetch(f"{server.url}/circle", [server.host]).outcome == "bad_answer"
        assert len(server.asked) - before == MOST_REDIRECTS + 1
        assert fetch(f"{server.url}/off", [server.host]).outcome == "bad_answer"


def test_hosts_are_allowed_as_they_are_written(fetch):
    """`allow_hosts` compares host and port as the URL says them, never what they lead to."""
    with serving(Site(page=page())) as server:
        port = server.host.rpartition(":")[2]
        assert fetch(f"http://localhost:{port}/page", [server.host]).outcome == "blocked"
        assert fetch(f"http://127.0.0.1:{port}/page", ["127.0.0.1"]).outcome == "blocked"
        assert fetch(f"http://127.0.0.1:{port}/page", ["127.0.0.1:1"]).outcome == "blocked"
        assert fetch(f"http://LOCALHOST:{port}/page", [f"localhost:{port}"]).outcome == "ok"


def test_how_hosts_are_named():
    """A host alone is meant at the usual ports; a name in another script is the one that is asked for."""
    assert allowed_hosts(["Docs.Example"]) == [("docs.example", 80), ("docs.example", 443)]
    assert allowed_hosts(["[::1]:8080", "bücher.example:81"]) == [
        ("::1", 8080),
        ("xn--bcher-kva.example", 81),
    ]
    assert allowed_hosts(["docs.example:80"]) == [("docs.example", 80)]
    for wrong in ("http://docs.example", "docs.example/path", "a b", "", "user@docs.example", "::1"):
        with pytest.raises(ValueError, match="host:port"):
            allowed_hosts([wrong])


# -- servers that misbehave ----------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def slow_headers(connection, done):
    for byte in HEAD:
        connection.sendall(bytes([byte]))
        if done.wait(0.05):
            return


def no_headers(_connection, done):
    done.wait(30)


def slow_body(connection, done):
    connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\n")
    while not done.wait(0.05):
        connection.sendall(b"x")


def reset(connection, _done):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def reset_in_the_body(connection, done):
    connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\nbegun")
    reset(connection, done)


def too_short(connection, _done):
    connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\nnot all of it")


def endless_body(connection, _done):
    connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    while True:
        connection.sendall(chunk)


def endless_headers(connection, _done):
    connection.sendall(HEAD)
    while True:
        connection.sendall(b"X-More: " + b"x" * 8000 + b"\r\n")


def no_http(connection, _done):
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def wrong_length(connection, _done):
    connection.sendall(HEAD + b"Content-Length: minus one\r\n\r\nx")


@pytest.mark.parametrize(
    ("say", "outcomes"),
    [
        (slow_headers, {"timeout"}), (no_headers, {"timeout"}), (slow_body, {"timeout"}), (reset, {"unavailable"}),
        (reset_in_the_body, {"unavailable"}), (too_short, {"unavailable"}), (endless_body, {"bad_answer"}),
        (endless_headers, {"unavailable"}), (no_http, {"unavailable"}), (wrong_length, {"unavailable"}),
    ],
)  # fmt: skip
def test_a_server_that_misbehaves(fetch, say, outcomes):
    """Each fault has its outcome, within the deadline."""
    with speaking(say) as host:
        started = time.monotonic()
        fetched = fetch(f"http://{host}/page", [host], seconds=0.6)
        assert fetched.outcome in outcomes, fetched.error
        assert time.monotonic() - started < 0.6 * 1.1 + 0.5


def test_a_host_that_is_not_there(fetch):
    """No connection is `unavailable`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    assert fetch(f"http://{host}/", [host]).outcome == "unavailable"


@pytest.mark.parametrize(
    "answer",
    [
        page(b"x" * (MOST_BYTES + 1)),
        page(gzip.compress(b"x" * (200 * 2**20), 1), Content_Encoding="gzip"),
        page(gzip.compress(b"x" * 1000)[:-20], Content_Encoding="gzip"),
        page(b"no gzip", Content_Encoding="gzip"),
        page(b"x", Content_Encoding="br"),
    ],
    ids=["too long", "gzip bomb", "cut gzip", "no gzip", "unasked encoding"],
)
def test_a_body_that_cannot_be_read(fetch, answer):
    """It is a bad answer, and takes no more memory than a page may have."""
    with serving(Site(page=answer)) as server:
        tracemalloc.start()
        try:
            fetched = fetch(f"{server.url}/page", [server.host])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert fetched.outcome == "bad_answer"
        assert most < 6 * MOST_BYTES


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(401, "blocked"), (402, "limited"), (403, "blocked"), (404, "empty"), (410, "empty"), (451, "blocked"), (500, "unavailable"),
     (502, "unavailable"), (204, "bad_answer"), (300, "bad_answer"), (302, "bad_answer"), (418, "bad_answer")],
)  # fmt: skip
def test_what_a_status_says(fetch, status, outcome):
    """Not there is another thing than not allowed, or not now."""
    with serving(Site(page=page(b"", status))) as server:
        assert fetch(f"{server.url}/page", [server.host]).outcome == outcome


@pytest.mark.req("Z5")
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date", "nothing", "rubbish"])
def test_a_host_that_asks_for_a_rest_gets_it(fetch, status, form):
    """After `Retry-After` its other pages are not asked for either, until then."""
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    said = {"seconds": "3600", "date": later, "nothing": None, "rubbish": "soon"}[form]
    headers = {} if said is None else {"Retry_After": said}
    with serving(Site(page=page("", status, **headers), other=page())) as server:
        first = fetch(f"{server.url}/page", [server.host])
        assert first.outcome == ("limited" if status == 429 else "unavailable")
        second = fetch(f"{server.url}/other", [server.host])
        if form in {"seconds", "date"}:
            assert "asks to wait for 3" in str(first.error)
            assert second.outcome == "limited"
            assert "/other" not in [asked.path for asked in server.asked]
        else:
            assert second.outcome == "ok"


@pytest.mark.parametrize(
    ("kind", "is_read"),
    [
        ("text/html", True), ("text/plain; charset=latin-1", True), ("application/xhtml+xml", True), ("text/markdown", True),
        ("application/json", True), ("application/ld+json", True), ("application/pdf", False), ("image/png", False),
        ("application/octet-stream", False), ("application/jsonx", False), ("", False), ("\x7f", False),
    ],
)  # fmt: skip
def test_types(fetch, kind, is_read):
    """Text is read, and nothing else."""
    with serving(Site(page=Answer(200, "text", {"Content-Type": kind}))) as server:
        assert fetch(f"{server.url}/page", [server.host]).outcome == ("ok" if is_read else "bad_answer")


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("é".encode(), "text/html; charset=utf-8", "é"),
        ("é".encode("latin-1"), "text/html; charset=ISO-8859-1", "é"),
        (b'<meta charset="windows-1252">\xe9', "text/html", '<meta charset="windows-1252">é'),
        ("日本".encode("shift_jis"), "text/html; charset=Shift_JIS", "日本"),
        (b"\xef\xbb\xbfx", "text/html", "x"),
        (b"a\xff\xfeb", "text/html", "a\ufffd\ufffdb"),
        (b"a\xffb", "text/html; charset=no-such-thing", "a\ufffdb"),
        (b"MSwx", "text/html; charset=punycode", "MSwx"),
        (b"\\u0041", "text/html; charset=unicode_escape", "\\u0041"),
        (b"x", "text/html; charset=cp-nothing", "x"),
    ],
)
def test_encodings(fetch, body, kind, text):
    """What a page declares, else UTF-8; what is no text in it is U+FFFD, and no odd codec of Python's is used."""
    with serving(Site(page=Answer(200, body, {"Content-Type": kind}))) as server:
        assert fetch(f"{server.url}/page", [server.host]).page.text == text


# -- robots.txt ------------------------------------------------------------------------------------------------


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
    gaps = []

    async def beat():
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    async def go(server):
        heart = asyncio.ensure_future(beat())
        async with way.out(seconds=20) as context:
            await context.fetch(f"{server.url}/page", allow_hosts=[server.host])
        heart.cancel()

    with serving(Site(robots=robots(rules), page=page())) as server:
        asyncio.run(go(server))
    assert max(gaps) < 0.25


def test_a_cancelled_fetch_ends(way):
    """Cancelled while it waits, it leaves neither a connection nor a task."""

    asked = threading.Event()

    def hear(_connection, done):
        asked.set()
        done.wait(30)

    async def go(host):
        async with way.out(seconds=20) as context:
            task = asyncio.ensure_future(context.fetch(f"http://{host}/page", allow_hosts=[host]))
            await asyncio.to_thread(asked.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return asyncio.all_tasks() - {asyncio.current_task()}

    with speaking(hear) as host:
        assert asyncio.run(go(host)) == set()


def test_no_page_takes_longer_than_it_may(fetch, monkeypatch):
    """The limit of one page holds although the consultation has more time."""
    monkeypatch.setattr(pages, "MOST_SECONDS", 0.3)
    with speaking(no_headers) as host:
        started = time.monotonic()
        assert fetch(f"http://{host}/page", [host], seconds=30).outcome == "timeout"
        assert time.monotonic() - started < 1.0
