"""What every journal keeps to (`kr_core.plugin.Journal`)."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kr_core.protocols import Appendable, Document
from kr_core.testing import samples
from kr_core.testing.hostile import HOSTILE
from kr_core.testing.plugin import PluginContract
from kr_core.testing.second_process import (
    Meeting,
    SecondProcess,
    append_events,
    change_document,
    spend_calls,
    take_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.model import Event
    from kr_core.protocols import Journal

_SECONDS = 30.0
_STORIES = 30
_STORY = ("session", "story")
_VERSIONS = 20
_AS_IT_WAS = "as-it-was-written-down"
_ALTERED = "as-somebody-altered-it"


class _OpenedJournal(PluginContract):
    """Opens the journal that is tried."""

    noun = "journal"

    def alter(self, project: Path, old: bytes, new: bytes) -> None:
        """Change the journal's stored data from outside: replace every `old` by `new`, which has the same length.

        The journal is closed at that time. By default this changes the bytes of the project's files. Override it for a
        journal that stores its events elsewhere, or in another form.
        """
        for file in sorted(path for path in project.rglob("*") if path.is_file()):
            content = file.read_bytes()
            if old in content:
                file.write_bytes(content.replace(old, new))

    @pytest.fixture
    def open_journal(self, project: Path) -> Iterator[Callable[[], Journal]]:
        """Open the project's journal; each call opens it anew, while the others stay open."""
        opened: list[Journal] = []

        def open_it() -> Journal:
            opened.append(self.build(project))
            return opened[-1]

        yield open_it
        for journal in opened:
            with suppress(Exception):  # a test may have closed it already
                journal.close()


