"""Replies at the same time, and what interrupts them: one decision for each question, and nothing lost."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress

import pytest
from support.agents import QUESTION, project
from support.asked import Says, kinds, record, said, service
from support.fork_server import kr_argv

from kr_core import ConfigError, HumanResponse, KnowledgeRouterService, Pipeline, Question
from kr_core.config import load
from kr_core.plugin import PollResult

pytestmark = pytest.mark.req("H2", "H5", "H7")

RACES = 300
RACER = """
import asyncio, sys
from kr_core import AsyncKnowledgeRouterService, ConfigError, HumanResponse
name, folder, races = sys.argv[1], sys.argv[2], int(sys.argv[3])

async def main():
    async with AsyncKnowledgeRouterService.open(folder=folder) as service:
        service.cases.ids()

        async def one(number):
            response = HumanResponse(action="correct", content=f"answer of {name}", by=name)
            try:
                return (await service.reply(f"E{number}", response)).answer.content
            except ConfigError as error:
                return error.what

        for first in range(1, races + 1, 50):
            print("ready", flush=True)
            sys.stdin.readline()
            for said in await asyncio.gather(*map(one, range(first, first + 50))):
                print(said, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def kr(kr_here):
    """What came of it is looked at from this process."""
    return kr_here


def ask(made, **values):
    return made.ask(Question(text=QUESTION, topic="authentication", **values))


def reply(action, content="", **values):
    return HumanResponse(action=action, content=content, **values)


UNSURE = said(confidence=65)


def test_of_two_processes_exactly_one_decides(tmp_path):
    """Two processes reply to the same hundreds of questions at once: each question has one answer, and the other process learns whose."""
    folder = tmp_path / "project"
    with service(folder, {"logs": []}, duc=Says(UNSURE)) as made:

        async def put():
            asking = [
                made._service.ask(Question(text=QUESTION, topic="authentication")) for _ in range(RACES)
            ]
            await asyncio.gather(*asking)

        made._run(put())
        assert len(made.cases.waiting()) == RACES
    environ = {**os.environ, "KR_CACHE_DIR": str(tmp_path / "cache")}
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, name, str(folder), str(RACES)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ,
        )
        for name in ("ada", "bob")
    ]  # fmt: skip
    said_to = {"ada": [], "bob": []}
    for _ in range(RACES // 50):  # both begin each lap together
        for racer in racers:
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        for name, racer in zip(said_to, racers, strict=True):
            said_to[name] += [racer.stdout.readline().rstrip("\n") for _ in range(50)]
    for racer in racers:
        racer.communicate(timeout=300)
    won = Counter()
    with service(folder, {"logs": []}) as made:
        for number in range(1, RACES + 1):
            case = made.cases.get(f"E{number}")
            winner = case.resolution.by
            loser = {"ada": "bob", "bob": "ada"}[winner]
            assert said_to[winner][number - 1] == case.answer.content == f"answer of {winner}"
            assert said_to[loser][number - 1] == f"it is resolved already, by {winner} (correct)"
            won[winner] += 1
        applied = [data["applied"] for kind, data in record(made) if kind == "human.replied"]
        assert (applied.count(True), applied.count(False)) == (RACES, RACES)
        assert not made.pipeline.journal.verify()
    assert len(won) == 2, "one process was always first, so nothing was raced for"


def test_of_two_threads_exactly_one_decides(tmp_path):
    """The same within one process."""
    with service(tmp_path, duc=Says(UNSURE)) as made:
        for _ in range(20):
            name = ask(made).escalation.id
            together, came = threading.Barrier(2), []

            def one(by, name=name, together=together, came=came):
                together.wait()
                try:
                    came.append(made.reply(name, reply("confirm", by=by)).status)
                except ConfigError as error:
                    came.append(error.what.partition(",")[0])

            threads = [threading.Thread(target=one, args=(by,)) for by in ("ada", "bob")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(came) == ["answered", "it is resolved already"]


def test_what_is_on_the_record_is_what_happened(tmp_path):
    """From the question to the human's decision each step is an event, for observers as for the log."""
    events = []
    with service(tmp_path, duc=Says(UNSURE), on_event=events.append) as made:
        ask(made)
        with pytest.raises(ConfigError):
            made.reply("E1", reply("confirm", revision=3))
        made.reply("E1", reply("confirm", by="ada"))
        told = [kind for kind in kinds(made) if not kind.startswith("agent.")]
        assert told == [
            "question.asked", "question.routed", "answer.received", "answer.gated", "escalation.opened", "escalation.shown",
            "exchange.finished", "human.replied", "human.replied", "answer.received", "exchange.finished",
        ]  # fmt: skip
        assert sorted(kinds(made)) == sorted(event.kind for event in events)
        assert [data["applied"] for kind, data in record(made) if kind == "human.replied"] == [False, True]
        assert record(made)[-1][1]["status"] == "answered"


@pytest.mark.parametrize("error", [RuntimeError("no"), OSError(28, "full"), TimeoutError("its own")])
def test_a_sink_that_fails_loses_nothing(tmp_path, error):
    """The case is kept before it is shown, and waits in the inbox; the note says what failed."""

    class Broken:
        async def open(self, case, context):
            raise error

        async def poll(self, shown, mark, context):
            return PollResult()

        async def acknowledge(self, case, notice, context):
            raise error

    config = load(tmp_path, environ={"KR_CACHE_DIR": str(tmp_path / "cache")})
    pipeline = Pipeline(config, agents={"duc": Says(UNSURE)}, escalations=[Broken()])
    with KnowledgeRouterService(pipeline) as made:
        result = ask(made)
        assert result.status == "escalated"
        assert any(note.startswith(f"escalation broken: {type(error).__name__}") for note in result.notes)
        assert made.cases.get("E1").status == "open"
        assert made.reply("E1", reply("confirm")).status == "answered"


def test_somebody_decides_while_the_agent_is_asked_again(tmp_path):
    """A decision that comes meanwhile stands, and who added context is told so."""

    class Slow(Says):
        async def run(self, job):
            if self.jobs:
                await made._service.reply("E1", reply("correct", "Use Postgres.", by="bob"))
            return await super().run(job)

    with service(tmp_path, duc=Slow(UNSURE, said(confidence=95))) as made:
        ask(made)
        result = made.reply("E1", reply("add_context", "More."))
        assert (result.status, result.answer.content) == ("answered", "Use Postgres.")
        assert "E1 was answered meanwhile by bob" in result.notes
        assert made.cases.get("E1").answer.content == "Use Postgres."


def test_context_of_two_people_adds_up(tmp_path):
    """What one added stays known when another adds something."""
    with service(tmp_path, duc=Says(UNSURE)) as made:
        ask(made, context="A shop.")
        made.reply("E1", reply("add_context", "One."))
        made.reply("E1", reply("add_context", "Two."))
        request = made.cases.get("E1").request
        assert (request.revision, request.question.context) == (3, "A shop.\n\nOne.\n\nTwo.")


def test_an_answer_that_knows_less_than_the_case_decides_nothing(tmp_path):
    """While the agent is asked again with one thing, somebody adds another: the answer to the first is a revision, not the end."""

    class Slow(Says):
        async def run(self, job):
            if job.question.context == "One.":
                await made._service.reply("E1", reply("add_context", "Two.", by="bob"))
            return await super().run(job)

    # the first answer, the one to "One.", and the one to "One. Two."
    with service(tmp_path, duc=Slow(UNSURE, said("Late.", 95), said(confidence=60))) as made:
        ask(made)
        late = made.reply("E1", reply("add_context", "One.", by="ada"))
        assert (late.status, late.escalation.revision) == ("escalated", 2)
        assert late.escalation.reason == "context was added meanwhile that duc has not seen"
        assert late.escalation.question.context == "One.\n\nTwo."
        assert late.answer.content == "Late."
        with pytest.raises(ConfigError, match="E1@1 is an older answer"):
            made.reply("E1", reply("confirm", revision=1))
        assert made.tend().asked_again == 1
        assert made.cases.get("E1").request.revision == 3
        assert not made.cases.get("E1").asking


def test_what_is_said_again_is_not_added_again(tmp_path):
    """The same context twice stands in the case once, and the agent is asked again all the same."""
    duc = Says(UNSURE)
    with service(tmp_path, duc=duc) as made:
        ask(made)
        made.reply("E1", reply("add_context", "One."))
        assert made.reply("E1", reply("add_context", "One.")).escalation.question.context == "One."
        assert len(duc.jobs) == 3


KILLED = """
import sys
from kr_core import HumanResponse, KnowledgeRouterService
with KnowledgeRouterService.open(folder=sys.argv[1]) as service:
    service.reply("E1", HumanResponse(action="add_context", content="More.", by="ada"))
"""


def test_killed_while_the_agent_is_asked_again(project_folder, environ, kr):
    """After kill -9 the question waits as before, with what was added, which the agent knows when it is asked again."""
    trust = {"KR_TRUST": "all"}
    project(project_folder)
    assert kr("ask", QUESTION, "--topic", "authentication", env=trust).code == 5
    program = (project_folder / "agent.py").read_text()
    asked = project_folder / "asked"
    (project_folder / "agent.py").write_text(
        f"import os, time\nopen('{asked}', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(project_folder)], env={**environ, **trust}, start_new_session=True
    )
    while not asked.exists() or not asked.read_text():
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with suppress(ProcessLookupError):  # it has a session of its own; on Linux its supervisor ends it
        os.kill(int(asked.read_text()), signal.SIGKILL)
    (project_folder / "agent.py").write_text(program)
    (case,) = kr("inbox", "list", "--json").json
    assert (case["revision"], case["resolution"]) == (1, None)
    entries = [json.loads(line) for line in kr("log", "--json").out.splitlines()]
    assert [entry["data"]["content"] for entry in entries if entry["kind"] == "human.replied"] == ["More."]
    assert case["case"]["question"]["context"] == "More."
    assert "> More." in kr("inbox", "show", "E1").out
    assert kr("inbox", "context", "E1@1", "We have 40 servers.", env=trust).code == 0
    entries = [json.loads(line) for line in kr("log", "--json").out.splitlines()]
    told = [entry["data"]["context"] for entry in entries if entry["kind"] == "question.asked"]
    assert told == ["", "More.", "More.\n\nWe have 40 servers."]
    assert kr("log", "--verify").code == 0


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.req("G1", "Z1")
def test_interrupted_while_the_agent_works(project_folder, environ, kr, again):
    """Ctrl-C: the agent's program ends, the record says that the exchange was cancelled, and nothing else is printed."""
    trust = {"KR_TRUST": "all"}
    project(project_folder)
    arguments = ["ask", QUESTION, "--topic", "authentication"]
    if again:
        assert kr(*arguments, env=trust).code == 5
        arguments = ["inbox", "context", "E1", "More."]
    (project_folder / "agent.py").write_text(
        "import os, time\nopen('%s', 'w').write(str(os.getpid()))\ntime.sleep(600)"
        % (project_folder / "asked")
    )
    process = subprocess.Popen(
        kr_argv(environ, *arguments),
        cwd=project_folder,
        env={**environ, **trust},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    agent = project_folder / "asked"
    while not (agent.exists() and agent.read_text()):
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, (out, err)
    assert "Event loop" not in err
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(agent.read_text()), 0)
    entries = [json.loads(line) for line in kr("log", "--json").out.splitlines()]
    assert [entry["data"]["status"] for entry in entries if entry["kind"] == "exchange.finished"][
        -1
    ] == "cancelled"


def test_what_waits_is_not_asked_again_by_who_tries_again(tmp_path):
    """A script that was interrupted asks under the same id: people see one case, and no agent works twice."""
    with service(tmp_path, duc=Says(UNSURE)) as made:
        first = ask(made, id="Q1", feature_id="shop")
        again = ask(made, id="Q1", feature_id="shop")
        assert again.status == first.status == "escalated"
        assert again.escalation.id == first.escalation.id == "E1"
        assert again.notes[-1] == "not asked again: it waits for a human as E1"
        with pytest.raises(ConfigError, match="is another question"):
            made.ask(Question(text="Which queue?", id="Q1", feature_id="shop", topic="authentication"))
        assert [case.request.id for case in made.cases.waiting()] == ["E1"]
        made.reply("E1", reply("confirm"))
