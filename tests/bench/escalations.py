"""`kr inbox poll` with ten thousand questions that wait on GitHub, beside one with fifty.

GitHub is the tests' own, on loopback. It fails where a poll sends more requests than it may, where a reply is not applied, and
where the memory of the process passes 200 MB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from harness import LEFT_OUT, ROOT, Limit, Measured, figure
from waiting_cases import put

sys.path.insert(0, str(ROOT / "tests"))  # for the server
from support import github_server  # type: ignore[import-not-found]  # tests are not a package, and have no types

from kr_core import Pipeline, Question
from kr_core.escalation.case_repository import CaseRepository
from kr_core.escalation.schedule import CaseActions, Delivery
from kr_plugins.escalations.github.comments import body
from kr_plugins.escalations.github.outbox import Outbox

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core import Event
    from kr_core.escalation.case import Case

MANY, FEW = 10_000, 50
ISSUES = 50
ROUNDS = 10
WRITERS = 64
MAX_REQUESTS = 110
"""Of one command that has much to read: ten times ten pages, and what else it has to know."""
MAX_REQUESTS_AT_REST = 1
MAX_CATCHING_UP = 20
"""Polls until all comments were read."""
MAX_TIMES = 8.0
MAX_MEGABYTES = 200
_TEXT = "Which session store should we use for the web tier, given that it has to survive a restart? "
_SAID = f"# a case\n\n**Question**:\n\n> {_TEXT * 10}\n\n**How to answer**\n\n    /kr confirm\n"


class Ran(NamedTuple):
    """One poll by a process of its own."""

    seconds: float
    requests: int
    megabytes: float
    applied: int


class Waiting:
    """A project in which so many questions wait on GitHub.

    Args:
        folder: where it is made.
        count: of the questions.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.github = github_server.GitHubServer()
        self.github.permissions["ann"] = "write"
        self.most_megabytes = 0.0
        self.most_requests = 0
        self._fill(count)

    def _fill(self, count: int) -> None:
        settings = {
            "repository": github_server.REPOSITORY,
            "token": github_server.TOKEN,
            "base_url": self.github.url,
        }
        config = {"escalations": ["github"], "logs": [], "plugins": {"github": settings}}
        self.folder.mkdir()
        (self.folder / "kr.yaml").write_text(json.dumps(config), "utf-8")  # which YAML is
        ledger = Outbox(self.folder / ".kr", f"{self.github.url}/{github_server.REPOSITORY}")
        (file,) = (self.folder / ".kr/github").glob("*.jsonl")
        with Pipeline.open(folder=self.folder) as pipeline, file.open("a", encoding="utf-8") as lines:
            cases = CaseRepository(pipeline.journal)

            def put(number: int, place: str) -> None:
                cases.keep(*_case(number, place))

            with ThreadPoolExecutor(WRITERS) as pool:
                for number in range(1, count + 1):
                    name, issue = f"E{number}@1", number % ISSUES + 1
                    one = self.github.write(github_server.BOT, issue, body(ledger, name, _SAID, ""))
                    line = {"is": name, "issue": issue, "id": one["id"], "url": one["html_url"]}
                    lines.write(f"{json.dumps({**line, 'created': one['created_at']})}\n")
                    pool.submit(put, number, one["html_url"])

    def poll(self) -> Ran:
        """Do all that is due once; a poll that fails ends the program."""
        self.github.asked.clear()
        environ = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        environ |= {"KR_CACHE_DIR": str(self.folder / "cache")}
        start = perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "kr_core", "inbox", "poll", "--json"],
            cwd=self.folder,
            env=environ,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None, "it is a pipe"
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = perf_counter() - start
        told = json.loads(said)
        if process.returncode or told["notes"]:
            raise SystemExit(f"kr inbox poll ended with {process.returncode}: {told}")
        ran = Ran(seconds, len(self.github.asked), usage.ru_maxrss / 1024, told["applied"])
        self.most_megabytes = max(self.most_megabytes, ran.megabytes)
        self.most_requests = max(self.most_requests, ran.requests)
        return ran

    def catch_up(self) -> int:
        """Poll until nothing is new; how often that took."""
        for number in range(1, MAX_CATCHING_UP):
            ran = self.poll()
            if ran.requests <= MAX_REQUESTS_AT_REST and self.github.asked[0].headers.get("if-none-match"):
                return number
        raise SystemExit(f"after {MAX_CATCHING_UP} polls there is still something to read")

    def replied(self, number: int) -> float:
        """Seconds of a poll that finds one reply."""
        self.github.write("ann", number % ISSUES + 1, f"/kr confirm E{number}@1")
        ran = self.poll()
        if ran.applied != 1:
            raise SystemExit(f"the reply to E{number} was not applied")
        return ran.seconds


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    many, few = Waiting(folder / "many", MANY), Waiting(folder / "few", FEW)
    try:
        polls = many.catch_up()
        few.catch_up()
        resting: list[float] = []
        peer: list[float] = []
        for _ in range(ROUNDS):
            peer.append(few.poll().seconds)
            ran = many.poll()
            if ran.requests > MAX_REQUESTS_AT_REST:
                raise SystemExit(f"a poll that finds nothing sent {ran.requests} requests")
            resting.append(ran.seconds)
        replied = [many.replied(number) for number in range(1, ROUNDS + 1)]
    finally:
        many.github.close()
        few.github.close()
    said = (
        f"{MANY:,} questions on GitHub: read in {polls} polls, at most {many.most_requests} requests each, "
        f"memory {many.most_megabytes:.0f} MB"
    )
    print(said, file=sys.stderr)
    if many.most_requests > MAX_REQUESTS or many.most_megabytes > MAX_MEGABYTES:
        raise SystemExit(said)
    beside = Measured(f"the same, {FEW} waiting", peer)
    limit = Limit("times", MAX_TIMES)
    return [
        figure(Measured(f"`kr inbox poll`, nothing new, {MANY:,} waiting on GitHub", resting), beside, limit),
        figure(Measured(f"`kr inbox poll`, one reply, {MANY:,} waiting on GitHub", replied), beside, None),
    ]


def _case(number: int, place: str) -> tuple[Case, list[Event]]:
    question = Question(text=f"{number}: {_TEXT}", topic="authentication", feature_id=f"F-{number % ISSUES}")
    one = put(number, question, _TEXT * 5, _TEXT, CaseActions(channels={"github": Delivery(1, place, 1)}))
    return one.case, [one.opened]
