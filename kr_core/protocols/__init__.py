"""What a component of each kind must offer; the engine, not pluggy, calls these methods.

Async only where there is waiting for the outside (`Source`, `Agent`, `Escalation`, `Runtime`). Everything else is sync, so that a cache hit
starts no event loop.
"""

from __future__ import annotations

from kr_core.protocols.agent import Agent, Job, ModelRequired, TaskProgram, TaskWorker
from kr_core.protocols.conformance import lacking, misspelt
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
    Review,
    ReviewChannel,
    UnparsedReply,
    Verifier,
)
from kr_core.protocols.journal import (
    Appendable,
    Counters,
    Document,
    DocumentStore,
    EventLog,
    Journal,
    Leases,
    LightAppender,
    LogCursors,
    Portable,
    RecordRow,
    StepResults,
)
from kr_core.protocols.log import Log, LogRecord, ReadableLog
from kr_core.protocols.lookup import EntryMatch, KeptReport, Lookup, LookupDecision, LookupRules
from kr_core.protocols.renderer import Renderer
from kr_core.protocols.router import Router
from kr_core.protocols.runtime import QueuedRun, Runtime
from kr_core.protocols.scorer import Scorer
from kr_core.protocols.source import (
    Cache,
    Derived,
    External,
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
    ArchiveByFramework,
    Candidates,
    ChangeResult,
    Closable,
    ConditionalWrites,
    Inspectable,
    Issue,
    Mergeable,
    RebuildResult,
    Remote,
    Repairable,
    Store,
    WriteResult,
)

__all__ = [
    "ABILITIES",
    "Agent",
    "Appendable",
    "ArchiveByFramework",
    "Cache",
    "Candidates",
    "CaseView",
    "ChangeResult",
    "Closable",
    "ConditionalWrites",
    "Counters",
    "Derived",
    "Document",
    "DocumentStore",
    "Embedder",
    "EntryMatch",
    "Ephemeral",
    "Escalation",
    "EscalationContext",
    "EventLog",
    "External",
    "HumanReply",
    "Inspectable",
    "Issue",
    "Job",
    "Journal",
    "KeptReport",
    "Leases",
    "LightAppender",
    "Limited",
    "Log",
    "LogCursors",
    "LogRecord",
    "Lookup",
    "LookupDecision",
    "LookupRules",
    "Mergeable",
    "ModelRequired",
    "Notice",
    "OpenCase",
    "PollResult",
    "Portable",
    "Project",
    "QueuedRun",
    "Rate",
    "ReadableLog",
    "RebuildResult",
    "Receiver",
    "RecordRow",
    "Remote",
    "Renderer",
    "Repairable",
    "RequestRecord",
    "Review",
    "ReviewChannel",
    "Router",
    "Runtime",
    "Scorer",
    "Selective",
    "Source",
    "SourceContext",
    "StepResults",
    "Store",
    "TaskProgram",
    "TaskWorker",
    "UnparsedReply",
    "Unready",
    "Verifier",
    "Versioned",
    "WriteResult",
    "lacking",
    "misspelt",
]

ABILITIES: dict[str, tuple[type, ...]] = {
    "source": (Unready, Limited, Selective, Derived),
    "agent": (Unready, Versioned, External, ModelRequired, TaskWorker),
    "escalation": (Ephemeral, Receiver, ReviewChannel, Verifier),
    "store": (ArchiveByFramework, Closable, ConditionalWrites, Inspectable, Mergeable, Remote, Repairable),
    "journal": (Appendable, Leases, Portable, Remote),
    "log": (ReadableLog,),
}
"""The optional Protocols of each kind of plugin."""
