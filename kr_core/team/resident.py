"""The resident: it answers research requests of a team from one pipeline, known answers at once, the rest in turn.

It reads no lines and writes none: values come in and go out, so that `kr team` and any other door use the same one.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import KRError
from kr_core.model import Fault, new_id
from kr_core.pipeline.budget import Budget
from kr_core.pipeline.running import let_threads_go
from kr_core.printable import printable
from kr_core.team import asked as reading
from kr_core.team.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kr_core.model import ResearchRequest, ResearchResult
    from kr_core.pipeline import Pipeline
    from kr_core.team.asked import Asked, Query

__all__ = ["Resident"]

_MOST_HELD = 16_000_000
"""Of what waits for an answer, as `_size` counts it; who asks more waits until some is answered."""
_QUERY_SIZE = 1_000
"""What a query takes beside its text, in characters or so."""
_QUIET_SECONDS = 0.025
"""Without a look-up, before the first research is begun: look-ups that come thick are done first, and nothing takes turns with them."""
_PATIENCE_SECONDS = 0.25
"""How long research is put off by look-ups that leave half of the time free; once there is some, it goes on whatever is looked up."""
_MOST_PATIENCE_SECONDS = 5.0
"""How long by those that come without a pause, as where a thousand lines are written at once."""
_STORIES = 1_000
"""Stories whose budgets are told by `status`."""
_DELIVERY_SECONDS = 5.0
_SHUTDOWN = Fault(
    type="shutdown", message="KR is shutting down and has not begun this; ask again when it is back"
)
_ABANDONED = Fault(type="shutdown", message="KR was told twice to end, and has given this up")


@dataclass(eq=False)
class Looked:
    """A request with what the knowledge base has of its answer."""

    asked: Asked
    results: list[dict[str, Any] | None]
    faults: list[Fault]
    calls_left: dict[str, int]
    """Of the stories that were looked at."""
    queries: int = 0
    """That were valid."""
    hits: int = 0
    refused: bool = False
    """Whether it was not finished, since KR ends."""

    @property
    def result(self) -> dict[str, Any] | None:
        """The answer, once each query has one: the value behind `RESEARCH_RESULT:`."""
        results = [result for result in self.results if result is not None]
        return _result(self.asked, results, self.faults) if len(results) == len(self.results) else None

    @property
    def size(self) -> int:
        """How much it holds, in characters or so."""
        return sum(_QUERY_SIZE + len(query.text) for query in self.asked.queries)


@dataclass(eq=False)
class _Held:
    """A request that waits for its answer."""

    looked: Looked
    answered: asyncio.Future[dict[str, Any]]
    size: int
    context: Context = field(default_factory=copy_context)
    """Of whoever asked: what is told of the progress goes to them, whoever made room for the work."""
    begun: bool = False
    """Whether one of its queries is being researched, or was: then it is finished whatever comes."""


class _Work(NamedTuple):
    """A query that has to be researched."""

    held: _Held
    place: int
    query: Query
    request: ResearchRequest


class _InHand(NamedTuple):
    """What a task works on, and whether the story had no call left."""

    held: _Held
    spent: bool


class Resident:
    """Answers the team of one project; lives in one event loop.

    A query is looked up before anything else, in a thread that does nothing else: what is known is answered at once,
    however much waits. What has to be researched waits for one of `defaults.max_concurrent` places, high priority first.
    Where its story has no call left, it does not wait for those that ask the outside: what is on the machine is asked, and
    then it is `budget-exhausted`.

    Args:
        pipeline: the project's; the caller closes it after `shut_down`.
        session_id: whose budgets the stories spend; a new one if not given.
        tell: called with each line of the log.
    """

    def __init__(
        self, pipeline: Pipeline, *, session_id: str | None = None, tell: Callable[[str], object] = print
    ) -> None:
        self._pipeline = pipeline
        self._settings = pipeline.config.settings
        self._session_id = session_id or f"team-{new_id()}"
        self._tell = tell
        self._thread = ThreadPoolExecutor(1, "kr-recall")
        self._waiting: list[tuple[int, int, _Work]] = []
        self._spent: deque[_Work] = deque()
        self._order = 0
        self._tasks: dict[asyncio.Task[None], _InHand] = {}
        """What is being researched."""
        self._held: set[_Held] = set()
        self._size = 0
        self._room = asyncio.Event()
        self._calls_left: dict[str, int] = {}
        self._roster = Roster()
        self._served = self._queries = self._hits = 0
        self._closing = False
        self._looked_at = 0.0
        self._looking_seconds = 0.0
        """Spent on look-ups since research was put off."""
        self._put_off_since: float | None = None
        self._later: asyncio.TimerHandle | None = None
        self._delivery: asyncio.Task[None] | None = None
        self._tending: asyncio.Task[None] | None = None
        self._undelivered = False
        self._noted: set[str] = set()

    @property
    def session_id(self) -> str:
        """Whose budgets the stories spend."""
        return self._session_id

    async def start(self, *, tend: bool = True) -> None:
        """Read the index and open the journal, so that the first request does not wait for it.

        Args:
            tend: whether to look after the questions that wait for a human, too; not where somebody else in this process does.

        Raises:
            KRError: the knowledge base or the journal cannot be used.
        """
        await self._aside(lambda: (self._pipeline.store.entries(), self._pipeline.journal))
        self._delivery = asyncio.create_task(self._deliver_now_and_then())
        if tend:
            self._tending = asyncio.create_task(self._tend())

    # -- requests ----------------------------------------------------------------------------------------

    async def research(self, body: Any) -> dict[str, Any]:
        """Answer a request: the value behind `RESEARCH_RESULT:` to the one behind `RESEARCH_REQUEST:`; never raises.

        Cancelled, the work of this request stops.
        """
        return await (await self.take(await self._aside(partial(self.look, body))))

    def look(self, body: Any) -> Looked:
        """Look up what a request asks; in any one thread but the event loop's, since it reads files. Never raises."""
        self._looked_at = begun = monotonic()
        try:
            return self._looked(body)
        finally:
            self._looking_seconds += monotonic() - begun

    def _looked(self, body: Any) -> Looked:
        asked = reading.read(body, self._pipeline.read_request, self._session_id)
        faults = [*asked.faults, *(fault for query in asked.queries for fault in query.faults)]
        looked = Looked(asked, [], faults, {})
        for query in asked.queries:
            if query.request is None:
                looked.results.append(_failed(query, (query.faults or asked.faults)[0]))
                continue
            if self._closing:
                looked.refused = True
                looked.faults.append(_SHUTDOWN)
                looked.results.append(_failed(query, _SHUTDOWN))
                continue
            looked.queries += 1
            try:
                looked.results.append(self._recalled(query, query.request, looked))
            except Exception as error:
                looked.faults.append(_fault_of(error))
                looked.results.append(_failed(query, looked.faults[-1]))
        return looked

    def _recalled(self, query: Query, request: ResearchRequest, looked: Looked) -> dict[str, Any] | None:
        answer = self._pipeline.recall(request)
        if answer is not None:
            looked.hits += 1
            looked.calls_left[request.story_key] = answer.result.results.budget_remaining
            return _told(query, answer.result)
        limit = self._settings.knowledge_research.max_calls_per_story
        journal = self._pipeline.journal
        budget = Budget(journal, request.session_id, request.story_key, limit, request.max_calls)
        looked.calls_left[request.story_key] = budget.remaining
        return None

    def refuse(self, fault: Fault) -> dict[str, Any]:
        """The result that answers what is no request at all."""
        return _result(reading.refused(fault), [], [fault])

    async def take(self, looked: Looked) -> asyncio.Future[dict[str, Any]]:
        """See to it that what the knowledge base does not have is researched.

        Waits while very much waits already, so that whoever reads requests off a pipe stops reading. Where the future is
        cancelled, the work of the request stops.
        """
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if (result := looked.result) is not None:
            self.count(looked)
            answered.set_result(result)
            return answered
        while self._size > _MOST_HELD and not self._closing:
            self._room.clear()
            await self._room.wait()
        held = _Held(looked, answered, looked.size)
        answered.add_done_callback(lambda done: self._drop(held) if done.cancelled() else None)
        self._held.add(held)
        self._size += held.size
        self._queries += looked.queries
        self._hits += looked.hits
        for story, left in looked.calls_left.items():
            self._note_calls(story, left)
        for place, query in enumerate(looked.asked.queries):
            if looked.results[place] is None and query.request is not None:
                self._queue(_Work(held, place, query, query.request))
        self._go_on()
        return answered

    def count(self, looked: Looked) -> None:
        """Count a request whose answer was complete when it was looked up."""
        self._queries += looked.queries
        self._hits += looked.hits
        self._served += not (looked.asked.faults or looked.refused)
        self._undelivered |= looked.hits > 0
        for story, left in looked.calls_left.items():
            self._note_calls(story, left)

    # -- what waits, and what is worked on ---------------------------------------------------------------

    def _queue(self, work: _Work) -> None:
        if self._closing and not work.held.begun:
            self._refuse(work, _SHUTDOWN)
        elif self._calls_left.get(work.request.story_key) == 0:
            self._spent.append(work)
        else:
            self._order += 1
            heapq.heappush(self._waiting, (work.query.rank, self._order, work))

    def _go_on(self) -> None:
        """Begin as much of what waits as may be worked on at once; the first of it not while look-ups come thick."""
        if self._tasks or not self._is_put_off():
            self._fill()

    def _fill(self) -> None:
        most = self._settings.defaults.max_concurrent
        spent = sum(in_hand.spent for in_hand in self._tasks.values())
        while self._spent and spent < most:
            spent += 1
            self._begin(self._spent.popleft(), spent=True)
        outside = len(self._tasks) - spent
        while self._waiting and outside < most:
            outside += 1
            self._begin(heapq.heappop(self._waiting)[-1], spent=False)

    def _is_put_off(self) -> bool:
        """Whether research is to be begun a little later; then it is seen to."""
        now = monotonic()
        if self._put_off_since is None:
            self._put_off_since, self._looking_seconds = now, 0.0
        waited = now - self._put_off_since
        thick = waited < _PATIENCE_SECONDS or self._looking_seconds > waited / 2
        quiet = now - self._looked_at >= _QUIET_SECONDS
        if quiet or self._closing or not thick or waited >= _MOST_PATIENCE_SECONDS:
            self._put_off_since = None
            return False
        if self._later is None or self._later.when() <= asyncio.get_running_loop().time():
            self._later = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._go_on)
        return True

    def _begin(self, work: _Work, *, spent: bool) -> None:
        work.held.begun = True
        task = asyncio.create_task(self._research(work), context=work.held.context.copy())
        self._tasks[task] = _InHand(work.held, spent)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._fill()

    async def _research(self, work: _Work) -> None:
        story = work.request.story_key
        try:
            result = (await self._pipeline.aresearch(work.request)).result
        except asyncio.CancelledError:  # by `abandon` or `_drop`: nobody else has the task
            self._refuse(work, _ABANDONED)
            return
        except (
            Exception
        ) as error:  # a journal that fails, a source that is wrongly configured: the next one may do
            fault = _fault_of(error)
            self._end(work, _failed(work.query, fault), fault)
            return
        self._undelivered = True
        self._hits += result.status == "cache-hit"  # another caller has researched it meanwhile
        self._note_calls(story, result.results.budget_remaining)
        if result.results.budget_remaining == 0:
            self._release(story)
        self._end(work, _told(work.query, result), *result.errors)

    def _release(self, story: str) -> None:
        """What waits for calls that its story does not have any more need not wait."""
        of_story = [entry for entry in self._waiting if entry[-1].request.story_key == story]
        if of_story:
            self._waiting = [entry for entry in self._waiting if entry[-1].request.story_key != story]
            heapq.heapify(self._waiting)
            self._spent += [work for _rank, _order, work in sorted(of_story, key=lambda entry: entry[:2])]

    def _note_calls(self, story: str, left: int) -> None:
        self._calls_left.pop(story, None)
        self._calls_left[story] = left
        if len(self._calls_left) > _STORIES:
            del self._calls_left[next(iter(self._calls_left))]

    def _refuse(self, work: _Work, why: Fault) -> None:
        work.held.looked.refused = True
        self._end(work, _failed(work.query, why), why)

    def _end(self, work: _Work, found: dict[str, Any], *faults: Fault) -> None:
        """Keep what a query came to, and answer the request where it was the last one."""
        held = work.held
        held.looked.results[work.place] = found
        held.looked.faults += faults
        result = held.looked.result
        if result is None or not self._let_go(held):
            return
        self._served += not held.looked.refused
        if not held.answered.done():  # whoever asked may have gone
            held.answered.set_result(result)

    def _let_go(self, held: _Held) -> bool:
        """A request is over; whether it was not before."""
        if held not in self._held:
            return False
        self._held.remove(held)
        self._size -= held.size
        self._room.set()
        return True

    def _drop(self, held: _Held) -> None:
        """Nobody waits for a request any more: what it has in hand stops, and what waits makes room."""
        self._let_go(held)
        self._waiting = [entry for entry in self._waiting if entry[-1].held is not held]
        heapq.heapify(self._waiting)
        self._spent = deque(work for work in self._spent if work.held is not held)
        for task, in_hand in self._tasks.items():
            if in_hand.held is held:
                task.cancel()

    # -- what else a team says ---------------------------------------------------------------------------

    def roster(self, body: Any) -> Fault | None:
        """Learn who is in the team; a fault says why the message is none."""
        found = Roster.read(body)
        if isinstance(found, Fault):
            return found
        self._roster = found
        self._tell(f"[KR] Roster updated: {found.told}")
        return None

    def status(self) -> dict[str, Any]:
        """What was served so far, how much of it from the knowledge base, and what is left of the stories' budgets."""
        return {
            "session_id": self._session_id,
            "requests_served": self._served,
            "queries": self._queries,
            "cache_hits": self._hits,
            "cache_hit_rate": round(self._hits / self._queries, 3) if self._queries else None,
            "in_hand": len(self._tasks),
            "waiting": len(self._waiting) + len(self._spent),
            "budget_remaining": dict(self._calls_left),
            "roster": self._roster.to_dict(),
        }

    # -- the end -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Refuse what is asked from now on, hits too; from any thread."""
        self._closing = True

    async def finish(self) -> None:
        """Wait until all that was taken is answered."""
        while self._held:
            await asyncio.wait([held.answered for held in self._held])

    async def shut_down(self) -> None:
        """Finish what is in hand, refuse what waits, commit what waits for a commit, and say so in the log.

        A request is in hand once one of its queries is being researched.
        """
        self.close()
        self._room.set()
        self._go_on()  # what was only put off has its place
        waiting = [work for _rank, _order, work in sorted(self._waiting, key=lambda entry: entry[:2])]
        waiting += self._spent
        self._waiting, self._spent = [], deque()
        for work in waiting:
            self._queue(work)
        self._go_on()
        while self._held or self._tasks:  # also what is being looked up, and what is stopping
            going_on: list[asyncio.Future[Any]] = [held.answered for held in self._held]
            await asyncio.wait([*going_on, *self._tasks])
        if self._delivery is not None:
            self._delivery.cancel()
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.wait([self._tending])
        for note in [*await self._aside(self._committed), *await self._aside(self._delivered)]:
            self._tell(f"[KR-TEAM] note: {note}")
        rate = f" ({self._hits / self._queries:.0%})" if self._queries else ""
        self._tell(f"[KR-TEAM] Cache hits: {self._hits} of {self._queries} queries{rate}")
        served = f"{self._served} research requests served this Sprint"
        self._tell(f"[KR-TEAM] Shutdown acknowledged, {served}")
        self._thread.shutdown(wait=False)
        let_threads_go()

    def abandon(self) -> None:
        """Give up what is in hand as well; `shut_down` then comes to its end."""
        for work in [*(entry[-1] for entry in self._waiting), *self._spent]:
            self._refuse(work, _ABANDONED)
        self._waiting, self._spent = [], deque()
        for task in self._tasks:
            task.cancel()

    def _committed(self) -> tuple[str, ...]:
        from kr_core.pipeline.committing import commit_pending

        return commit_pending(self._pipeline.config)

    def _delivered(self) -> list[str]:
        try:
            return self._pipeline.deliver_logs()
        except Exception as error:  # a log that is wrongly configured stops no answer
            return [str(error)]

    async def _tend(self) -> None:
        """Do what is due for questions that wait for a human, whoever has put them."""
        from kr_core.service import AsyncKnowledgeRouterService

        service = AsyncKnowledgeRouterService(
            self._pipeline
        )  # the pipeline is the caller's: it is not closed with this one
        try:
            await service.keep_tending(lambda note: self._tell(f"[KR-TEAM] note: {note}"))
        except Exception as error:  # research is answered all the same
            self._tell(f"[KR-TEAM] note: what waits for a human is not looked after: {printable(str(error))}")

    async def _deliver_now_and_then(self) -> None:
        """Hand the logs what happened, since this process may live for days."""
        while True:
            await asyncio.sleep(_DELIVERY_SECONDS)
            if not self._undelivered:
                continue
            self._undelivered = False
            for note in await asyncio.to_thread(self._delivered):
                if note not in self._noted:
                    self._noted.add(note)
                    self._tell(f"[KR-TEAM] note: {note}")

    async def _aside(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


# -- results ---------------------------------------------------------------------------------------------


def _result(asked: Asked, results: list[dict[str, Any]], faults: list[Fault]) -> dict[str, Any]:
    return {
        "story_key": asked.story_key,
        "results": results,
        "requesting_agent": asked.requesting_agent,
        **asked.echoed,
        "errors": [fault.model_dump() for fault in dict.fromkeys(faults)],
    }


def _told(query: Query, result: ResearchResult) -> dict[str, Any]:
    """One result as the team reads it; `notes` stand there only where there is something to say."""
    body = result.results
    failed = result.status == "failure"
    warning = body.match.warning if body.match is not None and result.status == "cache-hit" else None
    notes = [*query.notes, *body.degradation_notes, *([warning] if warning else [])]
    told: Mapping[str, Any] = {
        "query": query.text,
        "status": result.status,
        "report_path": body.report_path,
        "confidence": body.confidence,
        "summary": result.errors[0].message if failed and result.errors else body.summary,
    }
    return {**told, "notes": notes} if notes else dict(told)


def _failed(query: Query, fault: Fault) -> dict[str, Any]:
    told: Mapping[str, Any] = {
        "query": query.text,
        "status": "failure",
        "report_path": None,
        "confidence": None,
        "summary": fault.message,
    }
    return {**told, "notes": [*query.notes]} if query.notes else dict(told)


def _fault_of(error: Exception) -> Fault:
    said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
    return Fault(type="internal_error", message=printable(said)[:1000])
