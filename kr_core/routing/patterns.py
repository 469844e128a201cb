"""Patterns in the order of their rules, so that those for a topic are found without trying all of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kr_core.routing.glob_cover import covers
from kr_core.routing.topics import above, below, is_exact, matches

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Patterns"]


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
