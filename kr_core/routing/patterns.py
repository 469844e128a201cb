"""Topics and the patterns that rules name them by: which topics a pattern matches, and whether one covers another.

A topic is words in small letters with hyphens, its levels set apart by slashes: `security/oauth`. A pattern is a topic, a
topic and all below it (`security/*`, which `security` itself belongs to), or a glob: `*` is any text, `?` one character,
`[ab]` one of some.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.model.routing import LONGEST_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Patterns",
    "above",
    "below",
    "folded",
    "is_exact",
    "matches",
    "nothing_fits",
]

_BELOW = "/*"
_WILD = re.compile(r"[*?\[]")
_BLANKS = re.compile(r"[\s_]+")
_SET = re.compile(r"\[[^\]]{0,500}+\]")
_STARS = re.compile(r"\*{2,}")


@lru_cache(4096)
def folded(topic: str) -> str:
    """A topic or pattern with case, spaces and underscores out of the way: `Data Model` is `data-model`."""
    plain = unicodedata.normalize("NFC", topic.casefold())
    plain = _SET.sub(_folded_set, plain)
    levels = (_BLANKS.sub("-", level.strip()) for level in plain.split("/"))
    return _STARS.sub("*", "/".join(level for level in levels if level))  # `security/**` is `security/*`


def _folded_set(found: re.Match[str]) -> str:
    """A set with its hyphen at the end: `[a_c]` is one of three characters, and `[a-c]` would be a range."""
    inner = _BLANKS.sub("", found[0][1:-1])
    return found[0] if inner == found[0][1:-1] else f"[{inner}-]"


@lru_cache(4096)
def is_exact(pattern: str) -> bool:
    """Whether a pattern is one topic."""
    return _WILD.search(pattern) is None


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic is one of a pattern's; both folded."""
    if is_exact(pattern):
        return pattern == topic
    if below(pattern) == topic:
        return True
    return fnmatch.fnmatchcase(topic, pattern)


def above(topic: str) -> list[str]:
    """A topic and those that it lies below, the nearest first: `a/b`, `a`; of those that no pattern is long enough for, none."""
    levels = topic.split("/")
    most = min(len(levels) - 1, LONGEST_PATTERN)
    return [topic, *("/".join(levels[:count]) for count in range(most, 0, -1))]


@lru_cache(4096)
def below(pattern: str) -> str | None:
    """`security` for `security/*`: what the pattern means with all below it; None for other patterns."""
    top = pattern.removesuffix(_BELOW)
    return top if top != pattern and top and is_exact(top) else None


class Patterns:
    """Patterns by their numbers, from 0 in the order in which they come.

    Args:
        patterns: folded.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._tops: dict[str, list[int]] = defaultdict(list)
        """Of `security/*`: by `security`."""
        self._globs: list[tuple[int, str]] = []
        for number, pattern in enumerate(patterns):
            self._add(number, pattern)

    def _add(self, number: int, pattern: str) -> None:
        top = below(pattern)
        if is_exact(pattern):
            self._exact[pattern].append(number)
        elif top is not None:
            self._tops[top].append(number)
        else:
            self._globs.append((number, pattern))

    def matching(self, topic: str) -> list[int]:
        """Those that a topic is one of, in order."""
        found = [number for number, glob in self._globs if matches(glob, topic)]
        return sorted([*self._exact.get(topic, ()), *self._under(topic), *found])

    def covering(self, pattern: str) -> list[int]:
        """Those that surely have every topic of a pattern, in order; the pattern itself too, if it is there.

        Of two globs that only holds where they are equal or the first is `*`.
        """
        if is_exact(pattern):
            return self.matching(pattern)
        level, slash, _ = _WILD.split(pattern, maxsplit=1)[0].rpartition("/")
        found = [number for number, glob in self._globs if glob in {"*", pattern}]
        return sorted([*found, *(self._under(level) if slash else ())])

    def _under(self, topic: str) -> list[int]:
        return [number for one in above(topic) for number in self._tops.get(one, ())]


def nothing_fits(pattern: str) -> bool:
    """Whether a folded pattern has a range without a letter, as `[z-a]`, and so no topic."""
    return "(?!)" in fnmatch.translate(pattern)  # as `fnmatch` writes what never matches
