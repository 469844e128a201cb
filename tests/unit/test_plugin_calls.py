"""Calls of plugins: within a time limit, and their faults in one line."""

import threading

import pytest

from kr_core.model import Score
from kr_core.plugin_calls import OverdueError, PluginCalls, call_within, fault_line

pytestmark = pytest.mark.req("P1", "Z8")


def raised(work):
    with pytest.raises(BaseException) as info:  # noqa: PT011  whatever it is
        work()
    return info.value


def test_what_does_not_end_is_given_up():
    """A call that never ends is given up after its limit, and the component is not called again."""
    called = []

    def hang(_):
        called.append(1)
        threading.Event().wait()

    calls = PluginCalls("slow", object(), 0.05)
    assert "did not end within 0.05 s" in str(raised(lambda: calls(hang)))
    again = raised(lambda: calls(hang))
    assert isinstance(again, OverdueError)
    assert "does not call it again" in str(again)
    assert called == [1]


def test_a_result_and_an_error_pass_through():
    """What the work returns or raises comes to the caller."""
    assert call_within(lambda: 7) == 7
    assert isinstance(raised(lambda: call_within(lambda: 1 / 0)), ZeroDivisionError)


def test_a_fault_names_the_line_of_the_plugin():
    """A fault has the last file and line of the plugin's package, and none of others."""
    error = raised(lambda: int("x\ny"))
    assert fault_line(error, "other") == r"ValueError: invalid literal for int() with base 10: 'x\ny'"
    assert (
        fault_line(error, __name__.partition(".")[0]).rpartition(" (")[2].startswith("test_plugin_calls.py:")
    )


def test_a_fault_of_pydantic_is_one_line():
    """pydantic says several lines for each wrong value; the fault line has its key and what is expected."""
    line = fault_line(raised(lambda: Score(score=101, level="good")))
    assert line == (
        "ValidationError: Score: score: Input should be less than or equal to 100; "
        "level: Input should be 'high', 'medium' or 'low'"
    )


@pytest.mark.parametrize(
    ("score", "level", "right"), [(95, "low", "high"), (80, "medium", "high"), (49, "medium", "low")]
)
def test_a_score_has_the_level_of_its_number(score, level, right):
    """`high` is from 80, `medium` from 50; any other pair is refused with what would be right."""
    said = fault_line(raised(lambda: Score(score=score, level=level)))
    assert said == (
        f"ValidationError: Score: a score of {score} is `{right}`, not `{level}`; `high` is from 80, `medium` from 50"
    )
    assert Score(score=score, level=right).level == right
