"""Rules: routing equal to a reference written from the requirements, and rules that can never apply refused."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import pytest

from kr_core import ConfigError
from kr_core.agents.question_dispatch import decide
from kr_core.model.questions import Question
from kr_core.model.routing import HUMAN, AgentProfile, RoutingRule
from kr_core.routing.defaults import ROSTER, RULES
from kr_core.routing.patterns import Patterns, folded, matches, nothing_fits
from kr_core.routing.table import PlacedRule, Table

CASES = 10_000
TOPICS = [
    "",
    *("/".join(levels) for depth in (1, 2, 3) for levels in itertools.product("ab", repeat=depth)),
    "ab",
    "ba",
    "ab/a",
    "c",
]
PATTERNS = ["a", "b", "a/b", "a/*", "b/*", "a/b/*", "*", "a*", "*b", "?", "*/a", "a/?", "ab", "[ab]"]


def fits(pattern, topic):
    """The requirements' patterns, letter by letter: `a/*` is `a` too; `*` any text, `?` one letter, `[ab]` one of two."""
    if pattern.endswith("/*") and not set(pattern[:-2]) & set("*?["):
        return topic == pattern[:-2] or topic.startswith(pattern[:-1])
    ends = {0}
    position = 0
    while position < len(pattern):
        sign = pattern[position]
        if sign == "*":
            ends = set(range(min(ends), len(topic) + 1)) if ends else ends
        elif sign == "[":
            close = pattern.index("]", position)
            ends = {
                end + 1
                for end in ends
                if topic[end : end + 1] and topic[end] in pattern[position + 1 : close]
            }
            position = close
        else:
            ends = {end + 1 for end in ends if topic[end : end + 1] and sign in {"?", topic[end]}}
        position += 1
    return len(topic) in ends


def says(rule, setting):
    """Whether a rule says something of a setting; a threshold of 0 does."""
    return getattr(rule, setting) is not None and getattr(rule, setting) is not False


def painted(rules, setting, topic):
    """What holds of a setting for a topic: painted from the last rule to the first, and the overriding ones over them."""
    held = None
    for over in (False, True):
        for rule in reversed(rules):
            if rule.override is over and fits(rule.topic, topic) and says(rule, setting):
                held = rule
    return held


def expected(rules, agents, default, topic, suggested):
    """Target, agent, threshold and whether all answers go to a human, by the requirements; None for nobody."""
    deciding = painted(rules, "agent", topic)
    target = None
    if deciding is not None and deciding.override:
        target = deciding.agent
    elif suggested is not None:
        target = suggested
    elif deciding is not None:
        target = deciding.agent
    if target is None:
        return None
    by_role = {profile.role: name for name, profile in reversed(agents.items())}
    agent = None if target == HUMAN else target if target in agents else by_role[target]
    of_topic = painted(rules, "threshold", topic)
    if of_topic is not None:
        threshold = of_topic.threshold
    elif agent is not None and agents[agent].threshold is not None:
        threshold = agents[agent].threshold
    else:
        threshold = default
    return target, agent, threshold, painted(rules, "always_escalate", topic) is not None


def some_rule(chance, names):
    agent = chance.choice([None, *names])
    return RoutingRule(
        topic=chance.choice(PATTERNS),
        agent=agent,
        threshold=chance.choice([None, None, 0, 50, 90, 100]),
        override=agent is not None and chance.random() < 0.3,
        always_escalate=chance.random() < 0.2,
        examples=("x",),
    )


def some_agents(chance):
    names = chance.sample(["one", "two", "three", "four"], chance.randint(1, 4))
    return {
        name: AgentProfile(
            name=name, plugin="p", role=chance.choice(["r", "s"]), threshold=chance.choice([None, 60, 95])
        )
        for name in names
    }


def can_apply(rules, number):
    """Whether a rule holds for any topic, in any of its settings; tried with every topic."""
    rule = rules[number]
    given = [name for name in ("agent", "threshold", "always_escalate") if says(rule, name)]
    return not given or any(
        painted(rules, name, topic) is rule for name in given for topic in TOPICS if fits(rule.topic, topic)
    )


