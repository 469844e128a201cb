"""Vectors from a service that offers OpenAI's embeddings, as most services and local servers do.

The text of passages and questions goes to the service, without what looks like a secret. It is provided by the plugin
`openai_compatible`, which is an agent as well; a second entry with `use: openai_compatible` gives it settings of its own.

Format: https://platform.openai.com/docs/api-reference/embeddings.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core import Outcome, RequestError
from kr_core.toolkit import redacted
from kr_plugins.agents.http_api import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager

    import httpx

__all__ = ["Embeddings"]

_SECONDS = 60.0
"""A search waits so long for all of its vectors."""
_TOGETHER = 64
"""Texts of a request."""
_LONGEST = 8_000
"""Characters of a text that are sent: about what such models read at most where every fourth character ends a token."""


class _Asking(NamedTuple):
    http: httpx.AsyncClient


class Embeddings:
    """The embedder.

    Args:
        base_url: where the service is; `/embeddings` is added.
        model: the service's name of it.
        key: of the service; empty for none.
        http: opens a client for so many seconds.
    """

    def __init__(
        self, base_url: str, model: str, key: str, http: Callable[[float], AbstractAsyncContextManager[httpx.AsyncClient]]
    ) -> None:  # fmt: skip
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._key = key
        self._http = http
        self.identity = f"{model} {base_url}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts, in their order.

        Raises:
            RequestError: the service does not answer in time, refuses, or answers no vectors.
        """
        return _run(self._all(texts)) if texts else []

    async def _all(self, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        try:
            async with asyncio.timeout(_SECONDS), self._http(_SECONDS) as http:
                for start in range(0, len(texts), _TOGETHER):
                    vectors += await self._some(http, texts[start : start + _TOGETHER])
        except TimeoutError:
            raise RequestError(Outcome.timeout, "did not answer in time", where=self._url) from None
        return vectors

    async def _some(self, http: httpx.AsyncClient, texts: Sequence[str]) -> list[list[float]]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        sent = [redacted(text)[:_LONGEST].encode("utf-8", "replace").decode() for text in texts]
        body = {
            "model": self._model,
            "input": [text if text.strip() else "-" for text in sent],  # nothing is refused
            "encoding_format": "float",
        }
        told = await ask(_Asking(http), self._url, headers, body, secret=self._key)
        found = _vectors(told.get("data"))
        if found is None or len(found) != len(texts):
            raise RequestError(
                Outcome.bad_answer,
                f"the answer holds no vector for each of {len(texts)} texts",
                where=self._url,
            )
        return found


def _vectors(data: Any) -> list[list[float]] | None:
    """The vectors of an answer by their index; None where they are none."""
    if not isinstance(data, list):
        return None
    found: dict[int, list[float]] = {}
    for place, one in enumerate(data):
        vector = one.get("embedding") if isinstance(one, dict) else None
        number = one.get("index", place) if isinstance(one, dict) else None
        if not isinstance(number, int) or not isinstance(vector, list) or not vector:
            return None
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in vector):
            return None
        found[number] = vector
    return [found[number] for number in range(len(data))] if found.keys() == set(range(len(data))) else None


def _run(work: Coroutine[Any, Any, list[list[float]]]) -> list[list[float]]:
    """To its end, in a thread of its own: whoever asks may have an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
