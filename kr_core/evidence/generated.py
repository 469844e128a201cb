"""Sentences that a language model wrote, kept only where the passages that they cite bear them out.

A sentence comes with what it rests on: `Pass timeout= to get. [2: "timeout - The timeout to use"]`, the number of a passage
and words of it. It is kept if each quote stands in its passage; its code stands in a cited passage; its names, numbers and
two thirds of its content words stand in the quotes, the others in the passages; it compares in the order of a quote; and it
denies something only where a quote does. No model judges a model: `kr verify` repeats all of this offline.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded, holds, plain, slot_stands
from kr_core.text import STOP_WORDS, WEAK_WORDS, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.evidence.citations import Citer
    from kr_core.model import Claim, Passage

__all__ = ["GeneratedProse", "claims_of", "unsupported"]

_BORNE_OUT = 2 / 3
"""The share of a sentence's content words that must stand in its quotes; the others tell what the quotes are about."""
_REST = re.compile(r"\[(\d{1,3})\s*:\s*[\"“”]((?:(?!\[\d{1,3}\s*:\s*[\"“”]).)*?)[\"“”]\s*\]", re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_FACT = re.compile(r"(?<![\w.])\d+(?:\.\d+)*|\b\w+(?:\.\w+)+\b|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]{2,}\b")
"""What is either there or not: numbers, versions, dotted and compound names, abbreviations."""
_NAMES = re.compile(r"[\w.]+")
"""What a fact may be all or the beginning of."""
_DENIED = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|unless|only)\b|n['’]t\b", re.IGNORECASE
)
_TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]\w*")
_COMPARED = re.compile(r"\b(?:than|before|after|instead|over|versus|vs|prefer\w*)\b", re.IGNORECASE)
"""Words whose sides cannot be exchanged."""
_CONNECTING = stems(
    "accept apply argument call configure control default define describe function give include mean method option "
    "parameter pass provide read return see set specify supply use value"
)
"""Words that say how code spans hang together; what they join is checked."""
_OPENING = re.compile(r"(?:^|[.!?:;]\s)[\W_]{0,200}+(\w+)")
_OPENS = _CONNECTING | frozenset(
    map(
        stem,
        STOP_WORDS
        | WEAK_WORDS
        | set("add although choose create each every note otherwise run since write".split()),
    )
)
"""Words that begin a sentence, and so are capitalised without being a name."""
_LONGEST = 400
"""Characters of a sentence."""
_MIN_QUOTED = 3
"""Words, or one name in code: less than that stands anywhere."""


class GeneratedProse(NamedTuple):
    """What a model wrote for a report."""

    summary: tuple[str, ...]
    details: tuple[str, ...]


class _Read(NamedTuple):
    sentence: str
    rests: tuple[tuple[int, str], ...]


def claims_of(
    lines: Sequence[str], passages: Sequence[tuple[str, Passage]], citer: Citer
) -> tuple[list[Claim], list[str]]:
    """The sentences that are borne out, as claims, and why each of the others is not.

    Args:
        lines: sentences, each with what it rests on.
        passages: (source, passage) as they were numbered for the model, from 1.
        citer: numbers the citations of the report.
    """
    claims: list[Claim] = []
    dropped: list[str] = []
    for line in lines:
        read = _read(line)
        if not read.sentence:
            continue
        fault = _fault(read, passages)
        claim = None
        if not fault:
            numbers = [citer.cite(*passages[number - 1], quote) for number, quote in read.rests]
            claim = citer.claim(read.sentence, numbers, _SPAN.findall(read.sentence))
            fault = "" if claim is not None else "a slot of it stands in no cited passage"
        if claim is None:
            dropped.append(f"{read.sentence[:80]}: {fault}")
        else:
            claims.append(claim.model_copy(update={"written": True}))
    return claims, dropped


def unsupported(sentence: str, texts: Sequence[str], quotes: Sequence[str]) -> str:
    """What of a sentence the passages that it cites do not bear out; empty if they do.

    Args:
        sentence: without citation marks.
        texts: the cited passages.
        quotes: what is quoted of them.
    """
    if len(sentence) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    for span in _SPAN.findall(sentence):
        if not slot_stands(span, texts):
            return f"`{span[:60]}` stands in no cited passage"
    prose = _SPAN.sub(" ", sentence)
    quoted = " ".join(f"{plain(quote)} {folded(quote)}" for quote in quotes)
    names = sorted(set(_NAMES.findall(quoted)))
    for fact in _FACT.findall(prose):
        if not _begins(fact, names):
            return f"{fact} stands in none of its quotes"
    if bool(_DENIED.search(prose)) != any(_DENIED.search(plain(quote)) for quote in quotes):
        return "it denies what its quotes do not, or the other way round"
    telling, said = stems(prose) - _CONNECTING, frozenset(map(stem, words(quoted)))
    if len(telling & said) < _BORNE_OUT * len(telling):
        return f"says more than its quotes: {_some(telling - said)}"
    beyond = telling - said - stems(" ".join(map(plain, texts)))
    if beyond:
        return f"says more than its passages: {_some(beyond)}"
    named = _named(prose)
    unknown = [one for one in named if one[0].isalpha() and stem(one.casefold()) not in said]
    if unknown:
        return f"{unknown[0]} stands in none of its quotes"
    return _exchanged(sentence.replace("`", " "), named, quotes)


