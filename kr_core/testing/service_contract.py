"""What the contracts of plugins that call a service share."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import httpx

from kr_core.aio import run
from kr_core.config.trust_policy import running
from kr_core.testing.faults import NetworkFault
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.watchers import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from kr_core.hookspecs import Settings
    from kr_core.testing.watchers import Touch

__all__ = ["NETWORK_FAULTS", "ServiceContract", "cancelled", "programs_in", "starts_one_of"]


async def cancelled(
    work: Coroutine[Any, Any, object], seconds: float, grace: float, who: str, what: str
) -> str:
    """Cancel work of a component at its deadline.

    Args:
        work: what it does.
        seconds: until then.
        grace: seconds that it may take to end.
        who: `the source`, in the message.
        what: `an answer`, what it makes where it is not cancelled.

    Returns:
        What is wrong; empty where it ended, or was done before.
    """
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    await asyncio.sleep(0)  # it has begun, and waits for the first time
    if task.done():
        return ""  # there was nothing left to cancel
    task.cancel()
    await asyncio.wait({task}, timeout=grace)
    if not task.done():
        return f"{who} went on for {grace:g} s after it was cancelled"
    if task.cancelled():
        return ""
    error = task.exception()
    made = f"{type(error).__name__}: {error}" if error else what
    return f"{who} made {made} of its cancellation"


def programs_in(settings: Settings) -> list[str]:
    """The texts in those settings, defaults too, that count as running a program."""
    values = settings.model_dump(mode="json")
    texts: list[str] = []
    for found in running(values, ("plugins", "contract")):
        value: Any = values
        for part in found.key[2:]:
            value = value[part]
        texts.extend(_texts(value))
    return texts


def starts_one_of(touch: Touch, programs: Sequence[str]) -> bool:
    """Whether what was started is one of these programs, or a shell that was given one of these texts."""
    _event, _blank, line = touch.what.partition(" ")
    started = _first_word(line)
    if not started:  # a fork: it is this program that goes on
        return True
    return any(text and (text in line or _first_word(text) == started) for text in programs)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _first_word(line: str) -> str:
    """The name of the program in a command line, without its folder."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    return PurePath(words[0]).name if words else ""


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
