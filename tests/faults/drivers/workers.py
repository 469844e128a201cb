"""Workers on three machines answer questions, and are killed, stopped and cut off from the database; GitHub fails; people answer.

`workers.py FOLDER --server=PORT --database=NAME --seed=N --kills=N --questions=N` prints what happened, and whatever does not hold,
as JSON.

A question has four steps: its agent takes a call of the story's budget, and answers; it becomes a case; the case is
shown on GitHub; the reply is applied. Each machine has a folder of its own, and reaches PostgreSQL by a relay, which is
stopped to cut it off. Who is stopped for longer than a lease lasts goes on when another one has taken over.
"""

import argparse
import asyncio
import importlib
import json
import logging
import os
import random
import re
import selectors
import signal
import socket
import sys
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from deadly_github import FAULTY_YET, KILLS, TOKEN, Shared, forked, serve
from escalations import checked
from support.agents import answer
from support.github_server import REPOSITORY
from support.postgres_server import Connected

from kr_core import AsyncKnowledgeRouterService, Question, turns
from kr_core.ask import async_service, run_worker
from kr_core.escalation import channels
from kr_plugins.escalations.github import client, outbound
from kr_plugins.postgres import database, lease_table
from kr_plugins.runtimes import job_queue

USED = """anyio httpcore jinja2 kr_core.config.routing_table kr_core.escalation.commands kr_core.net.http_client kr_plugins.escalations.github
    kr_plugins.routers.rules kr_plugins.runtimes.procrastinate kr_plugins.postgres.shared_journal kr_plugins.postgres.shared_store""".split()
WORKERS, STORIES, CONCURRENCY = 3, 3, 4
SPEED = 60
"""Minutes that are waited for pass in seconds."""
GONE_SECONDS = 2.0
"""How long a lease lasts, and how long a worker may be silent, in place of 20 seconds."""
AWAY_SECONDS = 3.0
"""How long one is stopped, or cut off, at most a half more."""
KILLED, STOPPED, CUT_OFF = 6, 2, 2
"""How often each of these comes in ten times."""
DEADLY, FAULTY = 0.02, 0.02
"""The shares of requests to GitHub that kill who asks, and that fail: a fault costs more time than the rest."""
SETTLE_SECONDS = 120
"""How long nothing may change in what is left, once there are no more faults; a busy machine takes its time for the rest."""
VERSIONS = 4
"""Of a run that is taken once: queued, running, with its case, ended."""
CALL_SECONDS = 1.5
"""In place of half a minute; less than a lease lasts."""
AGENT = """
import asyncio, json, os, random, re
from kr_core.plugin import Provider, Reply, hookimpl

KR_CONTRACT = 2

class Driven:
    def __init__(self, journal, folder):
        self._journal, self._folder = journal, folder

    async def run(self, job):
        name = re.search(r"for (q\\d+)", job.prompt)[1]
        with open(self._folder / "asked", "a") as file:
            file.write(f"{name}\\n")
        story = f"story {int(name[1:]) %% %(stories)d}"
        given = await asyncio.to_thread(self._journal().spend, "all", story, f"agent {name}", %(limit)d)
        await asyncio.sleep(random.uniform(0, 1.2))
        return Reply(text=json.dumps({**%(answer)s, "answer": f"{name} was {'given' if given else 'refused'} a call."}))

@hookimpl
def kr_agent():
    return Provider(lambda settings, setup: Driven(setup.journal, setup.state_folder.parent))
"""


def quickened():
    """What takes half a minute takes some seconds."""
    job_queue.STALLED_SECONDS, job_queue._HEARTBEAT_SECONDS, job_queue._LOOK_SECONDS = GONE_SECONDS, 0.5, 0.5
    lease_table.LEASE_SECONDS = GONE_SECONDS
    database.ANSWER_SECONDS, database.PATIENCE_SECONDS = 4.0, 10.0
    run_worker._SWEEP_SECONDS = 5.0
    async_service.TEND_SECONDS = 0.3
    channels.CALL_SECONDS, outbound.PROMPT_SECONDS = CALL_SECONDS, GONE_SECONDS / 2
    client._BETWEEN_WRITES, turns._LONGEST_LOOK = 0.02, 0.05


