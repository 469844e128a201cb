"""What counters keep to (`kr_core.plugin.Counters`): numbers and budgets, exact across threads and processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.testing.opened_journal import OpenedJournal, in_threads
from kr_core.testing.second_process import Meeting, spend_calls, take_numbers

if TYPE_CHECKING:
    from kr_core.protocols import Journal
    from kr_core.testing.opened_journal import OpenJournal

_STORIES = 30
STORY = ("session", "story")


class CountersContract(OpenedJournal):
    """The rules for numbers and budgets: exact, even with a second process (`kr_core.plugin.Counters`)."""

    def test_numbers_are_given_once(self, open_journal: OpenJournal) -> None:
        """Each kind has consecutive numbers from 1, even with two open journals."""
        one, other = open_journal(), open_journal()
        given = [journal.number("letter") for journal in (one, other, one, other)]
        assert given == [1, 2, 3, 4], f"two open journals gave the numbers {given}; give 1, 2, 3, 4"
        assert one.number("parcel") == 1, "a second kind did not begin at 1; count each kind for itself"

    def test_numbers_are_given_once_across_processes(self, project: Path, open_journal: OpenJournal) -> None:
        """Two processes that ask at the same time never get the same number."""
        journal = open_journal()
        with self._second_process(project, "take_numbers", kind="letter", count=50) as process:
            process.go()
            mine = take_numbers(journal, "letter", 50)
            given = sorted(mine + process.result())
        assert given == list(range(1, 101)), (
            f"two processes were given {len(set(given))} different numbers, 100 times in all, up to {given[-1]}; read and "
            "write the counter in one transaction, or under one lock on the file"
        )

    def test_a_budget_has_its_limit(self, open_journal: OpenJournal) -> None:
        """The budget grants as many calls as its limit; each story of each session has its own."""
        journal = open_journal()
        given = [journal.spend(*STORY, f"grant-{number}", 2) for number in range(4)]
        assert given == [True, True, False, False], (
            f"with a limit of 2, four calls were answered {given}; give a call only while fewer than `limit` are taken"
        )
        assert journal.spent(*STORY) == 2, f"2 calls were given, and `spent` says {journal.spent(*STORY)}"
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

    def test_a_grant_is_charged_once(self, open_journal: OpenJournal) -> None:
        """A repeated grant succeeds and costs nothing, even if the budget is used up."""
        journal = open_journal()
        given = [journal.spend(*STORY, "grant", 1) for _ in range(3)]
        assert given == [True, True, True], (
            f"the same grant was answered {given}; a grant that was given is given again: a run that is resumed asks "
            "for it a second time"
        )
        assert journal.spent(*STORY) == 1, (
            f"one grant, asked for three times, cost {journal.spent(*STORY)} calls; count each grant once"
        )

    def test_a_refund_gives_the_call_back(self, open_journal: OpenJournal) -> None:
        """A refunded call is available to others; it is refunded only once."""
        journal = open_journal()
        for grant in ("one", "two"):
            journal.spend(*STORY, grant, 2)
        journal.refund("one")
        journal.refund("one")
        assert journal.spent(*STORY) == 1, (
            f"of 2 calls one was given back (twice), and `spent` says {journal.spent(*STORY)}, not 1; "
            "forget the grant that is refunded, and nothing else"
        )
        assert journal.spend(*STORY, "three", 2), (
            "a call that was given back cannot be taken; count what is left"
        )

    def test_a_budget_is_exact_across_threads(self, open_journal: OpenJournal) -> None:
        """Threads that ask one journal at the same time get exactly the limit together."""
        journal = open_journal()
        given = in_threads(
            lambda thread, story: journal.spend("session", f"story-{story}", f"thread-{thread}-{story}", 1),
            _STORIES,
        )
        self._exact(journal, given, "threads of one process", "under one lock, or in one transaction")

    def test_a_budget_is_exact_across_processes(self, project: Path, open_journal: OpenJournal) -> None:
        """Two processes that ask at the same time get exactly the limit together."""
        journal, meeting = open_journal(), str(project.parent / "meeting")
        with self._second_process(
            project, "spend_calls", grants="theirs", stories=_STORIES, meeting=meeting, seat=1
        ) as process:
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
