"""Answers that programs hand in: gated once, never past a human, and clean on the record."""

import asyncio
import threading

import pytest
from support.asked import Says, kinds, record, said, service

from kr_core import Answer, ConfigError, HumanResponse, Question, RequestError
from kr_core.qalog.reader import LogFilter, exchanges

pytestmark = pytest.mark.req("Q13")

SECRET = "sk-ant-api03-" + "AAAABBBBCCCCDDDD1234"
TO_HUMAN = {"routing": {"rules": [{"topic": "budget", "agent": "human", "override": True}]}}


def asked(**more):
    return Question(**{"text": "Which session store should we use?", "topic": "storage", "id": "Q1", **more})


def of(question, content="SQLite.", confidence=95, **more):
    return Answer(
        question_id=question.id,
        content=content,
        **{"confidence": confidence, "agent": "", **more},
    )


def ended(made, handle):
    while (status := made.get_agent_status(handle)).state == "running":
        threading.Event().wait(0.005)
    return status


@pytest.mark.req("Q6")
def test_what_the_gate_refuses_is_never_accepted(tmp_path):
    """Without a way to a human a refused answer has failed; it is not accepted for want of an escalation."""
    with service(tmp_path / "p", {"escalations": []}, duc=Says(said("Redis.", 50))) as made:
        handle = made.route_question(asked())
        outcome = made.submit_answer(ended(made, handle).answer)
        assert (outcome.accepted, outcome.verdict.accepted, outcome.escalation) == (False, False, None)
        assert record(made)[-1][1]["status"] == "failed"


@pytest.mark.req("Q2", "Q6")
def test_what_goes_to_a_human_is_decided_by_one(tmp_path):
    """However sure an answer is that a program hands in: it is tentative, and no agent can be asked in the human's place."""
    question = asked(topic="budget", suggested_target="duc")
    with service(tmp_path / "p", TO_HUMAN, duc=Says(said("A million.", 99))) as made:
        assert made.route_question(question).agent is None
        outcome = made.submit_answer(of(question, agent="duc"))
        assert not outcome.accepted
        assert outcome.escalation.answer.content == "SQLite."
        assert outcome.escalation.reason.startswith("it goes to a human: override rule budget")
        with pytest.raises(ConfigError, match="no agent was asked"):
            made.reply(outcome.escalation.id, HumanResponse(action="add_context", content="It is small."))
        assert made.reply("E1", HumanResponse(action="confirm")).status == "answered"


@pytest.mark.req("Q2", "Q6")
@pytest.mark.parametrize(
    ("agent", "confidence", "threshold"),
    [("veuve", 79, 80), ("veuve", 80, 80), ("", 80, 80), ("dede", 89, 90), ("dede", 90, 90)],
)
def test_whoever_a_program_names_the_threshold_is_no_lower(tmp_path, agent, confidence, threshold):
    """That of the route holds, which sent the question to somebody else; an agent that is trusted less needs more."""
    config = {"agents": {"veuve": {"threshold": 70}, "dede": {"threshold": 90}}}
    with service(tmp_path / "p", config, duc=Says(seconds=600)) as made:
        assert made.route_question(asked(topic="", suggested_target="duc")).route.threshold == 80
        outcome = made.submit_answer(of(asked(), agent=agent, confidence=confidence))
    assert (outcome.verdict.threshold, outcome.accepted) == (threshold, confidence >= threshold)


@pytest.mark.req("Q6")
def test_who_names_nobody_needs_what_the_route_asks(tmp_path):
    """Which is the asked agent's own threshold, where the topic has none."""
    with service(tmp_path / "p", {"agents": {"duc": {"threshold": 60}}}, duc=Says(seconds=600)) as made:
        made.route_question(asked(topic="", suggested_target="duc"))
        assert made.submit_answer(of(asked(), confidence=60)).accepted


