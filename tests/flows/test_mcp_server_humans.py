"""Questions that wait for a human, at an MCP client: only its human decides, and the agent behind the question is asked once."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp_types import INTERNAL_ERROR, ElicitResult, ErrorData
from support.mcp_door import MODES, Lines, client, environment, over_http, text, tool
from support.model_server import ANSWER, NOTHING, Fails, Says, model_server

from kr_core.server.mcp.mcp_server import server_of
from kr_core.server.served_project import ServedProject

QUESTION = "Which session store should we use?"
UNSURE = Says(json.dumps({**ANSWER, "confidence": 40}))
ASKED = {"question": QUESTION, "topic": "authentication", "feature_id": "f1"}
RIGHT, CORRECT, CONTEXT = (
    "the answer is right",
    "give the right answer in the text below",
    "ask the agent again, with the text below",
)


class HumanAtClient:
    """Fills in forms as a test has written down, and remembers them; `None` refuses one, a text is another action."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.forms = []

    async def __call__(self, _context, parameters):
        self.forms.append(parameters)
        reply = self.replies.pop(0)
        if reply is None:
            return ElicitResult(action="decline")
        if isinstance(reply, str | ErrorData):
            return ElicitResult(action=reply) if isinstance(reply, str) else reply
        return ElicitResult(action="accept", content=reply)


def configure(folder, server, **more):
    plugin = {"base_url": f"{server.url}/v1", "api_key": "sk-test-1", "model": "scripted-1"}
    agents = {"duc": {"plugin": "openai_compatible"}}
    settings = {"agents": agents, "plugins": {"openai_compatible": plugin}, **more}
    (folder / "kr.yaml").write_text(json.dumps(settings))


@pytest.fixture
def serve(project_folder, of_nobody, nowhere, monkeypatch):
    """`serve(work, *script)`: a client in this process, of a project whose architect is a scripted model; and its calls."""
    monkeypatch.setenv("KR_TRUST", "all")

    def run(work, *script, mode="auto", human=None, **settings):
        async def served():
            project = ServedProject(folder=project_folder)
            try:
                async with client(server_of(project), mode, elicitation_callback=human) as connected:
                    return await work(connected)
            finally:
                await project.close()

        with model_server(*script) as server:
            configure(project_folder, server, **settings)
            return asyncio.run(served()), server.calls

    return run


def asks(**more):
    async def work(connected):
        return await connected.call_tool("ask", {**ASKED, **more})

    return work


@pytest.mark.req("I2", "Q6")
@pytest.mark.parametrize("mode", MODES)
def test_a_sure_answer_is_accepted_and_nobody_is_asked(serve, mode):
    """The human sees no form, and the answer comes with its confidence."""
    human = HumanAtClient()
    result, calls = serve(asks(), Says(), mode=mode, human=human)
    assert (result.structured_content["status"], len(calls), human.forms) == ("accepted", 1, [])
    assert ANSWER["answer"] in text(result)


@pytest.mark.req("I2", "H1", "Z8")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("reply", "content"),
    [
        ({"decision": RIGHT}, ANSWER["answer"]),
        ({"decision": CORRECT, "text": "Use the database."}, "Use the database."),
    ],
)
def test_a_doubtful_answer_is_decided_by_the_human_in_the_same_call(serve, mode, reply, content):
    """The form shows the whole case; the agent is asked once, in both generations; the decision is on the record."""
    human = HumanAtClient(reply)

    async def work(connected):
        return await asks()(connected), await connected.call_tool("qa_log", {"feature_id": "f1"})

    (result, log), calls = serve(work, UNSURE, mode=mode, human=human)
    told = result.structured_content
    assert (told["status"], told["answer"]["content"]) == ("answered", content)
    assert told["answer"]["validated_by"] == "human"
    assert len(calls) == 1
    [form] = human.forms
    for part in (
        QUESTION,
        ANSWER["answer"],
        ANSWER["rationale"],
        ANSWER["uncertainty_reasons"][0],
        "40 of 100",
        "E1",
    ):
        assert part in form.message
    assert "/kr " not in form.message
    assert form.requested_schema["required"] == ["decision"]
    [exchange] = log.structured_content["exchanges"]
    assert (exchange["result"], exchange["escalation_id"], exchange["answer"]) == ("answered", "E1", content)


