"""Comments as GitHub tells of them, and what KR writes to GitHub.

What is not as GitHub describes a comment is none. A text of KR's refers to nothing and nobody, is cut to what a comment holds, and
lies under a signed marker.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_plugins.escalations.github.client import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_plugins.escalations.github.outbox import Outbox

__all__ = [
    "MOST",
    "Comment",
    "about_of",
    "body",
    "comment_of",
    "escaped",
    "marked",
    "mentions",
    "name_of",
    "named",
    "place_of",
    "shortened",
    "still",
    "unmarked",
]

MOST = 65_536
"""Of a comment, in bytes of UTF-8: GitHub says characters, and not how it counts them."""
_END = 6_000
"""Bytes at the end of a long text that stay: how to answer stands there."""
_UNSEEN = "\N{ZERO WIDTH SPACE}"
_MARKER = re.compile(r"\A<!-- kr (\S{1,200}) ([0-9a-f]{32}) -->\n*")
_MARKER_LENGTH = 300
_PLAIN = re.compile(r"[A-Za-z0-9@:._-]{1,100}")

_ACCOUNT = re.compile(r"@?[A-Za-z0-9][A-Za-z0-9_-]{0,98}(?:/[A-Za-z0-9][\w.-]{0,98})?", re.ASCII)
_NUMBER = re.compile(r"(?<=#)(?=\d)|(?<=\bGH-)(?=\d)", re.IGNORECASE)
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])", re.IGNORECASE)
_SIX = re.compile(r"(.{6})(?=.)")
"""GitHub knows commits by seven digits or more."""
_REFERRING = re.compile(
    r"(?<=/)(issues|pull|pulls|discussions|commit|commits|compare)/(?=[\w.])", re.IGNORECASE
)
_ID = re.compile(rf"\b(E[0-9]{{1,9}})@{_UNSEEN}(?=[0-9])")
"""An id (`E7@2`) that was made harmless: it mentions nobody as it is, and people copy it."""
_MENTION = re.compile(rf"(\bE[0-9]{{1,9}}@(?=[0-9]))|@(?!{_UNSEEN})")
_LIVE = re.compile(r"(?<=[<&])|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE)
"""Where an element, the name of a character, or an address begins."""
_MARKDOWN = re.compile(r"[\\`*_~\[\]!<>|#()]")


def still(text: str) -> str:
    """A text in which nothing acts on GitHub: no `#1`, no `GH-1`, no commit, no address of an issue, and no mention.

    What is seen stays the same. Words that close issues (`fixes #1`) act only in front of a number, which is none then.
    """
    text = _NUMBER.sub(_UNSEEN, _ID.sub(r"\1@", text))
    text = _COMMIT.sub(lambda found: _SIX.sub(rf"\1{_UNSEEN}", found[0]), text)
    text = _REFERRING.sub(rf"\1/{_UNSEEN}", text)
    return _MENTION.sub(lambda found: found[1] or f"@{_UNSEEN}", text)


def name_of(text: str, most: int) -> str:
    """A name, of which at most so many characters are taken, in one line in which nothing acts; for titles."""
    line = " ".join(text.split())[:most]
    line = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in line)
    return _LIVE.sub(_UNSEEN, still(line))


def escaped(line: str) -> str:
    """A line of plain text as Markdown that shows it as it is."""
    return _MARKDOWN.sub(r"\\\g<0>", line)


def mentions(names: Iterable[str]) -> str:
    """People and teams who are told by name; names of another kind, such as addresses, are left out."""
    return " ".join(f"@{name.removeprefix('@')}" for name in names if _ACCOUNT.fullmatch(name))


def shortened(text: str, most: int, rest: str) -> str:
    """A text of at most so many bytes: of one that is longer the middle is left out, and it is said where the rest is."""
    if len(text.encode("utf-8", "replace")) <= most:
        return text
    note = f"\n\n[Shortened: {rest} has all of it.]\n\n"
    left = most - len(note.encode())
    lines = text.split("\n")
    last = _fitting(lines[::-1], min(_END, left // 2))
    end = lines[len(lines) - last :]
    left -= sum(map(_bytes, end))
    first = _fitting(lines, left)
    begin = lines[:first]
    left -= sum(map(_bytes, begin))
    cut = lines[first].encode("utf-8", "replace")[: max(left - 1, 0)].decode("utf-8", "ignore")
    return "\n".join([*begin, cut]).rstrip() + note + "\n".join(end)


def _fitting(lines: Sequence[str], most: int) -> int:
    """How many of the first lines have so many bytes at most."""
    for number, line in enumerate(lines):
        most -= _bytes(line)
        if most < 0:
            return number
    return len(lines)


def _bytes(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1


def named(about: str) -> str:
    """What something is about, as a marker and the ledger have it: one word."""
    return about if _PLAIN.fullmatch(about) else hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()


def marked(ledger: Outbox, name: str) -> str:
    """The first line of what KR posts: what it is about, signed, in a comment of HTML, which nobody sees."""
    return f"<!-- kr {name} {ledger.signature(name)} -->"


def about_of(ledger: Outbox, text: str) -> str | None:
    """What a body is about, by its marker; None where it has none that this project has signed."""
    found = _MARKER.match(text[:_MARKER_LENGTH])
    if found is None or not hmac.compare_digest(found[2], ledger.signature(found[1])):
        return None
    return found[1]


def unmarked(text: str) -> str:
    """A body without its marker."""
    return _MARKER.sub("", text, count=1)


def body(ledger: Outbox, name: str, text: str, rest: str) -> str:
    """A whole body; `text` is fit to be posted, `rest` is told where it is too long."""
    head = f"{marked(ledger, name)}\n\n"
    return head + shortened(text, MOST - len(head), rest)


_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98})(?:\[bot\])?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_ISSUE = re.compile(r"/issues/(?P<issue>[0-9]{1,18})\Z")
_PLACE = re.compile(
    r"/(?P<repository>[^/]+/[^/]+)/(?:issues|pull)/(?P<issue>[0-9]{1,18})#issuecomment-(?P<comment>[0-9]{1,18})\Z"
)


class Comment(NamedTuple):
    """A comment on an issue."""

    id: int
    issue: int
    login: str
    is_person: bool
    """Whether an account of a person wrote it; False for bots."""
    app: bool
    """Whether a program wrote it for somebody."""
    body: str
    created: str
    updated: str
    url: str

    @property
    def is_edited(self) -> bool:
        """Whether it may say something else than at first."""
        return self.created != self.updated


def comment_of(told: Any) -> Comment | None:
    """A comment of GitHub's JSON; None where it is none, or nobody's any more."""
    if not isinstance(told, dict):
        return None
    user = told.get("user")
    login = user.get("login") if isinstance(user, dict) else None
    at, url = told.get("issue_url"), told.get("html_url")
    issue = _ISSUE.search(at) if isinstance(at, str) else _PLACE.search(url) if isinstance(url, str) else None
    body, created, updated = told.get("body"), told.get("created_at"), told.get("updated_at")
    if (
        not is_whole(told.get("id"))
        or issue is None
        or not (isinstance(login, str) and _LOGIN.fullmatch(login))
        or not all(isinstance(time, str) and _TIME.fullmatch(time) for time in (created, updated))
    ):
        return None
    return Comment(
        told["id"],
        int(issue["issue"]),
        login,
        user.get("type") == "User" and not login.endswith("[bot]"),  # type: ignore[union-attr]  # it has a login
        told.get("performed_via_github_app") is not None,
        body if isinstance(body, str) else "",
        created,  # type: ignore[arg-type]  # all of them are texts
        updated,  # type: ignore[arg-type]  # as above
        url if isinstance(url, str) else "",
    )


def place_of(url: str, repository: str) -> tuple[int, int] | None:
    """The issue and comment at an address in this repository."""
    found = _PLACE.search(url)
    if found is None or found["repository"].lower() != repository.lower():
        return None
    return int(found["issue"]), int(found["comment"])
