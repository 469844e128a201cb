"""The map from confidence to what it is worth, fitted on verdicts."""

import random

import pytest
from support.calibration import overconfident, steady

from kr_core.calibration import Calibrator, brier, fit


@pytest.mark.req("Q14")
def test_too_few_verdicts_change_nothing():
    """Up to the minimum the stage is raw, and each confidence is given back."""
    found = fit([90] * 19, [0] * 19)
    assert (found.stage, found.verdicts, found.apply(90), found.mapped(90)) == (
        "raw",
        19,
        90,
        pytest.approx(90),
    )


@pytest.mark.req("Q14")
def test_no_verdicts_at_all():
    """A fit on nothing is the identity, even without a minimum."""
    assert fit([], [], minimum=0).stage == "raw"


@pytest.mark.req("Q14")
def test_an_overconfident_agent_is_mapped_down():
    """What was right half of the time at 90 is worth about 50."""
    found = fit([90] * 60, [1, 0] * 30)
    assert found.stage == "calibrated"
    assert found.apply(90) == pytest.approx(50, abs=6)


@pytest.mark.req("Q14")
def test_a_steady_agent_keeps_its_own_confidence():
    """The map is shown and not used where it would not have predicted better."""
    used = 0
    for seed in range(20):
        found = fit(*steady(100, random.Random(seed)))
        used += found.stage == "calibrated"
        assert found.stage == "calibrated" or found.apply(80) == 80
    assert used <= 3


@pytest.mark.req("Q14")
def test_a_topic_with_few_verdicts_stays_near_the_others():
    """Three wrong answers in one topic move it, and do not condemn it."""
    found = fit([90] * 63, [1] * 60 + [0] * 3, topic=["api"] * 60 + ["law"] * 3)
    assert found.mapped(90, "api") > 90
    assert 60 < found.mapped(90, "law") < found.mapped(90, "api") - 5
    assert found.mapped(90, "law") < found.mapped(90, "never seen") < found.mapped(90, "api")


@pytest.mark.req("Q14")
def test_more_confidence_is_never_worth_less():
    """Also where the verdicts say so: neighbours are given their mean."""
    found = fit(
        [70] * 40 + [80] * 40 + [90] * 40 + [95] * 40, [1] * 30 + [0] * 10 + [0] * 40 + [1] * 40 + [0] * 40
    )
    mapped = [found.mapped(confidence) for confidence in range(101)]
    assert mapped == sorted(mapped)


@pytest.mark.req("Q14")
def test_a_signal_turned_round_counts_nothing():
    """An agent that is surest where it is wrong is given one confidence, whatever it says."""
    confidence, correct = overconfident(400, random.Random(1))
    found = fit([100 - one for one in confidence], correct)
    assert found.mapped(99) - found.mapped(1) < 25
    assert found.mapped(99) >= found.mapped(1)


@pytest.mark.req("Q14")
def test_a_verdict_that_stands_for_many_weighs_more():
    """Answers that were drawn seldom count for those that were not drawn, up to ten."""
    seldom = fit([90] * 40, [1] * 20 + [0] * 20, probability=[1.0] * 20 + [0.1] * 20)
    seldomer = fit([90] * 40, [1] * 20 + [0] * 20, probability=[1.0] * 20 + [0.0001] * 20)
    assert seldom.mapped(90) < fit([90] * 40, [1] * 20 + [0] * 20).mapped(90) - 10
    assert seldomer.mapped(90) == pytest.approx(seldom.mapped(90))


@pytest.mark.req("Q14")
@pytest.mark.parametrize("right", [0, 1])
def test_verdicts_of_one_kind(right):
    """All right or all wrong, at every confidence and at the ends of the scale, is fitted without an error."""
    found = fit([0, 100, 50, 100] * 500, [right] * 2000)
    assert 0 < found.mapped(0) <= found.mapped(100) < 100
    assert (found.mapped(100) > 95) == bool(right)


@pytest.mark.req("Q14")
def test_the_gain_is_that_of_leaving_each_verdict_out():
    """The quick formula agrees with fitting again without each verdict."""
    confidence, correct = overconfident(60, random.Random(3))
    topic = [("a", "b", "c")[number % 3] for number in range(60)]
    found = fit(confidence, correct, topic=topic)
    left_out = []
    for number in range(60):
        keep = [other for other in range(60) if other != number]
        without = fit(
            [confidence[k] for k in keep], [correct[k] for k in keep], topic=[topic[k] for k in keep]
        )
        left_out.append(without.mapped(confidence[number], topic[number]))
    assert found.gain == pytest.approx(brier(confidence, correct) - brier(left_out, correct), abs=0.012)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"confidence": [90], "correct": []}, "one of each"),
        ({"confidence": [101], "correct": [1]}, "within 0-100"),
        ({"confidence": [90], "correct": [2]}, "within 0-1"),
        ({"confidence": [90], "correct": [1], "topic": []}, "one of each"),
        ({"confidence": [90], "correct": [1], "probability": [0]}, "above 0"),
        ({"confidence": [float("nan")], "correct": [1]}, "within 0-100"),
    ],
)
def test_what_is_out_of_range_is_named(given, said):
    """The error says which value it is."""
    with pytest.raises(ValueError, match=said):
        fit(**given)


def test_a_confidence_out_of_range_is_not_mapped():
    """Whatever the stage."""
    for stage in ("raw", "calibrated"):
        with pytest.raises(ValueError, match="within 0-100"):
            Calibrator(stage, 0).apply(-1)
