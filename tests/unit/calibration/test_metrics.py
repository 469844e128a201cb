"""The measures of confidence, held against values computed by hand."""

import pytest

from kr_core.calibration.metrics import Bin, aurc, auroc, brier, brier_parts, ece, reliability, risk_coverage


@pytest.mark.req("A8")
def test_known_values():
    """Each measure gives what its definition says for four cases."""
    confidences, right = [90, 80, 40, 40], [True, False, True, False]
    assert brier(confidences, right) == pytest.approx((0.01 + 0.64 + 0.36 + 0.16) / 4)
    assert auroc(confidences, right) == pytest.approx((1 + 1 + 0 + 0.5) / 4)
    assert risk_coverage(confidences, right) == [(0.25, 0.0), (0.5, 0.5), (1.0, 0.5)]
    assert reliability(confidences, right, bins=2) == [
        Bin(2, pytest.approx(40), 0.5),
        Bin(2, pytest.approx(85), 0.5),
    ]
    assert ece(confidences, right, bins=2) == pytest.approx((2 * 0.1 + 2 * 0.35) / 4)
    assert aurc(confidences, right) == pytest.approx(0.25 * 0 + 0.25 * 0.5 + 0.5 * 0.5)


@pytest.mark.req("V5")
def test_the_parts_of_a_brier_score_add_up():
    """Reliability, resolution and uncertainty are those computed by hand, and make the score."""
    confidences, right = [90, 90, 40, 40], [True, False, False, False]
    parts = brier_parts(confidences, right)
    assert parts == (pytest.approx((2 * 0.16 + 2 * 0.16) / 4), pytest.approx(0.0625), pytest.approx(0.1875))
    assert parts.reliability - parts.resolution + parts.uncertainty == pytest.approx(
        brier(confidences, right)
    )


@pytest.mark.req("A8")
def test_equal_confidences_share_a_bin():
    """Cases that the confidence does not tell apart are not put in different bins."""
    assert [one.cases for one in reliability([50] * 9 + [60], [True] * 10, bins=5)] == [9, 1]


@pytest.mark.req("A8")
def test_one_kind_alone_has_no_order():
    """Where all were right, nothing says how well right and wrong are told apart."""
    assert auroc([10, 90], [True, True]) is None


@pytest.mark.parametrize("measure", [brier, brier_parts, ece, auroc, aurc, reliability, risk_coverage])
def test_without_cases_there_is_no_measure(measure):
    """No cases, or labels for some of them only, are an error."""
    with pytest.raises(ValueError, match="one label for each"):
        measure([], [])
    with pytest.raises(ValueError, match="one label for each"):
        measure([50, 50], [True])
