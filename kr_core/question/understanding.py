"""What a question is, as one value: its kinds, the names in it, and the sentences that ask."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

QuestionKind = Literal[
    "how_to", "meaning", "default", "difference", "replacement", "error", "yes_no", "options"
]
Form = Literal["code", "keyword", "call", "dotted", "snake", "camel", "weak"]
Place = Literal["prose", "code", "traceback"]
Role = Literal["subject", "context", "ignored"]

_KINDS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = (
    ("difference", re.compile(r"\bdifferen(?:ce|t from)\b|\bvs\.?\b|\bversus\b|\binstead of\b.*\bwhen\b|\bwhen should I use\b.*\b(?:and|or)\b", re.IGNORECASE)),
    ("replacement", re.compile(r"\breplace(?:d|s|ment)\b|\bhappened to\b|\bdeprecated\b|\bremoved\b|\brenamed\b", re.IGNORECASE)),
    ("error", re.compile(r"\b\w+(?:Error|Exception|Warning)\b|\bTraceback\b|\berror:|\bfails? with\b", re.IGNORECASE)),
    ("default", re.compile(r"\bdefaults?\b", re.IGNORECASE)),
    ("options", re.compile(r"\b(?:which|what) (?:\w+ )?(?:options|values|choices|modes|formats|strategies)\b", re.IGNORECASE)),
    ("yes_no", re.compile(r"(?:\A|[.;:,]\s+)(?:is|are|does|do|can|could|will|has|should)\s", re.IGNORECASE)),
    ("meaning", re.compile(r"\bwhat (?:is|are|does|do)\b|\bmeaning of\b", re.IGNORECASE)),
)  # fmt: skip


class Identifier(NamedTuple):
    """A name that a question spells."""

    name: str
    """As spelled, without back-ticks, brackets or `=`."""
    form: Form
    """How it is spelled: `code` in back-ticks, `keyword` as `name=`, `weak` as a plain word with a cue."""
    place: Place = "prose"
    role: Role = "subject"
    """Whether the question asks about it, only mentions it, or means something else by it."""


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


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question; pure and linear in the length of the text."""
    kinds = tuple(kind for kind, pattern in _KINDS if pattern.search(text))
    return ParsedQuestion(text, text, kinds or ("how_to",))
