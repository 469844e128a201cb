"""Names that a question says in everyday words: "set the indent of a yaml dump" is about `yaml.dump(indent=...)`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from kr_core.text import content_words, split_identifier, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kr_core.question.parsed_question import ParsedQuestion

__all__ = ["named_elsewhere", "says_parameter", "telling_stems"]

_OF_KIND = frozenset(
    stem(word)
    for word in """default value option difference mean meaning example happen argument parameter function method class module set use
    purpose change work give pass new call write code way""".split()
)
"""Words that say what kind of answer is asked for, or what any how-to says."""
_VERB = re.compile(
    r"\W*how (?:do|does|can|could|should|would|to)\b(?: (?:i|you|we|one))?(?: \w+ly)? (\w+)", re.IGNORECASE
)
"""How a how-to begins, with its verb."""
_MOST_LEFT = 2
"""Telling words that may be about something else, if they are no more than half."""
_JOINED = 2_000
"""Characters of a question in which two words may be one name: `skiprows` for "skip rows"."""


def telling_stems(parsed: ParsedQuestion, library: str) -> set[str]:
    """The stems of a question's telling words, without the library's name and those that any question of its kind has."""
    return (
        {stem(word) for word in content_words(parsed.asking)}
        - {stem(word) for word in words(library)}
        - _OF_KIND
    )


def named_elsewhere(names: Iterable[str], told: str) -> set[str]:
    """The stems that the last parts of some names say and a text does not: `read_csv` is another place for the words of a CSV."""
    return {part for name in names for part in _parts(name.rpartition(".")[2])} - set(map(stem, words(told)))


def says_parameter(
    parsed: ParsedQuestion,
    library: str,
    parameter: str,
    takers: Iterable[str],
    elsewhere: Collection[str] = frozenset(),
) -> bool:
    """Whether a how-to says a parameter and a callable that takes it, each in full, and for the most part nothing else.

    Args:
        parsed: the question.
        library: its name, which says nothing of the callable.
        parameter: its name.
        takers: the names of the callable, and of others that take the same parameter.
        elsewhere: stems that speak for another callable, from `named_elsewhere`.
    """
    if parsed.kind != "how_to":
        return False
    said = {stem(word) for word in words(parsed.asking)} | _joined(parsed.asking)
    named = _parts(parameter)
    taking = [parts for name in takers if (parts := _parts(name.rpartition(".")[2])) and parts <= said]
    verb = _VERB.match(parsed.asking)
    if verb is not None and named == {stem(verb[1].lower())}:  # "how do I check" does not speak of a `check`
        said = {stem(word) for word in words(parsed.asking[verb.end() :])}
    if not taking or not named or not named <= said:
        return False
    telling = telling_stems(parsed, library)
    left = telling.difference(named, *taking)
    return left.isdisjoint(elsewhere) and len(left) <= min(_MOST_LEFT, len(telling) / 2)


def _joined(asking: str) -> set[str]:
    return {stem(f"{one}{other}") for one, other in pairwise(words(asking[:_JOINED]))}


def _parts(name: str) -> set[str]:
    return {stem(part) for part in split_identifier(name)}