@pytest.mark.req("G1", "H3")
@pytest.mark.parametrize(
    ("agent", "said_of_it"),
    [
        ("human", "a program does not answer as a human; put the question to one"),
        ("ducc", "no agent is called `ducc`; did you mean `duc`"),
        (SECRET, "no agent is called `[^A]*`"),
    ],
    ids=["human", "unknown", "secret"],
)
def test_nobody_is_answered_for_who_is_no_agent(tmp_path, agent, said_of_it):
    """Nothing of it is on the record, where it would pass for a human's, and the question goes on as before."""
    question = asked()
    forged = of(question, agent=agent, confidence=100, validated_by="human")
    with service(tmp_path / "p", duc=Says(seconds=600)) as made:
        with pytest.raises(ConfigError, match=said_of_it):
            made.escalate_to_human(forged, question)
        assert kinds(made) == []
        handle = made.route_question(question)
        for hand_in in (made.submit_answer, lambda answer: made.escalate_to_human(answer, question)):
            with pytest.raises(ConfigError, match=said_of_it):
                hand_in(forged)
        assert made.get_agent_status(handle).state == "running"
        assert not {"answer.received", "exchange.finished"} & set(kinds(made))
        assert exchanges(made.pipeline.journal, LogFilter(agent="human")) == []
        assert made.submit_answer(of(question)).accepted


def test_an_answer_is_submitted_once(tmp_path):
    """The second one is refused: one question has one end on the record, and one case."""
    question = asked()
    with service(tmp_path / "p", duc=Says(seconds=60)) as made:
        made.route_question(question)
        made.submit_answer(of(question, confidence=10))
        with pytest.raises(ConfigError, match="`Q1` has been answered, or put to a human, already"):
            made.submit_answer(of(question))
        assert len(made.cases.all()) == kinds(made).count("exchange.finished") == 1
        made.route_question(asked(id="Q2"))
        made.escalate_to_human(None, asked(id="Q2"))
        with pytest.raises(ConfigError, match="already"):
            made.submit_answer(of(asked(id="Q2")))


class Slow:
    """An agent that answers never, and says when it has begun and that it was ended."""

    def __init__(self):
        self.begun, self.stopped = threading.Event(), threading.Event()

    async def run(self, job):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()


@pytest.mark.req("X6")
@pytest.mark.parametrize(
    ("confidence", "escalations"), [(95, ["stdout"]), (60, ["stdout"]), (60, [])], ids=str
)
def test_with_an_answer_from_elsewhere_the_agent_is_at_its_end(tmp_path, confidence, escalations):
    """It is not paid for an answer that nobody waits for, and its status has the one that there is."""
    duc, question = Slow(), asked()
    with service(tmp_path / "p", {"escalations": escalations}, duc=duc) as made:
        handle = made.route_question(question)
        assert duc.begun.wait(120)
        assert made.get_agent_status(handle).state == "running"
        outcome = made.submit_answer(of(question, confidence=confidence))
        assert duc.stopped.is_set()
        status = made.get_agent_status(handle)
        assert (status.state, status.answer) == ("succeeded", outcome.answer)
        assert status.started <= status.finished
        assert kinds(made)[-1] == "exchange.finished"


@pytest.mark.req("X6")
@pytest.mark.parametrize("confidence", [None, 40])
def test_put_to_a_human_the_agent_is_at_its_end(tmp_path, confidence):
    """Its status has the tentative answer, or else says who is waited for."""
    duc, question = Slow(), asked()
    with service(tmp_path / "p", duc=duc) as made:
        handle = made.route_question(question)
        assert duc.begun.wait(120)
        request = made.escalate_to_human(
            None if confidence is None else of(question, confidence=confidence), question
        )
        assert duc.stopped.is_set()
        status = made.get_agent_status(handle)
        assert status.state == ("waiting_for_human" if confidence is None else "succeeded")
        assert status.answer == request.answer
        assert status.finished is not None


