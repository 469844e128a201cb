"""What a proposed threshold is said to lead to is what happens on questions that it was not fitted on."""

import csv
import gzip
import os
import random
from pathlib import Path

import pytest

from kr_core.calibration import fit
from kr_core.retro.thresholds import propose

DATA = Path(os.environ.get("KR_DATA") or Path(__file__).parents[4] / "shared/data") / "calibration"
ROWS = sorted(DATA.glob("*.csv.gz"))


def halves(path):
    """Confidence, topic and truth of a model's answers to an exam, in two halves drawn by chance."""
    with gzip.open(path, "rt") as file:
        rows = [
            (100 * float(one["confidence"]), one["topic"], one["correct"] == "1")
            for one in csv.DictReader(file)
        ]
    random.Random(1).shuffle(rows)
    return rows[: len(rows) // 2], rows[len(rows) // 2 :]


def fitted(rows):
    return fit(
        [one for one, _, _ in rows], [right for _, _, right in rows], topic=[topic for _, topic, _ in rows]
    )


@pytest.mark.req("V3")
@pytest.mark.skipif(not ROWS, reason="the exam answers are not here")
@pytest.mark.parametrize("path", ROWS, ids=lambda path: path.name.partition(".")[0])
@pytest.mark.parametrize("wanted", [60, 70, 80, 90])
def test_a_prediction_holds_on_questions_that_were_held_out(path, wanted):
    """Predicted escalations are within 10 % of what happens on the other half, and wrong accepts within 20 %."""
    known, held_out = halves(path)
    proposal = propose([(one, topic) for one, topic, _right in known], fitted(known), wanted)
    if proposal is None:  # no confidence of this model is worth so much
        calibrator = fitted(known)
        assert all(calibrator.mapped(one) < wanted for one in range(5, 100, 5))
        return
    share = len(held_out) / proposal.answers
    escalated = sum(one < proposal.threshold for one, _, _ in held_out)
    wrong = sum(not right for one, _, right in held_out if one >= proposal.threshold)
    assert proposal.escalations * share == pytest.approx(escalated, rel=0.1)
    assert proposal.wrong_accepts * share == pytest.approx(wrong, rel=0.2)


@pytest.mark.req("V3")
def test_no_threshold_without_enough_verdicts():
    """Where the map is not known to be better than the confidence, nothing is proposed."""
    assert propose([(90, None)], fit([90] * 5, [True] * 5), 80) is None
    assert propose([], fit([90] * 5, [True] * 5), 80) is None
