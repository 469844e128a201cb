"""Who is in the team; good to know, and nothing follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kr_core.model import Fault

_GROUPS = ("residents", "slaves", "temps")
_MOST = 10_000


class Roster(NamedTuple):
    """The members of a team by kind."""

    residents: tuple[str, ...] = ()
    slaves: tuple[str, ...] = ()
    temps: tuple[str, ...] = ()

    @classmethod
    def read(cls, body: Any) -> Roster | Fault:
        """Read the JSON of `AGENT_ROSTER_BROADCAST`; a group that is left out is empty."""
        roster = body.get("roster") if isinstance(body, Mapping) else None
        if not isinstance(roster, Mapping):
            return _fault("roster", f"must be an object with {', '.join(_GROUPS)}")
        groups = {name: roster.get(name, []) for name in _GROUPS}
        for name, members in groups.items():
            if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
                return _fault(f"roster.{name}", "must be a list of names")
            if len(members) > _MOST:
                return _fault(f"roster.{name}", f"must be a list of at most {_MOST} names")
        return cls(**{name: tuple(members) for name, members in groups.items()})

    @property
    def told(self) -> str:
        """How many there are of each kind."""
        return f"{len(self.residents)} residents, {len(self.slaves)} slaves, {len(self.temps)} temps"

    def to_dict(self) -> dict[str, list[str]]:
        """The names by kind."""
        return {name: list(members) for name, members in self._asdict().items()}


def _fault(field: str, detail: str) -> Fault:
    return Fault(type="validation_error", field=field, message=f"Validation failed: {field}: {detail}")
