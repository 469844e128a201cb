"""What is remembered on disk from one run to the next: answers of sources, and small facts that sources look up.

It is a cache (`diskcache`): bounded, shared by all processes of a user, and never the only place of anything. Values are
JSON text. `diskcache` would also unpickle, and read and remove files, as a row of its database says; here it does not,
so that a planted row runs nothing.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from diskcache import Cache, Disk, Timeout
from diskcache.core import MODE_RAW

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE_LIMIT = 256 * 2**20
"""Bytes; beyond it the least recently stored values go."""
MAX_WAIT_SECONDS_LENGTH = 5.0
"""For one value: a lock of another process holds up no answer."""
_DATABASE = "cache.db"

Result = TypeVar("Result")


class _JsonText(Disk):  # type: ignore[misc]  # diskcache has no types
    """Values as JSON text in the database itself: no pickle, no files."""

    def store(self, value: Any, _read: bool, key: Any = None) -> tuple[int, int, None, str]:  # noqa: ARG002  its signature
        return 0, MODE_RAW, None, json.dumps(value)

    def fetch(self, mode: int, filename: str | None, value: Any, _read: bool) -> Any:
        if mode != MODE_RAW or filename is not None or not isinstance(value, str):
            raise ValueError("a row that is not JSON text")
        return json.loads(value)

    def get(self, key: Any, raw: bool) -> Any:
        if not raw or not isinstance(key, str):
            raise ValueError("a key that is not text")
        return key

    def remove(self, file_path: str) -> None:
        """Nothing: no value has a file, whatever a row says."""


class DiskCache:
    """One folder of remembered values; opened at first use, by a thread of its own.

    A memory that cannot be read or written is an empty one: `failure` says why.

    Args:
        folder: in the user's cache folder.
    """

    def __init__(self, folder: Path) -> None:
        self.failure = ""
        """Why nothing is remembered; empty if all is well."""
        self._folder = folder
        self._cache: Any = None
        # One thread, since a connection of SQLite belongs to the thread that opened it; nobody waits for its end.
        self._work: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    async def get(self, key: str) -> Any:
        """The value of a key; None if there is none or it has expired."""
        return await self._apart(lambda cache: cache.get(key))

    async def set(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value of plain data for so many seconds."""
        await self._apart(lambda cache: cache.set(key, value, expire=seconds))

    def close(self) -> None:
        """Let go of the folder; what is stuck is left behind."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join(MAX_WAIT_SECONDS_LENGTH)

    async def _apart(self, work: Callable[[Any], Result]) -> Result | None:
        """Do it in the memory's own thread; None where that takes too long, and from then on at once."""
        if self.failure:
            return None
        self._begin()
        done: Future[Result | None] = Future()
        self._work.put((lambda: self._tried(work), done))
        waiting = asyncio.wrap_future(done)
        await asyncio.wait({waiting}, timeout=MAX_WAIT_SECONDS_LENGTH)
        if waiting.done():
            return waiting.result()
        self.failure = "it is locked by another process"
        return None

    def _begin(self) -> None:
        """Start the thread, if nobody has: of two, one would be left at the end."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="kr-memory", daemon=True)
                self._thread.start()

    def _serve(self) -> None:
        while (item := self._work.get()) is not None:
            work, done = item
            if done.set_running_or_notify_cancel():
                done.set_result(work())
        if self._cache is not None:
            self._cache.close()

    def _tried(self, work: Callable[[Any], Result]) -> Result | None:
        try:
            return work(self._opened())
        except (ValueError, RecursionError):  # a row that KR did not write
            return None
        except sqlite3.DatabaseError as error:
            if isinstance(
                error, sqlite3.OperationalError
            ):  # a full disk, a lock: the file itself may be sound
                self.failure = str(error)
                return None
            return self._anew(work, error)
        except (OSError, Timeout) as error:
            self.failure = str(error) or type(error).__name__
            return None

    def _opened(self) -> Any:
        if self._cache is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._cache = Cache(
                str(self._folder), timeout=MAX_WAIT_SECONDS_LENGTH, disk=_JsonText, size_limit=SIZE_LIMIT,
                eviction_policy="least-recently-stored",
                sqlite_synchronous=0,  # what a power cut spoils is begun anew; a killed process spoils nothing
            )  # fmt: skip
        return self._cache

    def _anew(self, work: Callable[[Any], Result], error: Exception) -> Result | None:
        """Begin anew where the file is no database any more; it is only a cache."""
        if self._cache is not None:
            with suppress(sqlite3.Error):
                self._cache.close()
            self._cache = None
        try:
            for file in self._folder.glob(f"{_DATABASE}*"):
                file.unlink(missing_ok=True)
            return work(self._opened())
        except (OSError, sqlite3.Error, Timeout):
            self.failure = str(error)
            return None


class CacheNamespace:
    """One source's own part of the memory (`SourceContext.cache`)."""

    def __init__(self, memory: DiskCache, name: str) -> None:
        self._memory = memory
        self._name = name

    async def get(self, key: str) -> Any:
        """The value of a key; None if there is none or it has expired."""
        return await self._memory.get(self._key(key))

    async def set(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value of plain data (as JSON has it) for so many seconds."""
        await self._memory.set(self._key(key), value, seconds)

    def _key(self, key: str) -> str:
        return json.dumps([self._name, key])
