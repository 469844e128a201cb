"""The axioms of a project, in its journal: kept with the passages that say them, merged into by every later expedition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from kr_core.expedition.merging import Known, united
from kr_core.model import Passage
from kr_core.model.expedition import Axiom
from kr_core.protocols import Document
from kr_core.text import WEAK_WORDS, content_words, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.protocols import Journal

__all__ = ["AxiomStore"]

_AXIOM, _PASSAGE = "axiom", "passage"
_MOST = 100_000
_ABOUT = 0.4
"""Share of a question's telling words that an axiom must hold to be about it."""
_STATUSES = ("valid", "disputed", "superseded")
_TRIES = 20


class AxiomStore:
    """The axioms of a project.

    Args:
        journal: where they are kept.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def all(self, status: str = "") -> list[Axiom]:
        """All axioms (of one status, if given), the oldest first.

        Raises:
            StorageError: the journal cannot be read.
        """
        documents = self._journal.documents(_AXIOM, status, _MOST)
        return [axiom for document in documents if (axiom := _read(document)) is not None]

    def get(self, name: str) -> Axiom | None:
        """The axiom of an id."""
        document = self._journal.document(_AXIOM, name)
        return None if document is None else _read(document)

    def about(self, question: str, status: str = "") -> list[Axiom]:
        """The axioms that are about a question, those that say most of it first."""
        asked = {stem(word) for word in content_words(question) if word not in WEAK_WORDS}
        if not asked:
            return []
        shares = [(_share(asked, axiom), axiom) for axiom in self.all(status)]
        shares.sort(key=lambda pair: (-pair[0], -pair[1].confidence))
        return [axiom for share, axiom in shares if share >= _ABOUT]

    def passage(self, sha256: str) -> Passage | None:
        """The passage that a signal was taken from, by its fingerprint."""
        document = self._journal.document(_PASSAGE, sha256)
        try:
            return None if document is None else Passage.model_validate(document.data)
        except ValidationError:  # of another version of KR
            return None

    def keep(self, axioms: Iterable[Axiom], passages: Iterable[Passage] = ()) -> None:
        """Keep axioms and the passages that say them; what is kept already gains their signals, and loses none.

        Raises:
            StorageError: the journal cannot be written.
        """
        for passage in passages:
            data = passage.model_dump(mode="json")
            self._journal.change(Document(_PASSAGE, passage.sha256, "kept", 1, data))
        for axiom in axioms:
            self._keep(axiom)

    def note(self, axiom: Axiom) -> tuple[Axiom, Sequence[Axiom]]:
        """Take in what a person states; the axiom as it stands then, and those that say otherwise.

        Raises:
            StorageError: the journal cannot be written.
        """
        known = Known(self.all())
        joined = known.join(axiom)
        against = [one for name in joined.conflicts if (one := known.get(name)) is not None]
        self.keep([*against, joined.axiom])
        return joined.axiom, against

    def _keep(self, axiom: Axiom) -> None:
        for _ in range(_TRIES):  # another process may change the same one meanwhile
            document = self._journal.document(_AXIOM, axiom.id)
            before = None if document is None else _read(document)
            now = axiom if before is None else _both(before, axiom)
            if now == before:
                return
            version = 1 if document is None else document.version + 1
            if self._journal.change(
                Document(_AXIOM, now.id, now.status, version, now.model_dump(mode="json"))
            ):
                return


def _both(kept: Axiom, axiom: Axiom) -> Axiom:
    """What is kept with what is said anew; of the two statuses the graver one."""
    made = united(kept, axiom)
    graver = max((kept.status, axiom.status), key=_STATUSES.index)
    links = tuple(dict.fromkeys((*kept.conflicts, *axiom.conflicts)))
    by = axiom.superseded_by or kept.superseded_by
    return made.model_copy(update={"status": graver, "conflicts": links, "superseded_by": by})


def _share(asked: set[str], axiom: Axiom) -> float:
    titles = " ".join(signal.title for signal in axiom.signals)
    held = {stem(word) for word in words(f"{axiom.statement} {titles}")}
    return len(asked & held) / len(asked)


def _read(document: Document) -> Axiom | None:
    try:
        return Axiom.model_validate(document.data)
    except ValidationError:  # of another version of KR
        return None
