"""Users' words for things, and the words that documentation has for them.

The rules in `thesaurus.txt` are general programming vocabulary, written without sight of the held-out questions and tied to
no package. They widen a question; a passage found by them counts for less than one that says the user's own word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from kr_core.text import stem

_ARTICLES = frozenset(
    "a an the to of my our your it its them this that these those me i in on at for with and or be is are".split()
)
_WORD = re.compile(r"[a-z0-9]+(?:[.+/-][a-z0-9]+)*")
_GAP = 2
"""So many other words may stand inside a phrase: "leave the password out"."""


class Expansion(NamedTuple):
    """A rule that fits a question: its words there, and documentation's words, best first."""

    words: tuple[str, ...]
    others: tuple[str, ...]


def expand(question: str) -> list[Expansion]:
    """The rules whose words or phrases stand in a question, longer phrases first."""
    asked = [word for word in _WORD.findall(question.lower()) if word not in _ARTICLES]
    roots = [stem(word) for word in asked]
    heads = {word[:3] for word in (*asked, *roots)}
    found = []
    for phrase, others in _rules():
        if (
            phrase[0][:3] not in heads
        ):  # a stem keeps the first three letters; stemming every rule would take 50 ms
            continue
        place = _place([stem(word) for word in phrase], roots)
        if place is not None:
            found.append(Expansion(tuple(asked[number] for number in place), others))
    return sorted(found, key=lambda expansion: -len(expansion.words))


def _place(phrase: list[str], roots: list[str]) -> list[int] | None:
    """Where the stems of a phrase stand in order with small gaps; None where they do not."""
    for start, root in enumerate(roots):
        if root != phrase[0]:
            continue
        place = [start]
        for wanted in phrase[1:]:
            window = range(place[-1] + 1, min(len(roots), place[-1] + 2 + _GAP))
            following = next((number for number in window if roots[number] == wanted), None)
            if following is None:
                break
            place.append(following)
        if len(place) == len(phrase):
            return place
    return None


def near(word: str) -> dict[str, float]:
    """Words that stand near a word in a space of sentence embeddings, with their cosine (0.55-1)."""
    lines = _neighbours()
    place = bisect_left(lines, f"{word} ")
    if place == len(lines) or not lines[place].startswith(f"{word} "):
        return {}
    parts = lines[place].split(" ")[1:]
    return {other: int(cosine) / 100 for other, cosine in zip(parts[::2], parts[1::2], strict=True)}


@lru_cache(maxsize=1)
def _neighbours() -> list[str]:
    """The lines of the table, whose words are in order."""
    text = (files("kr_core.search") / "neighbours.txt").read_text("ascii")
    return [line for line in text.splitlines() if not line.startswith("#")]


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    text = (files("kr_core.search") / "thesaurus.txt").read_text("utf-8")
    rules = []
    for line in text.split("\n"):
        left, found, right = line.partition(" > ")
        if not found or line.startswith("#"):
            continue
        others = tuple(right.split(", "))
        for phrase in left.split(", "):
            words = tuple(word for word in phrase.split(" ") if word not in _ARTICLES)
            if words:
                rules.append((words, others))
    return tuple(rules)
