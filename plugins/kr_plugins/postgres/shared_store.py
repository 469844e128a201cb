"""The store's methods on the database: entries and reports read, written, archived and restored, for any number of machines."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kr_core import StorageError
from kr_core.plugin import Candidates, ChangeResult, Entry, WriteResult
from kr_core.toolkit import fold_name, match_keys
from kr_plugins.journals.event_rows import as_json
from kr_plugins.stores.report_names import is_about, is_report_path, paths_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from psycopg import Connection

    from kr_core.plugin import ResearchQuery
    from kr_core.toolkit import MatchKeys
    from kr_plugins.postgres.database import Database

__all__ = ["KeyNumbers", "SharedStore", "key_numbers"]

Result = TypeVar("Result")

_FIELDS = tuple(Entry.model_fields)
_COLUMNS = ", ".join(_FIELDS)
_MOST = 5
"""Candidates of each tier; more than one, since the report of the best may be unreadable."""
_BEST = f"""
WITH near AS MATERIALIZED (
    SELECT number, framework <> %(name)s AS other, tag_keys && %(tags)s::bigint[] AS tagged, keys && %(same)s::bigint[] AS is_same,
        {{shared}} AS shared, greatest(cardinality(words), %(count)s, 1) AS larger, last_accessed, id
    FROM entries WHERE project = %(project)s AND NOT archived AND folded = %(folded)s AND keys && %(all)s::bigint[]
), placed AS (
    SELECT number, is_same, tagged OR 10 * shared >= 7 * larger AS fits, row_number() OVER (
        PARTITION BY 10 * shared >= 7 * larger, tagged ORDER BY other, shared::float / larger DESC, last_accessed DESC, id
    ) AS place FROM near
)
SELECT {_COLUMNS} FROM entries JOIN placed USING (number)
WHERE project = %(project)s AND (is_same OR (fits AND place <= {_MOST})) ORDER BY number
"""  # noqa: S608  the names of an entry's keys, and a constant
"""The best of each tier, in the order of `kr_core.knowledge.matching.rank`."""
_SELECT = f"SELECT {_COLUMNS} FROM entries WHERE project = %s"  # noqa: S608  the names of an entry's keys


class SharedStore:
    """A knowledge base for any number of threads, processes and machines.

    Who writes locks the project's row in `knowledge`, so that writers of one project follow one another, as they do on files.

    Args:
        database: the project's part of it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._project = database.project
        self.place = database.where

    # -- reading -----------------------------------------------------------------------------------------

    def candidates(self, query: ResearchQuery) -> Candidates:
        """The entries of the query's framework that may match best: the first of each tier, and those of the same words."""
        warnings, self._database.warnings = self._database.warnings, []
        keys, folded = self._keys(query), fold_name(query.framework)
        each = {f"word{place}": word for place, word in enumerate(keys.words)}
        shared = " + ".join(f"(%({name})s = ANY (words))::integer" for name in each) or "0"
        asked = {
            "name": query.framework, "folded": folded, "project": self._project, "tags": keys.tags, "same": keys.same,
            "all": keys.all, "count": len(each), **each,
        }  # fmt: skip
        rows = self._database.rows(_BEST.format(shared=shared), asked)
        return Candidates([_entry(row) for row in rows], tuple(warnings))

    def entries(self) -> Sequence[Entry]:
        """All entries, in the order in which they were new.

        Raises:
            StorageError: the database cannot be used.
        """
        rows = self._database.rows(f"{_SELECT} AND NOT archived ORDER BY number", (self._project,))
        return [_entry(row) for row in rows]

    def archived(self) -> Sequence[Entry]:
        """The archived entries, in the order in which they were new.

        Raises:
            StorageError: the database cannot be used.
        """
        rows = self._database.rows(f"{_SELECT} AND archived ORDER BY number", (self._project,))
        return [_entry(row) for row in rows]

    def archived_of(self, framework: str) -> Sequence[Entry]:
        """The archived entries of a framework.

        Raises:
            StorageError: the database cannot be used.
        """
        rows = self._database.rows(
            f"{_SELECT} AND archived AND folded = %s ORDER BY number", (self._project, fold_name(framework))
        )
        return [_entry(row) for row in rows]

    def read(self, entry: Entry) -> tuple[str, dict[str, Any]] | None:
        """The report and its evidence; None if the report is gone or empty."""
        return self._database.run(lambda connection, _again: self._read(connection, entry.path))

    def _read(self, connection: Connection[Any], path: str) -> tuple[str, dict[str, Any]] | None:
        found = connection.execute(
            "SELECT report, evidence FROM reports WHERE project = %s AND path = %s", (self._project, path)
        ).fetchone()
        if found is None or not found[0].strip():
            return None
        return found[0], json.loads(found[1])

    # -- writing -----------------------------------------------------------------------------------------

    def write(
        self, report: str, evidence: Mapping[str, Any], entry: Entry, *, index: bool = True
    ) -> WriteResult:
        """Store a report with its evidence and its entry, in one transaction.

        An entry that is known (by its id, else by its path, framework and topic) is updated in its place and keeps its id, path
        and `created`. A new one never takes the report of another: if its path is not free, the path gets a suffix.

        Raises:
            StorageError: nothing changed.
        """
        text, quotes = _texts(report, evidence, entry)
        return self._database.run(
            lambda connection, _again: self._in_turn(
                connection, lambda: self._written(connection, text, quotes, entry, index=index)
            )
        )

    def write_over(
        self, before: tuple[str, dict[str, Any]], report: str, evidence: Mapping[str, Any], entry: Entry
    ) -> WriteResult | None:
        """Store a report and its entry in place of one that was read; None if it has changed since.

        Raises:
            StorageError: nothing changed.
        """
        text, quotes = _texts(report, evidence, entry)

        def work(connection: Connection[Any], again: bool) -> WriteResult | None:
            there = self._read(connection, entry.path)
            done = again and there == (text, json.loads(quotes))  # and the answer was lost
            return self._written(connection, text, quotes, entry) if done or there == before else None

        return self._database.run(
            lambda connection, again: self._in_turn(connection, lambda: work(connection, again))
        )

    def _in_turn(self, connection: Connection[Any], work: Callable[[], Result]) -> Result:
        """Do some work in a transaction while no one else writes to the knowledge base."""
        with connection.transaction():
            connection.execute("SELECT FROM knowledge WHERE project = %s FOR UPDATE", (self._project,))
            return work()

    def _written(
        self, connection: Connection[Any], text: str, quotes: str, entry: Entry, *, index: bool = True
    ) -> WriteResult:
        if not is_report_path(entry.path):
            raise StorageError(
                f"the report of {entry.id!r} would lie outside the knowledge base's reports",
                where=entry.path,
                hint="a report's path is relative to the knowledge base and ends with .md",
            )
        if not index:
            path = self._free(connection, entry, skeletons=False)
            self._put(connection, path, text, quotes)
            return WriteResult(None, path, self._count(connection))
        known = self._position(connection, entry)
        if known is None:
            entry = entry.model_copy(update={"path": self._free(connection, entry)})
            connection.execute(
                f"INSERT INTO entries (project, {_COLUMNS}, folded, words, tag_keys, keys) VALUES ({', '.join(['%s'] * (len(_FIELDS) + 5))})",  # noqa: S608  the names of an entry's keys
                (self._project, *self._values(entry), fold_name(entry.framework), *self._stored_keys(entry)),
            )
        else:
            number, there = known
            entry = entry.model_copy(update={"id": there.id, "created": there.created, "path": there.path})
            self._update(connection, number, entry)
        self._put(connection, entry.path, text, quotes)
        return WriteResult(entry, entry.path, self._count(connection, 0 if known else 1))

    def _put(self, connection: Connection[Any], path: str, text: str, quotes: str) -> None:
        connection.execute(
            "INSERT INTO reports (project, path, report, evidence) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (project, path) DO UPDATE SET report = excluded.report, evidence = excluded.evidence",
            (self._project, path, text, quotes),
        )

    def _update(self, connection: Connection[Any], number: int, entry: Entry) -> None:
        columns = ", ".join(f"{name} = %s" for name in _FIELDS)
        connection.execute(
            f"UPDATE entries SET {columns}, folded = %s, words = %s, tag_keys = %s, keys = %s WHERE project = %s AND number = %s",  # noqa: S608  the names of an entry's keys
            (
                *self._values(entry),
                fold_name(entry.framework),
                *self._stored_keys(entry),
                self._project,
                number,
            ),
        )

    def touch(self, entry: Entry, today: date) -> int:
        """Note that the entry was used today; a second use on the same day writes nothing.

        Raises:
            StorageError: the database cannot be used.
        """

        def work(connection: Connection[Any], _again: bool) -> int:
            known = self._position(connection, entry)
            if known is not None and known[1].last_accessed != today:
                connection.execute(
                    "UPDATE entries SET last_accessed = %s WHERE project = %s AND number = %s",
                    (today, self._project, known[0]),
                )
            return self._count(connection)

        return self._database.run(work)

    def drop(self, entry: Entry) -> None:
        """Remove an entry whose report is gone; one whose report has come back meanwhile stays.

        Raises:
            StorageError: the database cannot be used.
        """

        def work(connection: Connection[Any]) -> None:
            known = self._position(connection, entry)
            if known is not None and self._read(connection, known[1].path) is None:
                connection.execute(
                    "DELETE FROM entries WHERE project = %s AND number = %s", (self._project, known[0])
                )
                self._count(connection, -1)

        self._database.run(lambda connection, _again: self._in_turn(connection, lambda: work(connection)))

    def mark_stale(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Mark those entries as stale that `choose` names of all; no one else writes meanwhile.

        Raises:
            StorageError: the database cannot be used.
        """

        def change(connection: Connection[Any], numbers: list[int]) -> None:
            connection.execute(
                "UPDATE entries SET status = 'stale' WHERE project = %s AND number = ANY(%s)",
                (self._project, numbers),
            )

        return self._changed(choose, change, "stale")

    # -- the archive -------------------------------------------------------------------------------------

    def archive(self, choose: Callable[[Sequence[Entry]], Sequence[Entry]]) -> ChangeResult:
        """Move those entries to the archive that `choose` names of all; no one else writes meanwhile.

        Raises:
            StorageError: the database cannot be used.
        """

        def change(connection: Connection[Any], numbers: list[int]) -> None:
            for number in numbers:  # one by one: they come into the archive in this order
                connection.execute(
                    "UPDATE entries SET status = 'archived', archived = true, number = DEFAULT WHERE project = %s AND number = %s",
                    (self._project, number),
                )
            self._count(connection, -len(numbers))

        return self._changed(choose, change, "archived")

    def _changed(
        self,
        choose: Callable[[Sequence[Entry]], Sequence[Entry]],
        change: Callable[[Connection[Any], list[int]], None],
        status: str,
    ) -> ChangeResult:
        def work(connection: Connection[Any]) -> ChangeResult:
            rows = connection.execute(
                f"SELECT number, {_COLUMNS} FROM entries WHERE project = %s AND NOT archived ORDER BY number",  # noqa: S608  the names of an entry's keys
                (self._project,),
            ).fetchall()
            entries = [_entry(row[1:]) for row in rows]
            wanted = {(fold_name(one.framework), one.id) for one in choose(entries)}
            chosen = [
                (row[0], one)
                for row, one in zip(rows, entries, strict=True)
                if (fold_name(one.framework), one.id) in wanted
            ]
            if chosen:
                change(connection, [number for number, _ in chosen])
            return ChangeResult(tuple(one.model_copy(update={"status": status}) for _, one in chosen))

        return self._database.run(
            lambda connection, _again: self._in_turn(connection, lambda: work(connection))
        )

    def restore(self, entry: Entry) -> WriteResult:
        """Move an archived entry back, as it is given; it comes last.

        Raises:
            StorageError: it is not in the archive, another entry has its id, or the database cannot be used.
        """

        def work(connection: Connection[Any]) -> WriteResult:
            archived = connection.execute(
                "SELECT number FROM entries WHERE project = %s AND archived AND path = %s AND id = %s AND folded = %s",
                (self._project, entry.path, entry.id, fold_name(entry.framework)),
            ).fetchone()
            if archived is None:
                hint = "`kr cache list --archived` shows what is there"
                raise StorageError("no such entry in the archive", where=entry.id, hint=hint)
            present = self._position(connection, entry)
            if present is not None:
                raise StorageError(
                    f"a newer report on this is there, {present[1].path}",
                    where=entry.id,
                    hint=f"archived, it stays readable as {entry.path}",
                )
            self._update(connection, archived[0], entry)
            connection.execute(
                "UPDATE entries SET archived = false, number = DEFAULT WHERE project = %s AND number = %s",
                (self._project, archived[0]),
            )
            return WriteResult(entry, entry.path, self._count(connection, 1))

        return self._database.run(
            lambda connection, _again: self._in_turn(connection, lambda: work(connection))
        )

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    # -- rows --------------------------------------------------------------------------------------------

    def _position(self, connection: Connection[Any], entry: Entry) -> tuple[int, Entry] | None:
        """The number of the entry and how it is stored: its framework's with its id, or the one with its report and topic."""
        folded = fold_name(entry.framework)
        rows = connection.execute(
            f"SELECT number, {_COLUMNS} FROM entries WHERE project = %s AND NOT archived AND folded = %s"  # noqa: S608  the names of an entry's keys
            " AND (id = %s OR path = %s) ORDER BY id <> %s",
            (self._project, folded, entry.id, entry.path, entry.id),
        ).fetchall()
        found = ((row[0], _entry(row[1:])) for row in rows)
        return next((one for one in found if one[1].id == entry.id or is_about(one[1], entry)), None)

    def _free(self, connection: Connection[Any], entry: Entry, *, skeletons: bool = True) -> str:
        """A path that no other entry has; with `skeletons` one that only a report without an entry has is free, too."""
        taken = "EXISTS (SELECT FROM entries WHERE project = %s AND path = %s)"
        if not skeletons:
            taken += " OR EXISTS (SELECT FROM reports WHERE project = %s AND path = %s)"
        for path in paths_for(entry):
            values = (self._project, path) * (1 if skeletons else 2)
            if connection.execute(f"SELECT {taken}", values).fetchone() == (False,):
                return path
        raise AssertionError("there is always another path")

    def _count(self, connection: Connection[Any], more: int = 0) -> int:
        """How many entries there are, once `more` have come."""
        query = "SELECT entries FROM knowledge WHERE project = %s"
        values: tuple[int, ...] = (self._project,)
        if more:
            query = "UPDATE knowledge SET entries = entries + %s WHERE project = %s RETURNING entries"
            values = (more, self._project)
        row = connection.execute(query, values).fetchone()
        return int(row[0]) if row else 0

    def _values(self, entry: Entry) -> tuple[Any, ...]:
        values = entry.model_dump()
        return tuple(list(values[name]) if name == "tags" else values[name] for name in _FIELDS)

    def _keys(self, about: Entry | ResearchQuery) -> KeyNumbers:
        return key_numbers(self._project, fold_name(about.framework), match_keys(about))

    def _stored_keys(self, entry: Entry) -> tuple[list[int], list[int], list[int]]:
        keys = self._keys(entry)
        return keys.words, keys.tags, keys.all


class KeyNumbers(NamedTuple):
    """Keys as the index has them: hashes of project, framework and key, so that it is asked for few rows."""

    words: list[int]
    tags: list[int]
    same: list[int]

    @property
    def all(self) -> list[int]:
        """What the index is asked for."""
        return sorted({*self.words, *self.tags, *self.same})


def key_numbers(project: int, folded: str, keys: MatchKeys) -> KeyNumbers:
    """Keys of a project's framework as the index has them."""
    return KeyNumbers(*([_hash(f"{project}\0{folded}\0{key}") for key in sorted(group)] for group in keys))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _entry(row: Sequence[Any]) -> Entry:
    values = dict(zip(_FIELDS, row, strict=True))
    return Entry.model_construct(
        **{**values, "tags": tuple(values["tags"])}
    )  # which was checked when it was written


def _texts(report: str, evidence: Mapping[str, Any], entry: Entry) -> tuple[str, str]:
    """Report and evidence as they are stored; a text with NUL would not be read again."""
    return report.replace("\0", "\N{REPLACEMENT CHARACTER}"), as_json(
        dict(evidence), f"the evidence of {entry.id!r}"
    )
