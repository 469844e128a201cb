"""A reader's verdict on a kept answer: what is wrong leaves the knowledge base, and the record says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.git.autocommit import commit_changes
from kr_core.net.redaction import redacted
from kr_core.research.stages import StageRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kr_core.model import Entry, Event
    from kr_core.research.container import Container

__all__ = ["reject"]


def reject(
    components: Container, entry: Entry, because: str, observers: tuple[Callable[[Event], object], ...] = ()
) -> tuple[str, ...]:
    """Take an answer out of the knowledge base into its archive, and put the verdict on record; returns notes.

    Its report stays where it is, so that the verdict can be looked at, but no question is answered by it.

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
    return commit_changes(components.config, tuple(moved.files), f"take out {entry.id}: wrong", facts)


def _same(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    return [one for one in entries if (one.id, one.path) == (entry.id, entry.path)]