def config(dsn, number, github):
    """The configuration of a machine."""
    return {
        "store": "postgres", "journal": "postgres", "runtime": "procrastinate", "escalations": ["github"],
        "agents": {"duc": {"plugin": "driven"}},
        "plugins": {
            "postgres": {"dsn": dsn, "project": "driven"},
            "github": {"repository": REPOSITORY, "token": TOKEN.format(number), "base_url": github},
        },
    }  # fmt: skip


def question(number):
    """The question with this number."""
    text = f"Which store, for q{number}?"
    return Question(id=f"q{number}", text=text, feature_id=f"F-{number % 3}", topic="authentication")


def plugin(folder, limit):
    """Install the agent, for this process and those that it forks."""
    metadata = folder / "driven-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: driven\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[kr]\ndriven = driven\n")
    said = answer("", 40)
    (folder / "driven.py").write_text(AGENT % {"stories": STORIES, "limit": limit, "answer": said})
    sys.path.append(str(folder))


# -- processes -------------------------------------------------------------------------------------------------


def relay(port, told):
    """Carry bytes between this machine and the database until killed."""
    with socket.create_server(("127.0.0.1", 0)) as listening, selectors.DefaultSelector() as ready:
        os.write(told, str(listening.getsockname()[1]).encode())
        os.close(told)
        ready.register(listening, selectors.EVENT_READ)
        others = {}
        while True:
            for key, _ in ready.select():
                if key.fileobj is listening:
                    near, far = listening.accept()[0], socket.create_connection(("127.0.0.1", port))
                    others |= {near: far, far: near}
                    ready.register(near, selectors.EVENT_READ)
                    ready.register(far, selectors.EVENT_READ)
                    continue
                if key.fileobj not in others:
                    continue
                with suppress(OSError):
                    if part := key.fileobj.recv(65536):
                        others[key.fileobj].sendall(part)
                        continue
                for one in (key.fileobj, others.pop(key.fileobj)):
                    others.pop(one, None)
                    ready.unregister(one)
                    one.close()


def piped(task, *arguments):
    """Run something in a process; its pid, and what it says first."""
    read, write = os.pipe()
    pid = forked(task, *arguments, write)
    os.close(write)
    try:
        return pid, os.read(read, 1000).decode()
    finally:
        os.close(read)


def ask(folder, settings, count):
    """Queue all questions."""

    async def run():
        async with AsyncKnowledgeRouterService.open(settings, folder=folder) as service:
            for number in range(count):
                await service._parts.runs.submit(question(number))

    asyncio.run(run())


def work(folder, settings, begun):
    """Be a worker until killed, or until SIGTERM."""

    def epoch():
        return begun + (time.time() - begun) * SPEED

    async def run():
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        async with AsyncKnowledgeRouterService.open(settings, folder=folder) as service:
            service._parts.worker._now = lambda: datetime.fromtimestamp(epoch(), UTC)
            known, _ = service.pipeline.components.escalations()
            known["github"]._pace.now = epoch
            await service.work(("ask", "upkeep"), CONCURRENCY, stop)

    logging.disable()
    asyncio.run(run())


# -- what is done to them --------------------------------------------------------------------------------------


