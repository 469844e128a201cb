"""A topic is proposed from the rules' examples, always the same one, and decides nothing."""

import subprocess
import sys

import pytest

from kr_core.model.questions import Question
from kr_core.model.routing import RoutingRule
from kr_core.routing.defaults import ROSTER, RULES
from kr_core.routing.table import PlacedRule, Table
from kr_core.routing.topic_classifier import Proposer

RULES_WITH_EXAMPLES = (
    RoutingRule(topic="security/*", agent="duc", examples=("How are passwords hashed?", "Which OAuth flow do we use?")),
    RoutingRule(topic="data", agent="duc", examples=("Which database holds the orders?", "How long are invoices kept?")),
    RoutingRule(topic="*-plan", agent="veuve", examples=("Which flow do we plan?",)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "topic"),
    [
        ("How do we hash a password?", "security"),
        ("Which OAuth flow fits a mobile app?", "security"),
        ("Where are orders and invoices kept?", "data"),
        ("What colour is the sky over the sea?", None),
        ("", None),
        ("why", None),
    ],
)
@pytest.mark.req("Q2")
def test_the_topic_of_the_examples_that_are_most_like(asked, topic):
    """Words in common with a topic's examples propose it; with none, nothing is proposed; a glob is no topic."""
    assert Proposer(RULES_WITH_EXAMPLES).propose(asked) == topic


@pytest.mark.req("Q3")
def test_a_proposal_decides_nothing():
    """A question without a topic goes to a human as `unknown topic`, with the proposal beside it."""
    table = Table([PlacedRule(rule, "kr.yaml:1") for rule in RULES_WITH_EXAMPLES], ROSTER, 80)
    question = Question(text="How do we hash a password?", topic="no such topic")
    assert table.route(question) is None
    route = table.unknown(question)
    assert (route.target, route.agent, route.reason, route.proposed_topic) == (
        "human",
        None,
        "unknown topic",
        "security",
    )


@pytest.mark.req("Q3")
def test_the_same_proposal_in_every_process():
    """The order of hashes decides nothing: each process proposes the same, also where topics are equally like."""
    code = (
        "from kr_core.routing.topic_classifier import Proposer; from kr_core.routing.defaults import RULES; p = Proposer(RULES);"
        "print([p.propose(t) for t in ('session search cache', 'scope budget users', 'tools queues naming priority')])"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONHASHSEED": str(seed)}).stdout
        for seed in range(4)
    }  # fmt: skip
    assert len(said) == 1


def test_names_of_topics_are_examples():
    """The default rules have no examples: their topics' names propose them, the first of two that are equally like."""
    assert Proposer(RULES).propose("Which session store should we use?") == "session"


def test_no_rules_propose_nothing():
    """Neither without rules nor from a question of a megabyte comes anything but an answer."""
    assert Proposer(()).propose("Which session store should we use?") is None
    assert Proposer(RULES).propose("session " * 130_000) == "session"
