"""The questions of a feature asked again under another configuration, and two features beside each other."""

import json
import sys

import pytest
from support.asked import Says, said, service

from kr_core import HumanResponse, Question
from kr_core.ask.dry_run import asked_again
from kr_core.config import load
from kr_core.retro.improvement import Pair, improvement, pairs
from kr_core.retro.logged_questions import read_questions

pytestmark = pytest.mark.req("V5", "SC-006")
FEATURE = "F-1"


def answered(folder, count, confidence, feature=FEATURE):
    """A feature whose questions duc answered; people confirmed the even ones and corrected the others."""
    with service(folder, duc=Says(said("Redis.", confidence))) as made:
        for number in range(count):
            asked = made.ask(Question(text=f"Cache {number}?", topic="caching", feature_id=feature))
            if asked.escalation is not None:
                action = "correct" if number % 2 else "confirm"
                content = "Postgres." if number % 2 else ""
                made.reply(asked.escalation.id, HumanResponse(action=action, content=content, by="ada"))


def replayed(folder, other, duc):
    with service(folder) as made:
        questions = read_questions(made.pipeline.journal, FEATURE)
        before = made.pipeline.journal.entries(feature=FEATURE, limit=5000)
        after, notes = asked_again(other, FEATURE, questions, agents={"duc": duc})
        assert made.pipeline.journal.entries(feature=FEATURE, limit=5000) == before
    return questions, after, notes


def test_a_replay_writes_nothing_and_tells_right_from_wrong(tmp_path):
    """What people decided judges the new answers: the same is right, what they overturned is wrong."""
    folder = tmp_path / "p"
    answered(folder, 12, 60)
    other = load(folder, environ={"KR_CACHE_DIR": str(tmp_path / "cache")})
    right = Says(
        lambda job: said(
            "Postgres." if int(job.prompt.split("Cache ")[1].split("?")[0]) % 2 else "Redis.", 90
        )
    )
    questions, after, notes = replayed(folder, other, right)
    found = improvement(pairs(questions, after))
    assert notes == []
    assert (found.n, found.confidence_before, found.confidence_after, found.gain) == (12, 60, 90, 0.5)
    assert (found.accuracy_before, found.accuracy_after, found.met) == (0.5, 1.0, True)
    questions, after, _notes = replayed(folder, other, Says(said("Redis.", 90)))
    boast = improvement(pairs(questions, after))
    assert (boast.gain, boast.accuracy_after, boast.met) == (0.5, 0.5, False)


def test_more_confidence_alone_does_not_meet_the_goal():
    """It needs as many right answers, a calibration that is no worse, and enough verdicts."""

    def of(count, after, right):
        return improvement([Pair(f"q{one}", 70, after, one % 4 > 0, right(one)) for one in range(count)])

    assert of(40, 80, lambda one: one % 4 > 0).met is True
    assert of(40, 72, lambda one: one % 4 > 0).met is False
    assert of(40, 99, lambda one: one % 4 > 0).met is False
    assert of(40, 80, lambda one: one % 4 > 1).met is False
    assert of(9, 80, lambda one: one % 4 > 0).met is None
    assert of(0, 80, bool).gain is None
    found = of(40, 80, lambda one: one % 4 > 0)
    assert found.low <= found.gain <= found.high


def test_questions_whose_answers_were_written_down_are_shown_apart():
    """They would count as an improvement that nothing but the answer itself has brought."""
    from kr_core.retro.logged_questions import AnswerRound, AskedQuestion

    def question(name):
        given = AnswerRound("x", "duc", "", "caching", "Redis.", 60, False, 80, f"e-{name}", True)
        return AskedQuestion(name, text=name, rounds=[given])

    both = [question("one"), question("two")]
    assert [one.written for one in pairs(both, both, {"e-two"})] == [False, True]


def test_questions_that_build_on_others_are_asked_with_the_new_answers(tmp_path):
    """In order; what would go to a human again is taken as that human decided it, and the old answers are told no more."""
    folder = tmp_path / "p"

    def first(job):
        return said("Old Redis." if "Which cache" in job.prompt else "Old queue.", 60)

    with service(folder, duc=Says(first)) as made:
        asks = [
            Question(id="c", text="Which client?", topic="caching", feature_id=FEATURE, context="For Python.", depends_on=("a", "b")),
            Question(id="a", text="Which cache?", topic="caching", feature_id=FEATURE),
            Question(id="b", text="Which queue?", topic="caching", feature_id=FEATURE),
        ]  # fmt: skip
        for one, action, content in ((asks[1], "confirm", ""), (asks[2], "correct", "The queue of ada.")):
            result = made.ask(one)
            made.reply(result.escalation.id, HumanResponse(action=action, content=content, by="ada"))
        made.ask(asks[0])
    other = load(folder, environ={"KR_CACHE_DIR": str(tmp_path / "cache")})
    duc = Says(lambda job: said("New Redis.", 95) if "Which cache" in job.prompt else said("New.", 50))
    _questions, after, notes = replayed(folder, other, duc)
    assert ([one.question_id for one in after], notes) == (["a", "b", "c"], [])
    prompt = duc.prompts[-1]
    assert "Which client?" in prompt
    assert [prompt.count(one) for one in ("For Python.", "New Redis.", "The queue of ada.")] == [1, 1, 1]
    assert not any(one in prompt for one in ("Old Redis.", "Old queue."))


