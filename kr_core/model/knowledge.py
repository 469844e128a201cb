"""The knowledge base's values: entries of the index and the report behind each."""

from __future__ import annotations

from datetime import date
from typing import Literal

from kr_core.model.base import OneLine, Value
from kr_core.model.evidence import Draft, Score
from kr_core.model.research import ResearchQuery

EntryStatus = Literal["fresh", "stale", "archived"]

QUOTE_DROPPED = "quote dropped: "
"""How a note on a quote begins that was not found in its passage."""
STALE_MARK = "[Based on stale cache, re-research recommended]"
"""The line of a stale report that KR used as an answer."""
SKELETON_MARK = "[No research results available, manual research required]"
"""The line of a report without research; KR never indexes such a report."""


class Entry(Value):
    """An entry of `index.yaml`: its nine keys, in the order of the file."""

    id: OneLine
    framework: OneLine
    framework_version: OneLine
    topic: OneLine
    tags: tuple[OneLine, ...]
    path: OneLine
    created: date
    last_accessed: date
    status: EntryStatus = "fresh"


class Attribution(Value):
    """A line of a report's Source Attribution."""

    url: OneLine
    via: OneLine
    finding: OneLine


class Report(Value):
    """Everything a renderer needs."""

    query: ResearchQuery
    research_date: date
    score: Score
    draft: Draft
    sources: tuple[Attribution, ...] = ()
    mark: str | None = None
    """A bracketed line that marks a report as stale or empty."""
    notes: tuple[str, ...] = ()
