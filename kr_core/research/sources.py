"""The chain of sources: asked in order until one is sufficient, each within its deadline and the story's budget."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core.aio import GRACE_SECONDS, consume_exception, in_thread, shielded, wait_or_abandon
from kr_core.errors import ConfigError
from kr_core.model import Finding, Outcome, SourceConsulted
from kr_core.net.reasons import MAX_REASON_LENGTH, said, short
from kr_core.net.source_context import ConsultationContext
from kr_core.protocols import Limited
from kr_core.research.outcomes import outcome_of, timeout
from kr_core.research.source_cache import SourceCache
from kr_core.terminal_text import cleaned, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.model import ResearchQuery
    from kr_core.net.resources import SharedResources
    from kr_core.protocols import Project, Source
    from kr_core.research.budget import RunBudget
    from kr_core.research.container import SourceSlot

_MAX_SECONDS = 600.0
"""No call may take longer, whatever its source suggests."""
_STATUS: dict[Outcome, Literal["success", "timeout"]] = {Outcome.ok: "success", Outcome.timeout: "timeout"}


class SourceResult(NamedTuple):
    """What became of one source."""

    name: str
    finding: Finding | None
    """None for a source that was not reached in the chain."""

    @property
    def failed(self) -> bool:
        """Whether the source could not look, as against having found nothing."""
        return self.finding is not None and self.finding.outcome not in {Outcome.ok, Outcome.empty}

    @property
    def line(self) -> SourceConsulted:
        """Its line of `sources_consulted`."""
        if self.finding is None:
            return SourceConsulted(source=self.name, status="skipped")
        return SourceConsulted(
            source=self.name,
            status=_STATUS.get(self.finding.outcome, "unavailable"),
            url=self.finding.url,
            outcome=self.finding.outcome.value,
        )


class ChainResult(NamedTuple):
    """What the whole chain came to."""

    consulted: tuple[SourceResult, ...]
    notes: tuple[str, ...]
    sufficient: bool
    budget_cut: bool
    """The budget left a source unasked before there was a sufficient answer."""
    run_timeout: bool
    """The limit of the whole run passed."""


class SourceChain:
    """One walk along the chain.

    Args:
        links: the sources, in order.
        query: the question.
        project: handed to the sources.
        budget: what external calls are taken from.
        outside: what all consultations share.
        emit: says what happens.
        sufficient: whether the findings so far answer the question.
        timeout_seconds: the limit for each call where one is configured or asked for; else each source's own.
        run_seconds: the limit for the whole walk.
        run: the run's id, another one for each walk; with a source's name it makes the grant of a call.
        earlier: what became of sources in a walk before this one; they are not asked again.
        lenient: whether a source that is wrongly configured is unavailable, instead of ending the walk.
        remembered: whether an answer of the last day serves in place of a call.
        fallback: the source that takes over where no MCP source can be reached.
    """

    def __init__(
        self,
        links: Sequence[SourceSlot],
        query: ResearchQuery,
        project: Project,
        budget: RunBudget,
        outside: SharedResources,
        emit: Callable[[str, dict[str, Any]], None],
        *,
        sufficient: Callable[[Sequence[tuple[str, Finding]]], bool],
        timeout_seconds: float | None,
        run_seconds: float,
        run: str,
        earlier: Mapping[str, SourceResult] | None = None,
        lenient: bool = False,
        remembered: bool = True,
        fallback: SourceSlot | None = None,
    ) -> None:
        self._links = links
        self._query = query
        self._project = project
        self._budget = budget
        self._emit = emit
        self._sufficient = sufficient
        self._timeout_seconds = timeout_seconds
        self._run_seconds = run_seconds
        self._run = run
        self._earlier = earlier or {}
        self._lenient = lenient
        self._remembered = remembered
        self._fallback = fallback
        self._outside = outside
        self._notes: list[str] = []
        self._budget_cut = False

    async def go(self) -> ChainResult:
        """Ask the sources, one after the other.

        Raises:
            ConfigError: a source is wrongly configured.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._run_seconds
        consulted: list[SourceResult] = []
        found: list[tuple[str, Finding]] = []
        done = late = False
        for link in self._with_fallback(consulted):
            late = late or loop.time() >= end
            entry = self._earlier.get(link.name, SourceResult(link.name, None))
            if entry.finding is None and not done and not late:
                entry, late = await self._consult(link, end)
            consulted.append(entry)
            if entry.finding is not None and entry.finding.passages:
                found.append((link.name, entry.finding))
                done = done or self._sufficient(found)
        if self._outside.failure:
            self._notes.append(f"answers of sources are not remembered: {self._outside.failure}")
        return ChainResult(
            tuple(consulted), tuple(self._notes), done, self._budget_cut and not done, late and not done
        )

    def _with_fallback(self, consulted: Sequence[SourceResult]) -> Iterator[SourceSlot]:
        """The links in order; after them the fallback, where all MCP sources among them could not be reached (R10).

        Args:
            consulted: grows while the links are asked.
        """
        yield from self._links
        mcp = {link.name for link in self._links if link.mcp}
        failed = {entry.name for entry in consulted if entry.failed}
        if self._fallback is None or not mcp or not mcp <= failed:
            return
        if all(link.name != self._fallback.name for link in self._links):
            yield self._fallback

    async def _consult(self, link: SourceSlot, end: float) -> tuple[SourceResult, bool]:
        """Ask one source; also whether the limit of the whole run cut it off."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        limit = _MAX_SECONDS if self._timeout_seconds is None else min(self._timeout_seconds, _MAX_SECONDS)
        try:
            source = await self._built(link, min(limit, end - started))
            built = loop.time()
            if source is None:
                reason = f"{timeout(built - started)}, while it was imported and built"
                late = Finding(outcome=Outcome.timeout, reason=reason, reached=False)
                return self._ended(link.name, late), built >= end
            external, suggested = bool(source.external), _seconds(source.timeout_seconds)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError:
            self._cancelled(link.name)
            raise
        except BaseException as error:  # a plugin may raise anything
            if isinstance(error, ConfigError) and not self._lenient:
                raise
            failed = Finding(outcome=Outcome.unavailable, reason=said(error), reached=False)
            return self._ended(link.name, failed), False
        query, answers = self._query, None
        if external:
            query = self._leaving(link)
            answers = SourceCache(self._outside, link.identity, query) if link.identity else None
            kept = await answers.get(self._query) if answers and self._remembered else None
            if kept is not None:
                self._emit("source.started", {"source": link.name, "timeout_seconds": 0.0})
                return self._ended(link.name, kept, remembered=True), False
        grant = f"{self._run}:{link.name}"
        if external and not await self._granted(grant):
            self._budget_cut = True
            self._emit("budget.exhausted", {"source": link.name})
            return SourceResult(link.name, None), False
        if self._timeout_seconds is None:
            limit = min(suggested, limit)
        limit -= round(built - started, 1)  # a tenth of a second is no import
        left = end - loop.time()
        seconds = max(0.0, min(limit, left))
        self._emit("source.started", {"source": link.name, "timeout_seconds": seconds})
        finding, dropped = await self._within(source, link.name, query, seconds, external=external)
        if answers is not None:
            await answers.keep(self._query, finding)
        if external and not finding.reached:
            await shielded(lambda: self._budget.give_back(grant))
        return self._ended(link.name, finding), dropped and left <= limit

    def _leaving(self, link: SourceSlot) -> ResearchQuery:
        """The query as it may leave the machine for this source."""
        from kr_core.net.redaction import outgoing

        sent = outgoing(self._query, link.egress)
        for what in sent.kept:
            hint = "" if what != "code" else f" (plugins.{link.name}.egress: code would send it)"
            self._notes.append(f"{link.name}: {what} in the question was kept at home{hint}")
        return sent.query

    async def _built(self, link: SourceSlot, seconds: float) -> Source | None:
        """The source; None where it was not built in time: an import cannot be stopped, and is left behind."""
        if link.built:
            return link.build()
        building = in_thread(link.build)
        building.add_done_callback(consume_exception)
        try:
            await asyncio.wait({building}, timeout=max(0.0, seconds))
            return building.result() if building.done() else None
        finally:
            building.cancel()

    async def _granted(self, grant: str) -> bool:
        """Take a call of the budget; a run that is cancelled meanwhile gives it back."""

        def unused(granted: bool) -> None:
            if granted:
                self._budget.give_back(grant)

        return await shielded(lambda: self._budget.take(grant), unused)

    async def _within(
        self, source: Source, name: str, query: ResearchQuery, seconds: float, *, external: bool
    ) -> tuple[Finding, bool]:
        """The source's finding, or what became of the call; also whether it was dropped, and so cancelled."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        rate = source.rate if isinstance(source, Limited) else None
        context = ConsultationContext(
            self._project, self._emitter(name), started + seconds, self._outside, name, rate
        )
        task = asyncio.ensure_future(_asked(source, query, context))
        task.add_done_callback(consume_exception)
        cancelled: BaseException | None = None
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError as error:  # the run itself is cancelled: the call goes with it
            cancelled = error
        elapsed, dropped = loop.time() - started, not task.done()
        if dropped:
            cancelled = await self._drop(task, name) or cancelled
        cancelled = await context.close() or cancelled
        if cancelled is not None:
            self._cancelled(name)
            raise cancelled
        if dropped:
            return Finding(outcome=Outcome.timeout, reason=timeout(seconds), reached=context.reached), True
        return outcome_of(task, context, elapsed, self._query.question, external=external), False

    async def _drop(self, task: asyncio.Task[Any], name: str) -> BaseException | None:
        """Cancel a call and give it time to clean up; returns a cancellation of the run meanwhile."""
        task.cancel()
        cancelled = await wait_or_abandon(task, GRACE_SECONDS)
        if not task.done():
            self._notes.append(f"{name}: did not stop when cancelled")
        return cancelled

    def _emitter(self, name: str) -> Callable[[str, dict[str, Any]], None]:
        """`emit` as a source may use it: what cannot be kept as JSON is kept as text, and nothing is raised."""

        def emit(kind: str, data: dict[str, Any]) -> None:
            try:
                json.dumps(data, allow_nan=False)
                self._emit(printable(str(kind)), cleaned(dict(data)))
            except Exception:
                what = {"source": name, "kind": repr(kind)[:100], "data": repr(data)[:MAX_REASON_LENGTH]}
                self._emit("source.said", what)

        return emit

    def _cancelled(self, name: str) -> None:
        """Say that a source was asked in vain, since nobody waits for its answer any more."""
        self._ended(name, Finding(outcome=Outcome.unavailable, reason="the run was cancelled"))

    def _ended(self, name: str, finding: Finding, *, remembered: bool = False) -> SourceResult:
        reason = short(finding.reason or finding.outcome.value)
        if remembered and finding.outcome is Outcome.empty:
            reason += "; asked within a day, `--refresh` asks anew"
        if finding.outcome is not Outcome.ok:
            label = "" if finding.outcome is Outcome.timeout else f"{finding.outcome.value}: "
            self._notes.append(f"{name}: {label}{reason}")
        self._notes.extend(f"{name}: {short(note)}" for note in finding.notes)
        self._emit(
            "source.finished",
            {
                "source": name,
                "outcome": finding.outcome.value,
                "passages": len(finding.passages),
                "reason": short(finding.reason),
                "url": finding.url,
                "remembered": remembered,
            },
        )
        return SourceResult(name, finding)


async def _asked(source: Source, query: ResearchQuery, context: ConsultationContext) -> Any:
    """Await the source; one that is not async, or ends the program, fails like any other.

    What else it raises (`GeneratorExit`, pytest's `Skipped`, a panic of Rust) is kept by the task; an exit is not.
    """
    try:
        return await source.query(query, context)
    except SystemExit as error:
        raise RuntimeError(f"the source tried to end the program ({error})") from error


def _seconds(suggested: Any) -> float:
    """The limit that a source suggests.

    Raises:
        ValueError: it is none.
    """
    seconds = float(suggested)
    if not seconds > 0:  # nor is nan
        raise ValueError(f"its `timeout_seconds` is {suggested}: set a number of seconds above 0")
    return seconds
