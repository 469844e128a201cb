"""Questions that belong together: to several agents, and one after the other."""

import json
import sys
import threading

import pytest
from support.asked import Says, record, said, service

from kr_core import ConfigError, HumanResponse, Question, RequestError

QUESTION = Question(text="Which session store should we use?", suggested_target="duc", also=("veuve",))


# -- several agents -----------------------------------------------------------------------------------------


@pytest.fixture
def kr(kr_here):
    """The commands run in this process: that they do so as programs is tried elsewhere, and takes ten times as long."""
    return kr_here


@pytest.mark.req("Q9")
def test_agents_that_agree_raise_the_confidence(tmp_path):
    """What neither alone was sure enough of passes, with what raised it on record; each was asked the same."""
    duc, veuve = Says(said("Use Redis, with a short TTL.", 78)), Says(said("Redis with a short TTL", 79))
    with service(tmp_path / "p", duc=duc, veuve=veuve) as made:
        result = made.ask(QUESTION)
        entries = record(made)
    assert result.status == "accepted"
    assert (result.answer.agent, result.answer.confidence, result.answer.raw_confidence) == ("veuve", 83, 79)
    assert "duc and veuve agree: confidence 79 raised to 83" in result.notes
    assert duc.prompts == veuve.prompts
    (compared,) = (data for kind, data in entries if kind == "answers.compared")
    assert (compared["agents"], compared["agree"], compared["confidence"]) == (["duc", "veuve"], True, 83)
    received = [data["confidence"] for kind, data in entries if kind == "answer.received"]
    assert sorted(received) == [78, 79]  # both are asked at once


@pytest.mark.req("Q9", "H1")
def test_agents_that_do_not_agree_stand_side_by_side_before_a_human(tmp_path):
    """However sure they are; the human chooses one of them by its letter, and it is that agent's answer, validated."""
    duc, veuve = Says(said("Use Redis.", 95)), Says(said("Use Postgres.", 99))
    with service(tmp_path / "p", duc=duc, veuve=veuve) as made:
        result = made.ask(QUESTION)
        assert (result.status, result.answer) == ("escalated", None)
        assert result.escalation.reason == "duc and veuve do not agree"
        assert [(one.agent, one.content) for one in result.escalation.alternatives] == [
            ("duc", "Use Redis."),
            ("veuve", "Use Postgres."),
        ]
        with pytest.raises(ConfigError, match="there are several answers; say which"):
            made.reply("E1", HumanResponse(action="confirm"))
        chosen = made.reply("E1", HumanResponse(action="choose", content="b", by="ada"))
    assert (chosen.answer.content, chosen.answer.agent, chosen.answer.validated_by) == (
        "Use Postgres.",
        "veuve",
        "human",
    )


@pytest.mark.req("Q7", "Q9")
def test_an_agent_that_is_unavailable_is_noted_and_the_others_go_on(tmp_path):
    """Its fallback is asked in its place, unless it is asked anyway; the answer that there is stands for itself."""
    config = {"agents": {"duc": {"fallback": ["veuve", "marie"]}}}
    duc, veuve, marie = (
        Says(RequestError("limited", "too many")),
        Says(said("Use Redis.", 85)),
        Says(said("Use Redis.", 60)),
    )
    with service(tmp_path / "p", config, duc=duc, veuve=veuve, marie=marie) as made:
        result = made.ask(QUESTION)
        assert result.status == "accepted"
        assert any(note.startswith("duc: limited: ") for note in result.notes)
        assert "marie and veuve agree: confidence 85 raised to 87" in result.notes
        assert (len(veuve.jobs), len(marie.jobs)) == (1, 1)
        marie.replies = veuve.replies = [RuntimeError("down")]
        assert made.ask(QUESTION).escalation.reason == "Agent unavailable"


@pytest.mark.req("Q9", "Q12")
def test_several_agents_are_asked_at_the_same_time(tmp_path):
    """Each waits for the other to be asked: one after the other neither would answer."""
    meeting = threading.Barrier(2)

    class Meets(Says):
        async def run(self, job):
            import asyncio

            await asyncio.to_thread(meeting.wait, 30)
            return await super().run(job)

    with service(tmp_path / "p", duc=Meets(), veuve=Meets()) as made:
        assert made.ask(QUESTION).status == "accepted"


@pytest.mark.req("Q9")
def test_a_broken_configuration_ends_all_of_them(tmp_path):
    """Where one agent's plugin is wrongly configured nobody else's answer is waited for."""
    with service(
        tmp_path / "p", {"agents": {"veuve": {"plugin": "command"}}}, duc=Says(said(), seconds=600)
    ) as made:
        with pytest.raises(ConfigError, match="argv"):
            made.ask(QUESTION)
        made.ask(
            QUESTION.model_copy(update={"suggested_target": "human", "also": ()})
        )  # what was said before is durable now
        statuses = [data["status"] for kind, data in record(made) if kind == "exchange.finished"]
        assert statuses == ["cancelled", "escalated"]


