"""What a question is, as one value: its kinds, the names in it, and the sentences that ask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.question.analysis import parts_of, versions_in
from kr_core.question.kinds import QuestionKind, kinds_of
from kr_core.question.pasted import Place, asking_sentences
from kr_core.question.pasted import parts_of as pasted_parts_of
from kr_core.question.spelled_names import Form, Identifier, Role, identifiers_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Form",
    "Identifier",
    "ParsedQuestion",
    "Place",
    "QuestionKind",
    "Role",
    "given_values",
    "parse_question",
]

_LONGEST = 1_000_000
_GIVEN = re.compile(r"""[=:]\s?["']([\w.+-]{1,40})["']""")


class ParsedQuestion(NamedTuple):
    """What a question asks.

    `kinds` has the most telling kind first and is never empty.
    """

    text: str
    asking: str
    """The sentences that ask, without pasted code, tracebacks and data."""
    kinds: tuple[QuestionKind, ...]
    identifiers: tuple[Identifier, ...] = ()
    versions: tuple[str, ...] = ()
    """Version numbers that the question names, in order."""

    @property
    def kind(self) -> QuestionKind:
        """The most telling kind."""
        return self.kinds[0]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that each ask for something; none where the question asks for one thing."""
        return tuple(parts_of(self.asking))

    def spells(self, names: Iterable[str]) -> bool:
        """Whether it has the last part of one of these names, spelled as code or behind the first part."""
        ends = {(name.partition(".")[0].lower(), name.rpartition(".")[2].lower()) for name in names}
        lasts = {last for _root, last in ends}
        return any(one.form != "weak" and one.last.lower() in lasts for one in self.identifiers) or any(
            f"{root} {last}" in self.asking.lower() for root, last in ends if root != last
        )


def given_values(text: str) -> list[str]:
    """The values that a text gives parameters (`mode="wrap"`), without their quotes, in order."""
    return _GIVEN.findall(text)


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question; pure and linear in the length of the text."""
    pasted = pasted_parts_of(text[:_LONGEST])
    asking = asking_sentences(pasted)
    kinds = kinds_of(asking, error=bool(pasted.error))
    names = identifiers_of(pasted, asking, kinds)
    return ParsedQuestion(
        text, asking or " ".join(dict.fromkeys(name.name for name in names))[:300] or text[:300], kinds, names,
        versions_in(asking),
    )  # fmt: skip
