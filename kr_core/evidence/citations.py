"""Citations: each claim is checked against its passage as it is made; what does not stand there is dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.code_examples import language_of
from kr_core.evidence.quotes import folded, holds, holds_code, plain
from kr_core.model import Citation, Claim, CodeExample, Passage

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"\w+(?:\.\w+)*")


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
        for citation in self.citations:
            if (citation.url, citation.locator, citation.quote) == (passage.url, locator, wanted):
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
        marks = "".join(f"[{number}]" for number in cited)
        return Claim(text=f"{text} {marks}".strip(), citations=cited, slots=tuple(slots))

    def code(self, source: str, passage: Passage, code: str) -> CodeExample | None:
        """A code example with its citation, or None where the passage does not hold it.

        Its first line is what the citation quotes: the whole may have lost prompts that stand between its lines.
        """
        if not holds_code(passage.text, code):
            self.dropped.append(f"{passage.title or passage.url}: {folded(code)[:80]}")
            return None
        first = next(line.strip() for line in code.split("\n") if line.strip())
        number = self.cite(source, passage, first)
        if number is None:
            return None
        return CodeExample(code=code, citation=number, language=language_of(passage.text, code))


def slot_stands(slot: str, texts: Sequence[str]) -> bool:
    """Whether a slot stands in one of the texts, a name as a whole word.

    Of a dotted public name the last part is looked for: the text defines `request`, and users write `httpx.request`.
    """
    if not _NAME.fullmatch(slot):
        return any(holds(text, slot) for text in texts)
    last = slot.rpartition(".")[2]
    word = re.compile(rf"(?<!\w)(?:{re.escape(slot)}|{re.escape(last)})(?!\w)")
    return any(word.search(plain(text)) for text in texts)
