"""Research from request to result: look up, consult, score, render, keep."""

from __future__ import annotations

import os
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from kr_core.config import Config, load
from kr_core.errors import ConfigError, KRError
from kr_core.evidence.answering import ABOUT, answered
from kr_core.hookspecs import Setup
from kr_core.knowledge.environments import OWN_LABEL
from kr_core.knowledge.identity import entry_id, report_path
from kr_core.knowledge.project import LocalProject
from kr_core.knowledge.versions import gap
from kr_core.model import (
    SKELETON_MARK,
    STALE_MARK,
    Draft,
    Entry,
    Event,
    Fault,
    Finding,
    ResearchRequest,
    ResearchResult,
    Results,
    Score,
)
from kr_core.pipeline import lookup, requests
from kr_core.pipeline.budget import Budget
from kr_core.pipeline.recording import Recorder, deliver
from kr_core.pipeline.status import status_of
from kr_core.protocols import Selective
from kr_core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kr_core.pipeline.chain import Chain, Link
    from kr_core.pipeline.lookup import Found
    from kr_core.pipeline.reporting import Written
    from kr_core.protocols import Journal, Kept, Log, Renderer, Scorer, Source, Store

DEFAULT_CHAIN = ("installed_docs", "context7", "deepwiki", "web_search")
"""The sources asked where none are configured, as far as they are installed."""
DISABLED = "Knowledge research disabled in config"
_EXHAUSTED = "Research budget exhausted for story {}, continuing with available context"


class Research(NamedTuple):
    """A result, the report's text behind it, and the files that it depends on."""

    result: ResearchResult
    report: str = ""
    depends_on: tuple[Path, ...] = ()


