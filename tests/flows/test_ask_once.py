"""A question under its own id waits in one case at most, and what a human has answered is not asked again."""

import pytest
from asked import Says, record, said, service

from kr_core import HumanResponse, Question

UNSURE = said("Redis.", 60)
pytestmark = pytest.mark.req("H3", "SC-008")


def ask(made, **values):
    return made.ask(Question(text="Which store?", id="Q1", feature_id="shop", **values))


def statuses(made):
    return {case.request.id: case.status for case in made.cases.all()}


def test_a_question_asked_anew_waits_in_its_newest_case(tmp_path):
    """The older one is superseded, on the record, by the exchange that followed it; questions of other ids stay."""
    with service(tmp_path, duc=Says(UNSURE)) as made:
        ask(made, suggested_target="duc")
        made.ask(Question(text="Which store?", id="Q2", feature_id="shop", suggested_target="duc"))
        newest = ask(made, suggested_target="duc")
        assert newest.escalation.id == "E3"
        found = statuses(made)
        assert found.pop("E1") == "superseded"
        assert not {"superseded"} & {*found.values()}
        (ended,) = (data for kind, data in record(made, "shop") if kind == "escalation.superseded")
        assert (ended["escalation_id"], ended["successor"]) == ("E1", newest.exchange_id)


def test_a_question_asked_anew_and_answered_waits_no_longer(tmp_path):
    """An agent that is sure enough leaves nothing for a human to decide."""
    with service(tmp_path, duc=Says(UNSURE), veuve=Says(said("Postgres.", 95))) as made:
        ask(made, suggested_target="duc")
        assert ask(made, suggested_target="veuve").status == "accepted"
        assert statuses(made) == {"E1": "superseded"}


def test_what_a_human_has_answered_is_not_asked_again(tmp_path):
    """Whoever asks again gets the answer; who says whom to ask, or asks something else, asks."""
    duc = Says(UNSURE)
    with service(tmp_path, duc=duc) as made:
        ask(made, suggested_target="duc")
        ask(made, suggested_target="duc")
        made.reply("E2", HumanResponse(action="correct", content="Postgres.", by="ada"))
        again = ask(made)
        assert (again.status, again.answer.content, again.answer.validated_by) == (
            "answered",
            "Postgres.",
            "human",
        )
        assert again.notes == ("not asked again: a human has answered it",)
        assert len(duc.jobs) == 2
        assert ask(made, suggested_target="duc").status == "escalated"
        assert len(duc.jobs) == 3
