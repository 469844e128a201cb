"""The chain of sources: asked in order until one is sufficient, each within its deadline and the story's budget."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core.errors import ConfigError, KRError
from kr_core.evidence.answering import measured
from kr_core.model import Finding, Outcome, SourceConsulted
from kr_core.pipeline.running import GRACE_SECONDS, apart, to_its_end, until_done
from kr_core.printable import cleaned, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import httpx

    from kr_core.model import Passage, ResearchQuery
    from kr_core.pipeline.budget import Budget
    from kr_core.pipeline.components import Link
    from kr_core.protocols import Project, Source

_MOST_SECONDS = 600.0
"""No call may take longer, whatever its source suggests."""
_LONGEST_REASON = 300
_REFUSALS = (
    "quota exceeded",
    "rate limit",
    "too many requests",
    "monthly limit",
    "upgrade your plan",
    "billing",
    "invalid api key",
    "unauthorized",
)
"""What services say in place of an answer; a short text from outside that says it is none."""
_SHORTEST_ANSWER = 600
ABSOLUTE = re.compile(r"\s*(?:/|~/|\\\\|[A-Za-z]:[\\/]|file:/|file:~|file:[A-Za-z]:)", re.IGNORECASE)
_STATUS: dict[Outcome, Literal["success", "timeout"]] = {Outcome.ok: "success", Outcome.timeout: "timeout"}


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
        self.answered = False
        """Whether a request of this call was answered, whatever with."""
        self._http: httpx.AsyncClient | None = None

    @property
    def http(self) -> httpx.AsyncClient:
        """The shared client, made on first use."""
        if self._http is None:
            import httpx

            from kr_core import __version__

            self._http = httpx.AsyncClient(
                headers={"User-Agent": f"kr-core/{__version__}"},
                timeout=30.0,
                follow_redirects=False,
                event_hooks={"response": [self._note_answer]},
            )
        return self._http

    async def _note_answer(self, _response: httpx.Response) -> None:
        self.answered = True

    async def close(self) -> BaseException | None:
        """Close what was opened; returns a cancellation of the run meanwhile."""
        if self._http is None:
            return None
        closing = asyncio.ensure_future(self._http.aclose())
        closing.add_done_callback(_heard)  # a connection that breaks as it is closed is closed
        return await until_done(closing, GRACE_SECONDS)


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
        run: the run's id, another one for each walk; with a source's name it makes the grant of a call.
        earlier: what became of sources in a walk before this one; they are not asked again.
        lenient: whether a source that is wrongly configured is unavailable, instead of ending the walk.
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
        earlier: Mapping[str, Consulted] | None = None,
        lenient: bool = False,
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
        self._notes: list[str] = []
        self._budget_cut = False

    async def go(self) -> Chain:
        """Ask the sources, one after the other.

        Raises:
            ConfigError: a source is wrongly configured.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._run_seconds
        consulted: list[Consulted] = []
        found: list[tuple[str, Finding]] = []
        done = late = False
        for link in self._links:
            late = late or loop.time() >= end
            entry = self._earlier.get(link.name, Consulted(link.name, None))
            if entry.finding is None and not done and not late:
                entry, late = await self._consult(link, end)
            consulted.append(entry)
            if entry.finding is not None and entry.finding.passages:
                found.append((link.name, entry.finding))
                done = done or self._sufficient(found)
        return Chain(
            tuple(consulted), tuple(self._notes), done, self._budget_cut and not done, late and not done
        )

    async def _consult(self, link: Link, end: float) -> tuple[Consulted, bool]:
        """Ask one source; also whether the limit of the whole run cut it off."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        limit = _MOST_SECONDS if self._timeout_seconds is None else min(self._timeout_seconds, _MOST_SECONDS)
        try:
            source = await self._built(link, min(limit, end - started))
            built = loop.time()
            if source is None:
                reason = f"{_timeout(built - started)}, while it was imported and built"
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
            failed = Finding(outcome=Outcome.unavailable, reason=_said(error), reached=False)
            return self._ended(link.name, failed), False
        grant = f"{self._run}:{link.name}"
        if external and not await self._granted(grant):
            self._budget_cut = True
            self._emit("budget.exhausted", {"source": link.name})
            return Consulted(link.name, None), False
        if self._timeout_seconds is None:
            limit = min(suggested, limit)
        limit -= round(built - started, 1)  # a tenth of a second is no import
        left = end - loop.time()
        seconds = max(0.0, min(limit, left))
        self._emit("source.started", {"source": link.name, "timeout_seconds": seconds})
        finding, dropped = await self._within(source, link.name, seconds, external=external)
        if external and not finding.reached:
            await to_its_end(lambda: self._budget.give_back(grant))
        return self._ended(link.name, finding), dropped and left <= limit

    async def _built(self, link: Link, seconds: float) -> Source | None:
        """The source; None where it was not built in time: an import cannot be stopped, and is left behind."""
        if link.built:
            return link.build()
        building = apart(link.build)
        building.add_done_callback(_heard)
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

        return await to_its_end(lambda: self._budget.take(grant), unused)

    async def _within(
        self, source: Source, name: str, seconds: float, *, external: bool
    ) -> tuple[Finding, bool]:
        """The source's finding, or what became of the call; also whether it was dropped, and so cancelled."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        context = Context(self._project, self._emitter(name), started + seconds)
        task = asyncio.ensure_future(_asked(source, self._query, context))
        task.add_done_callback(_heard)
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
            return Finding(outcome=Outcome.timeout, reason=_timeout(seconds)), True
        return _outcome(task, context, elapsed, self._query.question, external=external), False

    async def _drop(self, task: asyncio.Task[Any], name: str) -> BaseException | None:
        """Cancel a call and give it time to clean up; returns a cancellation of the run meanwhile."""
        task.cancel()
        cancelled = await until_done(task, GRACE_SECONDS)
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
                said = {"source": name, "kind": repr(kind)[:100], "data": repr(data)[:_LONGEST_REASON]}
                self._emit("source.said", said)

        return emit

    def _cancelled(self, name: str) -> None:
        """Say that a source was asked in vain, since nobody waits for its answer any more."""
        self._ended(name, Finding(outcome=Outcome.unavailable, reason="the run was cancelled"))

    def _ended(self, name: str, finding: Finding) -> Consulted:
        reason = _short(finding.reason or finding.outcome.value)
        if finding.outcome is not Outcome.ok:
            timeout = finding.outcome is Outcome.timeout
            self._notes.append(
                f"{name}: {reason}" if timeout else f"{name}: {finding.outcome.value}: {reason}"
            )
        self._notes.extend(f"{name}: {_short(note)}" for note in finding.notes)
        self._emit(
            "source.finished",
            {
                "source": name,
                "outcome": finding.outcome.value,
                "passages": len(finding.passages),
                "reason": _short(finding.reason),
                "url": finding.url,
            },
        )
        return Consulted(name, finding)


