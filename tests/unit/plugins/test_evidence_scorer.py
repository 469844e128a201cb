"""The scorer `evidence`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.model import (
    Citation,
    Claim,
    CodeExample,
    Draft,
    Finding,
    Outcome,
    Passage,
    ResearchQuery,
    UnresolvedName,
)
from kr_plugins.scorers.evidence import WEIGHTS, Evidence, kr_scorer
from kr_plugins.scorers.evidence.answer_features import features
from kr_plugins.scorers.evidence.score_limits import limit_of

_RANK = {"low": 0, "medium": 1, "high": 2}
CODE = (CodeExample(code="put()", citation=1),)


def scored(
    coverage=1.0, *, pinned=True, official=True, version="1.2.0", asked="1.2.0", missing=(), unresolved=()
):
    query = ResearchQuery(
        framework="box", framework_version=asked, topic="t", tags=("t",), question="What does `put` do?"
    )
    passage = Passage(
        text="t",
        url="u",
        lead="Put a thing in.",
        kind="symbol",
        symbol="box.put",
        coverage=coverage or 0.0,
        pinned=pinned,
    )
    passages = (passage,) if coverage is not None else ()
    names = tuple(UnresolvedName(name=name) for name in unresolved)
    found = Finding(outcome=Outcome.ok, passages=passages, version=version, missing=missing, unresolved=names)
    citations = (
        (Citation(n=1, source="s", url="pkg:pypi/box@1", locator="l", official=bool(official), quote="q"),)
        if official is not None
        else ()
    )
    draft = Draft(citations=citations, summary_code=CODE, direct=True)
    return Evidence().score(query, [("s", found)], draft)


@pytest.mark.req("A8", "R13")
@pytest.mark.parametrize(
    ("case", "most"),
    [
        ({"asked": "1.3"}, "medium"),
        ({"asked": "2.0"}, "low"),
        ({"official": False}, "low"),
        ({"official": None}, "low"),
        ({"unresolved": ("take",)}, "low"),
        ({"coverage": 0.0, "pinned": False}, "low"),
        ({"coverage": None}, "low"),
    ],
    ids=str,
)
def test_what_limits_the_level(case, most):
    """Another version, one place that is not official, and a name that is not there limit the level, however sure the rest is."""
    assert _RANK[scored(**case).level] <= _RANK[most]


@pytest.mark.req("A8")
@pytest.mark.parametrize(("coverage", "level"), [(0.29, "low"), (0.9, "medium")])
def test_what_covers_little_and_is_not_named_is_low(coverage, level):
    """A parameter with an example that holds less than three tenths of the question is `low`, unless the question names it."""
    query = ResearchQuery(
        framework="box",
        framework_version="1.2.0",
        topic="t",
        tags=("t",),
        question="Does put take many things?",
    )
    passage = Passage(
        text="t", url="u", lead="How many things fit.", kind="parameter", symbol="box.put", parameter="p",
        coverage=coverage,
    )  # fmt: skip
    found = Finding(outcome=Outcome.ok, passages=(passage,), version="1.2.0")
    cited = Citation(n=1, source="s", url="pkg:pypi/box@1", locator="l", official=True, quote="q")
    said = (Claim(text="Yes: It takes many things to put.", citations=(1,)),)
    draft = Draft(summary=said, citations=(cited,), summary_code=CODE, direct=True, passages={1: passage})
    score = Evidence().score(query, [("s", found)], draft)
    assert score.level == level, score.reasons


@pytest.mark.req("A8", "R13")
@pytest.mark.parametrize("case", [{}, {"version": None}, {"asked": "unknown"}], ids=str)
def test_a_named_thing_that_is_answered_is_high(case):
    """A public symbol that the question names, read in the version in use or an unknown one, answered directly, is `high`."""
    assert scored(**case).level == "high"


@pytest.mark.req("R13", "R18")
def test_without_a_verified_quote_the_score_is_nothing():
    """What cites nothing scores 0, and says why."""
    found = scored(official=None)
    assert (found.score, found.reasons) == (0, ("no quote could be verified",))


@pytest.mark.req("A8", "R13")
@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({}, "read in the version in use, 1.2.0"),
        ({}, "the question names what is cited"),
        ({"asked": "2.0"}, "read in 1.2.0, asked about 2.0"),
        ({"official": False}, "not official documentation"),
        ({"missing": ("zebra", "xylophone")}, "nothing was found about: zebra, xylophone"),
        ({"unresolved": ("take",)}, "the documentation does not have take"),
    ],
)
def test_reasons_say_what_counted(case, reason):
    """Each thing that counted is said in words."""
    assert reason in scored(**case).reasons


CASES = st.fixed_dictionaries(
    {
        "coverage": st.floats(0, 1),
        "pinned": st.booleans(),
        "official": st.sampled_from([True, False, None]),
        "version": st.sampled_from([None, "1.2.0", "1.3", "2.0", "odd"]),
        "missing": st.sampled_from([(), ("zebra",)]),
    }
)


@pytest.mark.req("R13")
@given(CASES)
def test_score_and_level_agree(case):
    """Whatever is scored, the level is that of the score, and `high` never comes without official documentation of the version."""
    found = scored(**case)
    assert found.level == ("high" if found.score >= 80 else "medium" if found.score >= 50 else "low")
    if found.level == "high":
        assert case["official"]
        assert case["version"] in {None, "1.2.0", "odd"}


@given(CASES)
def test_what_speaks_for_an_answer_is_never_worse(case):
    """Official documentation and a name in the question never lower the score."""
    assert scored(**{**case, "pinned": False}).score <= scored(**{**case, "pinned": True}).score
    assert scored(**{**case, "official": False}).score <= scored(**{**case, "official": True}).score


@pytest.mark.req("A8")
def test_every_feature_is_a_share():
    """The model's features lie between 0 and 1, since one penalty served all of them."""
    kept = json.loads(WEIGHTS.read_text("utf-8"))
    assert set(kept) == {"intercept", "weights"}
    query = ResearchQuery(framework="b", framework_version="1", topic="t", tags=("t",), question="x " * 500)
    finding = Finding(
        outcome=Outcome.ok, passages=(Passage(text="t", url="u", coverage=1.0),), missing=("a",) * 9
    )
    known = features(query, [("s", finding)], Draft())
    assert known
    assert all(0 <= value <= 1 for value in known.values())


