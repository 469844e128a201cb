"""Citations: whether a passage holds a quote, and numbers for the quotes that one does.

Each claim is checked against its passage as it is made; a claim that its passage does not hold is dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.evidence.code_examples import language_of
from kr_core.evidence.own_lines import is_like_own
from kr_core.model import Citation, Claim, CodeExample, Passage
from kr_core.text import folded, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Citer", "folded", "holds", "holds_code", "plain", "plain_passage", "slot_stands"]

_PROMPT = re.compile(r"^(?:>>>|\.\.\.|\$)(?: |$)")
_MOST_BEGINNING = 6
_NAME = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_TICKS = re.compile(r"(`++)")
_ATTRIBUTE = re.compile(r"<[A-Za-z][\w:-]{0,40}[\s/]++[\w:-]++\s*+=")
"""A tag of HTML that may load something: `<img src=...>`."""


@lru_cache(maxsize=16)
def plain_passage(text: str) -> str:
    """A passage as it reads, kept for the next quote or slot: a passage may have a megabyte."""
    return plain(text)


def holds(passage: str, quote: str) -> bool:
    """Whether a quote stands in a passage, white space and mark-up aside; an empty quote does not."""
    wanted = plain(quote)
    return bool(wanted) and wanted in plain_passage(passage)


def holds_code(passage: str, code: str) -> bool:
    """Whether each line of a code example stands in a passage, in order.

    Prompts (`>>> `), indentation and what a doctest printed between the lines may have been removed.
    """
    source = [_bare(line) for line in passage.split("\n")]
    wanted = [line for line in map(_bare, code.split("\n")) if line]
    position = 0
    for line in wanted:
        while position < len(source) and not _same_code(line, source[position]):
            position += 1
        if position == len(source):
            return False
        position += 1
    return bool(wanted)


def _bare(line: str) -> str:
    """A line of code without what may stand before it: a comment's mark, a prompt."""
    return _PROMPT.sub("", folded(line.lstrip("#: "))).lstrip("#: ")


def _same_code(line: str, source: str) -> bool:
    """Whether a line is the whole of a source line, but for a comment at its end."""
    return source.startswith(line) and (source == line or source[len(line) :].lstrip().startswith("#"))


class Citer:
    """Numbers the citations of one report, in the order in which they are made."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []
        self.passages: dict[int, Passage] = {}
        self.dropped: list[str] = []

    def cite(self, source: str, passage: Passage, quote: str) -> int | None:
        """The number of a quote's citation, or None (and a note) where the passage does not hold it."""
        wanted = folded(quote)
        if not holds(passage.text, quote):
            self.dropped.append(f"{passage.title or passage.url}: {wanted[:80]}")
            return None
        locator = passage.locate(quote)
        if loads_or_links(f"{passage.url} {locator}"):  # a file may have any name
            self.dropped.append(f"{folded(locator or passage.url)[:80]}: a place that is a link or picture")
            return None
        for citation in self.citations:
            same = (citation.url, citation.locator, citation.quote, citation.symbol)
            if same == (passage.url, locator, wanted, passage.symbol):
                return citation.n
        number = len(self.citations) + 1
        self.citations.append(
            Citation(
                n=number,
                source=source,
                url=passage.url,
                locator=locator,
                symbol=passage.symbol,
                version=passage.version,
                official=passage.official,
                quote=wanted,
            )
        )
        self.passages[number] = passage
        return number

    def claim(self, text: str, numbers: Sequence[int | None], slots: Sequence[str]) -> Claim | None:
        """A sentence with its citations, or None where a slot stands in none of the cited passages."""
        cited = tuple(dict.fromkeys(number for number in numbers if number is not None))
        if numbers and not cited:
            return None  # why was noted when it was cited
        for slot in slots:
            if not slot_stands(slot, [self.passages[number].text for number in cited]):
                self.dropped.append(f"{slot[:80]}: not in the cited passage")
                return None
        if loads_or_links(text):
            self.dropped.append(f"{folded(text)[:80]}: a picture, tag or link outside of code")
            return None
        marks = "".join(f"[{number}]" for number in cited)
        told = f'"{text}"' if cited and is_like_own(text) else text
        return Claim(text=f"{told} {marks}".strip(), citations=cited, slots=tuple(slots))

    def code(self, source: str, passage: Passage, code: str) -> CodeExample | None:
        """A code example with its citation, or None where the passage does not hold it.

        Its first line is what the citation quotes: the whole may have lost prompts that stand between its lines. Where the passage
        has that line more than once, it quotes as many of the lines as say which one is meant.
        """
        if not holds_code(passage.text, code):
            self.dropped.append(f"{passage.title or passage.url}: {folded(code)[:80]}")
            return None
        number = self.cite(source, passage, _beginning_of(passage.text, code))
        if number is None:
            return None
        return CodeExample(code=code, citation=number, language=language_of(passage.text, code))


def _beginning_of(passage: str, code: str) -> str:
    """The first line of a code example, with those below it without which it could be another place of the passage."""
    lines = [line.strip() for line in code.split("\n") if line.strip()]
    source = folded(passage)
    for count in range(1, min(len(lines), _MOST_BEGINNING) + 1):
        quote = " ".join(lines[:count])
        if source.count(folded(quote)) == 1:
            return quote
    return lines[0]


def loads_or_links(text: str) -> bool:
    """Whether a text holds a link, picture or tag with an attribute that Markdown would make one: outside of code.

    What is shown of a package is text; a picture would tell its author who reads the report.
    """
    outside = _outside_code(text)
    return "](" in outside or _ATTRIBUTE.search(outside) is not None


def _outside_code(text: str) -> str:
    """A text without code: what stands between two runs of as many back-ticks. All of it where one is escaped."""
    if "\\`" in text:
        return text
    pieces = _TICKS.split(text)
    last = {piece: at for at, piece in enumerate(pieces) if at % 2}
    kept = []
    at = 0
    while at < len(pieces):
        if at % 2 and last[pieces[at]] > at:
            at = pieces.index(pieces[at], at + 1)
        else:
            kept.append(pieces[at])
        at += 1
    return " ".join(kept)


def slot_stands(slot: str, texts: Sequence[str]) -> bool:
    """Whether a slot stands in one of the texts, a name as a whole word.

    Of a dotted public name the last part is looked for: the text defines `request`, and users write `httpx.request`.
    """
    if not _NAME.fullmatch(slot):
        return any(holds(text, slot) for text in texts)
    last = slot.rpartition(".")[2]
    word = re.compile(rf"(?<!\w)(?:{re.escape(slot)}|{re.escape(last)})(?!\w)")
    return any(word.search(plain_passage(text)) for text in texts)
