"""The examples run, each in an environment of its own, and answer from what is installed there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager

import httpx
import pytest

pytestmark = pytest.mark.req("P5")

QUESTION = "How do I follow redirects in httpx?"
UNANSWERED = "How do I knit socks with httpx?"
PARAMETER = "follow_redirects="
CITED = "httpx/_api.py:"


def test_a_script(environment_for, work):
    """A plain script prints the answer and where each part of it was read."""
    environment = environment_for("script.py")
    done = environment.run("python", "-W", "error", "script.py", QUESTION, cwd=work)
    assert done.returncode == 0, done.stderr
    assert PARAMETER in done.stdout
    assert "[1] pkg:pypi/httpx@" in done.stdout
    assert CITED in done.stdout
    assert (work / "knowledge-base/index.yaml").exists()


def test_a_notebook(environment_for, work):
    """A notebook, in which a loop is running, awaits the answer; it is executed as it stands."""
    environment = environment_for("notebook.ipynb")
    done = environment.run("jupyter", "execute", "--output=executed.ipynb", "notebook.ipynb", cwd=work)
    assert done.returncode == 0, done.stderr
    cells = json.loads((work / "executed.ipynb").read_text())["cells"]
    outputs = {cell["id"]: "".join(_printed(cell)) for cell in cells if cell["cell_type"] == "code"}
    assert PARAMETER in outputs["ask"]
    assert CITED in outputs["cited"]


def _printed(cell):
    for output in cell["outputs"]:
        assert (output["output_type"], output.get("name")) == ("stream", "stdout"), output
        yield from output["text"]


def test_a_haystack_component(environment_for, work, monkeypatch):
    """In a Haystack pipeline, with a loop and without, KR's citations are the documents of the next component."""
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    environment = environment_for("haystack_component.py")
    done = environment.run("python", "haystack_component.py", QUESTION, cwd=work)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Answer from these passages only.\n")
    assert CITED in done.stdout
    assert f"Question: {QUESTION}" in done.stdout
    done = environment.run("python", "-c", _HAYSTACK_WITHOUT_LOOP, QUESTION, cwd=work)
    assert done.returncode == 0, done.stderr
    answer, score = json.loads(done.stdout)
    assert PARAMETER in answer
    assert score > 50


_HAYSTACK_WITHOUT_LOOP = """
import json, sys
from haystack import Pipeline
from haystack_component import LibraryResearch

pipeline = Pipeline()
pipeline.add_component("research", LibraryResearch())
pipeline = Pipeline.loads(pipeline.dumps(), allowed_modules=["haystack_component"])
made = pipeline.run({"research": {"question": sys.argv[1]}})["research"]
pipeline.close()
print(json.dumps([made["answer"], made["score"]]))
"""
"""The component is also kept in a file, as Haystack does with pipelines, and read from it."""


def test_a_langgraph_node(environment_for, work):
    """In a LangGraph graph, a sure answer ends the run and an unsure one goes to a person."""
    environment = environment_for("langgraph_node.py")
    done = environment.run("python", "langgraph_node.py", QUESTION, cwd=work)
    assert done.returncode == 0, done.stderr
    assert PARAMETER in done.stdout
    assert CITED in done.stdout
    done = environment.run("python", "langgraph_node.py", UNANSWERED, cwd=work)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{UNANSWERED} (found, with ")


def test_a_fastapi_service(environment_for, work):
    """A service answers over HTTP, tells the schema of its answers, and streams what happens meanwhile."""
    with _served(environment_for("fastapi_app.py"), work) as service:
        answer = service.get("/research", params={"question": QUESTION}).raise_for_status().json()
        assert answer["status"] == "success"
        assert PARAMETER in answer["results"]["summary"]
        assert answer["results"]["citations"][0]["locator"].startswith(CITED)
        schemas = service.get("/openapi.json").json()["components"]["schemas"]
        assert set(schemas["ResearchResult"]["properties"]) == set(answer)
        assert set(schemas["Results"]["properties"]) == set(answer["results"])
        refused = service.get("/research", params={"question": " "}).json()
        assert (refused["status"], refused["errors"][0]["field"]) == ("failure", "question")
        told = _events(service, "How do I limit connections in httpx?")
        assert [told[0][0], told[-2][0], told[-1][0]] == ["run.started", "run.finished", "result"]
        assert told[-1][1]["results"]["citations"]
        again = _events(service, QUESTION)
        kinds = [kind for kind, _data in again]
        assert kinds == ["run.started", "lookup.started", "lookup.finished", "run.finished", "result"]
        assert again[-1][1]["results"]["cache_hit"]


def _events(service, question):
    with service.stream("GET", "/research/events", params={"question": question}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line.partition(": ")[::2] for line in response.iter_lines() if line]
    kinds = [value for name, value in lines if name == "event"]
    return list(zip(kinds, [json.loads(value) for name, value in lines if name == "data"], strict=True))


@contextmanager
def _served(environment, work):
    """The application under uvicorn, on a free port of this machine, until it is ended."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = work / "uvicorn.log"
    with log.open("w") as told:
        server = subprocess.Popen(
            [environment.folder / "env/bin/python", "-m", "uvicorn", "--port", str(port), "fastapi_app:app"],
            cwd=work, stdout=told, stderr=subprocess.STDOUT,
            env={"PATH": os.defpath, "HOME": str(work), "KR_CACHE_DIR": str(environment.folder / "cache")},
        )  # fmt: skip
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            _wait_until_up(client, server, log)
            yield client
    finally:
        server.terminate()
        server.wait(30)
    assert "Application shutdown complete" in log.read_text()


def _wait_until_up(client, server, log):
    until = time.monotonic() + 60
    while True:
        assert server.poll() is None, log.read_text()
        try:
            client.get("/openapi.json")
            return
        except httpx.TransportError:
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
