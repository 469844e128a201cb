"""KR served over MCP, with the official client: both generations of the protocol, over standard streams and over HTTP."""

from __future__ import annotations

import asyncio
import json

import pytest
from jsonschema import Draft202012Validator
from mcp import MCPError
from support.mcp_door import (
    MODES,
    TOOLS,
    Lines,
    client,
    environment,
    over_http,
    over_stdio,
    request,
    text,
    tool,
)
from support.projects import QUESTION, install

from kr_core.cli.command_options import parser
from kr_core.cli.mcp import run
from kr_core.errors import ConfigError
from kr_core.server.mcp.mcp_server import server_of
from kr_core.server.served_project import ServedProject

WAYS = [(way, mode) for way in ("stdio", "http") for mode in MODES]


@pytest.fixture
def env(environ):
    return environment(environ)


@pytest.fixture
def serve(project_folder, env, of_nobody, nowhere):
    """`await serve(work, mode)`: a client in this process, of a server for the project."""

    async def run(work, mode="auto", **more):
        project = ServedProject(folder=project_folder)
        try:
            async with client(server_of(project), mode, **more) as connected:
                return await work(connected)
        finally:
            await project.close()

    return lambda work, mode="auto", **more: asyncio.run(run(work, mode, **more))


@pytest.mark.req("I2")
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_client_asks_and_gets_a_sourced_answer(project_folder, env, way):
    """Either generation lists the tools, researches with progress, and finds the report as a resource; the second time it is a hit."""
    steps = []

    async def progress(number, _total, message):
        steps.append((number, message))

    async def session(server, mode):
        async with client(server, mode) as connected:
            assert {one.name for one in (await connected.list_tools()).tools} == TOOLS
            result = await connected.call_tool("research", {"question": QUESTION}, progress_callback=progress)
            report = result.structured_content["results"]["report_path"]
            listed = [str(one.uri) for one in (await connected.list_resources()).resources]
            assert listed == ["kr://index", f"kr://report/{report}"]
            [kept] = (await connected.read_resource(listed[1])).contents
            [index] = (await connected.read_resource("kr://index")).contents
            assert json.loads(index.text)[0]["path"] == report
            prompt = await connected.get_prompt("when_to_ask")
            assert "research" in prompt.messages[0].content.text
            return result, kept.text, connected.protocol_version

    async def sessions(server):
        return [await session(server, mode) for mode in MODES]

    if way == "stdio":
        first, second = asyncio.run(sessions(over_stdio(project_folder, env)))
    else:
        with over_http(project_folder, env) as url:
            first, second = asyncio.run(sessions(url))
    assert (first[2], second[2]) == ("2026-07-28", "2025-11-25")
    for result, kept, _version in (first, second):
        assert not result.is_error
        assert "parcel/__init__.py" in text(result)
        assert "before a parcel is given up" in kept
    assert [one[0].structured_content["status"] for one in (first, second)] == ["success", "cache-hit"]
    assert [number for number, _said in steps] == [*range(1, len(steps) + 1)]
    assert "asking installed_docs" in [said for _number, said in steps]


@pytest.mark.req("I2")
def test_every_tool_and_argument_is_described_and_has_a_portable_schema(serve):
    """A model reads of each tool when to call it, and of each argument what it is; schemas have no references and no null."""
    listed = serve(lambda connected: connected.list_tools())
    for one in listed.tools:
        assert len(one.description) > 80, one.name
        assert one.title
        for schema in (one.input_schema, one.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)
        assert one.input_schema["additionalProperties"] is False
        for name, argument in one.input_schema["properties"].items():
            assert argument.get("description"), f"{one.name}: {name}"
            assert argument.get("type"), f"{one.name}: {name}"
    research = next(one for one in listed.tools if one.name == "research").input_schema
    assert list(research["properties"]) == [
        "question", "names", "framework", "version", "topic", "tags", "story_key", "session_id", "max_calls",
        "max_tokens", "refresh",
    ]  # fmt: skip
    assert research["required"] == ["question"]