async def _asked(source: Source, query: ResearchQuery, context: Context) -> Any:
    """Await the source; one that is not async, or ends the program, fails like any other.

    What else it raises (`GeneratorExit`, pytest's `Skipped`, a panic of Rust) is kept by the task; an exit is not.
    """
    try:
        return await source.query(query, context)
    except SystemExit as error:
        raise RuntimeError(f"the source tried to end the program ({error})") from error


def _heard(task: asyncio.Future[Any]) -> None:
    """Take notice of how it ended; what was dropped may fail while nobody waits for it."""
    if not task.cancelled():
        task.exception()


def _outcome(
    task: asyncio.Task[Any], context: Context, elapsed: float, question: str, *, external: bool
) -> Finding:
    """What became of a call that ended by itself."""
    if task.cancelled():
        return Finding(outcome=Outcome.unavailable, reason="the source cancelled itself")
    error = task.exception()
    if error is None:
        return _checked(task.result(), question, external=external)
    reached = context.answered or not _is_refusal(error)
    if isinstance(error, TimeoutError) or _is_of_httpx(error, "TimeoutException"):
        return Finding(outcome=Outcome.timeout, reason=_timeout(elapsed), reached=reached)
    return Finding(outcome=Outcome.unavailable, reason=_said(error), reached=reached)


