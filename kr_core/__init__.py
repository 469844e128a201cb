"""KR: technical questions answered once, well, and with their sources.

The names below are the public surface; each is imported on first use, so that `import kr_core` costs nothing.
"""

TYPE_CHECKING = False  # importing `typing` for this would double the start-up time; checkers know the name
if TYPE_CHECKING:
    from kr_core import yaml_text as yaml_text
    from kr_core._version import __version__ as __version__
    from kr_core.ask.service import AsyncKnowledgeRouterService as AsyncKnowledgeRouterService
    from kr_core.ask.sync_service import KnowledgeRouterService as KnowledgeRouterService
    from kr_core.entry_points import require as require
    from kr_core.errors import ConfigError as ConfigError
    from kr_core.errors import KRError as KRError
    from kr_core.errors import PluginError as PluginError
    from kr_core.errors import RequestError as RequestError
    from kr_core.errors import StorageError as StorageError
    from kr_core.escalation.commands import CommandFault as CommandFault
    from kr_core.escalation.commands import ParsedReplies as ParsedReplies
    from kr_core.escalation.commands import ReplyCommand as ReplyCommand
    from kr_core.escalation.commands import read_replies as read_replies
    from kr_core.escalation.page_url import served_at as served_at
    from kr_core.escalation.render import for_terminal as for_terminal
    from kr_core.evidence.coverage import COVERED as COVERED
    from kr_core.evidence.coverage import FULLY as FULLY
    from kr_core.evidence.coverage import answered as answered
    from kr_core.evidence.soft_errors import refusal as refusal
    from kr_core.expedition.facts.store import AxiomStore as AxiomStore
    from kr_core.expedition.service import Expeditions as Expeditions
    from kr_core.expedition.service import run_expedition as run_expedition
    from kr_core.files import lies_within as lies_within
    from kr_core.files import lock as lock
    from kr_core.files import make_state_folder as make_state_folder
    from kr_core.files import read_bytes as read_bytes
    from kr_core.files import read_text as read_text
    from kr_core.files import write_atomically as write_atomically
    from kr_core.hookspecs import CONTRACT_VERSION as CONTRACT_VERSION
    from kr_core.hookspecs import Provider as Provider
    from kr_core.hookspecs import Settings as Settings
    from kr_core.hookspecs import Setup as Setup
    from kr_core.hookspecs import hookimpl as hookimpl
    from kr_core.knowledge.ids import fold_name as fold_name
    from kr_core.knowledge.ids import inside as inside
    from kr_core.knowledge.ids import report_path as report_path
    from kr_core.knowledge.topic_index import TopicIndex as TopicIndex
    from kr_core.lessons.service import Lessons as Lessons
    from kr_core.model import SKELETON_MARK as SKELETON_MARK
    from kr_core.model import STAGES as STAGES
    from kr_core.model import STALE_MARK as STALE_MARK
    from kr_core.model import Attribution as Attribution
    from kr_core.model import Citation as Citation
    from kr_core.model import Claim as Claim
    from kr_core.model import CodeExample as CodeExample
    from kr_core.model import Draft as Draft
    from kr_core.model import Entry as Entry
    from kr_core.model import EntryStatus as EntryStatus
    from kr_core.model import Event as Event
    from kr_core.model import Finding as Finding
    from kr_core.model import Level as Level
    from kr_core.model import Outcome as Outcome
    from kr_core.model import Page as Page
    from kr_core.model import Passage as Passage
    from kr_core.model import Program as Program
    from kr_core.model import Report as Report
    from kr_core.model import ResearchQuery as ResearchQuery
    from kr_core.model import ResearchRequest as ResearchRequest
    from kr_core.model import ResearchResult as ResearchResult
    from kr_core.model import Score as Score
    from kr_core.model import ToolResult as ToolResult
    from kr_core.model import Value as Value
    from kr_core.model import new_id as new_id
    from kr_core.model.events import EVENTS as EVENTS
    from kr_core.model.expedition import Axiom as Axiom
    from kr_core.model.expedition import ExpeditionUpdate as ExpeditionUpdate
    from kr_core.model.expedition import Signal as Signal
    from kr_core.model.lessons import Lesson as Lesson
    from kr_core.model.lessons import LessonsResult as LessonsResult
    from kr_core.model.questions import AcceptedOrEscalate as AcceptedOrEscalate
    from kr_core.model.questions import AgentHandle as AgentHandle
    from kr_core.model.questions import AgentStatus as AgentStatus
    from kr_core.model.questions import Answer as Answer
    from kr_core.model.questions import AskResult as AskResult
    from kr_core.model.questions import EscalationRequest as EscalationRequest
    from kr_core.model.questions import HumanResponse as HumanResponse
    from kr_core.model.questions import QALogEntry as QALogEntry
    from kr_core.model.questions import Question as Question
    from kr_core.model.questions import Reply as Reply
    from kr_core.model.questions import Verdict as Verdict
    from kr_core.model.routing import HUMAN as HUMAN
    from kr_core.model.routing import AgentProfile as AgentProfile
    from kr_core.model.routing import Route as Route
    from kr_core.model.routing import RoutingRule as RoutingRule
    from kr_core.net.body import json_of as json_of
    from kr_core.net.domains import host_of as host_of
    from kr_core.net.domains import site_of as site_of
    from kr_core.net.main_text import main_text as main_text
    from kr_core.net.redaction import redacted as redacted
    from kr_core.processes import end_group as end_group
    from kr_core.processes import start_group as start_group
    from kr_core.project.distributions import Distribution as Distribution
    from kr_core.project.distributions import import_names as import_names
    from kr_core.project.project import LocalProject as LocalProject
    from kr_core.project.project import is_python as is_python
    from kr_core.project.versions import gap as gap
    from kr_core.protocols import Agent as Agent
    from kr_core.protocols import Appendable as Appendable
    from kr_core.protocols import Cache as Cache
    from kr_core.protocols import Candidates as Candidates
    from kr_core.protocols import CaseView as CaseView
    from kr_core.protocols import ChangeResult as ChangeResult
    from kr_core.protocols import Counters as Counters
    from kr_core.protocols import Document as Document
    from kr_core.protocols import DocumentStore as DocumentStore
    from kr_core.protocols import Embedder as Embedder
    from kr_core.protocols import Ephemeral as Ephemeral
    from kr_core.protocols import Escalation as Escalation
    from kr_core.protocols import EscalationContext as EscalationContext
    from kr_core.protocols import EventLog as EventLog
    from kr_core.protocols import HumanReply as HumanReply
    from kr_core.protocols import Issue as Issue
    from kr_core.protocols import Job as Job
    from kr_core.protocols import Journal as Journal
    from kr_core.protocols import LightAppender as LightAppender
    from kr_core.protocols import Log as Log
    from kr_core.protocols import LogCursors as LogCursors
    from kr_core.protocols import LogRecord as LogRecord
    from kr_core.protocols import Notice as Notice
    from kr_core.protocols import OpenCase as OpenCase
    from kr_core.protocols import PollResult as PollResult
    from kr_core.protocols import Project as Project
    from kr_core.protocols import Rate as Rate
    from kr_core.protocols import RebuildResult as RebuildResult
    from kr_core.protocols import Receiver as Receiver
    from kr_core.protocols import Renderer as Renderer
    from kr_core.protocols import Repairable as Repairable
    from kr_core.protocols import RequestRecord as RequestRecord
    from kr_core.protocols import Router as Router
    from kr_core.protocols import Scorer as Scorer
    from kr_core.protocols import Source as Source
    from kr_core.protocols import SourceContext as SourceContext
    from kr_core.protocols import StepResults as StepResults
    from kr_core.protocols import Store as Store
    from kr_core.protocols import UnparsedReply as UnparsedReply
    from kr_core.protocols import Verifier as Verifier
    from kr_core.protocols import WriteResult as WriteResult
    from kr_core.research import CompletedResearch as CompletedResearch
    from kr_core.research import Pipeline as Pipeline
    from kr_core.routing.table import Table as Table
    from kr_core.search.documents.documents import Documents as Documents
    from kr_core.search.documents.hits import DocumentHit as DocumentHit
    from kr_core.search.index import FORMAT as _FORMAT
    from kr_core.search.index import IndexedPassage as IndexedPassage
    from kr_core.search.index import PassageIndex as PassageIndex
    from kr_core.search.index import build as _build
    from kr_core.search.ranking import RankedPassage as RankedPassage
    from kr_core.search.ranking import closest_name as closest_name
    from kr_core.search.ranking import rank as rank
    from kr_core.search.ranking import telling_parameters as telling_parameters
    from kr_core.search.terms import Term as Term
    from kr_core.search.terms import question_terms as question_terms
    from kr_core.templates import render as _render
    from kr_core.text import content_words as content_words
    from kr_core.toml_text import load_toml as load_toml

    # Another name than at home is an export to type checkers only by assignment.
    INDEX_FORMAT, build_index, render_template = _FORMAT, _build, _render

