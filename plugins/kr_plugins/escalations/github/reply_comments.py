"""What people have written: comments of a whole repository since a mark, and what each of them means."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from kr_core import RequestError
from kr_core.plugin import HumanReply, Outcome, PollResult, UnparsedReply
from kr_core.toolkit import read_replies
from kr_plugins.escalations.github.client import GONE, GitHubRefusedError, date_of
from kr_plugins.escalations.github.comments import Comment, about_of, comment_of, place_of
from kr_plugins.escalations.github.outbound import before, page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kr_core.plugin import OpenCase
    from kr_core.toolkit import ReplyCommand
    from kr_plugins.escalations.github.client import GitHubClient
    from kr_plugins.escalations.github.outbound import Poster
    from kr_plugins.escalations.github.outbox import Outbox
    from kr_plugins.escalations.github.permissions import Permissions

__all__ = ["CommentReader", "CommentReading", "IssueCases", "ReadCursor"]

_MAX_PAGES = 10
"""Of one poll; the next one goes on."""
_PAGE_SIZES = (100, 10, 1)
"""Comments of a page; smaller where so many are more than an answer may hold."""
_MAX_SEEN = 1000
_MAX_LATER = 100
_FORGOTTEN = 7 * 24 * 3600
"""Seconds: whoever puts a case and is killed is followed by another one before; older cases are over."""
_ALWAYS = "2008-01-01T00:00:00Z"
"""Before GitHub was."""
_MAX_SAID_LENGTH = 4000
_SPARE = 0.25
"""Of the time that a call has: at its end nothing more is begun, so that what was read is not read in vain."""
_LINE = re.compile(r"\r\n|\r|\n")
_COMMAND = re.compile(r"(?:\A|[\r\n])/kr", re.IGNORECASE)
_ID = re.compile(r"(?<![0-9A-Za-z])E[0-9]{1,9}(?![0-9A-Za-z])", re.IGNORECASE)
_EDITED = (
    "Edited comments are not read, since nobody can tell who has changed them when. Write a new comment."
)
_HELP = (
    "Write a new comment with a command at the start of a line, such as `/kr confirm {name}`; the comment that shows the"
    " case has all commands."
)


class ReadCursor(NamedTuple):
    """How far comments were read."""

    since: str = ""
    """GitHub's time; comments changed since are asked for."""
    skip: int = 0
    """So many of them were read; above 0 only where more than a poll reads came in the same second."""
    etag: str = ""
    """Of the answer to the same question, when it was asked last."""
    seen: tuple[tuple[int, str], ...] = ()
    """What was dealt with of them: ids, with the time of the last change."""
    later: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Comments, with the cases that stand on GitHub while nobody has noted yet that they do: a process was killed in between."""

    def __str__(self) -> str:
        return json.dumps(self._asdict(), separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> ReadCursor:
        """The mark that was written; the first one where it cannot be read."""
        try:
            told = json.loads(text)
            seen = tuple((int(one), str(time)) for one, time in told["seen"])
            later = tuple((int(one), tuple(map(str, names))) for one, names in told["later"])
            return cls(str(told["since"]), max(int(told["skip"]), 0), str(told["etag"]), seen, later)
        except (ValueError, KeyError, TypeError):
            return cls()


@dataclass
class GitHubIssue:
    """The cases that stand in one issue: ids, with the latest revision."""

    waiting: dict[str, int] = field(default_factory=dict)
    closed: dict[str, int] = field(default_factory=dict)
    old: dict[str, int] = field(default_factory=dict)
    """Those that were over long ago."""
    first: dict[str, int] = field(default_factory=dict)
    """The comment in which each that waits or is closed came first; 0 where nobody knows."""
    names: set[str] = field(default_factory=set)
    """All of them."""

    def latest(self, escalation_id: str) -> int:
        """The revision of a case that was shown last; 0 for none."""
        return next(
            (part[escalation_id] for part in (self.waiting, self.closed, self.old) if escalation_id in part),
            0,
        )


class IssueCases:
    """Which cases stand in which issue.

    Args:
        shown: the cases.
        ledger: where they were posted, and others of which nobody has noted it yet.
        repository: `owner/name`.
    """

    def __init__(self, shown: Iterable[OpenCase], ledger: Outbox, repository: str) -> None:
        self._ledger = ledger
        self.of_issue: dict[int, GitHubIssue] = {}
        self.begun = ""
        """When the first of them was posted; empty where that is not known of all."""
        self.oldest = 0
        """The first comment of those of which it is not known; 0 where there is none."""
        self.known: set[str] = set()
        self.unnoted: dict[str, str] = {}
        """Cases that stand in an issue and are not among those that were shown, with the time when they were posted."""
        self._over: list[str] = []
        for one in shown:
            self.known.add(one.escalation_id)
            posted = ledger.posted(f"{one.escalation_id}@{one.revision}")
            place = (posted.issue, posted.id) if posted is not None else place_of(one.location, repository)
            if place is None:
                continue  # shown elsewhere, before the configuration was changed
            if posted is not None and posted.created:
                self.begun = min(self.begun or posted.created, posted.created)
            else:
                self.oldest = min(self.oldest or place[1], place[1])
            issue = self._add(place[0], one.escalation_id, one.revision, place[1])
            (issue.waiting if one.waits else issue.closed)[one.escalation_id] = one.revision
            if not one.waits and one.escalation_id not in ledger.over:
                self._over.append(one.escalation_id)
        recent = before(ledger.latest, _FORGOTTEN)
        for name, (number, revision, time) in list(ledger.cases.items()):
            if name in self.known:
                continue
            issue = self._add(number, name, revision, 0)
            if recent <= time:
                self.unnoted[name] = time
                issue.waiting[name] = revision
                self.begun = min(self.begun or time, time)
            else:
                issue.old[name] = revision

    def _add(self, number: int, name: str, revision: int, comment: int) -> GitHubIssue:
        issue = self.of_issue.setdefault(number, GitHubIssue())
        issue.names.add(name)
        posted = [self._ledger.posted(f"{name}@{one}") for one in range(1, revision + 1)]
        ids = [one.id for one in posted if one is not None and one.issue == number]
        issue.first[name] = min([comment or sys.maxsize, *ids]) if comment or ids else 0
        return issue

    def meant(self, comment: Comment) -> list[str]:
        """The cases that a comment means which names none: those that stood above it, and were not known to be over by then."""
        issue = self.of_issue[comment.issue]
        return [
            name
            for name, first in issue.first.items()
            if first < comment.id
            and (name in issue.waiting or (name in issue.closed and not self._was_over(name, comment)))
        ]

    def _was_over(self, name: str, comment: Comment) -> bool:
        return "" < self._ledger.over.get(name, "") < comment.created

    def note_over(self, time: str) -> None:
        """Note which cases are over, at a time of GitHub's; empty where it has told none."""
        if time and self._over:
            self._ledger.are_over(self._over, time)
            self._over = []

    def seen(self, comment: Comment, escalation_id: str) -> int:
        """The revision of a case that was the latest when a comment was written; 0 for none."""
        issue = self.of_issue[comment.issue]
        latest = issue.latest(escalation_id)
        posted = [self._ledger.posted(f"{escalation_id}@{number}") for number in range(1, latest + 1)]
        if not any(posted):  # the state is lost: its place is on record, as that of the latest
            return latest if 0 < issue.first.get(escalation_id, 0) < comment.id else 0
        earlier = [one is not None and one.id < comment.id for one in posted]
        return max((number for number, was in enumerate(earlier, 1) if was), default=0)


