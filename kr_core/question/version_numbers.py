"""Version numbers in a text: of a library, not of other things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_VERSION = re.compile(
    r"(?<![\w.@/-])(?:v(?:ersion)?\s?)?(\d{1,4}(?:\.(?:\d{1,4}|x)){1,2})(?![\w%]|\.\d)|(?<![\w.])[vV](?:ersion )?(\d{1,3})(?![\w.]\d|\w)"
    r"|\b(?:version|versions|release|from|to|since|before|after|upgrading to|migrat\w{1,6} (?:from|to)) (\d{1,2})(?![\w.%:]\w| ?%)(?=\s*(?:$|[?.,;!)]|to\b|and\b|or\b|in\b))",
)
_AMOUNT = re.compile(
    r"\s?(?:seconds?|secs?|s\b|ms\b|minutes?|hours?|days?|bytes?|[kKMG]i?B\b|times\b|rows|columns|items|values|%|px|percent)"
)
_NAMED_VERSION = re.compile(
    r"\b[A-Z]?[A-Za-z]{2,30}[ -](\d{1,2})(?=\s*(?:$|[?.,;!)]|to\b|and\b|or\b))(?!\.\d)"
)
_COUNTS = re.compile(
    r"(?i)\b(?:top|first|last|of|by|than|least|most|than|every|only|with|between|is|are|equals?|exactly|about|level|python|step|page|chapter|axis|size|length|code|status|http|utf|http/|for|after|retry|and|or|on|at|in|the|port|base|column|row|line|error|dimension)[ -]\d"
)

_LONGEST = 9
"""Digits of a number of a version."""


def versions_in(text: str) -> tuple[str, ...]:
    """The version numbers that a text names, each once, in order."""
    found: dict[str, int] = {}
    for match in _VERSION.finditer(text):
        if not _AMOUNT.match(text, match.end()):
            found.setdefault(match[1] or match[2] or match[3], match.start())
    for match in _NAMED_VERSION.finditer(text):
        if not _COUNTS.match(match[0]):
            found.setdefault(match[1], match.start())
    return tuple(sorted(found, key=found.__getitem__))


def is_same_version(asked: str, told: str) -> bool:
    """Whether two version numbers agree as far as both go: `5` and `5.2`, `2.0` and `2`."""
    ours, theirs = (one.lower().replace(".x", "").split(".") for one in (asked, told))
    shared = min(len(ours), len(theirs))
    return ours[:shared] == theirs[:shared]


def versions_between(versions: Sequence[str]) -> Callable[[str], bool]:
    """Whether a version lies after the first and up to the last of some; of one, whether it is that or belongs to it."""
    numbers = sorted(_numbers(version) for version in versions)

    def is_between(version: str) -> bool:
        told = _numbers(version)
        low, high = numbers[0], numbers[-1]
        if len(numbers) == 1:
            return told[: len(low)] == low
        return low < told and told[: len(low)] != low and told[: len(high)] <= high

    return is_between if numbers else lambda _version: True


def _numbers(version: str) -> list[int]:
    return [int(part[:_LONGEST]) for part in re.findall(r"\d+", version)]
