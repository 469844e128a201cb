"""A reader's rejection of a kept answer: it leaves the knowledge base, and the record says why."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from kr_core.git.autocommit import commit_changes
from kr_core.knowledge.ids import fold_name
from kr_core.knowledge.wording import same_question
from kr_core.net.redaction import redacted
from kr_core.protocols import ArchiveByFramework
from kr_core.research.stage_runner import StageRunner
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from kr_core.model import Entry, Event, Finding, ResearchQuery, Score
    from kr_core.protocols import Store
    from kr_core.research.container import Container
    from kr_core.research.sources import NamedFindings

__all__ = ["Rejections", "reject", "rejections_of"]

_KEY = "rejected"
"""In the evidence of a rejected answer: `why`, and the day `on` which it was rejected."""
_LOOKED_AT = 200
"""Archived entries of a library whose evidence is read, the latest first."""
_HIGHEST = 49
"""The score, still `low`, that an answer has at most where another one to the same question was wrong."""
_LONGEST_WHY = 200
_CAPPED = "an answer to this question was rejected before"


class Rejections(NamedTuple):
    """What readers rejected as an answer to one question."""

    passages: frozenset[str] = frozenset()
    """The sha256 of the passages that the rejected answers began with."""
    notes: tuple[str, ...] = ()

    def without(self, findings: NamedFindings) -> NamedFindings:
        """The findings without the passages that a rejected answer began with, and without findings that have no other."""
        if not self.passages:
            return findings
        kept = [(name, self._rest(finding)) for name, finding in findings]
        return [(name, finding) for name, finding in kept if finding.passages]

    def capped(self, score: Score) -> Score:
        """The score, `low` where an answer was rejected: what comes next has not been chosen first."""
        if not self.notes or score.level == "low":
            return score
        reasons = (*score.reasons, _CAPPED)
        return score.model_copy(
            update={"score": min(score.score, _HIGHEST), "level": "low", "reasons": reasons}
        )

    def _rest(self, finding: Finding) -> Finding:
        update = {
            part: tuple(one for one in getattr(finding, part) if one.sha256 not in self.passages)
            for part in ("passages", "support")
        }
        return finding.model_copy(update=update)


def rejections_of(store: Store, query: ResearchQuery) -> Rejections:
    """What was rejected as an answer to this question; nothing where the archive cannot be read."""
    try:
        archived = _archived(store, query.framework)
        kept = [stored[1] for entry in archived[-_LOOKED_AT:] if (stored := store.read(entry)) is not None]
    except Exception:  # a store is a plugin, and the question can be answered without
        return Rejections()
    passages, notes = [], []
    for evidence in kept:
        said, question = evidence.get(_KEY), evidence.get("question")
        if not isinstance(said, dict) or not isinstance(question, str):
            continue
        if same_question(query.question, question, query.framework):
            passages += _begun_with(evidence)
            notes.append(_note(said))
    return Rejections(frozenset(passages), tuple(notes))


def _archived(store: Store, framework: str) -> Sequence[Entry]:
    """The archived entries of a framework; a store may know a shorter way than through the whole archive."""
    if isinstance(store, ArchiveByFramework):
        return store.archived_of(framework)
    asked = fold_name(framework)
    return [entry for entry in store.archived() if fold_name(entry.framework) == asked]


def _note(said: Mapping[str, Any]) -> str:
    """What to say of a rejection; its reason is a reader's, and in a cloned project anyone's: one quoted line."""
    try:
        on = f" on {date.fromisoformat(str(said.get('on'))).isoformat()}"
    except ValueError:
        on = ""
    why = printable(" ".join(str(said.get("why") or "")[: 10 * _LONGEST_WHY].split()))[:_LONGEST_WHY].replace(
        '"', "'"
    )
    because = f': "{why}"' if why else ""
    return f"the knowledge base says that a reader rejected an answer to this{on}{because}; it is not given again"


def _begun_with(evidence: Mapping[str, Any]) -> list[str]:
    """The sha256 of the passage that an answer began with."""
    citations = evidence.get("citations")
    first = citations[0] if isinstance(citations, list) and citations else None
    sha256 = first.get("sha256") if isinstance(first, dict) else None
    return [sha256] if isinstance(sha256, str) else []


def reject(
    components: Container, entry: Entry, because: str, observers: tuple[Callable[[Event], object], ...] = ()
) -> tuple[str, ...]:
    """Take an answer out of the knowledge base into its archive, and put the rejection on record; returns notes.

    Its report stays where it is, so that you can look at it, but it answers no question; its evidence says that it was
    rejected, so that its first passage does not answer the question again.

    Args:
        components: what the pipeline works with.
        entry: the answer's.
        because: what is wrong with it, in the reader's words; may be empty. Secrets in it are struck out.
        observers: called with the event at once.

    Raises:
        StorageError: the knowledge base or the journal cannot be written.
    """
    because = redacted(because.strip())
    stored = components.store.read(entry)
    evidence = stored[1] if stored is not None else {}
    written: tuple[Path, ...] = ()
    if stored is not None and evidence:
        said = {"on": components.today().isoformat(), "why": because}
        written = tuple(components.store.write(stored[0], {**evidence, _KEY: said}, entry).files)
    moved = components.store.archive(lambda entries: _same(entries, entry))
    runner = StageRunner(components.journal, observers)
    runner.emit(
        "answer.rejected",
        {
            "entry": entry.id,
            "report": entry.path,
            "question": str(evidence.get("question") or entry.topic),
            "framework": entry.framework,
            "version": entry.framework_version,
            "confidence": str(evidence.get("level") or "low"),
            "because": because,
        },
    )
    runner.settle()
    facts = [f"Report: {entry.path}", *([f"Because: {because}"] if because else [])]
    return commit_changes(components.config, (*written, *moved.files), f"take out {entry.id}: wrong", facts)


def _same(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    return [one for one in entries if (one.id, one.path) == (entry.id, entry.path)]
