"""What spot checks say about all accepted answers."""

import random

import pytest
from support.calibration import overconfident

from kr_core.calibration import (
    Accepted,
    audit_probability,
    certified_accuracy,
    estimate_accuracy,
    fit,
)


@pytest.mark.req("Q14")
def test_all_of_the_first_are_checked_then_fewer():
    """Twenty, then three in ten, then one in ten; twice as many where a check found a wrong one."""
    assert [audit_probability(number) for number in (0, 19, 20, 99, 100, 5000)] == [1, 1, 0.3, 0.3, 0.1, 0.1]
    assert [audit_probability(number, overturned=True) for number in (0, 20, 100)] == [1, 0.6, 0.2]


def _audited(seed):
    """Accepted answers of an overconfident agent, checked as often as they are; and whether each was right."""
    drawn = random.Random(seed)
    confidence, correct = overconfident(300, drawn)
    answers = [
        Accepted(one, right if drawn.random() < audit_probability(number) else None)
        for number, (one, right) in enumerate(zip(confidence, correct, strict=True))
    ]
    return answers, correct


@pytest.mark.req("Q14")
def test_the_estimate_covers_the_truth():
    """Its 90 % interval holds the true share in most of a hundred runs, and its mean error is small."""
    covered, errors = 0, []
    for seed in range(100):
        answers, correct = _audited(seed)
        checked = [one for one in answers if one.correct is not None]
        found = estimate_accuracy(
            answers, fit([one.confidence for one in checked], [one.correct for one in checked])
        )
        truth = sum(correct) / len(correct)
        covered += found.low <= truth <= found.high
        errors.append(abs(found.accuracy - truth))
        assert (found.audited, found.accepted) == (len(checked), 300)
    assert covered >= 85
    assert sum(errors) / len(errors) < 0.05


@pytest.mark.req("Q14")
def test_one_check_is_not_an_estimate():
    """Nor is none."""
    assert estimate_accuracy([Accepted(90), Accepted(90, 1)], fit([], [])) is None


@pytest.mark.req("Q14")
def test_all_checked_is_the_truth():
    """Where each answer was checked nothing is left to estimate."""
    found = estimate_accuracy([Accepted(90, 1), Accepted(90, 0)] * 5, fit([], []))
    assert (found.accuracy, found.low, found.high) == (
        pytest.approx(0.5),
        pytest.approx(0.5),
        pytest.approx(0.5),
    )


@pytest.mark.req("Q14")
def test_a_certificate_needs_its_checks():
    """No check proves nothing; a flawless row proves more the longer it is, and 38 prove nine in ten."""
    assert certified_accuracy([]) == certified_accuracy([False] * 5) == 0
    assert certified_accuracy([True] * 37) < 0.9 < certified_accuracy([True] * 38)
    assert certified_accuracy([True] * 84) == pytest.approx(0.946, abs=0.001)
    assert certified_accuracy([True] * 80 + [False] * 4) < 0.9


@pytest.mark.req("Q14")
def test_looking_after_each_check_does_not_break_the_certificate():
    """In 300 checks, looked at after each, at most one run in ten is ever certified above what is true."""
    broken = 0
    for seed in range(60):
        drawn = random.Random(seed)
        truth = drawn.choice([0.6, 0.8, 0.9, 0.95])
        correct = [drawn.random() < truth for _number in range(300)]
        broken += any(certified_accuracy(correct[:count]) > truth for count in range(1, 301, 3))
    assert broken <= 6


@pytest.mark.parametrize("confidence", [0, 1, 1.5, float("nan")])
def test_a_certificate_of_no_or_full_confidence_is_refused(confidence):
    """It cannot be given."""
    with pytest.raises(ValueError, match="above 0 and below 1"):
        certified_accuracy([True], confidence)
