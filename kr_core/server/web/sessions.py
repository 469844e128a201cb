"""Who has signed in, and which form was really shown by this server: both told by cookies that nobody else can make."""

from __future__ import annotations

import hmac
import secrets
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Sessions"]

_SECONDS = 30 * 86_400
"""How long somebody stays signed in."""
_SEED_BYTES = 16


class Sessions:
    """Signs what browsers keep.

    Args:
        token: what people and programs must know; None asks for nothing.
        port: where the server listens; a machine's servers share its cookies, so it is part of their names.
        secure: whether people reach it by TLS.
    """

    def __init__(self, token: str | None, port: int, *, secure: bool) -> None:
        self._token = token
        self._secure = secure
        self._session, self._seed, self._name = f"kr_session_{port}", f"kr_form_{port}", f"kr_name_{port}"
        # of the token, so that who has signed in remains so when the server is started anew
        self._key = b"kr page " + (secrets.token_bytes(32) if token is None else token.encode())

    @property
    def asks(self) -> bool:
        """Whether a token is asked for."""
        return self._token is not None

    def knows(self, token: str) -> bool:
        """Whether this is the token."""
        return self._token is None or hmac.compare_digest(token.encode(), self._token.encode())

    # -- signed in ------------------------------------------------------------------------------------------

    def signed_in(self, request: Request) -> bool:
        """Whether a request may see and do things: it has the cookie, or `Authorization: Bearer`."""
        if self._token is None or self.knows_bearer(request):
            return True
        began, _, _ = request.cookies.get(self._session, "").partition(".")
        if not self._is_signed(request.cookies.get(self._session, ""), "session"):
            return False
        return began.isascii() and began.isdigit() and 0 <= time.time() - int(began) <= _SECONDS

    def knows_bearer(self, request: Request) -> bool:
        """Whether a request carries the token itself."""
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return self._token is not None and kind.casefold() == "bearer" and self.knows(given)

    def sign_in(self, response: Response) -> None:
        """Have the browser stay signed in."""
        value = self._signed(f"{int(time.time())}.{secrets.token_hex(_SEED_BYTES)}", "session")
        self._set(response, self._session, value, "strict")

    def sign_out(self, response: Response) -> None:
        """Have the browser forget it."""
        response.delete_cookie(self._session, httponly=True, samesite="strict", secure=self._secure)

    # -- forms ----------------------------------------------------------------------------------------------

    def seed(self, request: Request) -> tuple[str, bool]:
        """What a browser's forms are tied to, and whether it is new: then `keep_seed` belongs to the answer."""
        known = request.cookies.get(self._seed, "")
        if self._is_signed(known, "seed"):
            return known, False
        return self._signed(secrets.token_hex(_SEED_BYTES), "seed"), True

    def keep_seed(self, response: Response, seed: str) -> None:
        """Have the browser keep it."""
        self._set(response, self._seed, seed, "lax")  # also where a link of another site led here

    def form_token(self, request: Request, seed: str) -> str:
        """What a form of this browser carries."""
        return self._mac(f"{seed}|{request.cookies.get(self._session, '')}", "form")

    def is_ours(self, request: Request, given: str) -> bool:
        """Whether a form was shown by this server to this browser."""
        seed = request.cookies.get(self._seed, "")
        expected = self.form_token(request, seed)
        return self._is_signed(seed, "seed") and hmac.compare_digest(given.encode(), expected.encode())

    # -- names ----------------------------------------------------------------------------------------------

    def name(self, request: Request) -> str:
        """Who answers, as the browser remembers; not proven by anything."""
        try:
            return bytes.fromhex(request.cookies.get(self._name, "")).decode()
        except ValueError:
            return ""

    def keep_name(self, response: Response, name: str) -> None:
        """Have the browser remember who answers."""
        self._set(response, self._name, name.encode().hex(), "lax")

    # -- signatures -----------------------------------------------------------------------------------------

    def _set(self, response: Response, key: str, value: str, same_site: str) -> None:
        response.set_cookie(
            key, value, max_age=_SECONDS, httponly=True, secure=self._secure,
            samesite="strict" if same_site == "strict" else "lax",
        )  # fmt: skip

    def _signed(self, value: str, purpose: str) -> str:
        return f"{value}.{self._mac(value, purpose)}"

    def _is_signed(self, signed: str, purpose: str) -> bool:
        value, _, mac = signed.rpartition(".")
        return bool(value) and hmac.compare_digest(mac.encode(), self._mac(value, purpose).encode())

    def _mac(self, value: str, purpose: str) -> str:
        return hmac.new(self._key, f"{purpose}|{value}".encode(), "sha256").hexdigest()
