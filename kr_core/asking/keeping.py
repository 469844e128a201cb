"""The cases of a project as they are changed: each change in one transaction with what is said of it, and seen by observers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.escalation.cases import Cases
from kr_core.escalation.showing import shown
from kr_core.pipeline.engine import show
from kr_core.templating import search_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.escalation.cases import KeptCase
    from kr_core.model import Event
    from kr_core.model.questions import EscalationRequest
    from kr_core.pipeline.pipeline import Pipeline
    from kr_core.protocols import Case

__all__ = ["Keeping"]


class Keeping:
    """Keeps the cases of a project.

    Args:
        pipeline: the project's.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._folders = search_folders(pipeline.config.root)
        self._cases: Cases | None = None

    @property
    def cases(self) -> Cases:
        """The cases of the project; the first look opens the journal."""
        if self._cases is None:
            self._cases = Cases(self.pipeline.components.journal)
        return self._cases

    def shown(self, request: EscalationRequest) -> Case:
        """A case as people read it."""
        return shown(request, self._folders)

    def keep(self, case: KeptCase, events: Sequence[Event] = ()) -> bool:
        """Keep a case with what is said of it; False where somebody was first."""
        kept = self.cases.keep(case, events)
        if kept:
            self.observed(events)
        return kept

    def change(
        self,
        escalation_id: str,
        change: Callable[[KeptCase], tuple[KeptCase, Sequence[Event]] | None],
        known: KeptCase | None = None,
    ) -> KeptCase:
        """Change a case, whoever changes it at the same time; the case as it is then.

        Args:
            escalation_id: the case.
            change: what is to become of it; called anew where somebody was first. It changes nothing itself.
            known: the case as it was read just now, if it was.

        Raises:
            ConfigError: there is no such case.
        """
        while True:
            case = known or self.cases.get(escalation_id)
            made = change(case)
            if made is None:
                return case
            changed = made[0]._replace(version=case.version + 1)
            if self.keep(changed, made[1]):
                return changed
            known = None

    def observed(self, events: Sequence[Event]) -> None:
        """Show observers what was kept together with a case, and so did not go by them."""
        for event in events:
            show(event, self.pipeline.observers)
