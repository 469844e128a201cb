"""User story 3 at the terminal: each of its scenarios, by whole processes."""

import json

import pytest
from support.agents import QUESTION, SHOWN, project, prompts
from support.terminals import Terminal

pytestmark = pytest.mark.req("H1", "H3")


@pytest.fixture
def log(project_folder):
    return project(project_folder)


@pytest.fixture
def ask(project_folder, environ):
    """`kr ask` on a terminal, up to the prompt of the first case."""
    opened = []

    def run(*more):
        terminal = Terminal(
            "ask", QUESTION, "--topic", "authentication", "--feature", "F-1", "--json", *more,
            cwd=project_folder, env={**environ, "KR_TRUST": "all", "LOGNAME": "ada"},
        )  # fmt: skip
        opened.append(terminal)
        terminal.case = terminal.until("[l]ater: ")
        return terminal

    yield run
    for terminal in opened:
        terminal.close()


def result_of(terminal):
    code, out = terminal.end()
    return code, json.loads(out)


def record(kr):
    return [json.loads(line) for line in kr("log", "F-1", "--json").out.splitlines()]


def test_us3_1_confirmed_answer_is_returned_with_validated_by_human(log, ask):
    """Given an escalated answer, when the human confirms it, the original answer is returned as validated by a human."""
    terminal = ask()
    for part in SHOWN:
        assert part in terminal.case
    terminal.type("c")
    code, result = result_of(terminal)
    assert code == 0
    assert result["status"] == "answered"
    assert result["answer"]["content"] == "Use Redis."
    assert result["answer"]["agent"] == "duc"
    assert result["answer"]["validated_by"] == "human"
    assert "E1 is answered, by ada (confirm)" in terminal.shown


def test_us3_2_corrected_answer_is_returned_with_the_human_as_source(log, ask):
    """Given an escalated answer, when the human corrects it, the correction is returned with the human as its source."""
    terminal = ask()
    terminal.type("Use Postgres; we run it already.")
    terminal.until("[y/N] ")
    terminal.type("y")
    code, result = result_of(terminal)
    assert code == 0
    assert result["status"] == "answered"
    assert result["answer"]["content"] == "Use Postgres; we run it already."
    assert (result["answer"]["agent"], result["answer"]["validated_by"]) == ("human", "human")


def test_us3_3_added_context_goes_to_the_original_agent_with_the_question(log, ask, kr):
    """Given an escalated answer, when the human adds context, the same agent is asked again and told it; the exchanges are linked."""
    terminal = ask()
    terminal.type("x")
    terminal.until("> ")
    terminal.type("We have 40 servers.", "")
    code, result = result_of(terminal)
    assert code == 0
    assert result["status"] == "accepted"
    assert result["answer"]["content"] == "Use Redis with three replicas."
    first, second = prompts(log)
    assert "We have 40 servers." in second
    assert QUESTION in second
    assert "We have 40 servers." not in first
    asked = [entry for entry in record(kr) if entry["kind"] == "question.asked"]
    assert asked[1]["parent_id"] == asked[0]["exchange_id"]
    assert [entry["data"]["agent"] for entry in record(kr) if entry["kind"] == "agent.started"] == [
        "duc",
        "duc",
    ]


def test_us3_4_chat_is_about_that_question_until_the_human_ends_it(log, ask, kr):
    """Given an escalated answer, when the human chats, a talk about that question alone begins, which ends with a final answer."""
    terminal = ask()
    terminal.type("h")
    terminal.until("ada: ")
    terminal.type("What about failover?")
    terminal.until("duc, confidence 65")
    terminal.until("ada: ")
    terminal.type("/done Use Redis with a replica.")
    code, result = result_of(terminal)
    assert code == 0
    assert result["status"] == "answered"
    assert result["answer"]["content"] == "Use Redis with a replica."
    assert "What about failover?" in prompts(log)[1]
    assert QUESTION in prompts(log)[1]
    replies = [entry["data"] for entry in record(kr) if entry["kind"] == "human.replied"]
    assert [(one["action"], one["content"]) for one in replies] == [
        ("chat", "What about failover?"),
        ("chat", "Use Redis with a replica."),
    ]
    assert kr("inbox", "show", "E1", "--json").json["resolution"] == {
        "action": "chat", "by": "ada", "content": "Use Redis with a replica.",
    }  # fmt: skip