def test_a_question_whose_ground_is_gone_is_not_asked_again(tmp_path):
    """What it builds on has no answer, neither then nor now: a note names it."""
    from kr_core.retro.logged_questions import AskedQuestion

    folder = tmp_path / "p"
    answered(folder, 1, 60)
    other = load(folder, environ={"KR_CACHE_DIR": str(tmp_path / "cache")})
    lost = AskedQuestion("late", text="Which?", data={"text": "Which?", "depends_on": ["early"]})
    circle = [AskedQuestion(one, data={"text": one, "depends_on": [two]}) for one, two in ("xy", "yx")]
    after, notes = asked_again(other, FEATURE, [lost, *circle], agents={"duc": Says()})
    assert after == []
    assert notes[0] == "not asked: late builds on `early`, which has no answer"
    assert len(notes) == 3


def test_the_command(tmp_path, kr_here):
    """`kr retro replay FEATURE --against FILE` asks at most so many, says what came of it, and leaves the record as it is."""
    folder = tmp_path / "p"
    answered(folder, 12, 60)
    script = folder / "agent.py"
    script.write_text(
        "import json, sys\nsys.stdin.read()\nprint("
        + repr(json.dumps(json.loads(said("Redis.", 75).text)))
        + ")\n"
    )
    other = folder / "other.yaml"
    other.write_text(
        json.dumps(
            {
                "agents": {"duc": {"plugin": "mine"}},
                "plugins": {"mine": {"use": "command", "argv": [sys.executable, str(script)]}},
            }
        )
    )
    log = kr_here("log", FEATURE, "--json", cwd=folder).out
    shown = kr_here("retro", "replay", FEATURE, "--against", "other.yaml", "--max-calls", "4", cwd=folder)
    assert shown.code == 0, shown.err
    assert "Questions asked again (n = 4): mean confidence 60 before, 75 after: +25%" in shown.out
    assert "Not enough verdicts (4 of 10)." in shown.out
    assert "asked 4 of 12 questions" in shown.err
    assert kr_here("log", FEATURE, "--json", cwd=folder).out == log
    assert "E13" not in kr_here("inbox", "list", "--all", cwd=folder).out
    missing = kr_here("retro", "replay", "F-0", "--against", "other.yaml", cwd=folder)
    assert (missing.code, "no agent has answered" in missing.err) == (2, True)
    wrong = kr_here("retro", "replay", FEATURE, "--against", "none.yaml", cwd=folder)
    assert (wrong.code, "there is no such file" in wrong.err) == (2, True)


def test_another_configuration_that_is_not_trusted(tmp_path, kr_here):
    """No question can be asked: that is an error, which says once what is not trusted."""
    folder = tmp_path / "p"
    answered(folder, 12, 60)
    other = {
        "agents": {"duc": {"plugin": "command"}},
        "plugins": {"command": {"argv": ["python3", "{project-root}/a.py"]}},
    }
    (folder / "other.yaml").write_text(json.dumps(other))
    refused = kr_here("retro", "replay", FEATURE, "--against", "other.yaml", cwd=folder, env={"KR_TRUST": ""})
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.count("is not trusted") == 1


def test_two_features_beside_each_other(tmp_path, kr_here):
    """`--compare OTHER` shows both, and what the questions that both asked came to."""
    folder = tmp_path / "p"
    answered(folder, 12, 60)
    answered(folder, 12, 66, "F-2")
    shown = kr_here("retro", "F-2", "--compare", FEATURE, cwd=folder)
    assert shown.code == 0, shown.err
    assert "|  | F-1 | F-2 |" in shown.out
    assert "Questions that both asked (n = 12): mean confidence 60 before, 66 after: +10%" in shown.out
    values = kr_here("retro", "F-2", "--compare", FEATURE, "--json", cwd=folder).json
    assert set(values) == {"before", "after", "improvement"}
    assert values["improvement"]["judged"] == 12
