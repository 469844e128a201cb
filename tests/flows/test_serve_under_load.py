"""`kr serve` with more connections than it may have files, none of which sends a whole request."""

from __future__ import annotations

import re
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import httpx
import pytest

pytestmark = pytest.mark.req("H2", "Z6")

FILES = 1024
HALF_OPEN = 1100
HALF = b"GET /api/inbox HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def many_files():
    """The test needs more files than the program that it tests."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * HALF_OPEN:
        pytest.skip("a process may not have enough files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * HALF_OPEN), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_open_requests_keep_nobody_out(project_folder, environ, tmp_path, many_files):
    """1,100 of them, and one who does not read, at 1,024 files: a client is answered, and each refusal is one line."""
    (project_folder / "kr.yaml").write_text("escalations: [web]\n")
    said = tmp_path / "stderr"
    command = [sys.executable, "-m", "kr_core", "serve", "--port", "0"]
    with (
        said.open("w") as errors,
        subprocess.Popen(
            ["/bin/sh", "-c", f'ulimit -n {FILES} && exec "$@"', "sh", *command],
            cwd=project_folder, env={**environ, "KR_TRUST": "all"}, stderr=errors,
        ) as server,
        ExitStack() as stack,
    ):  # fmt: skip
        stack.callback(server.kill)
        while "/\n" not in said.read_text():
            assert server.poll() is None
            time.sleep(0.01)
        port = int(re.search(r":(\d+)/\n", said.read_text())[1])
        slow = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        slow.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50)
        for _ in range(HALF_OPEN):
            stack.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(HALF)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            assert [client.get("/api/inbox").status_code for _ in range(3)] == [200] * 3
    lines = said.read_text().splitlines()[1:]
    assert len(lines) >= HALF_OPEN - FILES
    assert all(line.startswith("kr: closed a connection from 127.0.0.1: ") for line in lines), lines[:3]
