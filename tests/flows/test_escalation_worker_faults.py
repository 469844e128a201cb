"""Ways to a human that fail, are slow or never end: they keep nothing and nobody else waiting."""

import asyncio
import datetime as dt

import pytest
from support.asked import Says, of_kind, record, said
from support.boards import Board, age, ask, later, service
from support.loopback import Answer, serving

from kr_core import HumanResponse, RequestError
from kr_core.files import try_lock
from kr_core.model import Outcome
from kr_core.plugin import PollResult

UNSURE = said(confidence=65)
USE = {"escalation": {"timeout": "1h", "on_timeout": "use_answer"}}


@pytest.mark.req("H7")
def test_a_channel_that_fails_is_left_alone_and_tried_again(tmp_path):
    """The case waits, the fault is noted, the channel is not asked again at once, and has it later; it is on record once."""
    board = Board()
    down = RequestError(Outcome.unavailable, "it is down", where="board")
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [down]
        result = ask(made)
        assert any("it is down" in note for note in result.notes)
        assert made.cases.get("E1").status == "open"
        before = len(board.calls)
        tended = made.tend()
        assert len(board.calls) == before, "it is left alone"
        (note,) = (note for note in tended.notes if "left alone until" in note)
        assert "it is down" in note, "who looks later is told why"
        later(made, "board")
        age(made, "E1", minutes=10)
        assert made.tend().shown == 1
        assert made.cases.get("E1").status == "notified"
        errors = [data["error"] for data in of_kind(made, "escalation.shown")]
        assert len(errors) == 2
        assert errors[-1] is None


class Raising(Board):
    """Shows cases, and fails where replies are asked for."""

    async def poll(self, shown, mark, context):
        raise LookupError("no such board")


