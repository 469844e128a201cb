"""The service as programs embed it: nine methods by name, plain or as coroutines, in and beside event loops."""

import asyncio
import gc
import inspect
import threading

import pytest
from support.asked import Says, kinds, record, said, service

from kr_core import (
    Answer,
    AsyncKnowledgeRouterService,
    ConfigError,
    HumanResponse,
    KnowledgeRouterService,
    Pipeline,
    Question,
    RoutingRule,
    StorageError,
)

NINE = """route_question submit_answer escalate_to_human handle_human_response dispatch_task get_qa_log generate_retro
configure_routing get_agent_status""".split()

pytestmark = pytest.mark.req("Q13")


def question(text="Which session store should we use?", topic="storage", **more):
    return Question(text=text, topic=topic, **more)


def finished(made, handle):
    """The agent's status once it is neither queued nor running."""
    while (status := made.get_agent_status(handle)).state in {"queued", "running"}:
        threading.Event().wait(0.005)
    return status


@pytest.mark.parametrize("name", NINE)
def test_the_nine_methods(name):
    """Both services have them, with the same parameters; one's are coroutines."""
    plain, coroutine = getattr(KnowledgeRouterService, name), getattr(AsyncKnowledgeRouterService, name)
    assert inspect.iscoroutinefunction(coroutine)
    assert not inspect.iscoroutinefunction(plain)
    assert inspect.signature(plain) == inspect.signature(coroutine)


@pytest.mark.parametrize("of", [KnowledgeRouterService, AsyncKnowledgeRouterService])
def test_what_one_has_the_other_has(of):
    """No method of one is missing from the other."""
    other = {KnowledgeRouterService, AsyncKnowledgeRouterService} - {of}
    public = {name for name in vars(of) if not name.startswith("_")}
    assert public - {"open", "pipeline"} <= {name for cls in other for name in dir(cls)}


def test_a_task_of_another_kind_is_refused(tmp_path):
    """With what to hand over."""
    with service(tmp_path / "p") as made, pytest.raises(ConfigError, match="ExecutionTask"):
        made.dispatch_task(object(), "developer")


def test_the_way_of_a_sure_answer_step_by_step(tmp_path):
    """Route, look how far it is, submit: accepted, and on record as `ask` would have it."""
    duc = Says(said("Redis.", 92))
    with service(tmp_path / "p", duc=duc) as made:
        handle = made.route_question(question())
        assert (handle.agent, handle.route.target) == ("duc", "duc")
        status = finished(made, handle)
        assert (status.state, status.agent) == ("succeeded", "duc")
        outcome = made.submit_answer(status.answer)
        assert outcome.accepted
        assert outcome.verdict.threshold == 80
        step_by_step = kinds(made)
        made.ask(question(feature_id="F-2"))
        assert step_by_step == kinds(made, "F-2")


def test_the_way_of_a_doubtful_answer_to_a_human_and_back(tmp_path):
    """Submitted below the threshold it is escalated; asked for by hand as well it stays one case; the human's word is final."""
    duc = Says(said("Redis.", 65))
    with service(tmp_path / "p", duc=duc) as made:
        asked = question()
        handle = made.route_question(asked)
        answer = finished(made, handle).answer
        outcome = made.submit_answer(answer)
        assert not outcome.accepted
        assert made.escalate_to_human(answer, asked).id == outcome.escalation.id
        final = made.handle_human_response(outcome.escalation, HumanResponse(action="confirm", by="ada"))
        assert (final.content, final.validated_by, final.agent) == ("Redis.", "human", "duc")
        with pytest.raises(ConfigError, match="already"):
            made.handle_human_response(
                outcome.escalation, HumanResponse(action="correct", content="Postgres.")
            )


def test_an_answer_from_elsewhere_is_gated_and_on_record(tmp_path):
    """A program may answer in place of the agent; what it submits is received and gated as any other."""
    with service(tmp_path / "p", duc=Says(said("Redis.", 92), seconds=60)) as made:
        asked = question()
        handle = made.route_question(asked)
        assert made.get_agent_status(handle).state == "running"
        outcome = made.submit_answer(Answer(question_id=asked.id, content="SQLite.", confidence=81))
        assert outcome.accepted
        assert [data["content"] for kind, data in record(made) if kind == "answer.received"] == ["SQLite."]
        with pytest.raises(ConfigError, match="no question `nowhere` is under way"):
            made.submit_answer(Answer(question_id="nowhere", content="x"))


