"""What every journal keeps to (`kr_core.plugin.Journal`): the rules of its five Protocols, and of all of them together."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from kr_core.protocols import Appendable, Document
from kr_core.testing import samples
from kr_core.testing.counters import STORY, CountersContract
from kr_core.testing.document_store import DocumentStoreContract
from kr_core.testing.event_log import EventLogContract
from kr_core.testing.opened_journal import OpenedJournal, keep
from kr_core.testing.samples import HOSTILE

if TYPE_CHECKING:
    from kr_core.protocols import Journal
    from kr_core.testing.opened_journal import OpenJournal


class _LogCursorsContract(OpenedJournal):
    """The rules for the cursors of logs (`kr_core.plugin.LogCursors`)."""

    def test_each_log_has_a_cursor(self, open_journal: OpenJournal) -> None:
        """A cursor begins at 0 and moves only with its own log."""
        journal = open_journal()
        keep(journal, samples.events(5))
        assert journal.cursor("one") == 0, "a log that has confirmed nothing has the cursor 0"
        journal.advance("one", 3)
        journal.advance("two", 5)
        journal.advance("one", 4)
        cursors = (journal.cursor("one"), journal.cursor("two"))
        assert cursors == (4, 5), (
            f"the cursors of two logs are {cursors}, not (4, 5); keep one for each log, and let `advance` set it"
        )


class _StepResultsContract(OpenedJournal):
    """The rules for results of steps (`kr_core.plugin.StepResults`)."""

    def test_the_first_result_of_a_step_stays(self, open_journal: OpenJournal) -> None:
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


class JournalContract(
    EventLogContract, DocumentStoreContract, _LogCursorsContract, _StepResultsContract, CountersContract
):
    """The rules for journals: order, durability, a verifiable record and exact budgets, even with a second process."""

    def test_a_journal_opened_anew_has_all(self, open_journal: OpenJournal) -> None:
        """Events, cursors, steps and budgets are there when the journal is opened again, and numbers continue."""
        journal, events = open_journal(), samples.events(3)
        keep(journal, events[:2])
        journal.advance("log", 2)
        journal.keep_step("run", "key", {"kept": True})
        journal.spend(*STORY, "grant", 3)
        journal.close()
        again = open_journal()
        keep(again, events[2:])
        numbered = list(again.read(0, 100))
        assert [event for _number, event in numbered] == events, (
            "a journal that was closed and opened anew does not have the events; keep them in `setup.state_folder`"
        )
        assert len({number for number, _event in numbered}) == 3, (
            "a number was given twice; go on where it ended"
        )
        kept = (again.cursor("log"), again.step("run", "key"), again.spent(*STORY))
        assert kept == (2, {"kept": True}, 1), (
            f"cursor, step and calls spent are {kept} after opening the journal anew, not (2, {{'kept': True}}, 1); "
            "keep them in `setup.state_folder` too"
        )

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_is_data(self, kind: str, open_journal: OpenJournal) -> None:
        """Any text in an event's data or a step's result comes back unchanged."""
        journal, events = open_journal(), samples.events(2, text=HOSTILE[kind])
        keep(journal, events)
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

    def test_a_whole_record_verifies(self, open_journal: OpenJournal) -> None:
        """An untouched record has no faults, whether it is empty or not, and regardless of its writer."""
        one, other = open_journal(), open_journal()
        assert not one.verify(), f"an empty record has flaws: {_said(one)}"
        for number in range(6):
            keep(other if number % 2 else one, samples.events(3, f"run-{number}", feature="login"))
        one.change(Document("contest", "one", "open", 1, {}), samples.events(2, feature="login"))
        events = samples.events(2, "again")
        keep(one, events)
        for journal in (one, other):
            assert not journal.verify(), (
                f"a record that nobody touched has flaws: {_said(journal)}; tie each event to the one before it in the "
                "transaction, or under the lock, in which it gets its number"
            )

    def test_a_light_appender_appends(self, open_journal: OpenJournal) -> None:
        """A light appender, if the journal has one, appends an event in its place in the record."""
        journal = open_journal()
        if not isinstance(journal, Appendable):
            return
        keep(journal, samples.events(2))
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


def _said(journal: Journal) -> str:
    return "; ".join(f"{flaw.location}: {flaw.message}" for flaw in list(journal.verify())[:3])
