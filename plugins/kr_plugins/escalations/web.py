"""The page of `kr serve` as a channel: people answer cases there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.plugin import PollResult, Provider, hookimpl
from kr_core.toolkit import served_at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.plugin import CaseView, Escalation, EscalationContext, Notice, OpenCase

__all__ = ["WebPage", "kr_escalation"]


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    """Provide the page."""
    return Provider(lambda _settings, setup: WebPage(setup.state_folder))


class WebPage:
    """Says where a case stands on the page; the page itself shows every case, and takes the replies.

    Args:
        state_folder: the project's `.kr/`, in which a server says that it runs.
    """

    def __init__(self, state_folder: Path) -> None:
        self._state_folder = state_folder

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """The address of the case; None where no server runs."""
        del context
        url = served_at(self._state_folder)
        return None if url is None else f"{url}/cases/{case.request.id}"

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """Nothing: the server applies what is written there at once."""
        del shown, context
        return PollResult(mark=mark)

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Nothing: the page shows what has become of a case."""
