"""What a model wrote, read against the form that it was asked for; nothing is guessed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from kr_core.net.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.model.questions import Reply

__all__ = ["BadReplyError", "OutsideError", "answer_schema", "chosen", "read"]

_MAX_STARTS = 50
"""Braces in prose at which an object is looked for."""
_SHOWN = 200
_LOOKED_AT = 20_000
"""Characters of a reply in which secrets are looked for before so many are shown: half a secret looks like none."""
_MAX_DIGITS = 1000
"""Python reads 4,300 at most, if nobody has set it otherwise."""
_MAY_BE_MISSING = frozenset({"uncertainty_reasons"})
"""Who says nothing of doubts has none."""


class BadReplyError(Exception):
    """A reply is not in the form that was asked for; says what is wrong, for the model to mend."""


class OutsideError(BadReplyError):
    """A reply is in due form but for its answer, which is none of the choices.

    Args:
        fault: what is wrong.
        fields: the reply.
    """

    def __init__(self, fault: str, fields: dict[str, Any]) -> None:
        super().__init__(fault)
        self.fields = fields


def answer_schema(choices: Sequence[str] = ()) -> dict[str, Any]:
    """The form of an answer as a JSON schema: one flat object.

    Args:
        choices: the answers to choose from, if any.
    """
    answer: dict[str, Any] = {"type": "string", "description": "the answer itself"}
    if choices:
        answer = {"type": "string", "enum": list(choices), "description": "the choice, word for word"}
    return {
        "type": "object",
        "properties": {
            "answer": answer,
            "rationale": {"type": "string", "description": "why, in a few sentences"},
            "confidence": {
                "type": "integer",
                "description": "0 to 100: of a hundred answers given with this confidence, so many are right",
            },
            "uncertainty_reasons": {
                "type": "array",
                "items": {"type": "string"},
                "description": "what would have to be known to be sure; empty if nothing",
            },
        },
        "required": ["answer", "rationale", "confidence", "uncertainty_reasons"],
        "additionalProperties": False,
    }


def read(reply: Reply, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object of a reply: what the service handed over apart, or else the one object in its text.

    The object may stand in a fence or in prose. `confidence` may be missing or wrong: that is no fault of form but an
    answer that nobody is sure of.

    Raises:
        OutsideError: only the answer is wrong: it is none of the choices.
        BadReplyError: there is none, there are several that differ, or it is not in the form asked for.
    """
    outside = ""
    found = reply.data if reply.data is not None else _object_in(reply.text, schema)
    for name, asked in schema["properties"].items():
        if name == "confidence":  # read by `read_confidence`: what cannot be read is nobody's fault of form
            continue
        if name not in found:
            if name in _MAY_BE_MISSING:
                continue
            raise BadReplyError(f"`{name}` is missing")
        fault = _fault(found[name], asked)
        if fault and "enum" in asked and isinstance(found[name], str):
            outside = f"`{name}` {fault}"
        elif fault:
            raise BadReplyError(f"`{name}` {fault}")
    if not str(found.get("answer", "x")).strip():
        raise BadReplyError("`answer` is empty")
    if outside:
        raise OutsideError(outside, found)
    return found


def chosen(content: str, choices: Sequence[str]) -> str | None:
    """The choice that an answer is, or None where it is none of them."""
    folded = " ".join(content.split()).casefold()
    return next((choice for choice in choices if " ".join(choice.split()).casefold() == folded), None)


def _fault(value: Any, asked: Mapping[str, Any]) -> str:
    if asked["type"] == "string":
        if not isinstance(value, str):
            return "must be text"
        if "enum" in asked and chosen(value, asked["enum"]) is None:
            said = " ".join(redacted(value[:_LOOKED_AT]).split())[:_SHOWN]
            return f"is `{said}` and must be one of: {'; '.join(asked['enum'])}"
    if asked["type"] == "array" and not (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ):
        return "must be a list of texts"
    return ""


def _object_in(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if not text.strip():
        raise BadReplyError("the reply is empty")
    whole = _loaded(text)
    if isinstance(whole, dict):
        return whole
    found = [one for one in _objects(text) if "answer" in one or "answer" not in schema["properties"]]
    different = [one for number, one in enumerate(found) if one not in found[:number]]
    if len(different) > 1:
        raise BadReplyError("there are several objects that differ; write one")
    if not different:
        shown = " ".join(redacted(text[:_LOOKED_AT]).split())[:_SHOWN]
        raise BadReplyError(f"there is no whole JSON object in the reply, which begins: {shown}")
    return different[0]


def _objects(text: str) -> list[dict[str, Any]]:
    """The outermost objects in a text, in fences or in prose; none where the text is cut off within one.

    What stands inside of an object that cannot be read is a part of something: it is never taken for the whole.
    """
    found: list[dict[str, Any]] = []
    position = 0
    for _ in range(_MAX_STARTS):
        start = text.find("{", position)
        if start < 0:
            break
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = _closed(text, start)
            if not position:
                return []
            continue
        found.append(value)
    return found


def _closed(text: str, start: int) -> int:
    """Where the brace at `start` is closed, past its closing one; 0 where it never is."""
    depth = 0
    for found in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if not depth:
            return found.end()
    return 0


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_single, parse_int=_whole)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int:
    """A whole number; of one that Python would not read the first digits, which are far too many for a confidence."""
    return int(digits[:_MAX_DIGITS])


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ: readers of JSON do not agree which of two values under one name counts."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise BadReplyError(f"`{name[:_SHOWN]}` stands twice in one object")
        fields[name] = value
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_single, parse_int=_whole)
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}]', re.DOTALL)
"""Braces, and texts, whose braces are none."""
