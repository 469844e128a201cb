"""Processes put questions to people on GitHub, and are killed; GitHub fails; people answer. In the end each was asked once.

`escalations.py FOLDER --seed=N --kills=N --escalations=N` prints what happened, and whatever does not hold, as JSON.

GitHub is a process of its own. It kills whoever asks it: before it does what is asked, after it did and before it answers, or
a moment later, while what it answered is applied. It refuses, breaks off and is slow, by chance.
"""

import argparse
import asyncio
import importlib
import json
import os
import re
import signal
import sys
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from deadly_github import FAULTY_YET, KILLS, TOKEN, Shared, forked, serve
from support.github_server import BOT, REPOSITORY

from kr_core import Answer, AsyncKnowledgeRouterService, Question
from kr_core.escalation import channels
from kr_core.escalation.audit import flaws

USED = """anyio httpcore jinja2 kr_core.config.routing_table kr_core.escalation.commands kr_core.net.http_client kr_plugins.escalations.github
    kr_plugins.journals.sqlite kr_plugins.routers.rules""".split()
"""What each worker would import by itself, and so spend most of its life on."""
WORKERS = 2
LIFE_SECONDS = 1.0
"""So long a worker works if nobody kills it: who lives longer has learned to leave a host alone that fails."""
CALL_SECONDS = 0.5
"""In place of half a minute, so that a slow answer comes too late."""
SPEED = 2000
"""Minutes that are waited for pass in tenths of a second."""
SETTLE_SECONDS = 120


# -- workers ---------------------------------------------------------------------------------------------------


def work(folder, url, number, begun, escalations, *, settle=False):
    """Put this worker's share of the questions, and do what is due; the last one does the rest of all."""

    def epoch():
        return begun + (time.time() - begun) * SPEED

    async def run():
        channels.CALL_SECONDS = CALL_SECONDS
        github = {"repository": REPOSITORY, "token": TOKEN.format(number), "base_url": url}
        config = {"escalations": ["github"], "plugins": {"github": github}}
        async with AsyncKnowledgeRouterService.open(config, folder=folder) as service:
            service._parts.worker._now = lambda: datetime.fromtimestamp(epoch(), UTC)
            known, _ = service.pipeline.components.escalations()
            known["github"]._pace.now = epoch
            asked = {case.request.question.id for case in service.cases.all()}
            share = range(escalations) if settle else range(number, escalations, WORKERS)
            end = time.monotonic() + (SETTLE_SECONDS if settle else LIFE_SECONDS)
            for one in [f"q{n}" for n in share if f"q{n}" not in asked]:
                question = Question(
                    id=one, text=f"Which store, for {one}?", feature_id=f"F-{int(one[1:]) % 3}"
                )
                answer = Answer(question_id=one, content=f"Use Redis for {one}.", confidence=40)
                await service.escalate_to_human(answer, question)
                if int(one[1:]) % 5 == 0:
                    await service.tend()
                if time.monotonic() > end:
                    return
            while time.monotonic() < end:
                done = await service.tend()
                if settle and not (done.shown or done.told or done.applied or done.refused or done.notes):
                    return
                await asyncio.sleep(0.01)

    asyncio.run(run())


# -- what must hold --------------------------------------------------------------------------------------------


def checked(folder, comments, escalations, config):
    """What does not hold of the comments and of the journal."""
    wrong = []
    markers = Counter(
        re.match(r"<!-- kr (\S+) ", one["body"])[1] for one in comments if one["user"]["login"] == BOT
    )
    wrong += [f"{marker} stands there {count} times" for marker, count in markers.items() if count > 1]

    async def look():
        async with AsyncKnowledgeRouterService.open(config, folder=folder) as service:
            cases = service.cases.all()
            journal = service.pipeline.journal
            wrong.extend(f"{flaw.location}: {flaw.message}" for flaw in (*journal.verify(), *flaws(journal)))
            replies = [
                event for _, event in journal.entries(limit=1_000_000) if event.kind == "human.replied"
            ]
            return cases, replies

    cases, replies = asyncio.run(look())
    if len(cases) != escalations:
        wrong.append(f"there are {len(cases)} cases, not {escalations}")
    wrong += [f"{case.request.id} is {case.status}" for case in cases if case.status != "resolved"]
    wrong += [
        f"{case.request.id}@{case.request.revision} is nowhere"
        for case in cases
        if markers[f"{case.request.id}@{case.request.revision}"] != 1
    ]
    applied = Counter(event.data["escalation_id"] for event in replies if event.data["applied"])
    wrong += [f"{name} had {count} replies applied" for name, count in applied.items() if count != 1]
    written = Counter(
        (re.search(r"E\d+", one["body"])[0], one["user"]["login"])
        for one in comments
        if one["user"]["login"] in {"ann", "ben"}
    )
    recorded = Counter((event.data["escalation_id"], event.data["by"]) for event in replies)
    if written != recorded:
        wrong.append(f"on record {dict(recorded - written)} too often, {dict(written - recorded)} not at all")
    return {"cases": len(cases), "comments": len(comments), "replies": len(replies), "faults": wrong}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--kills", type=int, required=True)
    options.add_argument("--escalations", type=int, required=True)
    asked = options.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in USED:
        importlib.import_module(name)
    shared = Shared(WORKERS)
    shared[KILLS], shared[FAULTY_YET] = asked.kills, 1
    read, write = os.pipe()
    server = forked(serve, asked.seed, shared, write)
    os.close(write)
    url = os.read(read, 1000).decode()
    begun = time.time()
    faults = []
    lives = 0
    try:
        running = {}
        while shared[KILLS] > 0:
            for number in set(range(WORKERS)) - set(running.values()):
                pid = forked(work, asked.folder, url, number, begun, asked.escalations)
                shared[number], running[pid] = pid, number
                lives += 1
            pid, status = os.wait()
            number = running.pop(pid)
            shared[number] = 0
            if status not in {0, signal.SIGKILL}:
                faults.append(f"worker {number} ended with {status}")
        for pid in running:
            os.waitpid(pid, 0)
        shared[FAULTY_YET] = 0
        _, status = os.waitpid(forked(work, asked.folder, url, 0, begun, asked.escalations, settle=True), 0)
        faults += [f"the last one ended with {status}"] if status else []
        with urllib.request.urlopen(f"{url}/state") as answer:
            state = json.load(answer)
    finally:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    told = checked(asked.folder, state["comments"], asked.escalations, {"escalations": ["stdout"]})
    told["again"] = sum(count - 1 for count in state["posted"].values())
    seconds = round(time.time() - begun, 1)
    print(
        json.dumps(
            {
                **told,
                "kills": asked.kills,
                "lives": lives,
                "seconds": seconds,
                "faults": faults + told["faults"],
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
