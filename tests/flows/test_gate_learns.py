"""The gate learns from what humans said of earlier answers: spot checks, the fitted map, certificates."""

import random

import pytest
from support.asked import Says, of_kind, said, service

from kr_core import HumanResponse, Question
from kr_core.review.spot_check_review import SpotChecks
from kr_core.verdicts import Subject

CALIBRATED = {"calibration": "calibrated"}


def ask(made, number=0, topic="storage"):
    return made.ask(Question(text=f"Which store for part {number}?", topic=topic))


def decide(made, result, *, right):
    action = HumanResponse(action="confirm" if right else "correct", content="" if right else "No.", by="ada")
    return made.reply(result.escalation.id, action)


def judge_all(made, *, right=True):
    checks = SpotChecks(made.pipeline)
    for one in checks.waiting():
        checks.judge(one.id, "right" if right else "wrong", "ada")


def overconfident(made, count):
    """An agent that states 95 and is right as often as not: humans decide all of it."""
    for number in range(count):
        decide(made, ask(made, number, topic="cloud"), right=number % 2 == 0)


ALL_OF_CLOUD = {"routing": {"rules": [
    {"topic": "cloud", "agent": "duc", "always_escalate": True}, {"topic": "*", "agent": "duc"},
]}}  # fmt: skip


@pytest.mark.req("Q14")
def test_below_twenty_verdicts_the_stated_confidence_decides(tmp_path):
    """The answer says how many verdicts there are, and how many are needed."""
    with service(tmp_path, {**ALL_OF_CLOUD, **CALIBRATED}, duc=Says(said(confidence=95))) as made:
        overconfident(made, 12)
        answer = ask(made).to_dict()["answer"]
    assert (answer["confidence"], answer["raw_confidence"]) == (95, 95)
    assert answer["calibration"] == {"stage": "raw", "calibrated": None, "verdicts": 12, "needed": 20}


@pytest.mark.req("Q14", "V5")
def test_in_the_shadow_the_corrected_confidence_is_shown_and_not_used(tmp_path):
    """That is what happens unless the configuration says otherwise; both figures are in the record."""
    with service(tmp_path, ALL_OF_CLOUD, duc=Says(said(confidence=95))) as made:
        overconfident(made, 40)
        result = ask(made)
        (received, *_) = reversed(of_kind(made, "answer.received"))
    found = result.answer.calibration
    assert (result.status, result.answer.confidence, found.stage) == ("accepted", 95, "shadow")
    assert found.calibrated < 80
    assert (received["raw_confidence"], received["calibration"]["calibrated"]) == (95, found.calibrated)


@pytest.mark.req("Q14")
def test_where_it_is_switched_on_the_corrected_confidence_decides(tmp_path):
    """An agent that states 95 and is right half the time no longer passes a threshold of 80."""
    with service(tmp_path, {**ALL_OF_CLOUD, **CALIBRATED}, duc=Says(said(confidence=95))) as made:
        overconfident(made, 40)
        result = ask(made)
        gated = of_kind(made, "answer.gated")[-1]
    assert (result.status, result.answer.calibration.stage) == ("escalated", "calibrated")
    assert result.answer.confidence == result.answer.calibration.calibrated < 80
    assert (gated["confidence"], gated["raw_confidence"]) == (result.answer.confidence, 95)


@pytest.mark.req("Q14", "Q6")
def test_no_map_loosens_the_threshold_of_a_topic(tmp_path):
    """An agent that is better than it says passes a usual threshold sooner, and that of a rule not."""
    rules = [
        {"topic": "cloud", "agent": "duc", "always_escalate": True},
        {"topic": "compliance", "agent": "duc", "threshold": 80},
        {"topic": "*", "agent": "duc"},
    ]
    config = {"routing": {"rules": rules}, **CALIBRATED}
    with service(tmp_path, config, duc=Says(said(confidence=60))) as made:
        for number in range(60):
            decide(made, ask(made, number, topic="cloud"), right=True)
        assert ask(made).status == "accepted"
        strict = ask(made, topic="compliance")
    assert strict.status == "escalated"
    assert strict.answer.calibration.calibrated >= 80


