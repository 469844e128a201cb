"""What a component of each kind must offer; the engine, not pluggy, calls these methods.

Async only where there is waiting for the outside (`Source`, `Agent`, `Escalation`). Everything else is sync, so that a cache hit
starts no event loop.
"""

from __future__ import annotations

from kr_core.protocols.agent import Agent, Job
from kr_core.protocols.conformance import lacking
from kr_core.protocols.embedder import Embedder
from kr_core.protocols.escalation import (
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
from kr_core.protocols.journal import Document, Journal
from kr_core.protocols.log import Log, LogRecord
from kr_core.protocols.renderer import Renderer
from kr_core.protocols.router import Router
from kr_core.protocols.scorer import Scorer
from kr_core.protocols.source import (
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
from kr_core.protocols.store import Candidates, Flaw, Kept, Moved, Rebuilt, Repairable, Store

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
