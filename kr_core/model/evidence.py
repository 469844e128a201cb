"""Passages, findings, quotes and claims: what an answer rests on."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from kr_core.model.base import OneLine, Value

Level = Literal["high", "medium", "low"]
_HIGH, _MEDIUM = 80, 50
PassageKind = Literal["parameter", "symbol", "section", "constant", "type", "page"]


def _now() -> datetime:
    return datetime.now(UTC)


class Outcome(StrEnum):
    """The outcome of a consultation; a failed source never counts as "there is no answer"."""

    ok = "ok"
    """There are passages."""
    empty = "empty"
    """Looked, and found nothing."""
    pending = "pending"
    """The service is still preparing its answer."""
    blocked = "blocked"
    """The service refused: a wall, a captcha, no permission."""
    limited = "limited"
    """A quota or a rate limit."""
    timeout = "timeout"
    """No answer in time."""
    unavailable = "unavailable"
    """It could not be asked: down, not configured, not installed."""
    bad_answer = "bad_answer"
    """What came back is no answer."""


class Passage(Value):
    """A verbatim piece of a source, small enough to cite; only `text` and `url` are required.

    An answer consists of quotes. KR looks up each quote in `text` and drops what it does not find. So every field that
    an answer may quote (`lead`, `code`, `symbol`, `parameter`, `signature`, `returns`, `annotation`, `default`) must
    occur in `text`, letter by letter except for line breaks and indentation. A `OneLine` is a text in which KR replaces
    line breaks by blanks and control characters by U+FFFD.
    """

    text: str
    """The source's own text, dedented as a block, otherwise unchanged. KR reads it as Markdown and takes sentences
    from paragraphs and ordered lists; headings, tables and fenced blocks are not prose. Put commands and programs in
    fenced blocks that name their language.
    """
    url: OneLine
    """Where a reader can look up the text: an address, or `file:` and a path relative to the project."""
    locator: OneLine = ""
    """Where the text begins: a heading, or a file and line (`httpx/_api.py:47`)."""
    lines: tuple[tuple[int, int], ...] = ()
    """Runs of lines that are the same in the file and in `text`: (line of `text`, from 0; line of the file, from 1).
    A contiguous text that begins on line 12 of its file has `((0, 12),)`; one whose fourth line comes from line 40
    has `((0, 12), (3, 40))`. With it, KR cites a quote by its own line instead of the passage's first.
    """
    title: OneLine = ""
    """What a reader would call the passage; shown before a quote of prose."""
    lead: str = ""
    """The first paragraph of the prose, folded into one line. It explains a symbol, becomes the report's Details, and
    is the quote if the heading repeats the question. Without it, KR chooses sentences from `text` alone.
    """
    kind: PassageKind = "page"
    """What the text is: `symbol` (documentation of a function, class or module), `parameter` (of one parameter),
    `constant` (an assignment), `type` (a class that explains an annotation), `section` (the text below one heading)
    or `page` (anything else). For `parameter` and `symbol` the answer says what to pass or call; it quotes the
    others.
    """
    what: str | None = None
    """What the symbol is: function, class, property, attribute, constant, field; `keyword` of the statement of a subclass; `message` for what an error says; `names` for the first lines
    of what a class holds, or of what is named alike: their names are in `also`.
    """
    symbol: OneLine | None = None
    """The dotted name that a user writes: `httpx.Client.get`."""
    parameter: OneLine | None = None
    """The parameter of `symbol` that the passage is about."""
    star: str = ""
    """`*` or `**` if the parameter takes any number of arguments."""
    signature: str | None = None
    """The line of the definition, or the parameter's part of it."""
    returns: str | None = None
    """The return annotation of a callable."""
    annotation: str | None = None
    """The parameter's type."""
    default: str | None = None
    """The parameter's default, as written."""
    default_means: str | None = None
    """What the function puts in the place of a default of `None`; the last run of `lines` is that statement."""
    required: tuple[str, ...] = ()
    """The names of the required parameters, in order, to show a call."""
    parameters: tuple[tuple[str, str | None], ...] = ()
    """A callable's parameters and their defaults, verbatim, in order."""
    also: tuple[str, ...] = ()
    """Other public names with exactly the same text (duplicates merged into this passage)."""
    aliases: tuple[str, ...] = ()
    """Other public names for the same thing (re-exports)."""
    changed: str | None = None
    """What a comparison of two versions says of the symbol, as a sentence; None where none was made."""
    code: tuple[str, ...] = ()
    """Code examples, verbatim in `text` and without their fences, in their order there. KR shows the shortest that
    fits. Its language is the one that its fence in `text` names, or Python without a fence.
    """
    version: OneLine | None = None
    """The version that the text describes, as shown in its citation."""
    dated: date | None = None
    """The date of its document, as the document states it."""
    official: bool = False
    """Whether the text is the authority on its subject: the maker's documentation, or the team's own rules. From
    other texts, KR's scorer `evidence` rates an answer `medium` at best, or `low` if only one place says it
    (`agreement`).
    """
    agreement: int = 1
    """How many independent places say the same, including this one; copies and mirrors count as one. A text derived
    from the maker's own material counts as two. For texts that are not official, only this lifts an answer to
    `medium`.
    """
    coverage: float = 0.0
    """Share of the question's words, weighted by rarity, that the passage contains; 0-1. From 0.4 on the passage is
    about the question, and KR asks no further source (unless `sufficient_at` wants more). At 0, KR measures it
    itself, as the plain share of words.
    """
    covered: frozenset[str] = frozenset()
    """The words of the question that it contains."""
    notes: tuple[str, ...] = ()
    """What the reader of a quote should also know, a sentence each, such as `deprecated since 2.0`. If the passage is
    cited, they appear among the report's caveats; KR looks up no quotes in them.
    """
    pinned: bool = False
    """Whether the question names what the passage describes, and asks about it."""
    deprecated: str | None = None
    """What the source says of its deprecation, in its own words; None if it is not deprecated."""
    replacement: str | None = None
    """The public name of what replaces it, if the source names one that exists."""
    fetched_at: datetime = Field(default_factory=_now)
    """When KR read the text."""

    def locate(self, quote: str) -> str:
        """The locator of a quote: the file and line on which it begins, if known."""
        wanted = " ".join(quote.split())
        pieces = [" ".join(line.split()) for line in self.text.split("\n")]
        starts, length = [], 0
        for piece in pieces:
            starts.append(length + (1 if length and piece else 0))
            length = starts[-1] + len(piece) if piece else length
        place = " ".join(filter(None, pieces)).find(wanted) if wanted else -1
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


