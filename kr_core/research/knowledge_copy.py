"""Entries and reports copied from one store to another, such as a folder in git and a database that machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kr_core.knowledge.ids import fold_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Entry
    from kr_core.protocols import Store

__all__ = ["CopyResult", "copy_knowledge"]


class CopyResult(NamedTuple):
    """What came of it, entry by entry."""

    copied: int
    """New ones, and those that were replaced."""
    same: int
    """Those that the target had already."""
    skipped: Sequence[str]
    """Those that were not copied, each with the reason."""


def copy_knowledge(source: Store, target: Store, *, replace: bool) -> CopyResult:
    """Copy each entry with its report and evidence, the archived ones too. What the target alone has stays.

    Args:
        source: where they are.
        target: where they go.
        replace: whether an entry of the target that differs gives way, or is left as it is and told of.

    Raises:
        StorageError: one of the two cannot be read or written; what was copied before stays.
    """
    run = _Copy(source, target, replace=replace)
    for entry in source.archived():  # first: what is written later may have their ids
        run.archived(entry)
    for entry in source.entries():
        run.live(entry)
    return CopyResult(run.copied, run.same, run.skipped)


class _Copy:
    def __init__(self, source: Store, target: Store, *, replace: bool) -> None:
        self._source, self._target, self._replace = source, target, replace
        self._there = {_key(entry): entry for entry in target.entries()}
        self._archived = {(_key(entry), entry.path) for entry in target.archived()}
        self.copied = self.same = 0
        self.skipped: list[str] = []

    def archived(self, entry: Entry) -> None:
        if (_key(entry), entry.path) in self._archived:
            self.same += 1
            return
        there = self._there.get(_key(entry))
        if there is not None and there.path != entry.path:
            self.skipped.append(
                f"{entry.id}: archived, and the target has a newer report on it, {there.path}"
            )
            return
        if there is not None and not self._replace:
            self.skipped.append(f"{entry.id}: archived, and in use in the target")
            return
        if self._write(entry):
            key = _key(entry)
            self._target.archive(lambda entries: [one for one in entries if _key(one) == key])
            self._there.pop(key, None)

    def live(self, entry: Entry) -> None:
        there = self._there.get(_key(entry))
        if there is None:
            self._write(entry)
        elif there == entry and self._target.read(there) == self._source.read(entry):
            self.same += 1
        elif self._replace:
            self._write(entry)
        else:
            self.skipped.append(f"{entry.id}: the target has another answer under this id, which stays")

    def _write(self, entry: Entry) -> bool:
        stored = self._source.read(entry)
        if stored is None:
            self.skipped.append(f"{entry.id}: its report is gone or empty")
            return False
        self._target.write(*stored, entry)
        self.copied += 1
        return True


def _key(entry: Entry) -> tuple[str, str]:
    return fold_name(entry.framework), entry.id
