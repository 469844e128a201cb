"""A question under its own id waits in one case at most, and what a human has answered is not asked again."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.asked import Says, record, said, service
from support.fork_server import kr_argv

from kr_core import HumanResponse, Question

UNSURE = said("Redis.", 60)
pytestmark = pytest.mark.req("H3", "SC-008")


def ask(made, **values):
    return made.ask(Question(text="Which store?", id="Q1", feature_id="shop", **values))


def statuses(made):
    return {case.request.id: case.status for case in made.cases.all()}


def test_a_question_asked_anew_waits_in_its_newest_case(tmp_path):
    """The older one is superseded, on the record, by the exchange that followed it; questions of other ids stay."""
    with service(tmp_path, duc=Says(UNSURE)) as made:
        ask(made, suggested_target="duc")
        made.ask(Question(text="Which store?", id="Q2", feature_id="shop", suggested_target="duc"))
        newest = ask(made, suggested_target="duc")
        assert newest.escalation.id == "E3"
        found = statuses(made)
        assert found.pop("E1") == "superseded"
        assert not {"superseded"} & {*found.values()}
        (ended,) = (data for kind, data in record(made, "shop") if kind == "escalation.superseded")
        assert (ended["escalation_id"], ended["successor"]) == ("E1", newest.exchange_id)


def test_a_question_asked_anew_and_answered_waits_no_longer(tmp_path):
    """An agent that is sure enough leaves nothing for a human to decide."""
    with service(tmp_path, duc=Says(UNSURE), veuve=Says(said("Postgres.", 95))) as made:
        ask(made, suggested_target="duc")
        assert ask(made, suggested_target="veuve").status == "accepted"
        assert statuses(made) == {"E1": "superseded"}


@pytest.mark.req("E3", "H3")
def test_a_new_case_tells_what_a_human_decided_of_the_same_question(tmp_path):
    """Id, person, date and the beginning of the answer; nothing is answered by it, and another question is not meant."""
    with service(tmp_path, duc=Says(UNSURE)) as made:

        def asked(text, **values):
            return made.ask(Question(text=text, topic="authentication", **values))

        first = asked("Which store should we use?")
        assert not any("same" in note for note in asked("Which store should we use?").notes), "it waits"
        made.reply("E1", HumanResponse(action="correct", content="Postgres.\n/kr confirm E1", by="ada"))
        again = asked("which store should we use", feature_id="shop")
        assert again.status == "escalated"
        when = f"{made.cases.get('E1').resolution.time.astimezone():%Y-%m-%d}"
        told = f"E1 was the same question; ada answered it on {when} (correct): Postgres. /kr confirm E1"
        assert first.escalation.id == "E1"
        assert [note.replace("\u200b", "") for note in again.notes] == [told]
        assert made.cases.get(again.escalation.id).request.notes == again.notes
        assert asked("Which store should we not use?").notes == ()


def test_what_a_human_has_answered_is_not_asked_again(tmp_path):
    """Whoever asks again gets the answer; who says whom to ask, or asks something else, asks."""
    duc = Says(UNSURE)
    with service(tmp_path, duc=duc) as made:
        ask(made, suggested_target="duc")
        ask(made, suggested_target="duc")
        made.reply("E2", HumanResponse(action="correct", content="Postgres.", by="ada"))
        again = ask(made)
        assert (again.status, again.answer.content, again.answer.validated_by) == (
            "answered",
            "Postgres.",
            "human",
        )
        assert again.notes == ("not asked again: a human has answered it",)
        assert len(duc.jobs) == 2
        assert ask(made, suggested_target="duc").status == "escalated"
        assert len(duc.jobs) == 3


@pytest.mark.parametrize(("confidence", "status"), [(60, "escalated"), (95, "accepted")])
def test_of_several_callers_at_once_one_asks(tmp_path, confidence, status):
    """The others get what it gets; who asks another question, or one of no id, waits for nobody."""
    duc = Says(said("Redis.", confidence), seconds=0.2)
    with service(tmp_path, duc=duc) as made, ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: ask(made, topic="authentication"), range(3)))
        assert {result.status for result in results} == {status}
        assert {result.answer.content for result in results} == {"Redis."}
        assert len(duc.jobs) == 1
        assert len(made.cases.all()) == (status == "escalated")


AGENT = """
import json, sys, time
open(sys.argv[1], "a").write("asked ")
time.sleep(0.5)
print(json.dumps({"answer": "Redis", "rationale": "", "confidence": 60, "uncertainty_reasons": []}))
"""


def test_of_several_processes_at_once_one_asks(project_folder, environ):
    """They wait for each other by the state folder, and all name the one case; in a new project, too."""
    log = project_folder / "log"
    (project_folder / "agent.py").write_text(AGENT)
    argv = [sys.executable, "-I", "-S", str(project_folder / "agent.py"), str(log)]
    config = {"agents": {"duc": {"plugin": "command"}}, "plugins": {"command": {"argv": argv}}}
    (project_folder / "kr.yaml").write_text(json.dumps(config))
    command = kr_argv(environ, "ask", "Which store?", "--json")
    command += ["--feature", "shop", "--id", "Q1", "--topic", "authentication"]
    processes = [
        subprocess.Popen(
            command, cwd=project_folder, env={**environ, "KR_TRUST": "all"}, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    told = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [5, 5, 5]
    assert {one["escalation"]["id"] for one in told} == {"E1"}
    assert log.read_text() == "asked "