class Pipeline:
    """One project's pipeline; it holds no global state, and several may live in one process.

    Components that are not given are built from the configuration when they are first needed, so that a cache
    hit builds no source.

    Args:
        config: from `kr_core.config.load`; found from the working folder if not given.
        project: the project's environments and lock files.
        store: in place of the configured one; `scorer`, `renderer` and `journal` likewise.
        sources: in place of the configured chain, in order.
        logs: in place of the configured ones.
        on_event: called with every event at once.
        today: the date that entries and reports carry.

    Raises:
        ConfigError: the configuration is wrong.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        project: LocalProject | None = None,
        store: Store | None = None,
        sources: Mapping[str, Source] | None = None,
        scorer: Scorer | None = None,
        renderer: Renderer | None = None,
        journal: Journal | None = None,
        logs: Mapping[str, Log] | None = None,
        on_event: Callable[[Event], None] | None = None,
        today: Callable[[], date] = date.today,
    ) -> None:
        self.config = config or load(Path.cwd())
        self.project = project or LocalProject(self.config.root, Path.cwd(), os.environ)
        self.registry = Registry(self.config, self._setup)
        self._given: dict[str, Any] = {
            name: component
            for name, component in (
                ("store", store),
                ("scorer", scorer),
                ("renderer", renderer),
                ("journal", journal),
            )
            if component is not None
        }
        self._sources = sources
        self._given_logs = logs
        self._observers = (on_event,) if on_event else ()
        self._today = today

    @classmethod
    def open(
        cls,
        folder: Path | None = None,
        *,
        config_file: Path | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> Pipeline:
        """Open the pipeline of the project around a folder, with every plugin name in its configuration checked.

        Raises:
            ConfigError: the configuration is wrong, or names a plugin that is not installed.
        """
        folder = (folder or Path.cwd()).resolve()
        config = load(folder, config_file)
        pipeline = cls(config, project=LocalProject(config.root, folder, config.environ), on_event=on_event)
        pipeline.check_names()
        return pipeline

    def check_names(self) -> None:
        """Check every plugin name in the configuration; a BMAD file may list what KR does not have.

        Raises:
            ConfigError: a plugin is not installed.
        """
        if not self._under_bmad:
            self.registry.check_names()

    @property
    def _under_bmad(self) -> bool:
        """Whether the configuration is a BMAD file, which may name what KR does not have."""
        return self.config.file is not None and "_bmad" in self.config.file.parts

    # -- components --

    @cached_property
    def store(self) -> Store:
        """The knowledge base."""
        return self._given.get("store") or self.registry.build("store", self.config.settings.store)

    @cached_property
    def journal(self) -> Journal:
        """The journal."""
        return self._given.get("journal") or self.registry.build("journal", self.config.settings.journal)

    @cached_property
    def _scorer(self) -> Scorer:
        return self._given.get("scorer") or self.registry.build("scorer", self.config.settings.scorer)

    @cached_property
    def _renderer(self) -> Renderer:
        return self._given.get("renderer") or self.registry.build("renderer", self.config.settings.renderer)

    def _setup(self, name: str) -> Setup:
        import platformdirs

        from kr_core.templating import search_folders

        cache = self.config.environ.get("KR_CACHE_DIR") or platformdirs.user_cache_dir("kr", appauthor=False)
        return Setup(
            name=name,
            project=self.project,
            knowledge_base=self.config.knowledge_base,
            state_folder=self.config.state_folder,
            cache_folder=Path(cache),
            template_folders=search_folders(self.config.root),
            today=self._today,
        )

    def close(self) -> None:
        """Wait until everything said is durable, and let go of the journal."""
        if "journal" in self.__dict__:
            self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # -- research --

    def request(self, question: str, **options: Any) -> ResearchRequest | requests.Invalid:
        """Make a request from a question; what is not given is inferred from it and from the project."""
        return requests.from_question(question, self.project, **options)

    def read_request(self, raw: Any) -> ResearchRequest | requests.Invalid:
        """Read a request in the published form (R1)."""
        return requests.from_mapping(raw, self.project)

    def research(self, request: ResearchRequest | requests.Invalid) -> Research:
        """Answer a request; a cache hit starts no event loop.

        Raises:
            StorageError: the journal cannot be written.
            ConfigError: a plugin is wrongly configured.
            PluginError: store, journal, scorer or renderer cannot be built.
            RuntimeError: called inside a running event loop; await `aresearch` there.
        """
        _refuse_inside_loop()
        begun = self._begin(request)
        if isinstance(begun, Research):
            return begun
        from kr_core.pipeline.running import run

        return run(self._consult(begun))

    async def aresearch(self, request: ResearchRequest | requests.Invalid) -> Research:
        """The same inside an event loop, which is never blocked by the disk.

        Raises:
            StorageError: the journal cannot be written.
            ConfigError: a plugin is wrongly configured.
            PluginError: store, journal, scorer or renderer cannot be built.
        """
        import asyncio

        begun = await asyncio.to_thread(self._begin, request)
        return begun if isinstance(begun, Research) else await self._consult(begun)

    def peek(self, request: ResearchRequest) -> Research | None:
        """What a repeated request would find, without counting as a use; None where it would not be a hit."""
        settings = self.config.settings.knowledge_research
        found = lookup.look_up(self.store, request.query, settings, self._today())
        if found.state != "hit":
            return None
        budget = Budget(
            self.journal,
            request.session_id,
            request.story_key,
            settings.max_calls_per_story,
            request.max_calls,
        )
        return self._hit(_Run(request, Recorder(self.journal, ()), budget, found))

    def _begin(self, request: ResearchRequest | requests.Invalid) -> Research | _Run:
        """Everything before a source is asked: refusals and cache hits end here."""
        settings = self.config.settings.knowledge_research
        if isinstance(request, requests.Invalid):
            return self._refused(request.story_key, request.session_id, request.faults)
        if not settings.enabled:
            fault = Fault(type="disabled", field="knowledge_research.enabled", message=DISABLED)
            return self._refused(request.story_key, request.session_id, (fault,))
        recorder = Recorder(self.journal, self._observers)
        budget = Budget(
            self.journal,
            request.session_id,
            request.story_key,
            settings.max_calls_per_story,
            request.max_calls,
        )
        recorder.emit("run.started", {"question": request.query.question, "framework": request.query.framework,
                                      "version": request.query.framework_version, "story_key": request.story_key,
                                      "session_id": request.session_id})  # fmt: skip
        found = lookup.look_up(self.store, request.query, settings, self._today())
        recorder.emit("lookup.finished", {"state": found.state, "entry": found.matched.entry.id if found.matched else None,
                                          "warnings": list(found.warnings)})  # fmt: skip
        run = _Run(request, recorder, budget, found)
        if found.state == "hit" and not request.refresh:
            hit = self._hit(run)
            self._finish(run, hit)
            return hit
        return run

    def _refused(self, story_key: str, session_id: str, faults: Sequence[Fault]) -> Research:
        calls = self.config.settings.knowledge_research.max_calls_per_story
        results = Results(budget_remaining=calls)
        return Research(
            ResearchResult(
                status="failure",
                story_key=story_key,
                session_id=session_id,
                results=results,
                errors=tuple(faults),
            )
        )

    def _hit(self, run: _Run) -> Research:
        found = run.found
        assert found.matched is not None
        faults: list[Fault] = []
        count, updated = 0, True
        try:
            count = self.store.touch(found.matched.entry, self._today())
        except Exception as error:  # the answer stands, though the date of its use does not
            updated = False
            faults.append(_write_fault(error))
        results = self._stored(run, cache_hit=True, index_updated=updated, index_count=count)
        result = ResearchResult(
            status="cache-hit", story_key=run.request.story_key, session_id=run.request.session_id,
            results=results, errors=tuple(faults),
        )  # fmt: skip
        return Research(result, found.report, self.depends_on(found))

    def depends_on(self, found: Found) -> tuple[Path, ...]:
        """The files whose change may change what a hit says."""
        report = [self.config.knowledge_base / found.matched.entry.path] if found.matched else []
        beside = [path.with_suffix(".evidence.json") for path in report]
        return tuple(
            dict.fromkeys([*self.config.looked_at, *found.files, *report, *beside, *self.project.files()])
        )

    def _stored(self, run: _Run, **more: Any) -> Results:
        """The results that a stored report gives."""
        found = run.found
        assert found.matched is not None
        evidence = found.evidence
        level = lookup.confidence_of(found.report, evidence)
        return Results(
            cache_entry_id=found.matched.entry.id,
            report_path=found.matched.entry.path,
            confidence=level,
            budget_remaining=run.budget.remaining,
            summary=_stored_summary(found),
            score=evidence.get("score") if isinstance(evidence.get("score"), int) else None,
            reasons=_texts(evidence.get("reasons")),
            match=found.match,
            citations=_citations(evidence.get("citations")),
            **more,
        )

    async def _consult(self, run: _Run) -> Research:
        """Ask the sources and make the report; cancellation is recorded and passes through."""
        import asyncio

        settings = self.config.settings
        try:
            links = await asyncio.to_thread(self._links, run.request)
            chain = await self._walk(run, links)
            if chain.run_timeout and settings.defaults.agent_timeout_action == "retry_once":
                run.recorder.emit("run.retried", {"reason": "the limit of the whole run passed"})
                again = await self._walk(run, links, after=chain)
                chain = again._replace(
                    notes=(*chain.notes, f"{self._run_timeout()}, retried once", *again.notes)
                )
        except asyncio.CancelledError:
            run.recorder.emit("run.cancelled", {})
            run.recorder.settle()
            raise
        except ConfigError:
            run.recorder.emit(
                "run.finished", {"status": "failure", "entry": None, "confidence": None, "score": None}
            )
            run.recorder.settle()
            raise
        answer = await asyncio.to_thread(self._conclude, run, chain)
        await asyncio.to_thread(self._finish, run, answer)
        return answer

    async def _walk(self, run: _Run, links: Sequence[Link], after: Chain | None = None) -> Chain:
        """Walk the chain; after a walk that was cut off, only the sources that did not come to an end are asked."""
        from kr_core.pipeline.chain import Walk

        settings = self.config.settings
        ended = [entry for entry in (after.consulted if after else ()) if entry.finding is not None]
        limit = run.request.timeout_seconds or settings.knowledge_research.timeout_seconds
        walk = Walk(
            links, run.request.query, self.project, run.budget, run.recorder.emit,
            sufficient=lambda found: self._sufficient(run, found),
            timeout_seconds=None if limit is None else float(limit),
            run_seconds=float(settings.defaults.agent_timeout_seconds.knowledge_research),
            run=run.recorder.run if after is None else f"{run.recorder.run}:again",
            earlier={entry.name: entry for entry in ended if entry.line.status != "timeout"},
            lenient=self._under_bmad,
        )  # fmt: skip
        return await walk.go()

    def _run_timeout(self) -> str:
        return (
            f"run: timeout after {self.config.settings.defaults.agent_timeout_seconds.knowledge_research} s"
        )

    def _sufficient(self, run: _Run, found: Sequence[tuple[str, Finding]]) -> bool:
        """Whether the chain may stop: what was found is about the question, or scores what was asked for."""
        wanted = self.config.settings.knowledge_research.sufficient_at
        if answered(found).coverage < ABOUT:
            return False
        if wanted == 0:
            return True
        from kr_core.pipeline import reporting

        score, _notes = reporting.score_of(
            self._scorer, run.request.query, found, reporting.draft_of(run.request.query, found)
        )
        return score.score >= wanted

    def _links(self, request: ResearchRequest) -> list[Link]:
        from kr_core.pipeline.chain import Link

        if self._sources is not None:
            return [Link(name, lambda source=source: source) for name, source in self._sources.items()]  # type: ignore[misc]
        configured = self.config.settings.knowledge_research.sources
        if configured is not None:
            return [self._link(name) for name in configured]
        installed = {plugin.name for plugin in self.registry.installed()}
        links = []
        for name in DEFAULT_CHAIN:
            if name not in installed:
                continue
            link = self._link(name)
            try:
                source = link.build()
                knows = not isinstance(source, Selective) or source.knows(request.query, self.project)
            except (Exception, SystemExit):
                knows = True  # its fault is told when its turn comes
            if knows:
                links.append(link)
        return links

    def _link(self, name: str) -> Link:
        from kr_core.pipeline.chain import Link

        return Link(name, lambda: self.registry.build("source", name))

    # -- the report --

    def _conclude(self, run: _Run, chain: Chain) -> Research:
        from kr_core.pipeline import reporting

        request = run.request
        found = [
            (entry.name, entry.finding)
            for entry in chain.consulted
            if entry.finding and entry.finding.passages
        ]
        notes = [*request.notes, *run.found.warnings, *chain.notes]
        if chain.run_timeout:
            notes.append(self._run_timeout())
        if chain.budget_cut:
            notes.append(_EXHAUSTED.format(request.story_key))
        if not found:
            return self._without_content(run, chain, notes)
        notes += self._version_notes(run, found)
        draft = reporting.draft_of(request.query, found)
        notes += [f"quote dropped: {dropped}" for dropped in draft.dropped]
        score, failed = reporting.score_of(self._scorer, request.query, found, draft)
        notes += failed
        run.recorder.emit(
            "score.finished", {"score": score.score, "level": score.level, "reasons": list(score.reasons)}
        )
        written = reporting.write(
            self._renderer, request.query, draft, score, found, today=self._today(), notes=notes
        )
        notes += written.notes
        return self._kept(run, chain, written, draft, score, notes=notes)

    def _version_notes(self, run: _Run, found: Sequence[tuple[str, Finding]]) -> list[str]:
        query = run.request.query
        notes = []
        if any(finding.version_from == OWN_LABEL for _name, finding in found):
            notes.append(f"{query.framework} is not installed in this project; read from {OWN_LABEL}")
        for name, finding in found:
            if finding.version and gap(finding.version, query.framework_version):
                notes.append(
                    f"{name} read {finding.version}, the question is about {query.framework_version}: check before use"
                )
        disagreement = self.project.disagreement(query.framework)
        if disagreement:
            notes.append(disagreement)
        if (
            run.found.state == "stale"
            and run.found.match is not None
            and run.found.match.warning
            and run.found.replaces
        ):
            notes.append(f"an earlier report was replaced: {run.found.match.warning}")
        return notes

    def _kept(
        self, run: _Run, chain: Chain, written: Written, draft: Draft, score: Score, *, notes: list[str]
    ) -> Research:
        from kr_core.pipeline import reporting

        faults: list[Fault] = []
        kept: Kept | None = None
        entry = self._entry(run, chain, written, score)
        try:
            kept = self.store.write(
                written.text, reporting.evidence_of(written.report, run.request.query, entry.path), entry
            )
            run.recorder.emit(
                "report.kept", {"path": kept.path, "entry": kept.entry.id if kept.entry else None}
            )
        except Exception as error:
            faults.append(_write_fault(error))
            run.recorder.emit("report.lost", {"error": faults[-1].message})
        results = Results(
            cache_entry_id=kept.entry.id if kept and kept.entry else None,
            report_path=kept.path if kept else None,
            confidence=score.level,
            sources_consulted=tuple(entry.line for entry in chain.consulted),
            budget_remaining=run.budget.remaining,
            degradation_notes=tuple(dict.fromkeys(notes)),
            index_updated=kept is not None,
            index_count=kept.index_count if kept else self._count(),
            lru_evicted=kept.evicted if kept else 0,
            summary=reporting.summary_text(draft),
            score=score.score,
            reasons=score.reasons,
            match=run.found.match,
            citations=draft.citations,
            report=None if kept else written.text,
        )
        result = self._result(run, chain, results, faults, content=True, write_failed=bool(faults))
        return Research(result, written.text)

    def _entry(self, run: _Run, chain: Chain, written: Written, score: Score) -> Entry:
        """The entry to keep: the matched one brought up to date, or a new one."""
        query, today = run.request.query, self._today()
        failed = any(entry.failed for entry in chain.consulted)
        version = written.report.query.framework_version
        status = "stale" if score.level == "low" and failed else "fresh"
        old = run.found.matched.entry if run.found.matched and run.found.replaces else None
        if old is not None:
            return old.model_copy(
                update={"framework_version": version, "last_accessed": today, "status": status}
            )
        return Entry(
            id=entry_id(query.framework, query.topic), framework=query.framework, framework_version=version,
            topic=query.topic, tags=query.tags, path=report_path(query.framework, query.topic),
            created=today, last_accessed=today, status=status,
        )  # fmt: skip

    def _without_content(self, run: _Run, chain: Chain, notes: list[str]) -> Research:
        """No source gave anything: the stale report, or a skeleton that is kept but not indexed."""
        from kr_core.pipeline import reporting

        failed = [entry.failed for entry in chain.consulted if entry.finding is not None]
        if (
            self._sources is None
            and self.config.settings.knowledge_research.sources is None
            and not chain.consulted
        ):
            notes.append(f"no source knows {run.request.query.framework}: it is not installed here")
        nobody_looked = all(failed) and (bool(failed) or not chain.budget_cut)
        if run.found.serves_when_stale:
            if nobody_looked:
                notes.append("all_sources_unavailable: using stale cache")
            base = self._stored(run)
            reasons = ("a stale report", *base.reasons)
            results = base.model_copy(
                update={
                    "confidence": "low",
                    "score": min(base.score or 0, 30),
                    "reasons": reasons,
                    "summary": f"{STALE_MARK}\n\n{base.summary}",
                    "sources_consulted": tuple(entry.line for entry in chain.consulted),
                    "degradation_notes": tuple(dict.fromkeys(notes)),
                    "index_count": self._count(),
                }
            )
            text = f"{STALE_MARK}\n\n{run.found.report}"
            return Research(self._result(run, chain, results, [], content=False, write_failed=False), text)
        if nobody_looked:
            notes.append("all_sources_unavailable: no cached content available")
        draft = Draft()
        written = reporting.write(
            self._renderer,
            run.request.query,
            draft,
            reporting.NOTHING,
            [],
            today=self._today(),
            mark=SKELETON_MARK,
            notes=notes,
        )
        notes += written.notes
        kept, faults = self._keep_skeleton(run, written)
        results = Results(
            report_path=kept.path if kept else None,
            confidence="low",
            sources_consulted=tuple(entry.line for entry in chain.consulted),
            budget_remaining=run.budget.remaining,
            degradation_notes=tuple(dict.fromkeys(notes)),
            index_count=kept.index_count if kept else self._count(),
            summary=SKELETON_MARK,
            score=0,
            reasons=reporting.NOTHING.reasons,
            match=run.found.match,
            report=None if kept else written.text,
        )
        return Research(
            self._result(run, chain, results, faults, content=False, write_failed=bool(faults)), written.text
        )

    def _keep_skeleton(self, run: _Run, written: Written) -> tuple[Kept | None, list[Fault]]:
        query, today = run.request.query, self._today()
        entry = Entry(
            id=entry_id(query.framework, query.topic), framework=query.framework, framework_version=query.framework_version,
            topic=query.topic, tags=query.tags, path=report_path(query.framework, query.topic),
            created=today, last_accessed=today,
        )  # fmt: skip
        try:
            return self.store.write(written.text, {}, entry, index=False), []
        except Exception as error:
            return None, [_write_fault(error)]

    def _count(self) -> int:
        try:
            return len(self.store.entries())
        except Exception:
            return 0

    def _result(
        self,
        run: _Run,
        chain: Chain,
        results: Results,
        faults: Sequence[Fault],
        *,
        content: bool,
        write_failed: bool,
    ) -> ResearchResult:
        action = self.config.settings.defaults.agent_timeout_action
        intervene = chain.run_timeout and action == "mark_needs_intervention"
        if intervene:
            run.recorder.emit(
                "needs-intervention", {"story_key": run.request.story_key, "reason": "the run timed out"}
            )
        return ResearchResult(
            status=status_of(chain, content=content, write_failed=write_failed),
            story_key=run.request.story_key,
            session_id=run.request.session_id,
            results=results,
            errors=tuple(faults),
            needs_intervention=intervene,
        )

    def _finish(self, run: _Run, answer: Research) -> None:
        result = answer.result
        run.recorder.emit("run.finished", {"status": result.status, "entry": result.results.cache_entry_id,
                                           "confidence": result.results.confidence, "score": result.results.score})  # fmt: skip
        run.recorder.settle()

    def deliver_logs(self) -> list[str]:
        """Hand each log the events that it does not have yet; notes say which failed."""
        notes: list[str] = []
        logs = dict(self._given_logs or {})
        if self._given_logs is None:
            for name in self.config.settings.logs:
                try:
                    logs[name] = self.registry.build("log", name)
                except ConfigError:
                    raise
                except Exception as error:
                    notes.append(f"log {name}: {error}")
        return notes + deliver(self.journal, logs)


class _Run(NamedTuple):
    """One run after its look-up."""

    request: ResearchRequest
    recorder: Recorder
    budget: Budget
    found: Found


def _refuse_inside_loop() -> None:
    import sys

    asyncio = sys.modules.get("asyncio")  # without it no loop can be running, and a hit does not import it
    if asyncio is None:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "research() cannot run inside a running event loop; use `await pipeline.aresearch(request)`"
    )


def _write_fault(error: Exception) -> Fault:
    said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
    return Fault(type="write_error", message=said)


def _stored_summary(found: Found) -> str:
    summary = found.evidence.get("answer")
    return summary if isinstance(summary, str) and summary else lookup.summary_of(found.report)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _citations(value: Any) -> tuple[Any, ...]:
    from pydantic import ValidationError

    from kr_core.model import Citation

    found = []
    for item in value if isinstance(value, list) else ():
        try:
            found.append(
                Citation.model_validate({key: item[key] for key in Citation.model_fields if key in item})
            )
        except (ValidationError, TypeError):
            continue  # evidence that somebody edited; `kr verify` tells
    return tuple(found)
