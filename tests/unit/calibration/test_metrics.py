"""The measures of confidence, held against values computed by hand."""

import pytest

from kr_core.calibration.metrics import Bin, auroc, brier, ece, reliability, risk_coverage


@pytest.mark.req("A8")
def test_known_values():
    """Each measure gives what its definition says for four cases."""
    confidences, right = [0.9, 0.8, 0.4, 0.4], [True, False, True, False]
    assert brier(confidences, right) == pytest.approx((0.01 + 0.64 + 0.36 + 0.16) / 4)
    assert auroc(confidences, right) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert risk_coverage(confidences, right) == [(0.25, 0.0), (0.5, 0.5), (1.0, 0.5)]
    assert reliability(confidences, right, bins=2) == [
        Bin(2, pytest.approx(0.4), 0.5),
        Bin(2, pytest.approx(0.85), 0.5),
    ]
    assert ece(confidences, right, bins=2) == pytest.approx((2 * 0.1 + 2 * 0.35) / 4)


@pytest.mark.req("A8")
def test_equal_confidences_share_a_bin():
    """Cases that the confidence does not tell apart are not put in different bins."""
    assert [one.cases for one in reliability([0.5] * 9 + [0.6], [True] * 10, bins=5)] == [9, 1]


@pytest.mark.req("A8")
def test_one_kind_alone_has_no_order():
    """Where all were right, nothing says how well right and wrong are told apart."""
    assert auroc([0.1, 0.9], [True, True]) is None


@pytest.mark.parametrize("measure", [brier, ece, auroc, reliability, risk_coverage])
def test_without_cases_there_is_no_measure(measure):
    """No cases, or labels for some of them only, are an error."""
    with pytest.raises(ValueError, match="one label for each"):
        measure([], [])
    with pytest.raises(ValueError, match="one label for each"):
        measure([0.5, 0.5], [True])
