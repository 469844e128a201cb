"""Entries that a new major version has overtaken (K9), as a source that knows the released versions tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.knowledge.identity import fold_name
from kr_core.knowledge.versions import gap
from kr_core.pipeline.checking import version_in_use

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Entry, Finding
    from kr_core.protocols import Project, Store


def mark_overtaken(
    store: Store, project: Project, framework: str, findings: Iterable[Finding]
) -> tuple[str, ...]:
    """Mark a framework's entries of an earlier major version stale; notes on what was marked, or why not.

    Where the project itself says which version it uses, that decides, and nothing is marked: an answer for the version in
    use is not stale because there is a newer one.
    """
    newest = next((finding.newest for finding in findings if finding.newest), None)
    if newest is None or version_in_use(project, framework) is not None:
        return ()

    def choose(entries: Sequence[Entry]) -> list[Entry]:
        return [
            entry
            for entry in entries
            if fold_name(entry.framework) == fold_name(framework)
            and entry.status == "fresh"
            and gap(entry.framework_version, newest) == "major"
        ]

    try:
        if not choose(store.entries()):  # nearly always: nothing is locked
            return ()
        moved = store.mark_stale(choose)
    except Exception as error:  # a store is a plugin; the answer stands
        return (f"answers about earlier versions were not marked stale: {error}",)
    count = len(moved.entries)
    return (f"{framework} {newest} was released: {count} earlier answer{'s' * (count != 1)} marked stale",)
