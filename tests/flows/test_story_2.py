"""User story 2, answers are received and validated: each of its scenarios, by whole processes."""

import json
import sys

import pytest

pytestmark = pytest.mark.req("Q6", "H1", "SC-002")

AGENT = """
import json, sys
sys.stdin.read()
print(json.dumps({"answer": "Use Redis.", "rationale": "It expires keys.", "confidence": int(sys.argv[1]),
                  "uncertainty_reasons": ["The load is unknown"]}))
"""


@pytest.fixture
def ask(kr, project_folder):
    """Ask a question whose agent is so sure of its answer."""
    program = project_folder / "agent.py"
    program.write_text(AGENT)

    def run(confidence, topic, rules=None):
        config = {
            "agents": {"duc": {"plugin": "command"}},
            "plugins": {"command": {"argv": [sys.executable, "-I", "-S", str(program), str(confidence)]}},
            "routing": {} if rules is None else {"rules": rules},
        }
        (project_folder / "kr.yaml").write_text(json.dumps(config))
        return kr("ask", "Which session store?", "--topic", topic, "--json", env={"KR_TRUST": "all"})

    return run


def test_us2_1_an_answer_of_92_passes_the_threshold_of_80(ask):
    """Given an agent answer with confidence 92%, when validated against 80% threshold, it is accepted and returned."""
    done = ask(92, "architecture")
    assert done.code == 0, done
    assert done.json["status"] == "accepted"
    assert done.json["answer"]["content"] == "Use Redis."
    assert (done.json["answer"]["confidence"], done.json["threshold"]) == (92, 80)
    assert done.json["escalation"] is None


def test_us2_2_an_answer_of_65_is_escalated_with_all_that_the_agent_said(ask, kr):
    """Given an agent answer with confidence 65%, when validated, it is escalated to human with the agent's tentative answer,
    rationale, and uncertainty reasons.
    """
    done = ask(65, "architecture")
    assert done.code == 5, done
    assert done.json["status"] == "escalated"
    assert done.json["escalation"] == {"id": "E1", "revision": 1, "reason": "confidence 65 is below 80"}
    case = kr("inbox", "show", "E1", "--json").json["case"]
    answer = case["answer"]
    assert (answer["content"], answer["rationale"], answer["uncertainty_reasons"]) == (
        "Use Redis.", "It expires keys.", ["The load is unknown"],
    )  # fmt: skip
    assert (answer["confidence"], case["threshold"]) == (65, 80)


def test_us2_3_a_security_answer_of_85_is_escalated_at_a_threshold_of_90(ask):
    """Given confidence threshold configured at 90% for "security" topics, when a security answer arrives at 85%, it escalates
    despite being above default threshold.
    """
    rules = [{"topic": "security/*", "agent": "architect", "threshold": 90}]
    done = ask(85, "security", rules)
    assert done.code == 5, done
    assert done.json["threshold"] == 90
    assert done.json["escalation"]["reason"] == "confidence 85 is below 90"
    assert ask(90, "security/oauth", rules).code == 0