@pytest.mark.req("Q14")
def test_another_model_begins_with_what_is_known_of_the_one_before_at_a_discount(tmp_path):
    """Verdicts on another model count half, so that 30 of them do not reach the minimum of 20."""
    with service(tmp_path, ALL_OF_CLOUD, duc=Says(said(confidence=95))) as made:
        overconfident(made, 30)
        learned = made.pipeline.components.verdicts.read()
        (known,) = learned.subjects()
    assert learned.calibrator(known).verdicts == 30
    assert learned.calibrator(known._replace(model="opus-9")).verdicts == 15
    assert learned.calibrator(known._replace(model="opus-9", prompt="other")).verdicts == 7
    assert learned.calibrator(Subject("research", "research", "", "")).verdicts == 0


@pytest.mark.req("Q14", "V5")
@pytest.mark.parametrize("signal", ["constant", "uninformative", "reversed", "confirmed", "corrected", "one"])
def test_strange_verdicts_leave_a_gate_that_works(tmp_path, signal):
    """A confidence that says nothing, or the reverse, is not used as if it said something; all-right and all-wrong are learned."""
    chance = random.Random(7)
    stated = [90] * 60 if signal == "constant" else [chance.choice([60, 70, 80, 90, 99]) for _ in range(120)]
    right = {
        "constant": [number % 2 == 0 for number in range(60)],
        "uninformative": [chance.random() < 0.5 for _ in stated],
        "reversed": [one < 80 for one in stated],
        "confirmed": [True] * 120,
        "corrected": [False] * 120,
        "one": [True],
    }[signal]
    replies = [said(confidence=one) for one in stated]
    with service(tmp_path, {**ALL_OF_CLOUD, **CALIBRATED}, duc=Says(*replies, said(confidence=99))) as made:
        for number, (fact, _one) in enumerate(zip(right, stated, strict=False)):
            decide(made, ask(made, number, topic="cloud"), right=fact)
        result = ask(made)
    stage, calibrated = result.answer.calibration.stage, result.answer.calibration.calibrated
    if signal == "one":
        assert (stage, calibrated, result.status) == (
            "raw",
            None,
            "accepted" if result.answer.confidence >= 80 else "escalated",
        )
    elif signal == "confirmed":
        assert result.status == "accepted"
    else:
        assert stage == "calibrated"
        assert (calibrated < 80, result.status) == (True, "escalated")


@pytest.mark.req("V5")
def test_entries_of_an_older_version_count_as_far_as_they_say_something(tmp_path):
    """Half of the record has no model, prompt or stated confidence: its verdicts count half, and nothing fails."""
    from kr_core import Event

    with service(tmp_path, ALL_OF_CLOUD, duc=Says(said(confidence=95))) as made:
        journal = made.pipeline.journal
        for number in range(30):
            about = {"exchange_id": f"old{number}", "feature_id": "general", "question_id": f"q{number}"}
            run = f"old{number}"
            journal.append([
                Event("question.asked", run, {**about, "topic": "cloud", "text": "Which?"}),
                Event("answer.received", run, {**about, "agent": "duc", "content": "A.", "confidence": 95}),
                Event("answer.gated", run, {**about, "accepted": False, "confidence": 95, "threshold": 99}),
                Event("human.replied", run, {**about, "action": "confirm", "content": "", "applied": True}),
            ]).result()  # fmt: skip
        overconfident(made, 30)
        learned = made.pipeline.components.verdicts.read()
    assert len(learned.judged) == 60
    assert learned.calibrator(learned.subjects()[0]).verdicts == 45


# -- spot checks -----------------------------------------------------------------------------------------------


@pytest.mark.req("Q14")
def test_each_of_the_first_twenty_accepted_answers_is_drawn_then_fewer(tmp_path):
    """The probability is on the record; the asker waits for none of it, and the inbox has no case."""
    with service(tmp_path, duc=Says(said(confidence=95))) as made:
        assert {ask(made, number).status for number in range(24)} == {"accepted"}
        gated = of_kind(made, "answer.gated")
        waiting = SpotChecks(made.pipeline).waiting()
        assert list(made.cases.each(waiting=False)) == []
    assert [one["audit_probability"] for one in gated] == [1.0] * 20 + [0.3] * 4
    assert all(one["audited"] for one in gated[:20])
    assert len(waiting) == sum(one["audited"] for one in gated)
    assert [one.id for one in waiting][:3] == ["S1", "S2", "S3"]


