"""What the model knows of an answer: a few numbers between 0 and 1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.toolkit import (
    answered,
    content_words,
    is_expected,
    named_elsewhere,
    parse_question,
    says_parameter,
    split_identifier,
    stem,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import Draft, Finding, Passage, ResearchQuery
    from kr_core.toolkit import ParsedQuestion

_OF_OPTIONS = re.compile(r"(?:Options|Config|Settings|Props)$")
"""A type whose members nobody calls by its name: the options of a function."""
_TELLING_PARTS = 3
"""A member whose name has at least three words is clear without its owner: `set_missing_host_key_policy`."""
_MAX_WORDS = 40
"""A longer question is a story with a question in it."""
_DEEPEST = 5
"""Modules and classes in which a name lies; more count the same."""


def features(query: ResearchQuery, findings: Sequence[tuple[str, Finding]], draft: Draft) -> dict[str, float]:
    """What the model knows of an answer; each value is between 0 and 1."""
    shown = [passage for _source, finding in findings for passage in finding.passages]
    if not shown:
        return {}
    found = answered(findings)
    first = shown[0]
    question, said = parse_question(query.question), _said(query, draft)
    is_spelled = not first.pinned and question.spells(
        name for name in (first.symbol, *first.also, *first.aliases) if name
    )
    is_pinned = first.pinned and not is_expected(query, question, first)
    known: dict[str, float] = {
        "coverage": found.coverage,
        "squared coverage": found.coverage**2,
        "pinned": is_pinned,
        **_of_expected(query, question, shown, findings),
        "npm": first.url.startswith("pkg:npm"),
        "direct": draft.direct,
        "example": bool(draft.summary_code),
        "documented": _is_documented(first),
        "missing words": min(1.0, len(found.missing) / 3),
        "unresolved name": any(
            one.name not in query.names and not one.mentioned
            for _source, finding in findings
            for one in finding.unresolved
        ),
        "lead": _lead(shown),
        **_of_name(query, first),
        "said": said,
        "said all": said**3,
        "both": question.kind == "difference" and sum(passage.pinned for passage in shown) > 1,
        "parameter first": first.kind == "parameter" and not first.pinned,
        "worded parameter": is_worded(query, question, shown),
        "spelled callable": is_spelled and not first.parameter,
        "spelled taker": is_spelled and bool(first.parameter),
        "deprecated": first.deprecated is not None,
        "replacement told": question.kind == "replacement" and first.pinned and first.deprecated is not None,
        "message": first.what == "message" and first.pinned,
        "message advises": first.what == "message"
        and first.pinned
        and len(shown) > 1
        and shown[1].lead != "",
        "long question": min(1.0, len(query.question.split()) / _MAX_WORDS),
        f"kind {question.kind}": 1.0,
        f"passage {first.kind}": 1.0,
        f"pinned {question.kind}": is_pinned,
    }
    return {name: float(value) for name, value in known.items() if value}


def _of_expected(
    query: ResearchQuery,
    asked: ParsedQuestion,
    shown: Sequence[Passage],
    findings: Sequence[tuple[str, Finding]],
) -> dict[str, float]:
    """What speaks for a first passage that only the asker names, and against it."""
    if not query.names:
        return {}
    first = shown[0]
    absent = sum(not one.mentioned for _source, finding in findings for one in finding.unresolved)
    known: dict[str, float] = {
        "names": 1.0,
        "absent names": min(1.0, absent / len(query.names)),
    }
    if is_expected(query, asked, first):
        others = [
            one.coverage for one in shown if one.symbol != first.symbol and not is_expected(query, asked, one)
        ]
        ahead = first.coverage - max(others, default=0.0)
        known |= {
            "expected": 1.0,
            f"expected {asked.kind}": 1.0,
            "expected parameter": bool(first.parameter),
            "expected owner unsaid": is_of_unsaid_owner(query, asked, first),
            "expected coverage": first.coverage,
            "expected rest": share_beside_name(query, first),
            "expected ahead": max(0.0, ahead),
            "expected behind": max(0.0, -ahead),
        }
    return known


def share_beside_name(query: ResearchQuery, first: Passage) -> float:
    """The share of the question's telling words that a passage says, those of its symbol's name aside."""
    own = {stem(part) for name in (first.symbol or "").split(".") for part in split_identifier(name)}
    asked = _telling(query) - own
    told = {
        stem(word) for word in words(f"{first.parameter or ''} {first.lead} {first.text}".replace("_", " "))
    }
    return len(asked & told) / (len(asked) or 1)


def is_of_unsaid_owner(query: ResearchQuery, asked: ParsedQuestion, passage: Passage) -> bool:
    """Whether a passage is about a member or a parameter of something that neither the question nor a name of the request says: `caplog` alone."""
    said = {word.lower() for word in re.findall(r"\w+", f"{asked.text} {' '.join(query.names)}")}
    names = [name.split(".") for name in (passage.symbol, *passage.also, *passage.aliases) if name]
    if passage.parameter:
        return not any(
            parts[-1].lower() in said or said.issuperset(split_identifier(parts[-1])) for parts in names
        )
    owners = [(parts[-2:-1] or [""])[0] for parts in names]
    if any(len(split_identifier(parts[-1])) >= _TELLING_PARTS for parts in names):
        return False
    return all(
        owner[:1].isupper() and owner.lower() not in said and not _OF_OPTIONS.search(owner)
        for owner in owners
    )


def _of_name(query: ResearchQuery, first: Passage) -> dict[str, float]:
    """How deep in its package the first passage lies, and what share of the question's telling words its name and first sentences say."""
    *modules, last = (first.symbol or "").split(".")
    asked = _telling(query)
    named = {
        stem(part) for name in (*modules[-1:], last, first.parameter or "") for part in split_identifier(name)
    }
    told = len(asked & (named | {stem(word) for word in words(first.lead)})) / (len(asked) or 1)
    return {
        "depth": min(1.0, len(modules) / _DEEPEST),
        "at top": len(modules) == 1,
        "told": told,
        "told of what is not named": 0.0 if first.pinned else told,
    }


def _is_documented(passage: Passage) -> bool:
    return len(passage.lead.split()) >= 3 or not passage.symbol


def is_worded(query: ResearchQuery, asked: ParsedQuestion, shown: Sequence[Passage]) -> bool:
    """Whether a how-to says the first parameter and what takes it in everyday words, and nothing that another callable is called by."""
    first = shown[0]
    takers = [name for name in (first.symbol, *first.also, *first.aliases) if name]
    told = " ".join([*takers, first.text])
    elsewhere = named_elsewhere([one.symbol for one in shown if one.symbol], told)
    return bool(first.parameter) and says_parameter(
        asked, query.framework, first.parameter or "", takers, elsewhere
    )


def _telling(query: ResearchQuery) -> set[str]:
    """The stems of the question's telling words, the library's name aside."""
    return {stem(word) for word in content_words(query.question) if word not in query.framework.lower()}


def _said(query: ResearchQuery, draft: Draft) -> float:
    """The share of the question's telling words, the library's name aside, that the answer says."""
    asked = _telling(query)
    told = " ".join(claim.text for claim in draft.summary)
    said = {stem(word) for word in words(told)}
    return len(asked & said) / (len(asked) or 1)


def _lead(shown: Sequence[Passage]) -> float:
    """How far the first passage is ahead of the next one, by coverage; parameters asked for together count as one."""
    beside = [
        one for one in shown[1:] if not (one.pinned and one.parameter and one.symbol == shown[0].symbol)
    ]
    second = beside[0].coverage if beside else 0.0
    return min(1.0, max(0.0, shown[0].coverage - second))
