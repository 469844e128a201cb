"""Entries and reports copied from one store to another, such as a folder in git and a database that machines share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.knowledge.ids import fold_name
from kr_core.protocols import BatchWrites

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.model import Entry
    from kr_core.protocols import Store

__all__ = ["CopyResult", "copy_knowledge"]

_MOST = 200
"""Reports that are written together: the index, which grows with them, is written once for all."""
_MOST_CHARACTERS = 10_000_000


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
    run.flush()
    for entry in source.entries():
        run.live(entry)
    run.flush()
    return CopyResult(run.copied, run.same, run.skipped)


class _Copy:
    def __init__(self, source: Store, target: Store, *, replace: bool) -> None:
        self._source, self._target, self._replace = source, target, replace
        self._there = {_key(entry): entry for entry in target.entries()}
        self._archived = {(_key(entry), entry.path) for entry in target.archived()}
        self.copied = self.same = 0
        self.skipped: list[str] = []
        self._batch: dict[tuple[str, str], tuple[str, Mapping[str, Any], Entry]] = {}
        """What is to be written, by key."""
        self._size = 0
        """Its characters, without those of the evidence."""
        self._going: set[tuple[str, str]] = set()
        """The keys of those that go to the archive then."""

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
        if (
            there is not None and there != entry and not self._replace
        ):  # else a copy ended before it was archived
            self.skipped.append(f"{entry.id}: archived, and in use in the target")
            return
        if self._write(entry):
            self._going.add(_key(entry))
            self._there.pop(_key(entry), None)

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
        if _key(entry) in self._batch or len(self._batch) >= _MOST or self._size > _MOST_CHARACTERS:
            self.flush()
        self._batch[_key(entry)] = (*stored, entry)
        self._size += len(stored[0])
        return True

    def flush(self) -> None:
        """Write what was gathered; then archive what goes there."""
        batch = list(self._batch.values())
        if batch and isinstance(self._target, BatchWrites):
            self._target.write_all(batch)
        else:
            for write in batch:
                self._target.write(*write)
        if going := self._going:
            self._target.archive(lambda entries: [one for one in entries if _key(one) in going])
        self.copied += len(batch)
        self._batch, self._size, self._going = {}, 0, set()


def _key(entry: Entry) -> tuple[str, str]:
    return fold_name(entry.framework), entry.id
