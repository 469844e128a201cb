"""The hooks around the stages: pluggy calls those of every plugin that the key `hooks` names, each within bounds.

pluggy neither isolates an implementation nor ends one. So each is wrapped when it is registered: it runs in a thread of
its own with a deadline, and what it returns is checked. One that raises, hangs or returns the wrong type is skipped, a
note names it, and the run goes on. One that hangs is not called again, since nothing can end its thread.
"""

from __future__ import annotations

import inspect
import threading
from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

from kr_core import hookspecs
from kr_core.errors import KRError
from kr_core.hookspecs import STAGE_HOOKS
from kr_core.plugin_calls import CALL_SECONDS, OverdueError, call_within
from kr_core.registry import contract
from kr_core.registry.attribution import attributed, fault_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from kr_core.entry_points import InstalledPlugin
    from kr_core.model import Passage, Report, ResearchQuery
    from kr_core.model.questions import AskResult, EscalationRequest, Question

__all__ = ["StageHooks"]

_MAX_NOTE_LENGTH = 400
_ENDED = object()


class _Call(NamedTuple):
    """One call of a hook: its arguments, as the implementations so far have left them, and what is to be noted."""

    hook: str
    values: dict[str, Any]
    notes: list[str]


_CALL: ContextVar[_Call] = ContextVar("call")


