"""`kr inbox poll`, and what `kr inbox` shows of a case that is looked after."""

import json

import pytest
from support.agents import QUESTION, SURE, UNSURE, project
from support.boards import age

from kr_core import KnowledgeRouterService

pytestmark = pytest.mark.req("H6", "H7")
TRUST = {"KR_TRUST": "all"}


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


def test_it_says_what_it_did(project_folder, kr):
    """One look, in words and as JSON; the second one has nothing to do."""
    project(project_folder, more="escalation: {timeout: 1h, on_timeout: use_answer}\n")
    assert kr("ask", QUESTION, "--topic", "authentication", env=TRUST).code == 5
    done = kr("inbox", "poll")
    assert (done.code, done.out) == (0, "nothing was due\n")
    with KnowledgeRouterService.open(folder=project_folder) as made:
        age(made, "E1", hours=2)
    done = kr("inbox", "poll", "--json").json
    assert (done["expired"], done["notes"], done["next"]) == (1, [], None)
    shown = kr("inbox", "show", "E1")
    assert "Expired" in shown.out
    assert "nobody has decided within 1h" in shown.out
    case = kr("inbox", "show", "E1", "--json").json
    assert (case["status"], case["resolution"]["action"]) == ("expired", "timeout")
    refused = kr("inbox", "confirm", "E1", env=TRUST)
    assert refused.code == 2
    assert "it is expired: nobody had decided in time" in refused.err
    assert "expired" in kr("inbox", "list", "--all").out
    assert kr("inbox", "list").out == "nothing waits for an answer\n"
    entries = [json.loads(line) for line in kr("log", "--json").out.splitlines()]
    answers = [entry["data"] for entry in entries if entry["kind"] == "answer.received"]
    assert [bool(answer["warning"]) for answer in answers] == [False, True]
    assert answers[-1]["validated_by"] is None
    assert kr("log", "--verify").code == 0


def test_what_waits_on_is_said(project_folder, kr):
    """A time limit that blocks, in words."""
    project(project_folder, more="escalation: {timeout: 1h}\n")
    assert kr("ask", QUESTION, "--topic", "authentication", env=TRUST).code == 5
    with KnowledgeRouterService.open(folder=project_folder) as made:
        age(made, "E1", hours=2)
    assert kr("inbox", "poll").out == "time limits passed, which wait on: 1\n"
    assert kr("inbox", "poll").out == "nothing was due\n"
    assert kr("inbox", "list", "--json").json[0]["status"] == "open"


def test_an_answer_that_is_used_unconfirmed_is_built_on(project_folder, kr):
    """A question that depends on it gets it; `kr ask --wait` ends with it, and warns."""
    project(
        project_folder,
        answers=(("Depends", SURE), ("", UNSURE)),
        more="escalation: {timeout: 1s, on_timeout: use_answer}\n",
    )
    done = kr("ask", QUESTION, "--topic", "authentication", "--id", "store", "--wait", env=TRUST)
    assert done.code == 0
    assert "Warning: nobody has decided within 1s" in done.out
    result = kr(
        "ask", "Depends on that?", "--topic", "authentication", "--depends-on", "store", "--json", env=TRUST
    )
    assert (result.code, result.json["status"]) == (0, "accepted")


def test_a_case_that_was_ended_by_hand_is_named(project_folder, kr):
    """`kr log --verify` finds a case that is said to be expired and is not, by the record."""
    project(project_folder)
    assert kr("ask", QUESTION, "--topic", "authentication", env=TRUST).code == 5
    with KnowledgeRouterService.open(folder=project_folder) as made:
        case = made.cases.get("E1")
        assert made.cases.keep(
            case._replace(status="expired", answer=case.request.answer, version=case.version + 1)
        )
    done = kr("log", "--verify")
    assert done.code != 0
    assert "its answer has no warning" in done.out + done.err
