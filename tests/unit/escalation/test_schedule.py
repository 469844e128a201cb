"""What is due for a case at a time, against a model that knows nothing of how it is found."""

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.escalation.schedule import (
    KEPT_OPEN,
    CaseActions,
    CaseSchedule,
    Delivery,
    PendingRequest,
    deliveries_due,
    due,
    expiry_due,
    pause,
    reminders_due,
    timeout_due,
)
from kr_core.model.time_limits import EscalationTier, TimeLimits
from kr_core.plugin import Notice

pytestmark = pytest.mark.req("H6", "H7")

START = dt.datetime(2026, 2, 5, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
CHANNELS = ("board", "wall", "hall")
HOURS = st.integers(1, 60)


def durations(hours=HOURS):
    return hours.map(lambda number: number * HOUR)


TIERS = st.builds(
    EscalationTier,
    after=durations(),
    escalations=st.lists(st.sampled_from(CHANNELS), max_size=2, unique=True).map(tuple),
    ask=st.lists(st.sampled_from(["ann", "bob"]), max_size=1).map(tuple),
)
LIMITS = st.builds(
    TimeLimits,
    timeout=st.none() | durations(),
    remind_every=st.none() | durations(),
    on_timeout=st.sampled_from(["block", "use_answer"]),
    tiers=st.lists(TIERS, max_size=3).map(tuple),
)


class World:
    """The model: who looks does at once what is due, and the world remembers it its own way, hour by hour."""

    def __init__(self, limits, has_answer):
        self.limits, self.has_answer = limits, has_answer
        self.put = 0
        self.first = None
        self.seen = {}
        self.revision = 1
        self.reminders = []
        self.asked = set()
        self.ended = ""

    def open_to(self, channel, hour):
        """A channel in no tier may show at once; one in tiers from the first of them on; who has shown goes on."""
        afters = [int(tier.after / HOUR) for tier in self.limits.tiers if channel in tier.escalations]
        return not afters or min(afters) <= hour - self.put or channel in self.seen

    def look(self, hour):
        """What has to happen in this hour: shown by whom, reminded or not, ended or not."""
        waited = hour - self.put
        may = {channel for channel in CHANNELS if self.open_to(channel, hour)}
        show = {channel for channel in may if self.seen.get(channel) != self.revision}
        newly = {
            number
            for number, tier in enumerate(sorted(self.limits.tiers, key=lambda tier: tier.after))
            if tier.ask and int(tier.after / HOUR) <= waited and number not in self.asked
        }
        every = self.limits.remind_every
        remind = bool(newly and may)
        if every and self.first is not None:
            remind = remind or hour - max([self.first, *self.reminders]) >= int(every / HOUR)
        timeout = self.limits.timeout
        end = ""
        if timeout and waited >= int(timeout / HOUR):
            end = "use_answer" if self.limits.on_timeout == "use_answer" and self.has_answer else "block"
        return show, remind, newly, end if end != self.ended else ""


@settings(max_examples=300, deadline=None)
@given(
    LIMITS,
    st.booleans(),
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from(["look", "look", "restart", "revise"])), max_size=12
    ),
)
def test_whoever_looks_whenever_finds_what_the_model_says(limits, has_answer, steps):
    """At any hours, with restarts and revisions between: shown once a revision, reminded once a span, ended once."""
    world = World(limits, has_answer)
    care, revision, hour = CaseActions(), 1, 0
    for later, what in [(0, "look"), *steps]:
        hour += later
        now = START + hour * HOUR
        if what == "revise":
            revision += 1
            world.revision, world.put, world.asked, world.ended, world.reminders = (
                revision,
                hour,
                set(),
                "",
                [],
            )
            care = care._replace(since=now, seen=None, reminded=None, tiers=0, timed_out=False)
            world.first = None
        standing = CaseSchedule("E1", "open", revision, "", START, has_answer, care)
        found = due(standing, limits, CHANNELS, now)
        show, remind, newly, end = world.look(hour)
        assert (set(found.show), found.remind, found.end) == (show, remind, end), (hour, care)
        for channel in found.show:
            care = care.with_channel(channel, Delivery(revision, "there", revision))
            world.seen[channel] = revision
            world.first = hour if world.first is None else world.first
            care = care._replace(seen=care.seen or now)
        if found.remind:
            care = care._replace(reminded=now, tiers=found.tiers)
            world.reminders.append(hour)
            world.asked |= newly
        if found.end == "use_answer":
            return
        if found.end:
            care, world.ended = care._replace(timed_out=True), "block"
        again = due(CaseSchedule("E1", "open", revision, "", START, has_answer, care), limits, CHANNELS, now)
        assert (again.remind, again.end, again.show) == (False, "", ()), "what was done is not done again"
        if again.next is not None:
            assert again.next > now
            before = due(standing._replace(care=care), limits, CHANNELS, again.next - dt.timedelta(seconds=1))
            assert (before.show, before.remind, before.end) == ((), False, ""), "nothing is due before `next`"


