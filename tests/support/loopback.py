"""A web server on loopback that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    """A request as it came in."""

    method: str
    path: str
    query: dict
    headers: dict
    body: bytes
    peer: tuple
    """The address of who asks: another one for each connection."""


class Answer(NamedTuple):
    """What the server says; a body that is no bytes or text goes out as JSON."""

    status: int = 200
    body: object = b""
    headers: dict = {}  # noqa: RUF012  never changed
    reset: bool = False
    """Break the connection in place of an answer."""


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing of a client that has left."""


class Server:
    """`answer(asked)` decides; what it returns that is no `Answer` is the body of a 200."""

    def __init__(self, answer, address="127.0.0.1"):
        self.answer = answer
        self.asked = []
        self._lock = threading.Lock()
        self._server = _Quiet((address, 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )  # `kr` waits for no other kind when it runs in the same process
        self._thread.start()

    @property
    def host(self):
        return f"{self._server.server_address[0]}:{self._server.server_port}"

    @property
    def url(self):
        return f"http://{self.host}"

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(
                    self.command, parts.path, parse_qs(parts.query), headers, body, self.client_address
                )
                with server._lock:
                    server.asked.append(asked)
                answer = server.answer(asked)
                self._say(answer if isinstance(answer, Answer) else Answer(200, answer))

            do_POST = do_PATCH = do_DELETE = do_HEAD = do_CONNECT = do_GET

            def _say(self, answer):
                if answer.reset:
                    self.close_connection = True
                    self.connection.close()
                    return
                body = answer.body
                kind = "text/plain; charset=utf-8"
                if not isinstance(body, bytes | str):
                    body, kind = json.dumps(body), "application/json"
                raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
                headers = {"Content-Type": kind, "Content-Length": str(len(raw)), **answer.headers}
                if "Date" in headers:
                    self.send_response_only(answer.status)  # the other one says the time by itself
                else:
                    self.send_response(answer.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_arguments):
                pass

        return Handler


@contextmanager
def serving(answer):
    """A server for the time of a test."""
    server = Server(answer)
    try:
        yield server
    finally:
        server.close()
