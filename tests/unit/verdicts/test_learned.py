"""What is learned from the record, kept, and read again."""

import random

import pytest

from kr_core import Event
from kr_core.plugin import Document
from kr_core.verdicts import Learned, Subject, VerdictRecord, certificate
from kr_core.verdicts.certificates import needed_verdicts
from kr_core.verdicts.judged import Judged

DUC = Subject("agent", "duc", "opus", "p1")
SCORE = Subject("research", "research", "", "")


def judged(right, *, confidence=90, subject=DUC, topic="storage", probability=1.0):
    return Judged(subject, topic, confidence, right, probability, f"run{random.random()}")


class Record:
    """A journal with these entries, which counts how many of them it hands out."""

    def __init__(self, events):
        self.events, self.handed_out, self.kept = events, 0, None

    def read(self, after, limit):
        page = [(number, event) for number, event in enumerate(self.events, 1) if number > after][:limit]
        self.handed_out += len(page)
        return page

    def entries(self, *, exchange, limit):
        return [(number, event) for number, event in enumerate(self.events, 1) if event.run == exchange][
            :limit
        ]

    def document(self, _kind, _key):
        return self.kept

    def change(self, document, events=()):
        assert not events
        self.kept = Document(*document)
        return True


def gated(run, **more):
    data = {"agent": "duc", "model": "opus", "prompt": "p1", "topic": "storage", "raw_confidence": 90}
    return Event(
        "answer.gated", run, {**data, "accepted": True, "audit_probability": 1.0, "audited": True, **more}
    )


def checked(run, verdict):
    return Event("answer.checked", run, {"verdict": verdict})


@pytest.mark.req("Q14")
def test_a_new_process_goes_on_where_the_last_one_stopped():
    """It reads no entry that another one has learned from, and knows the same."""
    events = [
        event for number in range(400) for event in (gated(f"r{number}"), checked(f"r{number}", "right"))
    ]
    events += [gated("open")]
    journal = Record(events)
    first = VerdictRecord(lambda: journal).read()
    handed_out = journal.handed_out
    again = VerdictRecord(lambda: journal).read()
    assert (handed_out, journal.handed_out) == (801, 801)
    assert again.to_dict() == first.to_dict()
    assert (len(again.judged), list(again.open), again.passed) == (400, ["open"], {DUC: 401})


def test_what_another_version_kept_is_read_from_the_record_again():
    """Also what is no such thing at all."""
    journal = Record([gated("r1")])
    for data in ({}, {"form": 99}, {"form": 1, "position": 7}):
        journal.kept = Document("verdicts", "learned", "kept", 1, data)
        assert list(VerdictRecord(lambda: journal).read().open) == ["r1"]


@pytest.mark.req("Q14")
def test_quantities_are_never_mixed():
    """What an agent states and the score of research have a map each."""
    learned = Learned(judged=[judged(False) for _ in range(40)])
    assert learned.calibrator(DUC).verdicts == 40
    assert learned.calibrator(SCORE).verdicts == 0
    assert learned.calibrator(DUC._replace(quantity="research")).verdicts == 0


@pytest.mark.req("Q14")
def test_the_draw_is_as_often_as_it_says_and_can_be_repeated():
    """It depends on the run alone; a topic with a wrong answer is drawn twice as often."""
    learned = Learned(passed={DUC: 50})
    drawn = [learned.draw(DUC, "storage", f"run{number}") for number in range(2000)]
    assert {probability for probability, _ in drawn} == {0.3}
    assert 0.27 < sum(one for _, one in drawn) / 2000 < 0.33
    assert learned.draw(DUC, "storage", "run1") == drawn[1]
    learned.judged.append(judged(False))
    assert learned.draw(DUC, "storage", "run1")[0] == 0.6
    assert learned.draw(DUC, "cloud", "run1")[0] == 0.3


@pytest.mark.parametrize("verdict", ["right", "wrong", "unsure", "", None, 7])
def test_a_check_that_nobody_drew_says_nothing(verdict):
    """An entry that somebody else wrote moves no map."""
    learned = Learned()
    learned.learn(1, checked("r1", verdict), lambda _run: [])
    assert learned.judged == []


@pytest.mark.parametrize(
    "more",
    [{"audit_probability": 0}, {"audit_probability": "1"}, {"raw_confidence": 150}, {"raw_confidence": None}],
)
def test_an_entry_that_says_nothing_usable_draws_nothing(more):
    """A probability or a confidence out of its range is not guessed."""
    learned = Learned()
    learned.learn(1, gated("r1", **more), lambda _run: [])
    assert (learned.open, learned.passed, learned.position) == ({}, {}, 1)


# -- certificates ----------------------------------------------------------------------------------------------


@pytest.mark.req("V5")
def test_a_certificate_counts_answers_that_met_the_threshold_alone():
    """Of this agent, model, prompt and topic; letters of any case."""
    ours = [judged(True) for _ in range(40)]
    others = [
        *[judged(False, probability=None) for _ in range(9)],
        *[judged(False, topic="cloud") for _ in range(9)],
        *[judged(False, subject=DUC._replace(model="sonnet")) for _ in range(9)],
    ]
    found = certificate([*ours, *others], DUC, "Storage")
    assert (found.verdicts, found.holds) == (40, True)
    assert (
        found.text
        == "in this project's topic Storage at least 90 % right, with 90 % confidence, n = 40 audited"
    )


@pytest.mark.req("V5")
def test_what_a_certificate_says_where_it_does_not_hold():
    """Too few verdicts, or too many that are wrong."""
    few = certificate([judged(True) for _ in range(12)], DUC, "storage")
    assert (few.holds, few.text) == (False, "not enough verdicts (12 of 38)")
    bad = certificate([judged(number % 5 > 0) for number in range(100)], DUC, "storage")
    assert bad.text.startswith("not certified for 90 %: in this project's topic storage at least 66 %")
    assert certificate([], DUC, "").text == "not enough verdicts (0 of 38)"
    assert [needed_verdicts(one) for one in (80, 90, 95)] == [15, 38, 93]
