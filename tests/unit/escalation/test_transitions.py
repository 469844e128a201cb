"""What a reply does to a case: each action is applied once, or refused with the reason."""

import datetime as dt

import pytest

from kr_core import HumanResponse
from kr_core.escalation import transitions
from kr_core.escalation.case import Case, ChatTurn
from kr_core.escalation.schedule import CaseActions, Delivery
from kr_core.escalation.serialization import document_of, read
from kr_core.escalation.transitions import ReplyOrigin
from kr_core.model.questions import Answer, EscalationRequest, Question
from kr_core.model.routing import Route
from kr_core.plugin import UnparsedReply

REDIS = Answer(question_id="Q1", content="Use Redis.", confidence=65, agent="duc")
VALKEY = Answer(question_id="Q1", content="Use Valkey.", confidence=60, agent="veuve")


def case(answer=REDIS, choices=(), alternatives=(), agent="duc", revision=2, **changes):
    question = Question(id="Q1", text="Which store?", choices=choices)
    request = EscalationRequest(
        id="E7",
        revision=revision,
        exchange_id="x1",
        question=question,
        answer=answer,
        alternatives=alternatives,
        agent=agent,
        threshold=80,
        reason="confidence 65 is below 80",
    )
    route = Route(target="architect", agent=agent, reason="a rule", threshold=80)
    return Case(request, route, "notified", 1)._replace(**changes)


def reply(action, content="", **more):
    return HumanResponse(action=action, content=content, by="ann", **more)


@pytest.mark.req("H3")
@pytest.mark.parametrize(
    ("waiting", "response", "why"),
    [
        (case(), reply("confirm"), ""),
        (case(), reply("confirm", revision=1), "E7@1 is an older answer"),
        (case(), reply("confirm", revision=3), "there is no E7@3"),
        (case(answer=None), reply("confirm"), "there is no answer to confirm"),
        (case(alternatives=(REDIS, VALKEY)), reply("confirm"), "there are several answers"),
        (case(), reply("correct"), "`correct` needs a text"),
        (case(), reply("add_context"), "`context` needs a text"),
        (case(agent=None), reply("add_context", "More."), "none can be asked again"),
        (case(), reply("add_context", "x" * 100_000), "at most 100,000 can be asked"),
        (case(agent=None), reply("chat"), "there is none to talk with"),
        (case(agent=None), reply("chat", "Why?"), "there is none to talk with"),
        (case(), reply("chat"), "`chat` needs a text"),
        (case(), reply("choose", "A"), "there is nothing to choose from"),
        (case(choices=("red", "blue")), reply("choose", "C"), "`C` is no choice; there are: A, B"),
        (
            case(choices=("B", "A")),
            reply("choose", "B"),
            "is the letter of one choice and the text of another",
        ),
        (case(status="superseded"), reply("confirm"), "it is superseded already"),
        (case(status="expired"), reply("confirm"), "it is expired"),
    ],
)
def test_a_reply_that_cannot_be_applied_is_refused_with_the_reason(waiting, response, why):
    """Each action says what is wrong with it, and an applicable one nothing."""
    found = transitions.refusal(waiting, response)
    assert why in found
    assert bool(found) == bool(why)


@pytest.mark.req("H3")
@pytest.mark.parametrize(
    ("waiting", "response", "content", "agent"),
    [
        (case(), reply("confirm"), "Use Redis.", "duc"),
        (case(), reply("correct", "Use files."), "Use files.", "human"),
        (case(alternatives=(REDIS, VALKEY)), reply("choose", "b"), "Use Valkey.", "veuve"),
        (case(choices=("red", "blue")), reply("choose", "BLUE"), "blue", "human"),
        (case(), reply("chat", "My own words."), "My own words.", "human"),
        (
            case(turns=(ChatTurn(by="duc", text="Use Valkey.", answer=VALKEY, exchange_id="x2"),)),
            reply("chat", "Use Valkey."),
            "Use Valkey.",
            "veuve",
        ),
    ],
)
def test_what_a_human_decides_is_the_answer(waiting, response, content, agent):
    """It is the agent's own where the human took it, and the human's else; validated by a human either way."""
    changed, events, refused = transitions.apply_reply(waiting, response)
    assert refused == ""
    assert (changed.status, changed.answer.content, changed.answer.agent) == ("resolved", content, agent)
    assert (changed.answer.validated_by, changed.resolution.by) == ("human", "ann")
    assert [event.kind for event in events] == ["human.replied", "answer.received", "exchange.finished"]


