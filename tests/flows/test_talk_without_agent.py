"""A talk about a case whose agent was never asked: with the one who asks, a configured agent, or none."""

import pytest
from support.agents import answer, project, prompts
from support.asked import Says, said
from support.boards import Board, service
from support.inbox_page import served

from kr_core import ConfigError, HumanResponse, Question

pytestmark = pytest.mark.req("Q1", "H3")

ROSTER = {"duc": {}, "baron": {"role": "project manager"}}


def to_human(made):
    return made.ask(Question(text="May we?", suggested_target="human")).escalation


def test_the_one_who_asks_is_talked_with(tmp_path):
    """A question that went straight to a human is talked about with the project manager, whose words can end it."""
    baron, duc = Says(said("We ask since the contract ends.", 70)), Says()
    with service(tmp_path, Board(), config={"agents": ROSTER}, duc=duc, baron=baron) as made:
        request = to_human(made)
        assert (request.agent, request.partner) == (None, "baron")
        spoken = made.chat("E1", HumanResponse(action="chat", content="Why do you ask?", by="ann"))
        assert (spoken.status, spoken.answer.agent) == ("escalated", "baron")
        assert "May we?" in baron.prompts[0]
        assert "Why do you ask?" in baron.prompts[0]
        assert duc.jobs == []
        ended = made.reply("E1", HumanResponse(action="chat", content=spoken.answer.content, by="ann"))
        assert (ended.status, ended.answer.agent, ended.answer.validated_by) == ("answered", "baron", "human")


def test_a_configured_agent_is_talked_with_where_no_one_asks(tmp_path):
    """Without a project manager it is the first agent that is configured."""
    with service(tmp_path, Board(), config={"agents": {"veuve": {}}}, veuve=Says()) as made:
        assert to_human(made).partner == "veuve"


def test_without_a_configured_agent_there_is_none_to_talk_with(tmp_path):
    """It is refused in plain words, on the record, and the case waits."""
    with service(tmp_path, Board()) as made:
        assert to_human(made).partner is None
        with pytest.raises(ConfigError, match="no agent was asked and none is configured"):
            made.chat("E1", HumanResponse(action="chat", content="Why?", by="ann"))
        assert made.cases.get("E1").waits


def test_the_page_and_the_api_talk_where_no_agent_was_asked(tmp_path):
    """The page has a field for it, the API a route; a case without anybody says so in its place."""
    with (
        served(tmp_path / "one", duc=Says(said("Since the contract ends.", 70))) as one,
        one.person() as person,
    ):
        key = one.ask("May we?", suggested_target="human")
        assert "Talk with duc" in person.open(f"/cases/{key}").text
        person.fill("/chat", text_talk="Why do you ask?", by="ann")
        assert "Since the contract ends." in person.open(f"/cases/{key}").text
        with one.program() as program:
            body = {"content": "And when?", "revision": 1, "by": "ann"}
            came = program.post(f"/api/inbox/{key}/chat", json=body).json()
            assert came["answer"]["content"] == "Since the contract ends."
    with served(tmp_path / "two", other=Says()) as two, two.person() as person:
        key = two.ask("May we?", suggested_target="human")
        page = person.open(f"/cases/{key}").text
        assert "there is none to talk with" in page
        assert "text_talk" not in page


def test_kr_inbox_talks_where_no_agent_was_asked(project_folder, kr_here, kr):
    """`kr inbox show` offers the talk, and `kr inbox chat` holds it; the agent gets the question and what was said."""
    log = project(project_folder, (("", answer("Since the contract ends.", 70)),))
    assert kr_here("ask", "May we?", "--target", "human").code == 5
    assert "kr inbox chat E1@1" in kr_here("inbox", "show", "E1").out
    done = kr("inbox", "chat", "E1", input=b"Why do you ask?\n/kr confirm\n", env={"KR_TRUST": "all"})
    assert done.code == 0, done
    assert "Since the contract ends." in done.out
    assert "Why do you ask?" in prompts(log)[0]


def test_kr_inbox_says_where_there_is_none_to_talk_with(kr_here, kr):
    """Without an agent `kr inbox chat` ends with the reason, and `kr inbox show` does not offer it."""
    assert kr_here("ask", "May we?", "--target", "human").code == 5
    assert "kr inbox chat" not in kr_here("inbox", "show", "E1").out
    done = kr("inbox", "chat", "E1", input=b"Why?\n")
    assert done.code == 2
    assert "there is none to talk with" in done.err
