"""What the author of a plugin needs: the hooks, every Protocol, and the values of the contract.

A source of one module needs `kr_core` alone: it has the names that such a source uses, too. Optional abilities of a
component are Protocols as well (`Selective`, `Limited`, `Repairable`, ...): a class that has one lists it as a base.
"""

TYPE_CHECKING = False  # as in `kr_core`
if TYPE_CHECKING:
    from kr_core.hookspecs import Provider as Provider
    from kr_core.hookspecs import Settings as Settings
    from kr_core.hookspecs import Setup as Setup
    from kr_core.hookspecs import hookimpl as hookimpl
    from kr_core.model import SKELETON_MARK as SKELETON_MARK
    from kr_core.model import STALE_MARK as STALE_MARK
    from kr_core.model import Attribution as Attribution
    from kr_core.model import Citation as Citation
    from kr_core.model import Claim as Claim
    from kr_core.model import CodeExample as CodeExample
    from kr_core.model import Draft as Draft
    from kr_core.model import Entry as Entry
    from kr_core.model import EntryStatus as EntryStatus
    from kr_core.model import Family as Family
    from kr_core.model import FamilyKind as FamilyKind
    from kr_core.model import Finding as Finding
    from kr_core.model import Level as Level
    from kr_core.model import Outcome as Outcome
    from kr_core.model import Page as Page
    from kr_core.model import Passage as Passage
    from kr_core.model import Program as Program
    from kr_core.model import Report as Report
    from kr_core.model import ResearchQuery as ResearchQuery
    from kr_core.model import Score as Score
    from kr_core.model import SurveyPlan as SurveyPlan
    from kr_core.model import ToolResult as ToolResult
    from kr_core.model import UnresolvedName as UnresolvedName
    from kr_core.model.questions import Reply as Reply
    from kr_core.model.routing import AgentProfile as AgentProfile
    from kr_core.protocols import Agent as Agent
    from kr_core.protocols import Appendable as Appendable
    from kr_core.protocols import ArchiveByFramework as ArchiveByFramework
    from kr_core.protocols import BatchWrites as BatchWrites
    from kr_core.protocols import Cache as Cache
    from kr_core.protocols import Candidates as Candidates
    from kr_core.protocols import CaseView as CaseView
    from kr_core.protocols import ChangeResult as ChangeResult
    from kr_core.protocols import Closable as Closable
    from kr_core.protocols import ConditionalWrites as ConditionalWrites
    from kr_core.protocols import Counters as Counters
    from kr_core.protocols import Derived as Derived
    from kr_core.protocols import Document as Document
    from kr_core.protocols import DocumentStore as DocumentStore
    from kr_core.protocols import Embedder as Embedder
    from kr_core.protocols import EntryMatch as EntryMatch
    from kr_core.protocols import Ephemeral as Ephemeral
    from kr_core.protocols import Escalation as Escalation
    from kr_core.protocols import EscalationContext as EscalationContext
    from kr_core.protocols import EventLog as EventLog
    from kr_core.protocols import External as External
    from kr_core.protocols import HumanReply as HumanReply
    from kr_core.protocols import Inspectable as Inspectable
    from kr_core.protocols import Issue as Issue
    from kr_core.protocols import Job as Job
    from kr_core.protocols import Journal as Journal
    from kr_core.protocols import KeptReport as KeptReport
    from kr_core.protocols import Leases as Leases
    from kr_core.protocols import LightAppender as LightAppender
    from kr_core.protocols import Limited as Limited
    from kr_core.protocols import Log as Log
    from kr_core.protocols import LogCursors as LogCursors
    from kr_core.protocols import LogRecord as LogRecord
    from kr_core.protocols import Lookup as Lookup
    from kr_core.protocols import LookupDecision as LookupDecision
    from kr_core.protocols import LookupRules as LookupRules
    from kr_core.protocols import Mergeable as Mergeable
    from kr_core.protocols import ModelRequired as ModelRequired
    from kr_core.protocols import Notice as Notice
    from kr_core.protocols import OpenCase as OpenCase
    from kr_core.protocols import PollResult as PollResult
    from kr_core.protocols import Portable as Portable
    from kr_core.protocols import Project as Project
    from kr_core.protocols import QueuedRun as QueuedRun
    from kr_core.protocols import Rate as Rate
    from kr_core.protocols import ReadableLog as ReadableLog
    from kr_core.protocols import RebuildResult as RebuildResult
    from kr_core.protocols import Receiver as Receiver
    from kr_core.protocols import RecordRow as RecordRow
    from kr_core.protocols import Remote as Remote
    from kr_core.protocols import Renderer as Renderer
    from kr_core.protocols import Repairable as Repairable
    from kr_core.protocols import RequestRecord as RequestRecord
    from kr_core.protocols import Review as Review
    from kr_core.protocols import ReviewChannel as ReviewChannel
    from kr_core.protocols import Router as Router
    from kr_core.protocols import Runtime as Runtime
    from kr_core.protocols import Scorer as Scorer
    from kr_core.protocols import Selective as Selective
    from kr_core.protocols import Source as Source
    from kr_core.protocols import SourceContext as SourceContext
    from kr_core.protocols import StepResults as StepResults
    from kr_core.protocols import Store as Store
    from kr_core.protocols import TaskProgram as TaskProgram
    from kr_core.protocols import TaskWorker as TaskWorker
    from kr_core.protocols import UnparsedReply as UnparsedReply
    from kr_core.protocols import Unready as Unready
    from kr_core.protocols import Verifier as Verifier
    from kr_core.protocols import Versioned as Versioned
    from kr_core.protocols import WriteResult as WriteResult
    from kr_core.routing.table import Table as Table

if not TYPE_CHECKING:  # type checkers know the names above, and report any other

    def __getattr__(name: str) -> object:
        from kr_core._door import value_of

        return value_of(__name__, name)

    def __dir__() -> list[str]:
        from kr_core._door import names_of

        return sorted(names_of(__name__))
