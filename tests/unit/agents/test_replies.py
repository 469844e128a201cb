"""What a model wrote, read against the form that it was asked for."""

import pytest

from kr_core.agents.replies import BadReplyError, OutsideError, answer_schema, read
from kr_core.model.questions import Reply, read_confidence


@pytest.mark.req("Q6")
@pytest.mark.parametrize("before", ["", "Here it is: "])
def test_a_confidence_of_more_digits_than_python_reads(before):
    """It counts as 0, and what was answered is not lost."""
    text = f'{before}{{"answer": "Use Redis.", "rationale": "Fast.", "confidence": {"9" * 5000}}}'
    found = read(Reply(text=text), answer_schema())
    assert found["answer"] == "Use Redis."
    assert read_confidence(found["confidence"])[0] == 0


@pytest.mark.req("Q7")
@pytest.mark.parametrize(
    ("said", "rationale", "kind"),
    [("MySQL", '"Fast."', OutsideError), ("MySQL", "7", BadReplyError), (" ", '"Fast."', BadReplyError)],
)
def test_an_answer_outside_of_the_choices(said, rationale, kind):
    """It is told from what is in no due form at all."""
    text = f'{{"answer": "{said}", "rationale": {rationale}, "confidence": 95}}'
    with pytest.raises(BadReplyError) as caught:
        read(Reply(text=text), answer_schema(("Redis", "Postgres")))
    assert type(caught.value) is kind
