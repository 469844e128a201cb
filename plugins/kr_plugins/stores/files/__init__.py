"""The knowledge base as files, friendly to git: `index.yaml`, reports in Markdown, their evidence in JSON.

    index.yaml                              what is known, see `index`
    _archived-index.yaml                    entries that were set aside; their reports stay where they are
    frameworks/{framework}/{topic}.md       a report
    frameworks/{framework}/{topic}.evidence.json
    lessons/_lessons-learned.md

Reading creates nothing. Writers exclude each other by a lock on the folder, in the order in which they come where the
configuration says that several work at once (`defaults.parallel`). Every file is replaced as a whole and a report
with its evidence as one, so readers need no lock, and a writer that is killed leaves a report without an entry at worst.
"""

from __future__ import annotations

from kr_core.plugin import Provider, Store, hookimpl
from kr_plugins.stores.files.store import Files

__all__ = ["Files", "kr_store"]


@hookimpl
def kr_store() -> Provider[Store]:
    """Provide the knowledge base in the configured folder."""
    return Provider(
        lambda _, setup: Files(
            setup.knowledge_base,
            max_entries=setup.max_entries,
            cache_ttl_days=setup.cache_ttl_days,
            today=setup.today,
            turns=setup.state_folder / "turns" if setup.parallel > 1 else None,
        )
    )
