"""The passages of an answer as agents read them: verbatim, best first, within a number of tokens."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kr_core.model import ResultPassage
from kr_core.text import BYTES_A_TOKEN, STOP_WORDS, root_of, tokens, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.model import Finding, Passage

__all__ = ["ranked", "result_passages", "stored_passages"]

_MAX_KEPT = 12
_MAX_KEPT_TOKENS = 6_000
"""Of the passages that are stored beside a report, in git."""
_LONGEST_URL, _LONGEST_NAME = 2_000, 1_000
"""Characters of what is said of a stored passage, which the limit of tokens does not count."""
_SMALLEST = 150
"""Tokens of a piece of a passage that is not the best one."""
_FIRST, _OTHERS = 0.6, 0.4
"""The share of the limit that a passage too long may take."""


def ranked(findings: Iterable[Finding]) -> list[Passage]:
    """The passages to show, best first and each once: what the question names, then what each source found, in its order."""
    found = {passage.sha256: passage for finding in findings for passage in finding.passages}
    kept: list[Passage] = []
    left = _MAX_KEPT_TOKENS
    for passage in sorted(found.values(), key=lambda one: not one.pinned):
        size = tokens(passage.text)
        if kept and size > left:
            continue
        kept.append(passage)
        left -= size
    return kept[:_MAX_KEPT]


def evidence_entries(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """What the evidence says of the passages that are shown; their texts are among all its passages."""
    return [
        {
            "sha256": passage.sha256,
            "symbol": passage.symbol,
            "kind": passage.kind,
            "locator": passage.locator,
            "version": passage.version,
            "deprecated": passage.deprecated,
        }
        for passage in passages
    ]


def result_passages(passages: Iterable[Passage], question: str, max_tokens: int) -> tuple[ResultPassage, ...]:
    """The passages of a new answer, within the limit.

    Args:
        passages: best first.
        question: decides which lines of a long passage are shown.
        max_tokens: of all texts together.
    """
    once: dict[str, Passage] = {}
    for passage in passages:
        once.setdefault(passage.sha256, passage)
    values = (
        {**entry, "url": passage.url, "text": passage.text} for passage, entry in _with_entries(once.values())
    )
    return _fitted(values, question, max_tokens)


def stored_passages(evidence: Mapping[str, Any], question: str, max_tokens: int) -> tuple[ResultPassage, ...]:
    """The passages of a kept answer, within the limit; what a person has spoilt in the evidence is left out."""
    entries, texts = evidence.get("shown"), evidence.get("passages")
    if not isinstance(entries, list) or not isinstance(texts, dict):
        return ()
    known = {
        entry["sha256"]: entry
        for entry in entries[:_MAX_KEPT]
        if isinstance(entry, dict)
        and isinstance(entry.get("sha256"), str)
        and isinstance(texts.get(entry["sha256"]), dict)
    }
    values = (
        {**entry, **{key: texts[sha256].get(key) for key in ("url", "text")}}
        for sha256, entry in known.items()
    )
    return _fitted(values, question, max_tokens)


def _with_entries(passages: Iterable[Passage]) -> Iterator[tuple[Passage, dict[str, Any]]]:
    listed = list(passages)
    return zip(listed, evidence_entries(listed), strict=True)


def _fitted(values: Iterable[Mapping[str, Any]], question: str, max_tokens: int) -> tuple[ResultPassage, ...]:
    roots = frozenset(root_of(word) for word in words(question) if word not in STOP_WORDS)
    left, found = max_tokens, list[ResultPassage]()
    for value in values:
        text, url = value["text"], value["url"]
        if not isinstance(text, str) or not isinstance(url, str) or len(url) > _LONGEST_URL:
            continue
        limit = min(left, int(max_tokens * (_OTHERS if found else _FIRST)))
        shown = text.strip("\n")
        if tokens(shown) > left:  # a short piece of what is not the best says too little
            shown = _run_of_lines(text, limit, roots) if not found or limit >= _SMALLEST else ""
        size = tokens(shown)
        if not shown or size > left:
            continue
        left -= size
        optional = {key: value.get(key) for key in ("symbol", "version", "deprecated")}
        found.append(
            ResultPassage(
                n=len(found) + 1,
                kind=_text(value.get("kind")) or "page",
                text=shown,
                tokens=size,
                url=url,
                locator=_text(value.get("locator")),
                **{key: _text(one) or None for key, one in optional.items()},
            )
        )
    return tuple(found)


def _run_of_lines(text: str, limit: int, roots: frozenset[str]) -> str:
    """The run of lines that holds most of what is asked and fits; the first of several such; empty if none fits."""
    lines = text.split("\n")
    sizes = [len(line.encode("utf-8", "replace")) + 1 for line in lines]
    held = [frozenset(map(root_of, words(line))) & roots for line in lines]
    inside: Counter[str] = Counter()
    start = size = 0
    best, best_run = -1, (0, 0)
    for end, line_size in enumerate(sizes, 1):
        size += line_size
        inside.update(held[end - 1])
        while start < end and size > limit * BYTES_A_TOKEN:
            size -= sizes[start]
            inside.subtract(held[start])
            start += 1
        count = sum(number > 0 for number in inside.values())
        longer = start == best_run[0] and count >= best
        if end > start and (count > best or longer):
            best, best_run = count, (start, end)
    return "\n".join(lines[slice(*best_run)]).strip("\n")


def _text(value: Any) -> str:
    return value[:_LONGEST_NAME] if isinstance(value, str) else ""
