"""The head of the record: the last entry and the totals of the other tables, in a file of their own beside the database.

A database that loses its end, with its write-ahead log or in favour of an older copy, is as whole as before: nothing in it
tells of what is gone. `journal.sqlite-head` does. It has four slots, each with a checksum: two take turns with the number and
the hash of the last entry, two with the totals (`_TOTALS`).

The order of writes makes it believable. KR writes a slot only once the transaction is durable that it tells of, and waits for no
disk: however the process or the machine ends, the file names what the database has, or less. It never goes back either, so
the next entry does not hide a loss: a process whose database is not the one that the file tells of leaves the file alone.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kr_core.plugin import Issue
from kr_plugins.journals.sqlite_append import HEAD, SLOT, read_head, read_slots, unpack, write_slot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["DOCUMENTS", "GRANTS", "STEPS", "Head", "RecordHead", "count", "count_refund", "entry_flaws", "table_flaws"]  # fmt: skip

STEPS, GRANTS, DOCUMENTS = "@steps", "@grants", "@documents"
"""Counters of the rows that were ever added to a table."""
_REFUNDS = "@refunds"
"""The counter of grants that were given back."""
_COUNTED = {
    STEPS: ("steps", "a run that you resume repeats its steps"),
    GRANTS: ("grants", "stories may spend calls again"),
    DOCUMENTS: ("documents", "cases or expeditions are gone"),
}
"""Their tables, and what it means where rows are missing."""
_TOTALS = "SELECT kind, number FROM counters UNION ALL SELECT 'log ' || log, number FROM cursors"
_TOTALS_SLOT = 1024
_LAST = "SELECT number, hash FROM events ORDER BY number DESC LIMIT 1"
_RESTORE = "restore .kr/journal.sqlite, with its -wal file if it has one, from a backup"
_GO_ON = f"{_RESTORE}; to go on without, remove .kr/journal.sqlite{HEAD}"

_FORGET = "`sqlite3 .kr/journal.sqlite \"DELETE FROM counters WHERE kind = '{}'\"`"
_NEW_CHAIN = '`sqlite3 .kr/journal.sqlite "DELETE FROM chain; INSERT INTO chain VALUES (0)"`'


class Head(NamedTuple):
    """What the file tells."""

    number: int
    """Of the last entry; 0 where the file names none."""
    hash: bytes
    totals: Mapping[str, int]
    """Counters by their names, and the cursors of logs as `log NAME`."""


class RecordHead:
    """The file beside a journal.

    Args:
        journal: the journal's file.
    """

    def __init__(self, journal: Path) -> None:
        self._place = str(journal)
        self._last = 0
        self._follows = False
        """Whether the journal goes on from what the file tells."""

    def read(self) -> Head:
        """What the file tells; read it before the database, which then has at least as much."""
        number, last = read_head(self._place) or (0, b"")
        return Head(number, last, self._totals()[1])

    def open(self, connection: sqlite3.Connection) -> None:
        """See whether the journal goes on from what the file tells; a journal without a file gets one."""
        number, told = read_head(self._place) or (0, b"")
        with suppress(sqlite3.DatabaseError):  # whoever reads what is damaged says so
            last = connection.execute(_LAST).fetchone()
            self._follows = not number or _hash_of(connection, number) == told
            if last and not number:
                self.advance(*last)
            if self._follows and not self._totals()[0]:
                self.keep_totals(connection)

    def advance(self, number: int, last: bytes) -> None:
        """Name the last entry, once it is durable."""
        if number <= self._last:  # the journal went back while it was open
            self._follows = False
        self._last = number
        if self._follows:
            write_slot(self._place, 0, number, f"{number} {last.hex()}", SLOT)

    def keep_totals(self, connection: sqlite3.Connection) -> None:
        """Tell the totals of what is committed; where one of them went back, the file stays."""
        totals = dict(connection.execute(_TOTALS))
        turn, told = self._totals()
        if totals == told or any(totals.get(name, 0) < number for name, number in told.items()):
            return
        text = f"{turn + 1} {json.dumps(totals, separators=(',', ':'))}"
        if len(text) < _TOTALS_SLOT - 20:
            write_slot(self._place, 2 * SLOT, turn + 1, text, _TOTALS_SLOT)

    def _totals(self) -> tuple[int, dict[str, int]]:
        """The newest totals with their turn, which is 0 where there are none."""
        text = read_slots(self._place, 2 * SLOT + 2 * _TOTALS_SLOT)[2 * SLOT :]
        found = (unpack(text[:_TOTALS_SLOT]), unpack(text[_TOTALS_SLOT:]))
        turn, told = max(filter(None, found), default=(0, "{}"))
        with suppress(ValueError):
            totals = json.loads(told)
            if isinstance(totals, dict) and all(isinstance(number, int) for number in totals.values()):
                return turn, totals
        return 0, {}


def count(connection: sqlite3.Connection, name: str) -> None:
    """Count a row that was just added, in its transaction."""
    if not connection.execute("UPDATE counters SET number = number + 1 WHERE kind = ?", (name,)).rowcount:
        every = f"SELECT ?, count(*) FROM {_COUNTED[name][0]}"  # noqa: S608  the names are this module's own
        connection.execute(f"INSERT INTO counters (kind, number) {every}", (name,))


def count_refund(connection: sqlite3.Connection) -> None:
    """Count a grant that was given back, in its transaction; none where grants were never counted."""
    connection.execute(
        "INSERT INTO counters (kind, number) SELECT ?, 1 WHERE EXISTS (SELECT 1 FROM counters WHERE kind = ?)"
        " ON CONFLICT (kind) DO UPDATE SET number = number + 1",
        (_REFUNDS, GRANTS),
    )


def entry_flaws(connection: sqlite3.Connection, head: Head, given: int) -> Iterator[Issue]:
    """Where the journal has less than the file told, or something else.

    Args:
        connection: in a snapshot.
        head: as it was read before the snapshot.
        given: the last number that was ever given, by the database itself, which tells what is missing up to there.
    """
    last = max(given, int((connection.execute(_LAST).fetchone() or (0,))[0]))
    if head.number > last:
        some = "it is" if head.number == last + 1 else f"it and those up to entry {head.number} are"
        said = f"{some} missing: KR wrote entry {head.number}, and the journal ends before it, as if it was set back"
        yield Issue("missing", f"entry {last + 1}", said, _GO_ON)
    elif head.number and _hash_of(connection, head.number) not in {head.hash, None}:
        said = "it is not the one that KR wrote: the journal was set back and went on, or was written again"
        yield Issue("altered", f"entry {head.number}", said, _GO_ON)


def table_flaws(connection: sqlite3.Connection, told: Mapping[str, int]) -> Iterator[Issue]:
    """What is missing in the tables beside the entries, by the counters in the database and those that the file told.

    Args:
        connection: in a snapshot.
        told: totals that were read before the snapshot.
    """
    yield from _chain_flaws(connection)
    now = dict(connection.execute(_TOTALS))
    most = {name: max(now.get(name, 0), told.get(name, 0)) for name in {*now, *told}}
    for name, (table, lost) in _COUNTED.items():
        there = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608  the names are this module's own
        wanted = most.get(name, 0) - (most.get(_REFUNDS, 0) if name == GRANTS else 0)
        if there < wanted:
            said = f"{wanted - there} of {wanted} rows are missing: {lost}"
            yield Issue("missing", f"table {table}", said, f"{_GO_ON}, and run {_FORGET.format(name)}")
    for name in sorted(told):
        if now.get(name, 0) < told[name]:
            what = name if name.startswith("log ") else f"counter {name.removeprefix('@')}"
            said = f"it is at {now.get(name, 0)}, and KR had written {told[name]}: it was emptied or set back"
            yield Issue("altered", what, said, _GO_ON)


def _chain_flaws(connection: sqlite3.Connection) -> Iterator[Issue]:
    rows = connection.execute("SELECT count(*) FROM chain").fetchone()[0]
    if rows != 1:
        said = f"it has {rows or 'no'} rows instead of one"
        yield Issue("altered", "table chain", said, f"{_RESTORE}; without a backup, run {_NEW_CHAIN}")


def _hash_of(connection: sqlite3.Connection, number: int) -> bytes | None:
    row = connection.execute("SELECT hash FROM events WHERE number = ?", (number,)).fetchone()
    return None if row is None else row[0]
