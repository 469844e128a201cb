"""The way in a project: `kr ask` sends, `kr serve` takes, and each reply counts once."""

import json
import re
import runpy
import subprocess
import sys
import time
import urllib.error
from pathlib import Path

import pytest
from receiver import SECRET, signed

from kr_core import KnowledgeRouterService, Question, RequestError

CONFIGURATION = """
escalations: [webhook]
routing: {rules: [{topic: budget/*, agent: human}]}
plugins:
  webhook: {url: {env: KR_WEBHOOK_URL}, secret: {env: KR_WEBHOOK_SECRET}, allow: [ann]}
"""
README = Path(__file__).parents[1] / "README.md"


@pytest.fixture
def project(tmp_path, service, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kr.yaml").write_text(CONFIGURATION, "utf-8")
    monkeypatch.setenv("KR_TRUST", "all")
    monkeypatch.setenv("KR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("KR_WEBHOOK_URL", f"{service.host}/hidden-part")
    monkeypatch.setenv("KR_WEBHOOK_SECRET", SECRET)
    return folder


@pytest.fixture
def relay(tmp_path):
    """The program in README, as it stands there."""
    (code,) = re.findall(r'```python title="relay.py"\n(.*?)```', README.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "relay.py"
    file.write_text(code, "utf-8")
    return runpy.run_path(str(file))["reply"]


def ask(folder):
    """A question that goes straight to a human; what became of it."""
    with KnowledgeRouterService.open(folder=folder) as made:
        return made.ask(Question(text="May we rent ten servers?", topic="budget/servers"))


def test_a_reply_counts_once(project, service):
    """Sent again, in another call, also to another process: KR knows by its id what it has applied."""
    assert ask(project).status == "escalated"
    assert "/kr correct E1@1" in service.desk.text
    body = json.dumps({"text": "/kr correct E1@1 Five will do.", "by": "ann", "id": "m1"}).encode()
    for number, new in enumerate((1, 0, 0)):
        with KnowledgeRouterService.open(folder=project) as made:
            headers = signed(body, int(time.time()), f"call_{number}")
            assert made.receive("webhook", headers, body) == new
            with pytest.raises(RequestError, match="not signed"):
                made.receive("webhook", headers, body + b" ")


def test_it_is_answered_through_kr_serve(project, service, relay):
    """The relay of README hands a message on; who wrote it is on record, and the end is told."""
    ask(project)
    command = [sys.executable, "-m", "kr_core", "serve", "--port", "0"]
    with subprocess.Popen(  # noqa: S603  every word of the command stands in the line above
        command, cwd=project, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            found = re.search(r"http://\S+(?=/\n)", server.stderr.readline())
            hook = f"{found[0]}/hooks/webhook"
            assert relay(hook, SECRET, "/kr correct E1@1 Five will do.", "ann", "m1") == "1 new\n"
            assert relay(hook, SECRET, "/kr correct E1@1 Five will do.", "ann", "m1") == "0 new\n"
            with pytest.raises(urllib.error.HTTPError, match="401"):
                relay(hook, "QQ" * 20, "/kr confirm", "ann", "m2")
        finally:
            server.terminate()
    with KnowledgeRouterService.open(folder=project) as made:
        case = made.cases.get("E1")
        made.tend()
    assert (case.status, case.resolution.by, case.answer.content) == ("resolved", "ann", "Five will do.")
    (notice,) = [message for message in service.desk.shown.values() if message["event"] == "notice"]
    assert (notice["notice"]["kind"], notice["notice"]["reply_to"]) == ("understood", "m1")
    assert "E1 is answered, by ann (correct)" in notice["text"]


def test_a_fault_does_not_tell_the_secrets(project, service):
    """Of a service that is down the notes of a question, and those of later tries, name the host alone."""
    service.answers = [(503, "", {})] * 5
    asked = ask(project)
    with KnowledgeRouterService.open(folder=project) as made:
        said = repr(asked) + repr(made.tend())
        assert made.cases.get("E1").status == "open"
    assert "answered 503" in said
    assert "hidden-part" not in said
    assert SECRET.removeprefix("whsec_") not in said
