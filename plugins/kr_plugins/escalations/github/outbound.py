"""Posting, once: an issue for each feature, a comment for each revision of a case and for each notice."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx

from kr_core import Outcome, RequestError
from kr_plugins.escalations.github.client import GONE, MOVED, GitHubRefusedError, is_whole
from kr_plugins.escalations.github.comments import (
    MOST,
    Comment,
    about_of,
    body,
    comment_of,
    escaped,
    marked,
    named,
    shortened,
    unmarked,
)
from kr_plugins.escalations.github.outbox import PostedItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kr_plugins.escalations.github.client import GitHubClient
    from kr_plugins.escalations.github.outbox import Intent, Outbox

__all__ = ["GoneError", "Poster", "before", "page_of"]

_OVERLAP = 60
"""Seconds: GitHub has many servers, whose clocks are not quite the same."""
PROMPT_SECONDS = 5.0
"""Between noting that something is about to be posted, and posting it; who was stopped or cut off for longer may have been given
up, and another one may post it. Much shorter than a lease."""
_MAX_PAGES = 20
"""That a call looks through; the next one goes on."""
_ISSUE_TEXT = """\
KR puts questions{about} here that a person has to decide. Each comes as a comment, which says how to answer: with a new comment \
that has a command such as `/kr confirm E7@2` at the start of a line. Edited comments are not read.
"""


class GoneError(RequestError):
    """The issue is not there any more: it was deleted or transferred."""


class Poster:
    """Posts to one repository.

    Args:
        client: GitHub.
        ledger: what was posted.
        repository: `owner/name`.
        token: whose comments they are.
        looked: how far a look for what may have been posted has come: pages, kept from call to call.
    """

    def __init__(
        self, client: GitHubClient, ledger: Outbox, repository: str, token: str, looked: dict[str, int]
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._root = f"/repos/{repository}"
        self._token = token
        self._looked = looked
        self._is_asked = False

    # -- whose comments ----------------------------------------------------------------------------------

    async def login(self) -> str:
        """Whose token it is; empty where it is an app's that has posted nothing yet."""
        known = self._ledger.login(self._token)
        return await self._asked_login("") if known is None else known

    async def _asked_login(self, known: str) -> str:
        self._is_asked = True
        try:
            told = (await self._client.get("/user")).json()
            login = str(told["login"])
        except GitHubRefusedError as refused:
            if refused.status not in {403, 404}:
                raise
            login = known  # the token of an app is nobody's
        except (ValueError, KeyError, TypeError):
            raise RequestError(Outcome.bad_answer, "does not say whose token it is", where="/user") from None
        if login != self._ledger.login(self._token):
            await asyncio.to_thread(self._ledger.belongs_to, self._token, login)
        return login

    async def is_own(self, comment: Comment) -> bool:
        """Whether KR's own account wrote a comment that has its signed marker; that is enough where the account is unknown."""
        about = about_of(self._ledger, comment.body)
        posted = None if about is None else self._ledger.posted(about)
        if posted is not None and posted.id == comment.id:
            return True  # whatever the account was called then
        login = await self.login()
        if login and comment.login.casefold() != login.casefold() and not self._is_asked:
            login = await self._asked_login(login)  # accounts are renamed
        return not login or comment.login.casefold() == login.casefold()

    def adopt(self, about: str, comment: Comment) -> None:
        """Note a comment of KR's own that was posted although nobody was told."""
        intent = self._ledger.intent(about)
        if intent is not None and intent.issue == comment.issue and self._ledger.posted(about) is None:
            self._ledger.is_posted(about, PostedItem(comment.issue, comment.id, comment.url, comment.created))

    # -- comments ----------------------------------------------------------------------------------------

    async def comment(self, about: str, issue: int, text: str, rest: str) -> PostedItem:
        """Post a comment, unless it stands there already.

        Args:
            about: what it is about; nothing else is about the same.
            issue: where it goes.
            text: Markdown, fit to be posted.
            rest: where all of it is, if it is too long.

        Raises:
            GoneError: the issue is not there any more.
            RequestError: it could not be posted, or nobody knows whether it was.
        """
        about = named(about)
        known = self._ledger.posted(about)
        if known is not None:
            return known
        intent = self._ledger.intent(about)
        if intent is not None:
            found = await self._found(about, intent)
            if found is not None:
                return found
        written = {"body": body(self._ledger, about, text, rest)}
        told = await self._post(about, issue, f"{self._root}/issues/{issue}/comments", written)
        return await asyncio.to_thread(self._noted, about, issue, told["id"], told)

    def _noted(self, about: str, issue: int, comment: int, told: dict[str, Any]) -> PostedItem:
        """Note where something stands, as GitHub tells it."""
        url, created = told.get("html_url"), told.get("created_at")
        posted = PostedItem(
            issue,
            comment,
            url if isinstance(url, str) else f"{self._root}/issues/{issue}#issuecomment-{comment}",
            created if isinstance(created, str) and before(created) else "",
        )
        self._ledger.is_posted(about, posted)
        user = told.get("user")
        login = user.get("login") if isinstance(user, dict) else None
        if self._ledger.login(self._token) == "" and isinstance(login, str):
            self._ledger.belongs_to(self._token, login)  # GitHub tells an app only so
        return posted

    async def _found(self, about: str, intent: Intent) -> PostedItem | None:
        """The comment that was posted although nobody was told."""
        marker, since = marked(self._ledger, about), before(intent.after)
        path = f"{self._root}/issues/{intent.issue}/comments"
        try:
            async for page in self._pages(about, path, {"since": since} if since else {}):
                for comment in filter(None, map(comment_of, page)):
                    if comment.body.startswith(marker) and await self.is_own(comment):
                        posted = PostedItem(intent.issue, comment.id, comment.url, comment.created)
                        await asyncio.to_thread(self._ledger.is_posted, about, posted)
                        return posted
        except GitHubRefusedError as refused:
            raise await self._about_issue(refused, intent.issue) from None
        return None

    async def _pages(self, about: str, path: str, asked: dict[str, str]) -> AsyncIterator[list[Any]]:
        """The pages of a list in which something is looked for; from the one on to which the last call came.

        Raises:
            RequestError: there are more than a call may read; the next one goes on.
        """
        first = self._looked.get(about, 1)
        for number in range(first, first + _MAX_PAGES):
            answer = await self._client.get(path, {**asked, "per_page": "100", "page": str(number)})
            yield page_of(answer)
            if "next" not in answer.links:
                self._looked.pop(about, None)
                return
            self._looked[about] = (
                number  # and not the one after: what is removed moves others to an earlier page
            )
        said = "there is much to look through, to post nothing twice; it goes on with the next try"
        raise RequestError(Outcome.bad_answer, said, where=path, seconds=1)

    async def _post(self, about: str, issue: int, path: str, written: dict[str, Any]) -> dict[str, Any]:
        """Post something that nobody has posted; what may have been is noted before."""
        latest = time.monotonic() + PROMPT_SECONDS
        # In a thread, since it waits until the disk has it.
        await asyncio.to_thread(
            self._ledger.will_post, about, issue, self._ledger.latest or self._client.date
        )
        try:
            told = await self._client.send("POST", path, written, latest)
        except GitHubRefusedError as refused:
            if refused.status >= httpx.codes.INTERNAL_SERVER_ERROR:
                raise
            await asyncio.to_thread(self._ledger.was_not_posted, about)
            if issue:
                raise await self._about_issue(refused, issue) from None
            raise
        if not (isinstance(told, dict) and is_whole(told.get("number" if issue == 0 else "id"))):
            raise RequestError(Outcome.bad_answer, "does not say what was posted", where=path)
        return told

    async def delete(self, comment: int) -> None:
        """Remove a comment of KR's own; one that is not there is removed."""
        try:
            await self._client.send("DELETE", f"{self._root}/issues/comments/{comment}")
        except GitHubRefusedError as refused:
            if refused.status not in GONE:
                raise

    async def head(self, comment: int, note: str) -> bool:
        """Put a note above a comment of KR's own; False where it is not there or not KR's own.

        It may be put there again: that changes nothing.
        """
        path = f"{self._root}/issues/comments/{comment}"
        try:
            found = comment_of((await self._client.get(path)).json())
        except GitHubRefusedError as refused:
            if refused.status in GONE:
                return False
            raise
        except ValueError:
            raise RequestError(Outcome.bad_answer, "does not say what the comment is", where=path) from None
        about = None if found is None else about_of(self._ledger, found.body)
        if found is None or about is None or not await self.is_own(found):
            return False
        above = f"{marked(self._ledger, about)}\n\n**{note}**\n\n---\n\n"
        if not found.body.startswith(above):
            below = shortened(unmarked(found.body), MOST - len(above.encode("utf-8", "replace")), "the log")
            await self._client.send("PATCH", path, {"body": above + below})
        return True

    # -- issues ------------------------------------------------------------------------------------------

    async def issue(self, feature: str, title: str, is_checked: Callable[[int], bool]) -> int:
        """The issue of a feature; opened where there is none, or where it is gone.

        Args:
            feature: the feature's name.
            title: what a new issue is about, fit to be posted; empty for nothing of its own.
            is_checked: whether an issue is known to be there and open.

        Raises:
            RequestError: it could not be found or opened.
        """
        about = named(f"issue:{feature}")
        known = self._ledger.posted(about)
        if known is not None and (is_checked(known.issue) or await self._is_open(known.issue)):
            return known.issue
        intent = None if known is not None else self._ledger.intent(about)
        found = None if intent is None else await self._found_issue(about, intent)
        if found is not None:
            return found.issue
        text = _ISSUE_TEXT.format(about=title and f" about {escaped(title)}")
        written = {"title": f"Questions{title and f' about {title}'} that wait for a person"}
        written["body"] = body(self._ledger, about, text, "the log")
        told = await self._post(about, 0, f"{self._root}/issues", written)
        return (await asyncio.to_thread(self._noted, about, told["number"], 0, told)).issue

    async def _found_issue(self, about: str, intent: Intent) -> PostedItem | None:
        marker, login, since = marked(self._ledger, about), await self.login(), before(intent.after)
        asked = {"state": "all", "sort": "created", "direction": "desc"}
        asked |= {"creator": login} if login else {}
        async for page in self._pages(about, f"{self._root}/issues", asked):
            for told in page:
                text = told.get("body") if isinstance(told, dict) else None
                by = told.get("user") if isinstance(told, dict) else None
                by = by.get("login") if isinstance(by, dict) else None
                own = not login or (isinstance(by, str) and by.casefold() == login.casefold())
                if own and isinstance(text, str) and text.startswith(marker) and is_whole(told.get("number")):
                    return await asyncio.to_thread(self._noted, about, told["number"], 0, told)
            created = page[-1].get("created_at") if page and isinstance(page[-1], dict) else None
            if isinstance(created, str) and created < since:
                self._looked.pop(about, None)
                break  # all others are older than what was to be posted
        return None

    async def _is_open(self, issue: int) -> bool:
        """Whether an issue is there; opened again where it was closed."""
        path = f"{self._root}/issues/{issue}"
        try:
            told = (await self._client.get(path)).json()
        except GitHubRefusedError as refused:
            why = await self._about_issue(refused, issue)
            if isinstance(why, GoneError):
                return False
            raise why from None
        if isinstance(told, dict) and told.get("state") == "closed":
            await self._client.send("PATCH", path, {"state": "open"})
        return True

    async def _about_issue(self, refused: GitHubRefusedError, issue: int) -> RequestError:
        """What a refusal means: where the repository is there as ever, the issue is gone, and forgotten."""
        if refused.status not in GONE | MOVED:
            return refused
        try:
            await self._client.get(f"{self._root}/issues", {"per_page": "1"})
        except GitHubRefusedError:
            return refused  # the repository is not there either, for this token
        await asyncio.to_thread(self._ledger.is_gone, issue)
        what = "was transferred" if refused.status in MOVED else "was deleted"
        return GoneError(Outcome.unavailable, f"issue {issue} {what}", where=self._root)


def page_of(answer: httpx.Response) -> list[Any]:
    """A page of a list.

    Raises:
        RequestError: it is no list.
    """
    try:
        told = answer.json()
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, list):
        raise RequestError(
            Outcome.bad_answer, "the answer is no list", where=str(answer.url.copy_with(query=None))
        )
    return told


def before(time: str, seconds: int = _OVERLAP) -> str:
    """A little earlier than a time of GitHub's; empty for none."""
    try:
        earlier = datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) - timedelta(
            seconds=seconds
        )
    except (ValueError, OverflowError):
        return ""
    return earlier.strftime("%Y-%m-%dT%H:%M:%SZ")
