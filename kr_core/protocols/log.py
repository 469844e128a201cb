"""What a log must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Event

__all__ = ["Log", "LogRecord"]


class LogRecord(NamedTuple):
    """An event with its number in the journal."""

    number: int
    event: Event


class Log(Protocol):
    """Receives every event once, in order, from the journal by a cursor of its own."""

    def write(self, records: Sequence[LogRecord]) -> None:
        """Write the events; on return they are stored. Skip numbers that the log already has.

        KR notes an exception, and sends the same events again later.
        """
