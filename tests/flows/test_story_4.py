"""User story 4, all questions and answers are logged: each of its scenarios."""

import pytest
from support.asked import Says, said, service

from kr_core import HumanResponse, Question

pytestmark = pytest.mark.req("G1", "G2", "G3", "SC-004")
FEATURE = "F-1"


def ask(made, text, topic):
    return made.ask(Question(text=text, topic=topic, feature_id=FEATURE))


def test_us4_1_the_log_of_a_completed_feature_has_everything(tmp_path):
    """Given a completed feature workflow, when the Q&A log is retrieved, it contains all questions asked, answers received,
    confidence scores, and routing decisions.
    """
    duc, veuve = Says(said("Redis.", 92), said("SQLite.", 88)), Says(said("Yes.", 97))
    with service(tmp_path / "p", duc=duc, veuve=veuve) as made:
        for text, topic in (
            ("Which store?", "storage"),
            ("Which database?", "database"),
            ("Is export in scope?", "scope"),
        ):
            assert ask(made, text, topic).status == "accepted"
        made.ask(Question(text="Another feature's?", topic="scope", feature_id="F-2"))
        entries = made.get_qa_log(FEATURE)
    assert {entry.feature_id for entry in entries} == {FEATURE}
    assert [entry.number for entry in entries] == sorted(entry.number for entry in entries)
    assert all(entry.time.tzinfo is not None for entry in entries)
    of = {
        kind: [entry.data for entry in entries if entry.kind == kind]
        for kind in {entry.kind for entry in entries}
    }
    assert [data["text"] for data in of["question.asked"]] == [
        "Which store?",
        "Which database?",
        "Is export in scope?",
    ]
    assert [(data["topic"], data["agent"]) for data in of["question.routed"]] == [
        ("storage", "duc"),
        ("database", "duc"),
        ("scope", "veuve"),
    ]
    assert all(data["reason"].startswith("topic rule") for data in of["question.routed"])
    assert [(data["content"], data["confidence"]) for data in of["answer.received"]] == [
        ("Redis.", 92),
        ("SQLite.", 88),
        ("Yes.", 97),
    ]
    assert [(data["accepted"], data["threshold"]) for data in of["answer.gated"]] == [(True, 80)] * 3
    assert [data["status"] for data in of["exchange.finished"]] == ["accepted"] * 3


def test_us4_2_the_log_of_an_escalation_has_the_answer_the_action_and_the_context(tmp_path):
    """Given a human escalation occurred, when the log is reviewed, it includes the original agent answer, human action taken, and
    any additional context provided.
    """
    duc = Says(said("Redis.", 65), said("Redis with replicas.", 70))
    with service(tmp_path / "p", duc=duc) as made:
        escalation = ask(made, "Which store?", "storage").escalation
        made.reply(
            escalation.id, HumanResponse(action="add_context", content="We have 40 servers.", by="ada")
        )
        made.reply(escalation.id, HumanResponse(action="correct", content="Use Postgres.", by="ada"))
        entries = [(entry.kind, entry.data) for entry in made.get_qa_log(FEATURE)]
    received = [data["content"] for kind, data in entries if kind == "answer.received"]
    assert received == ["Redis.", "Redis with replicas.", "Use Postgres."]
    replied = [data for kind, data in entries if kind == "human.replied"]
    assert [(data["action"], data["content"], data["by"], data["applied"]) for data in replied] == [
        ("add_context", "We have 40 servers.", "ada", True),
        ("correct", "Use Postgres.", "ada", True),
    ]


def test_us4_3_an_exchange_that_follows_another_is_linked_to_it(tmp_path):
    """Given a question was re-routed after additional context, when the log is reviewed, both the original and follow-up
    exchanges are linked.
    """
    duc = Says(said("Redis.", 65), said("Redis with replicas.", 95))
    with service(tmp_path / "p", duc=duc) as made:
        first = ask(made, "Which store?", "storage")
        second = made.reply(
            first.escalation.id, HumanResponse(action="add_context", content="We have 40 servers.")
        )
        entries = made.get_qa_log(FEATURE)
    assert second.status == "accepted"
    assert second.exchange_id != first.exchange_id
    assert {entry.parent_id for entry in entries if entry.exchange_id == first.exchange_id} == {None}
    assert {entry.parent_id for entry in entries if entry.exchange_id == second.exchange_id} == {
        first.exchange_id
    }
    assert {entry.question_id for entry in entries} == {first.question_id}
