"""The chain of sources: asked in order until one is sufficient, each within its deadline and the story's budget."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import ValidationError

from kr_core.aio import GRACE_SECONDS, consume_exception, in_thread, shielded, wait_or_abandon
from kr_core.errors import ConfigError
from kr_core.model import Finding, Outcome, SourceConsulted
from kr_core.net.reasons import MAX_REASON_LENGTH, said, short
from kr_core.net.source_context import ConsultationContext
from kr_core.plugin_calls import package_of
from kr_core.protocols import Limited, Unready
from kr_core.research.outcomes import outcome_of, timeout
from kr_core.terminal_text import cleaned, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kr_core.model import ResearchQuery
    from kr_core.net.shared_resources import SharedResources
    from kr_core.protocols import Source
    from kr_core.research.budget import RunBudget
    from kr_core.research.container import Container, SourceSlot

_MAX_SECONDS = 600.0
"""No call may take longer, whatever its source suggests."""
_BLOCKED_SECONDS = 0.5
"""So long after its limit the event loop is back, unless a source keeps it."""
_CACHED_SECONDS = 86_400.0
_CACHED_OUTCOMES = frozenset({Outcome.ok, Outcome.empty})
"""An answer, and that there is none; a failure is neither."""
_STATUS: dict[Outcome, Literal["success", "timeout"]] = {Outcome.ok: "success", Outcome.timeout: "timeout"}


NamedFindings = list[tuple[str, Finding]]
"""What sources found, by their names."""


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
    hook_faults: tuple[str, ...] = ()
    """Which hooks failed."""

    @property
    def findings(self) -> NamedFindings:
        """What the sources found, by their names, in the order in which they were asked."""
        return [
            (entry.name, entry.finding)
            for entry in self.consulted
            if entry.finding and entry.finding.passages
        ]

    @property
    def failed(self) -> bool:
        """Whether a source that was reached could not look: asked again, it may."""
        return any(entry.failed and entry.finding and entry.finding.reached for entry in self.consulted)


def nothing_asked(slots: Sequence[SourceSlot]) -> ChainResult:
    """What the chain comes to where others took all the time that this run may take."""
    skipped = tuple(SourceResult(slot.name, None) for slot in slots)
    return ChainResult(skipped, (), sufficient=False, budget_cut=False, run_timeout=True)


def run_timeout_note(components: Container) -> str:
    """The note on a run whose limit passed."""
    limits = components.config.settings.defaults.agent_timeout_seconds
    return f"run: timeout after {limits.knowledge_research} s"


class ChainRules(NamedTuple):
    """When a walk along the chain ends, and what it may use."""

    is_sufficient: Callable[[NamedFindings], bool]
    """Whether the findings so far answer the question."""
    call_seconds: float | None
    """The limit for each call where one is configured or asked for; else each source's own."""
    run_seconds: float
    """The limit for a whole walk."""
    uses_cache: bool = True
    """Whether an answer of the last day serves in place of a call."""
    fallback: SourceSlot | None = None
    """The source that takes over where no MCP source can be reached."""
    retries: bool = False
    """Whether a walk that the limit cut off is made once more, for the sources that did not come to an end."""


