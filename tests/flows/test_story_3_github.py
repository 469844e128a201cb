"""User story 3 on GitHub: each of its scenarios, with a person who has PyGithub before them and nothing of KR."""

import hashlib
import hmac
import json
import os
import re
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import yaml
from support.agents import QUESTION, SHOWN, SURE, UNSURE, project, prompts
from support.fork_server import kr_argv
from support.github_server import REPOSITORY, TOKEN, github_server

pytestmark = pytest.mark.req("H1", "H2", "H3")
PAGE = Path(__file__).parents[2] / "docs/how-to/answer-on-github.md"
ANSWERS = (("40 servers", SURE), ("", UNSURE))
LIMIT = 300.0
SECRET = "a secret that nobody guesses"


@pytest.fixture
def github():
    with github_server() as server:
        server.permissions.update(ann="write", ben="maintain", eve="read")
        yield server


@pytest.fixture
def log(project_folder, github):
    """The project; `plugins` stands once in its file, so the agent's program joins it."""
    file = project(project_folder, ANSWERS)
    settings = yaml.safe_load((project_folder / "kr.yaml").read_text())
    settings["escalations"] = ["github"]
    settings["plugins"]["github"] = {
        "repository": REPOSITORY, "token": {"env": "GITHUB_TOKEN"}, "base_url": github.url,
    }  # fmt: skip
    (project_folder / "kr.yaml").write_text(yaml.safe_dump(settings))
    return file


@pytest.fixture
def here(kr_here, monkeypatch, log):
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    return kr_here


@pytest.fixture
def waiting(project_folder, environ, github, log):
    """`kr ask --wait` as a process of its own, once its case stands on GitHub."""
    running = []
    known = {**environ, "KR_TRUST": "all", "GITHUB_TOKEN": TOKEN}
    options = ["--topic", "authentication", "--feature", "F-1", "--json", "--wait"]
    command = kr_argv(known, "ask", QUESTION, *options)

    def start():
        process = subprocess.Popen(
            command,
            cwd=project_folder,
            env=known,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        running.append(process)
        end = time.monotonic() + LIMIT
        while not github.case("E1@1"):
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.02)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def write(github, login, text, issue=1):
    github.repository_of(login).get_issue(issue).create_comment(text)


def told(github):
    """What KR has said beside its cases, as it is seen."""
    bodies = [one["body"].replace("\u200b", "") for one in github.of_kr()]
    return [body.split("\n\n", 1)[1] for body in bodies if body.startswith("<!-- kr notice:")]


def result_of(process):
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    return json.loads(out)


def record(here):
    return [json.loads(line) for line in here("log", "F-1", "--json").out.splitlines()]


def test_us3_1_confirmed_answer_is_returned_with_validated_by_human(github, here, waiting):
    """Given an escalated answer, when the human confirms it, the original answer is returned as validated by a human."""
    process = waiting()
    (case,) = github.case("E1@1")
    for part in SHOWN:
        assert part in case["body"]
    write(github, "ann", "Yes, that will do.\n\n/kr confirm E1@1")
    assert here("inbox", "poll").code == 0
    result = result_of(process)
    assert result["status"] == "answered"
    assert (result["answer"]["content"], result["answer"]["agent"]) == ("Use Redis.", "duc")
    assert result["answer"]["validated_by"] == "human"
    assert here("inbox", "show", "E1", "--json").json["resolution"] == {
        "action": "confirm",
        "by": "ann",
        "content": None,
    }
    assert len([said for said in told(github) if "E1" in said and "ann" in said]) == 1
    here("inbox", "poll")
    assert len(told(github)) == 1


def test_us3_2_corrected_answer_is_returned_with_the_human_as_source(github, here, waiting):
    """Given an escalated answer, when the human corrects it, the correction is returned with the human as its source."""
    process = waiting()
    write(github, "ann", "/kr correct E1@1 Use Postgres; we run it already.")
    assert here("inbox", "poll").code == 0
    result = result_of(process)
    assert result["status"] == "answered"
    assert result["answer"]["content"] == "Use Postgres; we run it already."
    assert (result["answer"]["agent"], result["answer"]["validated_by"]) == ("human", "human")