@pytest.mark.req("Q14")
def test_a_spot_check_is_judged_once_and_the_gate_learns_from_it(tmp_path):
    """`answer.checked` has the verdict, the probability and who gave it; a second verdict is refused."""
    with service(tmp_path, duc=Says(said("Use Redis.", 95))) as made:
        ask(made)
        checks = SpotChecks(made.pipeline)
        card = checks.card("s1")
        assert (card.question, card.claim, card.passage) == (
            "Which store for part 0?",
            "Use Redis.",
            "It expires keys by itself.",
        )
        assert card.verdict == "accepted: confidence 95 is at least 80"
        checks.judge("S1", "wrong", "ada", "There is no Redis here.")
        with pytest.raises(Exception, match="no spot check S1 waits"):
            checks.judge("S1", "right", "bob")
        (event,) = of_kind(made, "answer.checked")
        (judged,) = made.pipeline.components.verdicts.read().judged
        ask(made, 1)
        assert of_kind(made, "answer.gated")[-1]["audit_probability"] == 1.0
    assert {key: event[key] for key in ("check", "verdict", "by", "because", "agent", "audit_probability")} == {
        "check": "S1", "verdict": "wrong", "by": "ada", "because": "There is no Redis here.", "agent": "duc", "audit_probability": 1.0,
    }  # fmt: skip
    assert (judged.right, judged.confidence, judged.topic) == (False, 95, "storage")


@pytest.mark.req("Q14")
def test_two_people_who_judge_at_the_same_time(tmp_path):
    """The first verdict counts; the second person hears whose it was."""
    with service(tmp_path, duc=Says(said(confidence=95))) as made:
        ask(made)
        first, second = SpotChecks(made.pipeline), SpotChecks(made.pipeline)
        check = second._open("S1")
        first.judge("S1", "right", "ada")
        second._open = lambda _name: check
        with pytest.raises(Exception, match="S1 was judged meanwhile by ada: right"):
            second.judge("S1", "wrong", "bob")
        assert len(of_kind(made, "answer.checked")) == 1


@pytest.mark.req("Q14")
def test_one_who_cannot_tell_gives_no_verdict(tmp_path):
    """The card is gone, and the gate learns nothing."""
    with service(tmp_path, duc=Says(said(confidence=95))) as made:
        ask(made)
        SpotChecks(made.pipeline).judge("S1", "unsure", "ada")
        learned = made.pipeline.components.verdicts.read()
    assert (learned.judged, learned.open) == ([], {})


@pytest.mark.req("Q14")
def test_without_audit_nothing_is_drawn(tmp_path):
    """`audit: false` switches it off."""
    with service(tmp_path, {"audit": False}, duc=Says(said(confidence=95))) as made:
        ask(made)
        (gated,) = of_kind(made, "answer.gated")
        assert SpotChecks(made.pipeline).waiting() == []
    assert (gated["audit_probability"], gated["audited"]) == (None, False)


@pytest.mark.req("Q14")
def test_spot_checks_at_the_shell(tmp_path, kr_here):
    """The inbox names them; the card has claim and passage beside each other; `r`, `w` and `c` are the verdicts."""
    with service(tmp_path / "p", duc=Says(said("Use Redis.", 95))) as made:
        for number in range(3):
            ask(made, number)
    at = tmp_path / "p"
    assert "3 accepted answers wait for a spot check" in kr_here("inbox", cwd=at).out
    assert kr_here("inbox", "list", "--json", cwd=at).json == []
    shown = kr_here("inbox", "check", "S1", cwd=at).out
    claim = next(line for line in shown.splitlines() if "Use Redis." in line)
    assert "It expires keys by itself." in claim
    assert "KR: accepted: confidence 95 is at least 80" in shown
    for name, key in (("S1", "r"), ("S2", "w"), ("S3", "c")):
        assert kr_here("inbox", "check", name, key, "--by", "ada", cwd=at).code == 0
    assert kr_here("inbox", "check", cwd=at).out.strip() == "no accepted answer waits for a spot check"
    again = kr_here("inbox", "check", "S1", "r", cwd=at)
    assert (again.code, "no spot check S1 waits" in again.err) == (2, True)
    told = kr_here("doctor", cwd=at).out
    assert "not enough verdicts (2 of 20)" in told


