"""Whether independent sites say the same about a question: copies are one place, and a contradiction is no agreement."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Corroboration", "PlacedPassage", "agreements"]

_SHINGLE = 5
"""Words in a row; two writers seldom choose the same five."""
_COPIED = 0.5
"""Of two passages that share so much of the shorter one, one is a copy of the other."""
_MIRRORED = 0.8
"""The same for whole pages, which may share a licence or an introduction."""
_MIN_SHINGLES = 4
"""Of a shorter text nobody can say whether it was copied, unless it is the same."""
_SAME_WORDS = 0.5
_CLAIMS = 2
"""So many sentences of a passage are what it says about the question."""
_WORDS_OF_A_PAGE = 20_000
_LOOKED_AT = 6000
"""Characters of a passage; sections are seldom longer."""

_CODE = re.compile(r"^(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n\s*\n|\n(?=\s*(?:[-*+|#]|\d+\.)\s?)")
_NAME = re.compile(
    r"""(?<![\w-])--?[a-zA-Z][\w-]++              # an option
      | (?<![\w])[A-Za-z_]\w*+ (?: (?=\()        # what is called
                                | \s?=(?!=) )    # a keyword argument, a setting
      | (?<![\w])[A-Za-z_]\w*+ (?:\.[A-Za-z_]\w*+)++                    # dotted
      | (?<![\w])(?:[A-Za-z]+_[A-Za-z0-9]\w*+ | [a-z]+[A-Z]\w*+ | [A-Z][a-z]+[A-Z]\w*+)   # snake_case, camelCase, PascalCase""",
    re.VERBOSE,
)
_STOCK = frozenset(
    """print len str int list dict range main __main__ __name__ console.log log require open self super format join
    e.g i.e x= y= i= a= b= f= r= result= name= args kwargs foo bar example""".split()
)
"""Names that any code holds."""
_NUMBER = re.compile(r"(?<![\w.=])\d+(?:\.\d+)*(?![\w])")
_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|without|neither|nor|isn|doesn|don|can|won|aren|wasn|didn)(?:\b(?!['’])|['’]t\b)",
    re.IGNORECASE,
)


class PlacedPassage(NamedTuple):
    """A passage, and where it stands."""

    site: str
    page: str
    """The whole text of its page."""
    text: str


class _Claim(NamedTuple):
    """What a passage says about a question, beyond the question's own words."""

    words: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negated: bool


class Corroboration(NamedTuple):
    """Where a passage stands among the others."""

    location: int
    """The same for passages of one site, and for copies."""
    agreement: int
    """In how many independent places the same stands, its own counted."""


def agreements(passages: Sequence[PlacedPassage], question: str) -> list[Corroboration]:
    """The standing of each passage."""
    places = _places(passages)
    asked = frozenset(_stems(question))
    claims = [_claim(passage.text[:_LOOKED_AT], asked) for passage in passages]
    return [
        Corroboration(
            place,
            1
            + len(
                {
                    there
                    for there, other in zip(places, claims, strict=True)
                    if there != place and _agree(claim, other)
                }
            ),
        )
        for place, claim in zip(places, claims, strict=True)
    ]


# -- places ----------------------------------------------------------------------------------------------------


def _places(passages: Sequence[PlacedPassage]) -> list[int]:
    """A number for the place of each passage: the same for those of one site, and for copies of one text."""
    place = list(range(len(passages)))
    pages = [_shingles(passage.page) for passage in passages]
    texts = [_shingles(passage.text) for passage in passages]
    for later in range(len(passages)):
        for earlier in range(later):
            one, other = passages[earlier], passages[later]
            if place[earlier] != place[later] and (
                one.site == other.site
                or " ".join(one.text.split()) == " ".join(other.text.split())
                or _share(texts[earlier], texts[later]) >= _COPIED
                or _share(pages[earlier], pages[later]) >= _MIRRORED
            ):
                old, new = place[later], place[earlier]
                place = [new if number == old else number for number in place]
    return place


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    """How much of the shorter text stands in the other one, 0-1; 0 where it is too short to tell."""
    fewer = min(len(one), len(other))
    return len(one & other) / fewer if fewer >= _MIN_SHINGLES else 0.0


def _shingles(text: str) -> frozenset[int]:
    """All runs of a few words of a text, without regard to case and signs."""
    words = [found.group() for found in islice(re.finditer(r"\w+", text.lower()), _WORDS_OF_A_PAGE)]
    return frozenset(
        hash(tuple(words[start : start + _SHINGLE])) for start in range(len(words) - _SHINGLE + 1)
    )


# -- claims ----------------------------------------------------------------------------------------------------


def _agree(one: _Claim, other: _Claim) -> bool:
    """Whether two passages say the same: neither denies it, no number differs, and they share names or most of their words."""
    if one.negated != other.negated:
        return False
    if one.numbers and other.numbers and not one.numbers & other.numbers:
        return False
    if one.names & other.names:
        return True
    shared, fewer = len(one.words & other.words), min(len(one.words), len(other.words))
    return shared >= 2 and shared >= _SAME_WORDS * fewer


def _claim(text: str, asked: frozenset[str]) -> _Claim:
    prose = _CODE.sub("\n\n", text)
    sentences = [sentence for sentence in _SENTENCE_END.split(prose) if sentence.strip(" #*|-\n")]
    about = sorted(sentences, key=lambda sentence: -len(asked & frozenset(_stems(sentence))))[:_CLAIMS]
    said = " ".join(sentence for sentence in about if asked & frozenset(_stems(sentence)))
    code = " ".join(found[1] for found in _CODE.findall(text))
    return _Claim(
        frozenset(_stems(said)) - asked,
        frozenset(_NUMBER.findall(said)),
        frozenset(_names(f"{said} {code}")),
        len(_NEGATION.findall(said)) % 2 == 1,
    )


def _names(text: str) -> Iterable[str]:
    """The names of code, without what they are called on: `parcel.send(` is `send`."""
    for found in _NAME.findall(text):
        name = "".join(found.split())
        if name.lower() not in _STOCK:
            yield name.rpartition(".")[2]


def _stems(text: str) -> Iterable[str]:
    """The telling words of a text, without their usual endings."""
    return (_ENDING.sub("", word) for word in content_words(text) if not word.isdigit())


_ENDING = re.compile(r"(?<=\w{3})(?:ies|es|s|ing|ed|e)$")
