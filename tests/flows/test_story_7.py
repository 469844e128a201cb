"""User story 7, a retrospective of a feature: each of its scenarios, with its figures."""

import pytest
from support.asked import Says, said, service

from kr_core import HumanResponse, Question

pytestmark = pytest.mark.req("V1", "V2", "V3", "SC-005")
FEATURE = "F-7"


def asked(made, text, topic):
    return made.ask(Question(text=text, topic=topic, feature_id=FEATURE))


def reply(made, result, action, content=""):
    return made.reply(result.escalation.id, HumanResponse(action=action, content=content, by="ada"))


def found(report, detector):
    return [one for one in report.recommendations if one.detector == detector]


def test_us7_1_the_direct_acceptance_rate_and_the_escalated_topics(tmp_path, kr_here):
    """Given a completed feature with 15 questions (11 high-confidence, 4 escalated), when the retro report is generated, it
    shows a 73 % direct acceptance rate and lists the 4 escalated topics.
    """
    topics = ("caching", "authentication", "scalability", "database")
    answers = [said("Yes.", 92)] * 11 + [said("Perhaps.", 60)] * 4
    with service(tmp_path / "p", duc=Says(*answers)) as made:
        for number in range(11):
            assert asked(made, f"Sure question {number}?", "storage").status == "accepted"
        for topic in topics:
            reply(made, asked(made, f"What about {topic}?", topic), "confirm")
        report = made.generate_retro(FEATURE)
        record = {entry.id for entry in made.get_qa_log(FEATURE)}
    assert (report.questions, report.accepted) == (15, 11)
    assert f"{report.acceptance_rate:.0%}" == "73%"
    assert report.escalated_topics == topics
    assert report.agents["duc"].n == 15
    assert report.human_actions == {"confirm": 4}
    assert report.human_seconds is not None
    assert {one for advice in report.recommendations for one in advice.evidence} <= record
    shown = kr_here("retro", FEATURE, cwd=tmp_path / "p")
    assert "11 of 15 questions (73%) needed no human." in shown.out
    assert all(topic in shown.out for topic in topics)


def test_us7_2_context_that_humans_keep_adding(tmp_path):
    """Given humans frequently added "customer segment" context, when the report is generated, it recommends adding customer
    segment to the feature intake template.
    """
    contexts = (
        "The customer segment is small businesses.",
        "Customer segment: enterprises with their own identity provider.",
        "It depends on the customer segments; here students.",
    )
    with service(tmp_path / "p", veuve=Says(*[said("Unsure.", 50), said("Now I know.", 90)] * 3)) as made:
        for number, context in enumerate(contexts):
            reply(made, asked(made, f"Which plan for export {number}?", "scope"), "add_context", context)
        report = made.generate_retro(FEATURE)
        replies = [entry.id for entry in made.get_qa_log(FEATURE) if entry.kind == "human.replied"]
    (advice,) = found(report, "repeated_context")
    assert '"customer segment" in the feature intake template' in advice.text
    assert list(advice.evidence) == replies
    assert report.human_actions == {"add_context": 3}


def test_us7_3_an_agent_that_is_unsure_of_a_topic(tmp_path):
    """Given @duc consistently low confidence on "caching" questions, when the report is generated, it recommends updating
    @duc's knowledge base with caching patterns.
    """
    answers = [said("Perhaps.", 55), said("Maybe.", 60), said("Hm.", 50), said("Sure.", 95)]
    with service(tmp_path / "p", duc=Says(*answers)) as made:
        for number in range(3):
            reply(made, asked(made, f"Cache {number}?", "caching"), "correct", f"Answer {number}.")
        asked(made, "Which database?", "database")
        report = made.generate_retro(FEATURE)
    (advice,) = found(report, "unsure_topic")
    assert advice.text.startswith("Extend duc's knowledge about caching: 3 of its 3 answers")
    assert "confidence of 55" in advice.text
    assert advice.id == "unsure-topic-duc-caching"
    assert len(advice.evidence) == 3
    assert report.agents["duc"].overturned == 3


def test_the_published_form(tmp_path, kr_here):
    """`kr retro FEATURE --json` has each documented key, and rates from 0 to 1."""
    with service(tmp_path / "p", duc=Says(said("Yes.", 92))) as made:
        asked(made, "Which store?", "storage")
    shown = kr_here("retro", FEATURE, "--json", cwd=tmp_path / "p")
    report = shown.json
    assert {key: report[key] for key in ("feature", "questions", "accepted", "acceptance_rate", "escalated_topics")} == {
        "feature": FEATURE, "questions": 1, "accepted": 1, "acceptance_rate": 1.0, "escalated_topics": [],
    }  # fmt: skip
    assert set(report["agents"]["duc"]) >= {"n", "mean_confidence", "calibrated", "overturned"}
    assert set(report["calibration"]) == {"n", "stage", "ece", "brier", "auroc"}
    assert report["recommendations"] == []


def test_a_feature_that_does_not_exist(tmp_path, kr_here):
    """It is an error that says where to look, not an empty report."""
    with service(tmp_path / "p", duc=Says()) as made:
        asked(made, "Which store?", "storage")
    shown = kr_here("retro", "F-0", cwd=tmp_path / "p")
    assert (shown.code, shown.out) == (2, "")
    assert "F-0: the log has no question of this feature" in shown.err
    assert "kr log" in shown.err


@pytest.mark.req("V5", "Q14")
def test_verdicts_are_counted_for_each_agent(tmp_path, kr_here):
    """Twelve on each of two agents are not 24 of 20: the confidence of each is corrected by its own."""
    with service(tmp_path / "p", duc=Says(said("Yes.", 60)), veuve=Says(said("Yes.", 60))) as made:
        for number in range(24):
            question = Question(
                text=f"Which {number}?",
                topic="x",
                feature_id=FEATURE,
                suggested_target=("duc", "veuve")[number % 2],
            )
            reply(made, made.ask(question), "confirm")
        assert made.generate_retro(FEATURE).calibration.most == 12
    shown = kr_here("retro", FEATURE, cwd=tmp_path / "p")
    assert "Not enough verdicts on any agent to correct its confidence by (12 of 20)." in shown.out