class CommentReading(NamedTuple):
    """What one comment means; nothing where it is talk."""

    replies: tuple[HumanReply | UnparsedReply, ...] = ()
    was_judged: bool = False
    """Whether it had to be looked into: it has a command, or what looks like one."""
    later: tuple[str, ...] = ()
    """Cases that it is about, and that nobody has noted yet."""


class CommentReader:
    """Reads comments.

    Args:
        client: GitHub.
        poster: knows which comments are KR's own.
        ledger: where those stand.
        permissions: says who may answer.
        places: the cases.
        deadline: tells when the call ends, in the event loop's time.
        told_of: whether a call told of a comment before, as it was then.
    """

    def __init__(
        self,
        client: GitHubClient,
        poster: Poster,
        ledger: Outbox,
        permissions: Permissions,
        places: IssueCases,
        deadline: Callable[[], float],
        told_of: Callable[[Comment], bool],
    ) -> None:
        self._client = client
        self._poster = poster
        self._ledger = ledger
        self._permissions = permissions
        self._places = places
        self._deadline = deadline
        self._told_of = told_of
        self._spare = 0.0
        self._told: set[tuple[str, str, str, str]] = set()

    # -- many comments -----------------------------------------------------------------------------------

    async def since(self, root: str, mark: ReadCursor) -> PollResult:
        """What was written since a mark; as far as GitHub tells it now.

        Raises:
            RequestError: it tells nothing.
        """
        self._spare = (self._deadline() - asyncio.get_running_loop().time()) * _SPARE
        if not mark.since:
            mark = ReadCursor(await self._first(root))
        replies: list[HumanReply | UnparsedReply] = []
        mark = await self._put_off(root, mark, replies)
        size, start, complete = 0, mark, False
        for number in range(_MAX_PAGES):
            if self._is_late():
                break
            try:
                answer = await self._page(root, mark, _PAGE_SIZES[size], "" if number else mark.etag)
                self._places.note_over(date_of(answer))
                if answer.status_code == httpx.codes.NOT_MODIFIED:
                    complete = True
                    break
                comments = [comment for told in page_of(answer) if (comment := comment_of(told))]
            except RequestError as error:
                if error.outcome == Outcome.bad_answer and size + 1 < len(_PAGE_SIZES):
                    size += 1  # a hundred comments may be more than an answer may hold
                    continue
                if mark == start:
                    raise
                break  # what was read is told; the next poll finds out what is wrong
            read, failed = await self._read(comments, mark, start.since, replies)
            if failed is not None:
                if read == start:
                    raise failed
                mark = read
                break
            if "next" not in answer.links:
                mark, complete = _ended(mark, read, comments, answer.headers.get("etag", "")), True
                break
            mark = _continued(mark, read, comments, _PAGE_SIZES[size])
        return PollResult(replies, str(mark), complete)

    async def _put_off(
        self, root: str, mark: ReadCursor, replies: list[HumanReply | UnparsedReply]
    ) -> ReadCursor:
        """Read what could not be read before, as far as it can now."""
        left = []
        for one, names in mark.later:
            if self._is_late() or all(name in self._places.unnoted for name in names):
                left.append((one, names))
                continue
            try:
                comment = comment_of((await self._client.get(f"{root}/issues/comments/{one}")).json())
            except GitHubRefusedError as refused:
                if refused.status not in GONE:
                    raise
                continue
            if comment is not None:
                reading = await self.of(comment)
                replies += reading.replies
                left += [(one, reading.later)] if reading.later else []
        return mark._replace(later=tuple(left))

    def _is_late(self) -> bool:
        return asyncio.get_running_loop().time() > self._deadline() - self._spare

    async def _first(self, root: str) -> str:
        """From when on comments matter: since the first case was posted."""
        begun = self._places.begun
        if self._places.oldest:
            try:
                path = f"{root}/issues/comments/{self._places.oldest}"
                told = comment_of((await self._client.get(path)).json())
            except (ValueError, RequestError):
                told = None
            if told is not None:
                begun = min(begun or told.created, told.created)
        return before(begun) or _ALWAYS

    async def _page(self, root: str, mark: ReadCursor, size: int, etag: str) -> httpx.Response:
        asked = {"since": mark.since, "sort": "updated", "direction": "asc", "per_page": str(size)}
        asked |= {"page": str(mark.skip // size + 1)} if mark.skip >= size else {}
        return await self._client.get(f"{root}/issues/comments", asked, etag)

    async def _read(
        self,
        comments: Sequence[Comment],
        mark: ReadCursor,
        begun: str,
        replies: list[HumanReply | UnparsedReply],
    ) -> tuple[ReadCursor, RequestError | None]:
        """Read a page; where that fails in the middle, what was dealt with is in the mark all the same."""
        seen = dict.fromkeys(mark.seen)
        later = dict(mark.later)
        ids = {one for one, _ in mark.seen}
        failed: RequestError | None = None
        for comment in comments:
            if (comment.id, comment.updated) in seen:
                continue
            if self._is_late():
                failed = RequestError(Outcome.timeout, "there was no time to read what was written")
                break
            try:
                was_told = comment.is_edited and self._told_of(comment)
                was_read = was_told or comment.created < begun or comment.id in ids
                reading = await self.of(comment, was_read=was_read)
            except RequestError as error:
                failed = error
                break
            replies += reading.replies
            if reading.was_judged:
                seen[comment.id, comment.updated] = None
            if reading.later:
                later[comment.id] = reading.later
        return mark._replace(seen=tuple(seen)[-_MAX_SEEN:], later=tuple(later.items())[-_MAX_LATER:]), failed

    # -- one comment -------------------------------------------------------------------------------------

    async def of(self, comment: Comment, *, was_read: bool = False) -> CommentReading:
        """What a comment means.

        Args:
            comment: as GitHub tells of it.
            was_read: whether it was read before, as it was then.

        Raises:
            RequestError: it could not be found out.
        """
        issue = self._places.of_issue.get(comment.issue)
        if await self._is_marked(comment) or issue is None or not comment.is_person:
            return CommentReading()
        if not _COMMAND.search(comment.body):  # most comments are talk
            return CommentReading()
        read = read_replies(comment.body, self._places.meant(comment), issue.names)
        if not (read.commands or read.faults):
            return CommentReading()
        if comment.is_edited and was_read:
            return CommentReading(was_judged=True)
        lines = _LINE.split(comment.body)
        named = [command.escalation_id for command in read.commands]
        named += [found[0].upper() for fault in read.faults if (found := _ID.search(lines[fault.line - 1]))]
        about = self._about(named, issue)
        if not about:  # nobody can be told yet
            unnoted = [name for name in (*named, *issue.waiting) if name in self._places.unnoted]
            return CommentReading(was_judged=True, later=tuple(dict.fromkeys(unnoted)))
        refused = await self._refusal(comment)
        if refused:
            return self._unclear(comment, about, "refused", refused)
        if comment.is_edited:
            return self._unclear(comment, about, "edited", _EDITED)
        replies, later = self._replies(comment, read.commands, about)
        if read.faults:
            listed = "\n".join(f"- line {fault.line}: {fault.message}" for fault in read.faults)
            said = f"{listed[:_MAX_SAID_LENGTH]}\n\n{_HELP.format(name=f'{about}@{issue.latest(about)}')}"
            replies += self._unclear(comment, about, "help", said).replies
        return CommentReading(tuple(replies), was_judged=True, later=later)

    def _replies(
        self, comment: Comment, commands: Sequence[ReplyCommand], about: str
    ) -> tuple[list[HumanReply | UnparsedReply], tuple[str, ...]]:
        """What the commands of a comment reply, and the cases that are not noted yet, which are asked for later."""
        replies: list[HumanReply | UnparsedReply] = []
        later: dict[str, None] = {}
        for command in commands:
            name = command.escalation_id
            if name in self._places.unnoted:
                later[name] = None
                continue
            response = command.response(comment.login)
            if response.revision is None:  # what they saw is meant, not what has come since
                response = response.model_copy(update={"revision": self._places.seen(comment, name)})
            beside = "" if name in self._places.known else about
            replies.append(HumanReply(name, response, f"{comment.id}:{command.line}", beside))
        return replies, tuple(later)

    def _about(self, named: Sequence[str], issue: GitHubIssue) -> str:
        """The case by which the writer of a comment is told something; empty where there is none yet."""
        there = [name for name in named if name in issue.names]
        found = (*there, *issue.waiting, *issue.closed)
        known = next((name for name in found if name in self._places.known), "")
        return known or next((name for name in (*there, *issue.old) if name in issue.old), "")

    async def _refusal(self, comment: Comment) -> str:
        if comment.app:
            return "This was written by an app; a person has to answer, with a comment of their own."
        refused = await self._permissions.refusal(comment.login)
        return refused and f"`{comment.login}` may not answer here: {refused}."

    async def _is_marked(self, comment: Comment) -> bool:
        """Whether it is one of KR's own, which are never read; one that stands there twice is removed."""
        about = about_of(self._ledger, comment.body)
        if about is None or not await self._poster.is_own(comment):
            return False
        self._poster.adopt(about, comment)
        posted = self._ledger.posted(about)
        twice = posted is not None and posted.issue == comment.issue and posted.id not in {0, comment.id}
        if twice and await self._poster.login():
            # A request that nobody waited for any more was carried out after another had been sent.
            with suppress(RequestError):  # it is seen again
                await self._poster.delete(comment.id)
        return True

    def _unclear(self, comment: Comment, about: str, kind: Any, said: str) -> CommentReading:
        key = (comment.login.casefold(), about, kind, said)
        if key in self._told:
            return CommentReading(was_judged=True)
        self._told.add(key)
        return CommentReading(
            (UnparsedReply(about, comment.login, kind, said, str(comment.id)),), was_judged=True
        )


def _ended(asked: ReadCursor, read: ReadCursor, comments: Sequence[Comment], etag: str) -> ReadCursor:
    """The mark where there is no more to read: a little earlier than the last comment, since some may come to light late."""
    since = max([asked.since, *(before(comment.updated) for comment in comments[-1:])])
    seen = tuple(one for one in read.seen if one[1] >= since)
    return ReadCursor(since, 0, etag if since == asked.since and not asked.skip else "", seen, read.later)


def _continued(asked: ReadCursor, read: ReadCursor, comments: Sequence[Comment], size: int) -> ReadCursor:
    """The mark where there is more to read: by the time of the last comment, since pages shift when one of them changes."""
    last = before(comments[-1].updated, 1) if comments else ""  # whether that second counts is not told
    if last > asked.since:
        return read._replace(since=last, skip=0, etag="")
    return read._replace(skip=(asked.skip // size + 1) * size, etag="")