# -- one after the other ------------------------------------------------------------------------------------


def asked(one, *depends_on, target="duc", **more):
    return Question(id=one, text=f"What is {one}?", suggested_target=target, depends_on=depends_on, **more)


@pytest.mark.req("Q8", "SC-008")
def test_questions_wait_for_those_that_they_depend_on(tmp_path):
    """Answers join the context of whoever waits for them, in a fence; those that wait for nobody are asked at once."""
    meeting = threading.Barrier(2)

    class Meets(Says):
        async def run(self, job):
            import asyncio

            if job.question.text in {"What is Q1?", "What is Q2?"}:
                await asyncio.to_thread(meeting.wait, 30)
            return await super().run(job)

    duc = Meets(lambda job: said(f"The answer to {job.question.text}"))
    with service(tmp_path / "p", duc=duc) as made:
        results = made.ask_all([asked("Q3", "Q1", "Q2"), asked("Q1"), asked("Q2"), asked("Q4", "Q3")])
    assert [result.question_id for result in results] == ["Q3", "Q1", "Q2", "Q4"]
    assert {result.status for result in results} == {"accepted"}
    prompts = {job.question.text: job.prompt for job in duc.jobs}
    assert list(prompts)[2:] == ["What is Q3?", "What is Q4?"]
    for other in ("Q1", "Q2"):
        assert f"What is {other}?" in prompts["What is Q3?"]
        assert f"The answer to What is {other}?" in prompts["What is Q3?"]
    assert "The answer to What is Q3?" in prompts["What is Q4?"]
    assert "Q1" not in prompts["What is Q2?"]


@pytest.mark.req("Q8")
def test_what_waits_for_a_human_holds_up_what_depends_on_it(tmp_path):
    """It is not asked, but escalated with the case that it waits for; once that is answered it can be asked, with the answer."""
    duc = Says(lambda job: said(f"On {job.question.text}", 65 if "Q1" in job.question.text else 95))
    with service(tmp_path / "p", duc=duc) as made:
        first, second, third = made.ask_all([asked("Q1"), asked("Q2", "Q1"), asked("Q3", "Q2")])
        assert (first.status, second.status, third.status) == ("escalated", "escalated", "escalated")
        assert second.escalation.id == third.escalation.id == first.escalation.id == "E1"
        assert second.notes == ("not asked: it depends on `Q1`, which waits for a human as E1",)
        assert len(duc.jobs) == len(made.cases.waiting()) == 1
        again = made.ask(asked("Q2", "Q1"))
        assert (again.status, again.escalation.id) == ("escalated", "E1")
        assert again.notes == second.notes
        assert again == second, "it was put off before, and that is on record"
        assert [kind for kind, data in record(made) if data["question_id"] == "Q2"] == [
            "question.asked", "question.routed", "exchange.finished",
        ]  # fmt: skip
        anew = made.ask(asked("Q2", "Q1", context="There is no Redis."))
        assert (anew.status, anew.exchange_id == second.exchange_id) == ("escalated", False)
        with pytest.raises(ConfigError, match="`Q2` depends on `Q1`, which waits for a human as E1"):
            made.route_question(asked("Q2", "Q1"))
        with pytest.raises(
            ConfigError, match="`Q1` waits for a human as E1, and is another question: What is Q1"
        ):
            made.ask(asked("Q1").model_copy(update={"text": "Who?"}))
        assert len(duc.jobs) == len(made.cases.all()) == 1
        made.reply("E1", HumanResponse(action="correct", content="Ask the customer.", by="ada"))
        assert made.ask(asked("Q2", "Q1")).status == "accepted"
        assert "Ask the customer." in duc.prompts[-1]
        handle = made.route_question(asked("Q3", "Q1", "Q2"))
        while made.get_agent_status(handle).state == "running":
            threading.Event().wait(0.005)
        assert "Ask the customer." in duc.prompts[-1]
        assert "On What is Q2?" in duc.prompts[-1]


@pytest.mark.req("Q8", "SC-008")
def test_answers_of_other_features_are_not_told(tmp_path):
    """Two features with the same ids: each question is told the answer of its own, in one call and of earlier ones."""
    duc = Says(lambda job: said(f"The answer of {job.question.feature_id}"))
    pairs = [(asked("Q1", feature_id=one), asked("Q2", "Q1", feature_id=one)) for one in ("F-1", "F-2")]
    with service(tmp_path / "p", duc=duc) as made:
        made.ask_all([question for pair in pairs for question in pair])
        made.ask_all(
            [pair[1].model_copy(update={"id": "Q3", "text": "What is Q2, again?"}) for pair in pairs]
        )
    told = [job for job in duc.jobs if "Q2" in job.question.text]
    assert len(told) == 4
    for job in told:
        other = {"F-1": "F-2", "F-2": "F-1"}[job.question.feature_id]
        assert f"The answer of {job.question.feature_id}" in job.prompt
        assert f"The answer of {other}" not in job.prompt


