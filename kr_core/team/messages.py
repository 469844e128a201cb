"""The messages of a team: `NAME: {json}`, a bare name, or a JSON object that names itself in `msg_type`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kr_core.model import Fault

RESEARCH_REQUEST = "RESEARCH_REQUEST"
RESEARCH_RESULT = "RESEARCH_RESULT"
ROSTER = "AGENT_ROSTER_BROADCAST"
SHUTDOWN_REQUEST = "shutdown_request"
SHUTDOWN_RESPONSE = "shutdown_response: approve"
STATUS_REQUEST = "status_request"
STATUS_RESPONSE = "status_response"
KNOWN = (RESEARCH_REQUEST, ROSTER, SHUTDOWN_REQUEST, STATUS_REQUEST)
"""What a member of the team may send."""

_NAME_KEYS = ("msg_type", "type")
_NAMED = re.compile(r"(?P<name>\w{1,64})[ \t]*(?::(?P<body>.*))?", re.DOTALL)
_JSON_WORDS = {"true", "false", "null"}
_WITHOUT_BODY = {SHUTDOWN_REQUEST, STATUS_REQUEST}


class TeamMessage(NamedTuple):
    """A message that was understood; `body` is what its JSON says, and None where it has none."""

    name: str
    body: Any = None


def read(line: str) -> TeamMessage | Fault:
    """Read a message, of one line or of several; a fault says why it is none."""
    text = line.strip()
    if text.startswith("{"):
        body = _parsed(text)
        if isinstance(body, Fault):
            return body
        name = next((body[key] for key in _NAME_KEYS if key in body), None)
        rest = {key: value for key, value in body.items() if key not in _NAME_KEYS}
        return TeamMessage(name, rest) if isinstance(name, str) and name in KNOWN else _unknown(name)
    named = _NAMED.fullmatch(text)
    if named is None or named["name"] not in KNOWN:
        return _unknown(named["name"] if named else None)
    name = named["name"]
    if name in _WITHOUT_BODY:  # a reason may stand behind it, for people
        return TeamMessage(name)
    body = _parsed((named["body"] or "").strip())
    return body if isinstance(body, Fault) else TeamMessage(name, body)


def body_of(line: str) -> str | None:
    """The JSON with which the first line of a message begins, to be gone on with; None where there is none."""
    text = line.strip()
    if text.startswith("{"):
        return text
    named = _NAMED.fullmatch(text)
    if named is None or named["body"] is None or named["name"] in _WITHOUT_BODY:
        return None
    body = named["body"].strip()
    return body if body[:1] in {"", "{", "["} else None


def may_go_on(line: str) -> bool:
    """Whether the first line of a message has the name of one that is known, or none yet."""
    named = _NAMED.fullmatch(line.strip())
    return named is None or named["name"] in KNOWN


def is_named(line: str, *, inside: bool = False) -> bool:
    """Whether a line has a name at its beginning, as a message has: one that is known, or one with JSON or nothing behind it.

    A key of YAML or of an object without quotes has a value behind it, and mostly an indentation.

    Args:
        line: to look at.
        inside: whether a message without its end comes before, which may have such keys: another name must be in capitals.
    """
    text = line.strip()
    if text.startswith(KNOWN) and not inside:
        return True
    named = _NAMED.fullmatch(text)
    if named is None or named["name"] in KNOWN:
        return named is not None
    if line[:1].isspace() or not named["name"].isidentifier() or named["name"] in _JSON_WORDS:
        return False
    if inside and not named["name"].isupper():
        return False
    return named["body"] is None or named["body"].strip()[:1] in {"{", "["}


def has_no_body(line: str) -> bool:
    """Whether a line is a message that is its name alone, so that it may as well be a line of a text."""
    named = _NAMED.fullmatch(line.strip())
    return named is not None and named["name"] in _WITHOUT_BODY


def written(name: str, body: Mapping[str, Any]) -> str:
    """A message as one line, without its end."""
    return f"{name}: {json.dumps(body, ensure_ascii=False, allow_nan=False)}"


def not_a_message(detail: str) -> Fault:
    """What to say of a line that cannot be read at all."""
    return Fault(type="validation_error", field="message", message=f"Validation failed: message: {detail}")


def _parsed(text: str) -> dict[str, Any] | Fault:
    try:
        value = json.loads(text, parse_float=_number, parse_constant=_number)
    except (ValueError, RecursionError) as error:
        return not_a_message(f"is not JSON: {error}" if text else "has no JSON behind its name")
    return value if isinstance(value, dict) else not_a_message("its JSON must be an object")


def _number(text: str) -> float:
    """A number that JSON has a form for: what is too large for one, or is none, could not be written again."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is no number that can be used")
    return value


def _unknown(name: object) -> Fault:
    said = f"unknown message {name!r:.80}" if name is not None else "not a message"
    return Fault(type="unknown_message", field="message", message=f"{said}; known are {', '.join(KNOWN)}")


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