@given(LIMITS, st.integers(1, 10_000), st.booleans())
def test_a_clock_that_was_set_back(limits, hours, reminded):
    """Nothing is shown, said, reminded or ended by a time that has not come; the times become now."""
    later = START + hours * HOUR
    care = CaseActions(since=START, reminded=later) if reminded else CaseActions(since=later)
    found = due(CaseSchedule("E1", "open", 1, "", START, True, care), limits, CHANNELS, START)
    assert found.behind
    assert (found.remind, found.end) == (False, "")


def test_a_channel_is_not_left_alone_for_a_time_of_another_clock():
    """A pause that ends later than any pause is one of a clock that was set back since."""
    care = CaseActions().with_channel("board", Delivery(faults=1, again=START + dt.timedelta(days=400)))
    assert due(CaseSchedule("E1", "open", 1, "", START, True, care), TimeLimits(), ["board"], START).show == (
        "board",
    )
    care = CaseActions().with_channel("board", Delivery(faults=1, again=START + dt.timedelta(minutes=5)))
    found = due(
        CaseSchedule("E1", "open", 1, "", START, True, care), TimeLimits(remind_every=None), ["board"], START
    )
    assert (found.show, found.next) == ((), START + dt.timedelta(minutes=5))


def test_pauses():
    """Doubled from half a minute to five; longer where it was asked for, up to an hour."""
    assert [pause(faults).total_seconds() for faults in (1, 2, 3, 4, 5, 1000)] == [30, 60, 120, 240, 300, 300]
    assert pause(1, 900).total_seconds() == 900
    assert pause(1, 1e12).total_seconds() == 3600
    assert pause(3, 1).total_seconds() == 120


def test_while_an_agent_is_asked_again_nobody_is_timed_out():
    """A human has said something: that is no silence."""
    limits = TimeLimits(timeout="1h", on_timeout="use_answer")
    care = CaseActions(pending=PendingRequest("ann", "More.", 1))
    found = due(CaseSchedule("E1", "notified", 1, "", START, True, care), limits, CHANNELS, START + 5 * HOUR)
    assert (found.end, found.ask_again) == ("", True)
    care = CaseActions(pending=PendingRequest("ann", "More.", 1, 1, START + 6 * HOUR))
    found = due(
        CaseSchedule("E1", "notified", 1, "", START, True, care), limits, CHANNELS, START + 5.5 * HOUR
    )
    assert found.ask_again is False


def test_what_is_decided():
    """The end is told until it is said, and shown first where it may have been; a week later nobody looks any more."""
    notice = Notice("E1-ended", "ended", "E1 is answered")
    care = CaseActions(decided=START).with_channel("board", Delivery(1, "there", 1, (notice,)))
    care = care.with_channel("wall", Delivery(1, "there", 2, (notice,)))
    standing = CaseSchedule("E1", "resolved", 2, "", START, True, care)
    found = due(standing, TimeLimits(), CHANNELS, START + HOUR)
    assert (found.show, found.say, found.settled) == (("wall",), ("board", "wall"), False)
    late = due(standing, TimeLimits(), CHANNELS, START + KEPT_OPEN)
    assert (late.show, late.say, late.settled) == ((), (), True)
    assert due(standing._replace(care=CaseActions(decided=START)), TimeLimits(), CHANNELS, START).settled


