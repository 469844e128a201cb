"""Comments as GitHub tells of them; what is not as it describes them is none."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kr_plugins.escalations.github.client import is_whole

__all__ = ["Comment", "comment_of", "place_of"]

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
