"""What a human decided about an answer of research, in the knowledge base: their text in place of it, or a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.evidence.citations import Citer, folded
from kr_core.evidence.verification import title_of
from kr_core.git.autocommit import commit_changes
from kr_core.knowledge.wording import same_question
from kr_core.model import STALE_MARK, Attribution, Claim, Draft, Finding, Outcome, Passage, Score
from kr_core.net.redaction import redacted
from kr_core.research import report as reports
from kr_core.research.decision_origin import SOURCE
from kr_core.research.entry_lookup import NOTHING, entry_to_write, summary_of
from kr_core.research.maintenance import within_limits
from kr_core.research.passages import ranked
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime

    from kr_core.model import Entry, ResearchQuery
    from kr_core.protocols import WriteResult
    from kr_core.research.container import Container

__all__ = ["Review", "ReviewedReport", "record_review", "reviewed_by", "says"]

FINDING = "given by a human"
_KEY = "review"
"""In the evidence of a reviewed answer: `case`, `by`, the day `on` which, and `how` it was decided."""
_CAVEATS = re.compile(r"^## Caveats & Version-Specific Notes\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)")
_ITEM = re.compile(r"\s*+(?:[-+*]|\d{1,9}[.)])\s")
_ID = re.compile(r"E[0-9]{1,9}")
_ADDED = re.compile(r"\[\d{1,3}\]|\\(?=[^\w\s])")
_VERDICT = re.compile(r"(?:Yes|No): ")


class Review(NamedTuple):
    """A human's decision about an answer of research."""

    case: str
    by: str
    """Their name, in one harmless line."""
    text: str
    """The answer as it is from now on."""
    is_confirmed: bool
    """Whether it is the answer that KR gave, and not the human's own."""
    time: datetime
    """Of the decision."""

    @property
    def day(self) -> str:
        """The day of the decision, as the human had it."""
        return self.time.astimezone().date().isoformat()

    @property
    def told(self) -> str:
        """The decision in one line."""
        how = "confirmed" if self.is_confirmed else "given"
        return f"{how} by {self.by} on {self.day} ({self.case})"


class ReviewedReport(NamedTuple):
    """What became of a report."""

    message: str
    entry: str | None = None
    """The id of its entry; None where nothing was written."""
    path: str | None = None
    notes: tuple[str, ...] = ()


def reviewed_by(evidence: dict[str, Any]) -> str:
    """The case in which a human decided about a kept answer; empty if there is none."""
    review = evidence.get(_KEY)
    case = review.get("case") if isinstance(review, dict) else None
    return case if isinstance(case, str) and _ID.fullmatch(case) else ""


def record_review(
    components: Container, query: ResearchQuery, path: str | None, review: Review
) -> ReviewedReport:
    """Put a human's decision into the knowledge base; once, however often it is called.

    A text of their own becomes the report's, with the human as its source; its entry is fresh. A confirmation is noted in
    the report, and its entry is fresh; the score stays as it was measured. An answer that was researched again since, or
    taken out of the knowledge base, is not the one that was confirmed, and nothing is written.

    Args:
        components: what the pipeline works with.
        query: the question.
        path: of the report in the knowledge base; None if there is none.
        review: the decision.

    Raises:
        StorageError: the knowledge base cannot be written.
    """
    store = components.store
    entry = next((one for one in store.entries() if one.path == path), None)
    stored = None if entry is None else store.read(entry)
    report, evidence = stored or ("", {})
    if not _asks(evidence, query):  # another question's, which has its path by now
        entry, report, evidence = None, "", {}
    if entry is not None and reviewed_by(evidence) == review.case and _is_of(report, evidence, review.text):
        return ReviewedReport(_written(entry.path), entry.id, entry.path)
    notes: list[str] = []
    if not review.is_confirmed:
        entry = _renewed(entry, components.today()) if entry else _new_entry(components, query)
        write = _write_answer(components, query, entry, review, notes)
    elif entry is None or not _is_of(report, evidence, review.text):
        return ReviewedReport(
            f"{review.case}: the answer is not in the knowledge base any more; nothing is noted"
        )
    else:
        write = _write_note(components, entry, (report, evidence), review)
        entry = write.entry or entry
    facts = [f"Report: {entry.path}", f"Answer: {review.told}"]
    subject = f"{entry.id}: {'confirmed' if review.is_confirmed else 'answered'} by a human"
    notes += commit_changes(components.config, tuple(write.files), subject, facts)
    return ReviewedReport(_written(entry.path), entry.id, entry.path, tuple(notes))


def _written(path: str) -> str:
    return f"the knowledge base has it: {path}"


def _new_entry(components: Container, query: ResearchQuery) -> Entry:
    return entry_to_write(NOTHING, query, query.framework_version, components.today(), "fresh")


def _renewed(entry: Entry, today: date) -> Entry:
    return entry.model_copy(update={"last_accessed": today, "status": "fresh"})


def _is_of(report: str, evidence: dict[str, Any], text: str) -> bool:
    """Whether a kept answer is the one that was shown to the human, who sees no secrets."""
    answer = evidence.get("answer") or summary_of(report)
    return isinstance(answer, str) and says(answer, text)


