"""What a tool answered, as a finding: its texts, those of structured content too, unless they say that there is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kr_core.plugin import Finding, Outcome
from kr_core.toolkit import refusal
from kr_plugins.sources.sections import AnswerText, search

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from kr_core.plugin import ToolResult

_SHORTEST = 4
"""Words; a shorter text of structured content is a name, a date, a state."""
_DEEPEST = 50
_TITLES = ("title", "name", "heading", "subject")


def told(
    result: ToolResult, question: str, patterns: Sequence[re.Pattern[str]], tool: str, url: str
) -> Finding:
    """What a tool answered; takes up to a second for a long answer.

    Args:
        result: what came back.
        question: what was asked.
        patterns: of texts that are a failure.
        tool: its name, by which a text without a heading is called.
        url: where passages can be looked up.
    """
    texts = texts_of(result, tool)
    whole = "\n\n".join(text.text for text in texts)
    said = result.text if result.is_error else whole
    outcome = refusal(said, question, is_error=result.is_error)
    if outcome is None and any(pattern.search(said) for pattern in patterns):
        outcome = Outcome.unavailable
    if outcome is not None:
        return Finding(outcome=outcome, reason=" ".join(said.split())[:300] or "it said nothing", url=url)
    found = search(texts, question, url=url)
    return Finding(
        outcome=Outcome.ok if found.passages else Outcome.empty,
        passages=found.passages,
        missing=found.missing,
        notes=("only the beginning of its answer was looked at",) if found.cut else (),
        url=url,
    )


def texts_of(result: ToolResult, tool: str) -> list[AnswerText]:
    """The texts of a result; structured content, given again as JSON in a text block, counts once."""
    plain = result.text.strip()
    data = _json(plain)
    if data is None:
        known = "".join(plain.split())
        found = [AnswerText(result.text, tool)] if plain else []
        more = _leaves(result.structured, tool, "", _DEEPEST)
        return found + [one for one in more if "".join(one.text.split()) not in known]
    leaves = list(_leaves(data, tool, "", _DEEPEST))
    return leaves or [AnswerText(result.text, tool)]


def _json(text: str) -> Any:
    """What a text block says in JSON, where it holds structured content; None for prose."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(value: Any, place: str, title: str, depth: int) -> Iterator[AnswerText]:
    """The texts in structured content, each called by its title or by its place in there."""
    if isinstance(value, str):
        if len(value.split()) >= _SHORTEST:
            yield AnswerText(value, title or place, title)
    elif depth and isinstance(value, dict):
        own = next((value[key] for key in _TITLES if isinstance(value.get(key), str)), "")
        for key, item in value.items():
            yield from _leaves(item, f"{place}.{key}", " ".join(own.split()), depth - 1)
    elif depth and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{place}[{number}]", title, depth - 1)