@pytest.mark.parametrize(
    ("reply", "state", "error"),
    [(RuntimeError("it is down"), "failed", "it is down"), (said(), "timed_out", "timeout after 1 s")],
)
@pytest.mark.req("Q7")
def test_how_an_agent_failed_is_told(tmp_path, reply, state, error):
    """A failure and a time-out are told apart, with the reason."""
    duc = Says(reply, seconds=60 if state == "timed_out" else 0)
    with service(tmp_path / "p", {"agents": {"duc": {"timeout_seconds": 1}}}, duc=duc) as made:
        status = finished(made, made.route_question(question()))
        assert status.state == state
        assert error in status.error
        assert status.answer is None


def test_a_question_for_a_human_waits_for_one(tmp_path):
    """Nobody is asked; by hand it becomes a case."""
    with service(tmp_path / "p") as made:
        asked = question(topic="weather")
        handle = made.route_question(asked)
        assert handle.agent is None
        assert made.get_agent_status(handle).state == "waiting_for_human"
        request = made.escalate_to_human(None, asked)
        final = made.handle_human_response(
            request, HumanResponse(action="correct", content="Rain.", by="ada")
        )
        assert (final.content, final.confidence, final.validated_by) == ("Rain.", 100, "human")


@pytest.mark.req("Q11")
def test_rules_are_replaced_at_run_time(tmp_path):
    """New rules hold from the next question on, by every face of the service; a wrong one changes nothing."""
    duc, veuve = Says(said("duc's")), Says(said("veuve's"))
    with service(tmp_path / "p", duc=duc, veuve=veuve) as made:
        assert made.ask(question()).answer.content == "duc's"
        made.configure_routing([RoutingRule(topic="storage", agent="product", threshold=95)])
        result = made.ask(question())
        assert (result.route.agent, result.route.where, result.threshold) == ("veuve", "rule 1", 95)
        assert result.status == "escalated"
        for wrong in (
            [RoutingRule(topic="storage", agent="nobody")],
            [RoutingRule(topic="*", agent="duc"), RoutingRule(topic="storage", agent="veuve")],
        ):
            with pytest.raises(ConfigError, match=f"rule {len(wrong)}: "):
                made.configure_routing(wrong)
            assert made.ask(question()).route.agent == "veuve"
        made.configure_routing([])
        assert made.ask(question()).route.reason == "unknown topic"


def test_coroutines_in_a_running_loop(tmp_path, monkeypatch):
    """Many questions at once in the program's own loop, which goes on meanwhile."""
    monkeypatch.chdir(tmp_path)
    duc = Says(lambda job: said(job.question.text))

    async def main():
        beats = 0

        async def beat():
            nonlocal beats
            while True:
                await asyncio.sleep(0)
                beats += 1

        pipeline = Pipeline(
            {"knowledge_research": {"knowledge_base_path": str(tmp_path / "kb")}}, agents={"duc": duc}
        )
        async with AsyncKnowledgeRouterService(pipeline) as made:
            beating = asyncio.ensure_future(beat())
            results = await asyncio.gather(*(made.ask(question(f"Which store {n}?")) for n in range(20)))
            beating.cancel()
            assert beats > 0
            return [result.answer.content for result in results]

    assert asyncio.run(main()) == [f"Which store {n}?" for n in range(20)]


