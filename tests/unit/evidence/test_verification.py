"""What `kr verify` finds in a report and its evidence, and what it passes over."""

import copy
import json
from datetime import date

import pytest

from kr_core.evidence.citations import slot_stands
from kr_core.evidence.summary import compose
from kr_core.evidence.verification import not_checked, verify
from kr_core.model import SKELETON_MARK, Attribution, Finding, Outcome, Passage, Report, ResearchQuery, Score
from kr_core.research.report import evidence_of
from kr_plugins.renderers.markdown import Markdown

URL = "pkg:pypi/box@1.2.0"
QUERY = ResearchQuery(
    framework="box", framework_version="1.2.0", topic="set the timeout", tags=("timeout",), question="How do I set the timeout of put?"
)  # fmt: skip
PUT = Passage(
    text="def put(thing, wait=5):\nPut a thing into the box.\n\n>>> box.put(1, wait=2)\n", lines=((0, 10),), url=URL,
    locator="box/_put.py:10", title="box.put", kind="symbol", what="function", lead="Put a thing into the box.", symbol="box.put",
    required=("thing",), signature="def put(thing, wait=5):", parameters=(("thing", None), ("wait", "5")),
    code=("box.put(1, wait=2)",), official=True, version="1.2.0", coverage=0.9,
)  # fmt: skip
NOTICE = 'The documentation of box 1.2.0 says nothing of "lid"; the nearest passages follow.'


@pytest.fixture
def kept():
    """A report and its evidence, as they lie in the knowledge base."""
    found = Finding(outcome=Outcome.ok, passages=(PUT,), url=URL, version="1.2.0")
    draft = compose(QUERY, [("installed_docs", found)], notices=[NOTICE])
    report = Report(
        query=QUERY, research_date=date(2026, 1, 2), score=Score(score=60, level="medium", reasons=("official",)), draft=draft,
        sources=(Attribution(url=URL, via="installed_docs", finding="verified via official docs"),), notes=("a: timeout",),
    )  # fmt: skip
    return Markdown(()).render(report), json.loads(json.dumps(evidence_of(report, QUERY, "r.md")))


@pytest.mark.req("R18")
def test_a_true_report_passes_and_its_notes_are_named(kept):
    report, evidence = kept
    assert verify(report, evidence) == []
    assert not_checked(report) == ["- Note: a: timeout"]
    assert "## Code Examples\n\nThe code example is in the Summary.\n" in report


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n## Summary\n", "\nNever put anything.\n\n## Summary\n"),
        ("## Summary\n", "## Summary\n\n[Never put anything]\n"),
        ("## Summary\n", "## Summary\n\nNo lid was found.\n"),
        ("## Summary\n", "## Summary\n\nNo answer was found.\n"),
        ("## Summary\n", "## Summary\n\n### Never put\n"),
        ("## Summary\n", "## Never put\n\n## Summary\n"),
        ("## Summary\n", "## Summary\n\n## Never put\n"),
        ("## Details\n", "## Details\n\nThe code example is in the Summary.\n"),
        ("# box - set the timeout", "# box - never set the timeout"),
        ("# box - set the timeout", "# lid - set the timeout"),
        ("**Confidence:** medium", "**Confidence:** high"),
        ("**Score:** 60", "**Score:** 99"),
        ("**Version:** 1.2.0", "**Version:** 1.3.0"),
        ("**Sources:** pkg", "**Sources:** evil"),
        (f"- [1] {URL} box/_put.py", f"- [1] {URL} box/_get.py"),
        (f"- [1] {URL}", "- [1] https://evil.example"),
        ("verified via official docs", "inferred from community examples"),
        ("- Confidence: official", "- Confidence: perfect"),
        ("```\n[", "```\n[9"),
        ("## Source Attribution\n", "## Mine\n\nNever put. [1]\n\n## Source Attribution\n"),
        ("- Note: a: timeout", "- Note: never put [1]"),
    ],
)
def test_what_is_changed_is_found(kept, old, new):
    report, evidence = kept
    assert old in report
    assert verify(report.replace(old, new, 1), evidence) != []


@pytest.mark.req("R18")
def test_a_section_of_ones_own_is_not_checked_and_a_mark_of_kr_stands(kept):
    report, evidence = kept
    report = report.replace("## Details\n", "## My notes\n\nWe use 7.\n\n```\nx = 7\n```\n\n## Details\n")
    report = report.replace("## Summary\n", f"## Summary\n\n{SKELETON_MARK}\n")
    assert verify(report, evidence) == []
    assert not_checked(report)[0] == "the section My notes"


def claim_of(text, slots, citations=(1,)):
    def change(evidence):
        evidence["summary"][1] |= {"text": text, "slots": slots, "citations": list(citations)}

    return change


SENTENCE = "Put a thing into the box."


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("text", "slots", "good"),
    [
        (f"Call `box.put(thing, wait=5)`: {SENTENCE} [1]", ["box.put", "thing", "wait", "5", SENTENCE], True),
        (f"Call `box.put(thing, ...)`: {SENTENCE} [1]", ["box.put", "thing", SENTENCE], True),
        (f"Related: box.put: {SENTENCE} [1]", [SENTENCE], True),
        (f"Call `box.put(thing, wait=9)`: {SENTENCE} [1]", ["box.put", "thing", "wait", SENTENCE], False),
        (f"Call `box.put(thing, to=5)`: {SENTENCE} [1]", ["box.put", "thing", "5", SENTENCE], False),
        (f"Never call `box.put`: {SENTENCE} [1]", ["box.put", SENTENCE], False),
        (f"Call `lid.put`: {SENTENCE} [1]", ["lid.put", SENTENCE], False),
        ("Call `box.put`. [1]", ["box.put", SENTENCE], False),
        ("Call `box.e`. [1]", ["box.e"], False),
    ],
)
def test_a_sentence_is_its_slots_and_connecting_words(kept, text, slots, good):
    report, evidence = kept
    old = evidence["summary"][1]["text"]
    claim_of(text, slots)(evidence)
    evidence["answer"] = evidence["answer"].replace(old, text)
    assert (verify(report.replace(old, text), evidence) == []) is good


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    "text",
    [
        "Never put anything.",
        'The documentation of lid says nothing of "x"; the nearest passages follow.',
        f"{NOTICE} Never put anything.",
        'Not answered here: "nothing: a thing is never lost".',
    ],
)
def test_a_sentence_without_a_citation_is_a_notice(kept, text):
    report, evidence = kept
    evidence["summary"][0]["text"] = text
    evidence["answer"] = evidence["answer"].replace(NOTICE, text)
    assert verify(report.replace(NOTICE, text), evidence) != []


@pytest.mark.req("R18")
def test_the_answer_that_is_served_is_checked(kept):
    report, evidence = kept
    for old, new in (("box.put(1", "box.put(9"), (NOTICE, "Never put."), (NOTICE, f"{NOTICE}\n\nNever put.")):
        changed = copy.deepcopy(evidence)
        assert old in changed["answer"]
        changed["answer"] = changed["answer"].replace(old, new)
        assert [problem.where for problem in verify(report, changed)] == ["answer"]


@pytest.mark.req("R18")
def test_an_empty_report_is_called_so(kept):
    assert [problem.what for problem in verify(" \n", kept[1])] == ["the report is empty"]


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("slot", "stands"),
    [("e", False), ("word", True), ("x.word", True), ("x.e", False), ("the word", True), ("wor", False)],
)
def test_a_name_stands_as_a_whole_word(slot, stands):
    assert slot_stands(slot, ["the word"]) is stands