def test_the_plugin_has_no_settings():
    """The scorer is built from nothing."""
    assert isinstance(kr_scorer().build(None, None), Evidence)


@pytest.mark.req("A14", "A8")
def test_a_name_that_only_the_asker_expects_must_speak_of_the_question():
    """Its passage alone is `low` where it says little of what was asked, and may be surer where it says more."""

    def level(text, coverage):
        query = ResearchQuery(
            framework="box", framework_version="1.2.0", topic="t", tags=("t",), names=("box.put",),
            question="How do I store a heavy thing safely?",
        )  # fmt: skip
        passage = Passage(
            text=text, url="pkg:pypi/box@1", lead=text, kind="symbol", symbol="box.put", what="function",
            coverage=coverage,
        )  # fmt: skip
        found = [("s", Finding(outcome=Outcome.ok, passages=(passage,), version="1.2.0"))]
        cited = Citation(n=1, source="s", url="pkg:pypi/box@1", locator="l", official=True, quote=text)
        draft = Draft(
            citations=(cited,), passages={1: passage}, summary=(Claim(text=text, citations=(1,)),),
            summary_code=CODE,
        )  # fmt: skip
        assert features(query, found, draft)["expected"] == 1.0
        return Evidence().score(query, found, draft).level

    assert level("Put it in.", 0.2) == "low"
    assert level("Store a heavy thing safely.", 0.9) != "low"


@pytest.mark.req("A8", "A14")
@pytest.mark.parametrize(("names", "most"), [(("put", "lid"), 79), (("lid",), 49)])
def test_a_parameter_that_is_named_with_its_callable_may_be_medium(names, most):
    """Its documentation says little of the question; that it is another one than is meant is rare."""
    query = ResearchQuery(
        framework="box", framework_version="1", topic="t", tags=("t",),
        question="How do I keep rain away from goods?", names=names,
    )  # fmt: skip
    passage = Passage(
        text="Whether it is closed.", url="u", lead="Whether it is closed.", kind="parameter", symbol="box.put",
        parameter="lid", annotation="bool", coverage=0.35,
    )  # fmt: skip
    citation = Citation(n=1, source="s", url="pkg:pypi/box@1", locator="l", official=True, quote="q")
    draft = Draft(
        citations=(citation,),
        summary=(Claim(text="`lid`: Whether it is closed.", citations=(1,)),),
        passages={1: passage},
    )
    limit, reasons = limit_of(
        query, [("s", Finding(outcome=Outcome.ok, passages=(passage,), version="1"))], draft
    )
    assert "what is quoted does not speak of most of what was asked" in reasons
    assert limit == most
