"""What the page and the API do alike: cases are listed, looked at, answered and talked about."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError, KRError, StorageError
from kr_core.server.web.history import steps
from kr_core.server.web.inbox_cache import InboxCache
from kr_core.server.web.problems import RequestRefused, able
from kr_core.server.web.shared_reads import SharedReads
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.ask.async_service import AsyncKnowledgeRouterService
    from kr_core.escalation.case import Case
    from kr_core.model.questions import AskResult, HumanResponse
    from kr_core.server.web.history import Step
    from kr_core.server.web.inbox_cache import CachedCase

__all__ = [
    "MAX_NAME_LENGTH",
    "MAX_TEXT_LENGTH",
    "Inbox",
    "InboxChanges",
    "InboxPage",
    "ReplyOutcome",
    "ShownCase",
]

MAX_TEXT_LENGTH = 65_536
"""Characters of a reply, as on GitHub."""
MAX_NAME_LENGTH = 200
_ID = re.compile(r"E[0-9]{1,9}", re.IGNORECASE)
_AT_ONCE_SECONDS = 1.0
"""What takes longer goes on while the page already says so."""


class InboxPage(NamedTuple):
    """A part of the inbox."""

    cases: Sequence[Case]
    total: int
    before: str | None
    features: Sequence[tuple[str, int]]
    number: int
    """The last entry of the record that it knows of."""


class ReplyOutcome(NamedTuple):
    """What became of a reply or a turn of a talk, where there is something to say of it."""

    message: str
    response: HumanResponse
    refused: bool


class InboxChanges(NamedTuple):
    """What has changed."""

    number: int
    """The last entry of the record that it knows of."""
    complete: bool
    """Whether these are all cases that have changed; else nobody knows any more."""
    cases: Sequence[CachedCase]


class ShownCase(NamedTuple):
    """A case as it is looked at."""

    case: Case
    steps: Sequence[Step]
    under_way: Sequence[HumanResponse]
    """What an agent is asked because of it right now."""
    outcome: ReplyOutcome | None
    """How the last such thing ended, if it did not end well."""
    number: int


class Inbox:
    """Works on the cases of a service.

    Args:
        service: the project's.
    """

    def __init__(self, service: AsyncKnowledgeRouterService) -> None:
        self.service = service
        self.reads = SharedReads()
        """Of those who show what it finds."""
        self._listing: InboxCache | None = None
        self._opening = threading.Lock()
        self._under_way: dict[str, list[tuple[HumanResponse, asyncio.Task[AskResult]]]] = {}
        self._outcomes: dict[str, ReplyOutcome] = {}

    async def inbox(self, state: str, feature: str, before: str, limit: int) -> InboxPage:
        """Cases, newest first; see `InboxCache.part`.

        Raises:
            Refused: `before` is no id, or the journal cannot be read.
        """
        if before and not _ID.fullmatch(before):
            raise RequestRefused("refused", f"`{before[:20]}` is not an id; write it as `E7`")

        def look() -> InboxPage:
            listing = self._listed()
            part = listing.part(state, feature, before.upper(), limit)
            cases = [self.service.cases.get(key) for key in part.keys]
            return InboxPage(cases, part.total, part.before, listing.features(), listing.number)

        return await able(look)

    async def case(self, key: str) -> Case:
        """A case.

        Raises:
            Refused: there is none of this id.
        """
        return await able(lambda: self._get(key))

    async def seen(self, key: str) -> ShownCase:
        """A case with what happened so far.

        Raises:
            Refused: there is none of this id.
        """
        number = (await self.news(0)).number  # what is read from here on is not older than this
        case = await self.case(key)
        name = case.request.id
        try:
            entries = await self.service.history(name)
        except StorageError as error:
            raise RequestRefused("unable", str(error)) from error
        under_way = [response for response, _ in self._under_way.get(name, ())]
        return ShownCase(case, steps(entries), under_way, self._outcomes.get(name), number)

    async def news(self, after: int, watched: str = "") -> InboxChanges:
        """What has changed behind an entry of the record.

        Args:
            after: the number of the entry.
            watched: a case that is told of also where it is not known what has changed.
        """

        def look() -> InboxChanges:
            listing = self._listed()
            number, changed = listing.news(after)
            if changed is not None:
                return InboxChanges(number, complete=True, cases=changed)
            one = listing.listed(watched)
            return InboxChanges(number, complete=False, cases=[] if one is None else [one])

        return await able(look)

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
            said = error.message if isinstance(error, RequestRefused) else f"{type(error).__name__}: {error}"
            self._outcomes[name] = ReplyOutcome(printable(said), response, refused=True)

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
            self._outcomes[name] = ReplyOutcome(printable(said), response, refused=False)

    async def _done(self, key: str, response: HumanResponse, *, talk: bool) -> AskResult:
        if len(response.content) > MAX_TEXT_LENGTH:
            raise RequestRefused(
                "refused",
                f"the text has {len(response.content):,} characters; at most {MAX_TEXT_LENGTH:,} are taken",
            )
        case = await self.case(key)
        do = self.service.chat if talk else self.service.reply
        try:
            return await do(case.request.id, response)
        except ConfigError as error:
            raise await self._refused(case.request.id, response, error) from error
        except KRError as error:
            raise RequestRefused("unable", str(error)) from error

    async def _refused(self, name: str, response: HumanResponse, error: ConfigError) -> RequestRefused:
        case = await self.case(name)
        more: dict[str, object] = {"status_of_case": case.status, "revision": case.request.revision}
        if not case.waits:
            if case.resolution is not None:
                more["by"] = case.resolution.by
            return RequestRefused("decided", error.what, more)
        older = response.revision is not None and response.revision != case.request.revision
        return RequestRefused("older" if older else "refused", error.what, more)

    # -- its parts ------------------------------------------------------------------------------------------

    def _listed(self) -> InboxCache:
        with self._opening:
            if self._listing is None:
                self._listing = InboxCache(
                    self.service.pipeline.journal
                )  # which is a file, opened by the first
            return self._listing

    def _get(self, key: str) -> Case:
        if not _ID.fullmatch(key):
            raise RequestRefused("unknown", f"there is no escalation `{key[:20]}`")
        try:
            return self.service.cases.get(key)
        except ConfigError as error:
            raise RequestRefused("unknown", error.what) from error

    async def close(self) -> None:
        """End what agents are asked; the cases wait on, and what was said is on the record."""
        tasks = [task for some in self._under_way.values() for _, task in some]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.reads.close()
