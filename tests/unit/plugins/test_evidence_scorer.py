"""The scorer `evidence`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.model import Citation, CodeExample, Draft, Finding, Outcome, Passage, ResearchQuery
from kr_core.toolkit import COVERED, FULLY
from kr_plugins.scorers.evidence import Evidence, kr_scorer

CODE = (CodeExample(code="put()", citation=1),)


def scored(coverage=1.0, *, code=True, official=True, version="1.2.0", asked="1.2.0", missing=(), cited=True):
    query = ResearchQuery(framework="box", framework_version=asked, topic="t", tags=("t",), question="?")
    passages = (Passage(text="t", url="u", coverage=coverage),) if coverage is not None else ()
    found = Finding(outcome=Outcome.ok, passages=passages, version=version, missing=missing)
    citations = (
        (Citation(n=1, source="s", url="u", locator="l", official=official, quote="q"),) if cited else ()
    )
    return Evidence().score(
        query, [("s", found)], Draft(citations=citations, summary_code=CODE if code else ())
    )


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("case", "level"),
    [
        ({}, "high"),
        ({"version": None}, "high"),
        ({"asked": "unknown"}, "high"),
        ({"code": False}, "medium"),
        ({"asked": "1.3"}, "medium"),
        ({"asked": "2.0"}, "low"),
        ({"official": False}, "low"),
        ({"official": False, "code": False}, "low"),
        ({"cited": False}, "low"),
        ({"coverage": COVERED - 0.01}, "low"),
        ({"coverage": (COVERED + FULLY) / 2}, "medium"),
        ({"coverage": 0.0}, "low"),
        ({"coverage": None}, "low"),
    ],
    ids=str,
)
def test_levels(case, level):
    """`high` needs official documentation of the version in use that covers the question, and code; an unknown version lowers nothing."""
    assert scored(**case).level == level


@pytest.mark.req("R13", "R18")
def test_without_a_verified_quote_the_score_is_nothing():
    found = scored(cited=False)
    assert (found.score, found.reasons) == (0, ("no quote could be verified",))


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({}, "read in the version in use, 1.2.0"),
        ({"asked": "2.0"}, "read in 1.2.0, asked about 2.0"),
        ({"code": False}, "no code example"),
        ({"official": False}, "not official documentation"),
        ({"missing": ("zebra", "xylophone")}, "nothing was found about: zebra, xylophone"),
        ({"coverage": 0.1}, "too little of the question is covered"),
    ],
)
def test_reasons_say_what_counted(case, reason):
    assert reason in scored(**case).reasons


CASES = st.fixed_dictionaries(
    {
        "coverage": st.floats(0, 1),
        "code": st.booleans(),
        "official": st.booleans(),
        "version": st.sampled_from([None, "1.2.0", "1.3", "2.0", "odd"]),
        "cited": st.booleans(),
        "missing": st.sampled_from([(), ("zebra",)]),
    }
)


@pytest.mark.req("R13")
@given(CASES)
def test_score_and_level_agree(case):
    """Whatever is scored, the level is that of the score, and `high` never comes without official docs, code and coverage."""
    found = scored(**case)
    assert found.level == ("high" if found.score >= 80 else "medium" if found.score >= 50 else "low")
    if found.level == "high":
        assert case["code"]
        assert case["official"]
        assert case["cited"]
        assert case["coverage"] >= FULLY
        assert case["version"] in {None, "1.2.0", "odd"}
    if found.level == "medium":
        assert case["coverage"] >= COVERED


@given(CASES, st.floats(0, 1), st.floats(0, 1))
def test_more_coverage_is_never_worse(case, less, more):
    less, more = sorted([less, more])
    assert scored(**{**case, "coverage": less}).score <= scored(**{**case, "coverage": more}).score


@given(CASES)
def test_code_and_official_documentation_are_never_worse(case):
    assert scored(**{**case, "code": False}).score <= scored(**{**case, "code": True}).score
    assert scored(**{**case, "official": False}).score <= scored(**{**case, "official": True}).score


def test_the_plugin_has_no_settings():
    assert isinstance(kr_scorer().build(None, None), Evidence)
