"""The rules of a cloned project, and the topics of its questions, are read in seconds and in little memory."""

from __future__ import annotations

import tracemalloc

import pytest
from support.regexes import seconds_for

from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.model.questions import Question
from kr_core.model.routing import RoutingRule
from kr_core.routing.patterns import above
from kr_core.routing.table import PlacedRule, Table

pytestmark = pytest.mark.req("Z8")

_SECONDS = 5.0
_MOST_MEMORY = 100_000_000


@pytest.mark.parametrize("topic", ["a/" * 50_000 + "*", "[" * 20_000, "*a" * 20_000])
def test_a_rule_with_a_topic_of_thousands_of_characters_is_refused(tmp_path, topic: str) -> None:
    """The error says where it is; before, each command took 2.5 GB or 20 seconds to read the rules."""
    (tmp_path / "kr.yaml").write_text(f"routing:\n  rules:\n    - {{topic: '{topic}', agent: human}}\n")
    told: list[str] = []

    def read() -> None:
        with pytest.raises(ConfigError, match=r"kr\.yaml:3: .*at most 500 characters") as raised:
            load(tmp_path, environ={})
        told.append(str(raised.value))

    assert seconds_for(read, limit=_SECONDS) < _SECONDS
    assert len(told[0]) < 1_000


def test_a_question_with_a_topic_of_many_levels_is_routed_in_little_memory() -> None:
    """Its topic lies below that of a rule however deep it is."""
    table = Table([PlacedRule(RoutingRule(topic="a/*", agent="human"), "kr.yaml:1")], {}, 80)
    question = Question(text="Which store?", topic="a/" * 40_000)
    tracemalloc.start()
    try:
        assert seconds_for(lambda: table.route(question), limit=_SECONDS) < _SECONDS
        assert tracemalloc.get_traced_memory()[1] < _MOST_MEMORY
    finally:
        tracemalloc.stop()
    routed = table.route(question)
    assert routed is not None
    assert routed.target == "human"


def test_a_topic_is_the_first_of_those_that_it_lies_below() -> None:
    """A topic within the limit has all of them."""
    assert above("a/b/c") == ["a/b/c", "a/b", "a"]
    assert above("a") == ["a"]