@pytest.mark.req("T1", "T3")
@pytest.mark.parametrize("mode", MODES)
def test_a_team_s_request_is_answered_as_kr_team_answers_it(serve, mode):
    """Results in the order asked, each with its query; a second request of the story finds them in the knowledge base."""

    async def session(connected):
        asked = {"story_key": "3-1", "requesting_agent": "dev-1", "queries": [
            {"query": QUESTION, "priority": "low"}, {"query": "How do I track a parcel with parcel?", "priority": "high"},
        ]}  # fmt: skip
        first = await connected.call_tool("research_request", asked)
        second = await connected.call_tool("research_request", asked)
        wrong = await connected.call_tool("research_request", {**asked, "story_key": "three"})
        mixed = {**asked, "queries": [asked["queries"][0], {"query": "?", "tags": [""]}]}
        short = {"question": "parcel", "max_tokens": 500}
        for page in (1, 2):
            found = (
                await connected.call_tool("search_knowledge", {**short, "page": page})
            ).structured_content
            assert (len(found["found"]), found["total"], found["pages"]) == (1, 2, 2), (
                "a short page has fewer"
            )
        mixed = await connected.call_tool("research_request", mixed)
        return first.structured_content, second.structured_content, wrong, mixed

    first, second, wrong, mixed = serve(session, mode)
    assert not mixed.is_error, "one query that is wrong spoils no other"
    assert [one["status"] for one in mixed.structured_content["results"]] == ["cache-hit", "failure"]
    assert [one["query"] for one in first["results"]] == [QUESTION, "How do I track a parcel with parcel?"]
    assert (first["story_key"], first["requesting_agent"], first["errors"]) == ("3-1", "dev-1", [])
    assert {one["status"] for one in second["results"]} == {"cache-hit"}
    assert wrong.is_error
    assert "story_key" in text(wrong)


