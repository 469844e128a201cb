"""Names that a question says in everyday words."""

import pytest

from kr_core.question.parsed_question import parse_question
from kr_core.question.question_names import named_elsewhere, says_parameter, telling_stems

pytestmark = pytest.mark.req("A1", "A8")


@pytest.mark.parametrize(
    ("question", "parameter", "taker"),
    [
        ("How do I set a timeout for a single request in httpx?", "timeout", "httpx.request"),
        ("How do I skip rows when I read a csv in pandas?", "skiprows", "pandas.read_csv"),
        ("How do I set the max age of a cookie in box?", "max_age", "box.cookie"),
        ("How do I set the compress level of a zip file in box?", "compressLevel", "box.ZipFile"),
    ],
)
def test_a_how_to_says_a_parameter_and_what_takes_it(question, parameter, taker):
    """A question says a name of several words if it says each of them, in any spelling."""
    assert says_parameter(parse_question(question), question.split()[-1].strip("?"), parameter, [taker])


@pytest.mark.parametrize(
    ("question", "parameter", "taker"),
    [
        ("How do I set a timeout in httpx?", "timeout", "httpx.request"),
        ("How do I set the age of a cookie in box?", "max_age", "box.cookie"),
        ("What is the default timeout of a request in httpx?", "timeout", "httpx.request"),
        (
            "How do I train a random forest on the columns of a frame and predict labels in box?",
            "columns",
            "box.frame",
        ),
        ("How do I set a timeout of a request in httpx?", "_", "httpx._"),
        ("How do I check that an exception is raised in box?", "check", "box.raises"),
    ],
)
def test_what_is_said_in_part_or_by_the_way_is_not_asked_for(question, parameter, taker):
    """A callable that is not said, half a name, another kind of question, and one that is about something else."""
    assert not says_parameter(parse_question(question), question.split()[-1].strip("?"), parameter, [taker])


def test_the_library_says_nothing_of_its_question():
    """Neither do words that any question of the kind has."""
    assert telling_stems(parse_question("How do I set a timeout in httpx?"), "httpx") == {"timeout"}


def test_a_word_that_another_callable_is_called_by_speaks_against_a_parameter():
    """`read(columns)` of another reader is no answer to a question about a CSV where there is a `read_csv`."""
    asked = parse_question("How do I read only some columns from a CSV in box?")
    others = ["box.Reader.read", "box.read_csv"]
    assert says_parameter(asked, "box", "columns", ["box.Reader.read"])
    elsewhere = named_elsewhere(others, "box.Reader.read reads a table")
    assert not says_parameter(asked, "box", "columns", ["box.Reader.read"], elsewhere)
    assert says_parameter(
        asked, "box", "columns", ["box.read_csv"], named_elsewhere(others, "box.read_csv reads a CSV")
    )