@pytest.mark.req("I2", "H1")
@pytest.mark.parametrize("mode", MODES)
def test_what_the_human_adds_goes_to_the_agent_once(serve, mode):
    """With the added context the agent is asked again; if it is still unsure the human sees the new answer."""
    newer = Says(json.dumps({**ANSWER, "answer": "Use signed cookies.", "confidence": 60}))
    human = HumanAtClient({"decision": CONTEXT, "text": "There is no Redis here."}, {"decision": RIGHT})
    result, calls = serve(asks(), UNSURE, newer, mode=mode, human=human)
    told = result.structured_content
    assert (told["status"], told["answer"]["content"]) == ("answered", "Use signed cookies.")
    assert len(calls) == 2
    assert "There is no Redis here." in calls[1].texts
    first, second = human.forms
    assert "E1@1" in first.message
    assert "E1@2" in second.message
    assert "Use signed cookies." in second.message


@pytest.mark.req("I2", "Q12")
@pytest.mark.parametrize("mode", MODES)
def test_a_human_chooses(serve, mode):
    """Each choice is one of the form's decisions, by its letter and its words."""
    human = HumanAtClient({"decision": "B: Postgres"})
    unsure = Says(json.dumps({**ANSWER, "answer": "Redis", "confidence": 10}))
    result, _calls = serve(asks(choices=["Redis", "Postgres"]), unsure, mode=mode, human=human)
    assert result.structured_content["answer"]["content"] == "Postgres"
    offered = human.forms[0].requested_schema["properties"]["decision"]["enum"]
    assert offered == [RIGHT, "A: Redis", "B: Postgres", CORRECT, CONTEXT]


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("mode", MODES)
def test_a_form_that_is_filled_in_wrongly_is_shown_again_with_what_is_wrong(serve, mode):
    """A correction without a text, a decision that was not offered: the human is told; three times, then the case waits."""
    human = HumanAtClient({"decision": CORRECT}, {"decision": "yes"}, {"decision": RIGHT})
    result, calls = serve(asks(), UNSURE, mode=mode, human=human)
    assert (result.structured_content["status"], len(calls)) == ("answered", 1)
    assert "needs a text" in human.forms[1].message
    assert "choose one of the decisions" in human.forms[2].message


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_that_never_fits_the_form_is_asked_for_three_times(serve, mode):
    """Then the case waits, in both generations; the agent behind the question is not asked again."""
    human = HumanAtClient(*[{"decision": "yes"}] * 20)
    result, calls = serve(asks(), UNSURE, mode=mode, human=human)
    assert (result.structured_content["status"], len(human.forms), len(calls)) == ("escalated", 3, 1)
    assert "choose one of the decisions" in text(result)
    assert "the form came back 3 times without a usable reply; the last fault: the field `Decision`" in text(
        result
    )


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("mode", MODES)
def test_a_human_who_refuses_leaves_the_case_waiting(serve, mode):
    """The tool says that it waits, and where; later the human may be asked again, and then it is decided for good."""
    human = HumanAtClient(None, {"decision": RIGHT})

    async def work(connected):
        first = await asks()(connected)
        second = await connected.call_tool("answer_escalation", {})
        return first, second, await connected.call_tool("answer_escalation", {"escalation_id": "e1"})

    (first, second, third), calls = serve(work, UNSURE, mode=mode, human=human)
    assert (first.structured_content["status"], first.is_error) == ("escalated", False)
    assert "declined the form" in text(first)
    assert 'answer_escalation(escalation_id="E1")' in text(first)
    assert second.structured_content["status"] == third.structured_content["status"] == "answered"
    assert (len(calls), len(human.forms)) == (1, 2)


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cancels_each_form_is_not_said_to_have_asked_its_human(serve, mode):
    """A program without a person cancels by itself: the result says that the form came back, and where a human answers."""
    human = HumanAtClient("cancel", "cancel", {"decision": RIGHT})

    async def work(connected):
        first = await asks()(connected)
        second = await connected.call_tool("answer_escalation", {"escalation_id": "E1"})
        return first, second, await connected.call_tool("answer_escalation", {"escalation_id": "E1"})

    (first, second, third), calls = serve(work, UNSURE, mode=mode, human=human)
    for one in (first, second):
        assert (one.structured_content["status"], one.is_error) == ("escalated", False)
        assert "closed the form without a decision; it may have shown it to no one" in text(one)
        assert "the human left" not in text(one)
        assert "kr inbox show E1" in text(one)
    assert third.structured_content["status"] == "answered"
    assert (len(calls), len(human.forms)) == (1, 3)


