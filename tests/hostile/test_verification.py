"""Reports and evidence of a clone that would keep `kr verify` busy for hours."""

from __future__ import annotations

import time
from hashlib import sha256

import pytest

from kr_core.evidence import verification
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
    "a long quote that written sentences cite": (
        "# lib",
        _evidence()
        | {
            "citations": [_evidence()["citations"][0] | {"quote": "Connect " * 100_000}],
            "details": [{"text": "Connect [1]", "citations": [1], "slots": [], "written": True}] * 50,
        },
    ),
    "one long sentence that cites many names": (
        "# lib",
        _evidence()
        | {
            "citations": [
                _evidence()["citations"][0] | {"n": number, "symbol": f"s{number}"} for number in range(2_000)
            ],
            "details": [
                {"text": "s1 " * 50_000, "citations": [*range(2_000)], "slots": [], "written": False}
            ],
        },
    ),
    "the code of an answer of many sentences": (
        "# lib",
        _evidence(summary=2_000) | {"summary_code": [_CODE | {"code": "a = 1\n" * 40_000}]},
    ),
    "a question of which many parts have no answer": (
        "# lib",
        _evidence()
        | {
            "question": "a" * 100_000,
            "summary": [{"text": 'Not answered here: "a".', "citations": [], "slots": []}] * 2_000,
        },
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


@pytest.mark.parametrize("citation", ["url", "locator", "source"])
def test_what_the_template_writes_is_made_once_for_all_lines(monkeypatch, citation):
    """The long address of a source was made into a line again for each line of the report: 1 MB took hours."""
    folded, made = verification.folded, []
    monkeypatch.setattr(verification, "folded", lambda text: made.append(len(text)) or folded(text))
    evidence = _evidence(reasons=1)
    evidence["reasons"] = ["u" * 10_000]
    evidence["citations"] = [evidence["citations"][0] | {citation: "u" * 10_000}]
    lines = ["## Source Attribution", *["- Source 1: x"] * 200, "## Caveats & Version-Specific Notes"]
    report = "\n".join(["# lib", *["**Score:** 1/100"] * 200, *lines, *["- x"] * 200])
    found = [one.what for one in verify(report, evidence)]
    assert found.count("a sentence that was never checked") == 400
    assert sum(made) < 50 * 10_000


def test_the_name_of_a_framework_in_a_notice_has_a_limit():
    """A pattern of half a megabyte took gigabytes and half a minute."""
    for length, problems in ((500, 0), (501, 1)):
        name = "a" * length
        notice = {"text": f"KR found no answer in {name}; this comes closest:", "citations": [], "slots": []}
        found = verify("# lib", _evidence() | {"framework": name, "summary": [notice]})
        assert sum("none of KR's notices" in one.what for one in found) == problems


def test_a_written_sentence_has_the_length_that_kr_gives_one():
    """Each two of its names were looked for in each quote: 31 kB took 20 s, and 1 MB hours."""
    text = ("Aa Bb " * 50_000).strip()
    claim = {"text": f"{text} [1]", "citations": [1], "slots": [], "written": True}
    citation = _evidence()["citations"][0] | {"quote": text}
    found = verify("# lib", _evidence() | {"details": [claim], "citations": [citation]})
    assert "longer than 400 characters" in [one.what for one in found]
