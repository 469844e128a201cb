"""Circuit breakers: a host that keeps failing is left alone for a while, so that nobody waits for it again and again."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FAILURES = 5
"""So many failures in a row open the circuit."""
REST_SECONDS = 30.0
"""How long it stays open the first time; twice as long after each trial that fails, up to `MAX_REST_SECONDS_LENGTH`."""
MAX_REST_SECONDS_LENGTH = 300.0


class CircuitBreaker:
    """The circuit to one host; safe to use from several threads.

    Closed, it lets everything pass. After `FAILURES` in a row it is open, and lets nothing pass for a while; then one
    trial, whose outcome closes or reopens it.

    Args:
        now: seconds on a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._failures = 0
        self._rest = REST_SECONDS
        self._open_until: float | None = None
        self._on_trial_until = 0.0

    def admits(self) -> float:
        """0 if a request may pass now; else the seconds until one may."""
        with self._lock:
            if self._open_until is None:
                return 0.0
            now = self._now()
            if now < self._open_until:
                return self._open_until - now
            if now < self._on_trial_until:
                return self._on_trial_until - now
            self._on_trial_until = now + self._rest  # whose outcome is never told counts as failed
            return 0.0

    def succeeded(self) -> None:
        """The host has answered, whatever it said."""
        with self._lock:
            self._failures, self._rest, self._open_until = 0, REST_SECONDS, None

    def failed(self) -> None:
        """The host gave no answer, or said that it is out of order."""
        with self._lock:
            self._failures += 1
            if self._open_until is not None:
                if (
                    self._now() < self._open_until
                ):  # it was sent before the others opened the circuit, and is no trial
                    return
                self._rest = min(2 * self._rest, MAX_REST_SECONDS_LENGTH)
            if self._failures >= FAILURES:
                self._open_until = self._now() + self._rest
                self._on_trial_until = 0.0


class CircuitBreakers:
    """The circuits of one pipeline, by host."""

    def __init__(self) -> None:
        self._of: dict[str, CircuitBreaker] = {}

    def of(self, host: str) -> CircuitBreaker:
        """The circuit to a host (`docs.python.org:443`)."""
        return self._of.setdefault(host, CircuitBreaker())
