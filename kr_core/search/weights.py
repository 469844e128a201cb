"""What counts how much in the ranking; chosen by random steps on the tuning questions (`docs/quality.md`)."""

from __future__ import annotations

from typing import NamedTuple


class Weights(NamedTuple):
    """What counts how much; the defaults are the tuned ones."""

    name: float = 1.11
    lead: float = 0.85
    body: float = 0.7
    code: float = 0.17
    words: float = 0.56
    synonym: float = 0.69
    """What a thesaurus word counts where the package knows the user's own word."""
    unsaid: float = 1
    """The same where it does not, or where that is an everyday word."""
    near: float = 0.4
    """What a near word counts, times its cosine, where the package knows the user's own word."""
    near_unsaid: float = 0.35
    """The same where it does not."""
    phrase: float = 0.93
    """What a phrase of the thesaurus weighs against a word of the same rarity."""
    aside: float = 0.78
    """What words weigh that only tell the story around the question."""
    fade: float = 0.03
    """By how much each further word of a thesaurus rule counts less."""
    precision: float = 0.54
    bm25: float = 0.1
    prior: float = 1.61
    weak: float = 0.9
    rare: float = 0.77
    """Exponent of a word's rarity."""
    fault: float = 0.41
    """What an exception counts where the question does not speak of errors."""
    parameter: float = 1.1
    """What a parameter counts against a symbol."""
    rarest: float = 0.07
    """What a passage loses that does not hold the rarest word that the package knows."""
    naming: float = 1.41
    """What a word weighs more that stands in some name of the package."""
    pairs: float = 0.66
    """What a passage gains that says neighbouring words of the question side by side."""
    from_owner: float = 0.07
    """What a parameter or member gains of its owner's score."""
    from_parts: float = 0.26
    """What a symbol gains of the score of its best parameter or member."""
    recall: float = 0.07
    """Exponent of the share of the question that a name says."""
    section: float = 0.37
    """What a section of a README counts against a symbol."""
    owner: float = 0.45
    """What a method loses when the question does not name its class."""
    needed: float = 0.69
    """What a parameter without default counts: the callable is then the answer."""
    unnamed: float = 0.35
    """What a parameter loses when the question does not say its name."""
    together: float = 0.75
    """Exponent of coverage: one passage that holds two words beats two that hold one each."""
    meaning: float = 0.6
    """How much a passage gains whose first sentence is near the question in meaning."""
    length: float = 0
    """How much a long passage loses."""


TUNED = Weights()
