"""The values that pass between stages: frozen pydantic models, grouped by subject."""

from kr_core.model.base import Value
from kr_core.model.event import STAGES, Event, new_id
from kr_core.model.evidence import (
    Citation,
    Claim,
    CodeExample,
    Draft,
    Finding,
    Level,
    Outcome,
    Passage,
    PassageKind,
    Score,
)
from kr_core.model.knowledge import SKELETON_MARK, STALE_MARK, Attribution, Entry, EntryStatus, Report
from kr_core.model.outside import Page, Program, ToolResult
from kr_core.model.research import (
    Egress,
    Fault,
    Match,
    ResearchQuery,
    ResearchRequest,
    ResearchResult,
    Results,
    SourceConsulted,
    Status,
    Tier,
    WrittenBy,
)

__all__ = [
    "SKELETON_MARK",
    "STAGES",
    "STALE_MARK",
    "Attribution",
    "Citation",
    "Claim",
    "CodeExample",
    "Draft",
    "Egress",
    "Entry",
    "EntryStatus",
    "Event",
    "Fault",
    "Finding",
    "Level",
    "Match",
    "Outcome",
    "Page",
    "Passage",
    "PassageKind",
    "Program",
    "Report",
    "ResearchQuery",
    "ResearchRequest",
    "ResearchResult",
    "Results",
    "Score",
    "SourceConsulted",
    "Status",
    "Tier",
    "ToolResult",
    "Value",
    "WrittenBy",
    "new_id",
]
