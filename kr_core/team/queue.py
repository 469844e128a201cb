"""What waits to be researched: what asks the outside by priority, and what its story has no call left for."""

from __future__ import annotations

import heapq
from collections import deque
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from kr_core.model import ResearchRequest
    from kr_core.team.request import TeamLookup, TeamQuery

__all__ = ["QueuedQuery", "QueuedRequest", "WorkQueue"]


@dataclass(eq=False)
class QueuedRequest:
    """A request that waits for its answer."""

    looked: TeamLookup
    answered: asyncio.Future[dict[str, Any]]
    size: int
    context: Context = field(default_factory=copy_context)
    """Of whoever asked: what is told of the progress goes to them, whoever made room for the work."""
    begun: bool = False
    """Whether one of its queries is being researched, or was: then it is finished whatever comes."""


class QueuedQuery(NamedTuple):
    """A query that has to be researched."""

    held: QueuedRequest
    location: int
    query: TeamQuery
    request: ResearchRequest


class WorkQueue:
    """Queries in the order in which they get their turn."""

    def __init__(self) -> None:
        self._outside: list[tuple[int, int, QueuedQuery]] = []
        self._spent: deque[QueuedQuery] = deque()
        self._order = 0

    def __len__(self) -> int:
        return len(self._outside) + len(self._spent)

    def add(self, work: QueuedQuery, *, spent: bool) -> None:
        """Let a query wait; `spent` says that its story has no call left, so that it asks only what is on the machine."""
        if spent:
            self._spent.append(work)
            return
        self._order += 1
        heapq.heappush(self._outside, (work.query.rank, self._order, work))

    def next(self, *, spent: bool) -> QueuedQuery | None:
        """Whose turn it is, of those with calls or of those without; None where nobody waits."""
        if spent:
            return self._spent.popleft() if self._spent else None
        return heapq.heappop(self._outside)[-1] if self._outside else None

    def release(self, story: str) -> None:
        """What waits for calls that its story does not have any more need not wait."""
        of_story = [entry for entry in self._outside if entry[-1].request.story_key == story]
        if of_story:
            self._keep(lambda work: work.request.story_key != story)
            self._spent += [work for _rank, _order, work in sorted(of_story, key=lambda entry: entry[:2])]

    def drop(self, held: QueuedRequest) -> None:
        """Forget the queries of a request."""
        self._keep(lambda work: work.held is not held)
        self._spent = deque(work for work in self._spent if work.held is not held)

    def taken(self) -> list[QueuedQuery]:
        """All that waits, in order; nothing waits then."""
        taken = [work for _rank, _order, work in sorted(self._outside, key=lambda entry: entry[:2])]
        taken += self._spent
        self._outside, self._spent = [], deque()
        return taken

    def _keep(self, which: Callable[[QueuedQuery], bool]) -> None:
        self._outside = [entry for entry in self._outside if which(entry[-1])]
        heapq.heapify(self._outside)
