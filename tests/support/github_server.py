"""A GitHub on loopback that remembers: issues, comments, permissions, ETags, pages, limits, and faults when a test wants them.

    with github_server() as github:
        github.permissions["ann"] = "write"
        github.repository_of("ann").get_issue(1).create_comment("...")      # PyGithub, as a person uses it

Its formats are checked by Prism against GitHub's own description (`tests/support/github_prism.py`). Its clock is its own: it goes a
second further with each change, and a test can set it.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import warnings
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import NamedTuple

import httpx

from support.loopback import Answer, Asked, Server

OWNER, NAME = "acme", "shop"
REPOSITORY = f"{OWNER}/{NAME}"
BOT = "kr-bot"
TOKEN = "ghp_kr0123456789abcdefghijklmnopqrstuvwxyz"  # as a token looks: it must be found nowhere


class Fault(NamedTuple):
    """What happens to a request in place of what should."""

    kind: str
    """`status`: refused; `lost`: done, and then the connection ends; `unseen`: the connection ends, and nothing is done."""
    status: int = 500
    headers: dict = {}  # noqa: RUF012  never changed
    message: str = "fault"
    done: bool = False
    """Whether what was asked was done before it is refused."""


SECONDARY = Fault(
    "status",
    403,
    {},
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
)
LOST = Fault("lost")
UNSEEN = Fault("unseen")
BROKEN = Fault("status", 500)
BROKEN_AFTER = Fault("status", 502, done=True)
_FLAGS = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
_LEVELS = ["none", "read", "triage", "write", "maintain", "admin"]


class GitHubServer(Server):
    """See the module."""

    def __init__(self):
        self.lock = threading.RLock()
        self.now = datetime(2026, 2, 5, 12, 0, 0, tzinfo=UTC)
        self.issues = {}
        self.pulls = {}
        """The branch of each issue that is an open pull request, by its number."""
        self.comments = {}
        self.tokens = {TOKEN: BOT}
        """Logins by token; a token that is not there is refused."""
        self.permissions = {}
        """By login: `read`, `triage`, ...; others have none."""
        self.teams = {}
        """Members by `org/team`."""
        self.gone = {}
        """Issues that are not there: status by number."""
        self.locked = set()
        self.limited = False
        """Whether answers tell of limits, as GitHub's do."""
        self.faults = []
        """What happens to the next requests, one after the other; None for nothing."""
        self.fault_of = None
        """Instead: a function of the request, which says what happens to it."""
        self.public = None
        """The address that URLs in answers have, where it is not its own."""
        self._ids = 900
        super().__init__(self._say)

    # -- for tests ---------------------------------------------------------------------------------------

    def repository_of(self, login):
        """The repository, as a person has it before them with PyGithub."""
        import github

        token = f"token-of-{login}"
        self.tokens[token] = login
        client = github.Github(
            auth=github.Auth.Token(token), base_url=self._api, retry=None, seconds_between_writes=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # the way without a request is to be another one
            return client.get_repo(REPOSITORY, lazy=True)

    def write(self, login, issue, body, **more):
        """A comment, as a person writes it."""
        with self.lock:
            return self._comment(issue, body, login, **more)

    def edit(self, comment, body):
        """A comment that is changed later."""
        with self.lock:
            self.comments[comment].update(body=body, updated_at=self._tick())

    def of_kr(self, issue=None):
        """The comments that KR has written, in order."""
        with self.lock:
            return [
                one
                for one in self.comments.values()
                if one["user"]["login"] == BOT and issue in (None, self._issue_of(one))
            ]

    def case(self, name):
        """The comments that show a case, such as `E1@1`."""
        return [one for one in self.of_kr() if re.match(rf"<!-- kr {re.escape(name)} ", one["body"])]

    def requests(self, method=None, path=""):
        """What was asked, of this kind."""
        return [one for one in self.asked if method in (None, one.method) and re.search(path, one.path)]

    def delete_issue(self, number, status=410):
        """An issue and all that stands in it."""
        with self.lock:
            self.gone[number] = status
            self.comments = {key: one for key, one in self.comments.items() if self._issue_of(one) != number}

    def respond(self, request):
        """The same without a connection, for a client of httpx."""
        query = {name: [value] for name, value in request.url.params.items()}
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.method, request.url.path, query, headers, request.read(), ("", 0))
        self.asked.append(asked)
        answer = self._say(asked)
        if answer.reset:
            raise httpx.RemoteProtocolError(
                "Server disconnected without sending a response.", request=request
            )
        content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        return httpx.Response(answer.status, headers=answer.headers, content=content)

    # -- answers -----------------------------------------------------------------------------------------

    def _say(self, asked):
        with self.lock:
            fault = self._fault(asked)
            if fault is None:
                return self._headed(self._done(asked))
            if fault.kind == "lost" or fault.done:
                self._done(asked)
        if fault.kind in ("lost", "unseen"):
            return Answer(reset=True)
        return self._headed(Answer(fault.status, {"message": fault.message}, dict(fault.headers)))

    def _fault(self, asked):
        if self.fault_of is not None:
            return self.fault_of(asked)
        return self.faults.pop(0) if self.faults else None

    def _headed(self, answer):
        headers = {"Date": format_datetime(self.now, usegmt=True), **answer.headers}
        if self.limited:
            headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999", **headers}
        return answer._replace(headers=headers)

    def _done(self, asked):
        who = self.tokens.get(asked.headers.get("authorization", "").partition(" ")[2])
        if who is None:
            return _refused(401, "Bad credentials")
        if asked.headers.get("user-agent", "") == "":
            return _refused(
                403,
                "Request forbidden by administrative rules. Please make sure your request has a User-Agent header",
            )
        for method, pattern, name in _ROUTES:
            found = re.fullmatch(pattern, asked.path)
            if found and method == asked.method:
                told = json.loads(asked.body) if asked.body else {}
                query = {key: values[0] for key, values in asked.query.items()}
                return getattr(self, name)(who, query, told, asked, *found.groups())
        return _refused(404, "Not Found")

    def _user(self, who, _query, _told, _asked):
        return Answer(200, {**self._person(who), "created_at": _DAY, "updated_at": _DAY, **_COUNTS})

    def _list_issues(self, _who, query, _told, _asked):
        found = [one for one in self.issues.values() if one["number"] not in self.gone]
        if query.get("creator"):
            found = [one for one in found if one["user"]["login"] == query["creator"]]
        if query.get("state", "open") != "all":
            found = [one for one in found if one["state"] == query.get("state", "open")]
        return self._paged(sorted(found, key=lambda one: -one["number"]), query, _asked)

    def _open_issue(self, who, _query, told, _asked):
        if not isinstance(told.get("title"), str):
            return _refused(422, "Validation Failed")
        number = len(self.issues) + 1
        now = self._tick()
        self.issues[number] = {
            "id": 5000 + number, "node_id": f"I_{number}", "number": number, "title": told["title"],
            "body": told.get("body"), "state": "open", "user": self._person(who), "labels": [], "assignee": None,
            "milestone": None, "locked": False, "comments": 0, "closed_at": None, "created_at": now, "updated_at": now,
            "url": f"{self._root}/issues/{number}", "repository_url": self._root,
            "labels_url": f"{self._root}/issues/{number}/labels{{/name}}",
            "comments_url": f"{self._root}/issues/{number}/comments", "events_url": f"{self._root}/issues/{number}/events",
            "html_url": f"https://github.com/{REPOSITORY}/issues/{number}", "author_association": "MEMBER",
        }  # fmt: skip
        return Answer(201, self.issues[number])

    def _list_pulls(self, _who, query, _told, asked):
        wanted = query.get("head", "").rpartition(":")[2]
        found = [
            {
                "number": number,
                "state": "open",
                "head": {"ref": branch, "label": f"{OWNER}:{branch}"},
                "title": "A pull request",
            }
            for number, branch in self.pulls.items()
            if wanted in ("", branch)
        ]
        return self._paged(found, query, asked)

    def _get_issue(self, _who, _query, _told, _asked, number):
        return self._missing(int(number)) or Answer(200, self.issues[int(number)])

    def _change_issue(self, _who, _query, told, _asked, number):
        missing = self._missing(int(number))
        if missing:
            return missing
        self.issues[int(number)].update(told, updated_at=self._tick())
        return Answer(200, self.issues[int(number)])

    def _post_comment(self, who, _query, told, _asked, number):
        number = int(number)
        missing = self._missing(number)
        if missing:
            return missing
        if number in self.locked:
            return _refused(403, "Unable to create comment because issue is locked.")
        body = told.get("body")
        if not isinstance(body, str) or not body.strip():
            return _refused(422, "Validation Failed")
        if len(body) > 65_536:
            return _refused(422, "Validation Failed: body is too long (maximum is 65536 characters)")
        return Answer(201, self._comment(number, body, who))

    def _list_comments(self, _who, query, _told, asked, number):
        number = int(number)
        missing = self._missing(number)
        if missing:
            return missing
        found = [one for one in self.comments.values() if self._issue_of(one) == number]
        return self._listed(sorted(found, key=lambda one: one["id"]), query, asked)

    def _list_all_comments(self, _who, query, _told, asked):
        key = "updated_at" if query.get("sort") == "updated" else "created_at"
        found = sorted(self.comments.values(), key=lambda one: (one[key], one["id"]))
        return self._listed(found[::-1] if query.get("direction") == "desc" else found, query, asked)

    def _listed(self, found, query, asked):
        since = query.get("since", "")
        return self._paged([one for one in found if one["updated_at"] >= since], query, asked)

    def _get_comment(self, _who, _query, _told, _asked, number):
        one = self.comments.get(int(number))
        return _refused(404, "Not Found") if one is None else Answer(200, one)

    def _change_comment(self, who, _query, told, _asked, number):
        one = self.comments.get(int(number))
        if one is None:
            return _refused(404, "Not Found")
        if one["user"]["login"] != who:
            return _refused(403, "Must have admin rights to Repository.")
        if len(told["body"]) > 65_536:
            return _refused(422, "Validation Failed")
        one.update(body=told["body"], updated_at=self._tick())
        return Answer(200, one)

    def _delete_comment(self, _who, _query, _told, _asked, number):
        return _refused(404, "Not Found") if self.comments.pop(int(number), None) is None else Answer(204)

    def _permission(self, _who, _query, _told, _asked, login):
        role = self.permissions.get(login, "none")
        plain = role if role in _LEVELS else "write"  # a role of the organisation's own
        legacy = {"triage": "read", "maintain": "write"}.get(plain, plain)
        may = {name: _LEVELS.index(plain) >= _LEVELS.index(level) for name, level in _FLAGS.items()}
        user = {**self._person(login), "permissions": may, "role_name": role}
        return Answer(200, {"permission": legacy, "role_name": role, "user": user})

    def _membership(self, _who, _query, _told, _asked, organisation, team, login):
        if login.lower() not in self.teams.get(f"{organisation}/{team}", ()):
            return _refused(404, "Not Found")
        url = f"{self._api}/organizations/1/team/1/memberships/{login}"
        return Answer(200, {"url": url, "role": "member", "state": "active"})

    # -- parts -------------------------------------------------------------------------------------------

    @property
    def _api(self):
        return self.public or self.url

    @property
    def _root(self):
        return f"{self._api}/repos/{REPOSITORY}"

    def _missing(self, number):
        status = self.gone.get(number, 200 if number in self.issues else 404)
        if status == 200:
            return None
        headers = {"Location": f"{self._api}/repositories/2/issues/1"} if status == 301 else {}
        return Answer(status, {"message": "gone", "documentation_url": "https://docs.github.com"}, headers)

    def _comment(self, issue, body, login, **more):
        self._ids += 1
        now = self._tick()
        one = {
            "id": self._ids, "node_id": f"IC_{self._ids}", "url": f"{self._root}/issues/comments/{self._ids}",
            "html_url": f"https://github.com/{REPOSITORY}/issues/{issue}#issuecomment-{self._ids}",
            "issue_url": f"{self._root}/issues/{issue}", "body": body, "user": self._person(login),
            "created_at": now, "updated_at": now, "author_association": "MEMBER", "performed_via_github_app": None,
            **more,
        }  # fmt: skip
        self.comments[self._ids] = one
        return dict(one)

    @staticmethod
    def _issue_of(comment):
        return int(comment["issue_url"].rpartition("/")[2])

    def _person(self, login):
        root = f"{self._api}/users/{login}"
        links = {name: f"{root}/{name}" for name in _LINKS}
        return {
            "login": login, "id": 1 + sum(map(ord, login)), "node_id": f"U_{login}", "url": root, "gravatar_id": "",
            "avatar_url": f"https://avatars.example/{login}", "html_url": f"https://github.com/{login}",
            "type": "Bot" if login.endswith("[bot]") else "User", "site_admin": False,
            **{f"{name}_url": url for name, url in links.items()},
        }  # fmt: skip

    def _tick(self):
        self.now += timedelta(seconds=1)
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _paged(self, found, query, asked):
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        part = found[(page - 1) * size : page * size]
        etag = f'W/"{hashlib.sha256(json.dumps(part).encode()).hexdigest()[:32]}"'
        headers = {"ETag": etag}
        if asked.headers.get("if-none-match") == etag:
            return Answer(304, b"", headers)
        if page * size < len(found):
            more = "&".join(f"{key}={value}" for key, value in query.items() if key != "page")
            headers["Link"] = f'<{self._api}{asked.path}?{more}&page={page + 1}>; rel="next"'
        return Answer(200, part, headers)


