"""A call of a plugin's code: it has a time limit, and a fault of it is one line with the plugin's file and line."""

from __future__ import annotations

import os
import sys
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CALL_SECONDS",
    "OverdueError",
    "PluginCalls",
    "call_within",
    "fault_line",
    "package_of",
    "place_in",
    "place_outside",
]

Result = TypeVar("Result")
Component = TypeVar("Component")

CALL_SECONDS = 5.0
"""How long one call may take."""
_MAX_FAULTS = 3


class OverdueError(Exception):
    """A call did not end within its time limit; nothing can end its thread."""


def call_within(work: Callable[[], Result], seconds: float = CALL_SECONDS) -> Result:
    """Do work in a thread of its own, and wait for it no longer than a time limit.

    Raises:
        OverdueError: it did not end.
        BaseException: what the work raises.
    """
    from concurrent.futures import Future, wait

    done: Future[Result] = Future()
    context = copy_context()

    def go() -> None:
        try:
            done.set_result(context.run(work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=go, name="kr-plugin", daemon=True).start()
    if not wait([done], seconds).done:
        raise OverdueError(f"it did not end within {seconds:g} s")
    return done.result()


class PluginCalls(Generic[Component]):
    """Calls of one component, each within a time limit; one that was overdue is not called again.

    Args:
        name: what messages call the component.
        component: what is called.
        seconds: the time limit of a call.
    """

    def __init__(self, name: str, component: Component, seconds: float = CALL_SECONDS) -> None:
        self.name = name
        self.component = component
        self._seconds = seconds
        self._overdue = False

    def __call__(self, work: Callable[[Component], Result]) -> Result:
        """Do work with the component.

        Raises:
            OverdueError: it did not end within its limit, now or in an earlier call.
            BaseException: whatever the component raises.
        """
        if self._overdue:
            raise OverdueError("KR does not call it again, since it hung before")
        try:
            return call_within(lambda: work(self.component), self._seconds)
        except OverdueError:
            self._overdue = True
            raise

    def fault(self, error: BaseException) -> str:
        """What a call raised, in one line."""
        return fault_line(error, package_of(self.component))


def package_of(component: object) -> str:
    """The import package, or the module, of a component's class."""
    return type(component).__module__.partition(".")[0]


def fault_line(error: BaseException, package: str = "") -> str:
    """What an error says, in one line, with the last file and line of a package that led to it.

    Args:
        error: what was raised.
        package: the plugin's; empty for none.
    """
    if isinstance(error, OverdueError):
        return str(error)
    return f"{type(error).__name__}: {_said(error)}".removesuffix(": ") + place_in(error, package)


def place_in(error: BaseException, package: str) -> str:
    """` (kr_notes.py:12)`, the last line of a package's own code on the way to an error; empty where there is none.

    The author of the plugin looks there first.
    """
    place, trace = "", error.__traceback__ if package else None
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == package:
            file = os.path.basename(trace.tb_frame.f_code.co_filename)  # noqa: PTH119  a name is enough
            place = f" ({file}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place


def place_outside(error: BaseException) -> str:
    """The same for the package that KR has called: the first one on the way that is neither KR nor Python's own."""
    trace = error.__traceback__
    while trace is not None:
        package = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
        if package != "kr_core" and package not in sys.stdlib_module_names:
            return place_in(error, package)
        trace = trace.tb_next
    return ""


def _said(error: Any) -> str:
    """An error's own words on one line; those of pydantic take four lines for each fault."""
    if type(error).__module__ != "pydantic_core._pydantic_core" or not hasattr(error, "title"):
        return " ".join(str(error).split())
    faults = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        key = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        faults.append(f"{key}: {message}" if key else message)
    more = f"; and {len(faults) - _MAX_FAULTS} more" if len(faults) > _MAX_FAULTS else ""
    return f"{error.title}: {'; '.join(faults[:_MAX_FAULTS])}{more}"
