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
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Patterns",
    "above",
    "apart",
    "below",
    "covers",
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

_MAX_STATES = 10_000
"""So many are looked at; beyond that it counts as not certain. Patterns that people write have some dozens."""
_ANY = "*?"
_ANYTHING = "\ue000" * 16
_LAST = 0x10FFFF


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
        """Those that every topic of a pattern is one of, in order; the pattern itself too, if it is there."""
        if is_exact(pattern):
            return self.matching(pattern)
        top = below(pattern)
        found = [number for number, glob in self._globs if covers(glob, pattern)]
        if top is not None:
            return sorted([*found, *self._under(top)])
        wide = [numbers for one, numbers in self._tops.items() if covers(f"{one}/*", pattern)]
        return sorted([*found, *(number for numbers in wide for number in numbers)])

    def _under(self, topic: str) -> list[int]:
        return [number for one in above(topic) for number in self._tops.get(one, ())]


def covers(pattern: str, other: str) -> bool:
    """Whether every topic of the other pattern is one of this pattern's; both folded. False where that is not certain.

    Patterns are read as small automata. Letters that no part of the patterns tells apart are tried once. Tried are all texts that
    a topic can be, and a few more: those without an empty level. So what is said to be covered is.
    """
    if pattern in {"*", other}:
        return True
    if is_exact(other):
        return matches(pattern, other)
    one = _one_of(other)  # it decides nearly always, and an automaton takes a hundred times as long
    return (one is None or matches(pattern, one)) and _within(_automaton(other), _automaton(pattern))


def nothing_fits(pattern: str) -> bool:
    """Whether a folded pattern has no topic at all, as `[z-a]`; False where that is not certain."""
    return "[" in pattern and _within(_automaton(pattern), _Automaton((), 0))


class _Automaton(NamedTuple):
    """A pattern read part by part; which parts are behind it is the state, one bit each."""

    parts: tuple[str, ...]
    """Each a letter, a `?`, a `*` or a set."""
    ends: int
    """The states at which it may end."""

    @property
    def stars(self) -> int:
        return sum(1 << number for number, part in enumerate(self.parts) if part == "*")

    def taking(self, letter: str) -> int:
        """The states from which the letter leads on to the next one."""
        return sum(
            1 << number for number, part in enumerate(self.parts) if part != "*" and _fits(part, letter)
        )


@lru_cache(4096)
def _automaton(pattern: str) -> _Automaton:
    parts = tuple(_parts(pattern))
    top = 0 if below(pattern) is None else 1 << len(parts) - 2  # `security` is one of `security/*`
    return _Automaton(parts, 1 << len(parts) | top)


def _parts(pattern: str) -> Iterator[str]:
    """The parts of a pattern, as `fnmatch` takes them: a set that is not closed is a bracket."""
    start = 0
    while start < len(pattern):
        end = start + 1
        if pattern[start] == "[":
            inside = end + pattern.startswith("!", end)
            end = pattern.find("]", inside + 1) + 1 or end
        yield pattern[start:end]
        start = end


def _fits(part: str, letter: str) -> bool:
    return part in _ANY or (part == letter if len(part) == 1 else matches(part, letter))


@lru_cache(4096)
def _one_of(pattern: str) -> str | None:
    """One of a pattern's topics; None where there is none, or it would take thought to find one."""
    letters = [letter for letter in _letters(pattern) if letter != "/"]
    found = [
        _ANYTHING
        if part == "*"
        else part
        if len(part) == 1 and part != "?"
        else next((letter for letter in letters if _fits(part, letter)), None)
        for part in _automaton(pattern).parts
    ]
    return None if None in found else "".join(map(str, found))


def _letters(*patterns: str) -> list[str]:
    """Letters of which each other one is like one of them: the first, and those at which a part of a pattern may begin or end."""
    written = {ord(letter) for letter in "".join(patterns) + "/"}
    return [chr(one) for one in sorted({0} | written | {one + 1 for one in written}) if one <= _LAST]


_Place = Literal["begin", "letter", "slash"]
"""What stands before; there is no slash at the beginning, at the end or behind another one."""


def _within(other: _Automaton, pattern: _Automaton) -> bool:
    """Whether every text that the one takes is taken by the other; False where that is not certain."""
    steps = dict.fromkeys(
        (letter == "/", other.taking(letter), pattern.taking(letter))
        for letter in _letters(*other.parts, *pattern.parts)
    )
    stars, of_pattern = other.stars, pattern.stars
    begin: tuple[_Place, int, int] = ("begin", _on(1, stars), _on(1, of_pattern))
    seen, left = {begin}, [begin]
    while left:
        place, here, there = left.pop()
        if place != "slash" and here & other.ends and not there & pattern.ends:
            return False
        for slash, taking, of_other in steps:
            if slash and place != "letter":
                continue
            state: tuple[_Place, int, int] = (
                "slash" if slash else "letter",
                _on((here & taking) << 1 | here & stars, stars),
                _on((there & of_other) << 1 | there & of_pattern, of_pattern),
            )
            if state[1] and state not in seen:
                if len(seen) >= _MAX_STATES:
                    return False
                seen.add(state)
                left.append(state)
    return True


def _on(states: int, stars: int) -> int:
    """The states with those behind stars, each of which may stand for nothing."""
    while (more := states | (states & stars) << 1) != states:
        states = more
    return states
