"""The knowledge base as git-friendly files: `index.yaml`, reports in Markdown, their evidence in JSON.

    index.yaml                              the entries, see `index`
    _archived-index.yaml                    archived entries; their reports stay in place
    frameworks/{framework}/{topic}.md       a report
    frameworks/{framework}/{topic}.evidence.json
    lessons/_lessons-learned.md

Reading creates nothing. Writers exclude each other by a lock on the folder, first come, first served if several work at
once (`defaults.parallel`). A writer replaces each file as a whole, and a report together with its evidence, so readers
need no lock. At worst, a killed writer leaves a report without an entry.
"""

from __future__ import annotations

from kr_core.plugin import Provider, Store, hookimpl
from kr_plugins.stores.files.files_store import Files

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
