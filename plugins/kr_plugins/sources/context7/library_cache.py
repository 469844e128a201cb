"""Which library a framework was, remembered from one question to the next: it halves the requests.

All projects of a user share what is remembered, and what `redis` is in one of them another package is in the next: so it
is remembered with the repository in which the installed one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.toolkit import fold_name
from kr_plugins.sources.context7.libraries import library_of

if TYPE_CHECKING:
    from kr_core.plugin import Cache
    from kr_plugins.sources.context7.libraries import Library

KEPT_SECONDS = 30 * 86_400.0
_MAX_NAME_LENGTH = 300


class CachedLibrary:
    """The library of one framework at one service.

    Args:
        cache: where it is remembered.
        base_url: the service.
        framework: its name.
        repository: `owner/name` on GitHub in which it is made, where that is known.
    """

    def __init__(self, cache: Cache, base_url: str, framework: str, repository: str | None) -> None:
        self._cache = cache
        name = fold_name(framework[:_MAX_NAME_LENGTH]).encode("utf-8", "replace").decode()
        self._key = f"library {base_url} {name} {(repository or '').lower()}"

    async def library(self) -> Library | None:
        """What it was; None where nobody knows any more."""
        return library_of(await self._cache.get(self._key))

    async def keep(self, library: Library) -> None:
        """Remember it for 30 days, in place of what was remembered before."""
        await self._cache.set(self._key, library.kept(), KEPT_SECONDS)

    async def forget(self) -> None:
        """Remember it no longer."""
        await self._cache.set(self._key, None, 1.0)
