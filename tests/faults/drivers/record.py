"""Eight processes append events and change the same documents, and are killed at random instants.

`record.py FOLDER --seed=N --kills=N` prints what was acknowledged, and whatever of it does not hold, as JSON.
"""

import argparse
import json
import os
import random
import selectors
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

from kr_core import Event
from kr_core.plugin import Document
from kr_plugins.journals.sqlite.sqlite_journal import SQLite

WORKERS = 8
DOCUMENTS = 3
MAX_SECONDS_LENGTH = 0.08
"""Between two kills."""


def work(folder, name, out):
    """Do one thing after the other, and say what was acknowledged; a line is one write, so that it is whole or not there."""
    chance = random.Random(name)
    journal = SQLite(folder)
    while True:
        events = [
            Event("k.v", name, {"feature_id": name, "text": "x" * 200}) for _ in range(chance.randint(1, 5))
        ]
        what = chance.random()
        if what < 0.4:
            journal.append(events).result()
            say(out, events=[event.id for event in events])
        elif what < 0.6:
            futures = [journal.append([event]) for event in events]
            for event, future in zip(events, futures, strict=True):
                future.result()
                say(out, events=[event.id])
        else:
            key = f"d{chance.randrange(DOCUMENTS)}"
            kept = journal.document("contest", key)
            version = kept.version + 1 if kept else 1
            told = Event("document.changed", name, {"feature_id": key, "version": version})
            if journal.change(Document("contest", key, "open", version, {"by": name}), [told]):
                say(out, events=[told.id], change=[key, version, name])


def say(out, **told):
    os.write(out, json.dumps(told).encode() + b"\n")


class Crowd:
    """The processes, and what they said."""

    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        self.begun = 0
        self.running = {}
        self.message = defaultdict(bytes)
        self.reading = selectors.DefaultSelector()

    def start(self):
        self.begun += 1
        name = f"{self.seed}-{self.begun}"
        read, write = os.pipe()
        process = os.fork()
        if not process:
            try:
                os.close(read)
                work(self.folder, name, write)
            except BaseException as error:
                say(write, fault=f"{type(error).__name__}: {error}")
            finally:
                os._exit(1)
        os.close(write)
        self.running[process] = name
        self.reading.register(read, selectors.EVENT_READ, name)

    def listen(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self.reading.get_map():
            self._take(left)

    def _take(self, seconds):
        for key, _ in self.reading.select(seconds):
            said = os.read(key.fd, 65536)
            self.message[key.data] += said
            if not said:
                self.reading.unregister(key.fd)
                os.close(key.fd)

    def kill(self, process):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        del self.running[process]

    def end(self):
        for process in list(self.running):
            self.kill(process)
        while self.reading.get_map():  # what they said before
            self._take(None)

    def lines(self):
        for said in self.message.values():
            yield from map(json.loads, said.splitlines()[: said.count(b"\n")])


def checked(folder, lines):
    """What was acknowledged, and the faults of the record."""
    faults = [line["fault"] for line in lines if "fault" in line]
    acknowledged = [name for line in lines for name in line.get("events", ())]
    changes = [tuple(line["change"]) for line in lines if "change" in line]
    journal = SQLite(folder)
    events = [event for _, event in journal.read(0, 10_000_000)]
    faults += [f"{flaw.location}: {flaw.message}" for flaw in journal.verify()]
    ids = [event.id for event in events]
    if len(ids) != len(set(ids)):
        faults.append("an event is there twice")
    if lost := set(acknowledged) - set(ids):
        faults.append(f"{len(lost)} acknowledged events are lost")
    made = defaultdict(list)
    for event in events:
        if event.kind == "document.changed":
            made[event.data["feature_id"]].append((event.data["version"], event.run))
    for key, versions in made.items():
        if [version for version, _ in versions] != list(range(1, len(versions) + 1)):
            faults.append(f"the versions of {key} are not one after the other, each once")
        last = journal.document("contest", key)
        if (last.version, last.data["by"]) != versions[-1]:
            faults.append(
                f"{key} is at {last.version} by {last.data['by']}, and its last change is {versions[-1]}"
            )
    by = {(key, version): name for key, versions in made.items() for version, name in versions}
    wrong = [change for change in changes if by.get(change[:2]) != change[2]]
    if wrong:
        faults.append(f"{len(wrong)} acknowledged changes are lost, or were made by another")
    journal.close()
    return {"events": len(acknowledged), "changes": len(changes), "kept": len(events), "faults": faults}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--seed", type=int, required=True)
    options.add_argument("--kills", type=int, required=True)
    asked = options.parse_args()
    chance = random.Random(asked.seed)
    crowd = Crowd(asked.folder, asked.seed)
    for _ in range(WORKERS):
        crowd.start()
    for _ in range(asked.kills):
        crowd.listen(chance.uniform(0, MAX_SECONDS_LENGTH))
        crowd.kill(chance.choice(sorted(crowd.running)))
        crowd.start()
    crowd.listen(MAX_SECONDS_LENGTH)
    crowd.end()
    print(json.dumps({"kills": asked.kills, **checked(asked.folder, list(crowd.lines()))}))


if __name__ == "__main__":
    sys.exit(main())
