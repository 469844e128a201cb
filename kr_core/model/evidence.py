"""Passages, findings, quotes and claims: what an answer rests on."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from kr_core.model.base import Value

Level = Literal["high", "medium", "low"]
PassageKind = Literal["parameter", "symbol", "section", "constant", "type", "page"]


def _now() -> datetime:
    return datetime.now(UTC)


class Outcome(StrEnum):
    """What became of one consultation; a dead engine is never read as "there is no answer"."""

    ok = "ok"
    empty = "empty"
    pending = "pending"
    blocked = "blocked"
    limited = "limited"
    timeout = "timeout"
    unavailable = "unavailable"
    bad_answer = "bad_answer"


class Passage(Value):
    """A verbatim piece of a source, small enough to be cited.

    `text` is the source's own text (dedented as a block, otherwise unchanged); everything that an answer
    quotes is looked up in it. `symbol`, `parameter`, `signature`, `annotation` and `default` are parts of
    `text` that the summary may put into its sentences.
    """

    text: str
    url: str
    locator: str = ""
    """Where the text begins: a heading, or a file and line (`httpx/_api.py:47`)."""
    lines: tuple[tuple[int, int], ...] = ()
    """Runs of the text: (line of `text` from 0, line of the file on which it stands)."""
    title: str = ""
    lead: str = ""
    """The first paragraph of the prose, folded into one line."""
    kind: PassageKind = "page"
    what: str | None = None
    """What the symbol is: function, class, property, attribute, constant."""
    symbol: str | None = None
    parameter: str | None = None
    star: str = ""
    """`*` or `**` where the parameter takes any number of arguments."""
    signature: str | None = None
    returns: str | None = None
    annotation: str | None = None
    default: str | None = None
    required: tuple[str, ...] = ()
    """Names of the parameters a caller must give, in order; for a call form."""
    parameters: tuple[tuple[str, str | None], ...] = ()
    """A callable's parameters and their defaults, verbatim, in order."""
    also: tuple[str, ...] = ()
    """Other public names with the very same text (clones collapsed into this passage)."""
    aliases: tuple[str, ...] = ()
    """Other public names for the same thing (re-exports)."""
    code: tuple[str, ...] = ()
    """Code examples, verbatim in `text`, in the order in which they stand there."""
    version: str | None = None
    official: bool = False
    coverage: float = 0.0
    """Share of the question's words, weighted by rarity, that the passage holds; 0-1."""
    covered: frozenset[str] = frozenset()
    """The words of the question that it holds."""
    fetched_at: datetime = Field(default_factory=_now)

    def locate(self, quote: str) -> str:
        """The locator of a quote: the file and line on which it begins, where that is known."""
        wanted = " ".join(quote.split())
        starts, folded = [], ""
        for line in self.text.split("\n"):
            piece = " ".join(line.split())
            starts.append(len(folded) + (1 if folded and piece else 0))
            folded = f"{folded} {piece}" if folded and piece else folded or piece
        place = folded.find(wanted) if wanted else -1
        number = max((n for n, start in enumerate(starts) if start <= place), default=None)
        runs = [run for run in self.lines if number is not None and run[0] <= number]
        if number is None or not runs:
            return self.locator
        start, line_number = max(runs)
        return f"{self.locator.rpartition(':')[0]}:{line_number + number - start}"

    @property
    def sha256(self) -> str:
        """The fingerprint of `text`, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class Finding(Value):
    """The answer of one source to one question: a typed outcome and its passages, best first.

    `support` are passages that explain the first ones (the type of a parameter, code that calls it).
    `reached` is False when no request left for the source (not configured, circuit open, connection
    refused): such a consultation costs no budget. `missing` names the question's words that the source
    knows nothing about.
    """

    outcome: Outcome
    passages: tuple[Passage, ...] = ()
    support: tuple[Passage, ...] = ()
    reason: str = ""
    url: str | None = None
    version: str | None = None
    version_from: str | None = None
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reached: bool = True


class Score(Value):
    """How sure KR is: 0-100, its level (`high` from 80, `medium` from 50) and why."""

    score: int = Field(ge=0, le=100)
    level: Level
    reasons: tuple[str, ...] = ()


class Citation(Value):
    """A numbered quote of a passage, as results show it."""

    n: int
    source: str
    url: str
    locator: str
    symbol: str | None = None
    version: str | None = None
    official: bool = False
    quote: str


class Claim(Value):
    """One sentence of a report.

    `slots` are the parts that state a fact (symbol, parameter, default, code, quoted prose); each stands
    verbatim in a cited passage. The words between them connect and are not claims.
    """

    text: str
    citations: tuple[int, ...] = ()
    slots: tuple[str, ...] = ()


class CodeExample(Value):
    """A code block of a report, verbatim in the cited passage."""

    code: str
    citation: int
    language: str = "python"


class Draft(Value):
    """What is known of an answer before it is rendered."""

    summary: tuple[Claim, ...] = ()
    summary_code: tuple[CodeExample, ...] = ()
    code_after: int = 1
    """So many sentences of the summary stand before its code."""
    details: tuple[Claim, ...] = ()
    code: tuple[CodeExample, ...] = ()
    caveats: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    passages: dict[int, Passage] = Field(default_factory=dict)
    """The cited passage of each citation number."""
    dropped: tuple[str, ...] = ()
    """Quotes that were not found in their passage, and so are not in the answer."""
