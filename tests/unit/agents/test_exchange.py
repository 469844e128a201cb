"""Questions and answers go on the record without secrets, and no reader gets more than fits."""

import pytest

from kr_core import ConfigError
from kr_core.agents.exchange import (
    MAX_ANSWER_LENGTH,
    MAX_NAME_LENGTH,
    MAX_QUESTION_LENGTH,
    key,
    question_event,
    redact_question,
    shortened,
    submitted,
    told,
)
from kr_core.model.questions import Answer, Question

SECRET = "sk-ant-" + "a1b2c3d4" * 4


def answer(**values):
    return Answer(**{"question_id": "Q1", "content": "Use Redis.", "agent": "duc", **values})


@pytest.mark.req("Q1")
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"text": " "}, "the question is empty"),
        ({"topic": "x" * (MAX_NAME_LENGTH + 1)}, "the topic has 201 characters"),
        ({"feature_id": "x" * (MAX_NAME_LENGTH + 1)}, "the feature has 201 characters"),
        ({"id": SECRET}, "the id looks like a secret"),
        ({"choices": ("Redis", " redis ")}, "a choice is empty"),
        ({"choices": ("Redis", "")}, "a choice is empty"),
        ({"context": "x" * MAX_QUESTION_LENGTH}, "at most 100,000 can be asked"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(values, why):
    """The message says what is wrong before anything is on the record."""
    with pytest.raises(ConfigError, match=why):
        redact_question(Question(**{"text": "Which store?", **values}))


@pytest.mark.req("Q1")
def test_secrets_are_taken_out_of_all_texts_of_a_question():
    """Text, context, topic and choices go on without them."""
    clean = redact_question(
        Question(text=f"Is {SECRET} right?", context=SECRET, topic=SECRET, choices=(f"yes {SECRET}", "no"))
    )
    assert SECRET not in clean.model_dump_json()
    assert SECRET not in str(question_event(clean))


@pytest.mark.req("Q1")
def test_a_question_is_known_by_its_feature_and_id():
    """The record has both beside the question, so its own data leaves them out."""
    question = Question(id="Q1", feature_id="shop", text="Which store?")
    assert key(question) == ("shop", "Q1")
    assert not {"id", "feature_id"} & question_event(question).keys()


@pytest.mark.req("Q10")
def test_a_long_answer_is_shortened_for_the_next_reader():
    """What is left is marked, names the exchange that has all of it, and fits; a short one stays as it is."""
    long = shortened(answer(content="x" * (MAX_ANSWER_LENGTH + 1), rationale="short"), "x7")
    assert len(long.content) == MAX_ANSWER_LENGTH
    assert long.content.endswith(
        "[Shortened: 16,001 characters; the whole answer is in the log, exchange x7]"
    )
    assert long.rationale == "short"
    short = answer()
    assert shortened(short, "x7") == short


@pytest.mark.req("Q13")
def test_an_answer_that_a_program_hands_in_is_validated_by_nobody():
    """It has no secret either, whatever field it was in."""
    found = submitted(answer(content=f" {SECRET} ", rationale=SECRET, notes=(SECRET,), validated_by="human"))
    assert found.validated_by is None
    assert SECRET not in found.model_dump_json()
    assert not {"question_id", "time"} & told(found).keys()
