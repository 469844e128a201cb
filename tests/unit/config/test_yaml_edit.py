"""A value written into a YAML text, in which all else stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core import yaml_text
from kr_core.config.yaml_edit import UnsuitableTextError, added, with_value

pytestmark = pytest.mark.req("V4")
KEY = ("agents", "duc", "threshold")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "agents:\n  duc:\n    threshold: 85\n"),
        ("# none yet\n", "# none yet\nagents:\n  duc:\n    threshold: 85\n"),
        ("agents:\n  duc:\n    threshold: 70  # low\n", "agents:\n  duc:\n    threshold: 85  # low\n"),
        (
            "agents:\n  duc:  # chief\n    model: x  # big\n\n# the rest\nstore: files\n",
            "agents:\n  duc:  # chief\n    model: x  # big\n    threshold: 85\n\n# the rest\nstore: files\n",
        ),
        ("agents: {duc: {}}\n", 'agents: {duc: {"threshold": 85}}\n'),
        ('{"agents": {"duc": {"model": "x"}}}', '{"agents": {"duc": {"model": "x", "threshold": 85}}}'),
        ("agents:\nstore: files\n", "agents: {duc: {threshold: 85}}\nstore: files\n"),
        ("store: files", "store: files\nagents:\n  duc:\n    threshold: 85\n"),
        (
            "agents:\r\n  duc:\r\n    model: x\r\n",
            "agents:\r\n  duc:\r\n    model: x\r\n    threshold: 85\r\n",
        ),
    ],
)
def test_a_value_is_written_where_it_belongs(before, after):
    """Comments, order, quotes and line ends stay."""
    assert with_value(before, KEY, 85) == after


@pytest.mark.parametrize(
    "text", ["agents: 5\n", "agents: [a]\n", "agents: &a\n  duc: {threshold: 5}\nroles: *a\n", "[1]\n"]
)
def test_a_text_without_a_plain_place_is_refused(text):
    """A value of another shape in the way, and a text that stands for two."""
    with pytest.raises(UnsuitableTextError):
        with_value(text, KEY, 85)


def test_a_rule_is_added_at_the_end_of_the_list():
    """In the form that the list has."""
    rule = {"topic": "a: b", "agent": "duc"}
    block = "routing:\n  rules:\n    - topic: a\n      agent: duc  # first\n# end\n"
    assert added(block, ("routing", "rules"), rule) == (
        "routing:\n  rules:\n    - topic: a\n      agent: duc  # first\n"
        '    - {topic: "a: b", agent: duc}\n# end\n'
    )
    flow = '{"routing": {"rules": [{"topic": "a"}]}}'
    assert added(flow, ("routing", "rules"), rule) == (
        '{"routing": {"rules": [{"topic": "a"}, {"topic": "a: b", "agent": "duc"}]}}'
    )


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    values=st.dictionaries(st.sampled_from(["agents", "store", "x y", "été"]), VALUES, max_size=4),
    value=st.integers(0, 100) | st.text(max_size=10),
)
def test_what_is_read_again_is_what_was_there_and_the_value(values, value):
    """Whatever the text is: it is refused, or holds the same values and the new one."""
    text = yaml_text.dump(values)
    try:
        changed = with_value(text, KEY, value)
    except (UnsuitableTextError, yaml_text.YAMLError, ValueError):
        return
    found = yaml_text.load(changed)
    assert found["agents"]["duc"]["threshold"] == value
    assert {key: one for key, one in found.items() if key != "agents"} == {
        key: one for key, one in yaml_text.load(text).items() if key != "agents"
    }
