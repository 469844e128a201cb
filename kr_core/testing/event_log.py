"""What every event log keeps to (`kr_core.plugin.EventLog`)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any

from kr_core.testing import samples
from kr_core.testing.opened_journal import SECONDS, OpenedJournal, keep
from kr_core.testing.second_process import append_events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from kr_core.model import Event
    from kr_core.protocols import Journal
    from kr_core.testing.opened_journal import OpenJournal

_AS_IT_WAS = "as-it-was-written-down"
_ALTERED = "as-somebody-altered-it"


class EventLogContract(OpenedJournal):
    """The rules for event logs: order, durability and a verifiable record (`kr_core.plugin.EventLog`)."""

    def test_events_come_back_as_they_were(self, open_journal: OpenJournal) -> None:
        """Events come back complete, in the order in which they were appended, with growing numbers from 1."""
        journal = open_journal()
        events = samples.events(5)
        keep(journal, events[:2])
        keep(journal, events[2:])
        numbered = list(journal.read(0, 100))
        assert [event for _number, event in numbered] == events, (
            "the events read are not those appended, in their order; keep each event whole: id, time, run, kind "
            "and data"
        )
        numbers = [number for number, _event in numbered]
        assert numbers[0] == 1, f"the first event has the number {numbers[0]}; numbers begin at 1"
        assert numbers == sorted(set(numbers)), (
            f"the numbers {numbers} do not grow; give each event a higher one"
        )

    def test_reading_goes_on_after_a_number(self, open_journal: OpenJournal) -> None:
        """`read(after, limit)` returns at most `limit` events, beginning with the one after `after`."""
        journal = open_journal()
        events = samples.events(6)
        keep(journal, events)
        numbers = [number for number, _event in journal.read(0, 100)]
        page = list(journal.read(numbers[1], 3))
        assert page == list(zip(numbers[2:5], events[2:5], strict=True)), (
            "`read(after, limit)` did not give the `limit` events after the number `after`, in order; "
            "logs are fed by it, and would lose or repeat events"
        )
        assert list(journal.read(numbers[-1], 3)) == [], "`read` gave events after the last one; give none"

    def test_what_is_confirmed_survives_the_process(self, project: Path, open_journal: OpenJournal) -> None:
        """An event whose future has resolved survives, even if the process ends immediately afterwards."""
        with self._second_process(project, "append_events", run="killed", count=5) as process:
            process.go()
            ids = process.result()
        found = [event.id for _number, event in open_journal().read(0, 100)]
        assert found == ids, (
            f"{len(ids)} events were confirmed, and {len(found)} are there after the process ended without `close`; "
            "resolve the future only when the events are on the disk"
        )

    def test_threads_lose_nothing(self, open_journal: OpenJournal) -> None:
        """If four threads append at once, each event is there once, in the order of its thread."""
        journal = open_journal()
        batches = {f"thread-{n}": samples.events(25, f"thread-{n}") for n in range(4)}

        def append(events: Sequence[Event]) -> None:
            for future in [journal.append([event]) for event in events]:
                future.result(SECONDS)

        with ThreadPoolExecutor(len(batches)) as pool:
            list(pool.map(append, batches.values()))
        numbered = list(journal.read(0, 1000))
        numbers, read = [number for number, _event in numbered], [event for _number, event in numbered]
        assert numbers == sorted(set(numbers)), (
            "four threads appended, and the numbers do not grow; give numbers and write under one lock"
        )
        for run, events in batches.items():
            mine = [event.id for event in read if event.run == run]
            assert mine == [event.id for event in events], (
                f"of {len(events)} events of one of four threads {len(mine)} are there, or their order is another; "
                "give numbers and write under one lock"
            )

    def test_journals_open_at_once_hold_the_same(self, open_journal: OpenJournal) -> None:
        """What one open journal appends, another of the same project reads under the same number."""
        one, other = open_journal(), open_journal()
        events = samples.events(6)
        for number, event in enumerate(events):
            keep(other if number % 2 else one, [event])
        journals = {"the one": one, "the other": other}
        _hold_the_same(journals, [[event.id for event in events]], "two open journals appended in turn")

    def test_processes_lose_nothing(self, project: Path, open_journal: OpenJournal) -> None:
        """If two processes append at once, each event is there once, in its process's order, with one number."""
        journal = open_journal()
        with self._second_process(project, "append_events", run="theirs", count=20) as process:
            process.go()
            mine = append_events(journal, "mine", 20)
            theirs = process.result()
        journals = {"the one that was open meanwhile": journal, "one opened anew": open_journal()}
        _hold_the_same(journals, [mine, theirs], "two processes appended at once")

    def test_closing_waits_for_what_is_queued(self, open_journal: OpenJournal) -> None:
        """`close` returns once everything queued is durable."""
        journal, events = open_journal(), samples.events(50)
        futures = [journal.append([event]) for event in events]
        journal.close()
        waiting = sum(not future.done() for future in futures)
        assert not waiting, (
            f"`close` returned while {waiting} appends were not confirmed; write what is queued first, and resolve "
            "the futures"
        )
        found = len(open_journal().read(0, 100))
        assert found == len(events), (
            f"{len(events)} events were queued before `close`, and {found} are there; write what is queued first"
        )

    def test_entries_of_a_feature_and_of_an_exchange(self, open_journal: OpenJournal) -> None:
        """`entries` returns the events of a feature, an exchange, both, or all that have a feature, page by page."""
        journal = open_journal()
        events = [
            *samples.events(3, "one", feature="login"), *samples.events(2, "one"),
            *samples.events(2, "two", feature="login"), *samples.events(2, "two", feature="search"),
        ]  # fmt: skip
        keep(journal, events)
        numbered = list(journal.read(0, 100))
        wishes: list[tuple[dict[str, Any], list[int]]] = [
            ({"feature": "login"}, [0, 1, 2, 5, 6]),
            ({"exchange": "one"}, [0, 1, 2, 3, 4]),
            ({"feature": "login", "exchange": "two"}, [5, 6]),
            ({}, [0, 1, 2, 5, 6, 7, 8]),
            ({"feature": "nothing"}, []),
        ]
        for asked, places in wishes:
            wanted = [numbered[place] for place in places]
            found = list(journal.entries(**asked))
            assert found == wanted, (
                f"`entries` with {asked or 'nothing'} gave {[number for number, _ in found]}, not "
                f"{[number for number, _ in wanted]}; an event's feature is `feature_id` of its data, its exchange is its "
                "run, and with neither all that have a feature are wanted"
            )
            if wanted:
                page = list(journal.entries(**asked, after=wanted[0][0], limit=1))
                assert page == wanted[1:2], (
                    "`entries` did not give the `limit` events after the number `after`, in order; long records are read "
                    "page by page"
                )

    def test_an_altered_event_shows(self, project: Path, open_journal: OpenJournal) -> None:
        """`verify` finds an event that was altered from outside."""
        journal = open_journal()
        for text in ("first", _AS_IT_WAS, "last"):
            keep(journal, samples.events(1, text=text, feature="login"))
        journal.close()
        self.alter(project, _AS_IT_WAS.encode(), _ALTERED.encode())
        again = open_journal()
        texts = [event.data["text"] for _number, event in again.read(0, 10)]
        assert texts == ["first", _ALTERED, "last"], (
            f"an event was to be altered in the files of the project, and the events now say {texts}; override `alter` in "
            "the contract class to say where and how this journal keeps them"
        )
        assert again.verify(), (
            "an event was altered, and `verify` says nothing; keep with each event a hash over what is stored of it and "
            "the hash of the one before it"
        )


