"""`kr team` under a thousand requests piped in at once, three of ten of them known already, the rest from a source of 200 ms.

Each hit is timed from when its line is read to when its result has come out of the pipe. It fails where a result is missing,
is another request's or has another status than it should, where the memory of the process passes 300 MB, and where a
shutdown loses what is in hand or takes more than five seconds.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, sleep
from typing import IO, TYPE_CHECKING, Any

from at_once import serve_slowly
from harness import LEFT_OUT, Limit, Measured, figure

if TYPE_CHECKING:
    from collections.abc import Iterable

REQUESTS = 1_000
KNOWN = 0.3
LIBRARIES = 20
LATER = 300
"""Hits that are asked one by one while the rest is researched."""
PAUSE_SECONDS = 0.02
MAX_BYTES = 300 * 2**20
MAX_SHUTDOWN_SECONDS = 5.0
HIT = 0.05
TURNS = 3
PROGRAM = Path(__file__).parent / "resident.py"


class Resident:
    """One `kr team` in a project of its own; lines go in and results come out, each with the time at which it came."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.stamps = folder / f"read-{len(list(folder.iterdir()))}.txt"
        command = [sys.executable, str(PROGRAM), str(self.stamps), "team", "--session", "bench", "-q"]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.results: dict[int, tuple[float, dict[str, Any]]] = {}
        self.acknowledged = False
        self.most_bytes = 0
        self._news = threading.Condition()
        assert self.process.stdin is not None, "it is a pipe"
        assert self.process.stdout is not None, "it is a pipe"
        self._inlet: IO[bytes] = self.process.stdin
        self._reading = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reading.start()

    def _read(self, outlet: IO[bytes]) -> None:
        for line in outlet:
            now = perf_counter()
            name, _, body = line.partition(b": ")
            with self._news:
                if name == b"RESEARCH_RESULT":
                    result = json.loads(body)
                    if result["request_id"] in self.results:
                        raise SystemExit(f"answered twice: {result}")
                    self.results[result["request_id"]] = (now, result)
                self.acknowledged |= line == b"shutdown_response: approve\n"
                self._news.notify_all()

    def send(self, numbers: Iterable[int], topic: Any) -> None:
        """Ask, one request each."""
        for number in numbers:
            self._inlet.write(_request(number, topic(number)))
        self._inlet.flush()

    def wait(self, numbers: Iterable[int]) -> None:
        """Wait until all of these are answered."""
        wanted = set(numbers)
        with self._news:
            if not self._news.wait_for(lambda: wanted <= self.results.keys(), timeout=300):
                raise SystemExit(f"{len(wanted - self.results.keys())} requests were not answered")

    def end(self) -> float:
        """Ask for the shutdown; seconds until the process has ended in good order."""
        self.most_bytes = _most_memory(self.process.pid)
        begun = perf_counter()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        seconds = perf_counter() - begun
        self._reading.join(10)
        if code or not self.acknowledged:
            raise SystemExit(f"it ended with {code}, acknowledged: {self.acknowledged}")
        return seconds

    def since_read(self, numbers: Iterable[int]) -> list[float]:
        """Seconds from the reading of each line to its result, in order of size."""
        read = dict(line.split() for line in self.stamps.read_text().splitlines())
        return sorted(self.results[number][0] - float(read[str(number)]) for number in numbers)


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve_slowly, args=(there,), daemon=True)
    server.start()
    sys.setswitchinterval(0.0005)  # whoever notes the time of a result does not wait for whoever asks
    url = f"http://127.0.0.1:{here.recv()}"
    told: dict[str, list[float]] = {}
    for turn in range(TURNS):
        project = Path(tempfile.mkdtemp(dir=folder))
        for name, value in _measured(project, url, random.Random(turn)).items():
            told.setdefault(name, []).append(value)
    server.terminate()
    piped = f"`kr team`, {REQUESTS} requests piped in at once"
    alone = Measured("hits alone, one after the other, 99th percentile", told["alone"])
    sources = Measured("the sources' own time, 32 at once", told["sources"])
    return [
        figure(Measured(f"{piped}: hits among them, 99th percentile", told["hits"]), alone, Limit("seconds", HIT)),
        figure(Measured("hits while the rest is researched, 99th percentile", told["later"]), alone, None),
        figure(Measured(f"{piped}: until the last hit is answered", told["last hit"]), alone, None),
        figure(Measured(f"{piped}: all of them", told["whole"]), sources, None),
        figure(Measured("shutdown with work in hand", told["shutdown"]), sources, Limit("seconds", MAX_SHUTDOWN_SECONDS)),
    ]  # fmt: skip


