"""The list of the inbox: what is kept at hand is what the journal has, whoever changes it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.asked import Says, said, service

from kr_core import HumanResponse, Question
from kr_core.server.web.inbox_cache import STATES, InboxCache

pytestmark = pytest.mark.req("H2", "H7")

UNSURE = said(confidence=65)


def ask(made, number, feature="general"):
    question = Question(text=f"Question {number}?", topic="authentication", feature_id=feature)
    return made.ask(question).escalation.id


def test_a_list_made_before_knows_what_another_one_does(tmp_path):
    """What is new, decided or asked anew is seen by a list that was read before, and by one that is read now."""
    with service(tmp_path, {"logs": []}, duc=Says(UNSURE)) as made:
        first = ask(made, 1)
        old = InboxCache(made.pipeline.journal)
        number, changed = old.news(0)
        assert changed is None, "what was before it, nobody knows"
        assert old.news(number) == (number, [])
        second = ask(made, 2, "F-1")
        made.reply(first, HumanResponse(action="confirm", by="ann"))
        number, changed = old.news(number)
        assert {(one.key, one.waits, one.by, one.action) for one in changed} == {
            (first, False, "ann", "confirm"),
            (second, True, "", ""),
        }
        assert old.news(number) == (number, [])
        for state in STATES:
            for feature in ("", "F-1", "F-2"):
                mine = old.part(state, feature, "", 10)
                assert mine == InboxCache(made.pipeline.journal).part(state, feature, "", 10)
        assert old.features() == [("F-1", 1)]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(limit=st.integers(1, 7), state=st.sampled_from(STATES), feature=st.sampled_from(["", "F-0", "F-1"]))
def test_its_parts_are_the_whole(limit, state, feature, many):
    """From part to part nothing is left out and nothing comes twice, newest first."""
    listing, keys = many
    found, before = [], ""
    while True:
        part = listing.part(state, feature, before, limit)
        found += part.keys
        if part.before is None:
            break
        before = part.before
    assert len(found) == part.total
    expected = [key for key in keys if fits(key, state, feature)]
    assert found == expected


def fits(key, state, feature):
    number = int(key[1:])
    status = "resolved" if number % 3 == 0 else "waiting"
    return state in {"all", status} and feature in {"", f"F-{number % 2}"}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    with service(tmp_path_factory.mktemp("many"), {"logs": []}, duc=Says(UNSURE)) as made:
        keys = [ask(made, number, f"F-{number % 2}") for number in range(1, 13)]
        for key in keys:
            if int(key[1:]) % 3 == 0:
                made.reply(key, HumanResponse(action="confirm"))
        yield InboxCache(made.pipeline.journal), keys[::-1]
