"""The parts of a question for several things that an answer leaves out."""

import pytest

from kr_core.evidence.untold_parts import HALF, HARDLY, untold_parts
from kr_core.model import Claim, Draft, ResearchQuery

WHITE = "How can I save a figure without the white margin"


def left_out(question: str, told: str, share: float) -> list[str]:
    query = ResearchQuery(
        framework="plots", framework_version="1.0", topic="t", tags=("t",), question=question
    )
    return untold_parts(query, Draft(summary=(Claim(text=told),)), share)


@pytest.mark.req("A2", "A8")
def test_a_part_of_which_the_answer_says_half_is_only_not_surely_told():
    question = f"{WHITE} and with a transparent background?"
    told = "Save the figure with a transparent background."
    assert left_out(question, told, HARDLY) == []
    assert left_out(question, told, HALF) == [WHITE]
    assert left_out(question, "A transparent background.", HARDLY) == [WHITE]


@pytest.mark.req("A2")
def test_of_one_thing_or_of_nothing_no_part_is_left_out():
    assert left_out(f"{WHITE}?", "Nothing of it.", HALF) == []
    both = f"{WHITE} and how do I draw a coloured background grid?"
    assert left_out(both, "Something else.", HALF) == []
    assert left_out(both, "Saves a figure without margins that are white.", HALF) != []