@pytest.mark.req("Q2", "Q3", "SC-001")
def test_routing_is_what_the_requirements_say():
    """SC-001: 10,000 random configurations and questions go where a reference sends them, with its thresholds."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    refused = routed = 0
    for _ in range(CASES):
        agents = some_agents(chance)
        names = [*agents, *{one.role for one in agents.values()}, HUMAN]
        rules = [some_rule(chance, names) for _ in range(chance.randint(0, 5))]
        default = chance.choice([0, 80, 100])
        try:
            table = Table([PlacedRule(rule, f"line {n}") for n, rule in enumerate(rules)], agents, default)
        except ConfigError as error:
            number = int(error.where.removeprefix("line "))
            assert not can_apply(rules, number), (seed, rules, number)
            refused += 1
            continue
        topic = chance.choice(TOPICS)
        suggested = chance.choice([None, *names])
        written = topic.upper() if chance.random() < 0.5 else topic
        route = table.route(Question(text="?", topic=written, suggested_target=suggested))
        got = None if route is None else (route.target, route.agent, route.threshold, route.always_escalate)
        assert got == expected(rules, agents, default, topic, suggested), (seed, rules, topic, suggested)
        routed += got is not None
    assert refused > CASES / 20
    assert routed > CASES / 3


@pytest.mark.req("Q6", "SC-002")
def test_the_gate_is_exact_at_every_boundary():
    """SC-002: at each threshold from 0 to 99 an answer of that confidence passes, one below it does not; at 100 none does."""
    for threshold, confidence in itertools.product(range(101), repeat=2):
        verdict = decide(confidence, threshold)
        assert verdict.accepted is (threshold < 100 and confidence - threshold >= 0)
        assert (verdict.confidence, verdict.threshold) == (confidence, threshold)
        assert not decide(confidence, threshold, always_escalate=True).accepted


PARTS = [
    "a",
    "b",
    "/",
    "*",
    "?",
    "[ab]",
    "[!a]",
    "[a-c]",
    "[b-a]",
    "[!b-a]",
    "[/a]",
    "[]b]",
    "[",
    "]",
    "!",
    "-",
]


@pytest.mark.req("Q2", "Q11")
def test_a_pattern_that_covers_another_has_all_its_topics():
    """Of short patterns one covers another only where it has all of its short topics; and those are found that have none."""
    chance = random.Random(5)
    texts = [
        *(text for length in range(6) for text in itertools.product("ab/d", repeat=length)),
        *(text for length in range(5) for text in itertools.product("abcd/[]!-*", repeat=length)),
    ]
    topics = [topic for topic in map("".join, texts) if folded(topic) == topic]
    drawn = {folded("".join(chance.choices(PARTS, k=chance.randint(1, 3)))) for _ in range(150)} - {""}
    of = {
        pattern: frozenset(topic for topic in topics if matches(pattern, topic)) for pattern in sorted(drawn)
    }
    covered = 0
    for pattern, fitting in of.items():
        assert not nothing_fits(pattern) or not fitting, pattern
    names = list(of)
    patterns = Patterns(names)
    for other in names:
        for number in patterns.covering(other):
            assert of[other] <= of[names[number]], (names[number], other)
            covered += names[number] != other
    assert covered > len(of) / 2


@pytest.mark.parametrize(
    ("before", "rule", "applies"),
    [
        ({"topic": "a", "agent": "duc"}, {"topic": "a", "agent": "veuve"}, False),
        ({"topic": "a/*", "agent": "duc"}, {"topic": "a/b", "agent": "veuve"}, False),
        ({"topic": "a/*", "agent": "duc"}, {"topic": "a", "agent": "veuve"}, False),
        ({"topic": "*", "agent": "duc"}, {"topic": "security/*", "agent": "veuve"}, False),
        ({"topic": "*-auth", "agent": "duc"}, {"topic": "web-auth", "agent": "veuve"}, False),
        ({"topic": "a", "agent": "duc"}, {"topic": "a/*", "agent": "veuve"}, True),
        ({"topic": "a", "agent": "duc"}, {"topic": "a", "threshold": 90}, True),
        ({"topic": "a", "agent": "duc", "threshold": 1}, {"topic": "a", "agent": "duc", "always_escalate": True}, True),
        ({"topic": "a", "agent": "duc"}, {"topic": "a", "agent": "veuve", "threshold": 90}, True),
        ({"topic": "a", "threshold": 95}, {"topic": "a", "threshold": 90}, False),
        ({"topic": "a", "agent": "duc"}, {"topic": "a", "agent": "veuve", "override": True}, None),
        ({"topic": "a", "agent": "duc"}, {"topic": "a", "examples": ("x",)}, True),
        ({"topic": "a", "agent": "duc", "examples": ("x",)}, {"topic": "a", "agent": "duc", "examples": ("y",)}, False),
        ({"topic": "Data Model", "agent": "duc"}, {"topic": "data_model", "agent": "veuve"}, False),
        ({"topic": "security/**", "agent": "duc"}, {"topic": "security", "agent": "veuve"}, False),
        ({"topic": "[ab]*", "agent": "duc"}, {"topic": "[ab]*", "agent": "veuve"}, False),
        ({"topic": "a/*", "agent": "duc"}, {"topic": "a/b*", "agent": "veuve"}, False),
        ({"topic": "a/*", "agent": "duc"}, {"topic": "a/b/*", "agent": "veuve"}, False),
        ({"topic": "a/*", "agent": "duc"}, {"topic": "ab/*", "agent": "veuve"}, True),
        ({"topic": "[ab]*", "agent": "duc"}, {"topic": "a[0-9]", "agent": "veuve"}, True),
    ],
)  # fmt: skip
@pytest.mark.req("Q11")
def test_a_rule_that_can_never_apply_is_refused(before, rule, applies):
    """The rule that is behind one that takes all its questions is named with its line, and so is that one."""
    placed = [PlacedRule(RoutingRule(**before), "kr.yaml:3"), PlacedRule(RoutingRule(**rule), "kr.yaml:4")]
    if applies:
        assert Table(placed, ROSTER, 80).rules
        return
    with pytest.raises(ConfigError) as caught:
        Table(placed, ROSTER, 80)
    told = str(caught.value)
    assert "can never apply" in told
    assert told.startswith("kr.yaml:4: " if applies is False else "kr.yaml:3: ")
    assert ("comes before it" in told) is (applies is False)
    assert ("overrides it" in told) is (applies is None)


@pytest.mark.req("Q11")
def test_the_rule_that_always_escalates_is_named():
    """`--explain` names it, and not the one that has the threshold."""
    rules = [
        PlacedRule(RoutingRule(topic="a/*", agent="duc", threshold=70), "kr.yaml:1"),
        PlacedRule(RoutingRule(topic="a/b", always_escalate=True), "kr.yaml:2"),
    ]
    route = Table(rules, ROSTER, 80).route(Question(text="?", topic="a/b"))
    assert route is not None
    assert (route.threshold, route.threshold_reason) == (70, "rule a/b (kr.yaml:2)")


@pytest.mark.req("Q2")
def test_an_underscore_in_a_set_is_one_of_its_characters():
    """It is the hyphen that underscores are, and makes no range."""
    assert [matches(folded("x[a_c]"), folded(f"x{one}")) for one in "abc_"] == [True, False, True, True]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"topic": "/", "agent": "duc"}, "`/` is no topic"),
        ({"topic": "v[9-0]", "agent": "duc"}, "the rule for `v[9-0]` can never apply: no topic fits it"),
        ({"topic": "a"}, "says nothing"),
        ({"topic": "a", "agent": "duk"}, "did you mean `duc`?"),
        ({"topic": "a", "override": True}, "overrides the target and names none"),
    ],
)
@pytest.mark.req("Q11")
def test_a_rule_that_is_wrong_is_refused_with_its_place(rule, told):
    """A rule that says nothing, names nobody or overrides with nobody stops at once."""
    with pytest.raises(ConfigError, match=r"kr\.yaml:7") as caught:
        Table([PlacedRule(RoutingRule(**rule), "kr.yaml:7")], ROSTER, 80)
    assert told in str(caught.value)


@pytest.mark.req("Q2")
def test_the_default_rules_send_technical_questions_to_the_architect():
    """Where nothing is configured duc gets what is technical, at any depth, and veuve what is about the product."""
    table = Table([PlacedRule(rule, "default rules") for rule in RULES], ROSTER, 80)
    for topic, agent in {
        "authentication": "duc",
        "Security/OAuth": "duc",
        "scope": "veuve",
        "user stories": "veuve",
    }.items():
        route = table.route(Question(text="?", topic=topic))
        assert route is not None
        assert (route.agent, route.threshold) == (agent, 80)
    assert table.route(Question(text="?", topic="weather")) is None
    assert table.route(Question(text="?")) is None


def test_the_default_rules_are_listed():
    """Whoever writes rules of their own can read which ones they stand in place of."""
    page = (Path(__file__).parents[3] / "docs/how-to/route-questions.md").read_text("utf-8")
    listed = page.partition("## Without rules of your own")[2].partition("One rule under")[0]
    for agent, topics in zip(("duc", "veuve"), listed.split("`veuve`"), strict=True):
        assert {f"{topic}/*" for topic in re.findall("`([a-z-]+)`", topics)} - {"duc/*"} == {
            rule.topic for rule in RULES if rule.agent == agent
        }


@pytest.mark.req("Q9")
def test_several_targets():
    """Agents named twice, by name and role, are asked once; a rule that overrides asks its own alone."""
    rules = [PlacedRule(RoutingRule(topic="budget", agent="human", override=True), "kr.yaml:1")]
    table = Table(rules, ROSTER, 80)
    route = table.route(
        Question(text="?", suggested_target="@duc", also=("architect", "Product", "duc", "marie"))
    )
    assert (route.agent, route.also) == ("duc", ("veuve", "marie"))
    route = table.route(Question(text="?", topic="budget", suggested_target="duc", also=("veuve",)))
    assert (route.agent, route.also, route.target) == (None, (), "human")
    with pytest.raises(ConfigError, match="a human cannot be one of several targets"):
        table.route(Question(text="?", suggested_target="duc", also=("human",)))
    with pytest.raises(ConfigError, match=r"no agent or role is called `vevue`.*did you mean `veuve`"):
        table.route(Question(text="?", suggested_target="duc", also=("vevue",)))