@pytest.mark.req("I2", "E1")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_sends_an_expedition(serve, project_folder, mode):
    """It is told of the cycles, gets axioms with their sources, and again by the id; what makes no sense is said."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [installed_docs]}\n")
    steps = []

    async def progress(_number, _total, message):
        steps.append(message)

    async def session(connected):
        done = await connected.call_tool(
            "expedition", {"question": QUESTION, "max_calls": 0}, progress_callback=progress
        )
        again = await connected.call_tool("expedition", {"expedition_id": done.structured_content["id"]})
        wrong = [
            await connected.call_tool("expedition", given)
            for given in (
                {},
                {"question": "x", "expedition_id": "X1"},
                {"expedition_id": "X99"},
                {"question": " "},
            )
        ]
        return done, again, wrong

    done, again, wrong = serve(session, mode)
    assert not done.is_error, text(done)
    assert "Seconds to wait for the carrier" in text(done)
    values = done.structured_content
    assert values["reason"] in text(done)
    assert all(axiom["signals"][0]["source"] == "pkg:pypi/parcel@1.4.0" for axiom in values["axioms"])
    assert again.structured_content == values
    if (
        mode == "legacy"
    ):  # in the newer generation the SDK hands no progress to a client in the server's own process
        assert "cycle 1" in steps
        assert any(step.startswith("cycle 2: ") for step in steps)
    assert all(one.is_error for one in wrong)


@pytest.mark.req("Z8")
def test_no_tool_takes_what_a_human_decides(serve):
    """The tool that has a human answer takes the name of the case, and nothing that could be their answer."""
    listed = serve(lambda connected: connected.list_tools())
    answer = next(one for one in listed.tools if one.name == "answer_escalation")
    assert set(answer.input_schema["properties"]) == {"escalation_id"}


@pytest.mark.req("I2", "L1", "L5")
@pytest.mark.parametrize("mode", MODES)
def test_the_other_tools_work_on_the_same_project(serve, project_folder, mode):
    """Lessons are recorded and handed out, reports are searched and read page by page, and each text says how to go on."""
    notes = "\n".join(f"def sends_{number}(parcel): ..." for number in range(1500))
    kept = project_folder / "knowledge-base/frameworks/parcel/timeout-of-a-parcel.md"

    async def work(connected):
        async def call(name, **arguments):
            return await connected.call_tool(name, arguments)

        recorded = [
            await call("record_lesson", summary="Give `send` a timeout.", phase="code-review") for _ in "12"
        ]
        assert [one.structured_content["added"] for one in recorded] == [True, False]
        lessons = await call("lessons", phase="code-review")
        assert "1. " in text(lessons)
        assert lessons.structured_content["results"]["injected_count"] == 1
        wrong = await call("lessons", phase="coding")
        assert wrong.is_error
        assert "Invalid phase tag" in text(wrong)
        assert "code-review" in text(wrong)

        nothing = await call("search_knowledge", question="parcel timeout")
        assert (nothing.structured_content["total"], nothing.is_error) == (0, False)
        done = await call(
            "research", question=QUESTION, topic="timeout of a parcel", story_key="3-1", max_calls=0
        )
        assert done.structured_content["story_key"] == "3-1"
        found = await call("search_knowledge", question="parcel timeout", framework="Parcel")
        [entry] = found.structured_content["found"]
        assert (entry["framework"], entry["version"]) == ("parcel", "1.4.0")
        assert entry["path"] in text(found)

        kept.write_text(f"{kept.read_text()}\n{notes}\n")
        pages, number = [], 1
        while True:
            page = await call("get_report", report=entry["id"], page=number, max_tokens=1000)
            assert len(text(page).encode()) < 1100 * 3
            pages.append(page.structured_content["text"])
            if number == page.structured_content["pages"]:
                break
            number += 1
            assert f"page={number}" in text(page)
        assert number > 3
        assert "".join(pages) == kept.read_text()
        whole = await call("get_report", report=entry["id"], max_tokens=20_000)
        assert whole.structured_content["text"] == kept.read_text(), "a page is never cut"
        beyond = await call("get_report", report=entry["path"], page=99)
        assert beyond.is_error
        assert f"page 1 to {page.structured_content['pages']}" not in text(
            beyond
        )  # with longer pages there are fewer
        unknown = await call("get_report", report="nobody-knows")
        assert "search_knowledge" in text(unknown)
        return await call("qa_log")

    record = serve(work, mode)
    assert record.structured_content["exchanges"] == []


@pytest.mark.req("I2", "A8")
@pytest.mark.parametrize("mode", MODES)
def test_an_agent_takes_a_wrong_answer_out(serve, project_folder, mode):
    """No question is answered by it any more; the record holds the reason, without the secret that was in it."""
    secret = "ghp_" + "a1B2" * 9

    async def work(connected):
        async def call(name, **arguments):
            return await connected.call_tool(name, arguments)

        first = (await call("research", question=QUESTION)).structured_content
        unknown = await call("reject_answer", report="not-there", why="it is not there")
        assert unknown.is_error
        assert "search_knowledge" in text(unknown)
        name = first["results"]["cache_entry_id"]
        done = await call("reject_answer", report=name, why=f"send() takes seconds; I used {secret}")
        assert done.structured_content["rejected"] == name
        return (await call("research", question=QUESTION)).structured_content["status"]

    assert serve(work, mode) != "cache-hit"
    record = (project_folder / ".kr/log.jsonl").read_text()
    assert "send() takes seconds" in record
    assert secret not in record


@pytest.mark.req("I2", "A9", "A14", "R19")
def test_a_question_without_an_answer_is_handed_back_as_a_search(serve):
    """An agent with a search of its own learns what to look for; the names that it hands back are looked up, kept and graded."""
    asked = {
        "question": "What happens to a shipment that never arrives? My code: `open('/home/ada/key.pem').read()`",
        "framework": "parcel",
    }

    async def work(connected):
        first = await connected.call_tool("research", asked)
        local = await connected.call_tool("research", {**asked, "max_calls": 0})
        again = await connected.call_tool("research", {**asked, "names": ["parcel.send"], "refresh": True})
        sure = await connected.call_tool("research", {"question": QUESTION})
        listed = await connected.list_tools()
        return first, local, again, sure, next(one for one in listed.tools if one.name == "research")

    first, local, again, sure, told = serve(work)
    task = first.structured_content["search_this"]
    Draft202012Validator(told.output_schema).validate(first.structured_content)
    assert first.structured_content["results"]["confidence"] in {None, "low"}
    assert (task["library"], task["version"]) == ("parcel", "1.4.0")
    assert "shipment that never arrives" in task["queries"][0]
    assert "parcel 1.4.0" in task["look_for"]
    assert 'research with the same question, framework="parcel"' in task["hand_back"]
    assert not [query for query in task["queries"] if "key.pem" in query], "code stays at home"
    for part in (task["queries"][0], task["look_for"], task["hand_back"], "This is not an answer"):
        assert part in text(first)
    assert "search_this" not in {**local.structured_content, **sure.structured_content}
    assert "search this" not in text(local) + text(sure)
    assert "parcel.send(address, timeout=5.0, insured=False)" in text(again)
    assert again.structured_content["results"]["report_path"].startswith("frameworks/parcel/")


@pytest.mark.req("I2")
@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
@pytest.mark.parametrize("uri", ["kr://nothing", "kr://report/react/none.md"])
def test_an_unknown_resource_has_the_code_of_the_revision(serve, project_folder, mode, code, uri):
    """The revisions of 2025 have -32002 for it, the newest one -32602; a configuration that is wrong is another fault."""

    async def work(connected):
        with pytest.raises(MCPError) as refused:
            await connected.read_resource(uri)
        return refused.value.code

    assert serve(work, mode) == code
    (project_folder / "kr.yaml").write_text("stor: files\n")
    assert serve(work, mode) == -32603


@pytest.mark.req("I2")
@pytest.mark.parametrize("mode", MODES)
def test_an_error_is_a_result_that_says_what_to_do(serve, project_folder, mode):
    """Unknown tools, wrong types, a broken configuration: the model reads what is wrong; the server goes on."""

    async def work(connected):
        for name, arguments, said in (
            ("reserach", {}, "did you mean `research`?"),
            ("research", {}, "`question`: Field required"),
            ("research", {"question": 3}, "`question`"),
            ("research", {"question": QUESTION, "frame": "x"}, "`frame`"),
            ("research", {"question": QUESTION, "version": 2.1}, "`version`"),
            ("research", {"question": QUESTION, "max_calls": True}, "`max_calls`"),
            ("research", {"question": QUESTION, "story_key": "three"}, "story_key"),
            ("research", {"question": "How do I cook?"}, "`framework`"),
            ("ask", {"question": "Which?", "target": "nobody"}, "nobody"),
            ("ask", {"question": "x" * 200_000}, "at most"),
            ("record_lesson", {"summary": "x " * 300, "phase": "code-review"}, "lines"),
            ("answer_escalation", {"escalation_id": "E99"}, "E99"),
            ("answer_escalation", {}, "no question waits"),
            ("qa_log", {"exchange_id": "none"}, "not on the record"),
            ("search_knowledge", {"question": "x", "page": 9}, "page 1 to 1"),
        ):
            result = await connected.call_tool(name, arguments)
            assert result.is_error, (name, arguments)
            assert said in text(result), text(result)
            assert "Traceback" not in text(result)
        with pytest.raises(MCPError, match="no such resource"):
            await connected.read_resource("file:///etc/passwd")
        with pytest.raises(MCPError, match="no such report"):
            await connected.read_resource("kr://report/../../etc/passwd")
        with pytest.raises(MCPError, match="no prompt"):
            await connected.get_prompt("other")
        (project_folder / "kr.yaml").write_text("")
        return await connected.call_tool("research", {"question": QUESTION})

    assert not serve(work, mode).is_error

    async def broken(connected):
        first = await connected.call_tool("lessons", {"phase": "code-review"})
        (project_folder / "kr.yaml").write_text("")
        return first, await connected.call_tool("lessons", {"phase": "code-review"})

    (project_folder / "kr.yaml").write_text("stor: files\n")
    first, second = serve(broken, mode)
    assert first.is_error
    assert "kr.yaml:1" in text(first)
    assert "store" in text(first)
    assert not second.is_error, "mended, it is read"


@pytest.mark.req("I2")
def test_a_plugin_that_prints_does_not_break_the_protocol(project_folder, env, tmp_path):
    """What a plugin or a program of its writes to standard output comes out on standard error; the messages stay whole."""
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    install(noisy, "noisy", "1.0", {"noisy.py": NOISY})
    (noisy / "noisy-1.0.dist-info/entry_points.txt").write_text("[kr]\nnoisy = noisy\n")
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [noisy, installed_docs]}\n")
    with Lines(project_folder, {**env, "PYTHONPATH": str(noisy), "KR_TRUST": "all"}) as door:
        result = door.ask(tool(1, "research", question=QUESTION))["result"]
        assert "noisy: AssertionError" not in json.dumps(result)
        code, out, err = door.leave()
    assert (code, out) == (0, b"")
    for said in ("printed by a plugin", "written by a plugin", "echoed by a program"):
        assert said in err


NOISY = """
import os, subprocess, sys
import kr_core