def test_an_agent_that_has_answered_keeps_its_status(tmp_path):
    """Whatever is submitted in place of its answer."""
    question = asked()
    with service(tmp_path / "p", duc=Says(said("Redis.", 50))) as made:
        handle = made.route_question(question)
        before = ended(made, handle)
        made.submit_answer(of(question))
        assert made.get_agent_status(handle) == before


@pytest.mark.req("G1")
def test_nobody_but_a_human_validates(tmp_path):
    """What a program says of validation is dropped; a program's answer can be put to a human, but not asked of it again."""
    question = asked()
    with service(tmp_path / "p", duc=Says(said("Redis.", 99))) as made:
        made.route_question(question)
        outcome = made.submit_answer(of(question, validated_by="human", confidence=60))
        assert outcome.answer.validated_by is None
        assert outcome.escalation.agent == "duc"
        assert made.reply("E1", HumanResponse(action="add_context", content="Small.")).answer.agent == "duc"


@pytest.mark.req("G1", "G5")
def test_what_is_put_to_a_human_is_on_the_record_without_its_secrets(tmp_path):
    """The tentative answer of a program is received as any other; secrets are in neither the record, nor the case, nor the log."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 99))) as made:
        request = made.escalate_to_human(
            of(asked(), f"My key {SECRET}", rationale=SECRET, confidence=40, notes=(SECRET,)), asked()
        )
        made.ask(asked(id="Q2", topic=SECRET, suggested_target="duc"))
        made.reply(request.id, HumanResponse(action="confirm", by=SECRET))
        received = [data for kind, data in record(made) if kind == "answer.received"]
        assert [data["agent"] for data in received] == ["", "duc", ""]
        assert "AAAABBBB" not in f"{record(made)}{made.cases.get(request.id)}"
        for name in ("feature", "id"):
            with pytest.raises(ConfigError, match=f"the {name} looks like a secret"):
                made.ask(asked(**{"feature_id" if name == "feature" else "id": SECRET}))
        with pytest.raises(ConfigError) as caught:
            made.ask(asked(suggested_target=SECRET))
        assert "AAAABBBB" not in str(caught.value)


@pytest.mark.req("SC-008")
def test_questions_of_other_features_are_others(tmp_path):
    """The same id in two features: each is under way by itself, waits by itself, and an answer for either is refused."""
    duc = Says(lambda job: said(f"On {job.question.text}", 50))
    one, two = asked(feature_id="F-1", text="One?"), asked(feature_id="F-2", text="Two?")
    with service(tmp_path / "p", duc=duc) as made:
        handles = [made.route_question(question) for question in (one, two)]
        assert [ended(made, handle).answer.content for handle in handles] == ["On One?", "On Two?"]
        with pytest.raises(ConfigError, match="under way for several features: F-1, F-2"):
            made.submit_answer(of(one))
        requests = [made.escalate_to_human(None, question) for question in (one, two)]
        assert [request.question.text for request in requests] == ["One?", "Two?"]
        assert made.escalate_to_human(None, two).id == requests[1].id
        with pytest.raises(
            ConfigError, match=r"`Q1` waits for a human as E1, and is another question: One\?"
        ):
            made.escalate_to_human(None, asked(feature_id="F-1", text="Other?"))


@pytest.mark.req("Q7")
def test_when_an_agent_ended_and_how(tmp_path):
    """A status has the end of the work; a failure that only speaks of a time-out is none."""
    duc = Says(RequestError("unavailable", "down: timeout: of the other end"))
    with service(tmp_path / "p", duc=duc) as made:
        status = ended(made, made.route_question(asked()))
        assert status.state == "failed"
        assert status.started <= status.finished


@pytest.mark.req("Q9")
def test_a_second_opinion_that_did_not_come_is_no_agreement(tmp_path):
    """The answer that there is goes to a human, however sure it is, and it is said that nothing was compared."""
    duc, veuve = Says(RequestError("limited", "too many")), Says(said("Use Redis.", 95))
    with service(tmp_path / "p", duc=duc, veuve=veuve) as made:
        result = made.ask(asked(suggested_target="duc", also=("veuve",)))
    assert (result.status, result.answer.agent) == ("escalated", "veuve")
    assert result.escalation.reason == "no answer of duc to compare it with"
    assert "no answer of duc to compare with" in result.notes


@pytest.mark.req("Q6", "Q9")
@pytest.mark.parametrize("names", [("duc", "veuve"), ("veuve", "duc")])
def test_of_several_targets_the_highest_threshold_counts(tmp_path, names):
    """In whatever order they are named, and whoever is surest."""
    config = {"agents": {"duc": {"threshold": 70}, "veuve": {"threshold": 94}}}
    with service(
        tmp_path / "p", config, duc=Says(said("Redis.", 93)), veuve=Says(said("Redis.", 60))
    ) as made:
        result = made.ask(asked(topic="", suggested_target=names[0], also=names[1:]))
    assert (result.status, result.threshold) == ("accepted", 94)
    assert result.answer.confidence == 94


@pytest.mark.req("H3")
def test_a_case_that_was_asked_anew_is_not_answered(tmp_path):
    """Its result says what became of it; nobody has decided it."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 50))) as made:
        result = made.ask(asked())
        assert made.cases.supersede(made.cases.get("E1"), result.exchange_id)
        result = made.result_of("E1")
        assert (result.status, result.answer.validated_by) == ("failed", None)
        assert "E1 is superseded: it was asked anew" in result.notes