_HOMES: dict[str, dict[str, str]] = {
    "kr_core.errors": {
        "RequestError": "",
        "ConfigError": "",
        "KRError": "",
        "PluginError": "",
        "StorageError": "",
    },
    "kr_core.hookspecs": {
        "CONTRACT_VERSION": "",
        "Provider": "",
        "Settings": "",
        "Setup": "",
        "hookimpl": "",
    },
    "kr_core.protocols": {
        "Agent": "",
        "Cache": "",
        "Candidates": "",
        "CaseView": "",
        "Document": "",
        "Embedder": "",
        "Escalation": "",
        "RequestRecord": "",
        "Issue": "",
        "PollResult": "",
        "HumanReply": "",
        "Job": "",
        "Journal": "",
        "StepResults": "",
        "LogCursors": "",
        "LightAppender": "",
        "EventLog": "",
        "DocumentStore": "",
        "Counters": "",
        "Appendable": "",
        "WriteResult": "",
        "Log": "",
        "LogRecord": "",
        "Ephemeral": "",
        "ChangeResult": "",
        "Notice": "",
        "Project": "",
        "Rate": "",
        "RebuildResult": "",
        "Receiver": "",
        "Renderer": "",
        "Repairable": "",
        "Router": "",
        "Scorer": "",
        "OpenCase": "",
        "EscalationContext": "",
        "Source": "",
        "SourceContext": "",
        "Store": "",
        "UnparsedReply": "",
        "Verifier": "",
    },
    "kr_core.model": {
        "SKELETON_MARK": "",
        "STAGES": "",
        "STALE_MARK": "",
        "Attribution": "",
        "Citation": "",
        "Claim": "",
        "CodeExample": "",
        "Draft": "",
        "Entry": "",
        "EntryStatus": "",
        "Event": "",
        "Finding": "",
        "Level": "",
        "Outcome": "",
        "Page": "",
        "Passage": "",
        "Program": "",
        "Report": "",
        "ResearchQuery": "",
        "ResearchRequest": "",
        "ResearchResult": "",
        "Score": "",
        "ToolResult": "",
        "Value": "",
        "new_id": "",
    },
    "kr_core.model.expedition": {"Axiom": "", "ExpeditionUpdate": "", "Signal": ""},
    "kr_core.model.lessons": {"Lesson": "", "LessonsResult": ""},
    "kr_core.model.questions": {
        "AcceptedOrEscalate": "",
        "AgentHandle": "",
        "AgentStatus": "",
        "Answer": "",
        "AskResult": "",
        "EscalationRequest": "",
        "HumanResponse": "",
        "QALogEntry": "",
        "Question": "",
        "Reply": "",
        "Verdict": "",
    },
    "kr_core.model.routing": {"HUMAN": "", "AgentProfile": "", "Route": "", "RoutingRule": ""},
    "kr_core.model.events": {"EVENTS": ""},
    "kr_core.routing.table": {"Table": ""},
    "kr_core.entry_points": {"require": ""},
    "kr_core.expedition.service": {"run_expedition": "", "Expeditions": ""},
    "kr_core.expedition.facts.store": {"AxiomStore": ""},
    "kr_core.files": {
        "lies_within": "",
        "lock": "",
        "make_state_folder": "",
        "read_bytes": "",
        "read_text": "",
        "write_atomically": "",
    },
    "kr_core.toml_text": {"load_toml": ""},
    "kr_core.text": {"content_words": ""},
    "kr_core.knowledge.ids": {"fold_name": "", "inside": "", "report_path": ""},
    "kr_core.knowledge.topic_index": {"TopicIndex": ""},
    "kr_core.project.versions": {"gap": ""},
    "kr_core.project.distributions": {"Distribution": "", "import_names": ""},
    "kr_core.project.project": {"LocalProject": "", "is_python": ""},
    "kr_core.net.body": {"json_of": ""},
    "kr_core.net.redaction": {"redacted": ""},
    "kr_core.net.main_text": {"main_text": ""},
    "kr_core.search.documents.documents": {"Documents": ""},
    "kr_core.search.documents.hits": {"DocumentHit": ""},
    "kr_core.search.index": {
        "INDEX_FORMAT": "FORMAT",
        "PassageIndex": "",
        "build_index": "build",
        "IndexedPassage": "",
    },
    "kr_core.search.ranking": {"RankedPassage": "", "closest_name": "", "rank": "", "telling_parameters": ""},
    "kr_core.search.terms": {"Term": "", "question_terms": ""},
    "kr_core.templates": {"render_template": "render"},
    "kr_core.evidence.coverage": {"COVERED": "", "FULLY": "", "answered": ""},
    "kr_core.escalation.commands": {
        "ReplyCommand": "",
        "CommandFault": "",
        "ParsedReplies": "",
        "read_replies": "",
    },
    "kr_core.escalation.page_url": {"served_at": ""},
    "kr_core.escalation.render": {"for_terminal": ""},
    "kr_core.evidence.soft_errors": {"refusal": ""},
    "kr_core.net.domains": {"host_of": "", "site_of": ""},
    "kr_core.research": {"Pipeline": "", "CompletedResearch": ""},
    "kr_core.lessons.service": {"Lessons": ""},
    "kr_core.processes": {"end_group": "", "start_group": ""},
    "kr_core.ask.service": {"AsyncKnowledgeRouterService": ""},
    "kr_core.ask.sync_service": {"KnowledgeRouterService": ""},
}
"""Where each public name lives, and its name there if that differs."""
_HOME_OF = {name: (home, real or name) for home, names in _HOMES.items() for name, real in names.items()}
__all__ = ["__version__", "yaml_text", *_HOME_OF]  # noqa: PLE0604  all of them are strings


def __getattr__(name: str) -> object:
    if name == "__version__":
        from kr_core import _version

        return _version.__version__
    if name == "yaml_text":  # a module, imported as a whole
        from importlib import import_module

        return import_module("kr_core.yaml_text")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home, real = _HOME_OF[name]
    value: object = getattr(import_module(home), real)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
