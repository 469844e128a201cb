"""Whether a statement is of the kind that a question asks for: what is not so, advice, what holds in one place."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kr_core.question.analysis import asks_advice, asks_denied, asks_mended, denied_in, scope_of
from kr_core.text import root_of, words

__all__ = ["Fit", "denies", "fit_of"]

_DENIES = re.compile(
    r"\b(?:not|no|never|none|neither|cannot|without|only|except|unable|prohibited|disallow\w*|forbidden|skipped)\b|n['’]t\b|\b(?:un|non-?)(?:supported|safe|available)\b|\bin an error\b",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"\b(?:recommend\w*|prefer\w*|should|must|instead|use|in favou?r of|better|can be \w+ed by)\b",
    re.IGNORECASE,
)
_MENDED = re.compile(
    r"(?:\*\*|[^.:]{0,80}: )?(?:Fix(?:ed|es)?\b|(?:Correct|Repair|Resolve|Prevent|Avoid)(?:ed|s)?\b.{0,60}?\b(?:bugs?|crash\w*|regressions?|errors?"
    r"|failures?|issues?|problems?|leaks?|races?|mistakes?|misbehaviou?r|assertion|deadlocks?|overflows?)\b)",
)
"""Tells that a fault is gone; what is so now it does not say."""
_SAME_DENIED, _DENIED, _STATED = 1.6, 1.0, 0.5
"""Where what is not so is asked for: what denies the same, what denies something, and what denies nothing."""
_ADVICE = 1.2
"""Where advice is asked for, a sentence that gives some."""
_ELSEWHERE = 0.6
"""What holds somewhere else than the question says: `in asyncio`."""
_HANGS = re.compile(
    r"(?:these|those|such|both|but|and|or|however|therefore|thus|hence|otherwise|instead|also|so|then|fortunately|unfortunately"
    r"|additionally|moreover|furthermore|in addition|note|for example|for instance"
    r"|if (?:so|not|necessary|needed)|in (?:this|that|these|those|such) \w+|for (?:this|that|these|those|such) \w+"
    r"|(?:this|that|it)(?= (?:is|was|can|may|might|will|would|should|must|does|means|allows|ensures|makes|also|has)\b))\b",
    re.IGNORECASE,
)
"""Begins with what leads back to the sentence before."""
_HANGING = 0.75
"""What such a sentence is worth beside one that can be read alone."""


class Fit(NamedTuple):
    """What kind of statement a question asks for."""

    denied: bool
    what: frozenset[str]
    """The stems of what it denies itself: `replic` of `What can it not replicate?`"""
    advice: bool
    mended: bool
    scope: frozenset[str]

    def __call__(self, said: str, context: str) -> float:
        """What a statement is worth beside others that say as much of the question; 0 for none at all.

        Args:
            said: as it reads.
            context: what it is about without saying so.
        """
        if not self.mended and _MENDED.match(said):
            return 0.0
        worth = _HANGING if _HANGS.match(said) else 1.0
        if self.denied:
            same = bool(self.what & denied_in(said))
            worth *= _SAME_DENIED if same else _DENIED if denies(said) else _STATED
        elif self.advice and _ADVISES.search(said):
            worth *= _ADVICE
        if self.scope and not self.scope & {root_of(word) for word in words(f"{context} . {said}")}:
            worth *= _ELSEWHERE
        return worth


@lru_cache(maxsize=64)
def fit_of(question: str) -> Fit:
    """What a question asks for."""
    return Fit(
        asks_denied(question),
        denied_in(question),
        asks_advice(question),
        asks_mended(question),
        scope_of(question),
    )


def denies(said: str) -> bool:
    """Whether a statement says what is not so."""
    return _DENIES.search(said) is not None