@pytest.mark.req("I2")
def test_a_client_that_fails_to_show_the_form_leaves_the_case_waiting(serve):
    """One that says that it can and answers with an error: the result names the error, and the case waits."""
    human = HumanAtClient(ErrorData(code=INTERNAL_ERROR, message="no terminal"), {"decision": RIGHT})

    async def work(connected):
        first = await asks()(connected)
        return first, await connected.call_tool("answer_escalation", {})

    (first, second), calls = serve(work, UNSURE, mode="legacy", human=human)
    assert (first.structured_content["status"], first.is_error) == ("escalated", False)
    assert "could not show the form: no terminal" in text(first)
    assert (second.structured_content["status"], len(calls)) == ("answered", 1)


@pytest.mark.req("I2", "Z8", "H6")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_cannot_ask_its_human_confirms_nothing(serve, mode):
    """The case goes to the configured channels and the tool says so; the agent cannot answer it, by no argument of any tool."""

    async def work(connected):
        first = await asks()(connected)
        refused = await connected.call_tool("answer_escalation", {"escalation_id": "E1"})
        tricked = [
            await connected.call_tool("answer_escalation", {"escalation_id": "E1", name: "confirm"})
            for name in ("decision", "action", "answer", "text", "content")
        ]
        return (
            first,
            refused,
            tricked,
            await connected.call_tool("answer_escalation", {"escalation_id": "E1"}),
        )

    (first, refused, tricked, last), _calls = serve(work, UNSURE, mode=mode)
    assert first.structured_content["status"] == "escalated"
    assert first.structured_content["escalation"]["id"] == "E1"
    assert "E1: this client cannot ask its human" in text(first)
    assert "stdout" in text(first)
    assert "kr inbox show E1" in text(first)
    for one in (refused, *tricked, last):
        assert one.is_error
    assert "cannot ask its human" in text(refused)
    assert "cannot ask its human" in text(last)


@pytest.mark.req("I2")
def test_a_decision_taken_elsewhere_is_told_to_a_client_without_a_human(serve, kr, project_folder):
    """Once somebody has answered in the inbox, the agent learns it by the same tool."""

    async def work(connected):
        await asks()(connected)
        done = await asyncio.to_thread(kr, "inbox", "correct", "E1", "Use the database.")
        assert done.code == 0, done
        return await connected.call_tool("answer_escalation", {"escalation_id": "E1"})

    result, _calls = serve(work, UNSURE)
    assert result.structured_content["answer"]["content"] == "Use the database."
    assert "Decided by a human" in text(result)


@pytest.mark.req("I2", "Q7")
@pytest.mark.parametrize("mode", MODES)
def test_a_human_answers_where_no_agent_does(serve, mode):
    """Where no agent could be asked, there is nothing to confirm, and the human gives the answer."""
    human = HumanAtClient({"decision": CORRECT, "text": "Use the database."})
    result, _calls = serve(asks(), Fails(401), mode=mode, human=human)
    assert result.structured_content["answer"]["content"] == "Use the database."
    assert RIGHT not in human.forms[0].requested_schema["properties"]["decision"]["enum"]


