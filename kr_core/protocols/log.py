"""What a log must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Event

__all__ = ["Log", "LogRecord", "ReadableLog"]


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


@runtime_checkable
class ReadableLog(Protocol):
    """A log that can say what it received last, so that `kr log --verify` sees a journal that lost its end.

    KR does not compare any other log.
    """

    def last_record(self) -> LogRecord | None:
        """The last event that the log has, with its number; None if it has none."""
