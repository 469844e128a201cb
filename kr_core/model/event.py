"""Typed events: what every stage says before and after its work.

An event is a plain tuple: a run makes some twenty of them, and a validated model costs ten times as much.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

STAGE_NAMES = ("lookup", "route", "consult", "compose", "score", "render", "keep")
"""What events call the stages of research, in the order of `kr_core.research.stages.STAGES`.

Each says `<stage>.started` and then `<stage>.finished` or `<stage>.failed`.
"""


_DIGITS = 16
_IDS: list[str] = []
"""Ids for the next calls: the system is asked for 64 at once, which takes little longer than for one."""
if hasattr(os, "register_at_fork"):  # a child would give out its parent's
    os.register_at_fork(after_in_child=_IDS.clear)


def new_id() -> str:
    """A fresh identifier, 16 hexadecimal digits."""
    try:
        return _IDS.pop()
    except IndexError:
        digits = os.urandom(64 * _DIGITS // 2).hex()
        _IDS.extend(digits[start : start + _DIGITS] for start in range(_DIGITS, len(digits), _DIGITS))
        return digits[:_DIGITS]


class _Fields(NamedTuple):
    kind: str
    run: str
    data: dict[str, Any]
    id: str
    time: datetime


class Event(_Fields):
    """Something that happened in a run; immutable, including its data.

    Args:
        kind: `noun.verb` (`source.started`, `keep.finished`); `EVENTS` lists KR's own kinds.
        run: the run's id.
        data: JSON values only.
        id: unique; generated if not given.
        time: with its time zone; default: now.
    """

    __slots__ = ()

    def __new__(
        cls,
        kind: str,
        run: str,
        data: dict[str, Any] | None = None,
        id: str | None = None,  # noqa: A002  the name that logs show
        time: datetime | None = None,
    ) -> Self:
        """Make an event; what is not given is filled in."""
        values = (kind, run, {} if data is None else data, id or new_id(), time or datetime.now(UTC))
        return tuple.__new__(cls, values)