def _is_refusal(error: BaseException | None) -> bool:
    """Whether an error, or what it was raised from, says that no connection came about."""
    while error is not None:
        no_connection = _is_of_httpx(error, "ConnectError") or _is_of_httpx(error, "ConnectTimeout")
        if isinstance(error, ConnectionRefusedError) or no_connection:
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_of_httpx(error: BaseException, kind: str) -> bool:
    httpx = sys.modules.get("httpx")  # where nobody has imported it, nobody has raised its errors
    return httpx is not None and isinstance(error, getattr(httpx, kind))


def _checked(answer: Any, question: str, *, external: bool) -> Finding:
    """A source's answer, if it is one: of the right types, printable, with citations that others can follow."""
    if not isinstance(answer, Finding):
        return _bad(f"returned {type(answer).__name__}, not a Finding")
    try:
        finding = Finding.model_validate(cleaned(answer.model_dump(warnings=False)))
    except Exception as error:  # made without validation, it may hold anything
        return _bad(f"returned a Finding with wrong values: {type(error).__name__}: {error}")
    if finding.outcome is not Outcome.ok:
        url = None if ABSOLUTE.match(finding.url or "") else finding.url
        # a failure is never an answer
        return finding.model_copy(update={"passages": (), "support": (), "url": url})
    told = [passage for passage in finding.passages if passage.text.strip()]
    if not told:
        reason = finding.reason or "no passages"
        return finding.model_copy(
            update={"outcome": Outcome.empty, "passages": (), "support": (), "reason": reason}
        )
    cited = [finding.url or "", *(passage.url for passage in (*told, *finding.support))]
    cited += [passage.locator for passage in (*told, *finding.support)]
    if any(map(ABSOLUTE.match, cited)):
        return _bad("absolute path in a citation")
    refusal = _refusal(told) if external else ""
    if refusal:
        return finding.model_copy(
            update={"outcome": Outcome.limited, "passages": (), "support": (), "reason": refusal}
        )
    passages = tuple(measured(_bounded(passage), question) for passage in told)
    return finding.model_copy(update={"passages": passages, "support": tuple(map(_bounded, finding.support))})


def _bad(reason: str) -> Finding:
    return Finding(outcome=Outcome.bad_answer, reason=_short(reason))


def _bounded(passage: Passage) -> Passage:
    """A passage whose coverage is a share; what is no number is none."""
    coverage = passage.coverage
    if 0.0 <= coverage <= 1.0:
        return passage
    return passage.model_copy(update={"coverage": 1.0 if coverage > 1.0 else 0.0})


def _refusal(passages: Sequence[Passage]) -> str:
    """What a service said in place of an answer (a quota, a limit, a key); empty where it answered."""
    text = " ".join(passage.text for passage in passages)
    said = text.lower().replace("-", " ")
    if len(text) >= _SHORTEST_ANSWER or not any(refusal in said for refusal in _REFUSALS):
        return ""
    return _short(text)


def _seconds(suggested: Any) -> float:
    """The limit that a source suggests.

    Raises:
        ValueError: it is none.
    """
    seconds = float(suggested)
    if not seconds > 0:  # nor is nan
        raise ValueError(f"its `timeout_seconds` is {suggested}: set a number of seconds above 0")
    return seconds


def _timeout(seconds: float) -> str:
    return f"timeout after {round(seconds, 2 if seconds < 0.5 else 1):g} s"


def _said(error: BaseException) -> str:
    return _short(str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}")


def _short(text: str) -> str:
    """A text from outside on one line, not longer than a person reads."""
    line = " ".join(printable(text).split())
    return line if len(line) <= _LONGEST_REASON else f"{line[: _LONGEST_REASON - 1]}\N{HORIZONTAL ELLIPSIS}"