class StageHooks:
    """The implementations of one configuration, loaded when the first stage is reached.

    Args:
        names: the plugins, in the order of the configuration: the first is called first.
        load: gives a plugin and its module.
        seconds: how long one implementation may take.
    """

    def __init__(
        self,
        names: Sequence[str] = (),
        load: Callable[[str], tuple[InstalledPlugin, object]] | None = None,
        *,
        seconds: float = CALL_SECONDS,
    ) -> None:
        self._names = tuple(names)
        self._load = load
        self._seconds = seconds
        self._lock = threading.Lock()
        self._loaded: pluggy.PluginManager | None = None
        self._faults: list[str] = []
        self._hung: set[tuple[str, str]] = set()

    # -- the stages --------------------------------------------------------------------------------------

    async def before_consult(self, query: ResearchQuery, source: str, notes: list[str]) -> ResearchQuery:
        """The query as a source is asked."""
        return await self._called("kr_before_consult", notes, query=query, source=source)  # type: ignore[no-any-return]  # checked

    async def passages_found(
        self, query: ResearchQuery, source: str, passages: tuple[Passage, ...], notes: list[str]
    ) -> tuple[Passage, ...]:
        """The passages that a source has found, as they are used."""
        if not passages:
            return passages
        found = await self._called("kr_passages_found", notes, query=query, source=source, passages=passages)
        return tuple(found)

    def report_ready(self, report: Report, notes: list[str]) -> Report:
        """The report as it is rendered."""
        return self._call("kr_report_ready", notes, report=report)  # type: ignore[no-any-return]  # checked

    async def case_opened(self, case: EscalationRequest, notes: list[str]) -> None:
        """Say that a case was opened."""
        await self._called("kr_case_opened", notes, case=case)

    async def answer_accepted(self, exchange: AskResult, question: Question) -> AskResult:
        """Say that an answer was accepted; the result, with notes on the hooks that failed."""
        notes: list[str] = []
        await self._called("kr_answer_accepted", notes, exchange=exchange, question=question)
        return exchange.model_copy(update={"notes": (*exchange.notes, *notes)}) if notes else exchange

    # -- the call ----------------------------------------------------------------------------------------

    async def _called(self, hook: str, notes: list[str], **values: Any) -> Any:
        if not self._names:
            return values.get(STAGE_HOOKS[hook])
        from kr_core.aio import in_thread

        return await in_thread(lambda: self._call(hook, notes, **values))

    def _call(self, hook: str, notes: list[str], **values: Any) -> Any:
        if self._names:
            manager = self._manager(notes)
            token = _CALL.set(_Call(hook, values, notes))
            try:
                getattr(manager.hook, hook)(**values)
            finally:
                _CALL.reset(token)
        return values.get(STAGE_HOOKS[hook])

    def _manager(self, notes: list[str]) -> pluggy.PluginManager:
        with self._lock:
            if self._loaded is None:
                manager = pluggy.PluginManager("kr")
                manager.add_hookspecs(hookspecs)
                for name in reversed(self._names):  # pluggy calls first what was registered last
                    try:
                        self._register(manager, name)
                    except KRError as error:
                        self._faults.insert(0, _note(name, error))
                self._loaded = manager
        notes.extend(fault for fault in self._faults if fault not in notes)
        return self._loaded

    def _register(self, manager: pluggy.PluginManager, name: str) -> None:
        assert self._load is not None, "there are names"
        plugin, module = self._load(name)
        guards = SimpleNamespace()
        with attributed(plugin, "register", name):
            contract.check_hooks(module)
        for hook in STAGE_HOOKS:
            options = manager.parse_hookimpl_opts(module, hook)
            if options is None:
                continue
            with attributed(plugin, "register", name):
                function = getattr(module, hook)
                if options["hookwrapper"]:
                    raise TypeError(f"{hook} is an old wrapper; write @kr_core.hookimpl(wrapper=True)")
                make = self._wrapper if options["wrapper"] else self._guard
                guard: Any = make(plugin, name, function)
                guard.__signature__ = inspect.signature(function)  # pluggy passes these arguments
                setattr(guards, hook, hookspecs.hookimpl(**options)(guard))
        if not vars(guards):
            raise fault_of(
                plugin, "it has no hook around a stage", f"mark one of {', '.join(STAGE_HOOKS)}", name
            )
        manager.register(guards, name)

    # -- one implementation ------------------------------------------------------------------------------

    def _guard(self, plugin: InstalledPlugin, name: str, function: Callable[..., Any]) -> Callable[..., None]:
        taken = contract.taken(function)

        def guard(*_: Any) -> None:
            call = _CALL.get()
            self._apply(plugin, name, call, lambda: function(*(call.values[key] for key in taken)))

        return guard

    def _wrapper(
        self, plugin: InstalledPlugin, name: str, function: Callable[..., Any]
    ) -> Callable[..., Generator[None, Any, Any]]:
        """A wrapper: what it gets from `yield` is the value as the others have left it, and what it returns replaces that."""
        taken = contract.taken(function)

        def guard(*_: Any) -> Generator[None, Any, Any]:
            call = _CALL.get()
            running = function(*(call.values[key] for key in taken))
            began = self._within(plugin, name, call, lambda: next(running, _ENDED))
            results = yield
            if began is not _ENDED:

                def finish() -> Any:
                    try:
                        running.send(call.values.get(STAGE_HOOKS[call.hook]))
                    except StopIteration as end:
                        return end.value
                    raise RuntimeError(f"{call.hook} yields more than once")

                self._apply(plugin, name, call, finish)
            return results

        return guard

    def _apply(self, plugin: InstalledPlugin, name: str, call: _Call, work: Callable[[], Any]) -> None:
        def checked() -> Any:
            result = work()
            if result is not None:
                _check(call.hook, result)
            return result

        result = self._within(plugin, name, call, checked)
        if result is not None and result is not _ENDED:
            call.values[STAGE_HOOKS[call.hook]] = result

    def _within(self, plugin: InstalledPlugin, name: str, call: _Call, work: Callable[[], Any]) -> Any:
        """What the work of a plugin returns; `_ENDED` where it failed, and a note says so."""
        if (name, call.hook) in self._hung:
            call.notes.append(f"hook {name}: {call.hook} is not called, since it hung before")
            return _ENDED

        def uninterrupted() -> Any:
            try:
                return work()
            except KeyboardInterrupt as error:  # the plugin's own: the user's comes to the main thread
                raise RuntimeError("it raised KeyboardInterrupt") from error

        try:
            with attributed(plugin, f"run {call.hook}", name):
                try:
                    return call_within(uninterrupted, self._seconds)
                except OverdueError:
                    self._hung.add((name, call.hook))
        except KRError as error:
            call.notes.append(_note(name, error))
        else:
            call.notes.append(
                f"hook {name}: {call.hook} did not end within {self._seconds:g} s and is not called again; "
                f"take `{name}` out of `hooks`, or upgrade {plugin.shipped_by}"
            )
        return _ENDED


def _check(hook: str, result: Any) -> None:
    """Refuse what an implementation may not return.

    Raises:
        TypeError: it is of the wrong type.
    """
    from kr_core.model import Passage, Report, ResearchQuery

    changed = STAGE_HOOKS[hook]
    if not changed:
        raise TypeError(f"{hook} returned {type(result).__name__}; it only observes, so return None")
    if changed == "passages":
        if isinstance(result, list | tuple) and all(isinstance(one, Passage) for one in result):
            return
        expected = "a list of kr_core.Passage"
    else:
        kind: type = ResearchQuery if changed == "query" else Report
        if isinstance(result, Report) and not _are_texts(result.notes):
            raise TypeError(f"{hook} returned a report whose `notes` are not a tuple of texts")
        if isinstance(result, kind):
            return
        expected = f"a kr_core.plugin.{kind.__name__}"
    raise TypeError(f"{hook} returned {type(result).__name__}; return {expected}, or None to change nothing")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _note(name: str, error: KRError) -> str:
    said = " ".join(str(error).split())
    return f"hook {name}: {said[:_MAX_NOTE_LENGTH]}; it was skipped"