_DAY = "2020-01-01T00:00:00Z"
_COUNTS = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0) | {
    "name": None, "company": None, "blog": None, "location": None, "email": None, "hireable": None, "bio": None,
}  # fmt: skip
_LINKS = (
    "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events", "received_events",
)  # fmt: skip
_REPO = f"/repos/{REPOSITORY}"
_ROUTES = (
    ("GET", "/user", "_user"),
    ("GET", f"{_REPO}/issues", "_list_issues"),
    ("POST", f"{_REPO}/issues", "_open_issue"),
    ("GET", f"{_REPO}/issues/comments", "_list_all_comments"),
    ("GET", rf"{_REPO}/issues/comments/(\d+)", "_get_comment"),
    ("PATCH", rf"{_REPO}/issues/comments/(\d+)", "_change_comment"),
    ("DELETE", rf"{_REPO}/issues/comments/(\d+)", "_delete_comment"),
    ("GET", f"{_REPO}/pulls", "_list_pulls"),
    ("GET", rf"{_REPO}/issues/(\d+)", "_get_issue"),
    ("PATCH", rf"{_REPO}/issues/(\d+)", "_change_issue"),
    ("GET", rf"{_REPO}/issues/(\d+)/comments", "_list_comments"),
    ("POST", rf"{_REPO}/issues/(\d+)/comments", "_post_comment"),
    ("GET", rf"{_REPO}/collaborators/([^/]+)/permission", "_permission"),
    ("GET", "/orgs/([^/]+)/teams/([^/]+)/memberships/([^/]+)", "_membership"),
)


def _refused(status, message):
    return Answer(status, {"message": message, "documentation_url": "https://docs.github.com/rest"})


@contextmanager
def github_server():
    """A GitHub for the time of a test."""
    server = GitHubServer()
    try:
        yield server
    finally:
        server.close()
