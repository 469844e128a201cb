"""Comments on GitHub issues as a channel: each case is a comment, and so is each reply.

There is one issue for each feature. KR requests the comments of the whole repository at once, and only changed ones.
Each post has a marker, signed with the project's own secret in `.kr/github/`, or in the journal that machines share; after a crash or an unanswered request,
KR looks for it before it posts again. KR asks GitHub each time who may answer.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome, PollResult, Provider, hookimpl
from kr_plugins.escalations.github.client import GitHubClient, Pace
from kr_plugins.escalations.github.comments import mentions, name_of, place_of, still
from kr_plugins.escalations.github.outbound import GoneError, Poster
from kr_plugins.escalations.github.outbox import Outbox, PostedItem
from kr_plugins.escalations.github.permissions import Permissions
from kr_plugins.escalations.github.reply_comments import CommentReader, IssueCases, ReadCursor
from kr_plugins.escalations.github.settings import GitHubSettings
from kr_plugins.escalations.github.webhook import Deliveries, verified

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

    from kr_core.plugin import (
        CaseView,
        Escalation,
        EscalationContext,
        Journal,
        Notice,
        OpenCase,
        Review,
        Setup,
    )

__all__ = ["GitHub", "GitHubSettings", "kr_escalation"]

_GENERAL = "general"
"""The feature of questions that name none."""
_MAX_TITLE_LENGTH = 120
_CHECKED_SECONDS = 300.0
"""So long an issue that was open is taken to be open: each feature costs a request more in that time."""


class _GitHubCall(NamedTuple):
    """What one call of the engine works with."""

    client: GitHubClient
    ledger: Outbox
    poster: Poster


class GitHub:
    """The way to a human.

    Args:
        settings: which repository, and who may answer.
        folder: the project's `.kr/`.
        journal: opens the project's journal, which has the outbox where machines share it.
    """

    def __init__(
        self, settings: GitHubSettings, folder: Path, journal: Callable[[], Journal] | None = None
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._journal = journal
        self._token = _token(settings.token)
        self._webhook_secret = settings.webhook_secret or ""
        self._root = f"/repos/{settings.repository}"
        self._pace = Pace()
        self._deliveries = Deliveries()
        self._checked: dict[int, float] = {}
        """Issues that were there and open, with the time (`time.monotonic()`) when that was seen."""
        self._looked: dict[str, int] = {}
        self._ledger: Outbox | None = None
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    # -- showing -----------------------------------------------------------------------------------------

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """Show a case as a comment on the issue of its feature; returns the comment's address."""
        async with self._call(context) as call:
            name = _name(case)
            known = call.ledger.posted(name)
            if known is None:
                known = await self._shown(call, case)
                await self._supersede(call, case, known)
            return known.url

    async def _shown(self, call: _GitHubCall, case: CaseView) -> PostedItem:
        feature = case.request.question.feature_id
        title = "" if feature == _GENERAL else name_of(feature, _MAX_TITLE_LENGTH)
        rest = f"`kr inbox show {case.request.id} --json`"
        for last in (False, True):
            issue = await call.poster.issue(feature, title, self._is_checked)
            if not self._is_checked(issue):
                self._checked[issue] = time.monotonic()
            try:
                return await call.poster.comment(_name(case), issue, self._fit(case.message), rest)
            except GoneError:
                self._checked.pop(issue, None)
                if last:
                    raise
        raise AssertionError("the last one returns or raises")

    def _is_checked(self, issue: int) -> bool:
        return time.monotonic() - self._checked.get(issue, -_CHECKED_SECONDS) < _CHECKED_SECONDS

    async def _supersede(self, call: _GitHubCall, case: CaseView, posted: PostedItem) -> None:
        """Say above an earlier revision that there is another one; a reply to it is refused anyway."""
        request = case.request
        earlier = [call.ledger.posted(f"{request.id}@{number}") for number in range(1, request.revision)]
        ids = {one.id for one in earlier if one is not None}
        place = place_of(case.location or "", self._settings.repository)
        ids |= set() if place is None else {place[1]}
        with suppress(RequestError):
            for one in sorted(ids - {posted.id})[-1:]:
                await call.poster.head(
                    one, f"Superseded: the answer that waits is [{_name(case)}]({posted.url})."
                )

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Tell what was understood or refused, or remind, by a comment; that a case is over is told above the case."""
        async with self._call(context) as call:
            posted = call.ledger.posted(_name(case))
            place = place_of(case.location or "", self._settings.repository)
            if posted is None and place is not None:
                posted = PostedItem(place[0], place[1], case.location or "", "")
            if posted is None:
                return  # it was never shown here, so there is nobody to tell
            said = self._fit(notice.message)
            if notice.kind == "ended":
                await call.poster.head(posted.id, said)
                return
            try:
                await self._say(call, case, notice, posted, said)
            except GoneError:
                if notice.kind == "reminder":
                    await self._say(call, case, notice, await self._shown(call, case), said)

    async def _say(
        self, call: _GitHubCall, case: CaseView, notice: Notice, posted: PostedItem, said: str
    ) -> None:
        if notice.kind == "reminder":
            people = mentions(notice.ask or self._settings.responders)
            text = f"{f'{people}: ' if people else ''}{said}\n\n[{_name(case)}]({posted.url})"
        else:
            comment = notice.reply_to.partition(":")[0]
            place = posted.url.partition("#")[0]
            known = comment.isascii() and comment.isdigit()
            between = "\n\n" if "\n" in said else " "  # what has several lines is a block of its own
            text = f"{f'On [this comment]({place}#issuecomment-{comment}):{between}' if known else ''}{said}"
        rest = f"`kr inbox show {case.request.id} --json`"
        await call.poster.comment(f"notice:{notice.id}", posted.issue, text, rest)

    # -- reviews -----------------------------------------------------------------------------------------

    async def review(self, review: Review, context: EscalationContext) -> str | None:
        """Post a review as a comment on the open pull request of a branch of this repository; None where there is none."""
        owner = self._settings.repository.partition("/")[0]
        asked = {"head": f"{owner}:{review.branch}", "state": "open", "per_page": "10"}
        async with self._call(context) as call:
            try:
                told = (await call.client.get(f"{self._root}/pulls", asked)).json()
                numbers = [one["number"] for one in told if one["head"]["ref"] == review.branch]
            except (ValueError, KeyError, TypeError):
                raise RequestError(
                    Outcome.bad_answer, "does not list pull requests", where=f"{self._root}/pulls"
                ) from None
            if not numbers:
                return None
            rest = "`kr dispatch log` of its task"
            return (
                await call.poster.comment(f"review:{review.id}", numbers[0], self._fit(review.message), rest)
            ).url

    # -- hearing -----------------------------------------------------------------------------------------

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """What people have written in the repository since a mark, on the issues of these cases."""
        if not shown:
            return PollResult()
        async with self._call(context) as call:
            reader = await self._reader(call, shown, context)
            return await reader.since(self._root, ReadCursor.read(mark))

    def verify(self, headers: Mapping[str, str], body: bytes) -> None:
        """Let a webhook's call pass that is signed with the secret, and JSON."""
        verified(headers, body, self._webhook_secret, self._settings.repository)

    async def receive(
        self, shown: Sequence[OpenCase], headers: Mapping[str, str], body: bytes, context: EscalationContext
    ) -> PollResult:
        """What a webhook's call tells of a new comment; who wrote it is looked into as for `poll`."""
        comment = verified(headers, body, self._webhook_secret, self._settings.repository)
        if comment is None or comment.is_edited or not shown or self._deliveries.has(headers):
            return PollResult()
        async with self._call(context) as call:
            reading = await (await self._reader(call, shown, context)).of(comment)
        self._deliveries.take(headers, comment)
        return PollResult(reading.replies)

    async def _reader(
        self, call: _GitHubCall, shown: Sequence[OpenCase], context: EscalationContext
    ) -> CommentReader:
        places = IssueCases(shown, call.ledger, self._settings.repository)
        permissions = Permissions(call.client, self._settings, await call.poster.login())
        return CommentReader(
            call.client,
            call.poster,
            call.ledger,
            permissions,
            places,
            lambda: context.deadline,
            self._deliveries.told_of,
        )

    # -- parts -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _call(self, context: EscalationContext) -> AsyncIterator[_GitHubCall]:
        """What a call works with, one after the other: two at once would open two issues.

        Raises:
            RequestError: the token is missing, or the project's state cannot be read.
        """
        if not self._token:
            hint = "set `token`, such as `{env: GITHUB_TOKEN}`"
            raise RequestError(Outcome.blocked, "GitHub needs a token", hint=hint)
        async with self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            base, repository = self._settings.base_url, self._settings.repository
            ledger = await asyncio.to_thread(self._outbox, f"{base.rstrip('/')}/{repository}")
            client = GitHubClient(context.http, base, self._token, ledger, self._pace)
            poster = Poster(client, ledger, repository, self._token, self._looked)
            yield _GitHubCall(client, ledger, poster)

    def _outbox(self, place: str) -> Outbox:
        if self._ledger is None:
            journal = None if self._journal is None else self._journal()
            self._ledger = Outbox(self._folder, place, journal)
        else:
            self._ledger.refresh()
        return self._ledger

    def _fit(self, text: str) -> str:
        """A text that may be posted: nothing in it acts, and the channel's own secrets are not in it."""
        for secret in filter(None, (self._token, self._webhook_secret)):
            text = text.replace(secret, "***")
        return still(text)


def _name(case: CaseView) -> str:
    return f"{case.request.id}@{case.request.revision}"


def _token(value: str | None) -> str:
    """A token, fit for a header.

    Raises:
        ConfigError: it has characters that none has.
    """
    token = (value or "").strip()
    if not (token.isascii() and token.isprintable()) or " " in token:
        # The HTTP client would refuse it as well, and show it in its message.
        raise ConfigError("`token` has characters that no token has", hint="copy it anew")
    return token


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    """Provide the way to a human over comments on issues of GitHub."""

    def build(settings: GitHubSettings, setup: Setup) -> GitHub:
        return GitHub(settings, setup.state_folder, setup.journal)

    return Provider(build, GitHubSettings)
