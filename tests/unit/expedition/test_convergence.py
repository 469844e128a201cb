"""When an expedition ends: the pure rules, against a reading of the requirement that was written without them."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.expedition.convergence import decide
from kr_core.expedition.search import SourceHealth
from kr_core.model.expedition import CycleReport

COUNTS = st.integers(0, 40)
STORY = st.lists(st.tuples(COUNTS, COUNTS, st.integers(0, 2)), min_size=10, max_size=10)
"""For each cycle: new axioms, new sources, and in how many of its attempts the engines were down."""


def as_required(story, limit):
    """E2 read once more: the cycle after which it ends and the rule, and which cycles are repeated."""
    looked, repeated = [], []
    for number, (axioms, sources, down) in enumerate(story, 1):
        if number == limit:  # the hard limit is tested first
            return number, "maximum_cycles", repeated
        if down:
            repeated.append(number)
        if down == 2:  # noted; it is not a cycle without findings
            continue
        looked.append((axioms, sources))
        if number < 2 or len(looked) < 2:
            continue
        (before_axioms, before_sources), (now_axioms, now_sources) = looked[-2:]
        if now_axioms < Fraction(3, 10) * before_axioms:
            return number, "axiom_diminishing_returns", repeated
        if now_sources < Fraction(2, 10) * before_sources:
            return number, "source_exhaustion", repeated
        if [axioms for axioms, _sources in looked[-2:]] == [0, 0]:
            return number, "zero_findings", repeated
    raise AssertionError("the tenth cycle is the last")


def lived(story, limit):
    """What comes of obeying the rules, attempt by attempt."""
    history, repeated = [], []
    number, attempt = 1, 1
    while True:
        axioms, sources, down = story[number - 1]
        failed = ("engine",) if down >= attempt else ()
        history.append(
            CycleReport(cycle=number, attempt=attempt, new_axioms=axioms, new_sources=sources, down=failed)
        )
        verdict = decide(history, limit)
        assert len(history) <= 2 * limit, "endless"
        if verdict.decision == "stop":
            return number, verdict.rule, repeated
        if verdict.decision == "repeat":
            repeated.append(number)
            attempt = 2
        else:
            number, attempt = number + 1, 1


@pytest.mark.req("E2")
@given(STORY, st.integers(2, 10))
def test_the_rules_are_those_of_the_requirement(story, limit):
    """Whatever cycles bring and however often engines are down, it ends where and why the requirement says."""
    assert lived(story, limit) == as_required(story, limit)


@pytest.mark.req("E2")
@given(STORY, st.integers(2, 10))
def test_never_before_two_and_never_after_ten(story, limit):
    """Two cycles at least, the limit at most, and each is repeated once at most."""
    ended, rule, repeated = lived(story, limit)
    assert 2 <= ended <= limit
    assert rule is not None
    assert len(set(repeated)) == len(repeated)


@pytest.mark.req("E2")
@pytest.mark.parametrize(
    ("before", "now", "rule"),
    [
        ((10, 10), (3, 2), None),  # exactly 0.3 and 0.2 times: not fewer
        ((10, 10), (2, 10), "axiom_diminishing_returns"),
        ((10, 10), (10, 1), "source_exhaustion"),
        ((10, 10), (2, 1), "axiom_diminishing_returns"),
        ((0, 10), (0, 10), "zero_findings"),
        ((1, 1), (0, 0), "axiom_diminishing_returns"),
        ((0, 0), (0, 0), "zero_findings"),
        ((0, 5), (4, 1), None),
    ],
)
def test_at_the_edges(before, now, rule):
    """What is exactly a share is not below it."""
    history = [
        CycleReport(cycle=1, new_axioms=before[0], new_sources=before[1]),
        CycleReport(cycle=2, new_axioms=now[0], new_sources=now[1]),
    ]
    assert decide(history).rule == rule


@pytest.mark.req("E2")
def test_a_limit_beyond_ten_is_ten():
    """The hard limit holds whatever is asked for."""
    assert decide([CycleReport(cycle=10, new_axioms=9)], 50).rule == "maximum_cycles"


OUTCOMES = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["ok", "empty", "timeout", "unavailable"])),
        max_size=6,
    ),
    max_size=20,
)


@pytest.mark.req("E2")
@given(OUTCOMES)
def test_only_what_could_look_before_is_missed(cycles):
    """A cycle is down where nobody could look, or an engine that has answered does not; never for one that never did."""
    health, answered = SourceHealth(), set()
    for outcomes in cycles:
        looked = {source for source, outcome in outcomes if outcome in {"ok", "empty"}}
        asked = {source for source, _outcome in outcomes}
        down = set(health.down(outcomes, again=False))
        assert down <= asked - looked
        if asked and not looked:
            assert down == asked
        else:
            assert down <= answered
        answered |= looked


@pytest.mark.req("E2")
def test_an_engine_that_stays_down_is_given_up_until_it_answers():
    """One dead engine among several makes one cycle be repeated, and no further one until it has come back."""
    health = SourceHealth()
    dead = [("web", "unavailable"), ("docs", "ok")]
    alive = [("web", "ok"), ("docs", "ok")]
    assert health.down(alive, again=False) == ()
    assert health.down(dead, again=False) == ("web",)
    assert health.down([("web", "timeout")], again=True) == ("web",)
    assert health.down(dead, again=False) == ()
    assert health.down(alive, again=False) == ()
    assert health.down(dead, again=False) == ("web",)
