"""What is wrong with a knowledge base, and which of its answers a look-up would not serve any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.knowledge.environments import OWN_LABEL
from kr_core.knowledge.staleness import judge
from kr_core.pipeline.lookup import as_reported, report_date
from kr_core.protocols import Flaw, Repairable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from kr_core.config import KnowledgeResearch
    from kr_core.model import Entry
    from kr_core.protocols import Project, Store

STALE, UNUSED = "stale", "unused"
"""Kinds of flaws: an answer that was overtaken, and one that nobody asked for lately, which says nothing of its truth."""


def version_in_use(project: Project, framework: str) -> str | None:
    """The version that the project itself uses; what only KR's own environment has does not count."""
    found = project.version_of(framework)
    return None if found is None or found[1] == OWN_LABEL else found[0]


def check(store: Store, settings: KnowledgeResearch, project: Project, today: date) -> list[Flaw]:
    """Everything that is wrong, then what is stale or was not used for long.

    Raises:
        StorageError: the store cannot be read, and cannot say why.
    """
    found: list[Flaw] = []
    is_readable = True
    if isinstance(store, Repairable):
        found += store.check()
        is_readable = not any(flaw.kind == "unreadable" for flaw in found)
    try:
        entries = store.entries()
    except Exception:
        if is_readable:
            raise
        return found
    for entry in entries:
        found += _of_entry(store, entry, settings, project, today)
    return list(dict.fromkeys(found))


def _of_entry(
    store: Store, entry: Entry, settings: KnowledgeResearch, project: Project, today: date
) -> Iterator[Flaw]:
    kept = store.read(entry)
    if kept is None:
        if not isinstance(store, Repairable):
            yield Flaw(
                "dangling",
                entry.id,
                "its report is gone or empty",
                "it is researched anew when it is asked for",
            )
        return
    version = version_in_use(project, entry.framework)
    reported = as_reported(entry, kept[0], version) if version else entry
    used_today = reported.model_copy(update={"last_accessed": today})
    fresh = judge(
        used_today, report_date(kept[0]), version or entry.framework_version, today,
        max_age_days=settings.max_age_days, version_match=settings.version_match,
    )  # fmt: skip
    if fresh.state != "fresh":
        todo = "ask the question again, or `kr research --refresh`"
        yield Flaw(STALE, entry.id, "; ".join(fresh.reasons), todo)
        return
    idle = judge(
        entry, report_date(kept[0]), entry.framework_version, today, max_age_days=None,
        cache_ttl_days=settings.cache_ttl_days, archive_after_days=settings.archive_after_days,
    )  # fmt: skip
    if idle.state != "fresh":
        todo = "when it is next asked for it is researched anew; `kr cache gc` archives what is too old"
        yield Flaw(UNUSED, entry.id, "; ".join(idle.reasons), todo)
