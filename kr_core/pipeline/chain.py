"""The chain of sources: asked in order until one is sufficient, each within its deadline and the story's budget."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core.model import Finding, Outcome, SourceConsulted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx

    from kr_core.model import ResearchQuery
    from kr_core.pipeline.budget import Budget
    from kr_core.protocols import Project, Source

_GRACE_SECONDS = 2.0
"""How long a cancelled call may take to clean up before it is left behind, and noted."""
_STATUS: dict[Outcome, Literal["success", "timeout"]] = {Outcome.ok: "success", Outcome.timeout: "timeout"}


class Link(NamedTuple):
    """A source in the chain; `build` may fail, and then the source is unavailable."""

    name: str
    build: Callable[[], Source]


class Consulted(NamedTuple):
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


class Chain(NamedTuple):
    """What the whole chain came to."""

    consulted: tuple[Consulted, ...]
    notes: tuple[str, ...]
    sufficient: bool
    budget_cut: bool
    """The budget left a source unasked before there was a sufficient answer."""
    run_timeout: bool
    """The limit of the whole run passed."""


class Context:
    """What a source is handed with a question (`SourceContext`)."""

    def __init__(
        self, project: Project, emit: Callable[[str, dict[str, Any]], None], deadline: float
    ) -> None:
        self.project = project
        self.emit = emit
        self.deadline = deadline
        self._http: httpx.AsyncClient | None = None

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared client, made on first use."""
        if self._http is None:
            import httpx

            from kr_core import __version__

            self._http = httpx.AsyncClient(
                headers={"User-Agent": f"kr-core/{__version__}"}, timeout=30.0, follow_redirects=False
            )
        return self._http

    async def close(self) -> None:
        """Close what was opened."""
        if self._http is not None:
            await self._http.aclose()


class Walk:
    """One walk along the chain.

    Args:
        links: the sources, in order.
        query: the question.
        project: handed to the sources.
        budget: what external calls are taken from.
        emit: says what happens.
        sufficient: whether the findings so far answer the question.
        timeout_seconds: the limit for each call where one is configured or asked for; else each source's own.
        run_seconds: the limit for the whole walk.
        run: the run's id; with a source's name it makes the grant of a call.
    """

    def __init__(
        self,
        links: Sequence[Link],
        query: ResearchQuery,
        project: Project,
        budget: Budget,
        emit: Callable[[str, dict[str, Any]], None],
        *,
        sufficient: Callable[[Sequence[tuple[str, Finding]]], bool],
        timeout_seconds: float | None,
        run_seconds: float,
        run: str,
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
        self._notes: list[str] = []
        self._budget_cut = False

    async def go(self) -> Chain:
        """Ask the sources, one after the other."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._run_seconds
        consulted: list[Consulted] = []
        found: list[tuple[str, Finding]] = []
        done = late = False
        for link in self._links:
            late = late or loop.time() >= end
            if done or late:
                consulted.append(Consulted(link.name, None))
                continue
            entry, timed_out = await self._consult(link, end)
            consulted.append(entry)
            late = timed_out
            if entry.finding is not None and entry.finding.passages:
                found.append((link.name, entry.finding))
                done = self._sufficient(found)
        return Chain(
            tuple(consulted), tuple(self._notes), done, self._budget_cut and not done, late and not done
        )

    async def _consult(self, link: Link, end: float) -> tuple[Consulted, bool]:
        """Ask one source; also whether the limit of the whole run passed meanwhile."""
        try:
            source = link.build()
        except Exception as error:
            return self._ended(
                link.name, Finding(outcome=Outcome.unavailable, reason=_said(error), reached=False)
            ), False
        grant = f"{self._run}:{link.name}"
        if source.external and not self._budget.take(grant):
            self._budget_cut = True
            self._emit("budget.exhausted", {"source": link.name})
            return Consulted(link.name, None), False
        loop = asyncio.get_running_loop()
        limit = self._timeout_seconds if self._timeout_seconds is not None else source.timeout_seconds
        left = end - loop.time()
        self._emit("source.started", {"source": link.name, "timeout_seconds": min(limit, left)})
        finding = await self._within(source, link.name, min(limit, left))
        if source.external and not finding.reached:
            self._budget.give_back(grant)
        return self._ended(link.name, finding), finding.outcome is Outcome.timeout and left <= limit

    async def _within(self, source: Source, name: str, seconds: float) -> Finding:
        """The source's finding, or what became of the call; a call that is dropped is cancelled."""
        loop = asyncio.get_running_loop()
        context = Context(self._project, self._emit, loop.time() + seconds)
        task = asyncio.ensure_future(source.query(self._query, context))
        try:
            done, _waiting = await asyncio.wait({task}, timeout=seconds)
            if not done:
                task.cancel()
                _done, waiting = await asyncio.wait({task}, timeout=_GRACE_SECONDS)
                if waiting:
                    self._notes.append(f"{name}: did not stop when cancelled")
                return Finding(outcome=Outcome.timeout, reason=f"timeout after {seconds:g} s")
            return _checked(task.result())
        except asyncio.CancelledError:
            if not task.done():  # the run itself is cancelled: the call goes with it
                task.cancel()
                await asyncio.wait({task}, timeout=_GRACE_SECONDS)
                raise
            return Finding(outcome=Outcome.unavailable, reason="the source cancelled itself")
        except Exception as error:
            return Finding(outcome=Outcome.unavailable, reason=_said(error))
        finally:
            await context.close()

    def _ended(self, name: str, finding: Finding) -> Consulted:
        if finding.outcome is not Outcome.ok:
            reason = finding.reason or finding.outcome.value
            timeout = finding.outcome is Outcome.timeout
            self._notes.append(
                f"{name}: {reason}" if timeout else f"{name}: {finding.outcome.value}: {reason}"
            )
        self._notes.extend(f"{name}: {note}" for note in finding.notes)
        self._emit(
            "source.finished",
            {
                "source": name,
                "outcome": finding.outcome.value,
                "passages": len(finding.passages),
                "reason": finding.reason,
                "url": finding.url,
            },
        )
        return Consulted(name, finding)


def _checked(finding: Any) -> Finding:
    """A source's answer, if it is one."""
    if not isinstance(finding, Finding):
        return Finding(outcome=Outcome.bad_answer, reason=f"returned {type(finding).__name__}, not a Finding")
    if finding.outcome is Outcome.ok and not finding.passages:
        return finding.model_copy(
            update={"outcome": Outcome.empty, "reason": finding.reason or "no passages"}
        )
    if finding.outcome is not Outcome.ok and finding.passages:
        return finding.model_copy(update={"passages": (), "support": ()})  # a failure is never an answer
    return finding


def _said(error: BaseException) -> str:
    from kr_core.errors import KRError

    return str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