def says(answer: str, text: str) -> bool:
    """Whether a kept answer is the one that a human saw or gave, as it is or as its own report has it."""
    return _bare(printable(redacted(answer))) == _bare(text)


def _bare(text: str) -> str:
    """A text in one line, without what a report adds to it: marks of citations, and backslashes before signs."""
    return " ".join(_ADDED.sub("", folded(text)).split())


def _asks(evidence: dict[str, Any], query: ResearchQuery) -> bool:
    """Whether a kept report is of a question; what a person wrote names none."""
    asked = evidence.get("question")
    return not isinstance(asked, str) or same_question(
        redacted(asked), redacted(query.question), query.framework
    )


# -- a text of their own -----------------------------------------------------------------------------------


def _write_answer(
    components: Container, query: ResearchQuery, entry: Entry, review: Review, notes: list[str]
) -> WriteResult:
    today = components.today()
    passage = Passage(
        text=review.text,
        url=f"case:{review.case}",
        locator=f"{review.by}, {review.day}",
        coverage=1.0,
        fetched_at=review.time,
    )
    findings = [(SOURCE, Finding(outcome=Outcome.ok, passages=(passage,), url=passage.url))]
    score = Score(score=100, level="high", reasons=(f"a human answered: {review.told}",))
    ready = reports.report_of(query, findings, _draft(passage), score, today, None, ())
    sources = (Attribution(url=passage.url, via=SOURCE, finding=FINDING),)
    ready = components.hooks.report_ready(ready.model_copy(update={"sources": sources}), notes)
    rendered = reports.rendered(components.renderer, ready)
    evidence = reports.evidence_of(rendered.report, query, entry.path, ranked(one for _, one in findings))
    evidence["title"] = title_of(rendered.text)
    evidence[_KEY] = _data(review)
    notes += rendered.notes
    return within_limits(components.store.write(rendered.text, evidence, entry), components, notes)


def _data(review: Review) -> dict[str, str]:
    how = "confirmed" if review.is_confirmed else "answered"
    return {"case": review.case, "by": review.by, "on": review.day, "how": how}


def _draft(passage: Passage) -> Draft:
    """The human's text: its paragraphs and items as sentences, then its code after the first of them."""
    citer = Citer()
    number = citer.cite(SOURCE, passage, next(line for line in passage.text.split("\n") if line.strip()))
    claims, code, after = [], [], 0
    for block in _blocks(passage.text):
        lines = block.split("\n")
        if _FENCE.match(block):
            inside = "\n".join(lines[1:-1] if _FENCE.match(lines[-1]) and len(lines) > 1 else lines[1:])
            example = citer.code(SOURCE, passage, inside) if inside.strip() else None
            code += [] if example is None else [example.model_copy(update={"citation": number})]
            continue
        claims += _claims(citer, block, number)
        after += not code
    if not (claims or code):
        claims = [Claim(text=folded(passage.text))]
    return Draft(
        summary=tuple(claims),
        summary_code=tuple(code),
        direct=True,
        code_after=after,
        citations=tuple(citer.citations[:1]),
        passages={citation.n: passage for citation in citer.citations[:1]},
    )


def _claims(citer: Citer, block: str, number: int | None) -> list[Claim]:
    said = folded(block)
    slots = (said, _VERDICT.sub("", said, count=1)) if _VERDICT.match(said) else (said,)
    claim = citer.claim(said, [number], slots)
    return [] if claim is None else [claim]


def _blocks(text: str) -> Iterator[str]:
    """The paragraphs, the items of lists and the fenced code of a text."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        edge = _FENCE.match(line)
        if fence:
            lines.append(line)
            if edge and edge[1].startswith(fence):
                yield from _whole(lines)
                lines, fence = [], ""
            continue
        if edge or not line.strip() or _ITEM.match(line):
            yield from _whole(lines)
            lines = []
        if edge:
            fence = edge[1]
        lines.append(line)
    yield from _whole(lines)


def _whole(lines: Sequence[str]) -> Iterator[str]:
    block = "\n".join(lines).strip("\n")
    if block.strip():
        yield block


# -- a confirmation ----------------------------------------------------------------------------------------


def _write_note(
    components: Container, entry: Entry, stored: tuple[str, dict[str, Any]], review: Review
) -> WriteResult:
    """Note in the report that a human confirmed its answer."""
    report, evidence = stored
    if evidence:  # a report in the wild has none
        reasons = [f"a human decided: {review.told}", *(evidence.get("reasons") or ())]
        kept = {key: value for key, value in evidence.items() if key != "incomplete"}
        evidence = {**kept, "reasons": reasons, _KEY: _data(review)}
    report = _noted(report.replace(f"{STALE_MARK}\n\n", ""), f"The answer was {review.told}.")
    return components.store.write(report, evidence, _renewed(entry, components.today()))


def _noted(report: str, note: str) -> str:
    """A report with a note among its caveats, or in a section of its own where a template has no caveats."""
    section = _CAVEATS.search(report)
    if section is None:
        return f"{report.rstrip()}\n\n## Review\n\n{note}\n"
    before, after = report[: section.end()].rstrip(), report[section.end() :]
    return f"{before}\n- Note: {note}\n\n{after}".rstrip() + "\n"
