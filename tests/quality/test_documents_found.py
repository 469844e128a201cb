"""Documents found by words, on a public collection with judgments by others; vectors and ODEX take too long for a test.

The floors lie a little below what `tests/quality/measure_documents.py` reports (`docs/quality.md`).
"""

from __future__ import annotations

import pytest
from quality import measure_documents as measured

pytestmark = [
    pytest.mark.quality,
    pytest.mark.skipif(
        not (measured.DATA / "cranfield").is_dir(), reason=f"{measured.DATA} is not there; set KR_DATA"
    ),
]


@pytest.mark.req("E6")
@pytest.mark.parametrize(("half", "floor"), [("chosen", 0.39), ("reported", 0.37)])
def test_words_alone_find_no_less_than_sqlite_does(tmp_path, monkeypatch, half, floor):
    """nDCG@10 on Cranfield, beside FTS5 with Porter stems over the same texts."""
    monkeypatch.setattr(measured, "KEPT", tmp_path)
    collection, number = measured.cranfield(), measured.HALVES[half]
    found, peer = measured.by_kr(collection, number), measured.by_porter(collection, number)
    print(half, found, peer)
    assert found >= floor
    assert found > peer
