"""User story 8, an agent is unavailable: each of its scenarios, by whole processes."""

import json
import sys

import pytest

pytestmark = pytest.mark.req("Q7", "G2")

AGENT = """
import json, os, sys, time
sys.stdin.read()
how = json.loads(sys.argv[1])[os.environ["KR_AGENT"]]
if how == "hangs":
    time.sleep(600)
if how == "fails":
    sys.exit("the model is down")
print(json.dumps({"answer": "The answer of " + os.environ["KR_AGENT"], "rationale": "r", "confidence": 90, "uncertainty_reasons": []}))
"""


@pytest.fixture
def ask(kr, project_folder):
    """Ask a technical question of agents that do so."""
    program = project_folder / "agent.py"
    program.write_text(AGENT)

    def run(agents, **behaviour):
        config = {
            "agents": {name: {"plugin": "command", **settings} for name, settings in agents.items()},
            "plugins": {
                "command": {"argv": [sys.executable, "-I", "-S", str(program), json.dumps(behaviour)]}
            },
        }
        (project_folder / "kr.yaml").write_text(json.dumps(config))
        return kr(
            "ask", "Which store?", "--topic", "storage", "--feature", "F-1", "--json", env={"KR_TRUST": "all"}
        )

    return run


def failures(kr):
    entries = [json.loads(line) for line in kr("log", "F-1", "--json").out.splitlines()]
    return [entry["data"] for entry in entries if entry["kind"] == "agent.failed"]


def test_us8_1_a_timeout_of_duc_escalates_with_the_note_agent_unavailable(ask, kr):
    """Given @duc times out (here after 1 s), when detected, the question escalates to human with note "Agent unavailable"."""
    done = ask({"duc": {"timeout_seconds": 1}}, duc="hangs")
    assert done.code == 5, done
    assert done.json["status"] == "escalated"
    assert done.json["escalation"]["reason"] == "Agent unavailable"
    assert done.json["answer"] is None
    assert "duc: timeout: timeout after 1 s" in done.json["notes"]
    (failed,) = failures(kr)
    assert (failed["agent"], failed["outcome"]) == ("duc", "timeout")
    assert kr("inbox", "show", "E1", "--json").json["case"]["reason"] == "Agent unavailable"


def test_us8_2_an_error_of_duc_is_logged_and_the_question_escalates(ask, kr):
    """Given @duc fails with error, when detected, the error is logged and question escalates to human."""
    done = ask({"duc": {}}, duc="fails")
    assert done.code == 5, done
    assert done.json["escalation"]["reason"] == "Agent unavailable"
    (failed,) = failures(kr)
    assert failed["outcome"] == "unavailable"
    assert "the model is down" in failed["reason"]


def test_us8_3_the_fallback_is_asked_before_a_human(ask, kr):
    """Given fallback config specifies @veuve as backup for @duc, when @duc is unavailable, the question routes to @veuve before
    escalating to human.
    """
    agents = {"duc": {"fallback": ["veuve"]}, "veuve": {}}
    done = ask(agents, duc="fails", veuve="answers")
    assert done.code == 0, done
    assert done.json["status"] == "accepted"
    assert done.json["answer"]["content"] == "The answer of veuve"
    assert [failed["agent"] for failed in failures(kr)] == ["duc"]
    done = ask(agents, duc="fails", veuve="fails")
    assert done.code == 5, done
    assert done.json["escalation"]["reason"] == "Agent unavailable"
    assert [failed["agent"] for failed in failures(kr)] == ["duc", "duc", "veuve"]
