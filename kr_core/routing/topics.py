"""Topics and the patterns that rules name them by.

A topic is words in small letters with hyphens, its levels set apart by slashes: `security/oauth`. A pattern is a topic, a
topic and all below it (`security/*`, which `security` itself belongs to), or a glob: `*` is any text, `?` one character,
`[ab]` one of some.
"""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from functools import lru_cache

__all__ = ["above", "apart", "below", "folded", "is_exact", "matches"]

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
    """A topic and those that it lies below, the nearest first: `a/b`, `a`."""
    levels = topic.split("/")
    return ["/".join(levels[:count]) for count in range(len(levels), 0, -1)]


def apart(pattern: str, other: str) -> bool:
    """Whether no topic belongs to both patterns; False where that is not certain."""
    tops = [one if is_exact(one) else below(one) for one in (pattern, other)]
    first, second = tops
    return (
        first is not None and second is not None and first not in above(second) and second not in above(first)
    )


@lru_cache(4096)
def below(pattern: str) -> str | None:
    """`security` for `security/*`: what the pattern means with all below it; None for other patterns."""
    top = pattern.removesuffix(_BELOW)
    return top if top != pattern and top and is_exact(top) else None
