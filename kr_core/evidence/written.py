"""Sentences that a language model wrote, kept only where the passages that they cite bear them out.

A sentence comes with what it rests on: `Pass timeout= to get. [2: "timeout - The timeout to use"]`, the number of a passage
and words of it. It is kept if each quote stands in its passage; each code span, number and name of the sentence stands in
a cited passage; two thirds of its content words do; and it denies something only where a quote does. No model judges a
model: `kr verify` repeats all of this offline.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citing import slot_stands
from kr_core.evidence.quotes import folded, holds, plain
from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.citing import Citer
    from kr_core.model import Claim, Passage

__all__ = ["Prose", "claims_of", "unsupported"]

_BORNE_OUT = 2 / 3
"""The share of a sentence's content words that must stand in what it cites; the others connect or rephrase."""
_REST = re.compile(r"\[(\d{1,3})\s*:\s*[\"“”](.*?)[\"“”]\s*\]", re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_FACT = re.compile(r"(?<![\w.])\d+(?:\.\d+)*|\b\w+(?:\.\w+)+\b|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z]{2,}\b")
"""What is either there or not: numbers, versions, dotted and compound names, abbreviations."""
_DENIED = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|unless|only)\b|n['’]t\b", re.IGNORECASE
)
_CONNECTING = stems("accept argument call default option parameter pass read return see set use value")
"""Words that say how code spans hang together; what they join is checked."""
_LONGEST = 400
_LEAST_QUOTED = 3
"""Words, or one name in code: less than that stands anywhere."""


class Prose(NamedTuple):
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
    for span in _SPAN.findall(sentence):
        if not slot_stands(span, texts):
            return f"`{span[:60]}` stands in no cited passage"
    prose = _SPAN.sub(" ", sentence)
    source = " ".join(plain(text) for text in texts)
    for fact in _FACT.findall(prose):
        if not re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", source):
            return f"{fact} stands in no cited passage"
    if bool(_DENIED.search(prose)) != any(_DENIED.search(plain(quote)) for quote in quotes):
        return "it denies what its quotes do not, or the other way round"
    words = stems(prose) - _CONNECTING
    known = stems(source)
    if words and len(words & known) < _BORNE_OUT * len(words):
        return f"says more than its passages: {', '.join(sorted(words - known)[:4])}"
    return ""


def _read(line: str) -> _Read:
    rests = tuple((int(number), folded(quote)) for number, quote in _REST.findall(line))
    return _Read(folded(_REST.sub(" ", line)).replace(" .", "."), rests)


def _fault(read: _Read, passages: Sequence[tuple[str, Passage]]) -> str:
    if len(read.sentence) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    if re.search(r"\[\d", read.sentence):
        return "a citation in it cannot be read"
    if not read.rests:
        return "cites nothing"
    for number, quote in read.rests:
        if not 1 <= number <= len(passages):
            return f"there is no passage {number}"
        if len(quote.split()) < _LEAST_QUOTED and not re.search(r"[\w.]{4,}[(=:_.]", quote):
            return f"quotes too little: {quote[:40]}"
        if not holds(passages[number - 1][1].text, quote):
            return f"the quote is not in passage {number}: {quote[:60]}"
    texts = [passages[number - 1][1].text for number, _quote in read.rests]
    return unsupported(read.sentence, texts, [quote for _number, quote in read.rests])
