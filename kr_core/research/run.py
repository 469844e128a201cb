"""One request on its way through the stages: look up, route, consult, compose, score, render, keep."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from kr_core.config.plugin_names import DEFAULT_CHAIN
from kr_core.evidence.coverage import ABOUT, answered
from kr_core.knowledge.ids import entry_id, report_path
from kr_core.model import SKELETON_MARK, Draft, Entry, Fault
from kr_core.project.environments import OWN_LABEL
from kr_core.project.versions import gap
from kr_core.research import lookup, results, stages
from kr_core.research.budget import RunBudget
from kr_core.research.memory_cache import stamps
from kr_core.research.results import CompletedResearch
from kr_core.research.single_flight import SingleFlight
from kr_core.research.stages import StageRunner

if TYPE_CHECKING:
    from asyncio import Semaphore
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from datetime import date
    from pathlib import Path

    from kr_core.model import EntryStatus, Event, Finding, ResearchQuery, ResearchRequest, Results, Score
    from kr_core.protocols import WriteResult
    from kr_core.research.container import Container, SourceSlot
    from kr_core.research.lookup import LookupResult
    from kr_core.research.report import RenderedReport
    from kr_core.research.single_flight import FlightResult
    from kr_core.research.sources import ChainResult
    from kr_core.research.synthesis import Synthesis

_EXHAUSTED = "Research budget exhausted for story {}, continuing with available context"

NamedFindings = list[tuple[str, "Finding"]]


class ResearchRun:
    """One valid request; `begin`, then `consult` and `conclude` if there is no answer yet.

    `begin` and `conclude` read and write files; only `consult` waits for the outside.

    Args:
        request: what is asked.
        components: what it is answered with.
        observers: called with every event at once.
    """

    def __init__(
        self,
        request: ResearchRequest,
        components: Container,
        observers: tuple[Callable[[Event], object], ...] = (),
    ) -> None:
        self._request = request
        self._components = components
        self._settings = components.config.settings
        self._run = StageRunner(components.journal, observers)
        self._budget = RunBudget(
            components.journal,
            request.session_id,
            request.story_key,
            self._settings.knowledge_research.max_calls_per_story,
            request.max_calls,
        )
        self._found: LookupResult = lookup.NOTHING
        self._links: tuple[SourceSlot, ...] = ()
        self._flight = SingleFlight(request, components.config.state_folder, components)
        self._seconds = float(self._settings.defaults.agent_timeout_seconds.knowledge_research)
        self._ended = False
        self._spent = False
        self._synthesis: Synthesis | None = None

    # -- before a source is asked ------------------------------------------------------------------------

    def recall(self, *, wait: bool) -> CompletedResearch | None:
        """The answer if it is a cache hit; else nothing is said of this look-up, and `begin` makes another.

        Args:
            wait: until the record is durable. A hit has written, spent and found nothing that it would acknowledge, so
                that whoever looks at `failed` afterwards need not.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: the store cannot be built.
        """
        found = self._look_up()
        if found.state != "hit":
            return None
        try:
            return self.begin(found, wait=wait)
        except BaseException as error:
            self.end(error)
            raise

    @property
    def failed(self) -> bool:
        """Whether the record of a run that was not waited for is known not to have become durable."""
        return self._run.failed

    def begin(self, found: LookupResult | None = None, *, wait: bool = True) -> CompletedResearch | None:
        """Look up and route; the answer if it is a cache hit.

        Args:
            found: what a look-up right before has come to.
            wait: until the record of a hit is durable.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: the store cannot be built.
        """
        query = self._request.query
        self._run.emit(
            "run.started",
            {
                "question": query.question,
                "framework": query.framework,
                "version": query.framework_version,
                "story_key": self._request.story_key,
                "session_id": self._request.session_id,
            },
        )
        self._found = self._run.stage("lookup", lambda: found or self._look_up(), stages.lookup)
        if self._found.state == "hit" and not self._request.refresh:
            return self._finished(self._hit(), wait=wait)
        self._flight.enter()
        if self._flight.leads and not self._request.refresh and (landed := self._found_anew(lambda _: True)):
            return self._finished(landed)  # it was researched between the look-up and the entry
        self._spent = self._budget.remaining == 0
        self._links = self._run.stage(
            "route",
            lambda: self._components.chain(query),
            lambda links: {"sources": [link.name for link in links]},
        )
        return None

    def peek(self) -> CompletedResearch | None:
        """What a repeated request would find, without an event; None where it would not be a hit."""
        self._found = self._look_up()
        return self._hit() if self._found.state == "hit" else None

    def _found_anew(self, serves: Callable[[LookupResult], bool]) -> CompletedResearch | None:
        """The hit that another caller's research has made of the question meanwhile."""
        found = self._look_up()
        if found.state != "hit" or not serves(found):
            return None
        self._found = found
        return self._hit()

    def _look_up(self) -> LookupResult:
        components = self._components
        settings = self._settings.knowledge_research
        return lookup.look_up(components.store, self._request.query, settings, components.today())

    def _hit(self) -> CompletedResearch:
        matched = self._found.matched
        assert matched is not None, "it is a hit"
        faults: list[Fault] = []
        count = 0
        try:
            count = self._components.store.touch(matched.entry, self._components.today())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the answer stands, though the date of its use does not
            faults.append(results.write_fault(error))
        stored = results.stored(self._found, self._budget.remaining).model_copy(
            update={"cache_hit": True, "index_updated": not faults, "index_count": count}
        )
        result = results.hit(self._request, stored, faults)
        return CompletedResearch(result, self._found.report, self._depends_on(matched.entry.path))

    @property
    def read(self) -> tuple[Path, ...]:
        """The files that the look-up read; none where the store does not tell, or had something to say."""
        return self._read(self._found)

    def _read(self, found: LookupResult) -> tuple[Path, ...]:
        if found.matched is None or not found.files or found.warnings:
            return ()
        report, beside = self._report_files(found.matched.entry.path)
        return (*found.files, report, beside) if report.is_file() else ()

    def _report_files(self, path: str) -> tuple[Path, Path]:
        report = self._components.config.knowledge_base / path
        return report, report.with_suffix(".evidence.json")

    def _depends_on(self, report: str) -> tuple[Path, ...]:
        """The files whose change may change what a hit says."""
        looked_at, project = self._components.config.looked_at, self._components.project.files()
        files = [*looked_at, *self._found.files, *self._report_files(report), *project]
        return tuple(dict.fromkeys(files))

    # -- the sources -------------------------------------------------------------------------------------

    async def consult(self) -> ChainResult | CompletedResearch:
        """Ask the sources, or wait for another caller who asks the same.

        Returns:
            What the sources said, for `conclude`; or the answer that the other caller's research has given.

        Raises:
            ConfigError: a source is wrongly configured.
        """
        from kr_core.aio import shielded

        if not self._flight.leads and (answer := await self._waited()) is not None:
            return await shielded(lambda: self._finished(answer))
        gate = self._components.gate(spent=self._spent)
        if self._seconds <= 0 or not await self._let_in(gate):
            return self._too_late()
        began = monotonic()
        try:
            chain = await self._run.wait_for_stage("consult", self._walk_as_allowed, stages.chain)
        finally:
            gate.release()
        if self._settings.knowledge_research.agent is not None and (found := _with_passages(chain)):
            from kr_core.research.synthesis import synthesise

            left = self._seconds - (monotonic() - began)
            self._synthesis = await synthesise(
                self._components, self._request.query, found, left, self._run.emit
            )
        return chain

    async def _let_in(self, gate: Semaphore) -> bool:
        """Wait to be one of the questions that ask sources at once; False where the limit of the run passed meanwhile."""
        import asyncio

        began = monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                await gate.acquire()
        except TimeoutError:
            return False
        self._seconds -= monotonic() - began
        return True

    async def _waited(self) -> CompletedResearch | None:
        """Wait for this run's turn, within the limit of a run; the answer where another caller's serves."""
        from kr_core.research.follower import turn

        before = stamps(self.read)

        def renewed(found: LookupResult) -> bool:
            return not self._request.refresh or stamps(self._read(found)) != before

        answer, waited = await turn(
            self._flight, self._seconds, lambda: self._found_anew(renewed), self._handed
        )
        self._seconds -= waited
        self._run.emit("run.waited", {"seconds": round(waited, 3), "served": answer is not None})
        return answer

    def _handed(self, theirs: Future[FlightResult]) -> CompletedResearch | None:
        """The answer of another caller of this pipeline, where the knowledge base does not have it."""
        given = self._flight.answer_of(theirs.result())
        if given is None:
            return None
        body = given.result.results.model_copy(update={"budget_remaining": self._budget.remaining})
        whose = {"story_key": self._request.story_key, "session_id": self._request.session_id}
        return given._replace(result=given.result.model_copy(update={**whose, "results": body}))

    def _too_late(self) -> ChainResult:
        """Nobody was asked: others took all the time that this run may take."""
        from kr_core.research.sources import ChainResult, SourceResult

        nobody = tuple(SourceResult(link.name, None) for link in self._links)
        return ChainResult(nobody, (), sufficient=False, budget_cut=False, run_timeout=True)

    def end(self, error: BaseException) -> None:
        """Say that the run ends without an answer, durably, and let others have the lead; without effect after its end.

        Args:
            error: why; what is no `Exception` comes from outside, and so the run is cancelled.
        """
        if not self._ended:
            self._ended = True
            with suppress(Exception):  # a journal that fails now; the error at hand says more
                if isinstance(error, Exception):
                    nothing = {"entry": None, "confidence": None, "score": None}
                    self._run.emit("run.finished", {"status": "failure", **nothing})
                else:
                    self._run.emit("run.cancelled", {})
                self._run.settle()
        self._flight.leave()

    async def _walk_as_allowed(self) -> ChainResult:
        chain = await self._walk()
        if chain.run_timeout and self._settings.defaults.agent_timeout_action == "retry_once":
            self._run.emit("run.retried", {"reason": "the limit of the whole run passed"})
            again = await self._walk(after=chain)
            chain = again._replace(notes=(*chain.notes, f"{self._run_timeout()}, retried once", *again.notes))
        return chain

    async def _walk(self, after: ChainResult | None = None) -> ChainResult:
        """Walk the chain; after a walk that was cut off, only the sources that did not come to an end are asked."""
        from kr_core.research.sources import SourceChain

        ended = [entry for entry in (after.consulted if after else ()) if entry.finding is not None]
        limit = self._request.timeout_seconds or self._settings.knowledge_research.timeout_seconds
        walk = SourceChain(
            self._links,
            self._request.query,
            self._components.project,
            self._budget,
            self._components.outside,
            self._run.emit,
            sufficient=self._sufficient,
            timeout_seconds=None if limit is None else float(limit),
            run_seconds=self._seconds,
            run=self._run.id if after is None else f"{self._run.id}:again",
            earlier={entry.name: entry for entry in ended if entry.line.status != "timeout"},
            lenient=self._components.under_bmad,
            remembered=not (self._request.refresh or self._is_stale),
            fallback=self._components.fallback(),
        )
        return await walk.go()

    @property
    def _is_stale(self) -> bool:
        """Whether this is the new research for a stale entry, which wants new answers."""
        match = self._found.match
        return self._found.state == "stale" and match is not None and match.stale

    def _run_timeout(self) -> str:
        return f"run: timeout after {self._settings.defaults.agent_timeout_seconds.knowledge_research} s"

    def _sufficient(self, found: Sequence[tuple[str, Finding]]) -> bool:
        """Whether the chain may stop: what was found is about the question, or scores what was asked for."""
        wanted = self._settings.knowledge_research.sufficient_at
        if answered(found).coverage < ABOUT:
            return False
        if wanted == 0:
            return True
        from kr_core.research import report as reporting

        query = self._request.query
        draft = reporting.draft_of(query, found)
        score, _notes = reporting.score_of(self._components.scorer, query, found, draft)
        return score.score >= wanted

    # -- the report --------------------------------------------------------------------------------------

    def conclude(self, chain: ChainResult) -> CompletedResearch:
        """Make the report of what was found, keep it, and say how it went.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: scorer or renderer cannot be built.
        """
        request = self._request
        notes = [*request.notes, *self._found.warnings, *chain.notes]
        if chain.run_timeout:
            notes.append(self._run_timeout())
        if chain.budget_cut:
            notes.append(_EXHAUSTED.format(request.story_key))
        found = _with_passages(chain)
        answer = self._with_content(chain, found, notes) if found else self._without_content(chain, notes)
        return self._finished(answer)

    def _with_content(self, chain: ChainResult, found: NamedFindings, notes: list[str]) -> CompletedResearch:
        from kr_core.research import report as reporting
        from kr_core.research.maintenance import mark_overtaken, within_limits

        query, components = self._request.query, self._components
        notes += self._version_notes(found)
        synthesis = self._synthesis
        notes += synthesis.notes if synthesis else ()
        draft = self._run.stage(
            "compose",
            lambda: reporting.draft_of(query, found, synthesis.prose if synthesis else None),
            stages.draft,
        )
        notes += [f"quote dropped: {dropped}" for dropped in draft.dropped]
        written_by = synthesis.written(draft, notes) if synthesis else None
        score, failed = self._run.stage(
            "score", lambda: reporting.score_of(components.scorer, query, found, draft), stages.score
        )
        notes += failed
        written = self._rendered(draft, score, found, notes)
        notes += written.notes
        findings = [finding for _name, finding in found]
        notes += mark_overtaken(components.store, components.project, query.framework, findings)
        entry = self._entry(chain, written, score)
        evidence = reporting.evidence_of(written.report, query, entry.path)
        kept, faults = self._keep(
            lambda: within_limits(components.store.write(written.text, evidence, entry), components, notes)
        )
        notes += self._committed(kept, written)
        answer = results.fresh(
            self._found, chain, draft, score, kept,
            notes=notes, budget_remaining=self._budget.remaining, index_count=self._count(kept), report=written.text,
            written_by=written_by,
        )  # fmt: skip
        intervene = self._intervene(chain)
        result = results.of_chain(
            self._request, chain, answer, faults, content=True, needs_intervention=intervene
        )
        return CompletedResearch(result, written.text)

    def _without_content(self, chain: ChainResult, notes: list[str]) -> CompletedResearch:
        """No source gave anything: the stale report, or a skeleton that is kept but not indexed."""
        failed = [entry.failed for entry in chain.consulted if entry.finding is not None]
        if self._components.default_chain and all(
            entry.name != DEFAULT_CHAIN[0] for entry in chain.consulted
        ):
            framework = self._request.query.framework
            notes.append(f"{DEFAULT_CHAIN[0]} was not asked: {framework} is not installed here")
        nobody_looked = all(failed) and (bool(failed) or not chain.budget_cut)
        faults: list[Fault] = []
        if self._found.serves_when_stale:
            if nobody_looked:
                kept = "what was kept still holds" if self._found.state == "hit" else "using stale cache"
                notes.append(f"all_sources_unavailable: {kept}")
            answer, text = results.stale(
                self._found, chain,
                notes=notes, budget_remaining=self._budget.remaining, index_count=self._count(None),
            )  # fmt: skip
        else:
            if nobody_looked:
                notes.append("all_sources_unavailable: no cached content available")
            answer, text, faults = self._skeleton(chain, notes)
        intervene = self._intervene(chain)
        result = results.of_chain(
            self._request, chain, answer, faults, content=False, needs_intervention=intervene
        )
        return CompletedResearch(result, text)

    def _skeleton(self, chain: ChainResult, notes: list[str]) -> tuple[Results, str, list[Fault]]:
        from kr_core.research import report as reporting

        query, store, today = self._request.query, self._components.store, self._components.today()
        written = self._rendered(Draft(), reporting.NOTHING, [], notes, mark=SKELETON_MARK)
        notes += written.notes
        entry = _new_entry(query, query.framework_version, today, "fresh")
        kept, faults = self._keep(lambda: store.write(written.text, {}, entry, index=False))
        notes += self._committed(kept, written)
        answer = results.skeleton(
            self._found, chain, reporting.NOTHING, kept,
            notes=notes, budget_remaining=self._budget.remaining, index_count=self._count(kept), report=written.text,
        )  # fmt: skip
        return answer, written.text, faults

    def _rendered(
        self, draft: Draft, score: Score, found: NamedFindings, notes: list[str], mark: str | None = None
    ) -> RenderedReport:
        from kr_core.research import report as reporting

        return self._run.stage(
            "render",
            lambda: reporting.write(
                self._components.renderer, self._request.query, draft, score, found,
                today=self._components.today(), mark=mark, notes=notes,
            ),
            lambda written: {"characters": len(written.text)},
        )  # fmt: skip

    def _keep(self, write: Callable[[], WriteResult]) -> tuple[WriteResult | None, list[Fault]]:
        def attempt() -> tuple[WriteResult | None, list[Fault]]:
            try:
                return write(), []
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # the answer stands; its text goes into the result
                return None, [results.write_fault(error)]

        return self._run.stage("keep", attempt, stages.kept)

    def _committed(self, kept: WriteResult | None, written: RenderedReport) -> tuple[str, ...]:
        """Commit what was kept, where the configuration says so; notes on what was not committed."""
        if kept is None:
            return ()
        from kr_core.git.autocommit import commit_report

        match = self._found.match if self._found.replaces else None
        return commit_report(
            self._components.config, kept, written.report, replaced=match.warning if match else None
        )

    def _version_notes(self, found: NamedFindings) -> list[str]:
        query = self._request.query
        notes = []
        if any(finding.version_from == OWN_LABEL for _name, finding in found):
            notes.append(f"{query.framework} is not installed in this project; read from {OWN_LABEL}")
        for name, finding in found:
            if finding.version and gap(finding.version, query.framework_version):
                notes.append(
                    f"{name} read {finding.version}, the question is about {query.framework_version}: check before use"
                )
        disagreement = self._components.project.disagreement(query.framework)
        if disagreement:
            notes.append(disagreement)
        match = self._found.match
        if self._found.state == "stale" and match is not None and match.warning and self._found.replaces:
            notes.append(f"an earlier report was replaced: {match.warning}")
        return notes

    def _entry(self, chain: ChainResult, written: RenderedReport, score: Score) -> Entry:
        """The entry to keep: the matched one brought up to date, or a new one."""
        today = self._components.today()
        failed = any(entry.failed for entry in chain.consulted)
        status: EntryStatus = "stale" if score.level == "low" and failed else "fresh"
        version = written.report.query.framework_version
        old = self._found.matched.entry if self._found.matched and self._found.replaces else None
        if old is None:
            return _new_entry(self._request.query, version, today, status)
        return old.model_copy(update={"framework_version": version, "last_accessed": today, "status": status})

    def _count(self, kept: WriteResult | None) -> int:
        if kept is not None:
            return kept.index_count
        try:
            return len(self._components.store.entries())
        except Exception:
            return 0

    def _intervene(self, chain: ChainResult) -> bool:
        action = self._settings.defaults.agent_timeout_action
        if not chain.run_timeout or action != "mark_needs_intervention":
            return False
        self._run.emit(
            "needs-intervention", {"story_key": self._request.story_key, "reason": "the run timed out"}
        )
        return True

    def _finished(self, answer: CompletedResearch, *, wait: bool = True) -> CompletedResearch:
        result = answer.result
        self._ended = True
        self._run.emit(
            "run.finished",
            {
                "status": result.status,
                "entry": result.results.cache_entry_id,
                "confidence": result.results.confidence,
                "score": result.results.score,
            },
        )
        if wait:
            self._run.settle()
        self._flight.leave(answer)
        return answer


def _with_passages(chain: ChainResult) -> NamedFindings:
    """What the sources found, by their names, in the order in which they were asked."""
    return [
        (entry.name, entry.finding) for entry in chain.consulted if entry.finding and entry.finding.passages
    ]


def _new_entry(query: ResearchQuery, version: str, today: date, status: EntryStatus) -> Entry:
    return Entry(
        id=entry_id(query.framework, query.topic),
        framework=query.framework,
        framework_version=version,
        topic=query.topic,
        tags=query.tags,
        path=report_path(query.framework, query.topic),
        created=today,
        last_accessed=today,
        status=status,
    )