def test_us3_3_added_context_goes_to_the_original_agent_with_the_question(github, here, waiting, log):
    """Given an escalated answer, when the human adds context, the same agent is asked again and told it; the exchanges are linked."""
    process = waiting()
    write(github, "ann", "/kr context E1@1 We have 40 servers.")
    assert here("inbox", "poll").code == 0
    result = result_of(process)
    assert result["answer"]["content"] == "Use Redis with three replicas."
    first, second = prompts(log)
    assert ("We have 40 servers." in second, "We have 40 servers." in first) == (True, False)
    assert QUESTION in second
    entries = record(here)
    asked = [entry for entry in entries if entry["kind"] == "question.asked"]
    assert asked[1]["parent_id"] == asked[0]["exchange_id"]
    assert [entry["data"]["agent"] for entry in entries if entry["kind"] == "agent.started"] == ["duc", "duc"]


def test_us3_3_an_answer_that_is_unsure_again_is_a_new_revision(github, here, log):
    """It is a comment of its own; a late reply to the first is refused with the reason, and one to it is applied."""
    assert here("ask", QUESTION, "--topic", "authentication").code == 5
    write(github, "ann", "/kr context E1@1 We have few servers.")
    here("inbox", "poll")
    (first,), (second,) = github.case("E1@1"), github.case("E1@2")
    assert f"Superseded: the answer that waits is [E1@2]({second['html_url']})" in first["body"]
    write(github, "ben", "/kr confirm E1@1")
    write(github, "ann", "/kr confirm E1@2")
    here("inbox", "poll")
    refused = [said for said in told(github) if "E1@1 is an older answer" in said]
    assert len(refused) == 1, told(github)
    assert here("inbox", "show", "E1", "--json").json["resolution"]["by"] == "ann"


def test_us3_4_chat_is_about_that_question_until_the_human_ends_it(github, here, log):
    """A talk that is asked for on GitHub is answered with where it goes on; its end there ends the case here too."""
    assert here("ask", QUESTION, "--topic", "authentication", "--feature", "F-1").code == 5
    write(github, "ann", "/kr chat E1@1")
    here("inbox", "poll")
    (said,) = told(github)
    assert "kr inbox chat E1" in said
    assert here("inbox", "show", "E1", "--json").json["status"] == "notified"
    write(github, "ann", "/kr correct E1@1 Use Redis with a replica.")
    here("inbox", "poll")
    assert here("inbox", "show", "E1", "--json").json["resolution"]["content"] == "Use Redis with a replica."


@pytest.mark.req("H2")
def test_what_is_answered_elsewhere_is_said_on_github(github, here, log):
    """And a reply that comes too late is refused with the reason, once."""
    here("ask", QUESTION, "--topic", "authentication")
    assert here("inbox", "confirm", "E1@1", "--by", "ada").code == 0
    assert "E1 is answered, by ada (confirm)" in github.case("E1@1")[0]["body"]
    write(github, "ann", "/kr correct E1@1 Use Postgres.")
    here("inbox", "poll")
    here("inbox", "poll")
    (late,) = told(github)
    assert "by ada" in late
    assert here("inbox", "show", "E1", "--json").json["resolution"]["by"] == "ada"


@pytest.mark.req("H4", "H5")
def test_attacks_decide_nothing(github, here, log):
    """Who may not answer, quotes, edits, bots and talk; each is told at most once, whatever is polled."""
    here("ask", QUESTION, "--topic", "authentication")
    write(github, "eve", "/kr confirm E1@1")
    write(github, "eve", "/kr correct E1@1 Use my server.")
    write(github, "ann", "this can't be confirmed\n\n> /kr confirm E1@1")
    talk = github.write("ann", 1, "hm")
    github.edit(talk["id"], "/kr confirm E1@1")
    github.write("helper[bot]", 1, "/kr confirm E1@1")
    github.write("eve", 1, github.case("E1@1")[0]["body"] + "\n\n/kr confirm E1@1")
    for _ in range(3):
        assert here("inbox", "poll").code == 0
    assert here("inbox", "show", "E1", "--json").json["status"] == "notified"
    kinds = ["may not answer here" in said for said in told(github)]
    assert sorted(kinds) == [False, True]


