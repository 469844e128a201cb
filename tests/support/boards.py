"""A way to a human that is an object: what it shows and says stands in lists, people write on it, and it fails when told to."""

import datetime as dt
from contextlib import contextmanager

from kr_core import HumanResponse, KnowledgeRouterService, Pipeline, Question
from kr_core.config import given
from kr_core.plugin import HumanReply, PollResult, UnparsedReply
from support.agents import QUESTION


class Board:
    """Keeps to the contract: a revision is shown once, and a notice said once, however often it is asked for."""

    def __init__(self):
        self.shown = {}
        self.notices = []
        self.written = []
        self.calls = []
        self.faults = []
        self.polled_with = []
        self.nobody = False

    async def open(self, case, context):
        self._call("open")
        if self.nobody:
            return None
        self.shown.setdefault(case.request.id, []).append(case.request.revision)
        return f"board/{case.request.id}"

    async def poll(self, shown, mark, context):
        self._call("poll")
        self.polled_with.append((tuple(shown), mark))
        return PollResult(tuple(self.written), str(len(self.written)))

    async def acknowledge(self, case, notice, context):
        self._call("acknowledge")
        self.notices.append((case.request.id, notice))

    def _call(self, what):
        self.calls.append(what)
        if self.faults:
            error = self.faults.pop(0)
            if error is not None:
                raise error

    # -- what people do ---------------------------------------------------------------------------------------

    def write(self, name, action, content="", by="ann", revision=None, external=None):
        reply = HumanResponse(action=action, content=content, by=by, revision=revision)
        self.written.append(HumanReply(name, reply, external or f"c{len(self.written) + 1}"))

    def mumble(self, name, by="eve", kind="help", said="say what to do"):
        self.written.append(UnparsedReply(name, by, kind, said, f"c{len(self.written) + 1}"))

    def message(self, kind=None):
        return [notice.message for _, notice in self.notices if kind in {None, notice.kind}]


class Wall(Board):
    """Another one."""


@contextmanager
def service(folder, *boards, config=None, **agents):
    """A service whose ways to a human are these boards."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"logs": [], **(config or {})}
    if boards:
        values.setdefault("escalations", [type(board).__name__.lower() for board in boards])
    loaded = given(values, folder, environ={"KR_CACHE_DIR": str(folder / "cache")})
    pipeline = Pipeline(loaded, agents=agents, escalations=boards)
    with KnowledgeRouterService(pipeline) as made:
        yield made


def ask(made, **values):
    """Ask what is put to a human."""
    return made.ask(Question(text=QUESTION, topic="authentication", **values))


def age(made, name, **length):
    """Let a case be older, as if its times had passed."""
    back = dt.timedelta(**length)
    case = made.cases.get(name)
    care = case.care
    channels = {
        one: state._replace(again=None if state.again is None else state.again - back)
        for one, state in care.channels.items()
    }
    pending = care.pending
    if pending is not None and pending.again is not None:
        pending = pending._replace(again=pending.again - back)
    older = care._replace(
        since=case.since - back,
        seen=None if care.seen is None else care.seen - back,
        reminded=None if care.reminded is None else care.reminded - back,
        decided=None if care.decided is None else care.decided - back,
        late=None if care.late is None else care.late - back,
        channels=channels,
        pending=pending,
    )
    assert made.cases.keep(case._replace(care=older, version=case.version + 1))


def later(made, channel):
    """Let a channel's pause be over."""
    journal = made.pipeline.journal
    kept = journal.document("channel", channel)
    data = {**kept.data, "again": None, "show_again": None}
    assert journal.change(kept._replace(version=kept.version + 1, data=data))
