"""User story 6, routing is configured: each of its scenarios, by whole processes."""

import json
import sys

import pytest

pytestmark = pytest.mark.req("Q2", "Q4", "Q6", "Q11")

AGENT = """
import json, os, sys
sys.stdin.read()
print(json.dumps({"answer": os.environ["KR_AGENT"] + " on " + os.environ["KR_MODEL"], "rationale": "r", "confidence": 90,
                  "uncertainty_reasons": []}))
"""


@pytest.fixture
def configured(kr, project_folder):
    """`kr ask` under a configuration."""
    program = project_folder / "agent.py"
    program.write_text(AGENT)

    def ask(topic, **config):
        agents = {name: {"plugin": "command"} for name in ("duc", "veuve")}
        argv = [sys.executable, "-I", "-S", str(program)]
        config = {"agents": agents, "plugins": {"command": {"argv": argv}}, **config}
        (project_folder / "kr.yaml").write_text(json.dumps(config))
        return kr("ask", "Which one?", "--topic", topic, "--json", env={"KR_TRUST": "all"})

    return ask


def test_us6_1_a_topic_mapped_to_the_architect_routes_to_duc(configured):
    """Given routing config maps "authentication" to "architect", when an auth question arrives, it routes to @duc."""
    rules = [{"topic": "authentication", "agent": "architect"}, {"topic": "*", "agent": "product"}]
    done = configured("authentication", routing={"rules": rules})
    assert done.code == 0, done
    assert (done.json["route"]["target"], done.json["route"]["agent"]) == ("architect", "duc")
    assert done.json["answer"]["agent"] == "duc"
    assert configured("pricing", routing={"rules": rules}).json["answer"]["agent"] == "veuve"


def test_us6_2_a_compliance_answer_of_90_is_escalated_at_a_threshold_of_95(configured):
    """Given confidence threshold for "compliance" is set to 95%, when a compliance answer arrives at 90%, it escalates despite
    high confidence.
    """
    rules = [{"topic": "compliance", "threshold": 95}, {"topic": "*", "agent": "duc"}]
    done = configured("compliance", routing={"rules": rules})
    assert done.code == 5, done
    assert done.json["threshold"] == 95
    assert done.json["escalation"]["reason"] == "confidence 90 is below 95"
    assert configured("storage", routing={"rules": rules}).code == 0


def test_us6_3_the_model_of_the_architects_role_is_used_for_duc(configured):
    """Given model config maps "architect" to "opus", when @duc is invoked, the opus model is used."""
    done = configured("storage", roles={"architect": {"model": "opus"}})
    assert done.code == 0, done
    assert done.json["answer"]["content"] == "duc on opus"
    assert done.json["answer"]["model"] == "opus"
