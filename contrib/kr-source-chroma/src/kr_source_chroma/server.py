"""A collection on a Chroma server, asked by its own API over HTTP (`/api/v2`, 0.6 and later)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome
from kr_source_chroma.records import records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import httpx

    from kr_core.plugin import SourceContext
    from kr_source_chroma.records import Record

__all__ = ["Server"]

_MOST = 200
_NAMED = 10
_INCLUDE = ["documents", "metadatas"]


class Server:
    """The collection.

    Args:
        url: where the server is.
        place: tenant, database and the collection's name.
        token: what the server wants to know, if anything.

    Raises:
        ConfigError: the address is none.
    """

    def __init__(self, url: str, place: tuple[str, str, str], token: str | None) -> None:
        tenant, database, self._name = place
        try:
            parts = urlsplit(url)
            right = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        except ValueError:
            right = False
        if not right:
            raise ConfigError("`url` is not an address of a server", hint="write it as http://127.0.0.1:8000")
        self._place = f"{parts.scheme}://{parts.netloc}"
        self._base = (
            f"{url.rstrip('/')}/api/v2/tenants/{quote(tenant, safe='')}/databases/{quote(database, safe='')}"
        )
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def length(self, context: SourceContext) -> int:
        """How many numbers its vectors have."""
        length = (await self._found(context)).get("dimension")
        return length if isinstance(length, int) else 0

    async def holding(self, words: Sequence[str], context: SourceContext) -> Sequence[Record]:
        """Documents that hold one of these words."""
        clauses = [{"$contains": word} for word in words]
        where = {"$or": clauses} if len(clauses) > 1 else clauses[0]
        body = {"where_document": where, "limit": _MOST, "include": _INCLUDE}
        return records(await self._asked("get", body, context), nested=False, where=self._place)

    async def nearest(self, vector: Sequence[float], most: int, context: SourceContext) -> Sequence[Record]:
        """The documents whose vectors lie nearest."""
        body = {"query_embeddings": [list(vector)], "n_results": most, "include": _INCLUDE}
        return records(await self._asked("query", body, context), nested=True, where=self._place)

    async def _asked(self, verb: str, body: Mapping[str, Any], context: SourceContext) -> object:
        name = (await self._found(context)).get("id")
        if not isinstance(name, str):
            raise RequestError(Outcome.bad_answer, "the collection has no id", where=self._place)
        path = f"/collections/{quote(name, safe='')}/{verb}"
        return self._read(await self._sent("POST", path, context, body))

    async def _found(self, context: SourceContext) -> Mapping[str, Any]:
        """The collection as the server describes it; looked up anew for each question, since it may be made anew."""
        answer = await self._sent("GET", f"/collections/{quote(self._name, safe='')}", context)
        if answer.status_code == HTTPStatus.NOT_FOUND:
            raise await self._absent(answer, context)
        described = self._read(answer)
        if not isinstance(described, dict):
            raise RequestError(Outcome.bad_answer, "the answer is none of ChromaDB's", where=self._place)
        return described

    async def _absent(self, answer: httpx.Response, context: SourceContext) -> RequestError:
        if _error(answer) != "NotFoundError":
            return RequestError(
                Outcome.unavailable,
                "no Chroma server of 0.6 or later",
                where=self._place,
                hint="see that `url` is right",
            )
        there = self._read(await self._sent("GET", f"/collections?limit={_NAMED}", context))
        names = (
            [one["name"] for one in there if isinstance(one, dict) and "name" in one]
            if isinstance(there, list)
            else []
        )
        said = f"there is no collection `{self._name}`"
        return RequestError(
            Outcome.unavailable,
            said,
            where=self._place,
            hint=f"there are: {', '.join(map(str, names)) or 'none'}",
        )

    async def _sent(
        self, verb: str, path: str, context: SourceContext, body: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """An answer, unless the server refuses or none comes."""
        answer = await context.http.request(verb, self._base + path, json=body, headers=self._headers)
        status = answer.status_code
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise RequestError(
                Outcome.blocked,
                f"answered {status}",
                where=self._place,
                hint="set `token: {env: NAME}`, or another one",
            )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RequestError(Outcome.limited, f"answered {status}", where=self._place)
        if status == HTTPStatus.GONE:
            raise RequestError(
                Outcome.unavailable,
                "no Chroma server of 0.6 or later",
                where=self._place,
                hint="bring it up to date",
            )
        if not answer.is_success and status != HTTPStatus.NOT_FOUND:
            raise RequestError(
                Outcome.unavailable, f"answered {status}: {_error(answer)}".rstrip(": "), where=self._place
            )
        return answer

    def _read(self, answer: httpx.Response) -> object:
        if not answer.is_success:
            raise RequestError(Outcome.unavailable, f"answered {answer.status_code}", where=self._place)
        try:
            read: object = answer.json()
        except ValueError:
            raise RequestError(Outcome.bad_answer, "the answer is no JSON", where=self._place) from None
        return read


def _error(answer: httpx.Response) -> str:
    """What a Chroma server calls an error; empty where it is none of its own."""
    try:
        said = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        return ""
    return said[:100] if isinstance(said, str) and said.isprintable() else ""
