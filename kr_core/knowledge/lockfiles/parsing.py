"""The texts of lock files as plain values; what cannot be parsed is `Unreadable`, with the line."""

from __future__ import annotations

import re
from typing import Any

from kr_core.knowledge.lockfiles.pins import Unreadable, table

LIMIT_CHARACTERS = 3_000_000
"""What tomllib takes some seconds for: 20,000 packages of a `uv.lock`."""
_AT_LINE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
_ARTIFACTS = re.compile(r"^(?:wheels|files|sdist) = (?:\[\n(?:[ \t]+.*\n)*\]|\{.*\})$", re.MULTILINE)
"""Addresses and hashes, one to a line, as uv, Poetry and PDM write them: nine tenths of their lock files."""


def parse_json(text: str) -> dict[str, Any]:
    """Parse JSON; what is no object at its top is an empty one.

    Raises:
        Unreadable: it is no JSON.
    """
    import json

    try:
        return table(json.loads(text))
    except json.JSONDecodeError as error:
        raise Unreadable(f"no JSON: {error.msg}", error.lineno) from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        Unreadable: it is no TOML.
    """
    import tomllib

    # tomllib reads about 600 KB a second; without what names no version, a lock file takes a tenth of that.
    plain = _ARTIFACTS.sub(lambda found: "\n" * found[0].count("\n"), text.replace("\r\n", "\n"))
    if len(plain.replace("\n", "")) > LIMIT_CHARACTERS:
        raise Unreadable(f"more than {LIMIT_CHARACTERS // 1_000_000} MB without addresses and hashes")
    try:
        return tomllib.loads(plain)
    except tomllib.TOMLDecodeError as error:
        said = str(error).partition("\n")[0]
        at = _AT_LINE.search(said)
        line = int(at[1]) if at and at[1] else plain.count("\n") + 1
        raise Unreadable(f"no TOML: {_AT_LINE.sub('', said)}", line) from None
