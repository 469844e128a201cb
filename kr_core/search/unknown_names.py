"""Names that an index does not have: whether it says them anywhere, and which of its names are most like them."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from kr_core.search.passage_index import PassageIndex

_MOST_NEAREST = 3
_MOST_LIKE = 4_000
_MOST_COMPARED = 40
_MOST_SAYING = 60
_NEAR = 0.7
"""A name that is less like another is not near it."""
_PUBLIC = 4.0
"""The least standing of a public name."""


def is_said(index: PassageIndex, name: str, owner: str = "") -> bool:
    """Whether any passage spells a name as an identifier, as a member of its owner where that is given."""
    escaped = re.escape(name)
    if owner:
        spelled = re.compile(rf"\b{re.escape(owner)}\.{escaped}\b")
    elif name.isalpha() and name.islower():  # a plain word too
        spelled = re.compile(
            rf"[.`'\":]{escaped}\b|\b{escaped}\s?[(=:]|^(?>.*?\bimport\b).*\b{escaped}\b", re.MULTILINE
        )
    else:
        spelled = re.compile(rf"(?<!\w){escaped}(?!\w)")
    return any(
        spelled.search(text)
        for hit in index.saying(f"{owner} {name}", _MOST_SAYING)
        for text in (hit.passage.text, *hit.passage.code)
    )


def nearest_names(index: PassageIndex, name: str, beside: Collection[str] = ()) -> tuple[str, ...]:
    """The public names that are most like one, best first.

    Args:
        index: where.
        name: the name that is not there.
        beside: other names of the question; a member of one of them is nearer.
    """
    owner, _dot, last = name.removesuffix(")").replace("(", ".").rpartition(".")
    beside = {owner.rpartition(".")[2], *beside} - {"", name}
    words = index.like_words(last, _MOST_LIKE)
    wanted = Counter(_pairs(last.lower()))
    words.sort(key=lambda word: -(wanted & Counter(_pairs(word))).total() / (len(word) + len(last)))
    likeness = difflib.SequenceMatcher(b=last.lower())
    found: list[tuple[float, str]] = []
    for word in words[:_MOST_COMPARED]:
        likeness.set_seq1(word)
        ratio = likeness.ratio()
        entries = index.named(word) if ratio >= _NEAR else []
        if not entries:
            continue
        best = max(
            entries,
            key=lambda each: (bool(beside & set(each.name.split("."))), not each.parameter, each.standing),
        )
        if best.standing >= _PUBLIC:
            ratio += 0.3 * bool(beside & set(best.name.split(".")[1:])) - 0.05 * bool(best.parameter)
            found.append((ratio, f"{best.name}({best.parameter})" if best.parameter else best.name))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(dict.fromkeys(name for _near, name in found))[:_MOST_NEAREST]


def nearest_arguments(index: PassageIndex, owner: str, name: str, taken: Collection[str]) -> tuple[str, ...]:
    """What comes nearest to an argument that a callable does not take: its own that are spelled alike, and what takes it."""
    alike = difflib.get_close_matches(name, sorted(taken), n=1, cutoff=_NEAR)
    takers = sorted(
        (each for each in index.named(name) if each.parameter == name and each.standing >= _PUBLIC),
        key=lambda each: -each.standing,
    )
    found = [f"{owner}({one})" for one in alike] + [f"{each.name}({name})" for each in takers]
    return tuple(dict.fromkeys(found))[:_MOST_NEAREST]


def _pairs(word: str) -> list[str]:
    return [word[n : n + 2] for n in range(len(word) - 1)]