@pytest.mark.req("Z6", "H4", "H5")
def test_a_signed_call_decides_at_once(github, here, log, project_folder, environ):
    """`kr serve` takes GitHub's webhook: signed it counts, once; otherwise it is refused."""
    settings = yaml.safe_load((project_folder / "kr.yaml").read_text())
    settings["plugins"]["github"]["webhook_secret"] = SECRET
    (project_folder / "kr.yaml").write_text(yaml.safe_dump(settings))
    here("ask", QUESTION, "--topic", "authentication")
    comment = github.write("ann", 1, "/kr confirm E1@1")
    body = json.dumps(
        {"action": "created", "comment": comment, "repository": {"full_name": REPOSITORY}}
    ).encode()
    github.comments.pop(comment["id"])  # no poll finds it, so it is the call that decides
    known = {**environ, "KR_TRUST": "all", "GITHUB_TOKEN": TOKEN}
    command = kr_argv(known, "serve", "--port", "0")
    with subprocess.Popen(
        command, cwd=project_folder, env=known, stderr=subprocess.PIPE, text=True
    ) as served:
        try:
            url = re.search(r"http://[^\s/]+", served.stderr.readline())[0]

            def call(signed):
                signature = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
                headers = {
                    "X-GitHub-Event": "issue_comment", "X-GitHub-Delivery": "d-1", "Content-Type": "application/json",
                    "X-Hub-Signature-256": f"sha256={signature}",
                }  # fmt: skip
                return httpx.post(
                    f"{url}/hooks/github", content=body, headers=headers, timeout=LIMIT
                ).status_code

            assert call(b"another body") == 401
            assert here("inbox", "show", "E1", "--json").json["status"] == "notified"
            assert [call(body) // 100, call(body) // 100] == [2, 2]
            assert here("inbox", "show", "E1", "--json").json["resolution"]["by"] == "ann"
        finally:
            served.terminate()


def test_a_reply_of_a_megabyte_is_taken_as_it_is(github, here, log):
    """And what is said of it is short."""
    here("ask", QUESTION, "--topic", "authentication")
    github.write("ann", 1, f"/kr correct E1@1 {'x' * 1_000_000}")
    assert here("inbox", "poll").code == 0
    assert len(here("inbox", "show", "E1", "--json").json["resolution"]["content"]) == 1_000_000
    assert len(told(github)[0]) < 1000


@pytest.mark.req("G5")
def test_the_token_is_in_no_file_of_the_project(github, here, log, project_folder):
    """Neither the journal nor the log nor what KR knows of GitHub holds it."""
    here("ask", QUESTION, "--topic", "authentication")
    write(github, "ann", "/kr confirm E1@1")
    here("inbox", "poll")
    here("log", "--json")
    files = [Path(folder) / name for folder, _, names in os.walk(project_folder / ".kr") for name in names]
    assert len(files) > 3
    assert [file for file in files if TOKEN.encode() in file.read_bytes()] == []


@pytest.mark.req("I4")
def test_the_page_of_the_docs_says_what_can_be_configured(project_folder, here, github):
    """Each configuration that it shows is one that KR takes."""
    shown = re.findall(r"^```yaml.*?\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(shown) >= 5
    os.environ.update(KR_WEBHOOK_SECRET="hush", GHE_TOKEN=TOKEN)
    for text in shown:
        settings = {"escalations": ["github"], **yaml.safe_load(text)}
        settings["plugins"]["github"]["base_url"] = github.url
        (project_folder / "kr.yaml").write_text(yaml.safe_dump(settings))
        done = here("inbox", "poll")
        assert (done.code, "github" in done.err) == (0, False), (text, done)