class SourceChain:
    """The sources of one run, asked in order.

    Args:
        slots: the sources, in order.
        query: the question.
        components: the pipeline's.
        budget: what external calls are taken from.
        emit: says what happens.
        run: with a source's name it makes the grant of a call.
        rules: when the walk ends.
    """

    def __init__(
        self,
        slots: Sequence[SourceSlot],
        query: ResearchQuery,
        components: Container,
        budget: RunBudget,
        emit: Callable[[str, dict[str, Any]], None],
        run: str,
        rules: ChainRules,
    ) -> None:
        self._slots = slots
        self._query = query
        self._components = components
        self._outside = components.outside
        self._budget = budget
        self._emit = emit
        self._run = run
        self._rules = rules
        self._notes: list[str] = []
        self._hook_faults: list[str] = []
        self._budget_cut = False
        self._unasked: dict[str, list[str]] = {}
        """External sources that nobody configured and that no request reached, by why."""

    async def go(self) -> ChainResult:
        """Ask the sources, one after the other.

        Raises:
            ConfigError: a source is wrongly configured.
        """
        chain = await self._walk({})
        if not (chain.run_timeout and self._rules.retries):
            return chain
        self._emit("run.retried", {"reason": "the limit of the whole run passed"})
        ended = [entry for entry in chain.consulted if entry.finding is not None]
        earlier = {entry.name: entry for entry in ended if entry.line.status != "timeout"}
        self._run, first_notes = f"{self._run}:again", chain.notes
        again = await self._walk(earlier)
        note = f"{run_timeout_note(self._components)}, retried once"
        return again._replace(notes=(*first_notes, note, *again.notes))

    async def _walk(self, earlier: Mapping[str, SourceResult]) -> ChainResult:
        """Ask the sources in order until one is sufficient; those that ended in a walk before are not asked again."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._rules.run_seconds
        self._notes, self._budget_cut, self._unasked = [], False, {}
        consulted: list[SourceResult] = []
        findings: NamedFindings = []
        done = late = False
        for slot in self._with_fallback(consulted):
            late = late or loop.time() >= end
            entry = earlier.get(slot.name, SourceResult(slot.name, None))
            if entry.finding is None and not done and not late:
                entry, late = await self._consult(slot, end)
            consulted.append(entry)
            if entry.finding is not None and entry.finding.passages:
                findings.append((slot.name, entry.finding))
                done = done or self._rules.is_sufficient(findings)
        if self._unasked:
            told = (
                f"{why}: {', '.join(names)}" for why, names in sorted(self._unasked.items(), reverse=True)
            )
            self._notes.append("; ".join(told))
        if self._outside.failure:
            self._notes.append(f"answers of sources are not remembered: {self._outside.failure}")
        return ChainResult(
            tuple(consulted),
            tuple(self._notes),
            done,
            self._budget_cut and not done,
            late and not done,
            tuple(self._hook_faults),
        )

    def _with_fallback(self, consulted: Sequence[SourceResult]) -> Iterator[SourceSlot]:
        """The sources in order; after them the fallback, where all MCP sources among them could not be reached (R10).

        Args:
            consulted: grows while the sources are asked.
        """
        yield from self._slots
        mcp = {slot.name for slot in self._slots if slot.mcp()}
        failed = {entry.name for entry in consulted if entry.failed}
        fallback = self._rules.fallback
        if fallback is None or not mcp or not mcp <= failed:
            return
        if all(slot.name != fallback.name for slot in self._slots):
            yield fallback

    async def _consult(self, slot: SourceSlot, end: float) -> tuple[SourceResult, bool]:
        """Ask one source; also whether the limit of the whole run cut it off."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        limit = (
            _MAX_SECONDS if self._rules.call_seconds is None else min(self._rules.call_seconds, _MAX_SECONDS)
        )
        try:
            source = await self._built(slot, min(limit, end - started))
            built = loop.time()
            if source is None:
                reason = f"{timeout(built - started)}, while it was imported and built"
                late = Finding(outcome=Outcome.timeout, reason=reason, reached=False)
                return self._ended(slot.name, late), built >= end
            external, suggested = bool(source.external), _seconds(source.timeout_seconds)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError:
            self._cancelled(slot.name)
            raise
        except BaseException as error:  # a plugin may raise anything
            if isinstance(error, ConfigError) and not self._components.under_bmad:
                raise
            failed = Finding(outcome=Outcome.unavailable, reason=said(error), reached=False)
            return self._ended(slot.name, failed), False
        query = await self._components.hooks.before_consult(self._query, slot.name, self._hook_faults)
        answers = None
        if external:
            query = self._leaving(slot, query)
            answers = SourceCache(self._outside, slot.identity, query) if slot.identity else None
            cached = await answers.get(self._query) if answers and self._rules.uses_cache else None
            if cached is not None:
                self._emit("source.started", {"source": slot.name, "timeout_seconds": 0.0})
                return self._ended(slot.name, await self._hooked(slot, cached), remembered=True), False
        grant = f"{self._run}:{slot.name}"
        if external and not await self._granted(grant):
            self._budget_cut = True
            self._emit("budget.exhausted", {"source": slot.name})
            return SourceResult(slot.name, None), False
        if self._rules.call_seconds is None:
            limit = min(suggested, limit)
        limit -= int(10 * (built - started)) / 10  # less than a tenth of a second is no import
        left = end - loop.time()
        seconds = max(0.0, min(limit, left))
        self._emit("source.started", {"source": slot.name, "timeout_seconds": seconds})
        finding, dropped, tried = await self._within(source, slot.name, query, seconds, external=external)
        if answers is not None:
            await answers.keep(self._query, finding)
        if external and not finding.reached:
            await shielded(lambda: self._budget.give_back(grant))
            self._note_unasked(slot.name, source, finding, tried=tried)
        return self._ended(slot.name, await self._hooked(slot, finding)), dropped and left <= limit

    def _note_unasked(self, name: str, source: Source, finding: Finding, *, tried: bool) -> None:
        """Of sources that nobody configured one line says that they could not be asked; another reason is each one's own."""
        is_off = isinstance(source, Unready) and bool(source.unready)
        if self._components.default_chain and finding.outcome is Outcome.unavailable and (tried or is_off):
            self._unasked.setdefault("not reached" if tried else "not switched on", []).append(name)

    async def _hooked(self, slot: SourceSlot, finding: Finding) -> Finding:
        """A finding with its passages as plugins leave them; empty where they leave none."""
        try:
            passages = await self._components.hooks.passages_found(
                self._query, slot.name, finding.passages, self._hook_faults
            )
        except asyncio.CancelledError:
            self._cancelled(slot.name)
            raise
        if passages is finding.passages:
            return finding
        if not passages:
            reason = "a hook left out all passages"
            return finding.model_copy(update={"outcome": Outcome.empty, "passages": (), "reason": reason})
        return finding.model_copy(update={"passages": passages})

    def _leaving(self, slot: SourceSlot, query: ResearchQuery) -> ResearchQuery:
        """The query as it may leave the machine for this source."""
        from kr_core.net.redaction import outgoing

        sent = outgoing(query, slot.egress)
        for what in sent.kept:
            note = f"{slot.name}: {what} in the question was kept at home"
            if what == "code":
                note += f" (`plugins.{slot.name}.egress: code`, allowed by `kr trust`, would send it)"
            self._notes.append(note)
        return sent.query

    async def _built(self, slot: SourceSlot, seconds: float) -> Source | None:
        """The source; None where it was not built in time: an import cannot be stopped, and is left behind."""
        if slot.built:
            return slot.build()
        building = in_thread(slot.build)
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
    ) -> tuple[Finding, bool, bool]:
        """The source's finding, or what became of the call; also whether it was dropped, and so cancelled, and whether it began a request."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        rate = source.rate if isinstance(source, Limited) else None
        context = ConsultationContext(
            self._components.project, self._emitter(name), started + seconds, self._outside, name, rate
        )
        task = asyncio.ensure_future(_asked(source, query, context))
        task.add_done_callback(consume_exception)
        cancelled: BaseException | None = None
        try:
            await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError as error:  # the run itself is cancelled: the call goes with it
            cancelled = error
        elapsed, dropped = loop.time() - started, not task.done()
        if elapsed > seconds + _BLOCKED_SECONDS:
            self._notes.append(
                f"{name}: took {elapsed:.3g} s; its limit is {seconds:.3g} s. Code that does not await holds up the event loop: "
                "call it with `asyncio.to_thread`"
            )
        if dropped:
            cancelled = await self._drop(task, name) or cancelled
        cancelled = await context.close() or cancelled
        if cancelled is not None:
            self._cancelled(name)
            raise cancelled
        if dropped:
            late = Finding(outcome=Outcome.timeout, reason=timeout(seconds), reached=context.reached)
            return late, True, context.tried
        package = package_of(source)
        finding = outcome_of(task, context, elapsed, self._query.question, package, external=external)
        return finding, False, context.tried

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
        unasked = any(name in names for names in self._unasked.values())
        if finding.outcome is not Outcome.ok and not unasked:
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


class SourceCache:
    """The answers of one configured source, kept for a day.

    So neither a crash nor a second run pays twice (K11), nor asks in vain (R20).

    Args:
        outside: where they are remembered.
        identity: what makes the source the one it is: plugin, its version, its settings.
        sent: the query as it leaves the machine.
    """

    def __init__(self, outside: SharedResources, identity: str, sent: ResearchQuery) -> None:
        self._outside = outside
        self._identity = identity
        self._sent = sent

    async def get(self, query: ResearchQuery) -> Finding | None:
        """What the source answered to this query within a day; None if it was not asked."""
        cached = await self._outside.memory.get(self._key(query))
        try:
            return None if cached is None else Finding.model_validate(cached)
        except ValidationError:  # of another version of KR
            return None

    async def keep(self, query: ResearchQuery, finding: Finding) -> None:
        """Keep an answer, or that there was none; anything else is not kept."""
        if finding.outcome in _CACHED_OUTCOMES:
            await self._outside.memory.set(self._key(query), finding.model_dump(mode="json"), _CACHED_SECONDS)

    def _key(self, query: ResearchQuery) -> str:
        # The question too: coverage is measured by it, and two questions may leave as the same words.
        # How the query came about is no part of it.
        sent = self._sent.model_dump(mode="json", exclude={"inferred", "version_from"})
        asked = json.dumps([self._identity, query.question, sent], sort_keys=True)
        return f"answer {hashlib.sha256(asked.encode()).hexdigest()}"
