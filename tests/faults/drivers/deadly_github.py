"""A GitHub in a process of its own that fails and kills whoever asks it, by chance, and whose people answer at once."""

import mmap
import os
import random
import re
import signal
import struct
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # for the server

from support.github_server import BOT, BROKEN, BROKEN_AFTER, LOST, SECONDARY, UNSEEN, GitHubServer
from support.loopback import Answer as Said

SLOW_SECONDS = 0.7
FAULTY, DEADLY = 0.12, 0.4
FAULTS = [LOST, UNSEEN, BROKEN, BROKEN_AFTER, SECONDARY, "slow"]
TOKEN = "ghp_worker{}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


class Shared:
    """Numbers that all processes see: kills that are left, whether there are still faults, and pids of workers.

    Args:
        workers: how many there are.
    """

    def __init__(self, workers):
        self.workers = workers
        self._map = mmap.mmap(-1, 8 * (workers + 2))

    def __getitem__(self, place):
        return struct.unpack_from("q", self._map, 8 * (place + 2))[0]

    def __setitem__(self, place, value):
        struct.pack_into("q", self._map, 8 * (place + 2), value)


KILLS, FAULTY_YET = -2, -1


class Deadly(GitHubServer):
    """See the module.

    Args:
        seed: of its chance.
        shared: whom it may kill, and how often.
        deadly: the share of requests that kill who asks.
        faulty: the share that fails.
    """

    def __init__(self, seed, shared, deadly, faulty):
        self._deadly, self._faulty = deadly, faulty
        self.chance = random.Random(seed)
        self.shared = shared
        self.posted = Counter()
        """How often KR has posted what it has, by what it is about; what came to light too late is removed again."""
        super().__init__()
        self.tokens = {TOKEN.format(number): BOT for number in range(shared.workers)}
        self.permissions.update(ann="write", ben="admin", eve="read")

    def _say(self, asked):
        if asked.path == "/state":
            with self.lock:
                return Said(200, {"comments": list(self.comments.values()), "posted": self.posted})
        with self.lock:
            fault = (
                self.chance.choice(FAULTS) if self._may(self._faulty) and self.shared[FAULTY_YET] else None
            )
            kill = self.chance.choice(["before", "after", "soon"]) if self._may(self._deadly) else None
            moment = self.chance.uniform(0, 0.03)
        if kill == "before" and self._killed(asked):
            return Said(reset=True)
        if fault == "slow":
            with self.lock:
                answer = self._headed(self._done(asked))
            time.sleep(SLOW_SECONDS)
            return answer
        self.faults_now.fault = fault
        answer = super()._say(asked)
        if kill == "after" and self._killed(asked):
            return Said(reset=True)
        if kill == "soon":
            threading.Timer(moment, self._killed, [asked]).start()
        return answer

    faults_now = threading.local()

    def _fault(self, _asked):
        return self.faults_now.fault

    def _may(self, share):
        return self.chance.random() < share

    def _killed(self, asked):
        """Kill who asks, if any more are to be killed; whether it was done."""
        with self.lock:
            if self.shared[KILLS] <= 0:
                return False
            number = int(re.search(r"worker(\d)", asked.headers["authorization"])[1])
            pid = self.shared[number]
            if not pid:
                return False
            self.shared[number] = 0
            self.shared[KILLS] -= 1
            os.kill(pid, signal.SIGKILL)
            return True

    def _comment(self, issue, body, login, **more):
        one = super()._comment(issue, body, login, **more)
        if login == BOT:
            self.posted[re.match(r"<!-- kr (\S+) ", body)[1]] += 1
        found = re.match(r"<!-- kr (E\d+@\d+) ", body)
        if found and login == BOT:
            for person in ["ann", *(["ben"] if self._may(0.3) else []), *(["eve"] if self._may(0.1) else [])]:
                text = self.chance.choice(["/kr confirm {}", "/kr correct {} Use Postgres."])
                super()._comment(issue, text.format(found[1]), person)
        return one


def serve(seed, shared, told, deadly=DEADLY, faulty=FAULTY):
    """Be such a GitHub, and write its address into a pipe."""
    server = Deadly(seed, shared, deadly, faulty)
    os.write(told, server.url.encode())
    os.close(told)
    signal.pause()


def forked(task, *arguments, **options):
    """Run something in a process of its own; returns its pid. Nothing has begun a thread here."""
    pid = os.fork()
    if pid:
        return pid
    try:
        task(*arguments, **options)
        os._exit(0)
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
