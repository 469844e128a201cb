"""What the page and the API do alike: cases are listed, looked at, answered and talked about."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kr_core.aio import to_its_end
from kr_core.errors import ConfigError, KRError, StorageError
from kr_core.server.web.history import steps
from kr_core.server.web.inbox_cache import Listing
from kr_core.server.web.problems import Refused
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.ask.service import AsyncKnowledgeRouterService
    from kr_core.escalation.case import KeptCase
    from kr_core.model.questions import AskResult, HumanResponse
    from kr_core.server.web.history import Step
    from kr_core.server.web.inbox_cache import Listed

__all__ = ["LONGEST_NAME", "LONGEST_TEXT", "Desk", "Inbox", "News", "Outcome", "Seen"]

Result = TypeVar("Result")

LONGEST_TEXT = 65_536
"""Characters of a reply, as on GitHub."""
LONGEST_NAME = 200
_ID = re.compile(r"E[0-9]{1,9}", re.IGNORECASE)
_AT_ONCE_SECONDS = 1.0
"""What takes longer goes on while the page already says so."""


class Inbox(NamedTuple):
    """A part of the inbox."""

    cases: Sequence[KeptCase]
    total: int
    before: str | None
    features: Sequence[tuple[str, int]]
    number: int
    """The last entry of the record that it knows of."""


class Outcome(NamedTuple):
    """What became of a reply or a turn of a talk, where there is something to say of it."""

    said: str
    response: HumanResponse
    refused: bool


class News(NamedTuple):
    """What has changed."""

    number: int
    """The last entry of the record that it knows of."""
    complete: bool
    """Whether these are all cases that have changed; else nobody knows any more."""
    cases: Sequence[Listed]


class Seen(NamedTuple):
    """A case as it is looked at."""

    case: KeptCase
    steps: Sequence[Step]
    under_way: Sequence[HumanResponse]
    """What an agent is asked because of it right now."""
    outcome: Outcome | None
    """How the last such thing ended, if it did not end well."""
    number: int


class Desk:
    """Works on the cases of a service.

    Args:
        service: the project's.
    """

    def __init__(self, service: AsyncKnowledgeRouterService) -> None:
        self._service = service
        self._listing: Listing | None = None
        self._opening = threading.Lock()
        self._under_way: dict[str, list[tuple[HumanResponse, asyncio.Task[AskResult]]]] = {}
        self._outcomes: dict[str, Outcome] = {}

    async def inbox(self, state: str, feature: str, before: str, limit: int) -> Inbox:
        """Cases, newest first; see `Listing.part`.

        Raises:
            Refused: `before` is no id, or the journal cannot be read.
        """
        if before and not _ID.fullmatch(before):
            raise Refused("refused", f"`{before[:20]}` is no id; write it as `E7`")

        def look() -> Inbox:
            listing = self._listed()
            part = listing.part(state, feature, before.upper(), limit)
            cases = [self._service.cases.get(key) for key in part.keys]
            return Inbox(cases, part.total, part.before, listing.features(), listing.number)

        return await self._able(look)

    async def case(self, key: str) -> KeptCase:
        """A case.

        Raises:
            Refused: there is none of this id.
        """
        return await self._able(lambda: self._get(key))

    async def seen(self, key: str) -> Seen:
        """A case with what happened so far.

        Raises:
            Refused: there is none of this id.
        """
        number = (await self.news(0)).number  # what is read from here on is not older than this
        case = await self.case(key)
        name = case.request.id
        try:
            entries = await self._service.history(name)
        except StorageError as error:
            raise Refused("unable", str(error)) from error
        under_way = [response for response, _ in self._under_way.get(name, ())]
        return Seen(case, steps(entries), under_way, self._outcomes.get(name), number)

    async def news(self, after: int, watched: str = "") -> News:
        """What has changed behind an entry of the record.

        Args:
            after: the number of the entry.
            watched: a case that is told of also where it is not known what has changed.
        """

        def look() -> News:
            listing = self._listed()
            number, changed = listing.news(after)
            if changed is not None:
                return News(number, complete=True, cases=changed)
            one = listing.listed(watched)
            return News(number, complete=False, cases=[] if one is None else [one])

        return await self._able(look)

    async def working_on(self, key: str) -> bool:
        """Whether an agent is asked right now because of a case, or is to be."""
        return bool(self._under_way.get(key)) or (await self.case(key)).asking

    # -- replies --------------------------------------------------------------------------------------------

    async def reply(self, key: str, response: HumanResponse) -> AskResult:
        """Do what a human replied; see `AsyncKnowledgeRouterService.reply`.

        Raises:
            Refused: it was not done, and why.
        """
        return await self._done(key, response, talk=False)

    async def chat(self, key: str, response: HumanResponse) -> AskResult:
        """Say something to the agent of a case; see `AsyncKnowledgeRouterService.chat`.

        Raises:
            Refused: it was not said, and why.
        """
        return await self._done(key, response, talk=True)

    async def begin(self, key: str, response: HumanResponse, *, talk: bool) -> AskResult | None:
        """The same for who does not wait long: None where it goes on, and `seen` tells of it.

        Raises:
            Refused: it was not done, and why.
        """
        name = (await self.case(key)).request.id
        task = asyncio.ensure_future(self._done(name, response, talk=talk))
        entry = (response, task)
        self._under_way.setdefault(name, []).append(entry)
        self._outcomes.pop(name, None)
        await asyncio.wait([task], timeout=_AT_ONCE_SECONDS)
        if task.done():
            self._forget(name, entry)
            result = task.result()
            self._remember(name, response, result)
            return result
        task.add_done_callback(lambda _task: self._ended(name, entry))
        return None

    def _ended(self, name: str, entry: tuple[HumanResponse, asyncio.Task[AskResult]]) -> None:
        self._forget(name, entry)
        response, task = entry
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._remember(name, response, task.result())
        else:
            said = error.said if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
            self._outcomes[name] = Outcome(printable(said), response, refused=True)

    def _forget(self, name: str, entry: tuple[HumanResponse, asyncio.Task[AskResult]]) -> None:
        left = [one for one in self._under_way.get(name, ()) if one is not entry]
        if left:
            self._under_way[name] = left
        else:
            self._under_way.pop(name, None)

    def _remember(self, name: str, response: HumanResponse, result: AskResult) -> None:
        """Keep why an agent that was asked gave no answer."""
        if response.action == "chat" and result.status == "escalated" and result.answer is None:
            said = "; ".join(result.notes) or "the agent gave no answer"
            self._outcomes[name] = Outcome(printable(said), response, refused=False)

    async def _done(self, key: str, response: HumanResponse, *, talk: bool) -> AskResult:
        if len(response.content) > LONGEST_TEXT:
            raise Refused(
                "refused",
                f"the text has {len(response.content):,} characters; at most {LONGEST_TEXT:,} are taken",
            )
        case = await self.case(key)
        do = self._service.chat if talk else self._service.reply
        try:
            return await do(case.request.id, response)
        except ConfigError as error:
            raise await self._refused(case.request.id, response, error) from error
        except KRError as error:
            raise Refused("unable", str(error)) from error

    async def _refused(self, name: str, response: HumanResponse, error: ConfigError) -> Refused:
        case = await self.case(name)
        more: dict[str, object] = {"status_of_case": case.status, "revision": case.request.revision}
        if not case.waits:
            if case.resolution is not None:
                more["by"] = case.resolution.by
            return Refused("decided", error.what, more)
        older = response.revision is not None and response.revision != case.request.revision
        return Refused("older" if older else "refused", error.what, more)

    # -- its parts ------------------------------------------------------------------------------------------

    def _listed(self) -> Listing:
        with self._opening:
            if self._listing is None:
                self._listing = Listing(
                    self._service.pipeline.journal
                )  # which is a file, opened by the first
            return self._listing

    def _get(self, key: str) -> KeptCase:
        if not _ID.fullmatch(key):
            raise Refused("unknown", f"there is no escalation `{key[:20]}`")
        try:
            return self._service.cases.get(key)
        except ConfigError as error:
            raise Refused("unknown", error.what) from error

    async def _able(self, look: Callable[[], Result]) -> Result:
        try:
            return await to_its_end(look)
        except StorageError as error:
            raise Refused("unable", str(error)) from error

    async def close(self) -> None:
        """End what agents are asked; the cases wait on, and what was said is on the record."""
        tasks = [task for some in self._under_way.values() for _, task in some]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
