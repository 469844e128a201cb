"""Calls of GitHub: signed, taken once, and no more believed than what GitHub answers when it is asked.

Format: https://docs.github.com/en/webhooks/webhook-events-and-payloads#issue_comment.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from kr_core import Outcome, RequestError
from kr_plugins.escalations.github.comments import Comment, comment_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Deliveries", "verified"]

_MOST = 10_000


class Deliveries:
    """The calls that were taken; one that comes again tells nothing new."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, int] = OrderedDict()

    def has(self, headers: Mapping[str, str]) -> bool:
        """Whether a call was taken before."""
        return headers.get("x-github-delivery") in self._taken

    def take(self, headers: Mapping[str, str], comment: Comment) -> None:
        """Note that a call was taken, and the comment that it told of."""
        self._taken[headers.get("x-github-delivery") or f"comment {comment.id}"] = comment.id
        if len(self._taken) > _MOST:
            self._taken.popitem(last=False)

    def told_of(self, comment: Comment) -> bool:
        """Whether a call that was taken told of a comment, as it was then."""
        return comment.id in self._taken.values()


def verified(headers: Mapping[str, str], body: bytes, secret: str, repository: str) -> Comment | None:
    """The new comment that a call tells of; None where it tells of anything else.

    Raises:
        RequestError: it is not GitHub's (`blocked`), or cannot be understood (`bad_answer`).
    """
    if not secret:
        hint = "set `webhook_secret`, and the same secret at the webhook"
        raise RequestError(Outcome.blocked, "no secret is configured, so no call is taken", hint=hint)
    signed = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(
        signed.encode(), headers.get("x-hub-signature-256", "").encode("utf-8", "replace")
    ):
        hint = "see that the webhook has the same secret as `webhook_secret`"
        raise RequestError(Outcome.blocked, "the call is not signed with the secret", hint=hint)
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        hint = "set the webhook's content type to `application/json`"
        raise RequestError(Outcome.bad_answer, f"the call is `{kind[:60]}`, not JSON", hint=hint)
    if headers.get("x-github-event") != "issue_comment":
        return None
    told = _json(body)
    if told.get("action") != "created" or not _is_of(told, repository):
        return None
    return comment_of(told.get("comment"))


def _json(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise RequestError(Outcome.bad_answer, "the call is not a JSON object")
    return told


def _is_of(told: dict[str, Any], repository: str) -> bool:
    named = told.get("repository")
    full = named.get("full_name") if isinstance(named, dict) else None
    return isinstance(full, str) and full.lower() == repository.lower()
