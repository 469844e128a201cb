"""KR as an MCP server: how soon it answers, what a hit costs on an open connection, and fifty clients at once."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from statistics import quantiles
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from harness import LEFT_OUT, ROOT, Limit, Measured, Timing, figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENVIRONMENT = ROOT / ".quality" / ".venv"
QUESTION = "How do I set a timeout for a single request in httpx?"
COMMAND = [sys.executable, "-m", "kr_core", "mcp"]
IMPORT = [sys.executable, "-c", "import mcp"]
STARTS, ROUNDS, CALLS = 15, 15, 200
CLIENTS, EACH = 50, 20
_BARE = """
from mcp.server import MCPServer

server = MCPServer("bare")

@server.tool()
def research(question: str) -> dict[str, str]:
    "Answer at once."
    return {"answer": question}

server.run("stdio")
"""
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    if not ENVIRONMENT.exists():
        raise SystemExit(f"{ENVIRONMENT} is missing; run `make quality-env`")
    timing = Timing(folder, ENVIRONMENT)
    project, cache = timing.project(), folder / "cache"
    environ = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    environ["KR_CACHE_DIR"] = str(cache)
    return [
        *_starts(timing, project, cache, environ),
        *_hits(project, environ),
        *_clients(project, environ),
    ]


def _starts(timing: Timing, project: Path, cache: Path, environ: dict[str, str]) -> list[dict[str, Any]]:
    def start() -> float:
        began = perf_counter()
        with _Open(COMMAND, project, environ) as door:
            door.ask("tools/list")
            return perf_counter() - began

    timing.in_turn({"start": start, "import": lambda: timing.run(IMPORT, project, cache)}, STARTS)
    peer = Measured("python -c 'import mcp'", timing.seconds["import"])
    measured = Measured("kr mcp, from its start to the first list of tools", timing.seconds["start"])
    return [figure(measured, peer, Limit("times", 2.0))]


def _hits(project: Path, environ: dict[str, str]) -> list[dict[str, Any]]:
    seconds: dict[str, list[list[float]]] = {"kr": [], "bare": []}
    bare = [sys.executable, "-c", _BARE]
    with _Open(COMMAND, project, environ) as door, _Open(bare, project, environ) as other:
        for _ in range(ROUNDS + 1):
            for name, one in (("kr", door), ("bare", other)):
                seconds[name].append([one.research() for _ in range(CALLS)])
    points = {name: [quantiles(one, n=100) for one in rounds[1:]] for name, rounds in seconds.items()}
    return [
        figure(
            Measured(
                f"a hit over an open stdio connection, {kind} of {CALLS}",
                [one[place] for one in points["kr"]],
            ),
            Measured(
                f"a tool of the SDK's that does nothing, {kind} of {CALLS}",
                [one[place] for one in points["bare"]],
            ),
            Limit("seconds", limit),
        )
        for kind, place, limit in (("p50", 49, 0.003), ("p99", 98, 0.010))
    ]


def _clients(project: Path, environ: dict[str, str]) -> list[dict[str, Any]]:
    seconds: dict[int, list[float]] = {1: [], CLIENTS: []}
    with _served(project, environ) as address:
        _calls(address, 10)
        for _ in range(3):
            for number, measured in seconds.items():
                threads = [
                    Thread(target=_calls, args=(address, CLIENTS * EACH // number)) for _ in range(number)
                ]
                began = perf_counter()
                for one in threads:
                    one.start()
                for one in threads:
                    one.join()
                measured.append(perf_counter() - began)
    what = f"{CLIENTS * EACH} hits over HTTP"
    by_all = Measured(f"{what}, by {CLIENTS} clients at once", seconds[CLIENTS])
    return [figure(by_all, Measured(f"{what}, by one client", seconds[1]), Limit("times", 2.0))]


def _calls(address: str, number: int) -> None:
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "research",
    }
    for _ in range(number):
        connection.request("POST", "/mcp", _research(1), headers)
        answer = json.loads(connection.getresponse().read())
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"no answer: {answer}")
    connection.close()


def _research(number: int) -> bytes:
    parameters = {"name": "research", "arguments": {"question": QUESTION}, "_meta": _META}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters}
    return json.dumps(message).encode() + b"\n"


@contextmanager
def _served(project: Path, environ: dict[str, str]) -> Iterator[str]:
    command = [*COMMAND, "--http", "--port", "0"]
    process = subprocess.Popen(command, cwd=project, env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None, "it is a pipe"
    try:
        yield urlsplit(process.stderr.readline().split()[-1]).netloc
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


class _Open:
    """A server on standard streams."""

    def __init__(self, command: list[str], project: Path, environ: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=project,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, method: str) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": _META}}
        self._say(json.dumps(message).encode() + b"\n")

    def research(self) -> float:
        line = _research(1)
        began = perf_counter()
        self._say(line)
        return perf_counter() - began

    def _say(self, line: bytes) -> None:
        streams = self._process.stdin, self._process.stdout
        assert streams[0] is not None, "it is a pipe"
        assert streams[1] is not None, "it is a pipe"
        streams[0].write(line)
        streams[0].flush()
        answer = streams[1].readline()
        if b'"isError":true' in answer or b'"result"' not in answer:
            raise SystemExit(f"no answer: {answer[:500]!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.communicate()
