"""The parts of a question for several things that an answer leaves out."""

import pytest

from kr_core.evidence.untold_parts import untold_parts
from kr_core.model import Claim, Draft, ResearchQuery

WHITE = "How can I save a figure without the white margin"


def left_out(question: str, told: str, *, surely: bool) -> list[str]:
    query = ResearchQuery(
        framework="plots", framework_version="1.0", topic="t", tags=("t",), question=question
    )
    return untold_parts(query, Draft(summary=(Claim(text=told),)), surely=surely)


@pytest.mark.req("A2", "A8")
def test_a_part_of_which_the_answer_says_half_is_only_not_surely_told():
    question = f"{WHITE} and with a transparent background?"
    told = "Save the figure with a transparent background."
    assert left_out(question, told, surely=True) == []
    assert left_out(question, told, surely=False) == [WHITE]
    assert left_out(question, "A transparent background.", surely=True) == [WHITE]


@pytest.mark.req("A2")
def test_of_one_thing_or_of_nothing_no_part_is_left_out():
    assert left_out(f"{WHITE}?", "Nothing of it.", surely=False) == []
    both = f"{WHITE} and how do I draw a coloured background grid?"
    assert left_out(both, "Something else.", surely=False) == []
    assert left_out(both, "Saves a figure without margins that are white.", surely=False) != []
