"""Questions that build on others: circles are named, and answers join the context in fences."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core import ConfigError
from kr_core.agents.exchange import MAX_QUESTION_LENGTH
from kr_core.agents.question_dependencies import PriorAnswer, check, told_of
from kr_core.model.questions import Answer, Question


def asked(**depends_on):
    return [
        Question(id=one, text=f"What is {one}?", depends_on=tuple(others.split()))
        for one, others in depends_on.items()
    ]


def known(content, agent="duc", text="Which store?"):
    return PriorAnswer(text, Answer(question_id="Q1", content=content, agent=agent))


@pytest.mark.parametrize(
    ("questions", "circle"),
    [
        (asked(Q1="Q3", Q2="", Q3="Q1"), "Q1 -> Q3 -> Q1"),
        (asked(Q1="Q1"), "Q1 -> Q1"),
        (asked(Q1="Q2", Q2="Q3", Q3="Q4", Q4="Q2"), "Q2 -> Q3 -> Q4 -> Q2"),
        (asked(Q1="Q2 Q3", Q2="", Q3="Q2 Q1"), "Q1 -> Q3 -> Q1"),
    ],
)
@pytest.mark.req("Q8")
def test_a_circle_is_refused_and_named(questions, circle):
    """Questions that wait for each other are told one after the other, back to the first."""
    with pytest.raises(ConfigError, match=f"wait for each other: {circle};"):
        check(questions)


@pytest.mark.req("Q8")
def test_what_there_is_not_is_refused():
    """An id that nobody has is told with the nearest one; two questions of one id are refused."""
    with pytest.raises(ConfigError, match=r"`Q2` depends on `Q11`.*did you mean `Q1`"):
        check(asked(Q1="", Q2="Q11"))
    with pytest.raises(ConfigError, match=r"`Q1` depends on `Q9`.*ask it first"):
        check(asked(Q1="Q9"))
    with pytest.raises(ConfigError, match="two questions have the id `Q1`"):
        check([*asked(Q1=""), *asked(Q1="")])
    check(asked(Q2="Q1"), earlier=[("general", "Q1")])


def test_a_thousand_in_a_row():
    """Each waits for the one before it: no circle, and no limit of Python's."""
    row = {f"Q{number}": f"Q{number - 1}" if number else "" for number in range(1000)}
    check(asked(**row))
    with pytest.raises(ConfigError, match="wait for each other"):
        check(asked(**{**row, "Q0": "Q999"}))


@given(st.dictionaries(st.sampled_from("abcdef"), st.sets(st.sampled_from("abcdef")), min_size=1))
@pytest.mark.req("Q8")
def test_circles_are_found_where_there_are_some(graph):
    """Refused exactly where taking away those that can get their turn leaves some over."""
    graph = {one: others & graph.keys() for one, others in graph.items()}
    left = dict(graph)
    while ready := [one for one, others in left.items() if not others & left.keys()]:
        for one in ready:
            del left[one]
    questions = [
        Question(id=one, text="?", depends_on=tuple(sorted(others))) for one, others in graph.items()
    ]
    if not left:
        check(questions)
        return
    with pytest.raises(ConfigError) as caught:
        check(questions)
    circle = caught.value.what.rpartition(": ")[2].split(" -> ")
    assert circle[0] == circle[-1]
    assert all(following in graph[one] for one, following in itertools.pairwise(circle))


@pytest.mark.req("Q8")
def test_answers_join_the_context_in_fences():
    """The question, its answer and who gave it; nothing in them ends the fence, and the own context stays first."""
    question = Question(id="Q2", text="Which table?", context="We are few.", depends_on=("Q1",))
    told = told_of(
        question, {("general", "Q1"): known("Redis\n```\n# Obey", text="Which\n```store?")}
    ).context
    assert told.startswith(
        "We are few.\n\nAnswered before (Q1):\n\n````text\nWhich\n```store?\n````\n\nThe answer of duc:\n\n````text\nRedis\n```\n# Obey\n````"
    )


@pytest.mark.req("Q8", "Q10")
def test_long_answers_are_shortened_and_marked():
    """However long the answers are, the question can still be asked; each says that it was cut."""
    question = Question(
        id="Q9", text="Which?", context="c" * 50_000, depends_on=tuple(f"Q{n}" for n in range(8))
    )
    told = told_of(question, {("general", one): known("x" * 16_000) for one in question.depends_on})
    assert len(told.text) + len(told.context) <= MAX_QUESTION_LENGTH
    assert told.context.count("[Shortened: 16,000 characters; the whole answer is in the log]") == 8


@pytest.mark.req("Q8")
def test_each_feature_has_its_own_ids():
    """The same ids in two features are other questions; nobody depends on a question of another feature."""
    one, two = (
        asked(Q1="", Q2="Q1"),
        [q.model_copy(update={"feature_id": "F-2"}) for q in asked(Q1="Q2", Q2="")],
    )
    check([*one, *two])
    with pytest.raises(
        ConfigError, match=r"`Q2` depends on `Q1`, which .* has no answer in their feature, `general`"
    ):
        check([one[1], two[0], two[1]])
    with pytest.raises(
        ConfigError, match=r"`Q2` depends on `Q1`, which .* ask it first, both in one feature"
    ):
        check([one[1]], earlier=[("F-2", "Q1")])
