"""`kr mcp` as its clients meet it: raw lines on its standard streams, and a server over HTTP on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import contextmanager

from mcp import Client, StdioServerParameters

from support.fork_server import kr_argv

MODES = ("auto", "legacy")
TOOLS = {
    "research", "research_request", "expedition", "ask", "lessons", "record_lesson", "search_knowledge", "get_report", "reject_answer", "qa_log", "answer_escalation",
    "dispatch_task", "get_agent_status",
}  # fmt: skip
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_SECONDS = 120.0


def request(number, method, **parameters):
    """A request of the newer generation, which stands for itself."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**parameters, "_meta": _META}}


def tool(number, name, **arguments):
    """A call of a tool."""
    return request(number, "tools/call", name=name, arguments=arguments)


class Lines:
    """A process of `kr mcp`, to which a test writes bytes and of which it reads lines."""

    def __init__(self, folder, env):
        self.process = subprocess.Popen(
            kr_argv(env, "mcp"),
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def write(self, *raw):
        for one in raw:
            self.process.stdin.write(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n")
            self.process.stdin.flush()

    def read(self):
        """The next message; every line is one."""
        return json.loads(self.process.stdout.readline())

    def ask(self, message):
        self.write(message)
        return self.read()

    def leave(self):
        """Close standard input; the exit code, what else it has written, and its standard error."""
        out, err = self.process.communicate(timeout=_SECONDS)
        return self.process.returncode, out, err.decode()

    def told_to_end(self, number=signal.SIGTERM):
        """A signal while standard input stays open; the exit code and standard error."""
        self.process.send_signal(number)
        code = self.process.wait(_SECONDS)
        return code, self.process.stderr.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:  # what was not written yet has nobody to read it
                pass


@contextmanager
def over_http(folder, env, *options):
    """A process of `kr mcp --http`; yields its address."""
    process = subprocess.Popen(
        kr_argv(env, "mcp", "--http", "--port", "0", *options), cwd=folder, env=env, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        line = process.stderr.readline()
        assert "MCP is served at " in line, line + process.stderr.read()
        yield line.split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        _out, err = process.communicate(timeout=_SECONDS)
        assert process.returncode == 0, err


def over_stdio(folder, env):
    """How the SDK's client starts `kr mcp`."""
    program, *arguments = kr_argv(env, "mcp")
    return StdioServerParameters(command=program, args=arguments, cwd=str(folder), env=dict(env))


def client(server, mode="auto", **more):
    """The SDK's client of an address, a program or a server of this process."""
    return Client(server, mode=mode, read_timeout_seconds=_SECONDS, **more)


def environment(environ, **more):
    """The environment of a process of `kr mcp`, whose addresses beyond loopback answer nobody."""
    refuses = dict.fromkeys(("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return {**os.environ, **environ, **refuses, "NO_PROXY": "127.0.0.1,localhost", **more}


def text(result):
    """What a tool says to the model."""
    return "\n".join(block.text for block in result.content)
