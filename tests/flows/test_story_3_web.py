"""User story 3 on the page: each of its scenarios, by whole processes and a real browser."""

import json
import os
import re
import signal
import subprocess
from contextlib import contextmanager

import pytest
from support.agents import QUESTION, project, prompts
from support.browser import chromium, tab
from support.fork_server import kr_argv
from support.projects import Done

pytestmark = pytest.mark.req("H1", "H2", "H3", "H7")


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("story")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    folders = {
        "KR_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "XDG_STATE_HOME": str(tmp_path_factory.mktemp("state")),
    }
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VIRTUAL_ENV", "CONDA", "KR_"))
    }
    return {**kept, **folders, "KR_TRUST": "all", "LOGNAME": "ada"}


@pytest.fixture(scope="module")
def log(folder):
    return project(folder, more="escalations: [web]\n")


@pytest.fixture(scope="module")
def kr(folder, surroundings):
    def run(*arguments):
        command = kr_argv(surroundings, *arguments)
        return Done(
            subprocess.run(
                command, check=False, capture_output=True, cwd=folder, env=surroundings, timeout=300
            )
        )

    return run


@contextmanager
def serving(folder, environ, port="0"):
    """`kr serve`; if it still runs at the end, it ends cleanly when it is told to."""
    with subprocess.Popen(
        kr_argv(environ, "serve", "--port", port),
        cwd=folder, env=environ, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        said = process.stderr.readline()
        process.url = re.fullmatch(r"kr: the inbox is at (http://127\.0\.0\.1:\d+)/\n", said)[1]
        yield process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert (process.wait(60), process.stderr.read()) == (0, "")


@pytest.fixture(scope="module")
def server(log, folder, surroundings):
    with serving(folder, surroundings) as process:
        yield process


@pytest.fixture
def ask(kr, server, request):
    """`kr ask`, which does not wait; its case. Each test has a feature of its own."""

    def run():
        done = kr("ask", QUESTION, "--topic", "authentication", "--feature", request.node.name, "--json")
        assert done.code == 5, done.err
        return done.json["escalation"]["id"]

    return run


@pytest.fixture
def record(kr, request):
    return lambda: [json.loads(line) for line in kr("log", request.node.name, "--json").out.splitlines()]


@pytest.fixture
def page(browser, server):
    with tab(browser, server.url) as one:
        yield one


def shown(kr, key):
    return kr("inbox", "show", key, "--json").json


def test_us3_1_confirmed_answer_is_returned_with_validated_by_human(ask, page, kr, record):
    """Given an escalated answer, when the human confirms it on the page, the original answer is validated by a human."""
    key = ask()
    page.goto("/")
    page.get_by_role("link", name=QUESTION).click()
    case = page.locator("main").inner_text()
    for part in (
        QUESTION,
        "Use Redis.",
        "It expires keys by itself.",
        "How many sessions there are",
        "65 of 100",
        "80 needed",
    ):
        assert part in case
    page.get_by_label("The answer is right").check()
    page.get_by_role("button", name="Send the reply").click()
    page.locator(".final", has_text=f"{key} is answered, by ada (confirm)").wait_for()
    assert shown(kr, key)["resolution"] == {"action": "confirm", "by": "ada", "content": None}
    answers = [entry["data"] for entry in record() if entry["kind"] == "answer.received"]
    assert (answers[-1]["content"], answers[-1]["agent"], answers[-1]["validated_by"]) == (
        "Use Redis.",
        "duc",
        "human",
    )
    assert {entry["data"]["location"] for entry in record() if entry["kind"] == "escalation.shown"} == {
        page.url.partition("?")[0]
    }


def test_us3_2_corrected_answer_is_returned_with_the_human_as_source(ask, page, record):
    """Given an escalated answer, when the human corrects it on the page, the human is its source."""
    key = ask()
    page.goto(f"/cases/{key}")
    page.get_by_label("Answer with this text").check()
    page.get_by_label("The answer", exact=True).fill("Use Postgres; we run it already.")
    page.get_by_role("button", name="Send the reply").click()
    page.locator(".notice.done").wait_for()
    answers = [entry["data"] for entry in record() if entry["kind"] == "answer.received"]
    assert answers[-1]["content"] == "Use Postgres; we run it already."
    assert (answers[-1]["agent"], answers[-1]["validated_by"]) == ("human", "human")


def test_us3_3_added_context_goes_to_the_original_agent_with_the_question(log, ask, page, kr, record):
    """Given an escalated answer, when the human adds context on the page, the same agent is asked again and told it."""
    key = ask()
    page.goto(f"/cases/{key}")
    page.get_by_label("Ask duc again").check()
    page.get_by_label("What duc should know").fill("We have 40 servers.")
    page.get_by_role("button", name="Send the reply").click()
    page.locator(".final", has_text="Use Redis with three replicas.").wait_for()
    first, second = prompts(log)[-2:]
    assert "We have 40 servers." in second
    assert QUESTION in second
    assert "We have 40 servers." not in first
    asked = [entry for entry in record() if entry["kind"] == "question.asked"]
    assert asked[1]["parent_id"] == asked[0]["exchange_id"]
    assert shown(kr, key)["resolution"]["action"] == "add_context"


def test_us3_4_chat_is_about_that_question_until_the_human_ends_it(log, ask, page, kr, record):
    """Given an escalated answer, when the human chats on the page, it ends with the human's final answer."""
    key = ask()
    page.goto(f"/cases/{key}")
    page.get_by_label("Say something").fill("What about failover?")
    page.get_by_role("button", name="Say it").click()
    page.locator(".turns .agent").wait_for()
    page.get_by_label("End the talk with this answer").check()
    page.get_by_label("The final answer").fill("Use Redis with a replica.")
    page.get_by_role("button", name="Send the reply").click()
    page.locator(".notice.done").wait_for()
    assert "What about failover?" in prompts(log)[-1]
    assert QUESTION in prompts(log)[-1]
    replies = [entry["data"] for entry in record() if entry["kind"] == "human.replied"]
    assert [(one["action"], one["content"]) for one in replies] == [
        ("chat", "What about failover?"),
        ("chat", "Use Redis with a replica."),
    ]
    assert shown(kr, key)["resolution"] == {
        "action": "chat",
        "by": "ada",
        "content": "Use Redis with a replica.",
    }


def test_a_case_survives_the_server_and_its_form_survives_it_too(ask, page, kr, server, folder, surroundings):
    """A server that is killed and started anew goes on with the case; the form of the old page is shown again with its text."""
    key = ask()
    page.goto(f"/cases/{key}")
    port = re.search(r":(\d+)", server.url)[1]
    server.kill()
    server.wait()
    with serving(folder, surroundings, port) as again:
        assert again.url == server.url
        page.get_by_label("Answer with this text").check()
        page.get_by_label("The answer", exact=True).fill("Use Postgres.")
        page.get_by_role("button", name="Send the reply").click()
        page.locator(".notice.refused", has_text="Nothing was done").wait_for()
        assert page.locator("#text_correct").input_value() == "Use Postgres."
        page.get_by_role("button", name="Send the reply").click()
        page.locator(".notice.done").wait_for()
        assert shown(kr, key)["resolution"]["content"] == "Use Postgres."
        page.complaints.clear()  # of requests that nobody answered, and of the refusal
