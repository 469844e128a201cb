"""The events of questions: each of a known kind, with exactly the data that its type promises."""

import json
from typing import get_type_hints

import pytest

from kr_core import (
    EVENTS,
    HumanResponse,
    KnowledgeRouterService,
    Pipeline,
    Question,
    RequestError,
    RoutingRule,
)
from kr_core.plugin import Reply
from kr_core.review.spot_check_review import SpotChecks

ANSWER = {"answer": "Redis", "rationale": "it is shared", "confidence": 92, "uncertainty_reasons": []}


class Scripted:
    """An agent that says what comes next in its script."""

    def __init__(self, *script):
        self.script = list(script)

    async def run(self, _job):
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return Reply(text=said if isinstance(said, str) else json.dumps(said))


@pytest.mark.req("G1", "P6")
def test_every_event_of_a_question_has_the_data_that_its_kind_promises(tmp_path, monkeypatch):
    """Over questions of every ending."""
    monkeypatch.chdir(tmp_path)
    unsure = {**ANSWER, "confidence": 40}
    duc = Scripted(ANSWER, "no JSON", unsure, RequestError("unavailable", "down"), ANSWER, unsure, ANSWER)
    events = []
    pipeline = Pipeline({"logs": []}, agents={"duc": duc, "veuve": Scripted(ANSWER)}, on_event=events.append)
    with KnowledgeRouterService(pipeline) as service:

        def ask(number, **more):
            return service.ask(Question(id=f"Q{number}", text="Which store?", **{"topic": "data", **more}))

        assert ask(1).status == "accepted"
        SpotChecks(pipeline).judge("S1", "right", "ada")
        waiting = ask(2)  # repaired, and then unsure
        assert service.reply(waiting.escalation.id, HumanResponse(action="confirm")).status == "answered"
        assert ask(3).escalation.reason.startswith("Agent unavailable")
        ask(4, also=("veuve",), suggested_target="duc")
        again = ask(5)
        service.reply(again.escalation.id, HumanResponse(action="add_context", content="A thousand users."))
        service.configure_routing([RoutingRule(topic="data", agent="human")])
        assert ask(6).route.agent is None
    asked = {kind for kind, data in EVENTS.items() if "exchange_id" in get_type_hints(data)}
    for event in events:
        assert set(event.data) == set(get_type_hints(EVENTS[event.kind])), event
        json.dumps(event.data, allow_nan=False)
    elsewhere = {"escalation.superseded"}  # see test_ask_from
    elsewhere |= {
        "escalation.told",
        "escalation.reminded",
        "escalation.timed_out",
        "escalation.expired",
        "human.unclear",
        "channel.request",
        "report.reviewed",  # see test_research_review
    }
    elsewhere |= {kind for kind in asked if kind.startswith("task.")}  # see test_dispatch_run
    assert {
        event.kind for event in events
    } == asked - elsewhere  # of those that are new here, see test_escalation_worker