@pytest.mark.req("H7", "Z8")
def test_a_poll_that_raises_is_noted_once_in_a_run(tmp_path):
    """The note has the file and line of the channel; that it is left alone from now on is not a second note."""
    with service(tmp_path, Raising(), duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", minutes=60 * 25)  # a reminder is due, too
        notes = [note for note in made.tend().notes if "no such board" in note]
        (note,) = notes
        line = Raising.poll.__code__.co_firstlineno + 1
        assert (
            note
            == f"escalation raising: LookupError: no such board (test_escalation_worker_faults.py:{line})"
        )


@pytest.mark.req("H7")
def test_a_limit_is_honoured(tmp_path):
    """A channel that asks to be left alone for so long is, up to an hour."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1200.0)]
        made.tend()
        again = dt.datetime.fromisoformat(made.pipeline.journal.document("channel", "board").data["again"])
        left = (again - dt.datetime.now(dt.UTC)).total_seconds()
        assert 1100 < left <= 1200
        later(made, "board")
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1e9)]
        made.tend()
        again = dt.datetime.fromisoformat(made.pipeline.journal.document("channel", "board").data["again"])
        assert (again - dt.datetime.now(dt.UTC)).total_seconds() <= 3600


@pytest.mark.req("H7")
def test_one_case_that_cannot_be_shown_stops_no_other(tmp_path):
    """What fails for one case alone is tried again later; the others are shown."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        board.faults = [RequestError(Outcome.bad_answer, "no such issue"), None]
        ask(made)
        ask(made)
        assert board.shown == {"E2": [1]}
        made.tend()
        assert board.shown == {"E2": [1]}
        age(made, "E1", minutes=10)
        made.tend()
        assert board.shown == {"E2": [1], "E1": [1]}


@pytest.mark.req("H5")
def test_the_mark_is_kept_once_the_replies_are(tmp_path):
    """A channel is asked for what came since the last mark, also by another process; a channel that failed keeps its mark."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.write("E1", "chat")
        made.tend()
        board.faults = [RuntimeError("no")]
        made.tend()
        later(made, "board")
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        made.tend()
    assert [mark for _, mark in board.polled_with] == ["", "1"]


class Slow(Board):
    """One that tells one thing with each call, and says so; without a way on, where it is stuck."""

    stuck = False

    async def poll(self, shown, mark, context):
        self._call("poll")
        read = int(mark or 0)
        after = read if self.stuck else min(read + 1, len(self.written))
        return PollResult(
            tuple(self.written[read:after]), str(after or ""), complete=after == len(self.written)
        )


@pytest.mark.req("H5", "H6")
def test_what_is_not_read_yet_may_be_a_reply(tmp_path):
    """While a channel has not told all, silence is not taken for consent; it is asked for the rest at once."""
    slow = Slow()
    with service(tmp_path, slow, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        age(made, "E1", hours=2)
        for number in range(3):
            slow.mumble("E1", f"bot{number}")
        slow.write("E1", "correct", "Use Postgres.")
        slow.stuck = True
        tended = made.tend()
        assert tended.expired == 0
        assert any("wait until slow can be asked" in note for note in tended.notes)
        assert slow.calls.count("poll") == 1, "it has told nothing new"
        slow.stuck = False
        assert made.tend().expired == 0
        assert made.result_of("E1").answer.content == "Use Postgres."


@pytest.mark.req("H6", "H7")
def test_a_channel_that_never_tells_all_does_not_keep_a_process_for_ever(tmp_path):
    """So much is read at a time; the rest is due at once."""
    slow = Slow()
    with service(tmp_path, slow, config=USE, duc=Says(UNSURE)) as made:
        ask(made)
        for number in range(12):
            slow.write("E1", "choose", f"option {number}")
        tended = made.tend()
        assert (tended.refused, slow.calls.count("poll")) == (10, 10)
        assert tended.next <= dt.datetime.now(dt.UTC)
        tended = made.tend()
        assert tended.refused == 2
        assert tended.next > dt.datetime.now(dt.UTC)


class Stuck(Board):
    """One that does not come back when it is to say something."""

    stuck = True

    async def acknowledge(self, case, notice, context):
        if self.stuck:
            self.calls.append("stuck")
            await asyncio.Event().wait()
        await super().acknowledge(case, notice, context)


@pytest.mark.req("H2")
def test_who_replies_does_not_wait_for_others_to_be_told(tmp_path, monkeypatch):
    """What cannot be said within some seconds is said later, and is no fault of the channel."""
    monkeypatch.setattr("kr_core.escalation.worker._TELL_SECONDS", 0.5)
    stuck = Stuck()
    with service(tmp_path, stuck, duc=Says(UNSURE)) as made:
        ask(made)
        assert made.reply("E1", HumanResponse(action="confirm", by="ada")).status == "answered"
        assert made.pipeline.journal.document("channel", "stuck") is None
        stuck.stuck = False
        made.tend()
        assert stuck.message("ended") == ["E1 is answered, by ada (confirm)"]


class Caller(Board):
    """One whose address is a secret."""

    url = ""

    async def open(self, case, context):
        answer = await context.http.post(self.url, json={"id": case.request.id})
        answer.raise_for_status()
        return await super().open(case, context)


@pytest.mark.req("Z6")
def test_the_address_of_a_webhook_stays_a_secret(tmp_path):
    """A request of a channel is on the record with its host alone, whether it was answered or not."""
    caller = Caller()
    with serving(lambda _asked: Answer(404)) as there, service(tmp_path, caller, duc=Says(UNSURE)) as made:
        caller.url = f"{there.url}/services/T0/xyzzy"
        ask(made)
        caller.url = "http://127.0.0.1:1/services/T0/xyzzy"
        ask(made)
        requests = of_kind(made, "channel.request")
        assert {one["url"] for one in requests} == {there.url, "http://127.0.0.1:1"}
        assert "xyzzy" not in str(record(made))


class Door(Board):
    """One that a service calls."""

    async def receive(self, shown, headers, body, context):
        self._call("receive")
        return PollResult(tuple(self.written))

    def verify(self, headers, body):
        if headers.get("signed") != "yes":
            raise RequestError(Outcome.blocked, "the call is not signed")


@pytest.mark.req("H2", "Z6")
def test_a_call_that_is_not_the_services_waits_for_nothing(tmp_path):
    """Whoever calls without a signature is refused though somebody works with the channel, and no case is read for them."""
    door = Door()
    with service(tmp_path, door, duc=Says(UNSURE)) as made:
        ask(made)
        door.write("E1", "confirm")
        with try_lock(tmp_path / ".kr/channels/door.lock") as mine:
            assert mine
            with pytest.raises(RequestError, match="is not signed"):
                made.receive("door", {}, b"{}")
        assert "receive" not in door.calls
        assert made.receive("door", {"signed": "yes"}, b"{}") == 1
        assert made.result_of("E1").status == "answered"


class Hall(Board):
    """One with places that cannot be used, such as an issue that is locked."""

    def __init__(self, outcome):
        super().__init__()
        self.outcome = outcome
        self.locked = set()

    async def open(self, case, context):
        if case.request.id in self.locked:
            self.calls.append(f"locked {case.request.id}")
            raise RequestError(self.outcome, "it is locked")
        return await super().open(case, context)


@pytest.mark.req("H2", "H7")
@pytest.mark.parametrize("outcome", [Outcome.bad_answer, Outcome.timeout, Outcome.blocked])
def test_a_case_that_cannot_be_shown_keeps_no_other_one_waiting(tmp_path, outcome):
    """Beside it other cases are shown, replies are heard and answered, and it is tried again less and less often."""
    hall = Hall(outcome)
    with service(tmp_path, hall, duc=Says(UNSURE)) as made:
        hall.locked = {"E2"}
        for _ in range(3):
            ask(made)
        ends_pause(made, "hall")
        made.tend()
        assert hall.shown == {"E1": [1], "E3": [1]}, "the one that fails comes last"
        age(made, "E2", minutes=10)
        ends_pause(made, "hall")
        made.tend()
        assert hall.calls.count("locked E2") == 2
        hall.write("E1", "confirm")
        assert made.tend().applied == 1, "replies are heard, though nothing is shown just then"
        ends_pause(made, "hall")
        made.tend()
        assert hall.message("understood") == ["E1 is answered, by ann (confirm)"]
        hall.locked = set()
        age(made, "E2", minutes=10)
        ends_pause(made, "hall")
        made.tend()
        assert hall.shown == {"E1": [1], "E3": [1], "E2": [1]}


@pytest.mark.req("H7")
def test_a_channel_that_asks_for_rest_is_not_even_heard(tmp_path):
    """A limit holds for all calls, whichever of them has run into it."""
    board = Board()
    with service(tmp_path, board, duc=Says(UNSURE)) as made:
        ask(made)
        board.faults = [RequestError(Outcome.limited, "slow down", seconds=1200.0)]
        ask(made)
        before = len(board.calls)
        assert any("left alone until" in note for note in made.tend().notes)
        assert len(board.calls) == before


def ends_pause(made, channel):
    """Let a channel's pause be over, if it has one."""
    if made.pipeline.journal.document("channel", channel) is not None:
        later(made, channel)