@pytest.mark.req("Q8")
def test_what_failed_fails_what_depends_on_it(tmp_path):
    """Without an answer and without a way to a human neither of them has a result to build on."""
    with service(tmp_path / "p", {"escalations": []}, duc=Says(RuntimeError("down"))) as made:
        first, second = made.ask_all([asked("Q1"), asked("Q2", "Q1")])
    assert (first.status, second.status) == ("failed", "failed")
    assert second.notes == ("not asked: it depends on `Q1`, which failed",)


@pytest.mark.req("Q8")
@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([asked("Q1", "Q3"), asked("Q2"), asked("Q3", "Q1")], r"wait for each other: Q1 -> Q3 -> Q1;"),
        ([asked("Q1"), asked("Q2", "Q7")], r"`Q2` depends on `Q7`"),
        ([asked("Q1"), asked("Q2", target="nobody")], r"no agent or role is called `nobody`"),
        ([asked("Q1"), asked("Q2", context="x" * 200_000)], r"the question has 200,011 characters"),
    ],
)
def test_where_one_question_is_wrong_none_is_asked(tmp_path, questions, told):
    """A circle, an id that there is not, a wrong target: refused before anybody is asked, and nothing is on record."""
    duc = Says()
    with service(tmp_path / "p", duc=duc) as made:
        with pytest.raises(ConfigError, match=told):
            made.ask_all(questions)
        assert duc.jobs == []
        assert record(made) == []


def test_nothing_to_ask_is_nothing(tmp_path):
    """An empty list has an empty result."""
    with service(tmp_path / "p") as made:
        assert made.ask_all([]) == []


@pytest.mark.req("Q12")
def test_agents_that_research_do_not_wait_for_each_other(tmp_path):
    """With one place for all, an agent that asks the sources gets one there, though it holds one itself."""

    class Researches(Says):
        async def run(self, job):
            result = await job.research("How do I set a timeout in parcel?")
            return said(result.status)

    config = {
        "defaults": {"max_concurrent": 1},
        "knowledge_research": {"sources": []},
        "agents": {"duc": {"timeout_seconds": 20}},
    }
    with service(tmp_path / "p", config, duc=Researches()) as made:
        results = made.ask_all([asked("Q1"), asked("Q2")])
    assert {result.status for result in results} == {"accepted"}


# -- by the command line ------------------------------------------------------------------------------------

AGENT = """
import json, os, sys
prompt = sys.stdin.read()
answer = "Redis" if "which store" not in prompt else "As Redis asks for"
print(json.dumps({"answer": answer, "rationale": "", "confidence": 85, "uncertainty_reasons": []}))
"""


@pytest.mark.req("Q8", "Q9")
def test_targets_and_dependencies_of_the_command_line(kr, project_folder):
    """`--target` twice asks two agents; `--id` and `--depends-on` tie questions of one feature together."""
    (project_folder / "agent.py").write_text(AGENT)
    argv = [sys.executable, "-I", "-S", str(project_folder / "agent.py")]
    agents = {name: {"plugin": "command"} for name in ("duc", "veuve")}
    (project_folder / "kr.yaml").write_text(
        json.dumps({"agents": agents, "plugins": {"command": {"argv": argv}}})
    )
    trusted = {"KR_TRUST": "all"}
    both = kr(
        "ask",
        "Which store?",
        "--id",
        "Q1",
        "--feature",
        "F-1",
        "--target",
        "duc",
        "--target",
        "product",
        "--json",
        env=trusted,
    )
    assert both.code == 0, both
    assert both.json["question_id"] == "Q1"
    assert "duc and veuve agree: confidence 85 raised to 88" in both.json["notes"]
    after = kr(
        "ask", "And its key?", "--depends-on", "Q1", "--feature", "F-1", "--target", "duc", env=trusted
    )
    assert after.code == 0, after
    (project_folder / "agent.py").write_text(AGENT.replace('"Redis" if', 'os.environ["KR_AGENT"] if'))
    split = kr("ask", "Which store?", "--target", "duc", "--target", "product", env=trusted)
    assert split.code == 5, split
    assert "duc and veuve do not agree" in split.out
    for part in (
        "Answer A of duc, confidence 85 of 100:\n\n> duc\n",
        "Answer B of veuve, confidence 85 of 100:\n\n> veuve\n",
    ):
        assert part in split.out
    other = kr("ask", "And its key?", "--depends-on", "Q1", "--target", "duc", env=trusted)
    assert other.code == 2
    assert "`Q1`, which is not asked with it and has no answer in their feature, `general`" in other.err
