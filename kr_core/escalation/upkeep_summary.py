"""What was done of all that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import datetime as dt

__all__ = ["RunProgress", "RunSummary"]


class RunSummary(NamedTuple):
    """What was done."""

    shown: int = 0
    """Revisions that a channel has shown."""
    told: int = 0
    """Notices that a channel has said."""
    applied: int = 0
    """Replies of people that were applied."""
    refused: int = 0
    reminded: int = 0
    """Cases about which people are reminded."""
    timed_out: int = 0
    """Cases whose time limit has passed, and that go on waiting."""
    expired: int = 0
    """Cases in which the agent's answer is used, since nobody has decided in time."""
    asked_again: int = 0
    """Agents that were asked again."""
    notes: tuple[str, ...] = ()
    """What could not be done, and is tried again."""
    next: dt.datetime | None = None
    """When something will be due by the time alone; None for nothing."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            **self._asdict(),
            "notes": list(self.notes),
            "next": None if self.next is None else self.next.isoformat(),
        }


class RunProgress:
    """What was done so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.notes: dict[str, None] = {}
        self.failed: set[str] = set()
        """The channels that are left alone from this run on."""
        self.next: dt.datetime | None = None

    def count(self, what: str, more: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + more

    def note_pause(self, name: str, text: str) -> None:
        """Note that a channel is left alone, unless it failed in this very run, which its own note says."""
        if name not in self.failed:
            self.note(f"escalation {name}: {text}")

    def note(self, text: str) -> None:
        self.notes[printable(text)] = None

    def summary(self) -> RunSummary:
        return RunSummary(**self.counts, notes=tuple(self.notes), next=self.next)