@pytest.mark.req("I2")
def test_without_any_way_to_a_human_it_fails(serve):
    """A project that names no way to a human has none through MCP either; the tool says so as an error."""
    result, _calls = serve(asks(), UNSURE, escalations=[])
    assert result.is_error
    assert "no channel to a human" in text(result)


def asking(number, **more):
    """A question of a client that can show forms, as it goes over the wire in the newer generation."""
    message = tool(number, "ask", **ASKED)
    capabilities = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    message["params"] = {**message["params"], "_meta": {**message["params"]["_meta"], **capabilities}, **more}
    return message


def decided(decision, text=""):
    """What a client sends back of its human's."""
    return {"decision": {"action": "accept", "content": {"decision": decision, "text": text}}}


@pytest.mark.req("I2", "Z8")
def test_a_decision_about_an_older_answer_is_none_about_the_newer(project_folder, environ):
    """Once the agent was asked again, what the human said of its first answer confirms nothing: the form comes anew."""
    newer = Says(json.dumps({**ANSWER, "answer": "Use signed cookies.", "confidence": 60}))
    with model_server(UNSURE, newer) as server:
        configure(project_folder, server)
        with Lines(project_folder, environment(environ, KR_TRUST="all")) as door:
            state = door.ask(asking(1))["result"]["requestState"]
            context = decided(CONTEXT, "There is no Redis here.")
            second = door.ask(asking(2, requestState=state, inputResponses=context))["result"]
            assert second["resultType"] == "input_required"
            late = door.ask(asking(3, requestState=state, inputResponses=decided(RIGHT)))["result"]
            assert late["resultType"] == "input_required"
            assert "Use signed cookies." in late["inputRequests"]["decision"]["params"]["message"]
            last = asking(4, requestState=late["requestState"], inputResponses=decided(RIGHT))
            assert door.ask(last)["result"]["structuredContent"]["status"] == "answered"
        assert len(server.calls) == 2


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("given", [{}, {"other": {"action": "accept"}}, decided("yes"), decided(CORRECT)])
def test_the_count_of_wrong_answers_is_in_the_sealed_state(project_folder, environ, given):
    """Three calls with the state of the last one end the asking; a client that sends an older state again only calls again."""
    with model_server(UNSURE) as server:
        configure(project_folder, server)
        with Lines(project_folder, environment(environ, KR_TRUST="all")) as door:
            came, states = door.ask(asking(1))["result"], []
            while came["resultType"] == "input_required":
                states.append(came["requestState"])
                assert len(states) <= 3
                came = door.ask(asking(1 + len(states), requestState=states[-1], inputResponses=given))[
                    "result"
                ]
            assert len(states) == 3
            assert came["structuredContent"]["status"] == "escalated"
            assert ("no answer to the form came" in came["content"][0]["text"]) == ("decision" not in given)
            again = door.ask(asking(9, requestState=states[0], inputResponses=given))["result"]
            assert again["resultType"] == "input_required"
            right = asking(10, requestState=states[2], inputResponses=decided(RIGHT))
            assert door.ask(right)["result"]["structuredContent"]["status"] == "answered"
        assert len(server.calls) == 1, "no round asks the agent"


@pytest.mark.req("I2", "Z8")
def test_a_note_of_a_case_cannot_be_forged_or_used_twice(project_folder, environ):
    """What a client sends back is sealed and bound to the call; sent again, it decides nothing and asks nobody anew."""
    with model_server(UNSURE) as server:
        configure(project_folder, server)
        with Lines(project_folder, environment(environ, KR_TRUST="all")) as door:
            first = door.ask(asking(1))["result"]
            assert first["resultType"] == "input_required"
            state = first["requestState"]
            forged = door.ask(asking(2, requestState=f"{state[:-2]}AA", inputResponses=decided(RIGHT)))
            assert forged["error"]["code"] == -32602
            unasked = door.ask(asking(3, inputResponses=decided(RIGHT)))["result"]
            assert unasked["resultType"] == "input_required", "an answer to nothing is none"
            done = door.ask(asking(4, requestState=state, inputResponses=decided(RIGHT)))["result"]
            assert done["structuredContent"]["status"] == "answered"
            again = door.ask(asking(5, requestState=state, inputResponses=decided(CORRECT, "No.")))["result"]
            assert again["structuredContent"]["answer"]["content"] == ANSWER["answer"]
            assert door.leave()[0] == 0
        assert len(server.calls) == 2, "once for each question"


