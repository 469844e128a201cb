"""A second process that uses the same plugin in the same project at the same time."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

from kr_core.testing import samples
from kr_core.testing.surroundings import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_START = (
    "import json, sys; task = json.loads(sys.stdin.readline()); sys.path[:] = task['path']; "
    "from kr_core.testing.second_process import work; work(task)"
)
_SECONDS = 120.0


class SecondProcess:
    """A process that has built the plugin, and waits for `go`.

    Args:
        task: what it will do, one of `_TASKS`.
        module: the plugin's module; `noun` and `settings` likewise as in the contract.
        project: the root of the project.
        arguments: of the task; JSON values.

    Raises:
        AssertionError: it could not build the plugin.
    """

    def __init__(
        self, task: str, module: str, noun: str, settings: Mapping[str, Any], project: Path, **arguments: Any
    ) -> None:
        told = {
            "path": sys.path, "task": task, "module": module, "noun": noun, "settings": dict(settings),
            "project": str(project), "arguments": arguments,
        }  # fmt: skip
        self._process = subprocess.Popen(  # noqa: S603  this interpreter
            [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self._tell(json.dumps(told))
        said = self._process.stdout.readline() if self._process.stdout else ""
        if said != "ready\n":
            self._process.kill()
            error = self._process.communicate()[1]
            raise AssertionError(
                f"a second process could not build the plugin from `module` and `settings`: {said}{error[-2000:]}\n"
                "A `build` that the contract class overrides is not called there; say in `settings` what it needs"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def go(self, **arguments: Any) -> None:
        """Let it begin, with these further arguments."""
        self._tell(json.dumps(arguments))

    def ask(self, **told: Any) -> Any:
        """Have one thing done by a task that does many, `obey`.

        Raises:
            AssertionError: it raised.
        """
        self._tell(json.dumps(told))
        said = self._process.stdout.readline() if self._process.stdout else ""
        if not said:
            error = self._process.communicate()[1]
            raise AssertionError(f"the plugin failed in a second process: {error[-2000:]}")
        return json.loads(said)

    def result(self) -> Any:
        """What the task came to.

        Raises:
            AssertionError: it raised.
        """
        out, error = self._process.communicate(timeout=_SECONDS)
        assert out.strip(), f"the plugin failed in a second process: {error[-2000:]}"
        return json.loads(out)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()


def work(task: Mapping[str, Any]) -> None:
    """What the second process does; it ends at once afterwards, as if it had been killed."""
    from pathlib import Path

    component = build(task["module"], task["noun"], task["settings"], Path(task["project"]))
    print("ready", flush=True)
    arguments = {**task["arguments"], **json.loads(sys.stdin.readline())}
    print(json.dumps(_TASKS[task["task"]](component, **arguments)), flush=True)
    os._exit(0)


def keep_entries(store: Any, framework: str, count: int) -> list[str]:
    """Write entries; returns their ids."""
    entries = [samples.entry(framework, f"topic {number}") for number in range(count)]
    for one in entries:
        store.write(f"# {one.topic}\n", {"topic": one.topic}, one)
    return [one.id for one in entries]


def obey(_component: Any, plugin: list[Any]) -> None:
    """Write entries into the knowledge base of whichever project is named, until nobody asks any more."""
    from pathlib import Path

    from kr_core.model import Entry

    module, noun, settings = plugin
    for line in sys.stdin:
        told = json.loads(line)
        store = build(module, noun, settings, Path(told["project"]))
        kept = store.write(told["report"], told["evidence"], Entry.model_validate(told["entry"]))
        print(json.dumps(kept.entry.model_dump(mode="json")), flush=True)


class Meeting:
    """Where this process and a second one wait for each other, again and again; a sleep would end at different times.

    Args:
        file: of two bytes, the same for both; each counts in its own byte how often it came.
        seat: whose byte is this one's, 0 or 1.
    """

    def __init__(self, file: Path, seat: int) -> None:
        if not file.exists():
            file.write_bytes(bytes(2))
        with file.open("r+b") as opened:
            self._came = mmap.mmap(opened.fileno(), 2)
        self._seat = seat

    def meet(self) -> None:
        """Return when the other one has come as often as this one.

        Raises:
            AssertionError: it does not come.
        """
        self._came[self._seat] += 1
        until = time.monotonic() + _SECONDS
        while self._came[1 - self._seat] < self._came[self._seat]:
            assert time.monotonic() < until, "the other process does not come any more"
            time.sleep(0)  # lets it have the processor, where there is one only


def spend_calls(journal: Any, grants: str, stories: int, meeting: str, seat: int) -> int:
    """Ask for the only call of each of several stories, at the same time as the other process; returns how many it got."""
    from pathlib import Path

    other = Meeting(Path(meeting), seat)
    given = 0
    for story in range(stories):
        other.meet()
        given += journal.spend("session", f"story-{story}", f"{grants}-{story}", 1)
    return given


def append_events(journal: Any, run: str, count: int) -> list[str]:
    """Append events and wait until they are durable; returns their ids."""
    events = samples.events(count, run)
    for event in events:
        journal.append([event]).result(_SECONDS)
    return [event.id for event in events]


def take_numbers(journal: Any, kind: str, count: int) -> list[int]:
    """Ask for numbers of a kind; returns them."""
    return [journal.number(kind) for _ in range(count)]


def change_document(journal: Any, by: str, versions: int, meeting: str, seat: int) -> list[int]:
    """Make each of several versions of one document, at the same time as the other process; returns those that it made."""
    from pathlib import Path

    from kr_core.protocols import Document

    other = Meeting(Path(meeting), seat)
    made = []
    for version in range(1, versions + 1):
        events = samples.events(1, by, feature=f"version {version}")
        other.meet()
        if journal.change(Document("contest", "one", "open", version, {"by": by}), events):
            made.append(version)
        other.meet()  # nobody makes the next version before both have tried this one
    return made


_TASKS: dict[str, Callable[..., Any]] = {
    "keep_entries": keep_entries,
    "obey": obey,
    "spend_calls": spend_calls,
    "append_events": append_events,
    "take_numbers": take_numbers,
    "change_document": change_document,
}
