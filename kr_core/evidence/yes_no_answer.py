"""The sentence of the documentation that decides a yes/no question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence import yes_or_no
from kr_core.evidence.answer_sentence import DirectAnswer, Quote, quoted
from kr_core.evidence.citations import plain
from kr_core.evidence.window import all_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_DECIDES = 0.6
"""The share of a yes/no question that the sentence which decides it must say."""
_DECIDING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\bis\b|\bare\b|\baccept\w*\b",
    re.IGNORECASE,
)
_ACTING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\baccept\w*\b|n't\b|\bnever\b",
    re.IGNORECASE,
)
"""The same for a question that does not ask what something is."""
_OPEN = re.compile(
    r"^(?:But|And|So|However|Otherwise|Instead|Therefore|Thus|Hence|Then)\b|\b[Ww]hether\b|\bif (?:it|this|they|you) should\b"
)
"""A sentence that does not decide without the one before it, or that leaves it open."""
_OF_VALUE = re.compile(r"[`'\"]*\w++[`'\"]*(?: -+|:) |(?:If|When)\b[^.!?]*+$")
"""The item of a list that says what one value does, and a condition without what follows from it."""


def yes_no_answer(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> DirectAnswer | None:
    """The sentence that decides, from the documentation of the question's subject."""
    at_home = _at_home(asked, first, known)
    # that something is so is often said of something else than what was asked
    deciding = _DECIDING if re.match(r"(?:is|are)\b", asked.parsed.asking, re.IGNORECASE) else _ACTING
    own = asked.share(first.symbol or first.title)
    share, _place, best = max(
        (
            (asked.share(f"{sentence} {first.symbol or first.title}"), -number, Quote(passage, sentence))
            for number, (passage, sentence) in enumerate(_told(at_home))
            if deciding.search(sentence)
            and asked.share(f"{sentence} {first.symbol or first.title}") > own
            and not _OPEN.search(plain(sentence))
            and not _OF_VALUE.match(plain(sentence))
        ),
        default=(0.0, 0, Quote(first, "")),
        key=lambda one: one[:2],
    )
    if share < _DECIDES:
        return None
    told, passage = quoted(best.passage, best.text), best.passage
    names = [name for name in (passage.symbol, passage.parameter, *passage.aliases) if name]
    verdict = yes_or_no.of_sentence(asked, best.text, names) if first.pinned else ""
    return told._replace(text=f"{verdict}: {told.text}") if verdict else told


def _at_home(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> list[Passage]:
    """The passages about the question's subject; where it names a parameter, the documentation of another does not decide."""
    at_home = [
        one
        for one in known
        if one is first or one.pinned or (one.parameter and one.symbol and one.symbol == first.symbol)
    ]
    named = [one for one in at_home if one.parameter and asked.names(one.parameter)]
    if not named:
        return at_home
    return [one for one in at_home if one is first or one in named or not one.parameter]


def _told(passages: Sequence[Passage]) -> Iterator[Quote]:
    for passage in passages:
        for sentence in all_of(passage):
            yield Quote(passage, sentence)