@pytest.mark.req("I2", "Z8")
def test_a_client_without_forms_has_no_human_who_decides(project_folder, environ, kr):
    """One that says in the second round that it can show none decides nothing; the record has the client's name."""
    with model_server(UNSURE) as server:
        configure(project_folder, server)
        with Lines(project_folder, environment(environ, KR_TRUST="all")) as door:
            state = door.ask(asking(1))["result"]["requestState"]
            blind = tool(2, "ask", **ASKED)
            blind["params"] |= {"requestState": state, "inputResponses": decided(RIGHT)}
            refused = door.ask(blind)["result"]
            assert refused["structuredContent"]["status"] == "escalated"
            assert "cannot ask its human" in refused["content"][0]["text"]
            seen = asking(3, requestState=state, inputResponses=decided(RIGHT))
            assert door.ask(seen)["result"]["structuredContent"]["status"] == "answered"
            assert door.leave()[0] == 0
    assert "human at test" in kr("log", "--json").out


@pytest.mark.req("I2", "Z8")
@pytest.mark.parametrize("mode", MODES)
def test_a_human_is_asked_over_http(project_folder, environ, mode):
    """The same over HTTP, where a request to the client goes by the stream of the call."""
    human = HumanAtClient({"decision": RIGHT})

    async def work(url):
        async with client(url, mode, elicitation_callback=human) as connected:
            return await asks()(connected)

    with model_server(UNSURE) as server:
        configure(project_folder, server)
        with over_http(project_folder, environment(environ, KR_TRUST="all")) as url:
            result = asyncio.run(work(url))
        assert (result.structured_content["status"], len(server.calls)) == ("answered", 1)
    assert len(human.forms) == 1


@pytest.mark.req("I2")
@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_is_cancelled_while_an_agent_thinks_is_on_the_record(serve, mode):
    """The agent is no longer waited for, no human is asked, and the exchange has its end."""
    human = HumanAtClient()

    async def work(connected):
        call = asyncio.create_task(asks()(connected))
        while not (await connected.call_tool("qa_log", {})).structured_content["exchanges"]:
            pass
        call.cancel()
        await asyncio.wait([call])
        while True:
            [exchange] = (await connected.call_tool("qa_log", {})).structured_content["exchanges"]
            if exchange["result"]:
                return exchange

    exchange, _calls = serve(work, NOTHING, mode=mode, human=human)
    assert (exchange["result"], exchange["escalation_id"], human.forms) == ("cancelled", "", [])


@pytest.mark.req("I2", "H1")
def test_a_call_that_is_cancelled_while_its_form_is_open_leaves_the_case_waiting(serve):
    """In the older generation the call waits for the human; given up, the case is decided later."""
    human = HumanAtClient({"decision": RIGHT})
    shown = asyncio.Event()

    async def first_never(context, parameters):
        if not shown.is_set():
            shown.set()
            await asyncio.Event().wait()
        return await human(context, parameters)

    async def work(connected):
        call = asyncio.create_task(asks()(connected))
        await shown.wait()
        call.cancel()
        await asyncio.wait([call])
        return await connected.call_tool("answer_escalation", {"escalation_id": "E1"})

    result, calls = serve(work, UNSURE, mode="legacy", human=first_never)
    assert (result.structured_content["status"], len(calls)) == ("answered", 1)
