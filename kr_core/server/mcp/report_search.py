"""Reports of the knowledge base, found by words and read by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError
from kr_core.knowledge.ids import fold_name
from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Entry
    from kr_core.protocols import Store

__all__ = ["REPORT", "entry_of", "found", "report_of"]

REPORT = "kr://report/"
"""What a report's address begins with; its path in the knowledge base follows."""


def found(store: Store, words: str, framework: str | None, *, archived: bool) -> list[Entry]:
    """The entries that hold most of the words, or whose reports do; the best first, an entry's own words before its report's."""
    wanted = stems(words)
    weighed: list[tuple[float, Entry]] = []
    for entry in store.archived() if archived else store.entries():
        if framework is not None and fold_name(entry.framework) != fold_name(framework):
            continue
        own = wanted & stems(" ".join((entry.id, entry.framework, entry.topic, *entry.tags)))
        kept = None if own == wanted else store.read(entry)
        told = own if kept is None else wanted & (own | stems(kept[0]))
        if len(told) * 2 >= len(wanted) and told:
            weighed.append((len(told) + len(own) / 2, entry))
    return [entry for _weight, entry in sorted(weighed, key=lambda one: -one[0])]


def report_of(store: Store, name: str) -> tuple[Entry, str]:
    """An entry, archived ones too, and its report, by its id, path or address.

    Raises:
        ConfigError: there is none, or several have the id.
    """
    entry = entry_of(store, name, archived=True)
    stored = store.read(entry)
    if stored is None:
        raise ConfigError("is gone or empty", where=entry.path, hint="research the question again")
    return entry, stored[0]


def entry_of(store: Store, name: str, *, archived: bool = False) -> Entry:
    """The entry of an id, path or address.

    Raises:
        ConfigError: there is none, or several have the id.
    """
    name = name.strip().removeprefix(REPORT)
    known = list(store.entries())
    entry = _named(name, known) or (_named(name, store.archived()) if archived else None)
    if entry is None:
        near = get_close_matches(name, [one.id for one in known], 1)
        hint = f"did you mean {near[0]}?" if near else "search_knowledge lists what there is"
        raise ConfigError("no such report", where=name, hint=hint)
    return entry


def _named(name: str, entries: Sequence[Entry]) -> Entry | None:
    same = [entry for entry in entries if name in {entry.id, entry.path}]
    if len(same) > 1:
        paths = ", ".join(entry.path for entry in same)
        raise ConfigError("several reports have this id", where=name, hint=f"give the path of one: {paths}")
    return same[0] if same else None
