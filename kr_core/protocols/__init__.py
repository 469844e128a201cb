"""What a component of each kind must offer; the engine, not pluggy, calls these methods.

Async only where there is waiting for the outside (`Source`, `Agent`, `Escalation`). Everything else is sync, so that a cache hit
starts no event loop.
"""

from __future__ import annotations

from kr_core.protocols.agent import Agent, Job
from kr_core.protocols.conformance import lacking
from kr_core.protocols.embedder import Embedder
from kr_core.protocols.escalation import (
    CaseView,
    Ephemeral,
    Escalation,
    EscalationContext,
    HumanReply,
    Notice,
    OpenCase,
    PollResult,
    Receiver,
    UnparsedReply,
    Verifier,
)
from kr_core.protocols.journal import Document, Journal
from kr_core.protocols.log import Log, LogRecord
from kr_core.protocols.renderer import Renderer
from kr_core.protocols.router import Router
from kr_core.protocols.scorer import Scorer
from kr_core.protocols.source import (
    Cache,
    Limited,
    Project,
    Rate,
    RequestRecord,
    Selective,
    Source,
    SourceContext,
    Unready,
    Versioned,
)
from kr_core.protocols.store import (
    Candidates,
    ChangeResult,
    Issue,
    RebuildResult,
    Repairable,
    Store,
    WriteResult,
)

__all__ = [
    "Agent",
    "Cache",
    "Candidates",
    "CaseView",
    "ChangeResult",
    "Document",
    "Embedder",
    "Ephemeral",
    "Escalation",
    "EscalationContext",
    "HumanReply",
    "Issue",
    "Job",
    "Journal",
    "Limited",
    "Log",
    "LogRecord",
    "Notice",
    "OpenCase",
    "PollResult",
    "Project",
    "Rate",
    "RebuildResult",
    "Receiver",
    "Renderer",
    "Repairable",
    "RequestRecord",
    "Router",
    "Scorer",
    "Selective",
    "Source",
    "SourceContext",
    "Store",
    "UnparsedReply",
    "Unready",
    "Verifier",
    "Versioned",
    "WriteResult",
    "lacking",
]
