"""Several agents asked the same: what agreement is, and what it is worth."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.asking.several import MOST, agree, raised, weigh
from kr_core.model.questions import Answer, Question

QUESTION = Question(text="Which session store should we use?")
PERCENT = st.integers(0, 100)


def answer(content, confidence=80, agent="duc"):
    return Answer(question_id=QUESTION.id, content=content, confidence=confidence, agent=agent)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Redis", "redis.", True),
        ("Use Redis for sessions, with a short TTL.", "Redis for sessions with a short TTL", True),
        ("Use Redis", "Do not use Redis", False),
        ("Use Redis.", "Don't use Redis.", False),
        ("Redis", "Postgres", False),
        ("Yes", "No", False),
        ("Use SQL", "Use NoSQL", False),
        (
            "Store sessions in Redis with a TTL of 30 minutes and rotation on login",
            "Store sessions in Postgres with a TTL of 30 minutes and rotation on login",
            False,
        ),
        (
            "Store sessions in Redis with a TTL of 30 minutes",
            "Store sessions in Redis with a TTL of 90 minutes",
            False,
        ),
        ("Use the session store", "Which store we use: the session store", True),
        ("Redis", "Redis, since it expires keys by itself and we run it already in production", False),
    ],
)
@pytest.mark.req("Q9")
def test_answers_that_say_the_same(one, other, same):
    """Wording may differ; a negation, a number or a name in which they differ makes a conflict."""
    assert agree(QUESTION, answer(one), answer(other)) is same
    assert agree(QUESTION, answer(other), answer(one)) is same


@pytest.mark.req("Q9")
def test_choices_agree_only_if_they_are_the_same():
    """Of choices there is no nearly."""
    question = QUESTION.model_copy(update={"choices": ("Redis", "Redis Cluster")})
    assert agree(question, answer("Redis"), answer(" redis"))
    assert not agree(question, answer("Redis"), answer("Redis Cluster"))


@given(PERCENT, st.lists(PERCENT, max_size=5))
@pytest.mark.req("Q9")
def test_agreement_never_lowers_and_never_makes_sure(best, others):
    """Raised by each that agrees, in whatever order, and by none beyond the most; one that is sure of nothing adds nothing."""
    others = [min(one, best) for one in others]
    made = raised(best, others)
    assert max(best, min(MOST, best)) <= made <= max(best, MOST)
    assert raised(best, [*others, 0]) == made
    assert raised(best, [*others, best]) >= made
    assert raised(best, others[::-1]) == made


def test_the_confidence_of_agreement_by_hand():
    """A quarter of the other's confidence is taken off what is doubtful."""
    table = {
        (70, (70,)): 75,
        (78, (78,)): 82,
        (80, (80,)): 84,
        (90, (90,)): 92,
        (98, (98,)): 98,
        (70, (70, 70, 70)): 83,
    }
    assert {key: raised(key[0], key[1]) for key in table} == table


@pytest.mark.req("Q9")
def test_what_several_answers_come_to():
    """All that agree: the surest, raised and noted. One that does not: all of them, in the order of the agents, and no answer."""
    agreed = weigh(
        QUESTION, [answer("Redis", 70, "duc"), answer("redis.", 85, "veuve"), answer("Redis", 60, "marie")]
    )
    assert agreed.answer is not None
    assert (agreed.answer.agent, agreed.answer.content) == ("veuve", "redis.")
    assert agreed.answer.confidence == raised(85, [70, 60]) > 85
    assert agreed.answer.raw_confidence == 85
    assert agreed.answer.notes == (
        f"duc, veuve and marie agree: confidence 85 raised to {agreed.answer.confidence}",
    )
    for order in itertools.permutations(
        [answer("Redis", 70, "duc"), answer("Redis", 99, "veuve"), answer("Postgres", 10, "marie")]
    ):
        split = weigh(QUESTION, order)
        assert split.answer is None
        assert split.alternatives == order
        assert split.said.endswith("do not agree")
    alone = answer("Redis", 70)
    assert weigh(QUESTION, [alone]) == (alone, (), "")
    assert weigh(QUESTION, []) == (None, (), "")
