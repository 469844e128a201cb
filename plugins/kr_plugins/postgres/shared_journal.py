"""The journal's methods on the database: events, documents, step results, budgets, cursors and leases."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from kr_core import StorageError
from kr_core.plugin import Document, Issue
from kr_plugins.journals import event_rows
from kr_plugins.journals.event_rows import DocumentChange, EventRow, as_json, events_of, of_entries, row_of
from kr_plugins.journals.group_commit import GroupCommit
from kr_plugins.postgres.database import streamed
from kr_plugins.postgres.lease_table import LeaseTable
from kr_plugins.postgres.record_copy import dumped, restored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from psycopg import Connection

    from kr_core import Event
    from kr_core.plugin import RecordRow
    from kr_plugins.postgres.database import Database

__all__ = ["SharedJournal", "append"]

_GIVEN = (
    "INSERT INTO grants (project, grant_id, session, story) SELECT %s, %s, %s, %s"
    " WHERE (SELECT count(*) FROM grants WHERE project = %s AND session = %s AND story = %s) < %s"
    " ON CONFLICT (project, grant_id) DO NOTHING"
)
_APPEND = (
    "INSERT INTO events (project, number, id, time, run, kind, data, feature, hash) SELECT %s, * FROM"
    " unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])"
)


class SharedJournal:
    """A journal for any number of threads, processes and machines.

    Who appends to a project's record locks the project's row, so that numbers and hashes follow one another; threads of one
    process share the transaction.

    Args:
        database: the project's part of it.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._project = database.project
        self.place = database.where
        self._groups: GroupCommit[EventRow | DocumentChange] = GroupCommit(self._commit)
        self._leases = LeaseTable(database)

    # -- events ------------------------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> Future[None]:
        """Queue events; an id that the journal already has is not added again.

        The future cannot be cancelled. Appends that are committed together have one future.
        """
        try:
            rows = [row_of(event) for event in events]
        except StorageError as error:
            return _ended(error)
        return self._queued(rows) if rows else _ended()

    def _queued(self, rows: Sequence[EventRow | DocumentChange]) -> Future[None]:
        done = self._groups.add(rows)
        return (
            _ended(StorageError("the journal is closed", where=self.database.where)) if done is None else done
        )

    def _commit(self, group: Sequence[EventRow | DocumentChange]) -> None:
        """Write a group in one transaction; its answers are waited for twice, however many things it has."""

        def work(connection: Connection[Any], again: bool) -> None:
            with connection.pipeline(), connection.transaction():
                rows: list[EventRow] = []
                changes = [one for one in group if isinstance(one, DocumentChange)]
                if changes:
                    connection.execute("SELECT FROM projects WHERE id = %s FOR UPDATE", (self._project,))
                for change in changes:
                    change.made = self._change(connection, change, again=again)
                for one in group:
                    if not isinstance(one, DocumentChange):
                        rows.append(one)
                    elif one.made:
                        rows += one.rows
                append(connection, self._project, rows)

        self.database.run(work)

    def _change(self, connection: Connection[Any], change: DocumentChange, *, again: bool) -> bool:
        """Store a document if the version before it is the one that is stored; True where that was done before, unheard."""
        kind, key, status, version, _ = change.document
        if version == 1:
            made = connection.execute(
                "INSERT INTO documents (project, kind, key, status, version, data) VALUES (%s, %s, %s, %s, 1, %s)"
                " ON CONFLICT DO NOTHING RETURNING true",
                (self._project, kind, key, status, change.data),
            )
        else:
            made = connection.execute(
                "UPDATE documents SET status = %s, version = %s, data = %s"
                " WHERE project = %s AND kind = %s AND key = %s AND version = %s RETURNING true",
                (status, version, change.data, self._project, kind, key, version - 1),
            )
        if made.fetchone() is not None:
            return True
        there = (
            again
            and connection.execute(
                "SELECT status, version, data FROM documents WHERE project = %s AND kind = %s AND key = %s",
                (self._project, kind, key),
            ).fetchone()
        )
        return there == (status, version, change.data)

    def read(self, after: int, limit: int) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        return self._events("", (), after, limit)

    def entries(
        self, *, feature: str = "", exchange: str = "", after: int = 0, limit: int = 1000
    ) -> Sequence[tuple[int, Event]]:
        """Up to `limit` events of a feature or an exchange with a number greater than `after`, in order.

        Raises:
            StorageError: the journal cannot be read.
        """
        return self._events(*of_entries(feature, exchange, "%s"), after, limit)

    def _events(self, clauses: str, values: Sequence[str], after: int, limit: int) -> list[tuple[int, Event]]:
        rows = self.database.rows(
            f"SELECT number, id, time, run, kind, data FROM events WHERE {clauses}project = %s AND number > %s"  # noqa: S608  the clauses are this module's own
            " ORDER BY number LIMIT %s",
            (*values, self._project, after, limit),
        )
        return events_of(rows, self._damaged)

    def _damaged(self, what: str, error: Exception) -> StorageError:
        return StorageError(
            f"{what} cannot be read: {error}",
            where=self.database.where,
            hint="`kr log --verify` tells what else is wrong; restore the schema from a backup",
        )

    def verify(self) -> Sequence[Issue]:
        """What is wrong: entries that were altered, added, moved or taken out, also at the end.

        Raises:
            StorageError: the journal cannot be read.
        """
        with self.database.long_transaction() as connection:
            last, last_hash, dense_after, told = connection.execute(
                "SELECT last_number, last_hash, dense_after, (SELECT max(number) FROM cursors WHERE project = id)"
                " FROM projects WHERE id = %s",
                (self._project,),
            ).fetchone() or (0, event_rows.START, 0, 0)
            rows = streamed(
                connection,
                "SELECT number, id, time, run, kind, data, feature, hash FROM events WHERE project = %s ORDER BY number",
                (self._project,),
            )
            found = event_rows.flaws(rows, last=max(last, told or 0), dense_after=dense_after)
            newest = connection.execute(
                "SELECT number, hash FROM events WHERE project = %s ORDER BY number DESC LIMIT 1",
                (self._project,),
            ).fetchone()
        if not found and (newest or (0, event_rows.START)) != (last, last_hash):
            said = "it is not the one that KR wrote last: the record was set back, or written again"
            found.append(Issue("altered", f"entry {last}", said, "restore the schema from a backup"))
        return found

    # -- documents ---------------------------------------------------------------------------------------

    def number(self, kind: str) -> int:
        """The next number of a kind, from 1, and above the number of its documents; durable on return."""
        rows = self.database.run(
            lambda connection, _again: connection.execute(
                "INSERT INTO counters AS known (project, kind, number)"
                " VALUES (%s, %s, 1 + (SELECT count(*) FROM documents WHERE project = %s AND kind = %s))"
                " ON CONFLICT (project, kind) DO UPDATE SET number = greatest(known.number + 1, excluded.number) RETURNING number",
                (self._project, kind, self._project, kind),
            ).fetchall()
        )
        return int(rows[0][0])

    def document(self, kind: str, key: str) -> Document | None:
        """The latest version of a document, or None."""
        rows = self.database.rows(
            "SELECT kind, key, status, version, data FROM documents WHERE project = %s AND kind = %s AND key = %s",
            (self._project, kind, key),
        )
        return self._document(*rows[0]) if rows else None

    def documents(
        self, kind: str, status: str = "", limit: int = 1000, after: str = ""
    ) -> Sequence[Document]:
        """The latest versions of a kind's documents, oldest document first; only those with the status, if given."""
        of_status, values = (" AND status = %s", (status,)) if status else ("", ())
        rows = self.database.rows(
            f"SELECT kind, key, status, version, data FROM documents WHERE project = %s AND kind = %s{of_status}"  # noqa: S608  the clause is this module's own
            " AND number > coalesce((SELECT number FROM documents WHERE project = %s AND kind = %s AND key = %s), 0)"
            " ORDER BY number LIMIT %s",
            (self._project, kind, *values, self._project, kind, after, limit),
        )
        return [self._document(*row) for row in rows]

    def _document(self, kind: str, key: str, status: str, version: int, data: str) -> Document:
        try:
            return Document(kind, key, status, version, json.loads(data))
        except ValueError as error:
            raise self._damaged(f"{kind} {key}", error) from None

    def versions(self, kind: str) -> Sequence[tuple[str, str, int]]:
        """Key, status and version of each of a kind's documents, oldest first."""
        return self.database.rows(
            "SELECT key, status, version FROM documents WHERE project = %s AND kind = %s ORDER BY number",
            (self._project, kind),
        )

    def change(self, document: Document, events: Sequence[Event] = ()) -> bool:
        """Store a document and append the events, in one transaction; False where another change was first.

        They come after what this process has appended before.

        Raises:
            StorageError: nothing was stored, or JSON has no form for it.
        """
        change = DocumentChange(document, [row_of(event) for event in events])
        self._queued([change]).result()
        return change.made

    # -- logs and steps ----------------------------------------------------------------------------------

    def cursor(self, log: str) -> int:
        """The number of the last event that this log confirmed; 0 at first."""
        rows = self.database.rows(
            "SELECT number FROM cursors WHERE project = %s AND log = %s", (self._project, log)
        )
        return int(rows[0][0]) if rows else 0

    def advance(self, log: str, number: int) -> None:
        """Note that the log has everything up to this event; a cursor never goes back."""
        self.database.do(
            "INSERT INTO cursors AS known (project, log, number) VALUES (%s, %s, %s)"
            " ON CONFLICT (project, log) DO UPDATE SET number = greatest(known.number, excluded.number)",
            (self._project, log, number),
        )

    def step(self, run: str, key: str) -> Any | None:
        """The stored result of a step, or None."""
        rows = self.database.rows(
            "SELECT result FROM steps WHERE project = %s AND run = %s AND key = %s", (self._project, run, key)
        )
        return json.loads(rows[0][0]) if rows else None

    def keep_step(self, run: str, key: str, result: Any) -> None:
        """Store the result of a step; the first one stays.

        Raises:
            StorageError: it could not be stored, or JSON has no form for it.
        """
        text = as_json(result, f"the result of step {key!r}")
        self.database.do(
            "INSERT INTO steps (project, run, key, result) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (self._project, run, key, text),
        )

    # -- budgets -----------------------------------------------------------------------------------------

    def spend(self, session_id: str, story_key: str, grant: str, limit: int) -> bool:
        """Take one call of the story's budget; a grant that was given before is True again, and costs nothing.

        The lock is on the story alone. The statement after it sees what others have committed until then.
        """
        story = (self._project, session_id, story_key)

        def work(connection: Connection[Any], _again: bool) -> bool:
            with connection.pipeline(), connection.transaction():
                connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))",
                    (json.dumps(story[1:]), self._project),
                )
                connection.execute(_GIVEN, (self._project, grant, *story[1:], *story, limit))
                found = connection.execute(
                    "SELECT FROM grants WHERE project = %s AND grant_id = %s", (self._project, grant)
                )
            return found.rowcount == 1

        return self.database.run(work)

    def refund(self, grant: str) -> None:
        """Give back a call that was never sent; an unknown grant is ignored."""
        self.database.do("DELETE FROM grants WHERE project = %s AND grant_id = %s", (self._project, grant))

    def spent(self, session_id: str, story_key: str) -> int:
        """The number of calls that the story took in this session."""
        ((count,),) = self.database.rows(
            "SELECT count(*) FROM grants WHERE project = %s AND session = %s AND story = %s",
            (self._project, session_id, story_key),
        )
        return int(count)

    # -- leases, copies, the end --------------------------------------------------------------------------

    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a name if no one else does, and say so; a holder that has gone loses it after some seconds.

        Raises:
            StorageError: the journal cannot be used.
        """
        return self._leases.lease(name)

    def dump(self) -> Iterator[RecordRow]:
        """All rows, as they are at one moment.

        Raises:
            StorageError: the journal cannot be read.
        """
        return dumped(self.database)

    def restore(self, rows: Iterable[RecordRow]) -> None:
        """Take the rows of another journal; all or none.

        Raises:
            StorageError: there is a record already, or the rows cannot be written.
        """
        restored(self.database, rows)

    def close(self) -> None:
        """Wait until everything queued is durable, and let go of the database; a second time does nothing."""
        self._groups.close()
        self._leases.close()
        self.database.close()


def append(connection: Connection[Any], project: int, rows: Sequence[EventRow]) -> None:
    """Append events to a project's record within a transaction, but those whose ids are there already."""
    if not rows:
        return
    head = connection.execute(
        "SELECT last_number, last_hash FROM projects WHERE id = %s FOR UPDATE", (project,)
    )
    ids = {row[0]: row for row in reversed(rows)}
    known = connection.execute(
        "SELECT id FROM events WHERE project = %s AND id = ANY(%s)", (project, list(ids))
    )
    number, before = head.fetchone() or (0, event_rows.START)
    there = {one[0] for one in known.fetchall()}
    new = [row for name, row in reversed(ids.items()) if name not in there]
    hashes = []
    for row in new:
        before = event_rows.link(before, *row[:5])
        hashes.append(before)
    if not new:
        return
    columns = [list(column) for column in zip(*new, strict=True)]
    numbers = list(range(number + 1, number + 1 + len(new)))
    connection.execute(_APPEND, (project, numbers, *columns, hashes))
    connection.execute(
        "UPDATE projects SET last_number = %s, last_hash = %s WHERE id = %s", (numbers[-1], before, project)
    )


def _ended(error: StorageError | None = None) -> Future[None]:
    future: Future[None] = Future()
    future.set_exception(error) if error else future.set_result(None)
    return future
