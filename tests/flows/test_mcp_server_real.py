"""KR's MCP server with programs of others: the protocol's conformance suite, the Inspector, and Claude's command line."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from functools import partial

import pytest
from support.claude_program import claude
from support.claude_program import environment as claude_environment
from support.fork_server import kr_argv
from support.mcp_door import TOOLS, environment, over_http
from support.mcp_servers import newer_node, npm
from support.model_server import Says, Uses, model_server
from support.projects import QUESTION

_SUITE = "@modelcontextprotocol/conformance@0.1.16"
_INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
SCENARIOS = {
    "server-initialize", "ping", "tools-list", "prompts-list", "resources-list", "server-sse-multiple-streams",
    "dns-rebinding-protection",
}  # fmt: skip
"""Those that a server of its own tools can pass; of the others all but two need tools of the suite's, and two pass with any."""


@pytest.fixture
def env(environ):
    return environment(environ)


@pytest.mark.req("I2")
def test_the_conformance_suite_passes(project_folder, env, tmp_path):
    """Handshake, ping, the lists, several streams at once, and what DNS rebinding would do."""
    suite = [newer_node(), str(npm("conformance", _SUITE) / "dist/index.js"), "server"]
    with over_http(project_folder, env) as url:
        ran = subprocess.run(
            [*suite, "--url", url, "-o", str(tmp_path / "out")],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
    passed = set(re.findall(r"^✓ ([\w-]+): [1-9][0-9]* passed, 0 failed$", ran.stdout, re.MULTILINE))
    assert passed >= SCENARIOS, ran.stdout[-3000:] + ran.stderr


@pytest.mark.req("I2")
def test_the_inspector_lists_and_calls(project_folder, env, tmp_path):
    """A client of another make: schemas are portable, and structured output is what the schema says."""
    inspector = [newer_node(), str(npm("inspector", _INSPECTOR) / "clients/launcher/build/index.js"), "--cli"]
    kr = tmp_path / "kr"  # a program by its name: the Inspector takes an option for one of its own
    kr.write_text(f'#!/bin/sh\nexec {shlex.join(kr_argv(env))} "$@"\n')
    kr.chmod(0o755)

    def inspect(*arguments):
        ran = subprocess.run(
            [*inspector, kr, "mcp", *arguments], check=False, capture_output=True, text=True, cwd=project_folder, env=env,
            timeout=120,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout)

    listed = inspect("--method", "tools/list", "--strict")
    assert {one["name"] for one in listed["tools"]} == TOOLS
    called = inspect(
        "--method", "tools/call", "--tool-name", "research", "--tool-arg", f"question={QUESTION}"
    )
    assert called["structuredContent"]["status"] == "success"


@pytest.mark.req("I2")
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_claude_asks_kr_and_repeats_the_sourced_answer(project_folder, env, tmp_path, way):
    """The real command line finds the tool, calls it, and hands the model what came back; the model is scripted."""
    program = claude()

    def asked(server):
        command = [
            program, "-p", "How do I set a timeout for a parcel? Ask KR.", "--mcp-config", json.dumps({"mcpServers": {"kr": server}}),
            "--strict-mcp-config", "--allowedTools", "mcp__kr__research", "--output-format", "json",
        ]  # fmt: skip
        with model_server(_asks_then_repeats) as model:
            told = {**env, **claude_environment(model, tmp_path)}
            ran = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                cwd=project_folder,
                env=told,
                timeout=120,
            )
            assert ran.returncode == 0, ran.stdout + ran.stderr
        return json.loads(ran.stdout)

    if way == "stdio":
        known = {name: env[name] for name in ("KR_CACHE_DIR", "XDG_STATE_HOME")}
        answer = asked(_started(env, known))
    else:
        with over_http(project_folder, env) as url:
            answer = asked({"type": "http", "url": url})
    assert answer["is_error"] is False
    assert "Seconds to wait for the carrier before a parcel is given up" in answer["result"]
    assert "pkg:pypi/parcel@1.4.0" in answer["result"]
    assert "parcel/__init__.py" in answer["result"]


@pytest.mark.req("I2", "Z8")
def test_claude_without_a_person_is_not_said_to_have_asked_one(project_folder, env, tmp_path):
    """With `-p` no person sees a form: the model reads what the client did with it, and where a human answers."""
    known = {name: env[name] for name in ("KR_CACHE_DIR", "XDG_STATE_HOME")}
    server = _started(env, known)
    asked = {"question": "Which session store should we use?", "topic": "security", "target": "human"}
    command = [
        claude(), "-p", "Ask KR which session store to use.", "--mcp-config", json.dumps({"mcpServers": {"kr": server}}),
        "--strict-mcp-config", "--allowedTools", "mcp__kr__ask", "--output-format", "json",
    ]  # fmt: skip
    with model_server(partial(_asks_then_repeats, tool="ask", given=asked)) as model:
        told = {**env, **claude_environment(model, tmp_path)}
        ran = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=project_folder, env=told, timeout=120
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answer = json.loads(ran.stdout)["result"]
    assert "E1 waits for a human" in answer
    assert "kr inbox show E1" in answer
    assert "the human left" not in answer
    assert "the client " in answer


def _started(env, known):
    """How a client's configuration says to start `kr mcp`."""
    program, *arguments = kr_argv(env, "mcp")
    return {"command": program, "args": arguments, "env": known}


def _asks_then_repeats(call, tool="research", given=None):
    """What a model would do: look for the tool if it is not loaded, call it, and say what came back."""
    name = f"mcp__kr__{tool}"
    tools = [tool["name"] for tool in call.body.get("tools") or ()]
    blocks = [
        block
        for message in call.body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    used = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
    for block in blocks:
        if block["type"] == "tool_result" and used.get(block["tool_use_id"]) == name:
            return Says(json.dumps(block["content"], ensure_ascii=False))
    if name in tools or "ToolSearch" in used.values():
        return Uses(name, given or {"question": QUESTION})
    if "ToolSearch" in tools:
        return Uses("ToolSearch", {"query": f"select:{name}"})
    return Says("A title")