def test_plain_methods_inside_a_running_loop_and_from_threads(tmp_path):
    """The plain service has a loop of its own: it works within another one, and from many threads at once."""
    duc = Says(lambda job: said(job.question.text))
    with service(tmp_path / "p", duc=duc) as made:

        async def inside():
            return made.ask(question("Inside?")).answer.content

        assert asyncio.run(inside()) == "Inside?"
        came = {}
        threads = [
            threading.Thread(
                target=lambda n=n: came.update({n: made.ask(question(f"Thread {n}?")).answer.content})
            )
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert came == {n: f"Thread {n}?" for n in range(8)}


@pytest.mark.req("Q12", "SC-008")
def test_five_agents_at_once_without_an_entry_mixed_up(tmp_path):
    """A hundred questions to five agents at once: every entry of an exchange is of its question, agent and feature."""
    names = ("duc", "veuve", "marie", "dede", "gustave")
    agents = {
        name: Says(lambda job: said(f"{job.name} on {job.question.text}"), seconds=0.02) for name in names
    }
    asked = [
        question(f"Question {n}?", id=f"Q{n}", suggested_target=names[n % 5], feature_id=f"F-{n % 3}")
        for n in range(100)
    ]
    with service(tmp_path / "p", **agents) as made:
        results = {result.question_id: result for result in made.ask_all(asked)}
        entries = [entry for n in range(3) for entry in made.get_qa_log(f"F-{n}")]
    of = {}
    for entry in entries:
        of.setdefault(entry.exchange_id, []).append(entry)
    assert len(of) == len(results) == 100
    for n, one in enumerate(asked):
        name = names[n % 5]
        result = results[one.id]
        assert result.answer.content == f"{name} on Question {n}?"
        mine = of[result.exchange_id]
        assert {(entry.question_id, entry.feature_id) for entry in mine} == {(one.id, one.feature_id)}
        assert [entry.kind for entry in mine] == [
            "question.asked", "question.routed", "agent.started", "answer.received", "answer.gated", "exchange.finished",
        ]  # fmt: skip
        assert {entry.data["agent"] for entry in mine if "agent" in entry.data} == {name}
        assert mine[0].data["text"] == one.text
    assert all(len(agent.jobs) == 20 for agent in agents.values())


def test_a_question_is_sent_once_at_a_time(tmp_path):
    """The same id cannot be under way twice: nobody could tell whose answer it is. Afterwards it may be sent again."""
    duc = Says(said(), seconds=0.05)
    with service(tmp_path / "p", duc=duc) as made:
        asked = question(id="Q1")
        handle = made.route_question(asked)
        with pytest.raises(ConfigError, match="`Q1` is under way already"):
            made.route_question(asked)
        finished(made, handle)
        assert finished(made, made.route_question(asked)).state == "succeeded"


def test_what_is_under_way_ends_with_the_service(tmp_path):
    """Closing cancels the agents, and nothing is left running."""
    with service(tmp_path / "p", duc=Says(said(), seconds=600)) as made:
        made.route_question(question())
    assert not [thread for thread in threading.enumerate() if thread.name == "kr-service"]


def test_an_ask_that_is_under_way_ends_with_the_service(tmp_path):
    """Whoever waits in another thread gets the documented error, and the record says that the question was cancelled."""
    duc, came = Asked(), []

    def ask(made):
        with pytest.raises(StorageError, match="closed while this was under way") as error:
            made.ask(question(suggested_target="duc"))
        came.append(error.value)

    with service(tmp_path / "p", duc=duc) as made:
        asking = threading.Thread(target=ask, args=(made,))
        asking.start()
        assert duc.asked.acquire(timeout=60)
    asking.join(60)
    assert [type(error) for error in came] == [StorageError]
    with service(tmp_path / "p", duc=Says()) as again:
        assert record(again)[-1][1].get("status") == "cancelled"


def test_an_ask_in_the_same_event_loop_ends_with_the_service(tmp_path, monkeypatch):
    """So with coroutines; work that runs until it is cancelled is cancelled, and the caller's own cancellation stays one."""
    monkeypatch.chdir(tmp_path)
    duc = Asked()

    def opened():
        kb = {"knowledge_research": {"knowledge_base_path": str(tmp_path / "kb")}}
        return AsyncKnowledgeRouterService(Pipeline(kb, agents={"duc": duc}))

    async def main():
        made = opened()
        asking = [asyncio.ensure_future(made.ask(question(text=f"Which store {n}?"))) for n in range(2)]
        tending = asyncio.ensure_future(made.keep_tending())
        assert await asyncio.to_thread(duc.asked.acquire, timeout=60)
        assert await asyncio.to_thread(duc.asked.acquire, timeout=60)
        asking[1].cancel()
        await made.close()
        ended = await asyncio.gather(*asking, tending, return_exceptions=True)
        assert [type(one) for one in ended] == [StorageError, asyncio.CancelledError, asyncio.CancelledError]
        assert asking[0].cancelling() == 0
        async with opened() as again:
            log = await again.get_qa_log("general")
        return [entry.data["status"] for entry in log if entry.kind == "exchange.finished"]

    assert asyncio.run(main()) == ["cancelled", "cancelled"]


class Asked(Says):
    """An agent that never answers, and tells when it is asked."""

    def __init__(self):
        super().__init__(seconds=600)
        self.asked = threading.Semaphore(0)

    async def run(self, job):
        self.asked.release()
        return await super().run(job)


def test_a_closed_service_says_so(tmp_path):
    """Whatever is called afterwards is refused with the error that is documented; closed once more it stays closed."""
    with service(tmp_path / "p") as made:
        pass
    for call in (
        lambda: made.get_qa_log("F-1"),
        lambda: made.ask(question()),
        lambda: made.route_question(question()),
        made.tend,
        made.keep_tending,
        lambda: made.result_of("E1"),
        lambda: made.cases,
    ):
        with pytest.raises(StorageError, match="the pipeline is closed"):
            call()
    made.wake()
    made.close()


class Stays(Says):
    """An agent that does not stop when it is cancelled."""

    def __init__(self):
        super().__init__()
        self.asked = threading.Event()

    async def run(self, job):
        self.asked.set()
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                pass


class Begins(Stays):
    """An agent that begins more work when it is cancelled, for which it does not wait."""

    async def run(self, job):
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.more = asyncio.ensure_future(asyncio.sleep(600))


@pytest.mark.parametrize("agent", [Stays, Begins])
def test_a_service_that_is_closed_while_an_agent_runs_prints_nothing(tmp_path, caplog, agent):
    """The record says that the question was cancelled, and Python says nothing about tasks that were destroyed."""
    with service(tmp_path / "p", duc=(duc := agent())) as made:
        made.route_question(question(suggested_target="duc"))
        assert duc.asked.wait(60)
    with service(tmp_path / "p", duc=Says()) as again:
        assert record(again)[-1][1].get("status") == "cancelled"
    del made, again, duc
    gc.collect()
    assert caplog.records == []


@pytest.mark.req("P5", "Q13")
def test_a_closed_service_with_coroutines_says_so(tmp_path, monkeypatch):
    """What only reads is refused, too, and so is what would be found without a look at the record."""
    monkeypatch.chdir(tmp_path)

    async def main():
        async with AsyncKnowledgeRouterService(
            Pipeline(
                {"escalations": ["web"], "knowledge_research": {"knowledge_base_path": str(tmp_path / "kb")}},
                agents={"duc": Says(said(confidence=10))},
            )
        ) as made:
            waiting = await made.ask(question())
            handle = await made.route_question(question("Which port?"))
        response = HumanResponse(action="confirm")
        for call in (
            lambda: made.ask(question()),
            lambda: made.ask_all([]),
            lambda: made.reply("E1", response),
            lambda: made.chat("E1", response),
            made.tend,
            made.keep_tending,
            lambda: made.receive("web", {}, b""),
            lambda: made.history("E1"),
            lambda: made.route_question(question()),
            lambda: made.get_agent_status(handle),
            lambda: made.submit_answer(Answer(question_id=handle.question_id, content="8080")),
            lambda: made.escalate_to_human(None, question()),
            lambda: made.handle_human_response(waiting.escalation, response),
            lambda: made.get_qa_log("general"),
            lambda: made.configure_routing([]),
        ):
            with pytest.raises(StorageError, match="the pipeline is closed"):
                await call()
        with pytest.raises(StorageError, match="the pipeline is closed"):
            made.result_of("E1")
        await made.close()

    asyncio.run(main())
