"""Pages are fetched whole or not at all, bounded in time and size, from servers of any kind (Z2)."""

import asyncio
import gzip
import socket
import threading
import tracemalloc
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from support.loopback import Answer, serving
from support.patience import in_time
from support.sites import Site, page

from kr_core.net import page_fetcher
from kr_core.net.page_fetcher import MAX_BYTES

pytestmark = pytest.mark.req("Z2")


def test_a_page(fetch, way):
    """A page comes with its address, its type and its text; each request is an event."""
    with serving(Site(page=page("<p>Käse</p>"))) as server:
        fetched = fetch(f"{server.url}/page?x=1#part", [server.host])
        assert fetched.page == (f"{server.url}/page?x=1#part", "text/html", "<p>Käse</p>")
        assert [asked.path for asked in server.asked] == ["/robots.txt", "/page"]
        assert server.asked[1].headers["user-agent"].startswith("kr-core/")
        assert "text/markdown" in server.asked[1].headers["accept"]
    assert [data["status"] for _kind, data in way.events] == [404, 200]


# -- servers that misbehave ----------------------------------------------------------------------------------


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
    seconds = 0.6 if outcomes == {"timeout"} else 10.0
    with speaking(say) as host:
        fetched = in_time(lambda: fetch(f"http://{host}/page", [host], seconds=seconds), seconds * 1.1 + 0.5)
        assert fetched.outcome in outcomes, fetched.error


def test_a_host_that_is_not_there(fetch):
    """No connection is `unavailable`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    assert fetch(f"http://{host}/", [host]).outcome == "unavailable"


@pytest.mark.parametrize(
    "answer",
    [
        lambda: page(b"x" * (MAX_BYTES + 1)),
        lambda: page(gzip.compress(b"x" * (200 * 2**20), 1), Content_Encoding="gzip"),
        lambda: page(gzip.compress(b"x" * 1000)[:-20], Content_Encoding="gzip"),
        lambda: page(b"no gzip", Content_Encoding="gzip"),
        lambda: page(b"x", Content_Encoding="br"),
    ],
    ids=["too long", "gzip bomb", "cut gzip", "no gzip", "unasked encoding"],
)
def test_a_body_that_cannot_be_read(fetch, answer):
    """It is a bad answer, and takes no more memory than a page may have."""
    with serving(Site(page=answer())) as server:
        tracemalloc.start()
        try:
            fetched = fetch(f"{server.url}/page", [server.host])
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert fetched.outcome == "bad_answer"
        assert most < 6 * MAX_BYTES


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
    monkeypatch.setattr(page_fetcher, "MAX_SECONDS", 0.3)
    with speaking(no_headers) as host:
        assert in_time(lambda: fetch(f"http://{host}/page", [host], seconds=30), 1.0).outcome == "timeout"
