"""A search in a knowledge base from a clone whose reports are very long."""

from __future__ import annotations

import pytest
from support.files_store import entry
from support.regexes import seconds_for

from kr_core.knowledge.report_words import ReportWords
from kr_core.text import stems

pytestmark = pytest.mark.req("Z8")
_WORDS = " ".join(f"w{number:06}retri" for number in range(1_400_000))


class _Reports:
    """A store that counts what is read."""

    def __init__(self, *texts):
        self.texts = texts
        self.count = 0

    def read(self, one):
        self.count += 1
        return self.texts[int(one.topic.split()[-1]) % len(self.texts)], {}


def _entries(number, reports):
    return [
        entry(f"topic {n}", path=f"frameworks/evil/r{n % reports}.md", tags=("one",)) for n in range(number)
    ]


def test_a_long_report_of_many_entries_is_read_once():
    """Two hundred entries of one report of 19 MB cost no more than one."""
    store = _Reports(_WORDS)
    search = ReportWords(store, "retries giraffe")
    assert seconds_for(lambda: list(search.of(_entries(200, 1))), limit=20) < 20
    assert (store.count, search.notes) == (1, ())


def test_reports_beyond_50_mb_are_not_searched_and_a_note_says_so():
    """Ten reports of 19 MB are not all read."""
    store = _Reports(_WORDS)
    search = ReportWords(store, "giraffe")
    list(search.of(_entries(10, 10)))
    assert store.count == 3
    assert "the reports of 7 entries were not searched" in search.notes[0]


def test_words_are_found_as_stems_in_every_part_of_a_long_report():
    """The words of a report that is read in pieces are those of the whole."""
    told = "retries happily possibly sensibility topology HTTP/2 fly hoping tries relational getUserName snake_case 退款流程"
    text = ("\n" + "filler line\n" * 50_000).join(told.split())
    search = ReportWords(_Reports(text), told)
    (one,) = search.of(_entries(1, 1))
    assert one.all == search.wanted == stems(told)
    assert one.own == frozenset()
