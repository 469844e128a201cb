"""Several agents asked the same: what agreement is, and what it is worth."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.agents.consensus import MOST, agree, combine, raised
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
        ("Use the session store", "Which store we use: the session store", False),
        ("Redis with a short TTL for all of them", "Redis with a short TTL for all of them please", True),
        ("Keep sessions in memory on each server", "Keep sessions in memory safely on each server", True),
        ("Prefer Redis to Postgres", "Prefer Postgres to Redis", False),
        ("C++", "C#", False),
        ("Option A", "Option B", False),
        ("Encrypt all of the session data at rest", "Encrypt almost all of the session data at rest", False),
        ("Encrypt the session data in the cluster", "Encrypt the session data in the Redis cluster", False),
        ("Redis", "Redis, since it expires keys by itself and we run it already in production", False),
    ],
)
@pytest.mark.req("Q9")
def test_answers_that_say_the_same(one, other, same):
    """Wording may differ; a negation, a number or a name in which they differ makes a conflict."""
    assert agree(QUESTION, answer(one), answer(other)) is same
    assert agree(QUESTION, answer(other), answer(one)) is same


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("{} is the best choice because it is fast, simple and well known by the team", "Redis", "Postgres"),
        ("Use {} as the store for user sessions with expiry of entries", "redis", "postgres"),
        ("Always enable {} replication for the session table in the cluster", "synchronous", "asynchronous"),
        ("We should {} encryption of session data at rest in the database", "enable", "disable"),
        ("Validate the token {} the session lookup in every request handler", "before", "after"),
        ("Use {} locking for the update of user accounts in the database", "optimistic", "pessimistic"),
        ("Sessions expire after {} minutes of inactivity on the server side", "ten", "sixty"),
        ("Deploy to {}, then run the migrations and the smoke tests in the cluster", "A", "B"),
    ],
)
@pytest.mark.req("Q9")
def test_one_word_is_enough_for_a_conflict(text, one, other):
    """However much else two answers have in common, a word in which each differs makes a conflict, and nothing is raised."""
    weighed = combine(QUESTION, [answer(text.format(one), 78), answer(text.format(other), 78, "veuve")])
    assert weighed.answer is None
    assert len(weighed.alternatives) == 2


@pytest.mark.req("Q9")
def test_a_question_that_names_both_makes_them_no_less_different():
    """What stands in the question counts in its answers as well."""
    question = Question(text="Redis or Postgres?")
    assert not agree(question, answer("Redis"), answer("Postgres"))


@pytest.mark.req("Q9")
def test_the_same_in_more_words_is_no_reason_to_be_surer():
    """Only the same answer raises the confidence; a longer one beside it leaves it as it was."""
    weighed = combine(
        QUESTION,
        [
            answer("Keep sessions in memory on each server", 78),
            answer("Keep sessions in memory safely on each server", 70, "veuve"),
        ],
    )
    assert weighed.answer.confidence == 78
    assert weighed.message == "duc and veuve agree, but not word for word: confidence 78 not raised"


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
    agreed = combine(
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
        split = combine(QUESTION, order)
        assert split.answer is None
        assert split.alternatives == order
        assert split.message.endswith("do not agree")
    alone = answer("Redis", 70)
    assert combine(QUESTION, [alone]) == (alone, (), "")
    assert combine(QUESTION, []) == (None, (), "")