@pytest.mark.req("H3", "H4")
def test_a_letter_that_is_another_choice_is_refused(tmp_path):
    """Nobody guesses whether the letter or the text is meant; where both mean the same it is clear."""
    with service(tmp_path / "p", duc=Says(said("B", 50))) as made:
        made.ask(asked(choices=("B", "A", "C")))
        for letter in "aB":
            with pytest.raises(ConfigError, match="is the letter of one choice and the text of another"):
                made.reply("E1", HumanResponse(action="choose", content=letter))
        assert made.reply("E1", HumanResponse(action="choose", content="c")).answer.content == "C"


@pytest.mark.req("Q10")
def test_a_long_rationale_is_shortened_as_well(tmp_path):
    """The next reader gets its beginning, marked; the record has all of it."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 95, rationale="x" * 200_000))) as made:
        result = made.ask(asked())
        assert len(result.answer.rationale) == 16_000
        assert "[Shortened: 200,000 characters" in result.answer.rationale
        assert [len(data["rationale"]) for kind, data in record(made) if kind == "answer.received"] == [
            200_000
        ]


@pytest.mark.req("G5")
def test_a_secret_that_was_taken_out_is_noted(tmp_path):
    """The asker is told, and the agent has not seen it."""
    duc = Says(said("Redis.", 95))
    with service(tmp_path / "p", duc=duc) as made:
        result = made.ask(asked(context=f"The key is {SECRET}."))
        assert "what looks like a secret was taken out of the question" in result.notes
        assert "AAAABBBB" not in duc.prompts[0]
        assert made.ask(asked(id="Q2")).notes == ()


@pytest.mark.req("G4")
def test_who_had_a_part_is_named_once(tmp_path):
    """A person by the name; whose reply was refused had no part."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 50))) as made:
        made.ask(asked())
        with pytest.raises(ConfigError, match="there is no E1@7"):
            made.reply("E1", HumanResponse(action="confirm", by="eve", revision=7))
        made.reply("E1", HumanResponse(action="correct", content="SQLite.", by="ada"))
        made.ask(asked(id="Q2"))
        made.reply("E2", HumanResponse(action="correct", content="SQLite."))
        found = [one.agents for one in exchanges(made.pipeline.journal, LogFilter())]
    assert found == [["duc", "ada"], ["duc", "human"]]
