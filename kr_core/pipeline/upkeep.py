"""What keeps the knowledge base within its limits: after each write, and for `kr cache gc`."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.errors import KRError
from kr_core.files import read_text, write_atomically
from kr_core.knowledge.capacity import Limits, Outgoing, outgoing, times_matter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.model import Entry, Event
    from kr_core.pipeline.components import Components
    from kr_core.protocols import Journal, Kept, Store

_USES = frozenset({"run.finished", "run.repeated"})
_BATCH = 1000
_LARGEST = 50_000_000


class Archived(NamedTuple):
    """What left the index."""

    expired: int
    evicted: int
    entries: tuple[Entry, ...]
    files: tuple[Path, ...]


def archive_surplus(
    store: Store, journal: Callable[[], Journal], config: Config, today: date, *, spare: Entry | None = None
) -> Archived:
    """Archive what was not used for too long, then the least recently used entries beyond the limit.

    Where nothing has to go, and that is nearly always, the index is looked at and nothing is locked. Which of several
    entries of one day was used last is asked of the journal, and only where that decides.

    Args:
        store: the knowledge base.
        journal: gives what knows every use, where that decides.
        config: the limits, which win over those in the index, and the state folder.
        today: the day that counts.
        spare: the entry that was just written, which stays.

    Raises:
        StorageError: the knowledge base or the journal cannot be used; no entry was lost.
    """
    settings = config.settings.knowledge_research
    limits = Limits(settings.max_entries, settings.archive_after_days)
    entries = store.entries()
    planned = outgoing(entries, limits, today, spare=spare)
    if not planned.all:
        return Archived(0, 0, (), ())
    used = None
    if times_matter(entries, planned, today):
        used = last_uses(journal(), config.state_folder / "uses.json", entries)
    chosen = planned

    def choose(now: Sequence[Entry]) -> tuple[Entry, ...]:
        nonlocal chosen
        chosen = outgoing(now, limits, today, spare=spare, used=used)
        return chosen.all

    moved = store.archive(choose)
    return Archived(*_counts(chosen, moved.entries), tuple(moved.entries), tuple(moved.files))


def within_limits(kept: Kept, components: Components, notes: list[str]) -> Kept:
    """What a write did, once the knowledge base is within its limits again; a failure is noted, and counts as -1."""
    if kept.entry is None:
        return kept
    store = components.store
    try:
        archived = archive_surplus(
            store, lambda: components.journal, components.config, components.today(), spare=kept.entry
        )
        if not archived.entries:
            return kept
        files = tuple(dict.fromkeys([*kept.files, *archived.files]))
        return kept._replace(evicted=archived.evicted, index_count=len(store.entries()), files=files)
    except Exception as error:  # the report was kept, which is what counts
        said = str(error) if isinstance(error, KRError) else f"{type(error).__name__}: {error}"
        notes.append(f"capacity: the knowledge base was not brought within its limits: {said}")
        return kept._replace(evicted=-1)


def _counts(chosen: Outgoing, moved: Sequence[Entry]) -> tuple[int, int]:
    evicted = min(len(chosen.evicted), len(moved))
    return len(moved) - evicted, evicted


def last_uses(journal: Journal, file: Path, entries: Sequence[Entry]) -> dict[str, datetime]:
    """When each entry was last used, by id, to the moment.

    The journal has every hit already, the repeated ones of the command line too, durable before the answer is shown:
    to write the time down once more would cost each hit a sync, and in the index it would make git dirty. So it is read
    here, from where the last reading ended; what was read is kept beside the journal.

    Args:
        journal: numbers begin at 1 and grow.
        file: what was read so far; one that is spoilt, or speaks of another journal, is made anew.
        entries: whose uses are kept.
    """
    after, known = _known(file, journal)
    latest: Event | None = None
    while batch := journal.read(after, _BATCH):
        for number, event in batch:
            after, latest = number, event
            entry = event.data.get("entry") if event.kind in _USES else None
            if isinstance(entry, str):
                known[entry] = event.time
    present = {entry.id for entry in entries}
    uses = {name: time for name, time in known.items() if name in present}
    if latest is not None:
        kept = {
            "after": after,
            "event": latest.id,
            "used": {name: time.isoformat() for name, time in uses.items()},
        }
        with suppress(OSError):  # then it is read once more next time
            write_atomically(file, json.dumps(kept))
    return uses


def _known(file: Path, journal: Journal) -> tuple[int, dict[str, datetime]]:
    """The number that was read last, and what was read; nothing where the journal is another one."""
    try:
        kept: Any = json.loads(read_text(file, limit=_LARGEST))
        after = int(kept["after"])
        used = {str(name): datetime.fromisoformat(time) for name, time in kept["used"].items()}
        if any(time.tzinfo is None for time in used.values()):
            return 0, {}
        same = [event.id for _number, event in journal.read(after - 1, 1)] == [kept["event"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 0, {}
    return (after, used) if same else (0, {})
