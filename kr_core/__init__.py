"""KR: technical questions answered once, well, and with their sources.

The names below are what a program that embeds KR needs; what a plugin needs is in `kr_core.plugin` and
`kr_core.toolkit`. Each is imported on first use, so that `import kr_core` costs nothing.
"""

TYPE_CHECKING = False  # importing `typing` for this would double the start-up time; checkers know the name
if TYPE_CHECKING:
    from kr_core import plugin as plugin
    from kr_core import toolkit as toolkit
    from kr_core._version import __version__ as __version__
    from kr_core.ask.async_service import AsyncKnowledgeRouterService as AsyncKnowledgeRouterService
    from kr_core.ask.sync_service import KnowledgeRouterService as KnowledgeRouterService
    from kr_core.errors import ConfigError as ConfigError
    from kr_core.errors import KRError as KRError
    from kr_core.errors import PluginError as PluginError
    from kr_core.errors import RequestError as RequestError
    from kr_core.errors import StorageError as StorageError
    from kr_core.expedition.service import Expeditions as Expeditions
    from kr_core.expedition.service import run_expedition as run_expedition
    from kr_core.hookspecs import Provider as Provider
    from kr_core.hookspecs import Settings as Settings
    from kr_core.hookspecs import hookimpl as hookimpl
    from kr_core.lessons.lesson_service import Lessons as Lessons
    from kr_core.model import Event as Event
    from kr_core.model import Finding as Finding
    from kr_core.model import Outcome as Outcome
    from kr_core.model import Passage as Passage
    from kr_core.model import ResearchRequest as ResearchRequest
    from kr_core.model import ResearchResult as ResearchResult
    from kr_core.model.events import EVENTS as EVENTS
    from kr_core.model.execution_task import ExecutionTask as ExecutionTask
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
    from kr_core.model.questions import Verdict as Verdict
    from kr_core.model.retro_report import RetroReport as RetroReport
    from kr_core.model.routing import Route as Route
    from kr_core.model.routing import RoutingRule as RoutingRule
    from kr_core.protocols import Source as Source
    from kr_core.research import CompletedResearch as CompletedResearch
    from kr_core.research import Pipeline as Pipeline

if not TYPE_CHECKING:  # type checkers know the names above, and report any other

    def __getattr__(name: str) -> object:
        from kr_core._door import value_of

        return value_of(__name__, name)

    def __dir__() -> list[str]:
        from kr_core._door import names_of

        return sorted(names_of(__name__))