def test_owed_notices():
    """A thing is owed once; nothing waits behind a reminder, which has no use any more."""
    care = CaseActions().with_channel("board", Delivery(1, "there", 1))
    first, second = Notice("r-1", "reminder", "one"), Notice("r-2", "reminder", "two")
    care = care.owing(first, ["board"]).owing(second, ["board"])
    assert care.at("board").owed == (second,)
    ended = Notice("E1-ended", "ended", "over")
    assert care.owing(ended, ["board"]).owing(ended, ["board"]).at("board").owed == (ended,)


NOTHING_DONE = CaseActions()


def waiting(care=NOTHING_DONE, revision=1, has_answer=True):
    return CaseSchedule("E1", "notified", revision, "", START, has_answer, care)


def test_deliveries_wait_for_their_tier():
    """A channel of a later tier shows a case when the tier is reached; one that has shown it goes on."""
    limits = TimeLimits(tiers=(EscalationTier(after="2h", escalations=("wall",)),))
    found = deliveries_due(waiting(), limits, CHANNELS, START + HOUR)
    assert (found.show, found.say) == (("board", "hall"), ())
    assert deliveries_due(waiting(), limits, CHANNELS, START + 2 * HOUR).show == CHANNELS
    shown = CaseActions().with_channel("wall", Delivery(1, "there", 1))
    assert "wall" in deliveries_due(waiting(shown, 2), limits, CHANNELS, START).show


def test_reminders_begin_when_a_case_was_seen():
    """Nobody is reminded of what no channel has shown, and the span is counted from the last reminder."""
    limits = TimeLimits(remind_every="2h")
    assert not reminders_due(waiting(), limits, CHANNELS, START + 9 * HOUR).due
    seen = CaseActions(seen=START)
    assert not reminders_due(waiting(seen), limits, CHANNELS, START + HOUR).due
    assert reminders_due(waiting(seen), limits, CHANNELS, START + 2 * HOUR).due
    reminded = seen._replace(reminded=START + 2 * HOUR)
    found = reminders_due(waiting(reminded), limits, CHANNELS, START + 3 * HOUR)
    assert (found.due, found.times) == (False, (START + 4 * HOUR,))


def test_a_tier_reminds_those_whom_it_asks():
    """The last tier that was reached says whom; without a channel to say it nobody is reminded."""
    limits = TimeLimits(
        remind_every=None,
        tiers=(EscalationTier(after="1h", ask=("ann",)), EscalationTier(after="2h", ask=("bob",))),
    )
    found = reminders_due(waiting(), limits, CHANNELS, START + 2 * HOUR)
    assert (found.due, found.ask, found.tiers) == (True, ("bob",), 2)
    assert not reminders_due(waiting(), limits, (), START + 2 * HOUR).due
    assert not reminders_due(waiting(CaseActions(tiers=2)), limits, CHANNELS, START + 2 * HOUR).due


@pytest.mark.parametrize("on_timeout", ["block", "use_answer"])
@pytest.mark.parametrize("has_answer", [True, False])
def test_a_time_limit_is_either_noted_or_ends_the_case(on_timeout, has_answer):
    """It expires where the agent's answer is to be used and there is one; else it is noted once, and the case waits."""
    limits = TimeLimits(timeout="1h", on_timeout=on_timeout)
    case, now = waiting(has_answer=has_answer), START + HOUR
    uses = on_timeout == "use_answer" and has_answer
    assert (timeout_due(case, limits, now), expiry_due(case, limits, now)) == (not uses, uses)
    assert not timeout_due(case, limits, now - dt.timedelta(seconds=1))
    noted = case._replace(care=CaseActions(timed_out=True))
    assert not timeout_due(noted, limits, now)
    assert expiry_due(noted, limits, now) == uses
