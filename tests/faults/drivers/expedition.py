"""An expedition over slow sources that is killed at random instants and goes on, against one that nobody kills.

    python expedition.py FOLDER --kills=10 --seed=1

Each process of it counts the instants that matter (an event, a search that has begun or has its answer, each write of the
journal before and after) and kills itself at the one that was drawn. At the end the result of both is compared, and what was
paid. Prints what came of it as JSON.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from support.expeditions import QUERY, Library

from kr_core import Expeditions, Pipeline
from kr_plugins.journals.sqlite.sqlite_journal import SQLite


class Instants:
    """Counts the instants of a process, and kills it at one of them; 0 for never."""

    def __init__(self, folder, last):
        self.folder = folder
        self.last = last
        self.count = 0

    def pass_by(self, what):
        self.count += 1
        if self.count == self.last:
            with open(self.folder / "killed", "a") as file:
                file.write(f"{what}\n")
            os.kill(os.getpid(), signal.SIGKILL)


class Journal:
    """A journal whose writes are instants."""

    def __init__(self, journal, instants):
        self._journal = journal
        self._instants = instants

    def __getattr__(self, name):
        return getattr(self._journal, name)

    def keep_step(self, run, key, result):
        self._instants.pass_by("a step is about to be kept")
        self._journal.keep_step(run, key, result)
        self._instants.pass_by("a step was kept")

    def spend(self, *given):
        granted = self._journal.spend(*given)
        self._instants.pass_by("a call was granted")
        return granted

    def change(self, document, events=()):
        self._instants.pass_by(f"a {document.kind} is about to be kept")
        return self._journal.change(document, events)


class Slow(Library):
    """A source that is slow, and may be killed while it is."""

    def __init__(self, instants, **values):
        super().__init__(**values)
        self.instants = instants

    async def query(self, query, context):
        self.instants.pass_by("a search begins")
        await asyncio.sleep(0.005)
        self.instants.pass_by("a search waits")
        return await super().query(query, context)


async def go(folder, instants):
    journal = SQLite(folder / ".kr")
    sources = {
        "slow": Slow(instants, begun=folder / "asked-slow"),
        "docs": Slow(instants, external=False, most=1, begun=folder / "asked-docs"),
    }
    with Pipeline(
        {},
        sources=sources,
        journal=Journal(journal, instants),
        on_event=lambda event: instants.pass_by(event.kind),
    ) as pipeline:
        expeditions = Expeditions(pipeline)
        kept = expeditions.kept()
        updates = expeditions.resume(kept[0].id) if kept else expeditions.run_expedition(QUERY, max_calls=40)
        finished = [update async for update in updates][-1]
        run = expeditions.kept()[0].plan.run
        paid = journal.spent(run, "0-0")
    journal.close()
    told = {
        "finished": finished.model_dump(mode="json", exclude={"id"}),
        "paid": paid,
        "instants": instants.count,
    }
    (folder / "told").write_text(json.dumps(told))


def process(folder, last):
    """Run it in a process of its own until its end or its instant; whether it ended."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.chdir(folder)
            asyncio.run(go(folder, Instants(folder, last)))
            code = 0
        finally:
            sys.stderr.flush()
            os._exit(code)
    _pid, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0, "it failed"
        return True
    assert os.WTERMSIG(status) == signal.SIGKILL
    return False


def lines(folder, name):
    with contextlib.suppress(FileNotFoundError):
        return (folder / name).read_text().splitlines()
    return []


def asked(folder):
    """Every search that was begun, in order of each source."""
    return Counter((source, text) for source in ("slow", "docs") for text in lines(folder, f"asked-{source}"))


def kept(folder):
    """The searches whose answers are on the disk."""
    if not (folder / ".kr/journal.sqlite").exists():
        return set()
    with contextlib.closing(sqlite3.connect(folder / ".kr/journal.sqlite")) as connection:
        steps = {
            key: json.loads(result)["result"]
            for key, result in connection.execute("SELECT key, result FROM steps")
        }
    searches = [key.split(" search ") for key in steps if " search " in key]
    return {tuple(steps[f"{cycle} plan"]["searches"][int(place)][:2]) for cycle, place in searches}


def killed_often(folder, chance, kills, most):
    """Kill one expedition so often, or as often as it can be; how often it was, and what was asked again although it was kept."""
    done, again = 0, []
    while True:
        known, before = kept(folder), asked(folder)
        last = chance.randint(1, max(2, 2 * most // (kills - done))) if done < kills else 0
        ended = process(folder, last)
        again += [f"{source}: {text}" for source, text in asked(folder) - before if (source, text) in known]
        if ended:
            return done, again
        done += 1


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    chance = random.Random(given.seed)
    whole = given.folder / "whole"
    whole.mkdir(parents=True)
    process(whole, 0)
    wanted = json.loads((whole / "told").read_text())
    faults, kills, number, places = [], 0, 0, set()
    while kills < given.kills:
        number += 1
        folder = given.folder / f"killed-{number}"
        folder.mkdir()
        done, again = killed_often(folder, chance, min(given.kills - kills, 10), wanted["instants"])
        kills += done
        told = json.loads((folder / "told").read_text())
        places.update(lines(folder, "killed"))
        faults += [f"{folder.name}: asked again: {what}" for what in again]
        faults += [
            f"{folder.name}: {what} differs: {told[what]} is not {wanted[what]}"
            for what in ("finished", "paid")
            if told[what] != wanted[what]
        ]
    axioms = len(wanted["finished"]["axioms"])
    print(
        json.dumps(
            {
                "kills": kills,
                "faults": faults,
                "paid": wanted["paid"],
                "places": sorted(places),
                "axioms": axioms,
            }
        )
    )


main()
