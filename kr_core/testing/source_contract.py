"""What every source keeps to (`kr_core.Source`)."""

from __future__ import annotations

import asyncio
import math
import shutil
from datetime import UTC, datetime
from traceback import format_exception
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kr_core.aio import run
from kr_core.model import Finding, Outcome, Passage, ResearchQuery
from kr_core.research.outcomes import ABSOLUTE
from kr_core.testing.checks import raises_nothing
from kr_core.testing.faults import FaultyTransport, NetworkFault
from kr_core.testing.samples import EVALUATED, HOSTILE
from kr_core.testing.service_contract import NETWORK_FAULTS, ServiceContract
from kr_core.testing.surroundings import context_in
from kr_core.testing.watchers import watched
from kr_core.text import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

    from kr_core.protocols import Source

_LIMIT_SECONDS = 60.0
"""For one consultation; a source may have an index to make."""
_FAULT_SECONDS = 5.0
"""For one consultation while the network fails: a source may try again, but not for long."""
_CANCEL_SECONDS = 1.0
_BLOCKED_SECONDS = 0.25
_TICK_SECONDS = 0.005
_THEN = datetime(2026, 2, 5, tzinfo=UTC)


class SourceContract(ServiceContract):
    """The rules for sources, tested with a question that the source answers and one that it does not.

    Attributes:
        known: a question that the source answers from the files of `prepare` or the responses of `respond`.
        unknown: a question that it cannot answer.
        framework: the framework of both questions.
        mcp_server: an `mcp.server.MCPServer` that replaces every MCP server, for a source that calls one.
    """

    noun = "source"
    known: ClassVar[str]
    unknown: ClassVar[str]
    framework: ClassVar[str] = "example"
    mcp_server: ClassVar[Any] = None

    # -- questions ---------------------------------------------------------------------------------------

    def test_external_and_timeout_are_declared(self, project: Path) -> None:
        """`external` is a bool, `timeout_seconds` a positive number."""
        source = self.build(project)
        assert isinstance(source.external, bool), (
            f"`external` is {source.external!r}; say True if a consultation leaves the machine, else False"
        )
        seconds = source.timeout_seconds
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        assert is_number and math.isfinite(seconds) and seconds > 0, (  # noqa: PT018  one message for all
            f"`timeout_seconds` is {seconds!r}; give the seconds after which the engine may give up, such as 10.0"
        )

    def test_a_known_question_is_answered(self, project: Path) -> None:
        """The known question gives `ok`, with passages that have content."""
        finding = self._consulted(project, self.known)
        assert finding.outcome is Outcome.ok, (
            f"the source gave `{finding.outcome}` ({finding.reason}) for the known question {self.known!r}; "
            "return Outcome.ok with the passages, or let `prepare` lay out what answers it"
        )
        assert any(passage.text.strip() for passage in finding.passages), (
            "the source gave `ok` without a passage that has text; where there is none, return Outcome.empty"
        )

    def test_quotes_stand_in_their_passage(self, project: Path) -> None:
        """Everything that an answer may quote from a passage is verbatim in its text."""
        finding = self._consulted(project, self.known)
        for passage in (*finding.passages, *finding.support):
            for field, quote in _quotes(passage):
                assert _folded(quote) in _folded(passage.text), (
                    f"`{field}` of the passage {passage.title or passage.locator!r} does not stand in its `text`: "
                    f"{quote!r}; quote the text verbatim, else the answer drops it"
                )
            assert 0.0 <= passage.coverage <= 1.0, (
                f"`coverage` is {passage.coverage}; it is a share of the question, from 0 to 1"
            )

    def test_citations_are_not_absolute_paths(self, project: Path) -> None:
        """A citation works on every machine and is not an absolute path."""
        finding = self._consulted(project, self.known)
        for passage in (*finding.passages, *finding.support):
            assert passage.url.strip(), (
                f"a passage has no `url` ({passage.title or passage.text[:40]!r}); every quote must be citable: "
                "give an address, or `file:` and a path relative to the project"
            )
            for field, cited in (("url", passage.url), ("locator", passage.locator)):
                assert not ABSOLUTE.match(cited) and str(project) not in cited, (  # noqa: PT018  one message for both
                    f"`{field}` is the absolute path {cited!r}; make it relative to the project, "
                    "such as `file:notes/deploy.md`"
                )
        assert not ABSOLUTE.match(finding.url or ""), (
            f"the finding's `url` is the absolute path {finding.url!r}; make it relative to the project"
        )

    def test_an_unknown_question_is_empty(self, project: Path) -> None:
        """If the source finds nothing, the outcome is `empty`: neither an answer nor a failure."""
        finding = self._consulted(project, self.unknown)
        assert finding.outcome is Outcome.empty, (
            f"the source gave `{finding.outcome}` ({finding.reason}) for the unknown question {self.unknown!r}; "
            "where it looked and found nothing, return Finding(outcome=Outcome.empty)"
        )

    def test_the_same_question_gives_the_same_answer(self, project: Path) -> None:
        """The source, and another object of it, answers a repeated question in the same way."""
        source = self.build(project)
        first, again = (
            self._consulted(project, self.known, source),
            self._consulted(project, self.known, source),
        )
        anew = self._consulted(project, self.known)
        assert _timeless(first) == _timeless(again) == _timeless(anew), (
            "the same question gave another answer the second time; keep nothing of one question for the next, "
            "and break ties by a fixed order (sort what a set or a folder lists)"
        )

    def test_two_at_once_do_not_mix(self, project: Path) -> None:
        """The source answers simultaneous questions as if each were alone."""
        alone = {question: self._consulted(project, question) for question in (self.known, self.unknown)}
        source, transport = self.build(project), self._transport()
        questions = [self.known, self.unknown, self.unknown, self.known]

        async def together() -> list[Finding]:
            asked = (self._ask(source, question, project, transport) for question in questions)
            return await asyncio.gather(*asked)

        with raises_nothing(
            "the source",
            "keep what belongs to a question in local variables of `query`, not on the object",
            "for two questions at once",
        ):
            findings = run(together())
        for question, finding in zip(questions, findings, strict=True):
            assert _timeless(finding) == _timeless(alone[question]), (
                f"two questions at once were mixed: {question!r} was answered otherwise than alone; "
                "keep what belongs to a question in local variables of `query`, not on the object"
            )

    # -- the event loop ----------------------------------------------------------------------------------

    @pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1])
    def test_cancellation_passes(self, project: Path, seconds: float) -> None:
        """A consultation that is cancelled at its deadline ends at once, even while it waits for a service."""
        transport = FaultyTransport([NetworkFault.hangs] * 100)
        asking = self._ask(self.build(project), self.known, project, transport)
        self._ends_when_cancelled(asking, seconds, _CANCEL_SECONDS, "an answer")

    def test_the_event_loop_is_not_blocked(self, project: Path) -> None:
        """Other work continues while the source answers, the first time and later."""
        gap = min(_until(lambda: self._longest_gap(project), _BLOCKED_SECONDS, attempts=3))
        assert gap <= _BLOCKED_SECONDS, (
            f"the source blocked the event loop for {gap:.1f} s; "
            "move disk and CPU work to `await asyncio.to_thread(...)`"
        )

    # -- hostile and broken surroundings -----------------------------------------------------------------

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_hostile_text_stays_data(self, project: Path, kind: str) -> None:
        """For any text in a question, the source returns a finding, evaluates nothing and keeps working."""
        source = self.build(project)
        for question in (HOSTILE[kind], f"{self.known} {HOSTILE[kind]}"):
            finding = self._consulted(project, question, source)
            said = [finding.reason, *finding.notes, *(passage.text for passage in finding.passages)]
            assert not any(EVALUATED in text for text in said), (
                f"the source evaluated `7191 * 7193`, which stood in the question ({kind}); "
                "a question is data: never format, template or run it"
            )
        after = self._consulted(project, self.known, source)
        assert after.outcome is Outcome.ok, (
            f"after the hostile question ({kind}) the source gives `{after.outcome}` ({after.reason}) for the known "
            "one; keep nothing of one question for the next"
        )

    def test_what_is_gone_is_no_answer(self, project: Path) -> None:
        """If its material is gone, the source says so or raises, and does not answer.

        External sources have theirs elsewhere.
        """
        if self.build(project).external:
            pytest.skip("the source is external: what it reads is not in the project")
        if not any(project.iterdir()):
            pytest.skip("`prepare` lays nothing out in the project")
        for laid_out in project.iterdir():
            shutil.rmtree(laid_out) if laid_out.is_dir() else laid_out.unlink()
        finding = self._attempt(project, self.known, self.build)
        assert not isinstance(finding, Finding) or finding.outcome is not Outcome.ok, (
            "the source gave `ok` though what it reads is gone; return Outcome.unavailable with the reason, "
            "or let the error pass"
        )

    def test_it_goes_out_only_as_it_says(self, project: Path) -> None:
        """A source that is not external sends nothing; an external one uses the client from its context."""
        source = self.build(project)
        with watched("network", every_thread=True) as touched:
            self._consulted(project, self.known, source)
            self._consulted(project, self.unknown, source)
        hint = (
            "send requests through `context.http`, which the engine closes and limits"
            if source.external
            else "say `external = True`, so that its calls are counted, and send requests through `context.http`"
        )
        assert not touched, f"the source went to the network by itself ({touched[0]}); {hint}"

    def test_it_runs_only_what_its_settings_name(self, project: Path) -> None:
        """The source starts only programs from settings whose names tell KR that they run one."""

        def asked() -> None:
            source = self.build(project)
            self._consulted(project, self.known, source)
            self._consulted(project, self.unknown, source)

        self._runs_only_what_is_named(asked)

    @pytest.mark.parametrize("fault", NETWORK_FAULTS)
    def test_a_network_fault_is_no_answer(self, project: Path, fault: NetworkFault) -> None:
        """If the network fails, an external source never returns `ok`, and says if it was not reached."""
        source = self.build(project)
        if not source.external:
            pytest.skip("the source is not external")
        transport = FaultyTransport([fault] * 100)
        finding = self._attempt(project, self.known, lambda _project: source, transport, _FAULT_SECONDS)
        if not isinstance(finding, Finding):
            return  # the engine makes a typed outcome of whatever is raised
        assert finding.outcome is not Outcome.ok, (
            f"the source gave `ok` though the network failed ({fault.value}); check status, type and body of the "
            "answer before reading it: return Outcome.limited, blocked, unavailable or bad_answer with the reason"
        )
        assert finding.outcome is not Outcome.empty, (
            f"the source gave `empty` though the network failed ({fault.value}): that says there is no answer; "
            "return Outcome.limited, blocked, unavailable or bad_answer with the reason"
        )
        if fault is NetworkFault.connection_refused:
            assert not finding.reached, (
                "no connection came about, and the finding says `reached=True`, which costs a call of the budget; "
                "return reached=False, or let httpx.ConnectError pass"
            )

    # -- parts -------------------------------------------------------------------------------------------

    async def _ask(
        self,
        source: Source,
        question: str,
        project: Path,
        transport: httpx.AsyncBaseTransport,
        seconds: float = _LIMIT_SECONDS,
    ) -> Finding:
        """One consultation, cancelled at its deadline like the engine's."""
        query = ResearchQuery(
            framework=self.framework,
            framework_version="latest",
            topic=" ".join(content_words(question[:200])) or "question",
            tags=tuple(content_words(question[:200])[:5]),
            question=question,
        )
        deadline = asyncio.get_running_loop().time() + seconds
        # While the network fails, no MCP server is reached either: the client's own requests go to the transport.
        mcp_server = None if isinstance(transport, FaultyTransport) else self.mcp_server
        async with context_in(project, deadline, transport, mcp_server) as context:
            return await source.query(query, context)

    def _attempt(
        self,
        project: Path,
        question: str,
        build: Callable[[Path], Any],
        transport: httpx.AsyncBaseTransport | None = None,
        seconds: float = _LIMIT_SECONDS,
    ) -> Finding | Exception:
        """What the source answers, or what it raises; TimeoutError at the deadline."""

        async def consult() -> Finding:
            asked = self._ask(build(project), question, project, transport or self._transport(), seconds)
            task = asyncio.ensure_future(asked)
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                task.cancel()
                raise TimeoutError(f"no answer within {seconds:g} s")
            return task.result()

        try:
            return run(consult())
        except Exception as error:  # a source may raise anything
            return error

    def _consulted(self, project: Path, question: str, source: Source | None = None) -> Finding:
        """The finding for a question; whatever else comes fails the test."""

        def build(folder: Path) -> Any:
            return self.build(folder) if source is None else source

        finding = self._attempt(project, question, build)
        shown = question if len(question) <= 100 else f"{question[:100]}..."
        assert not isinstance(finding, Exception), (
            f"the source raised {type(finding).__name__}: {finding} for the question {shown!r}; return a Finding: "
            "Outcome.empty where nothing was found, else the outcome that says what failed\n"
            + "".join(format_exception(finding))
        )
        assert isinstance(finding, Finding), (
            f"the source returned {type(finding).__name__} for the question {shown!r}; return a kr_core.Finding"
        )
        try:
            Finding.model_validate_json(finding.model_dump_json())
        except ValueError as error:
            raise AssertionError(
                f"the finding for {shown!r} cannot be kept: {error}; build it with validated values "
                "(not model_construct), and leave lone surrogates out of its texts"
            ) from error
        return finding

    def _longest_gap(self, project: Path) -> float:
        """The longest time for which nothing else had its turn, in seconds; over a first and a repeated question."""
        source, transport = self.build(project), self._transport()

        async def beat(gaps: list[float]) -> None:
            loop = asyncio.get_running_loop()
            last = loop.time()
            while True:
                await asyncio.sleep(_TICK_SECONDS)
                now = loop.time()
                gaps.append(now - last)
                last = now

        async def watch() -> float:
            gaps: list[float] = []
            heart = asyncio.ensure_future(beat(gaps))
            await asyncio.sleep(2 * _TICK_SECONDS)
            for question in (self.known[:20], self.known, self.known, self.known):
                await self._ask(source, question, project, transport)
            await asyncio.sleep(2 * _TICK_SECONDS)
            heart.cancel()
            return max(gaps)

        return run(watch())


def _until(measure: Callable[[], float], enough: float, *, attempts: int) -> Iterator[float]:
    """Measure until it is good enough: a busy machine may hold up the best of sources once, but not each time."""
    for _ in range(attempts):
        measured = measure()
        yield measured
        if measured <= enough:
            return


def _quotes(passage: Passage) -> Iterator[tuple[str, str]]:
    """The parts of a passage that an answer may quote."""
    yield "lead", passage.lead
    for code in passage.code:
        yield "code", code
    for field in ("signature", "annotation", "default"):
        yield field, getattr(passage, field) or ""


def _folded(text: str) -> str:
    return " ".join(text.split())


def _timeless(finding: Finding) -> Finding:
    """A finding without the time of its passages."""
    return finding.model_copy(
        update={
            field: tuple(one.model_copy(update={"fetched_at": _THEN}) for one in getattr(finding, field))
            for field in ("passages", "support")
        }
    )
