"""The two requests that Context7 is asked, and what its refusals mean.

The API: `docs/openapi.json` and `docs/api-guide.mdx` of https://github.com/upstash/context7. Failures are told by status
and by `{"error": code, "message": text}`; some come with status 200.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kr_core import Outcome, RequestError
from kr_core.toolkit import json_of, refusal
from kr_plugins.sources.context7.libraries import Library, library_of

if TYPE_CHECKING:
    import httpx

MAX_QUERY_LENGTH = 500
"""Characters; a longer one is refused."""
_MAX_LIBRARIES = 100
_MAX_MESSAGE_LENGTH = 200
_BY_CODE = {
    "library_not_finalized": Outcome.pending,
    "spending_limit_exceeded": Outcome.limited,
    "rate_limit_exceeded": Outcome.limited,
    "invalid_api_key": Outcome.blocked,
    "library_not_found": Outcome.empty,
    "no_snippets_found": Outcome.empty,
    "no_code_found": Outcome.empty,
    "tag_not_found": Outcome.empty,
    "library_too_large": Outcome.unavailable,
    "validation_error": Outcome.bad_answer,
    "invalid_library_id": Outcome.bad_answer,
}
_BY_STATUS = {
    202: Outcome.pending,
    400: Outcome.bad_answer,
    401: Outcome.blocked,
    402: Outcome.limited,
    403: Outcome.blocked,
    429: Outcome.limited,
}
_SAID = {
    202: "the library is still being prepared there",
    400: "it takes the request for invalid, which is a fault of KR's",
    401: "the key was refused: check `plugins.context7.api_key`",
    402: "the spending limit of the account is reached",
    403: "access to this library is denied",
    429: "too many requests",
}


class ServiceError(RequestError):
    """Context7 answered, but gave no documentation.

    Args:
        outcome: of which kind that is.
        what: what is wrong, for a person.
        where: the page of the library concerned.
        code: the service's own word for it; empty where it gave none.
        redirected_to: where the library has moved, as the service says it: a library id.
    """

    outcome: Outcome

    def __init__(
        self, outcome: Outcome, what: str, *, where: str = "", code: str = "", redirected_to: str = ""
    ) -> None:
        super().__init__(outcome, what, where=where)
        self.code = code
        self.redirected_to = redirected_to

    def at(self, where: str) -> ServiceError:
        """The same error, with the page of the library that it is about."""
        return ServiceError(
            self.outcome, self.what, where=where, code=self.code, redirected_to=self.redirected_to
        )


class Service:
    """One question to Context7.

    Args:
        http: sends the requests; it follows no redirect and repeats what failed in passing.
        base_url: where the API is, without a slash at its end.
        api_key: empty for none.
        question: what is asked; it also helps the service to find the library.
    """

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str, question: str) -> None:
        self._http = http
        self._base_url = base_url
        self._api_key = api_key
        self._question = sendable(question)

    async def libraries(self, name: str) -> list[Library]:
        """The libraries that the service takes a name for, best first by its own reckoning.

        Raises:
            ServiceError: it refused.
            RequestError: what came is no JSON.
            httpx.HTTPError: it could not be asked.
        """
        wanted = sendable(name)
        response = await self._get(
            "v2/libs/search", {"libraryName": wanted, "query": self._question or wanted}
        )
        body = await self._json(response)
        results = body.get("results")
        if not isinstance(results, list):
            raise self._error(response, body)
        found = [library for library in map(library_of, results[:_MAX_LIBRARIES]) if library is not None]
        if results and not found:
            raise ServiceError(Outcome.bad_answer, "no library of its list has an id")
        if not results and _told(body):
            raise self._error(response, body)
        return found

    async def context(self, place: str) -> dict[str, Any]:
        """What the documentation of a library says about the question: `codeSnippets` and `infoSnippets`.

        Args:
            place: a library id, with a tag or without.

        Raises:
            ServiceError: it refused.
            RequestError: what came is no JSON.
            httpx.HTTPError: it could not be asked.
        """
        response = await self._get(
            "v2/context", {"libraryId": place, "query": self._question or place, "type": "json"}
        )
        if not response.content.strip():
            raise ServiceError(Outcome.empty, f"Context7 has no documentation of {place}")
        body = await self._json(response)
        if not any(isinstance(body.get(kind), list) for kind in ("codeSnippets", "infoSnippets")):
            raise self._error(response, body)
        if _told(body) and not any(body.get(kind) for kind in ("codeSnippets", "infoSnippets")):
            raise self._error(response, body)
        dressed = _alone_in(body)
        outcome = refusal(dressed, self._question) if dressed else None
        if outcome is not None:
            raise ServiceError(outcome, self._told(dressed))
        return body

    async def _get(self, path: str, parameters: dict[str, str]) -> httpx.Response:
        headers = {"Accept": "application/json", "X-Context7-Source": "kr"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        response = await self._http.get(f"{self._base_url}/{path}", params=parameters, headers=headers)
        if response.status_code != 200:
            raise self._error(response, await self._told_with(response))
        return response

    async def _told_with(self, response: httpx.Response) -> dict[str, Any]:
        """The body of a refusal; empty where it is not of the service's form."""
        try:
            body = await asyncio.to_thread(json_of, response)
        except RequestError:
            return {}
        return body if isinstance(body, dict) else {}

    async def _json(self, response: httpx.Response) -> dict[str, Any]:
        """The body of an answer.

        Raises:
            ServiceError: it is a refusal in words.
            RequestError: it is neither that nor a JSON object.
        """
        try:
            body = await asyncio.to_thread(json_of, response)
        except RequestError:
            said = response.text.strip()
            outcome = refusal(said) if said else None
            if outcome is None:
                raise
            raise ServiceError(outcome, self._told(said)) from None
        if isinstance(body, str) and body.strip() and (outcome := refusal(body)):
            raise ServiceError(outcome, self._told(body))
        if not isinstance(body, dict):
            raise ServiceError(
                Outcome.bad_answer, f"its answer is a JSON {type(body).__name__}, not an object"
            )
        return body

    def _error(self, response: httpx.Response, body: dict[str, Any]) -> ServiceError:
        """What a refusal means, by its code, else by its status, else by its words."""
        status, code = response.status_code, _text(body.get("error"))
        message = self._told(_told(body))
        target = _text(body.get("redirectUrl")) if status == 301 or code == "library_redirected" else ""
        outcome = _BY_STATUS.get(status) or _BY_CODE.get(code)
        if outcome is None and message:
            said = refusal(message)
            # an error that something was not found is no list without it
            outcome = None if said is Outcome.empty and status != 200 else said
        if outcome is None:
            outcome = Outcome.bad_answer if status == 200 else Outcome.unavailable
        if status == 200:
            what = f"in place of an answer it says: {message}" if message else "its answer has no results"
        else:
            what = ": ".join(part for part in (_SAID.get(status, f"HTTP {status}"), message) if part)
        wait = _text(response.headers.get("retry-after"))
        if status == 429 and wait:
            what += f" (asks to wait {wait} s)" if wait.isdigit() else f" (asks to wait until {wait})"
        if 300 <= status < 400 or (status == 404 and not code):
            what += "; is `plugins.context7.base_url` right?"
        return ServiceError(outcome, what, code=code, redirected_to=target)

    def _told(self, message: str) -> str:
        """A message of the service, short and without the key, should it repeat it."""
        folded = " ".join(message.split())
        return (folded.replace(self._api_key, "[key]") if self._api_key else folded)[:_MAX_MESSAGE_LENGTH]


def _alone_in(body: dict[str, Any]) -> str:
    """The one text of an answer that comes from no page, as a refusal does that is dressed as documentation; else empty."""
    prose = body.get("infoSnippets")
    if body.get("codeSnippets") or not isinstance(prose, list) or len(prose) != 1:
        return ""
    only = prose[0] if isinstance(prose[0], dict) else {}
    return "" if only.get("pageId") else _text(only.get("content"))


def sendable(text: str, longest: int = MAX_QUERY_LENGTH) -> str:
    """A text as it may be sent: on one line, without lone surrogates, cut where the service would refuse it.

    It counts in UTF-16 units, as JavaScript does.
    """
    folded = " ".join(text[: 4 * longest].split()).encode("utf-8", "replace").decode()
    cut = folded.encode("utf-16-le")[: 2 * longest].decode("utf-16-le", "ignore")
    return cut if cut == folded else cut.rpartition(" ")[0] or cut


def _told(body: dict[str, Any]) -> str:
    """What a body says of a failure."""
    return _text(body.get("message")) or _text(body.get("error"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
