"""User story 1, questions are routed to knowledge agents: each of its scenarios, by whole processes."""

import json
import sys

import pytest

pytestmark = pytest.mark.req("Q1", "Q2", "Q5", "SC-001")

AGENT = """
import json, os, sys
name = os.environ["KR_AGENT"]
told = {"agent": name, "prompt": sys.stdin.read(), "folder": os.getcwd(), "files": os.listdir(".")}
open(sys.argv[1], "a").write(json.dumps(told) + chr(10))
print(json.dumps({"answer": "The answer of " + name, "rationale": "r", "confidence": 92, "uncertainty_reasons": []}))
"""


@pytest.fixture
def asked(project_folder):
    """What the agents of the project were handed, in order."""
    log = project_folder / "asked.jsonl"
    program = project_folder / "agent.py"
    program.write_text(AGENT)
    (project_folder / "secret_plan.py").write_text("PLANTED = 'in the repository'\n")
    config = {
        "agents": {"duc": {"plugin": "command"}, "veuve": {"plugin": "command"}},
        "plugins": {"command": {"argv": [sys.executable, "-I", "-S", str(program), str(log)]}},
        "routing": {"rules": [{"topic": "budget", "agent": "human", "override": True}]},
    }
    (project_folder / "kr.yaml").write_text(json.dumps(config))
    return lambda: [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def ask(kr, *arguments):
    return kr("ask", *arguments, "--json", env={"KR_TRUST": "all"})


def test_us1_1_a_question_tagged_architect_is_dispatched_to_duc_with_only_its_context(
    kr, asked, project_folder
):
    """Given a question tagged `target: architect` about authentication methods, when routed, it is dispatched to @duc with only
    the question context (no repo access).
    """
    question = "Which authentication method should users sign in with?"
    done = ask(
        kr, question, "--target", "architect", "--topic", "authentication", "--context", "We have 40 users."
    )
    assert done.code == 0, done
    assert done.json["route"]["target"] == "architect"
    assert done.json["route"]["agent"] == done.json["answer"]["agent"] == "duc"
    assert done.json["answer"]["content"] == "The answer of duc"
    (told,) = asked()
    assert told["agent"] == "duc"
    assert question in told["prompt"]
    assert "We have 40 users." in told["prompt"]
    assert "PLANTED" not in told["prompt"]
    assert "secret_plan" not in told["prompt"]
    assert told["files"] == []
    assert not told["folder"].startswith(str(project_folder))


def test_us1_2_a_question_tagged_product_is_dispatched_to_veuve(kr, asked):
    """Given a question tagged `target: product` about feature scope, when routed, it is dispatched to @veuve."""
    done = ask(kr, "Is export part of the first release?", "--target", "product", "--topic", "scope")
    assert done.code == 0, done
    assert done.json["route"]["agent"] == done.json["answer"]["agent"] == "veuve"
    assert [told["agent"] for told in asked()] == ["veuve"]


def test_us1_3_an_override_sends_budget_questions_to_a_human_whatever_the_target(kr, asked):
    """Given routing configuration overrides "budget" to always go to human, when a budget question arrives with `target:
    architect`, the override applies and the question goes to human.
    """
    done = ask(kr, "How much may hosting cost?", "--target", "architect", "--topic", "budget")
    assert done.code == 5, done
    assert done.json["status"] == "escalated"
    route = done.json["route"]
    assert (route["target"], route["agent"], route["rule"]) == ("human", None, "budget")
    assert route["reason"].startswith("override rule budget (kr.yaml:1")
    assert done.json["escalation"]["id"] == "E1"
    assert done.json["answer"] is None
    assert asked() == []
