"""Topics and the patterns that rules name them by.

A topic is words in small letters with hyphens, its levels set apart by slashes: `security/oauth`. A pattern is a topic, a
topic and all below it (`security/*`, which `security` itself belongs to), or a glob: `*` is any text, `?` one character,
`[ab]` one of some.
"""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from itertools import product

__all__ = ["covers", "folded", "is_exact", "matches"]

_BELOW = "/*"
_WILD = re.compile(r"[*?\[]")
_ANYTHING = "\ue000" * 64
"""In place of what a `*` stands for: longer than anybody writes `?` in a row, and in nobody's topic."""
_MOST_STARS = 6


@lru_cache(4096)
def folded(topic: str) -> str:
    """A topic or pattern with case, spaces and underscores out of the way: `Data Model` is `data-model`."""
    levels = (re.sub(r"[\s_]+", "-", level.strip()) for level in topic.casefold().split("/"))
    return "/".join(level for level in levels if level)


@lru_cache(4096)
def is_exact(pattern: str) -> bool:
    """Whether a pattern is one topic."""
    return _WILD.search(pattern) is None


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic is one of a pattern's; both folded."""
    if is_exact(pattern):
        return pattern == topic
    if _above(pattern) == topic:
        return True
    return fnmatch.fnmatchcase(topic, pattern)


def covers(pattern: str, other: str) -> bool:
    """Whether every topic of the other pattern is one of this pattern's; False where that is not certain."""
    if pattern in {"*", other}:
        return True
    if is_exact(other):
        return matches(pattern, other)
    if "[" in pattern + other or other.count("*") > _MOST_STARS:
        return False
    above = _above(other)
    if above is not None and not matches(pattern, above):
        return False
    parts = other.replace("?", "\ue001").split("*")
    for fillings in product(("", _ANYTHING), repeat=len(parts) - 1):
        topic = parts[0] + "".join(filling + part for filling, part in zip(fillings, parts[1:], strict=True))
        if not matches(pattern, topic):
            return False
    return True


@lru_cache(4096)
def _above(pattern: str) -> str | None:
    """`security` for `security/*`: what the pattern means with all below it; None for other patterns."""
    above = pattern.removesuffix(_BELOW)
    return above if above != pattern and above and is_exact(above) else None
