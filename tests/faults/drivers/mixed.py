"""Processes that write, touch, read, archive and restore in one knowledge base, and are killed while they do.

    mixed.py FOLDER --seed 7 --processes 8 --operations 500 --kills 20

What a process does is told by the seed, and is its own: nobody else works on its topics. One that is killed is begun again
with the operation that was not confirmed. So it is known at every moment what must be there: what was confirmed, and
perhaps the one operation after it. Prints one JSON object: the seconds, the kills, and what was wrong.
"""

import argparse
import json
import os
import random
import select
import signal
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import yaml

from kr_core import StorageError
from kr_core.plugin import Entry
from kr_plugins.stores.files import Files

FIRST = date(2026, 1, 1)
TOPICS = 6
OPERATIONS = ("write", "touch", "read", "archive", "restore")
WEIGHTS = (15, 15, 60, 6, 4)


def operation(seed, worker, number):
    """What a process does as its operation of this number: a name and a topic."""
    chance = random.Random(f"{seed}-{worker}-{number}")
    return chance.choices(OPERATIONS, WEIGHTS)[0], f"w{worker}-{chance.randrange(TOPICS)}"


def entry(topic, number):
    return Entry(
        id=f"httpx-{topic}", framework="httpx", framework_version="0.28", topic=topic, tags=(topic,),
        path=f"frameworks/httpx/{topic}.md", created=FIRST, last_accessed=FIRST + timedelta(days=number),
    )  # fmt: skip


def report(topic, number):
    return f"# httpx - {topic}\n\n**Framework:** httpx\n\n{number}\n" + "x" * 3000 + "\nend\n"


def number_of(store, found):
    """The number of the write that a report is of; its text and its evidence must be of the same one, and whole."""
    text, evidence = store.read(found)
    number = evidence["number"]
    assert text == report(found.topic, number), (
        f"{found.path} is torn, or its evidence ({number}) is of another write"
    )
    return number


# -- a process ---------------------------------------------------------------------------------------------


def work(folder, turns, seed, worker, begin, end, out):
    store = Files(folder, turns=turns)
    for number in range(begin, end):
        name, topic = operation(seed, worker, number)
        live = next((one for one in store.entries() if one.topic == topic), None)
        if name == "write":
            store.write(report(topic, number), {"number": number}, live_now(live, topic, number))
        elif live is not None and name == "touch":
            store.touch(live, FIRST + timedelta(days=number))
        elif live is not None and name == "read":
            number_of(store, live)
        elif live is not None and name == "archive":
            store.archive(lambda entries, topic=topic: [one for one in entries if one.topic == topic])
        elif live is None and name == "restore":
            restore(store, topic, number)
        os.write(out, b".")


def live_now(live, topic, number):
    fresh = entry(topic, number)
    return fresh if live is None else live.model_copy(update={"last_accessed": fresh.last_accessed})


def restore(store, topic, number):
    there = [one for one in store.archived() if one.topic == topic]
    if there:
        latest = max(there, key=lambda one: number_of(store, one))
        day = FIRST + timedelta(days=number)
        store.restore(latest.model_copy(update={"status": "fresh", "last_accessed": day}))


# -- what must be there ------------------------------------------------------------------------------------


def expected(seed, worker, count):
    """What must be there of a process after so many operations: live topics, (write, day), and archived writes."""
    live, archived = {}, []
    for number in range(count):
        name, topic = operation(seed, worker, number)
        if name == "write":
            live[topic] = (number, number)
        elif topic in live and name == "touch":
            live[topic] = (live[topic][0], number)
        elif topic in live and name == "archive":
            archived.append((topic, live.pop(topic)[0]))
        elif topic not in live and name == "restore":
            mine = [one for one in archived if one[0] == topic]
            if mine:
                archived.remove(max(mine))
                live[topic] = (max(mine)[1], number)
    return live, sorted(archived)


def seen(folder, worker):
    store = Files(folder)
    mine = f"w{worker}-"
    live = {
        one.topic: (number_of(store, one), (one.last_accessed - FIRST).days)
        for one in store.entries()
        if one.topic.startswith(mine)
    }
    archived = sorted(
        (one.topic, number_of(store, one)) for one in store.archived() if one.topic.startswith(mine)
    )
    return live, archived


