"""A value written into a TOML text, in which all else stays as it is."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.config.toml_edit import added, with_value
from kr_core.config.yaml_edit import UnsuitableTextError

pytestmark = pytest.mark.req("V4")
KEY = ("agents", "duc", "threshold")
RULES = ("routing", "rules")
RULE = {"topic": "a: b", "agent": "duc"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[tool.kr]\n", "[tool.kr]\n\n[tool.kr.agents.duc]\nthreshold = 85\n"),
        (
            "[tool.kr.agents.duc]\nthreshold = 70  # low\nmodel = 'x'\n",
            "[tool.kr.agents.duc]\nthreshold = 85  # low\nmodel = 'x'\n",
        ),
        (
            "[tool.kr.agents.duc]  # chief\nmodel = 'x'\n\n# the rest\n[tool.other]\nx = 1\n",
            "[tool.kr.agents.duc]  # chief\nmodel = 'x'\nthreshold = 85\n\n# the rest\n[tool.other]\nx = 1\n",
        ),
        ("[tool.kr]\nagents.duc.threshold = 70", "[tool.kr]\nagents.duc.threshold = 85"),
        (
            "[tool.kr]\nagents.duc.model = 'x'\n[tool.b]\n",
            "[tool.kr]\nagents.duc.model = 'x'\nagents.duc.threshold = 85\n[tool.b]\n",
        ),
        (
            "[tool.kr.agents.duc]\r\nmodel = 'x'\r\n",
            "[tool.kr.agents.duc]\r\nmodel = 'x'\r\nthreshold = 85\r\n",
        ),
        (
            '[project]\ntext = """\n[tool.kr.agents.duc]\n"""\n[tool.kr]\nlogs = []\n',
            (
                '[project]\ntext = """\n[tool.kr.agents.duc]\n"""\n[tool.kr]\nlogs = []\n\n'
                "[tool.kr.agents.duc]\nthreshold = 85\n"
            ),
        ),
    ],
)
def test_a_value_is_written_where_it_belongs(before, after):
    """Comments, order, quotes and line ends stay; a line in a text of several lines is not taken for a table."""
    assert with_value(before, KEY, 85) == after


@pytest.mark.parametrize(
    "text",
    [
        "[tool.kr]\nagents = 5\n",
        "[tool.kr]\nagents = {duc = {model = 'x'}}\n",
        "[tool.kr.agents.duc]\nthreshold = [\n  1,\n]\n",
        "[tool.kr",
    ],
)
def test_a_text_without_a_plain_place_is_refused(text):
    """A value of another shape in the way, an inline table, a value of several lines, a text that is not TOML."""
    with pytest.raises(UnsuitableTextError):
        with_value(text, KEY, 85)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "[[tool.kr.routing.rules]]\ntopic = 'a'\n\n[tool.b]\n",
            (
                "[[tool.kr.routing.rules]]\ntopic = 'a'\n\n[tool.b]\n\n"
                '[[tool.kr.routing.rules]]\ntopic = "a: b"\nagent = "duc"\n'
            ),
        ),
        (
            "[tool.kr.routing]\nrules = [{topic = 'a'}]  # first\n",
            '[tool.kr.routing]\nrules = [{topic = \'a\'}, {topic = "a: b", agent = "duc"}]  # first\n',
        ),
        (
            "[tool.kr.routing]\nrules = [\n  {topic = 'a'},  # one\n]\n",
            (
                "[tool.kr.routing]\nrules = [\n  {topic = 'a'},  # one\n"
                '  {topic = "a: b", agent = "duc"},\n]\n'
            ),
        ),
        ("[tool.kr]\n", '[tool.kr]\n\n[[tool.kr.routing.rules]]\ntopic = "a: b"\nagent = "duc"\n'),
    ],
)
def test_a_rule_is_added_at_the_end_of_the_list(before, after):
    """In the form that the list has."""
    assert added(before, RULES, RULE) == after


def test_rules_take_the_place_of_none():
    """A list of tables is written as tables."""
    text = with_value("[tool.kr]\n", RULES, [RULE, {"topic": "b"}])
    assert tomllib.loads(text)["tool"]["kr"]["routing"]["rules"] == [RULE, {"topic": "b"}]


@given(st.text(max_size=40), st.text(max_size=20), st.text("[]='\"\n#,{}. a", max_size=40))
def test_whatever_is_written_is_read_again(name, value, around):
    """Any name and text, beside anything: the file has the old values and the new one, or it is refused."""
    before = f"{around}\n[tool.kr]\nlogs = []\n"
    try:
        text = with_value(before, ("agents", name, "model"), value)
    except UnsuitableTextError:
        return
    there = tomllib.loads(text)
    assert there["tool"]["kr"].pop("agents")[name]["model"] == value
    assert there == tomllib.loads(before)