# -- certificates ----------------------------------------------------------------------------------------------


@pytest.mark.req("Q14", "V5")
def test_an_accepted_answer_says_how_much_is_proven(tmp_path, kr_here):
    """Not enough verdicts at first; after 40 right ones at least 90 %, with the count."""
    with service(tmp_path / "p", duc=Says(said(confidence=95))) as made:
        assert ask(made).certificate == "not enough verdicts (0 of 38)"
        number = 0
        while len(made.pipeline.components.verdicts.read().judged) < 40:
            ask(made, number := number + 1)
            judge_all(made)
        result = ask(made)
    assert result.certificate.startswith(
        "in this project's topic storage at least 90 % right, with 90 % confidence, n = 40"
    )
    assert result.to_dict()["certificate"] == result.certificate
    assert result.certificate in kr_here("retro", "general", cwd=tmp_path / "p").out


@pytest.mark.req("Q14", "Q6")
def test_a_rule_that_asks_for_a_certificate_escalates_until_it_holds(tmp_path):
    """Humans' verdicts on what it holds back prove it; another topic's prove nothing, and a wrong answer takes it back."""
    rules = [{"topic": "compliance", "agent": "duc", "certified": 90}, {"topic": "*", "agent": "duc"}]
    with service(tmp_path, {"routing": {"rules": rules}}, duc=Says(said(confidence=95))) as made:
        first = ask(made, topic="compliance")
        assert (first.status, first.answer.confidence) == ("escalated", 95)
        assert "90 % certified: not enough verdicts (0 of 38)" in first.escalation.reason
        assert ask(made).status == "accepted"
        decide(made, first, right=True)
        for number in range(37):
            decide(made, ask(made, number, topic="compliance"), right=True)
        result = ask(made, topic="compliance")
        assert (result.status, "at least 90 % right" in result.certificate) == ("accepted", True)
        checks = SpotChecks(made.pipeline)
        while not (drawn := [one for one in checks.waiting() if one.topic == "compliance"]):
            ask(made, topic="compliance")
        checks.judge(drawn[0].id, "wrong", "ada")
        assert ask(made, topic="compliance").status == "escalated"


@pytest.mark.req("Q14")
@pytest.mark.parametrize("value", [0, 100, "high", True])
def test_a_certificate_for_a_percentage_that_nothing_proves_is_refused(tmp_path, value):
    """Configuration says where, and what is possible."""
    rules = {"routing": {"rules": [{"topic": "compliance", "certified": value}]}}
    with pytest.raises(Exception, match="certified"), service(tmp_path, rules):
        pass


@pytest.mark.req("G1")
def test_what_is_kept_of_verdicts_and_is_not_on_record_is_found(tmp_path, kr_here):
    """`kr log --verify` compares it with the entries, which a hash ties together."""
    from kr_core.plugin import Document

    at = tmp_path / "p"
    with service(at, ALL_OF_CLOUD, duc=Says(said(confidence=95))) as made:
        overconfident(made, 50)
        journal = made.pipeline.journal
        made.pipeline.components.verdicts.read()
        kept = journal.document("verdicts", "learned")
    assert kept is not None
    assert kr_here("log", "--verify", cwd=at).code == 0
    with service(at, ALL_OF_CLOUD) as made:
        judged = [[*one[:6], True, *one[7:]] for one in kept.data["judged"]]
        data = {**kept.data, "judged": judged}
        assert made.pipeline.journal.change(Document("verdicts", "learned", "kept", kept.version + 1, data))
    shown = kr_here("log", "--verify", cwd=at)
    assert (shown.code, "verdicts: KR's copy of the verdicts" in shown.out) == (1, True)
