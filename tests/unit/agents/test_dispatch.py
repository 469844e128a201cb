"""Who is asked, in which order, and what the gate makes of the answers."""

import asyncio

import pytest
from support.asked import Says, said, service

from kr_core import ConfigError, Question, RequestError
from kr_core.agents.question_dispatch import NEVER, decide, together
from kr_core.model import Outcome

TWO = {"agents": {"duc": {"role": "architect", "fallback": ["veuve"]}, "veuve": {"role": "qa"}}}
DOWN = RequestError(Outcome.unavailable, "it is down")


@pytest.mark.req("Q6")
@pytest.mark.parametrize(
    ("confidence", "threshold", "always", "accepted"),
    [(80, 80, False, True), (79, 80, False, False), (100, NEVER, False, False), (100, 1, True, False)],
)
def test_the_gate(confidence, threshold, always, accepted):
    """An answer passes from its threshold on, none passes 100, and a topic may send all answers to a human."""
    verdict = decide(confidence, threshold, always_escalate=always)
    assert verdict.accepted is accepted
    assert verdict.reason


@pytest.mark.req("Q7")
def test_a_fallback_answers_where_the_agent_fails(tmp_path):
    """Its answer is the one to go on with, and the notes say how the first one failed."""
    with service(tmp_path, TWO, duc=Says(DOWN), veuve=Says(said("Postgres."))) as made:
        dispatcher = made._parts.dispatcher
        exchange = dispatcher.begin(Question(text="Which store?", suggested_target="duc"))
        found = made._run(dispatcher.consult_all(exchange))
        made._run(exchange.settled())
    assert (found.answer.content, found.answer.agent) == ("Postgres.", "veuve")
    assert (exchange.outcomes, exchange.unheard) == (["unavailable"], ())
    assert "duc: unavailable: it is down" in exchange.notes


@pytest.mark.req("Q9")
def test_of_several_agents_one_that_gives_no_answer_keeps_the_gate_shut(tmp_path):
    """An answer that is sure enough by itself was to be compared, and could not be."""
    config = {"agents": {"duc": {"role": "architect"}, "veuve": {"role": "qa"}}}
    with service(tmp_path, config, duc=Says(said(confidence=99)), veuve=Says(DOWN)) as made:
        dispatcher = made._parts.dispatcher
        exchange = dispatcher.begin(Question(text="Which store?", suggested_target="duc", also=("veuve",)))
        found = made._run(dispatcher.consult_all(exchange))
        verdict = dispatcher.judge(exchange, found.answer)
        made._run(exchange.settled())
    assert exchange.unheard == ("veuve",)
    assert (verdict.accepted, verdict.reason) == (False, "no answer of veuve to compare it with")


@pytest.mark.req("Q13")
@pytest.mark.parametrize(
    ("agent", "why"), [("human", "does not answer as a human"), ("duk", "did you mean `duc`")]
)
def test_an_answer_of_an_agent_that_there_is_not_is_refused(tmp_path, agent, why):
    """A program names one of the agents, or none."""
    with service(tmp_path, {"agents": {"duc": {"role": "architect"}}}, duc=Says()) as made:
        made._parts.dispatcher.check_answerer("duc")
        made._parts.dispatcher.check_answerer("")
        with pytest.raises(ConfigError, match=why):
            made._parts.dispatcher.check_answerer(agent)


@pytest.mark.req("Q12")
def test_where_one_of_several_fails_the_others_end():
    """Nothing goes on behind the caller's back, and the error is that of the first one."""
    ended = []

    async def long():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("long")

    async def fails():
        await asyncio.sleep(0)
        raise DOWN

    with pytest.raises(RequestError, match="it is down"):
        asyncio.run(together([long(), fails()]))
    assert ended == ["long"]
