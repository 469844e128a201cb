"""The texts of lock files as plain values; what cannot be parsed is `UnreadableError`, with the line."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from kr_core.project.lockfiles.pins import UnreadableError

LIMIT_CHARACTERS = 3_000_000
"""What tomllib takes some seconds for."""
_AT_LINE = re.compile(r"(?<!\s)\s*+\(at (?:line (\d+), column \d+|end of document)\)")
_ARTIFACTS = re.compile(r"^(?:wheels|files|sdist) = (?:\[\n(?:[ \t].*\n)*+\]|\{.*\})$", re.MULTILINE)
"""Addresses and hashes, one to a line, as uv, Poetry and PDM write them: nine tenths of their lock files."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_STRING = r'"[^"\\\x00-\x1f\x7f]*+"'
_KEY = rf"(?:[\w-]++|{_STRING})"
_ATOM = rf"(?:{_STRING}|true|false|[1-9][0-9]*+)"
_FLAT = rf"\[(?:{_ATOM}(?:, {_ATOM})*+)?\]"
_INLINE = rf"\{{ ?{_KEY} = (?:{_ATOM}|{_FLAT})(?:, {_KEY} = (?:{_ATOM}|{_FLAT}))*+ ?\}}"
_LIST = rf"\[\n(?: +(?:{_ATOM}|{_INLINE}),\n)*+\]"
_LINE = rf"(?:{_KEY} = (?:{_ATOM}|{_FLAT}|{_INLINE}|{_LIST}))?\n"
_NOT_TOLD = r"(?:dependencies|optional-dependencies|extras|source)"
_PACKAGE = re.compile(
    rf"^\[\[package\]\]\n(?P<own>(?:{_LINE})++)(?:\[package\.{_NOT_TOLD}\]\n(?:{_LINE})*+)*+(?=\[(?!package\.)|\Z)",
    re.MULTILINE | re.ASCII,
)
"""A package as the tools write it. Whatever else TOML may look like is left to tomllib."""
_TOLD = re.compile(
    rf"^(name|version|source|resolution-markers|category|groups|markers?|python-versions|path) = ({_STRING}|{_FLAT}|{_INLINE}|{_LIST})$",
    re.MULTILINE | re.ASCII,
)
"""What readers want to know of a package that is no member of the workspace."""
_ELSEWHERE = re.compile(r'"|\{ ?(?:registry|git|url) = ')
"""The source of a package that is no member: Cargo writes a text, uv a table."""


def parse_json(text: str) -> dict[str, Any]:
    """Parse JSON.

    Raises:
        UnreadableError: it is no JSON, or no object.
    """
    import json

    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"no JSON: {error.msg}", error.lineno) from None
    if not isinstance(found, dict):
        raise UnreadableError("no object in JSON", 1)
    if escape := _SURROGATE.search(text):  # two of them are a character, one alone is none
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            line = text.count("\n", 0, escape.start()) + 1
            raise UnreadableError("half of a character in JSON", line) from None
    return found


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises:
        UnreadableError: it is no TOML.
    """
    return _parsed(_without_artifacts(text))


def parse_packages(text: str, *, members: bool) -> dict[str, Any]:
    """Parse a lock file in TOML with a list `package`, which comes in any order.

    tomllib reads some 3 MB a second, and 10,000 packages keep a command waiting. So packages that stand in the form in
    which the tools write them are read here, and tomllib reads the rest. Of such a package only those keys are told
    that a reader looks at.

    Args:
        text: of the file.
        members: whether packages without a source elsewhere are members of the workspace, told with all their keys.

    Raises:
        UnreadableError: it is no TOML.
    """
    whole = _without_artifacts(text)
    if '"""' in whole or "'''" in whole:  # what looks like a package may be a part of a text
        return _parsed(whole)
    packages: list[dict[str, Any]] = []

    def taken(found: re.Match[str]) -> str:
        told = _TOLD.findall(found["own"])
        values = dict(told)
        is_member = members and not _ELSEWHERE.match(values.get("source", ""))
        is_one = found[0].count("\nname = ") == 1  # two where the line between them was lost
        if is_member or not is_one or "name" not in values or len(values) < len(told):
            return found[0]
        packages.append({key: _value(value) for key, value in told})
        return ""

    rest = _PACKAGE.sub(taken, whole)
    try:
        data = _parsed(rest)
    except UnreadableError:
        return _parsed(whole)  # which knows the line
    listed = data.get("package", [])
    return {**data, "package": [*packages, *listed]} if isinstance(listed, list) else _parsed(whole)


def _value(text: str) -> Any:
    return text[1:-1] if text.startswith('"') else _compound(text)


@lru_cache(maxsize=64)
def _compound(text: str) -> Any:
    """A list or a table; most packages of a file have the same few."""
    from kr_core.toml_text import load_toml

    return load_toml(f"value = {text}")["value"]


def _without_artifacts(text: str) -> str:
    return _ARTIFACTS.sub(lambda found: "\n" * found[0].count("\n"), text.replace("\r\n", "\n"))


def _parsed(plain: str) -> dict[str, Any]:
    import tomllib

    from kr_core.toml_text import LongKeyError, load_toml

    if len(plain.replace("\n", "")) > LIMIT_CHARACTERS:
        raise UnreadableError(f"more than {LIMIT_CHARACTERS // 1_000_000} MB without addresses and hashes")
    try:
        return load_toml(plain)
    except LongKeyError as error:
        raise UnreadableError(str(error), error.line) from None
    except tomllib.TOMLDecodeError as error:
        said = str(error).partition("\n")[0]
        at = _AT_LINE.search(said)
        line = int(at[1]) if at and at[1] else plain.count("\n") + 1
        raise UnreadableError(f"no TOML: {_AT_LINE.sub('', said)}", line) from None
