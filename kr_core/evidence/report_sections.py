"""What a report says below its Summary: first paragraphs, return types, caveats, further code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.code_examples import Signatures, fits
from kr_core.evidence.sentences import documentation, prose, sentences, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.evidence.citations import Citer
    from kr_core.model import Claim, CodeExample, Passage

_LONG_PARAGRAPH = 700
_LONG_CAVEAT = 300
_LONG_CODE = 900
_CAVEAT = re.compile(
    r"\b(?:deprecated|versionadded|versionchanged|warning|caution|not thread.?safe|new in version|changed in version|note that|be aware|removed in)\b",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """A passage with the source it came from and what explains it."""

    source: str
    passage: Passage
    support: tuple[Passage, ...]


def details(parts: Sequence[Part], citer: Citer) -> list[Claim]:
    """The first paragraph of each passage's documentation, whole, and what a function returns."""
    found = [claim for part in parts[:4] for claim in (_paragraph(part, citer), _returns(part, citer))]
    return [claim for claim in found if claim is not None]


def _paragraph(part: Part, citer: Citer) -> Claim | None:
    passage = part.passage
    paragraph = shortened(passage.lead, _LONG_PARAGRAPH)
    if len(sentences(paragraph)) < 2 and passage.kind != "section":
        return None
    if not paragraph or not holds(passage.text, paragraph):
        return None
    number = citer.cite(part.source, passage, paragraph)
    label = f"{passage.symbol}({passage.parameter})" if passage.parameter else passage.symbol or passage.title
    names = [name for name in (passage.symbol, passage.parameter) if name]
    return citer.claim(f"`{label}`: {plain(paragraph)}", [number], [*names, paragraph])


def _returns(part: Part, citer: Citer) -> Claim | None:
    passage = part.passage
    if not passage.returns or passage.what != "function" or passage.parameter or passage.returns == "None":
        return None
    number = citer.cite(part.source, passage, passage.returns)
    text = f"`{passage.symbol}` returns `{folded(passage.returns)}`."
    return citer.claim(text, [number], [passage.symbol or "", passage.returns])


def caveats(parts: Sequence[Part], citer: Citer) -> list[Claim]:
    """Sentences that warn or speak of versions, at most four."""
    found = [
        citer.claim(plain(sentence), [citer.cite(part.source, part.passage, sentence)], [sentence])
        for part in parts[:3]
        for sentence in list(_warnings(part.passage))[:2]
    ]
    return [claim for claim in found if claim is not None][:4]


def _warnings(passage: Passage) -> Iterator[str]:
    for sentence in sentences(prose(documentation(passage))):
        if _CAVEAT.search(sentence) and len(sentence) < _LONG_CAVEAT:
            yield sentence


def more_code(parts: Sequence[Part], citer: Citer, used: set[str]) -> list[CodeExample]:
    """Further code examples that fit the signatures, at most three."""
    signatures = Signatures([one for part in parts for one in (part.passage, *part.support)])
    found: list[CodeExample] = []
    for part in parts[:4]:
        for code in sorted(part.passage.code, key=len):
            if code in used or not code.strip() or len(code) > _LONG_CODE or len(found) >= 3:
                continue
            used.add(code)
            if not fits(part.passage, code, signatures):
                continue
            example = citer.code(part.source, part.passage, code)
            if example is not None:
                found.append(example)
    return found
