"""The values that pass between stages: frozen pydantic models, grouped by subject."""

from kr_core.model.base import Value
from kr_core.model.events import EVENTS, STAGES, Event, new_id
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
from kr_core.model.research import (
    Fault,
    Match,
    ResearchQuery,
    ResearchRequest,
    ResearchResult,
    Results,
    SourceConsulted,
    Status,
    Tier,
)

__all__ = [
    "EVENTS",
    "SKELETON_MARK",
    "STAGES",
    "STALE_MARK",
    "Attribution",
    "Citation",
    "Claim",
    "CodeExample",
    "Draft",
    "Entry",
    "EntryStatus",
    "Event",
    "Fault",
    "Finding",
    "Level",
    "Match",
    "Outcome",
    "Passage",
    "PassageKind",
    "Report",
    "ResearchQuery",
    "ResearchRequest",
    "ResearchResult",
    "Results",
    "Score",
    "SourceConsulted",
    "Status",
    "Tier",
    "Value",
    "new_id",
]
