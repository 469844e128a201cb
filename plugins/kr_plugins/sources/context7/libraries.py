"""Libraries as Context7 lists them, which of them a framework is, and what KR remembers of that: it halves the requests.

All projects of a user share what KR remembers, and what `redis` is in one of them another package is in the next: so KR
remembers it with the repository in which the installed one is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import fold_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import Cache

SITE = "https://context7.com"
_ID = re.compile(r"/[^/\s@?#]+/[^/\s@?#]+")
_PLACE = re.compile(rf"({_ID.pattern})(?:[/@][^/\s?#]+)?")
_TAG = re.compile(r"[^/\s?#]+")
_MAX_ID_LENGTH = 300
_MAX_VERSIONS = 500
_MOST = 1e12
_COLLECTED = frozenset({"websites", "llmstxt", "packages", "npm", "docs"})
"""First parts of ids that are no owners on GitHub."""
_BY_THE_MAKER = frozenset({"websites", "packages", "npm", "docs"})
_LOW_TRUST = 4
"""Below it the vendor calls a source's reputation low (context7-mcp, `getSourceReputationLabel`)."""
_UNREADABLE = frozenset({"error", "delete"})
_UNKNOWN = -1.0
KEPT_SECONDS = 30 * 86_400.0
_MAX_NAME_LENGTH = 300


class Library(NamedTuple):
    """One library of Context7's; what the service did not say is empty or -1."""

    id: str
    """`/owner/repository`, or `/websites/name` and the like; without a tag."""
    title: str = ""
    state: str = ""
    trust: float = _UNKNOWN
    """The reputation of where it comes from, 0-10."""
    stars: float = _UNKNOWN
    snippets: float = _UNKNOWN
    versions: tuple[str, ...] = ()
    """Tags that can be asked for by name."""
    moved_from: str | None = None
    """The id under which it was asked for before the service redirected."""

    @property
    def owner(self) -> str:
        """The first part of the id."""
        return self.id.split("/")[1]

    @property
    def name(self) -> str:
        """The second part of the id."""
        return self.id.split("/")[2]

    @property
    def official(self) -> bool:
        """Whether its documentation is plausibly the maker's own.

        A repository on GitHub, a website or a package is; a file of texts that anybody may have handed in (`/llmstxt/`)
        is not, nor a source whose reputation is known to be low, as copies of well-known libraries have.
        """
        by_the_maker = self.owner not in _COLLECTED or self.owner in _BY_THE_MAKER
        return by_the_maker and not 0 <= self.trust < _LOW_TRUST

    def location(self, tag: str = "") -> str:
        """What is asked for: the id, with a tag."""
        return f"{self.id}/{tag}" if tag else self.id

    def page(self, tag: str = "") -> str:
        """Where a person finds it."""
        return SITE + self.location(tag)

    def moved_to(self, target: str) -> Library | None:
        """The library under the id that the service redirects to; None where that is none."""
        found = _PLACE.fullmatch(target) if len(target) <= _MAX_ID_LENGTH else None
        return None if found is None else self._replace(id=found[1], moved_from=self.id)

    def kept(self) -> dict[str, Any]:
        """As plain data, in the form in which the service gives it."""
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "trustScore": self.trust,
            "stars": self.stars,
            "totalSnippets": self.snippets,
            "versions": list(self.versions),
        }


def library_of(value: Any) -> Library | None:
    """A library as the service gave it; None where it is none. Only the id must be there."""
    if not isinstance(value, dict):
        return None
    name = _text(value.get("id"))
    if len(name) > _MAX_ID_LENGTH or not _ID.fullmatch(name):
        return None
    versions = value.get("versions")
    tags = [_text(tag) for tag in versions[:_MAX_VERSIONS]] if isinstance(versions, list) else []
    return Library(
        name,
        " ".join(_text(value.get("title")).split())[:200],
        _text(value.get("state")),
        _number(value.get("trustScore")),
        _number(value.get("stars")),
        _number(value.get("totalSnippets")),
        tuple(tag for tag in tags if len(tag) <= 100 and _TAG.fullmatch(tag)),
    )


def choose(offered: Sequence[Library], framework: str, repository: str | None = None) -> Library | None:
    """The library that a framework is, or None where none of them is called so.

    Of several it is the one with the closest name; then one that can be read, then the one with the best reputation, the most
    stars, the most snippets; then the service's own order.

    Args:
        offered: what the service has found.
        framework: its name.
        repository: `owner/name` on GitHub in which it is made, where that is known.
    """
    called = [(closeness(library, framework, repository), library) for library in offered]
    named = [one for one in called if one[0] and one[1].state not in _UNREADABLE]
    if not named:
        return None

    def worth(one: tuple[int, Library]) -> tuple[float, ...]:
        close, library = one
        ready = library.state in {"", "finalized"}
        return (close, ready, library.trust, library.official, library.stars, library.snippets)

    return max(named, key=worth)[1]


def closeness(library: Library, framework: str, repository: str | None = None) -> int:
    """How surely a library is a framework: 2 it is called so, 1 likely, 0 it is another.

    `vue` is `Vue.js`; `vue-router` is not. Likely `NestJS` has what is to be said of its part `@nestjs/swagger`. The repository
    decides where it is known: `jinja2` is `/pallets/jinja`, and `redis`, made in `redis/redis-py`, is likely not `/redis/redis`.
    """
    close = _called(library, framework)
    if repository is None or library.owner in _COLLECTED:
        return close
    if library.id.lower() == f"/{repository}".lower():
        return 2
    # what is called by another name may be where the documentation is written: `/vuejs/docs`
    named = _bare(library.name) == _bare(re.split(r"[/:]", framework)[-1])
    return min(close, 1) if named else close


def _called(library: Library, framework: str) -> int:
    owner, repository = library.owner, library.name
    collected = owner in _COLLECTED
    names = {_bare(_without_docs(library.title)), "" if collected else _bare(repository)} - {""}
    *path, last = [part for part in re.split(r"[/:]", framework.removeprefix("@")) if part] or [""]
    if path and path[-1].lower() == "types" and framework.startswith("@types/"):
        path = []  # typings of the package that has the name
    if path and last[:1] == "v" and last[1:].isdigit():
        *path, last = path  # a major version of a Go module
    wanted = _bare(last)
    if not wanted:
        return 0
    if not path:
        return 2 if wanted in names else 0
    above = _bare(path[-1])
    same_owner = not collected and above == _bare(owner)
    if (same_owner and wanted in names) or _bare(f"{path[-1]} {last}") in names:
        return 2
    return 1 if framework.startswith("@") and above in names else 0


def _bare(name: str) -> str:
    """A name without case and separators, and without the `js` that some writers add."""
    folded = "".join(letter for letter in fold_name(name) if letter.isalnum())
    return folded.removesuffix("js") or folded


def _without_docs(title: str) -> str:
    return re.sub(r"(?i)(?<!\s)\s++(?:docs|documentation|api reference)$", "", title)


def _number(value: Any) -> float:
    """A number that can be compared; NaN, and what is none, is unknown."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST else _UNKNOWN


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


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
