"""The axioms of a project, in its journal: kept with the passages that say them, merged into by every later expedition.

What a project's expeditions have found for a question before: it counts when the same question is asked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kr_core.expedition.facts.corroboration import confidence_of
from kr_core.expedition.facts.merge import KnownAxioms, united
from kr_core.expedition.facts.revalidation import lost
from kr_core.model import Passage
from kr_core.model.expedition import Axiom
from kr_core.protocols import Document
from kr_core.text import content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_core.model.expedition import Signal
    from kr_core.protocols import DocumentStore, Project

__all__ = ["KIND", "AxiomStore", "found_before", "gone", "stated"]


_AXIOM, _PASSAGE = "axiom", "passage"
_MOST = 100_000
_ABOUT = 0.4
"""Share of a question's telling words that an axiom must hold to be about it."""
_NEAR = 0.5
"""Share of the words of the shorter of two statements that they must have in common to be compared."""
_STATED = frozenset({"USER", "SESSION"})
_STATUSES = ("valid", "disputed", "superseded")
_TRIES = 20


class AxiomStore:
    """The axioms of a project.

    Args:
        journal: the store of the axioms.
        state_folder: the project's `.kr/`, whose document index serves to check quotes again; without it, none are
            checked there.
        project: the project whose installed packages serve to check quotes again; without it, none are checked there.
    """

    def __init__(
        self, journal: DocumentStore, state_folder: Path | None = None, project: Project | None = None
    ) -> None:
        self._journal = journal
        self._state_folder = state_folder
        self._project = project

    def all(self, status: str = "") -> list[Axiom]:
        """All axioms, oldest first; only those with the status, if given.

        Raises:
            StorageError: the journal cannot be read.
        """
        documents = self._journal.documents(_AXIOM, status, _MOST)
        return [axiom for document in documents if (axiom := _read(document)) is not None]

    def get(self, name: str) -> Axiom | None:
        """The axiom with an id."""
        document = self._journal.document(_AXIOM, name)
        return None if document is None else _read(document)

    def about(self, question: str, status: str = "") -> list[Axiom]:
        """The axioms about a question that are still supported, most relevant first."""
        standing = [axiom for axiom in self.recalled(question) if not gone(axiom)]
        return [axiom for axiom in standing if status in {"", axiom.status}]

    def recalled(self, question: str) -> list[Axiom]:
        """All axioms about a question in their current state, most relevant first; some may no longer be supported."""
        asked = {root_of(word) for word in content_words(question) if not is_weak(word)}
        if not asked:
            return []
        shares = [(_share(asked, axiom), axiom) for axiom in self.all()]
        shares.sort(key=lambda pair: (-pair[0], -pair[1].confidence))
        return self.standing([axiom for share, axiom in shares if share >= _ABOUT])

    def near(self, axioms: Sequence[Axiom]) -> list[Axiom]:
        """The axioms with most words in common with one of these, in their current state.

        Raises:
            StorageError: the journal cannot be read.
        """
        fresh = [_roots_of(axiom) for axiom in axioms]
        names = {axiom.id for axiom in axioms}
        found = [
            axiom
            for axiom in self.all()
            if axiom.id in names or any(_alike(roots, _roots_of(axiom)) for roots in fresh)
        ]
        return [axiom for axiom in self.standing(found) if not gone(axiom)]

    def standing(self, axioms: Sequence[Axiom]) -> list[Axiom]:
        """The current state of axioms, without signals and conflicts that documents no longer support.

        An axiom that has lost all its signals keeps them, but is superseded: its documents now say something else, or
        nothing.
        """
        beside = {
            name: one for axiom in axioms for name in axiom.conflicts if (one := self.get(name)) is not None
        }
        every = {**beside, **{axiom.id: axiom for axiom in axioms}}
        signals = [signal for axiom in every.values() for signal in axiom.signals]
        without = lost(signals, self._state_folder, self._project)
        now = {name: _without(axiom, without) for name, axiom in every.items()}
        left = {name for name, axiom in now.items() if gone(axiom)}
        return [_undisputed(now[axiom.id], left) for axiom in axioms]

    def passage(self, sha256: str) -> Passage | None:
        """The passage of a signal, by its fingerprint."""
        document = self._journal.document(_PASSAGE, sha256)
        try:
            return None if document is None else Passage.model_validate(document.data)
        except ValidationError:  # of another version of KR
            return None

    def keep(self, axioms: Iterable[Axiom], passages: Iterable[Passage] = ()) -> None:
        """Store axioms and their passages; existing axioms gain the new signals and lose none.

        Raises:
            StorageError: the journal cannot be written.
        """
        for passage in passages:
            data = passage.model_dump(mode="json")
            self._journal.change(Document(_PASSAGE, passage.sha256, "kept", 1, data))
        for axiom in axioms:
            self._keep(axiom)

    def note(self, axiom: Axiom) -> tuple[Axiom, Sequence[Axiom]]:
        """Add a person's statement; returns the resulting axiom, and those that contradict it.

        Raises:
            StorageError: the journal cannot be written.
        """
        known = KnownAxioms(one for one in self.standing(self.all()) if not gone(one))
        joined = known.join(axiom)
        against = [one for name in joined.conflicts if (one := known.get(name)) is not None]
        self.keep([*against, joined.axiom])
        return joined.axiom, against

    def withdraw(self, name: str) -> Axiom | None:
        """Withdraw people's statements; returns the resulting axiom, or None if no one stated it.

        The axiom stays valid if documents support it too; otherwise it is superseded, and its signals still name who
        stated it.

        Raises:
            StorageError: the journal cannot be written.
        """
        axiom = self.get(name)
        said = frozenset(one for one in axiom.signals if one.type in _STATED) if axiom else frozenset()
        if axiom is None or not said or gone(axiom):
            return None
        self._change(name, lambda kept: kept and _without(kept, said))
        return self.get(name)

    def _keep(self, axiom: Axiom) -> None:
        self._change(axiom.id, lambda kept: axiom if kept is None else _both(kept, axiom))

    def _change(self, name: str, made: Callable[[Axiom | None], Axiom | None]) -> None:
        for _ in range(_TRIES):  # another process may change the same one meanwhile
            document = self._journal.document(_AXIOM, name)
            before = None if document is None else _read(document)
            now = made(before)
            if now is None or now == before:
                return
            version = 1 if document is None else document.version + 1
            if self._journal.change(
                Document(_AXIOM, now.id, now.status, version, now.model_dump(mode="json"))
            ):
                return


