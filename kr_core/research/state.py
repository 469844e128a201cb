"""What one run knows: its request, what answers it, and what its stages have come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.model import Draft
from kr_core.research.budget import RunBudget
from kr_core.research.entry_lookup import NOTHING
from kr_core.research.rejection import Rejections
from kr_core.research.stage_runner import StageRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.config.schema import Schema
    from kr_core.model import Event, Fault, ResearchQuery, ResearchRequest, Score, WrittenBy
    from kr_core.protocols import WriteResult
    from kr_core.research.container import Container, SourceSlot
    from kr_core.research.entry_lookup import LookupResult
    from kr_core.research.report import RenderedReport
    from kr_core.research.sources import ChainResult, NamedFindings
    from kr_core.research.synthesis import Synthesis


class RunState:
    """One request, what answers it, and what its stages have come to.

    Args:
        request: what is asked.
        components: what it is answered with.
        observers: called with every event at once.
        grants: names the calls that are taken from the budget; default: the run's id.
    """

    def __init__(
        self,
        request: ResearchRequest,
        components: Container,
        observers: tuple[Callable[[Event], object], ...] = (),
        grants: str = "",
    ) -> None:
        settings = components.config.settings
        self.request = request
        self.components = components
        self.runner = StageRunner(components.journal, observers)
        self.grants = grants or self.runner.id
        """What names the calls that the run takes from the budget: the same name is charged once."""
        self.budget = RunBudget(
            components.journal,
            request.session_id,
            request.story_key,
            settings.knowledge_research.max_calls_per_story,
            request.max_calls,
        )
        self.seconds_left = float(settings.defaults.agent_timeout_seconds.knowledge_research)
        """How long the run may still take."""
        self.budget_spent = False
        """Whether no call was left when the run began to look for sources."""
        self.notes: list[str] = []
        self.hook_faults: list[str] = []
        """Which hooks failed; only the result says it, since it is not about the answer."""
        # In the order of the stages:
        self.lookup: LookupResult = NOTHING
        self.rejections = Rejections()
        self.slots: tuple[SourceSlot, ...] = ()
        self.chain: ChainResult | None = None
        self.synthesis: Synthesis | None = None
        self.draft = Draft()
        self.written_by: WrittenBy | None = None
        self.score: Score | None = None
        self.rendered: RenderedReport | None = None
        self.write: WriteResult | None = None
        """What the store wrote; None where it wrote nothing."""
        self.faults: list[Fault] = []

    @property
    def query(self) -> ResearchQuery:
        """The question, with its framework and version."""
        return self.request.query

    @property
    def settings(self) -> Schema:
        """The settings of the project."""
        return self.components.config.settings

    @property
    def findings(self) -> NamedFindings:
        """What the sources found, by their names."""
        return self.rejections.without(self.chain.findings) if self.chain else []
