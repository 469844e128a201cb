"""A fitted model says the probabilities that its cases had."""

import subprocess
import sys
from math import log

import pytest

from kr_core.calibration.logistic import LogisticModel, fit_logistic


@pytest.mark.req("A8")
def test_the_share_of_right_cases_is_learned():
    """With one feature that splits the cases, each side gets its own share, as far as smoothing and penalty allow."""
    rows = [{"pinned": 1.0}] * 500 + [{"pinned": 0.0}] * 500
    labels = [True] * 450 + [False] * 50 + [True] * 100 + [False] * 400
    model = fit_logistic(rows, labels, ridge=0.01)
    assert model.probability({"pinned": 1.0}) == pytest.approx(0.9, abs=0.01)
    assert model.probability({"pinned": 0.0}) == pytest.approx(0.2, abs=0.01)


@pytest.mark.req("A8")
def test_the_fit_is_a_minimum():
    """No small change of a weight makes the penalised loss less."""
    rows = [{"a": (n % 7) / 7, "b": (n % 3) / 3} for n in range(60)]
    labels = [n % 7 + n % 3 > 4 for n in range(60)]
    model = fit_logistic(rows, labels, ridge=0.5)
    right = sum(labels)
    high, low = (right + 1) / (right + 2), 1 / (60 - right + 2)

    def loss(intercept, weights):
        other = LogisticModel(intercept, weights)
        fit = sum(
            -(target := high if label else low) * log(other.probability(row))
            - (1 - target) * log(1 - other.probability(row))
            for row, label in zip(rows, labels, strict=True)
        )
        return fit + 0.25 * sum(weight**2 for weight in weights.values())

    best = loss(model.intercept, model.weights)
    for change in (-1e-3, 1e-3):
        assert loss(model.intercept + change, model.weights) >= best
        for name in model.weights:
            assert loss(model.intercept, {**model.weights, name: model.weights[name] + change}) >= best


@pytest.mark.req("A8")
def test_cases_of_one_kind_leave_a_doubt():
    """Where every case was right, the model is sure, but not of everything; extreme features do not overflow."""
    model = fit_logistic([{"a": 1.0}] * 20, [True] * 20)
    assert 0.9 < model.probability({"a": 1.0}) < 1.0
    assert LogisticModel(0.0, {"a": 1.0}).probability({"a": -1e6}) == 0.0
    assert LogisticModel(0.0, {"a": 1.0}).probability({"a": 1e6}) == 1.0
    assert LogisticModel(0.0, {"a": 1.0}).probability({"unknown": 5.0}) == 0.5


@pytest.mark.parametrize(
    ("rows", "labels", "ridge"), [([], [], 1.0), ([{"a": 1.0}], [], 1.0), ([{"a": 1.0}], [True], 0.0)]
)
def test_what_cannot_be_fitted_is_refused(rows, labels, ridge):
    """No cases, too few labels or no penalty are errors that say what to give."""
    with pytest.raises(ValueError, match=r"label|ridge"):
        fit_logistic(rows, labels, ridge=ridge)


@pytest.mark.req("A8")
def test_a_score_loads_the_model_and_no_statistics():
    """Each answer has a score; what spot checks need is loaded where somebody asks for it."""
    code = "import sys; from kr_core.toolkit import LogisticModel; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("kr_core.calibration.")}
    assert loaded == {"kr_core.calibration.logistic"}
