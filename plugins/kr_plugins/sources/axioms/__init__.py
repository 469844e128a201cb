"""The axioms of the project's expeditions, with their sources, for later research.

It returns only valid axioms: neither those that sources disagree about, nor superseded ones. Each passage is the one
that the axiom comes from, so that KR can check its quotes; a person's statement is a passage of its own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import kr_core
from kr_core.plugin import Finding, Outcome, Passage, Provider
from kr_core.toolkit import AxiomStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kr_core import Axiom
    from kr_core.plugin import Journal, Project, ResearchQuery, Setup, SourceContext

_MOST = 8


class Axioms:
    """The source.

    Args:
        journal: gives the journal in which they are kept.
        state_folder: the project's `.kr/`, where documents are indexed: what they say no longer is not told.
        project: whose installed packages are looked into in the same way.
    """

    external = False
    from_expeditions = True
    timeout_seconds = 20.0

    def __init__(self, journal: Callable[[], Journal], state_folder: Path, project: Project) -> None:
        self._journal = journal
        self._state_folder = state_folder
        self._project = project

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """The axioms about the question, those that say most of it first."""
        del context
        return await asyncio.to_thread(self._found, query.question)

    def _found(self, question: str) -> Finding:
        store = AxiomStore(self._journal(), self._state_folder, self._project)
        axioms = store.about(question, "valid")[:_MOST]
        passages: dict[str, Passage] = {}
        for axiom in axioms:
            for passage in _passages(axiom, store):
                passages.setdefault(f"{passage.url} {passage.sha256}", passage)
        if not passages:
            return Finding(
                outcome=Outcome.empty, reason="no expedition has found anything about the question"
            )
        return Finding(outcome=Outcome.ok, passages=tuple(passages.values())[:_MOST])


def _passages(axiom: Axiom, store: AxiomStore) -> Iterator[Passage]:
    """What an axiom rests on, quotes first: the sentence becomes what the passage is chiefly about."""
    for signal in axiom.signals:
        if not signal.sha256:
            if signal.type in {"USER", "SESSION"}:
                text = signal.quote or axiom.statement
                yield Passage(
                    text=text, url=f"axiom:{axiom.id}", locator=f"noted by {signal.source}", title=axiom.id, lead=text,
                    kind="section", official=signal.type == "USER", fetched_at=signal.timestamp,
                )  # fmt: skip
            continue
        passage = store.passage(signal.sha256)
        if passage is not None:
            yield passage.model_copy(
                update={"official": signal.official, "coverage": 0.0, "covered": frozenset()}
            )


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """What expeditions have found."""

    def build(settings: kr_core.Settings, setup: Setup) -> Axioms:
        del settings
        if setup.journal is None:
            raise kr_core.ConfigError("works inside a pipeline only", where="axioms")
        return Axioms(setup.journal, setup.state_folder, setup.project)

    return Provider(build)
