"""Who may answer: asked of GitHub each time, since permission may have been taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from kr_core import Outcome, RequestError
from kr_plugins.escalations.github.client import GONE, GitHubRefusedError
from kr_plugins.escalations.github.settings import Permission

if TYPE_CHECKING:
    from kr_plugins.escalations.github.client import GitHubClient
    from kr_plugins.escalations.github.settings import GitHubSettings

__all__ = ["Permissions"]

_LEVELS = ("none", "read", *get_args(Permission))
"""In a public repository everybody may read, so nobody is asked for that alone."""
_ROLES = {"pull": "read", "push": "write"}


class Permissions:
    """Who may answer, as of one call; what GitHub has said of somebody counts until it ends.

    Args:
        client: GitHub.
        settings: who is named, and which permission is needed.
        own: the account of the token; it may answer only where it is named.
    """

    def __init__(self, client: GitHubClient, settings: GitHubSettings, own: str) -> None:
        self._client = client
        self._settings = settings
        self._own = own.casefold()
        named = [name.removeprefix("@").casefold() for name in settings.responders]
        self._logins = {name for name in named if "/" not in name}
        self._teams = [name for name in named if "/" in name]
        self._known: dict[str, str] = {}

    async def refusal(self, login: str) -> str:
        """Why somebody may not answer; empty if they may.

        Raises:
            RequestError: GitHub could not be asked.
        """
        key = login.casefold()
        if key not in self._known:
            self._known[key] = await self._asked(login)
        return self._known[key]

    async def _asked(self, login: str) -> str:
        key = login.casefold()
        if key in self._logins:
            return ""
        if key == self._own:
            return "KR's own comments come from this account; name it in `responders`, or give KR a token of another one"
        if self._logins or self._teams:
            return await self._of_teams(login)
        level = await self._level(login)
        needed = self._settings.minimum_permission
        if _LEVELS.index(level) >= _LEVELS.index(needed):
            return ""
        return f"it takes the permission `{needed}` in this repository, and this account has `{level}`"

    async def _of_teams(self, login: str) -> str:
        unknown = ""
        for team in self._teams:
            organisation, _, slug = team.partition("/")
            try:
                told = (
                    await self._client.get(f"/orgs/{organisation}/teams/{slug}/memberships/{login}")
                ).json()
            except GitHubRefusedError as refused:
                if refused.outcome == Outcome.limited or refused.status >= 500:
                    raise
                if refused.status not in GONE:  # who is in a team is no reason to hear nobody else
                    unknown = f"; KR's token may not see who is in `{team}`"
                continue
            except ValueError:
                raise RequestError(Outcome.bad_answer, f"does not say who is in {team}") from None
            if isinstance(told, dict) and told.get("state") == "active":
                return ""
        return f"only those may answer who are named in KR's configuration{unknown}"

    async def _level(self, login: str) -> str:
        path = f"/repos/{self._settings.repository}/collaborators/{login}/permission"
        try:
            told = (await self._client.get(path)).json()
        except GitHubRefusedError as refused:
            if refused.status in GONE:
                return "none"
            raise
        except ValueError:
            raise RequestError(
                Outcome.bad_answer, "does not say who has which permission", where=path
            ) from None
        if not isinstance(told, dict):
            return "none"
        # A role of an organisation's own has a name that nobody else knows: what it is made of stands beside it.
        for role in (told.get("role_name"), told.get("permission")):
            known = _ROLES.get(str(role), str(role))
            if known in _LEVELS:
                return known
        return "none"
