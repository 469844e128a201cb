"""A JSON object from a settings file, and its text again in the layout that the file has."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from kr_core.errors import ConfigError

_COMMENT = re.compile(r"//|/\*")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_LONGEST = 1_000_000
"""Characters of what is written."""
_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def load(text: str, *, where: str, by_hand: str) -> dict[str, Any]:
    """The object that a text holds; an empty one for an empty text.

    Args:
        text: of the file.
        where: the file, for messages.
        by_hand: what to do where KR would lose something, such as comments.

    Raises:
        ConfigError: the text is not a JSON object, or has what writing it again would lose.
    """
    text = text.removeprefix(_BOM)
    try:
        value = json.loads(text or "{}", object_pairs_hook=_without_doubles) if text.strip() else {}
        json.dumps(value, allow_nan=False)
    except _DoubleError as error:
        raise ConfigError(
            f"has `{error}` twice", where=where, hint="leave one of them, and run this again"
        ) from error
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        place = f"{where}:{text.count(chr(10), 0, at) + 1}"
        if _COMMENT.match(text, at):
            raise ConfigError("has comments, which would be lost", where=place, hint=by_hand) from error
        raise ConfigError(f"is not JSON: {error}", where=place, hint="mend it, and run this again") from error
    if not isinstance(value, dict):
        raise ConfigError("is not a JSON object", where=f"{where}:1", hint="mend it, and run this again")
    return value


def dump(value: dict[str, Any], *, like: str, where: str, by_hand: str) -> str:
    """The text of an object, with the indentation, line ends and byte order mark of another text.

    Raises:
        ConfigError: it would be far longer than the other text: each line can repeat a long indentation.
    """
    body = like.removeprefix(_BOM)
    found = _INDENT.search(body)
    is_one_line = "\n" not in body.strip() and bool(body.strip())
    indent = None if is_one_line else found[1] if found else "  "
    parts, left = [], _LONGEST
    for part in json.JSONEncoder(indent=indent, ensure_ascii=False).iterencode(value):
        parts.append(part)
        left -= len(part)
        if left < 0:
            raise ConfigError("would get too long to be written", where=where, hint=by_hand)
    text = "".join(parts)
    text += "\n" if body.endswith("\n") or not body.strip() else ""
    text = text.replace("\n", "\r\n") if "\r\n" in body else text
    return like[: len(like) - len(body)] + text


class _DoubleError(ValueError):
    """An object has a key twice: one of the two would be lost."""


def _without_doubles(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) < len(members):
        counts = Counter(key for key, _ in members)
        raise _DoubleError(next(key for key, count in counts.items() if count > 1))
    return value
