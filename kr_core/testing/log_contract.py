"""What every log keeps to (`kr_core.plugin.Log`)."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kr_core.model import Event
from kr_core.protocols import LogRecord, ReadableLog
from kr_core.testing import samples
from kr_core.testing.checks import raises_nothing
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class LogContract(PluginContract):
    """The rules for logs, tested by their content after writing.

    Attributes:
        kinds: the kinds of events that the log stores, if it stores only some: `("run.*", "source.failed")`.
            The events of the contract have these kinds in turn, with a different text for each `*`.
        about: additional data of each event, for a log that stores only events with such data.
    """

    noun = "log"
    kinds: ClassVar[Sequence[str]] = ("contract.*",)
    about: ClassVar[Mapping[str, Any]] = {}

    def kept(self, project: Path, kinds: Sequence[str]) -> list[str]:
        """Return which of these events the log contains, by kind, in the log's order, each as often as it occurs.

        Each event that a contract writes has a kind of its own, unless `kinds` says otherwise. By default this searches
        the project's files for the kinds. Override it for a log that stores its events elsewhere.
        """
        wanted = re.compile("|".join(map(re.escape, dict.fromkeys(kinds))).encode())
        files = sorted(path for path in project.rglob("*") if path.is_file())
        return [found.decode() for file in files for found in wanted.findall(file.read_bytes())]

    def test_events_are_kept_in_order(self, project: Path) -> None:
        """When `write` returns, every event is there once, in order."""
        records = self._records(7)
        log = self.build(project)
        self._write(log, records[:3])
        self._holds(project, records[:3])
        self._write(log, records[3:])
        self._holds(project, records)

    def test_what_comes_again_is_skipped(self, project: Path) -> None:
        """The log skips events that it already has, even among new ones."""
        records = self._records(6)
        log = self.build(project)
        self._write(log, records[:4])
        self._write(log, records[:4])
        self._write(log, records[2:])
        self._holds(project, records)

    def test_it_remembers_across_programs(self, project: Path) -> None:
        """A log that is opened again knows which events it has."""
        records = self._records(6)
        self._write(self.build(project), records[:4])
        self._write(self.build(project), records[1:])
        self._holds(project, records)

    def test_nothing_to_write_is_no_error(self, project: Path) -> None:
        """An empty batch changes nothing."""
        records, log = self._records(2), self.build(project)
        self._write(log, [])
        self._write(log, records)
        self._write(log, [])
        self._holds(project, records)

    def test_many_at_once(self, project: Path) -> None:
        """The log stores a batch of a thousand events."""
        records = self._records(1000)
        self._write(self.build(project), records)
        self._holds(project, records)

    def test_what_it_is_given_stays_as_it_is(self, project: Path) -> None:
        """The log does not change events, which the journal and the other logs use too."""
        records = self._records(3)
        before = deepcopy(records)
        self._write(self.build(project), records)
        assert records == before, (
            "the log changed the events that it was given; the other logs get the same ones: work on copies"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_data(self, project: Path, kind: str) -> None:
        """The log stores an event with any text in its data, and the events after it."""
        records = self._records(3, HOSTILE[kind])
        log = self.build(project)
        self._write(log, records[:2])
        self._write(log, records[1:])
        self._holds(project, records)

    def test_a_readable_log_names_its_last_event(self, project: Path) -> None:
        """A log with `last_record`, if it has that, returns the last event with its number, and None if it has none."""
        records, log = self._records(3), self.build(project)
        if not isinstance(log, ReadableLog):
            return
        assert log.last_record() is None, "a log without events has a last one; return None"
        self._write(log, records)
        last = self.build(project).last_record()
        told = None if last is None else (last.number, last.event.id)
        assert told == (3, records[-1].event.id), (
            f"the last event of a log is {told}, not (3, {records[-1].event.id!r}); read it from where the log is kept"
        )

    def _records(self, count: int, text: str = "") -> list[LogRecord]:
        """Events of the kinds that the log keeps."""
        numbered = zip(range(1, count + 1), samples.events(count, text=text), cycle(self.kinds))
        return [
            LogRecord(number, Event(kind.replace("*", event.id), event.run, {**event.data, **self.about}))
            for number, event, kind in numbered
        ]

    def _write(self, log: Any, records: Sequence[LogRecord]) -> None:
        hint = "raise only where the events could not be kept: data is any JSON value, and texts may hold anything"
        with raises_nothing("the log", hint):
            log.write(records)

    def _holds(self, project: Path, records: Sequence[LogRecord]) -> None:
        """The log has exactly these events."""
        kinds = [record.event.kind for record in records]
        given = Counter(kinds)
        held = self.kept(project, kinds)
        assert held, (
            "none of the events is in a file of the project after `write` returned; write them out before it "
            "returns, or override `kept` in the contract class to say where this log keeps them; one that keeps only some "
            "kinds of events says in `kinds` which"
        )
        found = Counter(held)
        missing = [number for number, one in enumerate(kinds, 1) if found[one] < given[one]]
        assert not missing, (
            f"events {_some(missing)} of {len(kinds)} are missing; `write` keeps all events that it is given before "
            "it returns, or raises; one that keeps only some kinds says in `kinds` which"
        )
        twice = [number for number, one in enumerate(kinds, 1) if found[one] > given[one]]
        assert not twice, (
            f"events {_some(twice)} of {len(kinds)} are there twice; a batch may come again: skip the numbers that "
            "the log has, also after a restart"
        )
        assert held == kinds, "the events are in another order than they were given; append them as they come"


def _some(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown}, ..." if len(numbers) > 5 else shown