@pytest.mark.req("H5")
def test_a_reply_from_a_channel_is_applied_once():
    """The same reply, brought again, changes nothing; the channel that brought it says that it was understood."""
    origin = ReplyOrigin("board", "c1")
    shown = case(care=CaseActions().with_channel("board", Delivery(2, "there", 2)))
    changed, _, refused = transitions.apply_reply(shown, reply("confirm"), origin)
    assert refused == ""
    assert [notice.kind for notice in changed.care.at("board").owed] == ["understood"]
    assert transitions.apply_reply(changed, reply("confirm"), origin) is None


@pytest.mark.req("H3")
def test_added_context_leaves_the_case_waiting_with_a_pending_request():
    """The question has the context, and the agent is to be asked again; said twice it is added once."""
    changed, events, _ = transitions.apply_reply(case(), reply("add_context", "We have 40 servers."))
    assert (changed.waits, changed.asking) == (True, True)
    assert changed.request.question.context == "We have 40 servers."
    assert [event.kind for event in events] == ["human.replied"]
    again = transitions.with_context(changed.request.question, "We have 40 servers.")
    assert again == changed.request.question


@pytest.mark.req("H4")
def test_a_refused_reply_is_told_to_its_writer_by_the_channel():
    """The case stays as it is but for what the channel has to say, and the record has the reason."""
    changed, (event,), refused = transitions.apply_reply(
        case(), reply("choose", "A"), ReplyOrigin("board", "c1")
    )
    (notice,) = changed.care.at("board").owed
    assert notice.kind == "refused"
    assert refused in notice.message
    assert (changed.status, event.data["applied"], event.data["reason"]) == ("notified", False, refused)


@pytest.mark.req("H4")
def test_the_same_help_is_told_to_a_person_once():
    """Another text is told a few times; two programs that answer each other come to an end."""
    waiting = case()
    told = 0
    for number in range(20):
        came = transitions.note_unparsed(
            waiting, UnparsedReply("E7", "eve", "help", f"say {number}", "c"), "board"
        )
        told += came is not None
        waiting = waiting if came is None else came[0]
        assert (
            transitions.note_unparsed(waiting, UnparsedReply("E7", "eve", "help", "say 0", "c"), "board")
            is None
        )
    assert told == 5


@pytest.mark.req("H6")
def test_an_expired_case_has_the_agents_answer_with_a_warning():
    """Nobody has validated it, and the record ends with `expired`."""
    changed, events = transitions.expired(case(), "24h")
    assert (changed.status, changed.answer.content, changed.answer.validated_by) == (
        "expired",
        "Use Redis.",
        None,
    )
    assert "nobody has decided within 24h" in changed.answer.warning
    assert events[-1].data["status"] == "expired"


@pytest.mark.req("H6")
def test_a_new_revision_waits_as_if_it_were_new():
    """Reminders and the time limit begin again; reminders that are not said yet are dropped."""
    care = CaseActions(since=dt.datetime(2026, 2, 5, tzinfo=dt.UTC), tiers=2, timed_out=True)
    old = case(care=care.with_channel("board", Delivery(2, "there", 2)))
    new = transitions.put_again(old, old.request.model_copy(update={"revision": 3}))
    assert (new.status, new.care.tiers, new.care.timed_out, new.care.seen) == ("open", 0, False, None)
    assert new.since > old.since
    assert new.care.at("board").revision == 2


@pytest.mark.req("H7")
def test_a_case_is_read_as_it_was_written():
    """Its document has all that the case has, after each kind of change."""
    shown = case(care=CaseActions().with_channel("board", Delivery(2, "there", 2)))
    for response in (reply("confirm"), reply("add_context", "More."), reply("choose", "A")):
        changed, _, _ = transitions.apply_reply(shown, response, ReplyOrigin("board", "c1"))
        assert read(document_of(changed)) == changed
