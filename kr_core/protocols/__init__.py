"""What a component of each kind must offer; the engine, not pluggy, calls these methods.

Async only where there is waiting for the outside (`Source`, `Agent`, `Escalation`). Everything else is sync, so that a cache hit
starts no event loop.
"""

from __future__ import annotations

from kr_core.protocols.agents import Agent, Job, Router
from kr_core.protocols.answers import (
    Candidates,
    Embedder,
    Kept,
    Moved,
    Rebuilt,
    Renderer,
    Repairable,
    Scorer,
    Store,
)
from kr_core.protocols.checking import lacking
from kr_core.protocols.humans import (
    Case,
    Escalation,
    Heard,
    HumanReply,
    Momentary,
    Notice,
    Receiver,
    Shown,
    SinkContext,
    Unclear,
    Verifier,
)
from kr_core.protocols.record import Document, Flaw, Journal, Log, LogRecord
from kr_core.protocols.sources import (
    Cache,
    Exchange,
    Limited,
    Project,
    Rate,
    Selective,
    Source,
    SourceContext,
    Unready,
    Versioned,
)

__all__ = [
    "Agent",
    "Cache",
    "Candidates",
    "Case",
    "Document",
    "Embedder",
    "Escalation",
    "Exchange",
    "Flaw",
    "Heard",
    "HumanReply",
    "Job",
    "Journal",
    "Kept",
    "Limited",
    "Log",
    "LogRecord",
    "Momentary",
    "Moved",
    "Notice",
    "Project",
    "Rate",
    "Rebuilt",
    "Receiver",
    "Renderer",
    "Repairable",
    "Router",
    "Scorer",
    "Selective",
    "Shown",
    "SinkContext",
    "Source",
    "SourceContext",
    "Store",
    "Unclear",
    "Unready",
    "Verifier",
    "Versioned",
    "lacking",
]