def _measured(folder: Path, url: str, chance: random.Random) -> dict[str, float]:
    (folder / "kr.yaml").write_text(
        "knowledge_research: {sources: [context7], max_entries: 5000}\n"
        f"plugins: {{context7: {{base_url: '{url}/api'}}}}\n"
    )
    kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    environ = {**kept, "KR_CACHE_DIR": str(folder / "cache"), "KR_TRUST": "all"}
    count = int(REQUESTS * KNOWN)
    known = chance.sample(range(REQUESTS), count)
    place = {number: n for n, number in enumerate(known)}

    def topic(number: int) -> int:
        return place.get(number, number + count)  # what is known has the topics from 0

    before = Resident(folder, environ)
    before.send(range(count), lambda number: number)
    before.wait(range(count))
    before.end()

    resident = Resident(folder, environ)
    alone = range(-LATER, 0)
    for number in alone:
        resident.send([number], lambda number: -number - 1)
        resident.wait([number])
    begun = perf_counter()
    sending = threading.Thread(target=resident.send, args=(range(REQUESTS), topic))
    sending.start()
    sending.join()
    resident.wait(known)
    last_hit = perf_counter() - begun
    later = range(REQUESTS, REQUESTS + LATER)
    for number in later:
        resident.send([number], lambda number: number - REQUESTS)
        sleep(PAUSE_SECONDS)
    resident.wait([*range(REQUESTS), *later])
    whole = perf_counter() - begun
    in_hand = range(REQUESTS + LATER, REQUESTS + LATER + 16)
    resident.send(in_hand, lambda number: number + REQUESTS)
    resident.send(
        [in_hand.stop], lambda _number: 0
    )  # a hit: once it is answered, those before it are in hand
    resident.wait([in_hand.stop])
    shutdown = resident.end()
    _check(resident, topic, hits={*known, *later, *alone}, others={*range(REQUESTS), *in_hand} - {*known})
    if resident.most_bytes > MAX_BYTES:
        raise SystemExit(f"it took {resident.most_bytes / 2**20:.0f} MB")
    print(f"memory {resident.most_bytes / 2**20:.0f} MB", file=sys.stderr)
    return {
        "alone": _p99(resident.since_read(alone)),
        "hits": _p99(resident.since_read(known)),
        "later": _p99(resident.since_read(later)),
        "last hit": last_hit,
        "whole": whole,
        "sources": (REQUESTS - count) * 0.2 / 32,
        "shutdown": shutdown,
    }


def _check(resident: Resident, topic: Any, *, hits: set[int], others: set[int]) -> None:
    for number, (_time, result) in resident.results.items():
        (one,) = result["results"]
        wanted = "cache-hit" if number in hits else "success"
        if number in hits | others and one["status"] != wanted:
            raise SystemExit(f"request {number}: {one['status']} and not {wanted}: {one}")
        if result["requesting_agent"] != f"agent-{number}" or result["errors"] or not one["report_path"]:
            raise SystemExit(f"request {number}: {result}")
        if 0 <= number < REQUESTS and f" {_word(topic(number))}?" not in one["query"]:
            raise SystemExit(f"request {number} has the answer to another: {result}")


def _request(number: int, topic: int) -> bytes:
    word = _word(topic)
    body = {
        "story_key": f"{abs(number) + 1}-1",
        "requesting_agent": f"agent-{number}",
        "request_id": number,
        "queries": [
            {"query": f"How do I set the timeout of {_framework(topic)} for {word}?", "framework": _framework(topic),
             "framework_version": "1.4.0", "topic": word, "tags": [word]}
        ],
    }  # fmt: skip
    return f"RESEARCH_REQUEST: {json.dumps(body)}\n".encode()


def _framework(topic: int) -> str:
    """One of the libraries that the team works with."""
    return f"lib-{chr(ord('a') + topic % LIBRARIES)}"


def _word(topic: int) -> str:
    """A keyword of its own for each topic."""
    return "".join(chr(ord("b") + int(digit) * 2) for digit in f"{topic:04}") * 2


def _p99(values: list[float]) -> float:
    return values[min(len(values) - 1, int(len(values) * 0.99))]


def _most_memory(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("the system does not tell how much memory a process took at most")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(figures(Path(scratch)), indent=1))