def _hold_the_same(journals: Mapping[str, Journal], appended: Sequence[Sequence[str]], who: str) -> None:
    """Each journal has all events once, each writer's in its order, and all number them alike."""
    seen = {}
    for name, journal in journals.items():
        numbered = list(journal.read(0, 1000))
        numbers, ids = [number for number, _event in numbered], [event.id for _number, event in numbered]
        count = sum(map(len, appended))
        assert sorted(ids) == sorted(chain.from_iterable(appended)), (
            f"{who}, {count} events, and {name} gives {len(ids)} ({len(set(ids))} different ones); let `read` look at "
            "what is kept now, not at what was there when the journal was opened"
        )
        for events in appended:
            assert [one for one in ids if one in set(events)] == list(events), (
                f"{who}, and {name} gives the events of one of them in another order; keep the order of appending"
            )
        assert numbers == sorted(set(numbers)), (
            f"{who}, and {name} gives the numbers {numbers}, which do not grow; take the next number under one lock on "
            "the file, or let the database give it"
        )
        seen[name] = list(zip(numbers, ids, strict=True))
    first, second = seen
    assert seen[first] == seen[second], (
        f"{who}, and {first} numbers the events otherwise than {second}; keep the number with the event: a log's cursor "
        "is one for all processes"
    )
