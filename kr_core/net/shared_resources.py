"""What the consultations of one pipeline share: connections, circuits, rate limits, and what is remembered on disk."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

    from kr_core.net.disk_cache import CacheNamespace, DiskCache
    from kr_core.net.gateway import Gateway, GatewayState
    from kr_core.protocols import Rate


class SharedResources:
    """Each part is made when a source first needs it: a cache hit imports no HTTP client.

    Args:
        folder: where answers are remembered.
        transport: what answers HTTP in place of the network.
        mcp: the server object that answers in place of every MCP server.
    """

    def __init__(
        self, folder: Path, transport: httpx.AsyncBaseTransport | None = None, mcp: Any = None
    ) -> None:
        self.transport = transport
        self.mcp = mcp
        self._folder = folder
        self._lock = threading.RLock()

    @cached_property
    def _exchanges(self) -> GatewayState:
        from kr_core.net.gateway import GatewayState

        return GatewayState(self.transport)

    @cached_property
    def _memory(self) -> DiskCache:
        from kr_core.net.disk_cache import DiskCache

        return DiskCache(self._folder)

    @property
    def memory(self) -> DiskCache:
        """What is remembered on disk from one run to the next."""
        with self._lock:  # two threads would make two
            return self._memory

    @property
    def failure(self) -> str:
        """Why nothing is remembered; empty if all is well, or nothing was asked of the memory yet."""
        return self._memory.failure if "_memory" in self.__dict__ else ""

    def shelf(self, source: str) -> CacheNamespace:
        """A source's own part of the memory."""
        from kr_core.net.disk_cache import CacheNamespace

        return CacheNamespace(self.memory, f"of {source}")

    def line(
        self, source: str, rate: Rate | None, deadline: float, emit: Callable[[str, dict[str, Any]], None]
    ) -> Gateway:
        """The way out for one consultation."""
        with self._lock:
            exchanges = self._exchanges
        return exchanges.line(source, rate, deadline, emit)

    def close(self) -> None:
        """Let go of the memory."""
        if "_memory" in self.__dict__:
            self._memory.close()
