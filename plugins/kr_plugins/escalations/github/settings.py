"""The settings of the way to a human over GitHub."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from kr_core import Settings

__all__ = ["GitHubSettings", "Permission"]

Permission = Literal["triage", "write", "maintain", "admin"]
_NAME = r"[A-Za-z0-9][\w.-]*"


class GitHubSettings(Settings):
    """Settings of the way to a human, `plugins.github` in `kr.yaml`."""

    repository: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*/[\w.-]+$")]
    """The repository for the questions: `owner/name`."""
    token: str | None = None
    """The token of the account that comments, as `{env: GITHUB_TOKEN}`. It must be able to read and write issues."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(?:/[^\s?#]*)?$")] = "https://api.github.com"
    """The address of the REST API; for a GitHub Enterprise Server `https://HOST/api/v3`. Plain http works only on
    this machine.
    """
    responders: tuple[Annotated[str, Field(pattern=rf"^@?{_NAME}(?:/{_NAME})?$")], ...] = ()
    """Who may answer: logins, and teams as `org/team`. If you name any, no one else may answer, and they need no
    permission.
    """
    minimum_permission: Permission = "write"
    """If `responders` is empty, everyone with at least this permission in the repository may answer."""
    webhook_secret: str | None = None
    """The secret of a webhook to `kr serve`, as `{env: KR_WEBHOOK_SECRET}`; without it KR accepts no calls."""

    @field_validator("base_url")
    @classmethod
    def _is_encrypted(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme == "http" and not _is_here(parts.hostname or ""):
            raise ValueError("the token would be sent without encryption; write `https://`")
        return url


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
