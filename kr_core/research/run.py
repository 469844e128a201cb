"""One request on its way through the stages: look up, route, consult, compose, score, render, keep."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.errors import StorageError
from kr_core.research import results
from kr_core.research.entry_lookup import files_read
from kr_core.research.memory_cache import stamps
from kr_core.research.single_flight import SingleFlight
from kr_core.research.stages import (
    compose,
    consult,
    keep,
    look_up,
    lookup,
    render,
    route,
    score,
    stand_in,
    write_fault,
)
from kr_core.research.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from kr_core.model import Event, Fault, ResearchRequest
    from kr_core.research.container import Container
    from kr_core.research.entry_lookup import LookupResult
    from kr_core.research.results import CompletedResearch
    from kr_core.research.single_flight import FlightResult

_NOT_CHECKED: dict[str, object] = {"audit_probability": None, "audited": False}


class ResearchRun:
    """One valid request; `begin`, then `consult` and `conclude` if there is no answer yet.

    `begin` and `conclude` read and write files; only `consult` waits for the outside.

    Args:
        request: what is asked.
        components: what it is answered with.
        observers: called with every event at once.
        grants: names the calls that are taken from the story's budget; default: the run's id.
    """

    def __init__(
        self,
        request: ResearchRequest,
        components: Container,
        observers: tuple[Callable[[Event], object], ...] = (),
        grants: str = "",
    ) -> None:
        self._state = RunState(request, components, observers, grants)
        self._flight = SingleFlight(request, components.turns, components)
        self._ended = False

    # -- the way through the stages ----------------------------------------------------------------------

    def begin(
        self, lookup_result: LookupResult | None = None, *, wait: bool = True
    ) -> CompletedResearch | None:
        """Look up and route; the answer if it is a cache hit.

        Args:
            lookup_result: what a look-up right before has come to.
            wait: until the record of a hit is durable.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: the store cannot be built.
        """
        state, refresh = self._state, self._state.request.refresh
        state.runner.emit("run.started", _question_of(state.request))
        lookup(state, lookup_result)
        if state.lookup.state == "hit" and not refresh:
            return self._finish(self._hit(), wait=wait)
        self._flight.enter()
        if self._flight.leads and not refresh and (landed := self._find_again(lambda _: True)):
            return self._finish(landed)  # another caller researched it between the look-up and the entry
        route(state)
        return None

    async def consult(self) -> CompletedResearch | None:
        """Ask the sources, or wait for another caller who asks the same; the answer if the other caller's serves.

        Raises:
            ConfigError: a source is wrongly configured.
        """
        from kr_core.aio import shielded

        if not self._flight.leads and (answer := await self._wait_for_turn()) is not None:
            return await shielded(lambda: self._finish(answer))
        await consult(self._state)
        return None

    def conclude(self) -> CompletedResearch:
        """Make the report of what the sources found, keep it, and say how it went.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: scorer or renderer cannot be built.
        """
        state = self._state
        state.notes += results.chain_notes(state)
        for stage in _last_stages(state):
            stage(state)
        state.notes += _template_note(state)
        answer = results.completed(state)
        if answer.result.needs_intervention:
            state.runner.emit(
                "needs-intervention", {"story_key": state.request.story_key, "reason": "the run timed out"}
            )
        return self._finish(answer)

    def end(self, error: BaseException) -> None:
        """Say that the run ends without an answer, durably, and let others have the lead; without effect after its end.

        Args:
            error: why; what is not an `Exception` comes from outside, and so the run is cancelled.
        """
        if not self._ended:
            self._ended = True
            runner = self._state.runner
            with suppress(Exception):  # a journal that fails now; the error at hand says more
                if isinstance(error, Exception):
                    nothing = {"entry": None, "confidence": None, "score": None, "topic": ""}
                    runner.emit("run.finished", {"status": "failure", **nothing, **_NOT_CHECKED})
                else:
                    runner.emit("run.cancelled", {})
                runner.settle()
        self._flight.leave()

    def _finish(self, answer: CompletedResearch, *, wait: bool = True) -> CompletedResearch:
        result, runner = answer.result, self._state.runner
        self._ended = True
        runner.emit(
            "run.finished",
            {
                "status": result.status,
                "entry": result.results.cache_entry_id,
                "confidence": result.results.confidence,
                "score": result.results.score,
                "topic": self._state.request.query.topic,
                **self._draw(answer),
            },
        )
        if wait:
            runner.settle()
        self._flight.leave(answer)
        return answer

    def _draw(self, answer: CompletedResearch) -> dict[str, object]:
        """Whether a human is to check the answer: some of those that are new and `high`."""
        found, components = answer.result.results, self._state.components
        new = found.cache_entry_id is not None and not found.cache_hit and found.confidence == "high"
        if not (new and components.config.settings.audit):
            return _NOT_CHECKED
        from kr_core.verdicts.judged import RESEARCH

        try:
            learned = components.verdicts.read()
        except StorageError:  # the answer does not depend on it
            return _NOT_CHECKED
        probability, drawn = learned.draw(RESEARCH, self._state.request.query.topic, self._state.runner.id)
        return {"audit_probability": probability, "audited": drawn}

    # -- hits, and the answers of other callers ----------------------------------------------------------

    def recall(self, *, wait: bool) -> CompletedResearch | None:
        """The answer if it is a cache hit; else no event mentions this look-up, and `begin` makes another.

        Args:
            wait: until the record is durable. A hit has written, spent and found nothing that it would acknowledge, so
                a caller who looks at `failed` afterwards need not.

        Raises:
            StorageError: the journal cannot be written.
            PluginError: the store cannot be built.
        """
        lookup_result = look_up(self._state)
        if lookup_result.state != "hit":
            return None
        try:
            return self.begin(lookup_result, wait=wait)
        except BaseException as error:
            self.end(error)
            raise

    def peek(self) -> CompletedResearch | None:
        """What a repeated request would find, without an event; None where it would not be a hit."""
        return self._find_again(lambda _: True)

    @property
    def failed(self) -> bool:
        """Whether the record of a run that was not waited for is known not to have become durable."""
        return self._state.runner.failed

    @property
    def read(self) -> tuple[Path, ...]:
        """The files that the look-up read; none where the store does not tell, or had something to say."""
        return files_read(self._state.lookup, self._state.components.config.knowledge_base)

    def _hit(self) -> CompletedResearch:
        state = self._state
        matched = state.lookup.matched
        assert matched is not None, "it is a hit"
        faults: list[Fault] = []
        count = 0
        try:
            count = state.components.store.touch(matched.entry, state.components.today())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the answer stands, though the date of its use does not
            faults.append(write_fault(error))
        return results.hit(state, count, faults)

    def _find_again(self, serves: Callable[[LookupResult], bool]) -> CompletedResearch | None:
        """The hit that the knowledge base has by now, if it serves."""
        lookup_result = look_up(self._state)
        if lookup_result.state != "hit" or not serves(lookup_result):
            return None
        self._state.lookup = lookup_result
        return self._hit()

    async def _wait_for_turn(self) -> CompletedResearch | None:
        """Wait for this run's turn, within the limit of a run; the answer where another caller's serves."""
        state = self._state
        base = state.components.config.knowledge_base
        before = stamps(self.read)

        def is_new(lookup_result: LookupResult) -> bool:
            return not state.request.refresh or stamps(files_read(lookup_result, base)) != before

        answer, waited = await self._flight.take_turn(
            state.seconds_left, lambda: self._find_again(is_new), self._answer_of
        )
        state.seconds_left -= waited
        state.runner.emit("run.waited", {"seconds": round(waited, 3), "served": answer is not None})
        return answer

    def _answer_of(self, theirs: Future[FlightResult]) -> CompletedResearch | None:
        """The answer of another caller of this pipeline, where the knowledge base does not have it."""
        answer = self._flight.answer_of(theirs.result())
        return None if answer is None else results.given_to(self._state, answer)


def _last_stages(state: RunState) -> tuple[Callable[[RunState], None], ...]:
    """With passages a report is made; without, an earlier report stands in, or a skeleton is kept."""
    if state.findings:
        return (compose, score, render, keep)
    return (stand_in,) if state.lookup.serves_when_stale else (render, keep)


def _template_note(state: RunState) -> list[str]:
    """That templates of the project's own were not used for this answer, where that is so."""
    from kr_core.config.template_trust import unused_note

    config = state.components.config
    note = unused_note(config.root, config.environ)
    return [note] if note else []


def _question_of(request: ResearchRequest) -> dict[str, str]:
    """The data of `run.started`."""
    query = request.query
    return {
        "question": query.question,
        "framework": query.framework,
        "version": query.framework_version,
        "story_key": request.story_key,
        "session_id": request.session_id,
    }