def wrong(folder, seed, worker, confirmed, *, in_flight):
    """What is not as it must be, of one process that does not run; an empty text where nothing is."""
    try:
        there = seen(folder, worker)
    except (AssertionError, StorageError, TypeError, KeyError) as error:
        return f"process {worker} after {confirmed}: {type(error).__name__}: {error}"
    allowed = [expected(seed, worker, confirmed)]
    if in_flight:
        # A write that was cut off may have replaced the report, though not yet the date of its entry.
        name, topic = operation(seed, worker, confirmed)
        allowed.append(expected(seed, worker, confirmed + 1))
        live, archived = allowed[0]
        if name == "write" and topic in live:
            allowed.append(({**live, topic: (confirmed, live[topic][1])}, archived))
    return "" if there in allowed else f"process {worker} after {confirmed}: {there}, not one of {allowed}"


# -- the whole ---------------------------------------------------------------------------------------------


class Crowd:
    def __init__(self, options):
        self.options = options
        self.turns = options.folder.parent / "turns" if options.fair else None
        self.confirmed = [0] * options.processes
        self.running = {}
        self.faults = []
        self.parsed = 0

    def begin(self, worker):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                options = self.options
                work(
                    options.folder,
                    self.turns,
                    options.seed,
                    worker,
                    self.confirmed[worker],
                    options.operations,
                    writing,
                )
                code = 0
            except BaseException as error:  # whatever it is, the parent must hear of it
                sys.stderr.write(f"process {worker}: {type(error).__name__}: {error}\n")
                sys.stderr.flush()
            os._exit(code)
        os.close(writing)
        self.running[reading] = (worker, child)

    def end(self, reading):
        """A process has ended; what it confirmed last is counted, and what it left is looked at."""
        worker, child = self.running.pop(reading)
        while said := os.read(reading, 4096):
            self.confirmed[worker] += len(said)
        os.close(reading)
        _, status = os.waitpid(child, 0)
        done = self.confirmed[worker] == self.options.operations
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            self.faults.append(f"process {worker} failed after {self.confirmed[worker]}")
            return
        fault = wrong(
            self.options.folder, self.options.seed, worker, self.confirmed[worker], in_flight=not done
        )
        if fault:
            self.faults.append(fault)
        elif not done:
            self.begin(worker)

    def parse(self):
        """The index as anybody may read it at any moment."""
        try:
            text = (self.options.folder / "index.yaml").read_text("utf-8")
            assert isinstance(yaml.load(text, Loader=yaml.CSafeLoader)["entries"], list)
            self.parsed += 1
        except FileNotFoundError:
            assert not self.parsed, "the index is gone"

    def run(self):
        options = self.options
        chance = random.Random(options.seed)
        total = options.processes * options.operations
        # not to the end: a kill and a look at the index take as long as many operations, and none may be left over
        marks = sorted(chance.randrange(total // 20, total * 6 // 10) for _ in range(options.kills))
        started = time.perf_counter()
        for worker in range(options.processes):
            self.begin(worker)
        kills = 0
        while self.running and not self.faults:
            ready, _, _ = select.select(list(self.running), [], [], 0.02)
            for reading in ready:
                said = os.read(reading, 4096)
                if said:
                    self.confirmed[self.running[reading][0]] += len(said)
                else:
                    self.end(reading)
            if kills < len(marks) and self.running and sum(self.confirmed) >= marks[kills]:
                kills += 1
                reading = chance.choice(sorted(self.running))
                time.sleep(chance.random() * 0.004)
                os.kill(self.running[reading][1], signal.SIGKILL)
                self.end(reading)
                self.parse()
        seconds = time.perf_counter() - started
        for _, child in self.running.values():
            os.kill(child, signal.SIGKILL)
        self.parse()
        left = [file.name for file in options.folder.rglob(".*") if file.is_file()]
        return {
            "seconds": seconds,
            "kills": kills,
            "parsed": self.parsed,
            "left": left,
            "faults": self.faults,
        }


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    for name, default in (("seed", 1), ("processes", 8), ("operations", 500), ("kills", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--fair", action="store_true", help="first come, first served")
    return parser.parse_args()


if __name__ == "__main__":
    print(json.dumps(Crowd(options()).run()))
