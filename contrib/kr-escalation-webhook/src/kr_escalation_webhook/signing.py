"""Signatures of calls, in both directions the same: Standard Webhooks 1.0, symmetric (`v1`).

Format: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md. What is signed with
HMAC-SHA256 is `ID.SECONDS.BODY`, the body byte for byte.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from kr_core import ConfigError, Outcome, RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WINDOW_SECONDS", "Signer"]

WINDOW_SECONDS = 300
"""How far the time of a call may be from ours, in both directions."""
_PREFIX = "whsec_"
_MIN_BYTES = 24
_SECONDS = re.compile(r"[0-9]{1,12}", re.ASCII)


class Signer:
    """Signs calls, and tells those that are signed.

    Args:
        secret: at least 24 bytes in Base64, with or without `whsec_` before them.

    Raises:
        ConfigError: it is none; the message does not show it.
    """

    def __init__(self, secret: str) -> None:
        try:
            self._key = base64.b64decode(secret.strip().removeprefix(_PREFIX), validate=True)
        except (binascii.Error, ValueError):  # with neither its cause nor its value, which are the secret
            self._key = b""
        if len(self._key) < _MIN_BYTES:
            raise ConfigError(
                f"`secret` is not Base64 of {_MIN_BYTES} bytes or more",
                hint="make one, such as with `openssl rand -base64 32`",
            )

    def headers(self, message: str, seconds: int, body: bytes) -> dict[str, str]:
        """The headers of a call.

        Args:
            message: its id, the same each time that it is sent; without a full stop.
            seconds: when it is sent, since 1970.
            body: as it is sent.
        """
        return {
            "webhook-id": message,
            "webhook-timestamp": str(seconds),
            "webhook-signature": self._signature(message.encode(), str(seconds), body),
        }

    def verify(self, headers: Mapping[str, str], body: bytes, now: float) -> None:
        """Let a call pass that is signed with the secret, and was signed lately.

        Args:
            headers: of the call; names in lower case.
            body: as it came in.
            now: seconds since 1970.

        Raises:
            RequestError: it is not (`blocked`).
        """
        message, seconds = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        if not message or not _SECONDS.fullmatch(seconds):
            raise RequestError(Outcome.blocked, "the call has no `webhook-id` or no `webhook-timestamp`")
        wanted = self._signature(message.encode("utf-8", "replace"), seconds, body).encode()
        given = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
        # All of them are compared, so that the time says nothing about any.
        if not sum(hmac.compare_digest(wanted, one) for one in given):
            raise RequestError(Outcome.blocked, "the call is not signed with the secret")
        if abs(now - int(seconds)) > WINDOW_SECONDS:
            hint = "sign it again each time it is sent, and see that both clocks are right"
            raise RequestError(
                Outcome.blocked, f"the call was signed more than {WINDOW_SECONDS} s ago, or ahead", hint=hint
            )

    def _signature(self, message: bytes, seconds: str, body: bytes) -> str:
        signed = b".".join((message, seconds.encode(), body))
        return f"v1,{base64.b64encode(hmac.digest(self._key, signed, hashlib.sha256)).decode()}"
