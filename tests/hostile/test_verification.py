"""Reports and evidence of a clone that would keep `kr verify` busy for hours."""

from __future__ import annotations

import time
from hashlib import sha256

import pytest

from kr_core.evidence.verification import verify

pytestmark = [pytest.mark.req("Z8"), pytest.mark.req("R18")]
_PATIENCE_SECONDS = 60
"""Far more than it takes on a slow machine; before, it took minutes or hours."""
_TEXT = "Connect to the thing, and wait for it."
_SHA256 = sha256(_TEXT.encode()).hexdigest()


def _evidence(**changed):
    citation = {
        "n": 1,
        "sha256": _SHA256,
        "quote": "Connect",
        "url": "u",
        "locator": "l",
        "source": "s",
        "official": True,
    }
    claim = {"text": "Connect [1]", "citations": [1], "slots": ["Connect"], "written": False}
    evidence = {
        "framework": "lib", "version": "1", "topic": "t", "research_date": "2026-01-01", "level": "high", "score": 1,
        "reasons": [], "answer": "x", "summary": [claim], "details": [], "caveats": [], "summary_code": [], "code": [],
        "citations": [citation], "passages": {_SHA256: {"text": _TEXT}},
    }  # fmt: skip
    few = {"citations": citation, "summary": claim}
    return evidence | {name: [few.get(name, "x")] * count for name, count in changed.items()}


_CODE = {"language": "py", "code": "a = 1", "citation": 1}
_LARGE = {
    "sentences and an answer": ("# lib", _evidence(summary=20_000)),
    "lines and citations": ("## Source Attribution\n" + "- x\n" * 20_000, _evidence(citations=20_000)),
    "lines and reasons": (
        "## Caveats & Version-Specific Notes\n" + "- x\n" * 20_000,
        _evidence(reasons=20_000),
    ),
    "headings": ("# lib\n" + "".join(f"## {n}\n" for n in range(20_000)), _evidence()),
    "code": ("```\na = 1\n```\n" * 20_000, _evidence() | {"code": [_CODE] * 20_000}),
    "one sentence of many slots and citations": (
        "# lib",
        _evidence()
        | {"summary": [{"text": "C", "citations": [1] * 20_000, "slots": ["C"] * 20_000, "written": False}]},
    ),
}


@pytest.mark.parametrize("case", _LARGE)
def test_what_would_be_checked_for_hours_is_refused(case):
    """A report is compared with its evidence up to a limit, which says so."""
    started = time.process_time()
    assert [one.what for one in verify(*_LARGE[case])] == ["too large to be checked, with its evidence"]
    assert time.process_time() - started < _PATIENCE_SECONDS


def test_a_long_report_is_checked():
    """Twenty times as much as KR writes is still compared."""
    found = verify("## Source Attribution\n" + "- x\n" * 500, _evidence(citations=500, summary=100))
    assert len(found) > 500


@pytest.mark.parametrize("of", ["title", "symbol"])
def test_a_long_name_that_many_sentences_cite_is_compared_in_seconds(of):
    """KR compares the title or symbol of a passage, of 100 kB, with 400 sentences in seconds, or refuses it."""
    sentences = [
        {"text": f"Connect {n} [1]", "citations": [1], "slots": ["Connect"], "written": False}
        for n in range(400)
    ]
    evidence = _evidence() | {"details": sentences}
    holder = evidence["passages"][_SHA256] if of == "title" else evidence["citations"][0]
    holder[of] = "*a.b " * 20_000
    started = time.process_time()
    assert verify("# lib", evidence)
    assert time.process_time() - started < 2