class _EventLogContract(_OpenedJournal):
    """The rules for event logs: order, durability and a verifiable record (`kr_core.plugin.EventLog`)."""

    def test_events_come_back_as_they_were(self, open_journal: Callable[[], Journal]) -> None:
        """Events come back complete, in the order in which they were appended, with growing numbers from 1."""
        journal = open_journal()
        events = samples.events(5)
        _keep(journal, events[:2])
        _keep(journal, events[2:])
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

    def test_reading_goes_on_after_a_number(self, open_journal: Callable[[], Journal]) -> None:
        """`read(after, limit)` returns at most `limit` events, beginning with the one after `after`."""
        journal = open_journal()
        events = samples.events(6)
        _keep(journal, events)
        numbers = [number for number, _event in journal.read(0, 100)]
        page = list(journal.read(numbers[1], 3))
        assert page == list(zip(numbers[2:5], events[2:5], strict=True)), (
            "`read(after, limit)` did not give the `limit` events after the number `after`, in order; "
            "logs are fed by it, and would lose or repeat events"
        )
        assert list(journal.read(numbers[-1], 3)) == [], "`read` gave events after the last one; give none"

    def test_what_is_confirmed_survives_the_process(
        self, project: Path, open_journal: Callable[[], Journal]
    ) -> None:
        """An event whose future has resolved survives, even if the process ends immediately afterwards."""
        with SecondProcess(
            "append_events", self.module, self.noun, self.settings, project, run="killed", count=5
        ) as process:
            process.go()
            ids = process.result()
        found = [event.id for _number, event in open_journal().read(0, 100)]
        assert found == ids, (
            f"{len(ids)} events were confirmed, and {len(found)} are there after the process ended without `close`; "
            "resolve the future only when the events are on the disk"
        )

    def test_threads_lose_nothing(self, open_journal: Callable[[], Journal]) -> None:
        """If four threads append at once, each event is there once, in the order of its thread."""
        journal = open_journal()
        batches = {f"thread-{n}": samples.events(25, f"thread-{n}") for n in range(4)}

        def append(events: Sequence[Event]) -> None:
            for future in [journal.append([event]) for event in events]:
                future.result(_SECONDS)

        threads = [threading.Thread(target=append, args=(events,)) for events in batches.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
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

    def test_journals_open_at_once_hold_the_same(self, open_journal: Callable[[], Journal]) -> None:
        """What one open journal appends, another of the same project reads under the same number."""
        one, other = open_journal(), open_journal()
        events = samples.events(6)
        for number, event in enumerate(events):
            _keep(other if number % 2 else one, [event])
        journals = {"the one": one, "the other": other}
        _hold_the_same(journals, [[event.id for event in events]], "two open journals appended in turn")

    def test_processes_lose_nothing(self, project: Path, open_journal: Callable[[], Journal]) -> None:
        """If two processes append at once, each event is there once, in its process's order, with one number."""
        journal = open_journal()
        with SecondProcess(
            "append_events", self.module, self.noun, self.settings, project, run="theirs", count=20
        ) as process:
            process.go()
            mine = append_events(journal, "mine", 20)
            theirs = process.result()
        journals = {"the one that was open meanwhile": journal, "one opened anew": open_journal()}
        _hold_the_same(journals, [mine, theirs], "two processes appended at once")

    def test_closing_waits_for_what_is_queued(self, open_journal: Callable[[], Journal]) -> None:
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

    def test_entries_of_a_feature_and_of_an_exchange(self, open_journal: Callable[[], Journal]) -> None:
        """`entries` returns the events of a feature, an exchange, both, or all that have a feature, page by page."""
        journal = open_journal()
        events = [
            *samples.events(3, "one", feature="login"), *samples.events(2, "one"),
            *samples.events(2, "two", feature="login"), *samples.events(2, "two", feature="search"),
        ]  # fmt: skip
        _keep(journal, events)
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

    def test_an_altered_event_shows(self, project: Path, open_journal: Callable[[], Journal]) -> None:
        """`verify` finds an event that was altered from outside."""
        journal = open_journal()
        for text in ("first", _AS_IT_WAS, "last"):
            _keep(journal, samples.events(1, text=text, feature="login"))
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


class _DocumentStoreContract(_OpenedJournal):
    """The rules for document stores: version after version, each with its events (`kr_core.plugin.DocumentStore`)."""

    def test_a_document_changes_version_by_version(self, open_journal: Callable[[], Journal]) -> None:
        """The latest version, with the events of each change, is there when the journal is opened again."""
        journal = open_journal()
        assert journal.document("letter", "one") is None, "a document that nobody kept gives None"
        first = Document("letter", "one", "open", 1, {"list": [1, 2.5, "three", None, True]})
        second = Document("letter", "one", "closed", 2, {})
        events = samples.events(3, feature="login")
        for document, told in ((first, events[:1]), (second, events[1:])):
            assert journal.change(document, told) is True, (
                f"version {document.version} follows the one that is kept, and `change` did not return True"
            )
            assert journal.document("letter", "one") == document, (
                "the document read is not the version kept last; keep status, version and data together"
            )
        assert journal.document("parcel", "one") is None, (
            "a document of another kind was given; keep kinds apart"
        )
        again = open_journal()
        assert again.document("letter", "one") == second, "a journal opened anew does not have the document"
        assert [event for _number, event in again.read(0, 10)] == events, (
            "the events of the changes are not there once each, in order; append them in the same transaction"
        )

    @pytest.mark.parametrize("version", [1, 2, 4])
    def test_a_change_that_comes_too_late_changes_nothing(
        self, version: int, open_journal: Callable[[], Journal]
    ) -> None:
        """If the stored version is not the preceding one, `change` stores nothing and returns False."""
        journal = open_journal()
        kept = [Document("letter", "one", "open", number, {"number": number}) for number in (1, 2)]
        for document in kept:
            journal.change(document)
        late = Document("letter", "one", "late", version, {})
        assert journal.change(late, samples.events(1)) is False, (
            f"version 2 is kept, and a change to version {version} was not refused; return False unless the version that "
            "is kept is `document.version - 1`"
        )
        assert journal.document("letter", "one") == kept[-1], "a change that was refused changed the document"
        assert not journal.read(0, 10), "a change that was refused left its events behind; append none"
        nobody = journal.change(Document("letter", "another", "open", 2, {}))
        assert nobody is False, (
            "version 2 of a document that there is not was kept; what is not there has version 0"
        )

    def test_documents_are_listed(self, open_journal: Callable[[], Journal]) -> None:
        """Documents are listed by kind and status, oldest first regardless of changes, with a limit, page by page."""
        journal = open_journal()
        for key in ("b", "a", "c"):
            journal.change(Document("letter", key, "open", 1, {}))
        journal.change(Document("letter", "b", "closed", 2, {}))
        journal.change(Document("parcel", "d", "open", 1, {}))
        lists = [
            [one.key for one in found]
            for found in (
                journal.documents("letter"), journal.documents("letter", "open"), journal.documents("letter", limit=2),
            )
        ]  # fmt: skip
        assert lists == [["b", "a", "c"], ["a", "c"], ["b", "a"]], (
            f"all, the open and two documents of a kind are {lists}; list the oldest first, by when each was new"
        )
        pages = [
            [one.key for one in found]
            for found in (
                journal.documents("letter", after="b", limit=1), journal.documents("letter", "open", after="b"),
                journal.documents("letter", after="c"),
            )
        ]  # fmt: skip
        assert pages == [["a"], ["a", "c"], []], (
            f"one document after `b`, the open ones after it, and all after the last one are {pages}; `after` is a key, and what "
            "was new after it comes next, whatever its own status is"
        )

    def test_versions_are_listed(self, open_journal: Callable[[], Journal]) -> None:
        """`versions` lists the key, status and version of each document of a kind, oldest first."""
        journal = open_journal()
        for key in ("b", "a"):
            journal.change(Document("letter", key, "open", 1, {}))
        journal.change(Document("letter", "b", "closed", 2, {}))
        journal.change(Document("parcel", "d", "open", 1, {}))
        versions = [tuple(one) for one in journal.versions("letter")]
        assert versions == [("b", "closed", 2), ("a", "open", 1)], (
            f"the versions of a kind are {versions}; give (key, status, version) of each, in the order in which they were new"
        )

    def test_a_change_survives_the_process(self, project: Path, open_journal: Callable[[], Journal]) -> None:
        """If two processes make the same version at once, one succeeds; its version survives its process."""
        journal, meeting = open_journal(), str(project.parent / "meeting")
        with SecondProcess(
            "change_document", self.module, self.noun, self.settings, project,
            by="theirs", versions=_VERSIONS, meeting=meeting, seat=1,
        ) as process:  # fmt: skip
            Meeting(Path(meeting), 0)
            process.go()
            made = {
                "mine": change_document(journal, "mine", _VERSIONS, meeting, 0),
                "theirs": process.result(),
            }
        versions = sorted(chain.from_iterable(made.values()))
        assert versions == list(range(1, _VERSIONS + 1)), (
            f"two processes tried to make {_VERSIONS} versions, each at once, and {versions} were made; exactly one "
            "makes each: compare and set the version in one transaction, or under one lock on the file"
        )
        last = open_journal().document("contest", "one")
        assert last is not None, "the document is not there after the other process ended"
        assert last.version == _VERSIONS, f"version {_VERSIONS} was made, and {last.version} is kept"
        assert _VERSIONS in made[last.data["by"]], "the document is not the one of who made its version"
        events = [(event.data["feature_id"], event.run) for _number, event in journal.entries()]
        wanted = [
            (f"version {version}", by)
            for version in versions
            for by, theirs in made.items()
            if version in theirs
        ]
        assert events == wanted, (
            f"{len(wanted)} changes were made, and the record has {len(events)} events of them, or others; append a "
            "change's events in its transaction, durable on return, and none of one that was refused"
        )

    def test_threads_change_a_document(self, open_journal: Callable[[], Journal]) -> None:
        """If several threads make the same version at once, one succeeds."""
        journal, threads = open_journal(), 4
        barrier = threading.Barrier(threads, timeout=_SECONDS)

        def change(_thread: int) -> int:
            made = 0
            for version in range(1, _VERSIONS + 1):
                barrier.wait()
                made += journal.change(Document("letter", "one", "open", version, {}))
                barrier.wait()
            return made

        with ThreadPoolExecutor(threads) as pool, _switching_often():
            made = sum(pool.map(change, range(threads)))
        assert made == _VERSIONS, (
            f"four threads made {_VERSIONS} versions of a document {made} times; compare and set the version under one "
            "lock, or in one transaction"
        )


class _LogCursorsContract(_OpenedJournal):
    """The rules for the cursors of logs (`kr_core.plugin.LogCursors`)."""

    def test_each_log_has_a_cursor(self, open_journal: Callable[[], Journal]) -> None:
        """A cursor begins at 0 and moves only with its own log."""
        journal = open_journal()
        _keep(journal, samples.events(5))
        assert journal.cursor("one") == 0, "a log that has confirmed nothing has the cursor 0"
        journal.advance("one", 3)
        journal.advance("two", 5)
        journal.advance("one", 4)
        cursors = (journal.cursor("one"), journal.cursor("two"))
        assert cursors == (4, 5), (
            f"the cursors of two logs are {cursors}, not (4, 5); keep one for each log, and let `advance` set it"
        )


class _StepResultsContract(_OpenedJournal):
    """The rules for results of steps (`kr_core.plugin.StepResults`)."""

    def test_the_first_result_of_a_step_stays(self, open_journal: Callable[[], Journal]) -> None:
        """The first result of a step stays; a second one is ignored; each run has its own results."""
        journal = open_journal()
        assert journal.step("run", "key") is None, "a step that has no result gives None"
        result = {"list": [1, 2.5, "three", None, True], "nested": {"a": {"b": []}}}
        journal.keep_step("run", "key", result)
        journal.keep_step("run", "key", "another")
        assert journal.step("run", "key") == result, (
            f"the step's result is {journal.step('run', 'key')!r}, not the first one; ignore a second result"
        )
        assert journal.step("other run", "key") is None, (
            "a step of another run has this run's result; keep them apart"
        )
        assert journal.step("run", "other key") is None, (
            "another step has this step's result; keep them apart"
        )


class _CountersContract(_OpenedJournal):
    """The rules for numbers and budgets: exact, even with a second process (`kr_core.plugin.Counters`)."""

    def test_numbers_are_given_once(self, open_journal: Callable[[], Journal]) -> None:
        """Each kind has consecutive numbers from 1, even with two open journals."""
        one, other = open_journal(), open_journal()
        given = [journal.number("letter") for journal in (one, other, one, other)]
        assert given == [1, 2, 3, 4], f"two open journals gave the numbers {given}; give 1, 2, 3, 4"
        assert one.number("parcel") == 1, "a second kind did not begin at 1; count each kind for itself"

    def test_numbers_are_given_once_across_processes(
        self, project: Path, open_journal: Callable[[], Journal]
    ) -> None:
        """Two processes that ask at the same time never get the same number."""
        journal = open_journal()
        with SecondProcess(
            "take_numbers", self.module, self.noun, self.settings, project, kind="letter", count=50
        ) as process:
            process.go()
            mine = take_numbers(journal, "letter", 50)
            given = sorted(mine + process.result())
        assert given == list(range(1, 101)), (
            f"two processes were given {len(set(given))} different numbers, 100 times in all, up to {given[-1]}; read and "
            "write the counter in one transaction, or under one lock on the file"
        )

    def test_a_budget_has_its_limit(self, open_journal: Callable[[], Journal]) -> None:
        """The budget grants as many calls as its limit; each story of each session has its own."""
        journal = open_journal()
        given = [journal.spend(*_STORY, f"grant-{number}", 2) for number in range(4)]
        assert given == [True, True, False, False], (
            f"with a limit of 2, four calls were answered {given}; give a call only while fewer than `limit` are taken"
        )
        assert journal.spent(*_STORY) == 2, f"2 calls were given, and `spent` says {journal.spent(*_STORY)}"
        assert not journal.spend("session", "another", "none", 0), (
            "with a limit of 0 a call was given; give none"
        )
        others = [
            journal.spend(session, story, f"{session}/{story}", 1)
            for session, story in (("session", "another"), ("another", "story"))
        ]
        assert others == [True, True], (
            "a story's calls were counted for another story or session; count by session and story"
        )

    def test_a_grant_is_charged_once(self, open_journal: Callable[[], Journal]) -> None:
        """A repeated grant succeeds and costs nothing, even if the budget is used up."""
        journal = open_journal()
        given = [journal.spend(*_STORY, "grant", 1) for _ in range(3)]
        assert given == [True, True, True], (
            f"the same grant was answered {given}; a grant that was given is given again: a run that is resumed asks "
            "for it a second time"
        )
        assert journal.spent(*_STORY) == 1, (
            f"one grant, asked for three times, cost {journal.spent(*_STORY)} calls; count each grant once"
        )

    def test_a_refund_gives_the_call_back(self, open_journal: Callable[[], Journal]) -> None:
        """A refunded call is available to others; it is refunded only once."""
        journal = open_journal()
        for grant in ("one", "two"):
            journal.spend(*_STORY, grant, 2)
        journal.refund("one")
        journal.refund("one")
        assert journal.spent(*_STORY) == 1, (
            f"of 2 calls one was given back (twice), and `spent` says {journal.spent(*_STORY)}, not 1; "
            "forget the grant that is refunded, and nothing else"
        )
        assert journal.spend(*_STORY, "three", 2), (
            "a call that was given back cannot be taken; count what is left"
        )

    def test_a_budget_is_exact_across_threads(self, open_journal: Callable[[], Journal]) -> None:
        """Threads that ask one journal at the same time get exactly the limit together."""
        journal, threads = open_journal(), 4
        barrier = threading.Barrier(threads, timeout=_SECONDS)

        def spend(thread: int) -> int:
            given = 0
            for story in range(_STORIES):
                barrier.wait()
                given += journal.spend("session", f"story-{story}", f"thread-{thread}-{story}", 1)
            return given

        with ThreadPoolExecutor(threads) as pool, _switching_often():
            given = sum(pool.map(spend, range(threads)))
        self._exact(journal, given, "threads of one process", "under one lock, or in one transaction")

    def test_a_budget_is_exact_across_processes(
        self, project: Path, open_journal: Callable[[], Journal]
    ) -> None:
        """Two processes that ask at the same time get exactly the limit together."""
        journal, meeting = open_journal(), str(project.parent / "meeting")
        with SecondProcess(
            "spend_calls", self.module, self.noun, self.settings, project,
            grants="theirs", stories=_STORIES, meeting=meeting, seat=1,
        ) as process:  # fmt: skip
            Meeting(Path(meeting), 0)
            process.go()
            given = spend_calls(journal, "mine", _STORIES, meeting, 0) + process.result()
        self._exact(journal, given, "two processes", "in one transaction, or under one lock on the file")

    @staticmethod
    def _exact(journal: Journal, given: int, who: str, how: str) -> None:
        """Of each story with a limit of 1 one call was given, and is counted."""
        spent = sum(journal.spent("session", f"story-{story}") for story in range(_STORIES))
        assert (given, spent) == (_STORIES, _STORIES), (
            f"{who} were given {given} calls, and `spent` says {spent}, for {_STORIES} stories with a limit of 1 each; "
            f"read and write the budget {how}"
        )


class JournalContract(
    _EventLogContract, _DocumentStoreContract, _LogCursorsContract, _StepResultsContract, _CountersContract
):
    """The rules for journals: order, durability, a verifiable record and exact budgets, even with a second process."""

    def test_a_journal_opened_anew_has_all(self, open_journal: Callable[[], Journal]) -> None:
        """Events, cursors, steps and budgets are there when the journal is opened again, and numbers continue."""
        journal, events = open_journal(), samples.events(3)
        _keep(journal, events[:2])
        journal.advance("log", 2)
        journal.keep_step("run", "key", {"kept": True})
        journal.spend(*_STORY, "grant", 3)
        journal.close()
        again = open_journal()
        _keep(again, events[2:])
        numbered = list(again.read(0, 100))
        assert [event for _number, event in numbered] == events, (
            "a journal that was closed and opened anew does not have the events; keep them in `setup.state_folder`"
        )
        assert len({number for number, _event in numbered}) == 3, (
            "a number was given twice; go on where it ended"
        )
        kept = (again.cursor("log"), again.step("run", "key"), again.spent(*_STORY))
        assert kept == (2, {"kept": True}, 1), (
            f"cursor, step and calls spent are {kept} after opening the journal anew, not (2, {{'kept': True}}, 1); "
            "keep them in `setup.state_folder` too"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_data(self, kind: str, open_journal: Callable[[], Journal]) -> None:
        """Any text in an event's data or a step's result comes back unchanged."""
        journal, events = open_journal(), samples.events(2, text=HOSTILE[kind])
        _keep(journal, events)
        journal.keep_step("run", "key", {"text": HOSTILE[kind]})
        document = Document("contest", "one", "open", 1, {"text": HOSTILE[kind]})
        journal.change(document)
        assert [event for _number, event in journal.read(0, 10)] == events, (
            f"an event with a hostile text ({kind}) did not come back as it was; keep `data` as JSON"
        )
        assert journal.step("run", "key") == {"text": HOSTILE[kind]}, (
            f"a step's result with a hostile text ({kind}) did not come back as it was; keep it as JSON"
        )
        assert journal.document("contest", "one") == document, (
            f"a document with a hostile text ({kind}) did not come back as it was; keep its data as JSON"
        )
        assert not journal.verify(), (
            f"a record with a hostile text ({kind}) in it has flaws: {_said(journal)}; make the hash of what is stored"
        )

    def test_a_whole_record_verifies(self, open_journal: Callable[[], Journal]) -> None:
        """An untouched record has no faults, whether it is empty or not, and regardless of its writer."""
        one, other = open_journal(), open_journal()
        assert not one.verify(), f"an empty record has flaws: {_said(one)}"
        for number in range(6):
            _keep(other if number % 2 else one, samples.events(3, f"run-{number}", feature="login"))
        one.change(Document("contest", "one", "open", 1, {}), samples.events(2, feature="login"))
        events = samples.events(2, "again")
        _keep(one, events)
        for journal in (one, other):
            assert not journal.verify(), (
                f"a record that nobody touched has flaws: {_said(journal)}; tie each event to the one before it in the "
                "transaction, or under the lock, in which it gets its number"
            )

    def test_a_light_appender_appends(self, open_journal: Callable[[], Journal]) -> None:
        """A light appender, if the journal has one, appends an event in its place in the record."""
        journal = open_journal()
        if not isinstance(journal, Appendable):
            return
        _keep(journal, samples.events(2))
        module, place = journal.light_appender()
        try:
            appended = import_module(module).append(place, "contract.tried", '{"text": "kept"}')
        except Exception as error:
            pytest.fail(
                f"`append` of {module} raised {type(error).__name__}: {error}; write `def append(place, kind, data)`, and "
                "return False where it cannot append"
            )
        assert appended is True, (
            f"`append` of {module} returned {appended!r} for a journal that is there; return True once the event is durable"
        )
        events = [event for _number, event in open_journal().read(0, 10)]
        assert [(event.kind, event.data) for event in events[2:]] == [("contract.tried", {"text": "kept"})], (
            f"`append` of {module} returned True, and the event is not the last of the record; keep its kind and its data"
        )
        assert not journal.verify(), (
            f"after `append` of {module} the record has flaws: {_said(journal)}; tie the event to the one before it as the "
            "journal does"
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


@contextmanager
def _switching_often() -> Iterator[None]:
    """Threads change after nearly every step, so that two of them meet between a reading and a writing."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _said(journal: Journal) -> str:
    return "; ".join(f"{flaw.location}: {flaw.message}" for flaw in list(journal.verify())[:3])


def _keep(journal: Any, events: Sequence[Event]) -> None:
    """Append events and wait until they are durable."""
    future = journal.append(events)
    result = getattr(future, "result", None)
    assert callable(result), (
        f"`append` returned {type(future).__name__}; return a concurrent.futures.Future that resolves when the events "
        "are durable"
    )
    try:
        result(_SECONDS)
    except TimeoutError:
        pytest.fail(
            f"the future of `append` did not resolve within {_SECONDS:g} s; resolve it when they are durable"
        )
    except Exception as error:
        pytest.fail(f"events could not be kept: {type(error).__name__}: {error}; `data` is any JSON value")
