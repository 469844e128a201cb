"""Leases: names that one holder at a time has, on all machines; who is gone, or stopped, loses its own."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from kr_core import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_plugins.postgres.database import Database

__all__ = ["LEASE_SECONDS", "LeaseTable"]

LEASE_SECONDS = 20.0
"""How long a lease lasts that no one renews. The database's clock counts, since those of machines differ."""
_RENEWALS = 4
"""How often it is renewed in that time; a busy process may come late."""
_ENDS = "clock_timestamp() + make_interval(secs => %s)"


class LeaseTable:
    """The leases of this process; a thread renews them while there are any.

    Args:
        database: the project's part of it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held: set[str] = set()
        self._changed = threading.Condition()
        self._renewer: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def lease(self, name: str) -> Iterator[bool]:
        """Hold a name if no one else does, and say so.

        Raises:
            StorageError: the database cannot be used.
        """
        holder = uuid4().hex
        taken = self._database.do(
            f"INSERT INTO leases AS known (project, name, holder, ends) VALUES (%s, %s, %s, {_ENDS})"  # noqa: S608  a constant
            " ON CONFLICT (project, name) DO UPDATE SET holder = excluded.holder, ends = excluded.ends"
            " WHERE known.ends < clock_timestamp() OR known.holder = excluded.holder",
            (self._database.project, name, holder, LEASE_SECONDS),
        )
        if not taken:
            yield False
            return
        self._hold(holder)
        try:
            yield True
        finally:
            self._let_go(holder)

    def close(self) -> None:
        """End the thread; leases that are still held end by themselves."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._renewer is not None:
            self._renewer.join()

    def _hold(self, holder: str) -> None:
        with self._changed:
            self._held.add(holder)
            if self._renewer is None:
                self._renewer = threading.Thread(target=self._renew, name="kr-leases", daemon=True)
                self._renewer.start()
            self._changed.notify_all()

    def _let_go(self, holder: str) -> None:
        with self._changed:
            self._held.discard(holder)
        with suppress(StorageError):  # it ends by itself
            self._database.do(
                "DELETE FROM leases WHERE project = %s AND holder = %s", (self._database.project, holder)
            )

    def _renew(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._held or self._closed)
                self._changed.wait_for(lambda: self._closed, LEASE_SECONDS / _RENEWALS)
                if self._closed:
                    return
                held = list(self._held)
            with suppress(
                StorageError
            ):  # who cannot renew loses them, and the work that they are for fails as well
                self._database.do(
                    f"UPDATE leases SET ends = {_ENDS} WHERE project = %s AND holder = ANY(%s)",  # noqa: S608  a constant
                    (LEASE_SECONDS, self._database.project, held),
                )
