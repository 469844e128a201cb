"""The passages that agents get with an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.projects import Bench, Given

from kr_core import Finding, Outcome, Passage
from kr_core.research.passages import evidence_entries, ranked, result_passages, stored_passages
from kr_core.text import tokens


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "work")
    yield made
    made.close()


def passage(text, **values):
    return Passage(text=text, url="https://docs.example/parcel", official=True, version="1.4.0", **values)


BEST = passage("Pass `timeout` to set the timeout of a parcel.", kind="parameter", symbol="parcel.send", pinned=True)  # fmt: skip
OLD = passage("wait(seconds): the timeout of a parcel.", kind="symbol", symbol="parcel.wait", deprecated="Use send.")  # fmt: skip
LONG = passage("\n".join(["Nothing of it here."] * 400 + ["The timeout of a parcel is 5 s."]), title="long")


def finding(*passages):
    return Finding(outcome=Outcome.ok, passages=passages, version="1.4.0")


@pytest.mark.req("A11", "R14")
def test_a_result_has_its_passages_and_a_hit_has_the_same(bench):
    """Each with what it describes and where it stands; a cache hit returns them without asking a source."""
    sources = {"docs": Given(finding(OLD, BEST))}
    new, hit = bench.result(sources), bench.result(sources)
    assert hit.status == "cache-hit"
    assert [one.symbol for one in new.results.passages] == ["parcel.send", "parcel.wait"]
    assert new.results.passages == hit.results.passages
    first = hit.to_dict()["results"]["passages"][0]
    assert list(first) == ["n", "symbol", "kind", "text", "locator", "url", "version", "tokens", "deprecated"]
    assert first["text"] == BEST.text
    assert hit.results.passages[1].deprecated == "Use send."


@pytest.mark.req("A11")
def test_the_request_and_the_configuration_limit_the_tokens(bench):
    """The request comes before the configuration; an invalid number falls back and is noted."""
    bench.configure("knowledge_research:\n  max_tokens: 20\n")
    sources = {"docs": Given(finding(BEST, OLD))}
    assert [one.n for one in bench.result(sources).results.passages] == [1]
    request = bench.request(overrides={"max_tokens": 1000})
    assert [one.n for one in bench.result(sources, request).results.passages] == [1, 2]
    odd = bench.request(overrides={"max_tokens": 0}, question="And the timeout of another parcel?", topic="x y z", tags=["z"])  # fmt: skip
    assert any("max_tokens" in note for note in bench.result(sources, odd).results.degradation_notes)


@pytest.mark.req("A11")
def test_a_long_passage_is_cut_to_the_lines_that_say_most():
    """Verbatim, at the ends of lines, around what is asked."""
    (shown,) = result_passages([LONG], "What is the timeout of a parcel?", 200)
    assert shown.tokens <= 200
    assert shown.text in LONG.text
    assert shown.text.endswith("The timeout of a parcel is 5 s.")


@pytest.mark.req("A11")
def test_what_the_question_names_comes_first_and_each_passage_once():
    """The order of the sources holds for the rest."""
    assert ranked([finding(OLD, LONG), finding(BEST, OLD)]) == [BEST, OLD, LONG]


@pytest.mark.req("A11", "Z8")
@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"shown": 3, "passages": {}},
        {"shown": [None, {"sha256": "x"}, {"sha256": ["x"]}, {}], "passages": {"y": {}}},
        {"shown": [{"sha256": "x"}], "passages": {"x": {"url": 1, "text": "t"}}},
        {"shown": [{"sha256": "x"}], "passages": {"x": {"url": "u"}}},
        {"shown": [{"sha256": "x"}], "passages": []},
    ],
)
def test_evidence_that_a_person_spoilt_gives_no_passage(evidence):
    """A hit never fails on it."""
    assert stored_passages(evidence, "timeout", 1500) == ()


@pytest.mark.req("A11")
@given(st.lists(st.text(min_size=1, max_size=2_000), max_size=5), st.integers(1, 500))
def test_any_passages_are_verbatim_and_within_the_limit(texts, limit):
    """New or kept, whatever the passages hold."""
    made = [passage(text) for text in texts if text.strip()]
    shown = result_passages(made, "the timeout of a parcel", limit)
    assert sum(one.tokens for one in shown) <= limit
    assert all(
        tokens(one.text) == one.tokens and any(one.text in each.text for each in made) for one in shown
    )
    evidence = {
        "shown": evidence_entries(made),
        "passages": {one.sha256: {"url": one.url, "text": one.text} for one in made},
    }
    assert stored_passages(evidence, "the timeout of a parcel", limit) == shown
