"""How far passages answer a question, and which are about what the asker expects in the answer (A14)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import WEAK_WORDS, content_words, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Finding, Passage, ResearchQuery
    from kr_core.question.parsed_question import ParsedQuestion

ABOUT = 0.4
"""From this coverage of the question on, a finding is about it, and the chain of sources may stop."""
PARTLY = 0.3
"""Below this the answer says first that the documentation does not seem to hold it."""
COVERED = 0.61
"""The coverage from which an official passage is trusted (`medium`): 2 of 39 unanswerable tuning questions reach it."""
_WEAK = 0.3
_LEAST_KIND = 5
"""Letters of a parameter that may be called what a class is a kind of."""
FULLY = 0.67
"""The coverage from which, with code, the answer is `high`: no unanswerable tuning question reaches it."""


def measured(passage: Passage, question: str) -> Passage:
    """A passage with its coverage; a source that does not say it gets the share of the question's words it holds."""
    if passage.coverage:
        return passage
    held = stems(f"{passage.title} {passage.text}")
    asked = content_words(question)
    weight = {word: _WEAK if word in WEAK_WORDS else 1.0 for word in asked}
    covered = {word for word in asked if stem(word) in held}
    share = sum(weight[word] for word in covered) / (sum(weight.values()) or 1.0)
    return passage.model_copy(update={"coverage": share, "covered": frozenset(covered)})


class QuestionCoverage(NamedTuple):
    """How much of a question the passages cover, and what they leave out."""

    coverage: float
    missing: tuple[str, ...]


def answered(findings: Sequence[tuple[str, Finding]]) -> QuestionCoverage:
    """How much of the question the first passage of the best finding covers."""
    best = QuestionCoverage(0.0, ())
    for _source, finding in findings:
        if not finding.passages:
            continue
        found = QuestionCoverage(finding.passages[0].coverage, finding.missing)
        best = max(best, found, key=lambda one: one.coverage)
    return best


def is_named(query: ResearchQuery, passage: Passage) -> bool:
    """Whether the request names what a passage is about, by its last part; a section by its heading."""
    lasts = {name.rpartition(".")[2] for name in (passage.symbol, *passage.also, *passage.aliases) if name}
    if passage.kind in {"section", "page"}:
        lasts |= set(re.split(r"\W+", passage.title.rpartition(" § ")[2]))
    wanted = {passage.parameter} if passage.parameter else lasts
    wanted |= {name.lstrip("-").replace("-", "_") for name in lasts if name.startswith("--")}
    return not (wanted - {""}).isdisjoint(re.split(r"\W+", " ".join(query.names)))


def is_expected(query: ResearchQuery, asked: ParsedQuestion, passage: Passage) -> bool:
    """Whether the names of the request lead to a passage, and the question does not spell what it is about.

    Args:
        query: with the names.
        asked: its question.
        passage: what was found.
    """
    names = [name for name in (passage.symbol, *passage.also, *passage.aliases) if name]
    if not query.names or not names or asked.spells(names):
        return False
    lasts = {name.rpartition(".")[2] for name in names} | {passage.parameter or ""}
    return not lasts.isdisjoint(re.split(r"\W+", " ".join(query.names)))


def takes_kind(parameter: str, documentation: str, kinds: Iterable[str]) -> bool:
    """Whether a parameter takes one of some classes.

    Args:
        parameter: its name, which may be what a class is a kind of: `undefined` for `StrictUndefined`.
        documentation: of the parameter, which may name a class.
        kinds: the names of the classes; any other name, with a small first letter, does not count.
    """
    plain = parameter.replace("_", "").lower()
    return any(
        re.search(rf"\b{re.escape(kind)}\b", documentation)
        or (len(plain) >= _LEAST_KIND and kind.lower().endswith(plain))
        for kind in kinds
        if kind[:1].isupper()
    )