class UnresolvedName(Value):
    """A name in a question, or that the asker expects, for which the library's documentation has no entry."""

    name: str
    """As the question spells it."""
    nearest: tuple[str, ...] = ()
    """The public names that are most like it, best first; at most three."""
    mentioned: bool = False
    """The documentation mentions it, and has no entry for it: it may exist."""


FamilyKind = Literal["alternatives", "sections", "changes"]
"""What a family joins: things of which you choose one, parts of a text, or what became otherwise in some versions."""


class Family(Value):
    """Passages about things of one kind: functions that are named alike, members of a class, sections below one heading."""

    name: OneLine
    """What they have in common, in words."""
    kind: FamilyKind = "alternatives"
    titles: tuple[OneLine, ...]
    """The titles of its passages, those first that matter most."""
    unshown: tuple[str, ...] = ()
    """The names of further members, whose passages are left out."""


class Finding(Value):
    """The answer of one source to one question: a typed outcome and its passages, best first."""

    outcome: Outcome
    passages: tuple[Passage, ...] = ()
    """The passages that answer, best first; KR ignores them unless the outcome is `ok`."""
    overview: bool = False
    """For a survey: whether these passages are an overview, each about the question by where it stands."""
    families: tuple[Family, ...] = ()
    """Which passages of an overview belong together; the most fitting family first."""
    support: tuple[Passage, ...] = ()
    """Passages that explain them: the type of a parameter, code that calls it."""
    reason: str = ""
    """Why there is no answer, for a person; shown in `degradation_notes`."""
    url: OneLine | None = None
    """Where the source looked, as shown in `sources_consulted`; relative to the project if it is a file."""
    version: OneLine | None = None
    """The version that the source read. If it differs from the requested one, KR lowers the score and notes it. Leave
    it None for material without versions.
    """
    version_from: str | None = None
    """The file or environment that names that version."""
    newest: str | None = None
    """The newest released version that the source knows. Entries about an earlier major version become stale, unless
    the project itself says which version it uses.
    """
    missing: tuple[str, ...] = ()
    """Words of the question that are missing from the source's material. If little is covered, the answer begins by
    naming them; they are among the reasons of its score.
    """
    notes: tuple[str, ...] = ()
    """What the user should know even if there is an answer, such as unreadable files; each becomes a line of
    `degradation_notes`.
    """
    unresolved: tuple[UnresolvedName, ...] = ()
    """Names in the question that clearly belong to the library and do not occur in the version that was read."""
    reached: bool = True
    """False if no request left the machine (not configured, circuit open, connection refused); such a consultation
    costs no budget.
    """


class Score(Value):
    """How sure an answer is: 0-100, its level (`high` from 80, `medium` from 50) and the reasons."""

    score: int = Field(ge=0, le=100)
    level: Level
    reasons: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_level(self) -> Self:
        expected = "high" if self.score >= _HIGH else "medium" if self.score >= _MEDIUM else "low"
        if self.level != expected:
            raise ValueError(
                f"a score of {self.score} is `{expected}`, not `{self.level}`; `high` is from {_HIGH}, `medium` from {_MEDIUM}"
            )
        return self


class Citation(Value):
    """A numbered quote of a passage, as shown in results."""

    n: int
    source: OneLine
    url: OneLine
    locator: OneLine
    symbol: OneLine | None = None
    version: OneLine | None = None
    official: bool = False
    quote: str


class Claim(Value):
    """One sentence of a report.

    `slots` are the parts that state a fact (symbol, parameter, default, code, quoted prose); each occurs verbatim in a
    cited passage. The words between them only connect them. A sentence that a language model has `written` is in its
    own words, which the cited passages support.
    """

    text: str
    citations: tuple[int, ...] = ()
    slots: tuple[str, ...] = ()
    written: bool = False


class CodeExample(Value):
    """A code block of a report, verbatim in the cited passage."""

    code: str
    citation: int
    language: str = "python"


class Draft(Value):
    """An answer before it is rendered."""

    summary: tuple[Claim, ...] = ()
    summary_code: tuple[CodeExample, ...] = ()
    direct: bool = False
    """Whether the first sentence answers in the question's kind, and not only with the nearest documentation."""
    not_found: tuple[str, ...] = ()
    """What a question about a difference names and no passage is about."""
    code_after: int = 1
    """How many sentences of the summary come before its code."""
    details: tuple[Claim, ...] = ()
    code: tuple[CodeExample, ...] = ()
    caveats: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    passages: dict[int, Passage] = Field(default_factory=dict)
    """The cited passage of each citation number."""
    dropped: tuple[str, ...] = ()
    """Quotes that are not in the answer because KR did not find them in their passage."""
    unsupported: tuple[str, ...] = ()
    """Sentences of a language model that are not in the answer because their passages do not support them; with the
    reason.
    """