class Noisy:
    timeout_seconds = 5.0
    external = False

    async def query(self, query, context):
        print("printed by a plugin")
        os.write(1, b"written by a plugin\\n")
        subprocess.run(["echo", "echoed by a program"], check=True)
        assert sys.stdin.read() == ""
        return kr_core.Finding(outcome=kr_core.Outcome.empty)

@kr_core.hookimpl
def kr_source():
    return kr_core.Provider(lambda settings, setup: Noisy())
"""


@pytest.mark.req("I2")
def test_a_list_of_tools_opens_no_project(project_folder, env):
    """Where a configuration is wrong, a client still connects, and is told so by the first call that needs the project."""
    (project_folder / "kr.yaml").write_text("nonsense: [\n")
    with Lines(project_folder, env) as door:
        assert {one["name"] for one in door.ask(request(1, "tools/list"))["result"]["tools"]} == TOOLS
        result = door.ask(tool(2, "qa_log"))["result"]
        assert result["isError"]
        assert "kr.yaml" in result["content"][0]["text"]
        assert door.leave()[0] == 0


@pytest.mark.req("I2")
def test_wrong_use_says_what_to_do(monkeypatch):
    """Options of HTTP stand beside --http; beyond this machine a token is needed, which comes from the environment."""
    monkeypatch.setenv("KNOWN", "k" * 20)
    monkeypatch.setenv("SHORT", "short")
    for arguments, said in (
        (("--port", "1"), "--http"),
        (("--token-env", "KNOWN"), "--http"),
        (("--http", "--token-env", "NOT_SET"), "NOT_SET"),
        (("--http", "--host", "0.0.0.0"), "--token-env"),
        (("--http", "--host", "192.0.2.1", "--token-env", "KNOWN"), "192.0.2.1"),
        (("--http", "--token-env", "SHORT"), "16"),
    ):
        with pytest.raises(ConfigError, match=said):
            run(parser().parse_args(["mcp", *arguments]))


@pytest.mark.req("I2")
def test_without_the_extra_it_says_what_to_install(kr, tmp_path):
    """Exit 3, and the command that installs what is missing."""
    (tmp_path / "sitecustomize.py").write_text(HIDES)
    done = kr("mcp", env={"PYTHONPATH": str(tmp_path)})
    assert (done.code, done.out) == (3, ""), done
    assert 'pip install "kr-core[mcp]"' in done.err


HIDES = """
import importlib.machinery as machinery

found = machinery.PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name == "mcp" else found(name, path, target)

machinery.PathFinder.find_spec = find_spec
"""
