"""The terminal as a channel: it shows the whole case, and you type the reply."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kr_core.plugin import PollResult, Provider, hookimpl
from kr_core.toolkit import for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import CaseView, Escalation, EscalationContext, Notice, OpenCase

__all__ = ["Terminal", "kr_escalation"]


@hookimpl
def kr_escalation() -> Provider[Escalation]:
    """Provide the terminal."""
    return Provider(lambda _settings, _setup: Terminal())


class Terminal:
    """Shows cases on the terminal, if there is one; standard output is the result's alone, so it is standard error."""

    momentary = True
    """What waits longer is in the inbox: it is not shown to whoever happens to have a terminal later."""

    async def open(self, case: CaseView, context: EscalationContext) -> str | None:
        """Show a case; None where nobody sits before a terminal."""
        del context
        if not sys.stderr.isatty():
            return None
        print(f"\n{for_terminal(case.message, sys.stderr)}", file=sys.stderr, flush=True)
        return "terminal"

    async def poll(self, shown: Sequence[OpenCase], mark: str, context: EscalationContext) -> PollResult:
        """Nothing: what is typed is read by the command that asks."""
        del shown, context
        return PollResult(mark=mark)

    async def acknowledge(self, case: CaseView, notice: Notice, context: EscalationContext) -> None:
        """Say what was understood."""
        del case, context
        if sys.stderr.isatty():
            print(for_terminal(notice.message, sys.stderr), file=sys.stderr, flush=True)
