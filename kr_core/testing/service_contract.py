"""What the contracts of plugins that call a service share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from kr_core.aio import run
from kr_core.testing.cancellation import cancelled
from kr_core.testing.faults import NetworkFault
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.programs import programs_in, starts_one_of
from kr_core.testing.watchers import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

NETWORK_FAULTS = [fault for fault in NetworkFault if fault is not NetworkFault.hangs]
"""Those after which a plugin has to say something at once."""


class ServiceContract(PluginContract):
    """The rules for plugins that call a service or run a program."""

    def respond(self, request: httpx.Request) -> httpx.Response:
        """Answer a request like the service; a contract sends no requests to the network."""
        return httpx.Response(
            501, text=f"override `respond` in the contract class to answer {request.method} {request.url}"
        )

    def _transport(self) -> httpx.AsyncBaseTransport:
        return httpx.MockTransport(self.respond)

    def _runs_only_what_is_named(self, work: Callable[[], object]) -> None:
        with watched("process", every_thread=True) as touched:
            work()
        named = programs_in(self._provider().settings.model_validate(dict(self.settings)))
        unnamed = [touch for touch in touched if not starts_one_of(touch, named)]
        assert not unnamed, (
            f"the {self.noun} started a program that no setting names ({unnamed[0]}); take it from a setting called "
            "`command`, `argv` or the like, with your default: only by such a name does KR see that a project's "
            "configuration would run something, and ask for `kr trust` first"
        )

    def _ends_when_cancelled(
        self, work: Coroutine[Any, Any, object], seconds: float, grace: float, made: str
    ) -> None:
        """Cancel work at its deadline; it may take some seconds of grace to end, and make nothing of it."""
        wrong = run(cancelled(work, seconds, grace, f"the {self.noun}", made))
        assert not wrong, (
            f"{wrong}; let asyncio.CancelledError pass: catch `Exception` (or less) around what is awaited, end what was "
            "started, and clean up in `finally`"
        )
