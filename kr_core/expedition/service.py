"""A project's expeditions: begun, resumed, listed and shown; and what a person knows better, noted.

One call for programs that hold on to no pipeline.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kr_core.aio import shielded
from kr_core.errors import ConfigError
from kr_core.evidence.citations import holds
from kr_core.expedition.checkpoints import ExpeditionProgress, progress
from kr_core.expedition.expedition_state import CALLS, TOKENS, ExpeditionPlan
from kr_core.expedition.facts.axiom import id_of, of_note
from kr_core.expedition.facts.axiom_store import KIND, AxiomStore
from kr_core.model import new_id
from kr_core.model.expedition import MAX_CYCLES, Axiom, Finished
from kr_core.net.redaction import redacted
from kr_core.protocols import Document
from kr_core.research import Pipeline
from kr_core.research.request_form import MAX_QUESTION_LENGTH
from kr_core.terminal_text import printable
from kr_core.text import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.model.expedition import ExpeditionUpdate
    from kr_core.protocols import Journal

__all__ = ["Expeditions", "StoredExpedition", "run_expedition"]


_MAX_CALLS, _MAX_TOKENS = 1_000, 100_000_000


class StoredExpedition(NamedTuple):
    """An expedition as the journal has it."""

    id: str
    query: str
    status: str
    """`unfinished`, or `finished`."""
    begun: datetime
    plan: ExpeditionPlan
    finished: Finished | None


class Expeditions:
    """The expeditions of a pipeline's project.

        expeditions = Expeditions(pipeline)
        async for update in expeditions.run_expedition("Which features of httpx need HTTP/2?"):
            print(update.type)

    Args:
        pipeline: the pipeline whose sources, journal and agents it uses.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._components = pipeline.components

    @property
    def axioms(self) -> AxiomStore:
        """The axioms that the project's expeditions found."""
        return AxiomStore(self._journal, self._components.config.state_folder, self._components.project)

    @property
    def _journal(self) -> Journal:
        return self._components.journal

    async def run_expedition(
        self,
        query: str,
        max_cycles: int = MAX_CYCLES,
        *,
        max_calls: int = CALLS,
        max_tokens: int = TOKENS,
        agent: str | None = None,
    ) -> AsyncGenerator[ExpeditionUpdate, None]:
        """Research a question in cycles; the last update is `Finished`.

        A caller that stops iterating stops the expedition; you can resume it.

        Args:
            query: the question to research.
            max_cycles: 2 to 10.
            max_calls: how many searches may leave the machine.
            max_tokens: how many tokens the agent may read and write, including the final answer.
            agent: the agent that expands, extracts and writes; default: `knowledge_research.agent`. Without either,
                rules do the work.

        Raises:
            ConfigError: an argument, a source or the agent is wrong.
            StorageError: the journal cannot be used.
        """
        plan = await shielded(lambda: self._new(query, max_cycles, max_calls, max_tokens, agent))
        updates = self._going(plan, resumed=False)
        try:
            async for update in updates:
                yield update
        finally:
            await updates.aclose()

    async def resume(self, name: str) -> AsyncGenerator[ExpeditionUpdate, None]:
        """Resume an expedition after its last finished step; a finished one yields only its last update.

        Raises:
            ConfigError: there is no expedition with this id, or it is running elsewhere.
            StorageError: the journal cannot be used.
        """
        kept = await shielded(lambda: self.get(name))
        if kept.finished is not None:
            yield kept.finished
            return
        updates = self._going(kept.plan, resumed=True)
        try:
            async for update in updates:
                yield update
        finally:
            await updates.aclose()

    def kept(self) -> Sequence[StoredExpedition]:
        """All expeditions, the oldest first.

        Raises:
            StorageError: the journal cannot be read.
        """
        found: list[StoredExpedition] = []
        after = ""
        while documents := self._journal.documents(KIND, after=after):
            found += [one for document in documents if (one := _read(document)) is not None]
            after = documents[-1].key
        return found

    def latest(self, limit: int, before: str = "") -> tuple[Sequence[StoredExpedition], int]:
        """A page of expeditions, newest first, and the total number.

        Args:
            limit: how many to return at most.
            before: an id; returns only expeditions that began before it. Empty for the newest.

        Raises:
            StorageError: the journal cannot be read.
        """
        keys = [key for key, _status, _version in self._journal.versions(KIND)]
        older = keys[: keys.index(before)] if before in keys else keys
        documents = [self._journal.document(KIND, key) for key in older[-limit:][::-1]]
        kept = [one for document in documents if document and (one := _read(document)) is not None]
        return kept, len(keys)

    def get(self, name: str) -> StoredExpedition:
        """The expedition with an id; an unambiguous number is enough.

        Raises:
            ConfigError: there is none.
        """
        wanted = name.strip().upper()
        wanted = f"X{wanted}" if wanted.isdigit() else wanted
        document = self._journal.document(KIND, wanted)
        kept = None if document is None else _read(document)
        if kept is None:
            raise ConfigError(
                "there is no such expedition",
                where=printable(name)[:60],
                hint="`kr expedition list` shows them",
            )
        return kept

    def progress(self, kept: StoredExpedition) -> ExpeditionProgress:
        """What its cycles found so far, and whether it is running, finished or interrupted.

        Raises:
            StorageError: the journal cannot be read.
        """
        return progress(self._journal, kept.plan.run)

    def found(self, kept: StoredExpedition) -> list[Axiom]:
        """The axioms that it found so far, in their current state.

        Raises:
            StorageError: the journal cannot be read.
        """
        store = self.axioms
        if kept.finished is not None:
            return store.standing([store.get(axiom.id) or axiom for axiom in kept.finished.axioms])
        names = self.progress(kept).axioms
        return store.standing([axiom for name in names if (axiom := store.get(name)) is not None])

    def note(self, statement: str, *, by: str, session: bool = False) -> tuple[Axiom, Sequence[Axiom]]:
        """Store a person's statement as an axiom of the project; also returns the axioms that contradict it.

        Args:
            statement: in their words.
            by: who says so.
            session: whether the statement comes only from an ongoing conversation and no one vouches for it; it counts
                less.

        Raises:
            ConfigError: the statement has no words.
            StorageError: the journal cannot be written.
        """
        said = _sensible(statement, "the statement")
        return self.axioms.note(of_note(said, by, kind="SESSION" if session else "USER"))

    def withdraw(self, stated: str) -> Axiom:
        """Withdraw a noted statement; it no longer counts, unless documents support it too.

        Args:
            stated: the exact statement, or the id of its axiom.

        Raises:
            ConfigError: no one noted it, or it is already withdrawn.
            StorageError: the journal cannot be written.
        """
        said = _sensible(stated, "the statement")
        axiom = self.axioms.withdraw(said) or self.axioms.withdraw(id_of(said))
        if axiom is None:
            raise ConfigError(
                "nobody has noted this",
                where=said[:60],
                hint="give the statement as it was noted, or its id (A-...)",
            )
        return axiom

    def unsupported(self, axioms: Sequence[Axiom]) -> Sequence[tuple[Axiom, str]]:
        """Signals whose quotes are missing from the stored passages; empty if all can be traced."""
        store = self.axioms
        faults = []
        for axiom in axioms:
            for signal in axiom.signals:
                if not signal.sha256:
                    continue
                passage = store.passage(signal.sha256)
                if passage is None:
                    faults.append((axiom, f"the passage of {signal.source} is not kept"))
                elif passage.sha256 != signal.sha256 or not holds(passage.text, signal.quote):
                    faults.append((axiom, f"{signal.source} does not say it"))
        return faults

    async def _going(self, plan: ExpeditionPlan, *, resumed: bool) -> AsyncGenerator[ExpeditionUpdate, None]:
        from kr_core.expedition.expedition_runner import expedition

        with self._alone(plan.id):
            updates = expedition(plan, self._components, self._pipeline.observers, resumed=resumed)
            try:
                async for update in updates:
                    if isinstance(update, Finished):
                        await shielded(partial(self._end, update))
                    yield update
            finally:
                await updates.aclose()

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        with self._components.turns.hold(f"expeditions/{name}") as mine:
            if not mine:
                raise ConfigError(
                    "it runs already, in another process or call", where=name, hint="wait for its end"
                )
            yield

    def _new(self, query: str, cycles: int, calls: int, tokens: int, agent: str | None) -> ExpeditionPlan:
        asked = _sensible(query, "the question")
        if all(word in STOP_WORDS for word in words(asked)):
            raise ConfigError(
                "has no word that says what it is about", where="the question", hint="name what it asks about"
            )
        for name, value, least, most in (
            ("max_cycles", cycles, 2, MAX_CYCLES),
            ("max_calls", calls, 0, _MAX_CALLS),
            ("max_tokens", tokens, 0, _MAX_TOKENS),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ConfigError(f"is {value!r}", where=name, hint=f"a whole number from {least} to {most}")
        who = agent or self._components.config.settings.knowledge_research.agent
        agents = self._components.table().agents
        if who is not None and who not in agents:
            raise ConfigError(f"there is no agent {who!r}", where="agent", hint=f"one of {', '.join(agents)}")
        plan = ExpeditionPlan(
            id=self._new_id(), run=new_id(), query=asked, max_cycles=cycles, max_calls=calls,
            max_tokens=tokens, agent=who,
        )  # fmt: skip
        data = {"plan": _plain(plan), "begun": datetime.now(UTC).isoformat(), "finished": None}
        self._journal.change(Document(KIND, plan.id, "unfinished", 1, data))
        return plan

    def _new_id(self) -> str:
        """An id that no expedition has, also where the journal's counter was set back."""
        while True:
            name = f"X{self._journal.number(KIND)}"
            if self._journal.document(KIND, name) is None:
                return name

    def _end(self, finished: Finished) -> None:
        document = self._journal.document(KIND, finished.id)
        if document is None or document.status == "finished":
            return
        data = {**document.data, "finished": finished.model_dump(mode="json")}
        self._journal.change(Document(KIND, finished.id, "finished", document.version + 1, data))


def _sensible(text: str, what: str) -> str:
    said = redacted(" ".join(printable(text).split()))
    if not any(mark.isalnum() for mark in said):
        raise ConfigError("is empty", where=what, hint="write it in words")
    if len(said) > MAX_QUESTION_LENGTH:
        raise ConfigError(
            f"has {len(said):,} characters", where=what, hint=f"at most {MAX_QUESTION_LENGTH:,}"
        )
    return said


def _plain(plan: ExpeditionPlan) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(plan)


def _read(document: Document) -> StoredExpedition | None:
    try:
        plan = ExpeditionPlan(**document.data["plan"])
        finished = document.data["finished"]
        return StoredExpedition(
            document.key,
            plan.query,
            document.status,
            datetime.fromisoformat(document.data["begun"]),
            plan,
            None if finished is None else Finished.model_validate(finished),
        )
    except (KeyError, TypeError, ValueError, ValidationError):  # of another version of KR
        return None


async def run_expedition(
    query: str,
    max_cycles: int = MAX_CYCLES,
    *,
    config: str | Path | Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    **options: Any,
) -> AsyncGenerator[ExpeditionUpdate, None]:
    """Research a question in cycles, in the project of a folder; the last update is `Finished`.

        async for update in kr_core.run_expedition("Which features of httpx need HTTP/2?"):
            print(update.type)

    Args:
        query: the question to research.
        max_cycles: 2 to 10.
        config: as for `Pipeline.open`.
        folder: the project's folder; default: the working folder.
        options: max_calls, max_tokens, agent, as for `Expeditions.run_expedition`.

    Raises:
        ConfigError: an argument or the configuration is wrong.
        StorageError: the journal cannot be used.
    """
    pipeline = await shielded(lambda: Pipeline.open(config, folder=folder))
    updates = Expeditions(pipeline).run_expedition(query, max_cycles, **options)
    try:
        async for update in updates:
            yield update
    finally:
        await updates.aclose()
        await shielded(pipeline.close)