def _begins(fact: str, names: Sequence[str]) -> bool:
    """Whether one of the names, sorted, is a fact or goes on behind it with a dot: `1.2` of `1.2.3`."""
    return any(
        at < len(names) and (names[at] == fact or names[at].startswith(f"{fact}."))
        for at in (bisect_left(names, fact), bisect_left(names, f"{fact}."))
    )


def _named(prose: str) -> list[str]:
    """The numbers and capitalised words of a sentence in order, but for words that merely open it."""
    opening = {found.start(1) for found in _OPENING.finditer(prose) if stem(found[1].casefold()) in _OPENS}
    return [
        found.group()
        for found in _TOKEN.finditer(prose)
        if found.start() not in opening and (found.group()[0].isupper() or found.group()[0].isdigit())
    ]


def _exchanged(sentence: str, named: Sequence[str], quotes: Sequence[str]) -> str:
    """What a sentence says the other way round than all quotes that speak of it; empty for nothing."""
    called = [stem(one.casefold()) for one in named]
    told = [
        _Places.of(map(stem, map(str.casefold, _TOKEN.findall(plain(quote)))), called) for quote in quotes
    ]
    turned = _turned(called, told)
    if turned is not None:
        return f"its quotes have {named[turned]} after what it has before"
    compared = [
        (found.group(), _spoken(sentence[: found.start()]), _spoken(sentence[found.end() :]))
        for found in _COMPARED.finditer(sentence)
    ]
    spoken = frozenset[str]().union(*(left | right | _spoken(by) for by, left, right in compared))
    said = [_Places.of(map(stem, words(plain(quote))), spoken) for quote in quotes if compared]
    for by, left, right in compared:
        word = stem(by.casefold())
        if not any(_same_sides(quote, word, left - right, right - left) for quote in said):
            return f"none of its quotes compares so: {by}"
    return ""


def _spoken(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


class _Places(NamedTuple):
    """Where the words of a sentence come first and last in a quote, by their stems: a quote may be as long as a file."""

    first: dict[str, int]
    last: dict[str, int]

    @classmethod
    def of(cls, quote: Iterable[str], wanted: Iterable[str]) -> _Places:
        """The places of those words of a quote that are wanted."""
        asked, first, last = frozenset(wanted), dict[str, int](), dict[str, int]()
        for place, word in enumerate(quote):
            if word in asked:
                first.setdefault(word, place)
                last[word] = place
        return cls(first, last)


def _turned(called: Sequence[str], quotes: Sequence[_Places]) -> int | None:
    """The number of the first word that is before another one, and after it in each quote that has both.

    A set of words is a number with a bit for the place of each: it costs no more to hold a word against all others than
    against one.
    """
    bits: dict[str, int] = {}
    for number, word in enumerate(called):
        bits[word] = bits.get(word, 0) | 1 << number
    beside, behind = dict.fromkeys(bits, 0), dict.fromkeys(bits, 0)
    for first, last in quotes:
        both = sum(bits[word] for word in first)
        passed = 0
        ends = sorted(
            [*((last[word], 1, word) for word in last), *((first[word], 0, word) for word in first)]
        )
        for _place, is_last, word in reversed(ends):
            if is_last:
                passed |= bits[word]
            else:
                beside[word] |= both
                behind[word] |= passed
    later = (beside[word] & ~behind[word] & -2 << number for number, word in enumerate(called))
    return next((number for number, turned in enumerate(later) if turned), None)


def _same_sides(quote: _Places, word: str, left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether a quote compares by a word, and does not have on its other sides what stands left and right of it."""
    if word not in quote.first:
        return False
    latest = max((place for one, place in quote.first.items() if one in left), default=-1)
    earliest = min((place for one, place in quote.last.items() if one in right), default=latest)
    return quote.first[word] <= earliest or quote.last[word] > latest


def _some(stems_of_words: frozenset[str]) -> str:
    return ", ".join(sorted(stems_of_words)[:4])


def _read(line: str) -> _Read:
    rests = tuple((int(number), folded(quote)) for number, quote in _REST.findall(line))
    return _Read(folded(_REST.sub(" ", line)).replace(" .", "."), rests)


def _fault(read: _Read, passages: Sequence[tuple[str, Passage]]) -> str:
    if re.search(r"\[\d", read.sentence):
        return "a citation in it cannot be read"
    if not read.rests:
        return "cites nothing"
    for number, quote in read.rests:
        if not 1 <= number <= len(passages):
            return f"there is no passage {number}"
        if len(quote.split()) < _MIN_QUOTED and not re.search(r"[\w.]{4}[(=:_.]", quote):
            return f"quotes too little: {quote[:40]}"
        if not holds(passages[number - 1][1].text, quote):
            return f"the quote is not in passage {number}: {quote[:60]}"
    texts = [passages[number - 1][1].text for number, _quote in read.rests]
    return unsupported(read.sentence, texts, [quote for _number, quote in read.rests])
