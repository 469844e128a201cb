"""Where a report goes: to the place of its entry, or to one that nobody else has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kr_core import StorageError
from kr_core.plugin import SKELETON_MARK
from kr_plugins.stores.files import report_files
from kr_plugins.stores.files.reports import entry_of, readable_text
from kr_plugins.stores.report_names import is_about, paths_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core.plugin import Entry
    from kr_plugins.stores.files.folder import KnowledgeFolder
    from kr_plugins.stores.files.index import Index


class ReportPaths:
    """The places of reports in a knowledge base.

    Args:
        folder: where they lie.
        archived: tells the paths of archived entries, whose reports stay; asked where a file is in the way.
    """

    def __init__(self, folder: KnowledgeFolder, archived: Callable[[], frozenset[str]]) -> None:
        self._folder = folder
        self._archived = archived

    def placed(self, entry: Entry, index: Index, position: int | None) -> Entry:
        """The entry as it will stand in the index: a known one keeps its id, path and creation date."""
        if position is None:
            return entry.model_copy(update={"path": self.free(entry, index)})
        known = index.entry_at(position)
        keeps = known.path if self._folder.report(known.path) else self.free(entry, index)
        return entry.model_copy(update={"id": known.id, "created": known.created, "path": keeps})

    def free(self, entry: Entry, index: Index) -> str:
        """The entry's path, or one with a suffix where that holds what is not this entry's.

        Raises:
            StorageError: no report can have the path.
        """
        if self._folder.report(entry.path) is None:
            raise StorageError(
                f"the report of {entry.id!r} would lie outside the knowledge base's reports",
                where=entry.path,
                hint="a report's path is relative to the knowledge base and ends with .md",
            )
        return next(
            place
            for place in paths_for(entry)
            if place not in index.paths and self._may_replace(place, entry)
        )

    def _may_replace(self, path: str, entry: Entry) -> bool:
        """Whether nothing is lost if a report without an entry makes way for this entry's.

        KR's own are a skeleton, and a report on the same subject, with evidence, whose writer was killed
        before it could write the index. What a person put there stays.
        """
        file = self._folder.root / path
        if not os.path.lexists(file):
            return True
        text = readable_text(file)
        if text is None:
            return file.is_file() and not file.stat().st_size
        if SKELETON_MARK in text:
            return True
        left = entry_of(path, text, undated=entry.created)
        same = left is not None and is_about(left, entry)
        return same and report_files.current_evidence(file).exists() and path not in self._archived()
