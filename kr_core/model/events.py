"""Typed events: what every stage says before and after its work."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from pydantic import Field

from kr_core.model.base import Value


def new_id() -> str:
    """A fresh identifier, 16 hexadecimal digits."""
    return secrets.token_hex(8)


class Event(Value):
    """Something that happened in a run.

    `kind` is `noun.verb` (`source.started`, `report.kept`); `data` holds JSON values only.
    """

    kind: str
    run: str
    data: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=new_id)
    time: datetime = Field(default_factory=lambda: datetime.now(UTC))
