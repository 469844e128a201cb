"""How long a human may take, who is asked next, and what follows when nobody answers."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from kr_core.model.base import Value

__all__ = ["Duration", "EscalationTier", "TimeLimits", "duration_text"]

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,9})\s*([smhd])")
_CENTURY = dt.timedelta(days=36_500)
"""Beyond it date arithmetic would overflow, and nobody means it."""


def _duration(value: Any) -> Any:
    if isinstance(value, dt.timedelta):
        return value
    found = _DURATION.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("must be a duration, such as 30m, 24h or 7d")
    length = dt.timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    if not dt.timedelta() < length <= _CENTURY:
        raise ValueError(
            "must be a duration of more than nothing and at most a century, such as 30m, 24h or 7d"
        )
    return length


def duration_text(value: dt.timedelta) -> str:
    """A duration as a person writes it: `24h`."""
    seconds = int(value.total_seconds())
    unit = next(unit for unit in ("h", "m", "s") if seconds % _UNITS[unit] == 0)
    if seconds % _UNITS["d"] == 0 and seconds > _UNITS["d"]:
        unit = "d"
    return f"{seconds // _UNITS[unit]}{unit}"


def _nothing(value: Any) -> Any:
    return (
        None
        if value is False or (isinstance(value, str) and value.lower() in {"off", "no", "none"})
        else value
    )


Duration = Annotated[
    dt.timedelta, BeforeValidator(_duration), PlainSerializer(duration_text, return_type=str)
]
"""A length of time: a number with `s`, `m`, `h` or `d` behind it."""
_Names = tuple[Annotated[str, Field(min_length=1)], ...]


class EscalationTier(Value):
    """Who is asked next, once nobody has answered for a while."""

    after: Duration
    """How long after the escalation this tier begins, such as `4h`."""
    escalations: _Names = ()
    """Channels, out of those in `escalations`, that show the question from then on and not before."""
    ask: _Names = ()
    """Whom reminders address from then on, by the names that the channels use: logins for `github`. KR sends the
    first reminder at once.
    """


class TimeLimits(Value):
    """`escalation`: how long a human may take, and what follows when nobody answers.

    Times are counted from when a tentative answer was put to a human; each new one has its own.
    """

    timeout: Annotated[Duration | None, BeforeValidator(_nothing)] = None
    """The time limit of each tentative answer, such as `24h` or `7d`; `off` for none."""
    remind_every: Annotated[Duration | None, BeforeValidator(_nothing)] = dt.timedelta(hours=24)
    """How often KR reminds people of a question without an answer; `off` for never."""
    on_timeout: Literal["block", "use_answer"] = "block"
    """What happens after the time limit. `block`: the question keeps waiting, and reminders go on. `use_answer`: KR
    uses the agent's answer, with a warning, and never counts it as confirmed; without an answer, or with several, the
    question keeps waiting.
    """
    tiers: tuple[EscalationTier, ...] = ()
    """Who is asked next."""

    @model_validator(mode="before")
    @classmethod
    def _empty_is_default(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {key: value for key, value in values.items() if value is not None}

    def overridden(self, by: TimeLimits | None) -> TimeLimits:
        """These limits, but for what others say."""
        return (
            self
            if by is None
            else self.model_copy(update={key: getattr(by, key) for key in by.model_fields_set})
        )