def gone(axiom: Axiom) -> bool:
    """Whether an axiom counts no longer: it was withdrawn, or no document that said it says it now."""
    return axiom.status == "superseded" and axiom.superseded_by is None


def stated(axiom: Axiom) -> bool:
    """Whether people alone have said it."""
    return all(one.type in _STATED for one in axiom.signals)


def _without(axiom: Axiom, signals: frozenset[Signal]) -> Axiom:
    """An axiom without some of its signals; superseded, where it has no other."""
    left = tuple(one for one in axiom.signals if one not in signals)
    if left == axiom.signals:
        return axiom
    if not left:
        return axiom.model_copy(update={"status": "superseded", "superseded_by": None})
    return axiom.model_copy(update={"signals": left, "confidence": confidence_of(left)})


def _undisputed(axiom: Axiom, left: set[str]) -> Axiom:
    """An axiom without the conflicts with those that are gone; valid again, where nobody else disputes it."""
    conflicts = tuple(name for name in axiom.conflicts if name not in left)
    if conflicts == axiom.conflicts:
        return axiom
    status = "valid" if axiom.status == "disputed" and not conflicts else axiom.status
    return axiom.model_copy(update={"status": status, "conflicts": conflicts})


def _both(kept: Axiom, axiom: Axiom) -> Axiom:
    """What is kept with what is said anew; of the two statuses the graver one."""
    if gone(kept):  # said again: by who has not been here, or has stated it anew
        fresh = frozenset(axiom.signals) - frozenset(kept.signals)
        return _without(axiom, frozenset(kept.signals)) if fresh else kept
    made = united(kept, axiom)
    graver = max((kept.status, axiom.status), key=_STATUSES.index)
    links = tuple(dict.fromkeys((*kept.conflicts, *axiom.conflicts)))
    by = axiom.superseded_by or kept.superseded_by
    return made.model_copy(update={"status": graver, "conflicts": links, "superseded_by": by})


def _roots_of(axiom: Axiom) -> frozenset[str]:
    """The stems of what it was made of, without the heading that was put before it."""
    return frozenset(root_of(word) for word in content_words(axiom.signals[0].quote or axiom.statement))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _NEAR * min(len(one), len(other))


def _share(asked: set[str], axiom: Axiom) -> float:
    titles = " ".join(signal.title for signal in axiom.signals)
    held = {root_of(word) for word in words(f"{axiom.statement} {titles}")}
    return len(asked & held) / len(asked)


def _read(document: Document) -> Axiom | None:
    try:
        return Axiom.model_validate(document.data)
    except ValidationError:  # of another version of KR
        return None


KIND = "expedition"
"""Of a journal's documents, those that are expeditions."""


def found_before(journal: DocumentStore, question: str) -> list[str]:
    """The ids of the axioms that ended expeditions of these very words have found, capitals and marks aside.

    Raises:
        StorageError: the journal cannot be read.
    """
    asked = words(question)
    found: dict[str, None] = {}
    after = ""
    while documents := journal.documents(KIND, "finished", after=after):
        for document in documents:
            finished = document.data.get("finished") or {}
            if words(str(finished.get("query", ""))) == asked:
                found.update(dict.fromkeys(_ids(finished)))
        after = documents[-1].key
    return list(found)


def _ids(finished: dict[str, Any]) -> Iterator[str]:
    for axiom in finished.get("axioms", ()):
        yield str(axiom.get("id", ""))