class Machines:
    """The workers with their relays; each is started again where it has ended.

    Args:
        server: the database's.
        name: of the database.
        folder: in which each has its own.
        github: where GitHub is.
        shared: has the kills that are left, and the pids of workers.
        chance: who is next, and what happens.
    """

    def __init__(self, server, name, folder, github, shared, chance):
        self._name, self._github, self._folder, self._chance = name, github, folder, chance
        self._shared = shared
        self._begun = time.time()
        self._relays = [piped(relay, server.port) for _ in range(WORKERS)]
        self._back = {}
        """When a process that was stopped goes on."""
        self.lives, self.done = 0, Counter()

    def keep_running(self):
        """Start those that do not run, and let those go on whose time has come."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._has_ended(*ended)
        now = time.monotonic()
        for pid in [one for one, until in self._back.items() if until < now]:
            self._go_on(pid)
        for number in range(WORKERS):
            if not self._shared[number]:
                dsn = f"postgresql://postgres@127.0.0.1:{self._relays[number][1]}/{self._name}"
                settings = config(dsn, number, self._github)
                self._shared[number] = forked(work, self._folder / f"m{number}", settings, self._begun)
                self.lives += 1

    def _has_ended(self, pid, status):
        self.done["killed" if status == signal.SIGKILL else "ended by themselves"] += 1
        self._back.pop(pid, None)
        for number in range(WORKERS):
            if self._shared[number] == pid:
                self._shared[number] = 0

    def kill_at_work(self):
        """Kill the first worker that asks its agent, so that one step at least is cut short, however few kills there are."""
        while True:
            self.keep_running()
            for number in range(WORKERS):
                if (self._folder / f"m{number}" / "asked").exists():
                    os.kill(self._shared[number], signal.SIGKILL)
                    self._shared[number] = 0
                    return
            time.sleep(0.01)

    def step(self):
        """Let something happen to somebody if anyone may be killed, and wait a moment."""
        time.sleep(self._chance.uniform(0.1, 0.8))
        if self._shared[KILLS] <= 0:
            return
        what = self._chance.choices(["killed", "stopped", "cut off"], [KILLED, STOPPED, CUT_OFF])[0]
        number = self._chance.randrange(WORKERS)
        pid = self._shared[number]
        if what == "cut off":
            self._stop(self._relays[number][0], what)
        elif what == "stopped":
            self._stop(pid, what)
        elif pid:
            self._shared[number] = 0
            self._shared[KILLS] -= 1
            os.kill(pid, signal.SIGKILL)

    def _stop(self, pid, what):
        if pid and pid not in self._back:
            self._back[pid] = time.monotonic() + AWAY_SECONDS * self._chance.uniform(0.5, 1.5)
            self.done[what] += 1
            with suppress(ProcessLookupError):  # GitHub may have killed it
                os.kill(pid, signal.SIGSTOP)

    def _go_on(self, pid):
        del self._back[pid]
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def heal(self):
        """Let all go on that were stopped."""
        for pid in list(self._back):
            self._go_on(pid)

    def end(self):
        """End the workers as a person does; returns what was wrong with that."""
        pids = [pid for pid in (self._shared[number] for number in range(WORKERS)) if pid]
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        return [
            f"a worker ended with {status}" for _, status in (os.waitpid(pid, 0) for pid in pids) if status
        ]

    def kill(self):
        """Kill what there is; a relay that was stopped and is left would keep its connections for ever."""
        for pid in [*(self._shared[number] for number in range(WORKERS)), *(pid for pid, _ in self._relays)]:
            if pid:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def driven(machines, shared, progress, kills):
    """Do to the machines what there is to be done, spread over their work; then let them end it. What was not ended, if any."""
    machines.kill_at_work()
    given = 1
    while machines.done["killed"] < kills:
        share, _ = progress()
        allowed = min(kills, round(kills * (share + 0.1)) + 1)
        shared[KILLS] += allowed - given
        given = allowed
        machines.keep_running()
        machines.step()
        if given == kills and not shared[KILLS]:
            machines.keep_running()
            break
    shared[FAULTY_YET] = 0
    machines.heal()
    before, since = None, time.monotonic()
    while time.monotonic() < since + SETTLE_SECONDS:
        machines.keep_running()
        _, left = progress()
        if not left:
            return []
        if left != before:
            before, since = left, time.monotonic()
        time.sleep(0.2)
    return [f"for {SETTLE_SECONDS} seconds there is left: {before}"]


# -- what must hold --------------------------------------------------------------------------------------------


def progress_of(server, name, questions):
    """A function that tells the share of questions that are decided, and what is still to be done."""

    def look():
        rows = server.sql(
            "SELECT kind, split_part(status, ':', 1), count(*) FROM kr.documents GROUP BY 1, 2", name
        )
        counts = Counter({(kind, status): count for kind, status, count in rows})
        waiting = server.sql(
            "SELECT count(*) FROM kr.procrastinate_jobs WHERE status IN ('todo', 'doing')", name
        )
        left = {
            "runs": questions - counts["run", "ended"],
            "cases": questions - counts["escalation", "resolved"],
            "jobs": waiting[0][0],
        }
        return counts["escalation", "resolved"] / questions, {key: one for key, one in left.items() if one}

    return look


def wrong_of(folder, settings, questions, limit):
    """What does not hold of the questions, of the budgets and of what was asked twice."""
    wrong = []

    async def look():
        async with AsyncKnowledgeRouterService.open(settings, folder=folder) as service:
            journal = service.pipeline.journal
            events = [event for _, event in journal.read(0, 1_000_000)]
            cases = service.cases.all()
            spent = {
                number: await asyncio.to_thread(journal.spent, "all", f"story {number}")
                for number in range(STORIES)
            }
            results = [await service.ask(question(number)) for number in range(0, questions, 10)]
            return events, cases, spent, results

    events, cases, spent, results = asyncio.run(look())
    wrong += [
        f"{one.question_id} is {one.status}" for one in results if one.status not in {"answered", "accepted"}
    ]
    said = {
        event.data["escalation_id"]: event.data["error"]
        for event in events
        if event.kind == "escalation.shown"
    }
    wrong += [
        f"{case.request.id} was left with: {said.get(case.request.id)}; {case.care.channels}"
        for case in cases
        if case.status != "resolved"
    ]
    opened = Counter(event.data["question_id"] for event in events if event.kind == "escalation.opened")
    ended = Counter(
        event.data["question_id"]
        for event in events
        if event.kind == "exchange.finished" and event.data["status"] == "escalated"
    )
    for number in range(questions):
        name = f"q{number}"
        if (opened[name], ended[name]) != (1, 1):
            wrong.append(f"{name} became {opened[name]} cases, and ended {ended[name]} times")
    given = Counter(
        int(re.search(r"q(\d+)", case.request.answer.content)[1]) % STORIES
        for case in cases
        if case.request.answer is not None and "was given" in case.request.answer.content
    )
    for number in range(STORIES):
        right = min(limit, len(range(number, questions, STORIES)))
        if (spent[number], given[number]) != (right, right):
            wrong.append(f"story {number} spent {spent[number]}, was given {given[number]}, not {right}")
    return wrong


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--server", type=int, required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--kills", type=int, required=True)
    options.add_argument("--questions", type=int, required=True)
    asked = options.parse_args()
    machines = [asked.folder / f"m{number}" for number in range(WORKERS)]
    for one in (asked.folder / "asker", *machines):
        one.mkdir(parents=True)
    limit = asked.questions * 4 // 15
    plugin(asked.folder / "plugins", limit)
    quickened()
    for name in (*USED, "driven"):
        importlib.import_module(name)
    shared, server, name = Shared(WORKERS), Connected(asked.server), asked.database
    shared[FAULTY_YET] = 1
    begun = time.time()
    faults, running = [], None
    github, url = piped(lambda told: serve(asked.seed, shared, told, DEADLY, FAULTY))
    try:
        direct = config(server.dsn(name), 0, url)
        _, status = os.waitpid(forked(ask, asked.folder / "asker", direct, asked.questions), 0)
        faults += [f"who asks ended with {status}"] if status else []
        running = Machines(server, name, asked.folder, url, shared, random.Random(asked.seed))
        progress = progress_of(server, name, asked.questions)
        faults += driven(running, shared, progress, asked.kills)
        faults += running.end()
        with urllib.request.urlopen(f"{url}/state") as said:
            state = json.load(said)
    finally:
        if running is not None:
            running.kill()
        with suppress(ProcessLookupError):
            os.kill(github, signal.SIGKILL)
        os.waitpid(github, 0)
    told = checked(asked.folder / "asker", state["comments"], asked.questions, direct)
    faults += told.pop("faults") + wrong_of(asked.folder / "asker", direct, asked.questions, limit)
    calls = sum(len((one / "asked").read_text().split()) for one in machines if (one / "asked").exists())
    taken = server.sql(
        f"SELECT sum(greatest(version - {VERSIONS}, 0)) FROM kr.documents WHERE kind = 'run'", name
    )
    again = sum(count - 1 for count in state["posted"].values())
    print(
        json.dumps(
            {
                **told,
                **running.done,
                "lives": running.lives,
                "steps_again": calls - asked.questions + int(taken[0][0]) + again,
                "posted_again": again,
                "seconds": round(time.time() - begun, 1),
                "faults": faults,
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
