"""What the metadata of a distribution answers: whether it supports a version of Python, its extras, what it depends on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_MOST_LISTED = 30
_LONGEST = 300
"""Characters of a field; one that people write has a third."""
_MICROS = 60
"""No minor version of Python had as many releases."""
_VERSION = re.compile(r"\bpython (?:version\s)?v?(\d+(?:\.\d+){0,2})\b", re.IGNORECASE)
_EXTRA = re.compile(r"\bextra\s*+==")
_ASKS = re.compile(
    r"\b(?:supports?|works?|runs?|needs?|requires?|compatible|installs?|use|available|minimum|lowest|oldest|which|what)\b"
    r".{0,80}\b(?P<python>python (?:version\s)?v?\d[\d.]*|python versions?|versions? of python)\b|\b(?:minimum|lowest|oldest) (?P<least>python)\b"
    r"|\b(?:which|what)\b.{0,40}\b(?P<extras>extras|optional dependencies)\b"
    r"|\b(?:which|what) (?P<needed>packages|dependencies|distributions|libraries)\b.{1,60}\b(?:depend|need|require|install)",
    re.IGNORECASE,
)


def metadata_field(asking: str) -> str:
    """The field of the metadata that answers a question; empty where none does.

    Args:
        asking: the sentences that ask.
    """
    asks = _ASKS.search(asking)
    if asks is None:
        return ""
    if asks["python"] or asks["least"]:
        return "Requires-Python"
    return "Provides-Extra" if asks["extras"] else "Requires-Dist"


def requirement(asked: AskedWords, passage: Passage) -> tuple[str, list[str], list[str]] | None:
    """The sentence that answers, the lines that it quotes, and its parts that are verbatim in them.

    Args:
        asked: the question.
        passage: lines of METADATA, as the core metadata specification has them.
    """
    field = metadata_field(asked.parsed.asking)
    lines = [line.partition(": ") for line in passage.text.split("\n")]
    values = [
        value
        for name, _colon, value in lines
        if name == field and len(value) <= _LONGEST and "`" not in value
    ]
    if field == "Requires-Dist":
        values = [value for value in values if not _EXTRA.search(value)]
    if not values:
        return None
    if field != "Requires-Python":
        shown = values[:_MOST_LISTED]
        text = f"`{field}`: {', '.join(f'`{value}`' for value in shown)}."
        return text, [f"{field}: {value}" for value in shown], [field, *shown]
    verdict = _supports(values[0], _VERSION.search(asked.parsed.asking))
    text = f"{verdict}`{field}` is `{values[0]}`."
    return text, [f"{field}: {values[0]}"], [field, values[0]]


def _supports(given: str, asked: re.Match[str] | None) -> str:
    """`Yes: ` or `No: `, where all releases of the version that is asked about are admitted, or none."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if asked is None or asked[1].count(".") < 1:
        return ""
    releases = [asked[1]] if asked[1].count(".") > 1 else [f"{asked[1]}.{micro}" for micro in range(_MICROS)]
    try:
        admitted = SpecifierSet(given)
        found = [admitted.contains(release, prereleases=True) for release in releases]
    except InvalidSpecifier:
        return ""
    return "Yes: " if all(found) else "" if any(found) else "No: "
