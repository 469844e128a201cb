"""The resident: it answers research requests of a team from one pipeline, known answers at once, the rest in turn.

It reads no lines and writes none: values come in and go out, so that `kr team` and any other door use the same one.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.aio import release_threads
from kr_core.model import Fault, new_id
from kr_core.research.budget import RunBudget
from kr_core.review import is_doubtful, reviewed
from kr_core.team import request as reading
from kr_core.team.background import BackgroundWork
from kr_core.team.messages import Roster
from kr_core.team.queue import QueuedQuery, QueuedRequest, WorkQueue
from kr_core.team.request import TeamLookup, failed, fault_of, result_of, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.model import ResearchRequest
    from kr_core.research import Pipeline
    from kr_core.team.request import TeamQuery

__all__ = ["Resident"]

_MAX_HELD = 16_000_000
"""Of what waits for an answer, as `_size` counts it; who asks more waits until some is answered."""
_QUIET_SECONDS = 0.025
"""Without a look-up, before the first research is begun: look-ups that come thick are done first, and nothing takes turns with them."""
_PATIENCE_SECONDS = 0.25
"""How long research is put off by look-ups that leave half of the time free; once there is some, it goes on whatever is looked up."""
_MAX_PATIENCE_SECONDS = 5.0
"""How long by those that come without a pause, as where a thousand lines are written at once."""
_STORIES = 1_000
"""Stories whose budgets are told by `status`."""
_SHUTDOWN = Fault(
    type="shutdown", message="KR is shutting down and has not begun this; ask again when it is back"
)
_ABANDONED = Fault(type="shutdown", message="KR was told twice to end, and has given this up")


class _CurrentWork(NamedTuple):
    """What a task works on, and whether the story had no call left."""

    held: QueuedRequest
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
        self._waiting = WorkQueue()
        self._tasks: dict[asyncio.Task[None], _CurrentWork] = {}
        """What is being researched."""
        self._held: set[QueuedRequest] = set()
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
        self._upkeep = BackgroundWork(pipeline, tell)

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
        self._upkeep.start(tend=tend)

    # -- requests ----------------------------------------------------------------------------------------

    async def research(self, body: Any) -> dict[str, Any]:
        """Answer a request: the value behind `RESEARCH_RESULT:` to the one behind `RESEARCH_REQUEST:`; never raises.

        Cancelled, the work of this request stops.
        """
        return await (await self.take(await self._aside(partial(self.look, body))))

    def look(self, body: Any) -> TeamLookup:
        """Look up what a request asks; in any one thread but the event loop's, since it reads files. Never raises."""
        self._looked_at = begun = monotonic()
        try:
            return self._looked(body)
        finally:
            self._looking_seconds += monotonic() - begun

    def _looked(self, body: Any) -> TeamLookup:
        asked = reading.read(body, self._pipeline.read_request, self._session_id)
        faults = [*asked.faults, *(fault for query in asked.queries for fault in query.faults)]
        looked = TeamLookup(asked, [], faults, {})
        for query in asked.queries:
            if query.request is None:
                looked.results.append(failed(query, (query.faults or asked.faults)[0]))
                continue
            if self._closing:
                looked.refused = True
                looked.faults.append(_SHUTDOWN)
                looked.results.append(failed(query, _SHUTDOWN))
                continue
            looked.queries += 1
            try:
                looked.results.append(self._recalled(query, query.request, looked))
            except Exception as error:
                looked.faults.append(fault_of(error))
                looked.results.append(failed(query, looked.faults[-1]))
        return looked

    def _recalled(
        self, query: TeamQuery, request: ResearchRequest, looked: TeamLookup
    ) -> dict[str, Any] | None:
        answer = self._pipeline.recall(request)
        if answer is not None and not is_doubtful(self._pipeline, answer.result):
            looked.hits += 1
            looked.calls_left[request.story_key] = answer.result.results.budget_remaining
            return told(query, answer.result)
        limit = self._settings.knowledge_research.max_calls_per_story
        journal = self._pipeline.journal
        budget = RunBudget(journal, request.session_id, request.story_key, limit, request.max_calls)
        looked.calls_left[request.story_key] = budget.remaining
        return None

    def refuse(self, fault: Fault) -> dict[str, Any]:
        """The result that answers what is no request at all."""
        return result_of(reading.refused(fault), [], [fault])

    async def take(self, looked: TeamLookup) -> asyncio.Future[dict[str, Any]]:
        """See to it that what the knowledge base does not have is researched.

        Waits while very much waits already, so that whoever reads requests off a pipe stops reading. Where the future is
        cancelled, the work of the request stops.
        """
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if (result := looked.result) is not None:
            self.count(looked)
            answered.set_result(result)
            return answered
        while self._size > _MAX_HELD and not self._closing:
            self._room.clear()
            await self._room.wait()
        held = QueuedRequest(looked, answered, looked.size)
        answered.add_done_callback(lambda done: self._drop(held) if done.cancelled() else None)
        self._held.add(held)
        self._size += held.size
        self._queries += looked.queries
        self._hits += looked.hits
        for story, left in looked.calls_left.items():
            self._note_calls(story, left)
        for place, query in enumerate(looked.asked.queries):
            if looked.results[place] is None and query.request is not None:
                self._queue(QueuedQuery(held, place, query, query.request))
        self._go_on()
        return answered

    def count(self, looked: TeamLookup) -> None:
        """Count a request whose answer was complete when it was looked up."""
        self._queries += looked.queries
        self._hits += looked.hits
        self._served += not (looked.asked.faults or looked.refused)
        self._upkeep.undelivered |= looked.hits > 0
        for story, left in looked.calls_left.items():
            self._note_calls(story, left)

    # -- what waits, and what is worked on ---------------------------------------------------------------

    def _queue(self, work: QueuedQuery) -> None:
        if self._closing and not work.held.begun:
            self._refuse(work, _SHUTDOWN)
        else:
            self._waiting.add(work, spent=self._calls_left.get(work.request.story_key) == 0)

    def _go_on(self) -> None:
        """Begin as much of what waits as may be worked on at once; the first of it not while look-ups come thick."""
        if self._tasks or not self._is_put_off():
            self._fill()

    def _fill(self) -> None:
        most = self._settings.defaults.max_concurrent
        spent = sum(in_hand.spent for in_hand in self._tasks.values())
        outside = len(self._tasks) - spent
        while spent < most and (work := self._waiting.next(spent=True)) is not None:
            spent += 1
            self._begin(work, spent=True)
        while outside < most and (work := self._waiting.next(spent=False)) is not None:
            outside += 1
            self._begin(work, spent=False)

    def _is_put_off(self) -> bool:
        """Whether research is to be begun a little later; then it is seen to."""
        now = monotonic()
        if self._put_off_since is None:
            self._put_off_since, self._looking_seconds = now, 0.0
        waited = now - self._put_off_since
        thick = waited < _PATIENCE_SECONDS or self._looking_seconds > waited / 2
        quiet = now - self._looked_at >= _QUIET_SECONDS
        if quiet or self._closing or not thick or waited >= _MAX_PATIENCE_SECONDS:
            self._put_off_since = None
            return False
        if self._later is None or self._later.when() <= asyncio.get_running_loop().time():
            self._later = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._go_on)
        return True

    def _begin(self, work: QueuedQuery, *, spent: bool) -> None:
        work.held.begun = True
        task = asyncio.create_task(self._research(work), context=work.held.context.copy())
        self._tasks[task] = _CurrentWork(work.held, spent)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._fill()

    async def _research(self, work: QueuedQuery) -> None:
        story = work.request.story_key
        try:
            answer = await self._pipeline.aresearch(work.request)
            result = (await reviewed(self._pipeline, work.request, answer)).result
        except asyncio.CancelledError:  # by `abandon` or `_drop`: nobody else has the task
            self._refuse(work, _ABANDONED)
            return
        except (
            Exception
        ) as error:  # a journal that fails, a source that is wrongly configured: the next one may do
            fault = fault_of(error)
            self._end(work, failed(work.query, fault), fault)
            return
        self._upkeep.undelivered = True
        self._hits += result.status == "cache-hit"  # another caller has researched it meanwhile
        self._note_calls(story, result.results.budget_remaining)
        if result.results.budget_remaining == 0:
            self._waiting.release(story)
        self._end(work, told(work.query, result), *result.errors)

    def _note_calls(self, story: str, left: int) -> None:
        self._calls_left.pop(story, None)
        self._calls_left[story] = left
        if len(self._calls_left) > _STORIES:
            del self._calls_left[next(iter(self._calls_left))]

    def _refuse(self, work: QueuedQuery, why: Fault) -> None:
        work.held.looked.refused = True
        self._end(work, failed(work.query, why), why)

    def _end(self, work: QueuedQuery, found: dict[str, Any], *faults: Fault) -> None:
        """Keep what a query came to, and answer the request where it was the last one."""
        held = work.held
        held.looked.results[work.location] = found
        held.looked.faults += faults
        result = held.looked.result
        if result is None or not self._let_go(held):
            return
        self._served += not held.looked.refused
        if not held.answered.done():  # whoever asked may have gone
            held.answered.set_result(result)

    def _let_go(self, held: QueuedRequest) -> bool:
        """A request is over; whether it was not before."""
        if held not in self._held:
            return False
        self._held.remove(held)
        self._size -= held.size
        self._room.set()
        return True

    def _drop(self, held: QueuedRequest) -> None:
        """Nobody waits for a request any more: what it has in hand stops, and what waits makes room."""
        self._let_go(held)
        self._waiting.drop(held)
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
            "waiting": len(self._waiting),
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
        for work in self._waiting.taken():
            self._queue(work)
        self._go_on()
        while self._held or self._tasks:  # also what is being looked up, and what is stopping
            going_on: list[asyncio.Future[Any]] = [held.answered for held in self._held]
            await asyncio.wait([*going_on, *self._tasks])
        await self._upkeep.end()
        upkeep = self._upkeep
        for note in [*await self._aside(upkeep.committed), *await self._aside(upkeep.delivered)]:
            self._tell(f"[KR-TEAM] note: {note}")
        rate = f" ({self._hits / self._queries:.0%})" if self._queries else ""
        self._tell(f"[KR-TEAM] Cache hits: {self._hits} of {self._queries} queries{rate}")
        served = f"{self._served} research requests served this Sprint"
        self._tell(f"[KR-TEAM] Shutdown acknowledged, {served}")
        self._thread.shutdown(wait=False)
        release_threads()

    def abandon(self) -> None:
        """Give up what is in hand as well; `shut_down` then comes to its end."""
        for work in self._waiting.taken():
            self._refuse(work, _ABANDONED)
        for task in self._tasks:
            task.cancel()

    async def _aside(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
