"""Both faces of the router have the same methods, and the plain ones say what they return."""

import inspect

import pytest
from support.asked import Says, said, service

from kr_core import AsyncKnowledgeRouterService, HumanResponse, KnowledgeRouterService, Question, StorageError
from kr_core.ask.worker_loop import _Notes

METHODS = [
    name
    for name, value in vars(AsyncKnowledgeRouterService).items()
    if inspect.iscoroutinefunction(value) and not name.startswith("_")
]


@pytest.mark.req("Q13")
@pytest.mark.parametrize("name", METHODS)
def test_each_coroutine_has_a_plain_method(name):
    """It has the same parameters, and its docstring says where to read on."""
    plain, coroutine = getattr(KnowledgeRouterService, name), getattr(AsyncKnowledgeRouterService, name)
    assert not inspect.iscoroutinefunction(plain)
    assert inspect.signature(plain).parameters == inspect.signature(coroutine).parameters
    assert plain.__name__ == name
    assert plain.__doc__.startswith(("See `AsyncKnowledgeRouterService.", "Stop work in progress"))


@pytest.mark.req("Q13")
def test_a_closed_service_says_so(tmp_path):
    """Whatever is called, plain or not; closing twice is no fault."""
    with service(tmp_path, duc=Says()) as made:
        pass
    made.close()
    made.wake()
    for call in (
        lambda: made.ask(Question(text="Which store?")),
        lambda: made.cases,
        made.keep_tending,
        made.tend,
    ):
        with pytest.raises(StorageError, match="the pipeline is closed"):
            call()


@pytest.mark.req("H3")
def test_tending_asks_the_agents_that_the_worker_has_put_into_the_queue(tmp_path):
    """What a human added is served once, and the queue is empty then."""
    duc = Says(said(confidence=10), said(confidence=20), said("Redis.", 95))
    config = {"agents": {"duc": {"role": "architect"}}, "escalations": ["stdout"]}
    with service(tmp_path, config, duc=duc) as made:
        case = made.ask(Question(text="Which store?", suggested_target="duc")).escalation
        more = HumanResponse(action="add_context", content="We have 40 servers.", by="ann")
        made._run(made._parts.manager.accepted_reply(case.id, more))
        assert made.tend().asked_again == 1
        assert made._parts.worker.agents.take() == []
        assert made.tend().asked_again == 0
        assert made.result_of(case.id).escalation.revision == 2
    assert len(duc.jobs) == 2


@pytest.mark.req("H7")
def test_a_note_is_told_once_until_it_changes():
    """What is mended and fails again is told again."""
    told = []
    notes = _Notes(told.append)
    for found in (["down"], ["down"], ["busy", "down"], [], ["down"]):
        notes.tell(found)
    assert told == ["down", "busy", "down", "down"]
    _Notes(None).tell(["down"])
