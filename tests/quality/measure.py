"""Answers measured on a question set: is the right passage first, is the summary usable, is the level honest?

Run as a program it prints the figures of the tuning half, with `-v` each question that went wrong:

    python tests/quality/measure.py tests/quality/dev.yaml -v

The held-out half is reported by the tests and by `make bench`; its questions are never looked at while tuning.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from kr_core.net.shared_resources import SharedResources
from kr_core.net.source_context import ConsultationContext
from kr_core.plugin import Draft, Finding, ResearchQuery, Score
from kr_core.question.topics import topic_and_tags
from kr_core.research import report
from kr_core.research.outcomes import outcome_of
from kr_core.toolkit import LocalProject, yaml_text
from kr_plugins.scorers.evidence import Evidence
from kr_plugins.sources.installed_docs import InstalledDocs

HERE = Path(__file__).parent
ENVIRONMENT = Path(os.environ.get("KR_QUALITY_ENV", HERE.parent.parent / ".quality" / ".venv"))
USABLE_WITHIN = 600


class Outcome(NamedTuple):
    """What became of one question."""

    id: str
    question: str
    answerable: bool
    location: int | None
    """Position of the first right passage, from 0; None where it is not among those shown."""
    usable: bool
    level: str
    score: int
    summary: str
    shown: tuple[str, ...]
    coverage: float
    wanted: tuple[str, ...]


class Figures(NamedTuple):
    """The figures that the project reports."""

    questions: int
    first: float
    first_five: float
    usable: float
    unanswerable: int
    false_high: int
    false_medium: int
    levels: dict[str, int]


class Answered(NamedTuple):
    """An answer as the pipeline would give it, with what it was made from."""

    query: ResearchQuery
    finding: Finding
    found: list[tuple[str, Finding]]
    draft: Draft
    score: Score
    summary: str


def answered_by(
    source: InstalledDocs,
    project: LocalProject,
    framework: str,
    question: str,
    expected: tuple[str, ...] = (),
) -> Answered:
    """Answer a question as the pipeline would, without keeping anything; `expected` are the `names` of the request."""
    known = project.version_of(framework)
    topic, tags = topic_and_tags(question, framework)
    query = ResearchQuery(
        framework=framework, framework_version=known[0] if known else "latest", topic=topic, tags=tags,
        question=question, inferred=frozenset({"framework_version", "topic", "tags"}), names=expected,
    )  # fmt: skip
    finding = asyncio.run(_consult(source, project, query))
    found = [("installed_docs", finding)] if finding.passages else []
    draft = report.draft_of(query, found)
    score = Evidence().score(query, found, draft)
    shown = report.told_with_doubt(query, found, draft, score)
    return Answered(query, finding, found, draft, score, report.summary_text(shown))


def ask(source: InstalledDocs, project: LocalProject, entry: dict[str, Any]) -> Outcome:
    """What became of one question of the set."""
    _query, finding, _found, _draft, score, summary = answered_by(
        source, project, entry["package"].lower(), entry["question"]
    )
    wanted = set(entry["answers"])
    place = next((n for n, passage in enumerate(finding.passages) if names(passage) & wanted), None)
    head = re.sub(r"\s+", " ", summary)[:USABLE_WITHIN]
    usable = any(re.sub(r"\s+", " ", fragment) in head for fragment in entry["fragments"])
    return Outcome(
        entry["id"], entry["question"], bool(wanted), place, usable, score.level, score.score, summary,
        tuple(passage.title for passage in finding.passages),
        finding.passages[0].coverage if finding.passages else 0.0, tuple(entry["answers"]),
    )  # fmt: skip


async def _consult(source: InstalledDocs, project: LocalProject, query: ResearchQuery) -> Finding:
    deadline = asyncio.get_running_loop().time() + 120
    outside = SharedResources(Path(tempfile.gettempdir()))  # which it does not use: it is on the machine
    context = ConsultationContext(project, lambda _kind, _data: None, deadline, outside, "installed_docs")
    asked = asyncio.create_task(source.query(query, context))
    await asked
    return outcome_of(asked, context, 0.0, query.question, external=False)


def names(passage: Any) -> set[str]:
    """Every name under which a passage may stand in the question set."""
    if passage.kind == "section":
        trail = passage.title.split(" § ")
        return {passage.title, f"{trail[0]}#{trail[-1]}", f"README#{trail[-1]}", trail[0]}
    symbols = {passage.symbol, *passage.also, *passage.aliases}
    if passage.parameter:
        return {f"{symbol}({passage.parameter})" for symbol in symbols} | set(passage.aliases)
    return {symbol for symbol in symbols if symbol}


def measure(file: Path, cache: Path) -> list[Outcome]:
    """Ask every question of a file."""
    with tempfile.TemporaryDirectory() as root:
        project = LocalProject(Path(root), Path(root), {"VIRTUAL_ENV": str(ENVIRONMENT)})
        source = InstalledDocs(cache)
        return [ask(source, project, entry) for entry in yaml_text.load(file.read_text("utf-8"))]


def figures(outcomes: list[Outcome]) -> Figures:
    """The figures of a set of outcomes."""
    answerable = [one for one in outcomes if one.answerable]
    others = [one for one in outcomes if not one.answerable]
    count = len(answerable)
    levels = {level: sum(one.level == level for one in answerable) for level in ("high", "medium", "low")}
    return Figures(
        count,
        sum(one.location == 0 for one in answerable) / count,
        sum(one.location is not None and one.location < 5 for one in answerable) / count,
        sum(one.usable for one in answerable) / count,
        len(others),
        sum(one.level == "high" for one in others),
        sum(one.level == "medium" for one in others),
        levels,
    )  # fmt: skip


def main() -> None:
    cache = Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp())
    outcomes = measure(Path(sys.argv[1]), cache)
    for one in outcomes:
        if "-v" in sys.argv and one.answerable and (one.location != 0 or not one.usable):
            print(
                f"\n{one.location} usable={one.usable} {one.level} {one.score} cov={one.coverage:.2f} {one.id}: {one.question}\n   want {one.wanted[:4]}\n   got {one.shown[:6]}"
            )
        if "-s" in sys.argv:
            print(f"\n=== {one.id} {one.question}\n{one.summary[:900]}")
        if "-u" in sys.argv and not one.answerable:
            print(
                f"{one.level} {one.score} cov={one.coverage:.2f} {one.id}: {one.question} -> {one.shown[:1]}"
            )
    if "-c" in sys.argv:
        for one in sorted(outcomes, key=lambda o: -o.coverage):
            print(
                f"{one.coverage:.2f} {'A' if one.answerable else 'U'} place={one.location} {one.level} {one.id}"
            )
    print(figures(outcomes))


if __name__ == "__main__":
    main()
