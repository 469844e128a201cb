"""A real service on loopback: it verifies what comes in, and shows each message once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105  of the format's own examples


class Call(NamedTuple):
    """A call as it came in."""

    headers: dict
    body: bytes

    @property
    def message(self):
        return json.loads(self.body)


class Desk:
    """Shows what it is sent, once for each id."""

    def __init__(self):
        self.calls: list[Call] = []
        self.shown: dict[str, dict] = {}

    def take(self, headers, body):
        """Status and text of the answer."""
        call = Call({name.lower(): value for name, value in headers.items()}, body)
        self.calls.append(call)
        if not is_signed(call):
            return 401, "not signed"
        self.shown.setdefault(call.headers["webhook-id"], call.message)
        return 200, "ok"

    @property
    def text(self):
        return "\n".join(message["text"] for message in self.shown.values())


def is_signed(call):
    """Whether the signature is right: computed here anew, by the format's words alone."""
    head = f"{call.headers.get('webhook-id')}.{call.headers.get('webhook-timestamp')}.".encode()
    return call.headers.get("webhook-signature") == signature(head + call.body)


def signature(signed):
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed(body, seconds, message="relay_1"):
    """The headers of a call to KR."""
    return {
        "webhook-id": message,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature(f"{message}.{seconds}.".encode() + body),
    }


class Service:
    """The desk behind a port of this machine.

    `answers` are given first, each once: a status, or status, body and headers; then the desk's own.
    """

    def __init__(self):
        self.desk = Desk()
        self.answers = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    @property
    def host(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status, text = service.desk.take(dict(self.headers), body)
                headers = {}
                if service.answers:
                    status, text, headers = service.answers.pop(0)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_arguments):
                pass

        return Handler
