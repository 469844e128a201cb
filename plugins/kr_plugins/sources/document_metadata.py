"""What a document says of itself before its first section: of what and of which version it is, and of which day."""

from __future__ import annotations

import re
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DocumentMetadata", "is_site", "stated", "stated_by_page"]

_MOST_LINES = 40
"""Of front matter, and of what stands before the first section."""
_FRONT = re.compile(r"---[ \t]*\Z")
_FRONT_END = re.compile(r"(?:---|\.\.\.)[ \t]*\Z")
_FIELD = re.compile(
    r"[ \t:*_>-]{0,4}([A-Za-z][A-Za-z _-]{2,20}?)[*_]{0,2}:[*_]{0,2}[ \t]+(\S.{0,60}?)[ \t*_.]*\Z"
)
"""`Version: 1.8`, `**Date:** 2026-02-19`, `:Date: 2026-02-19`."""
_VERSION = re.compile(r"[vV]?(\d{1,8}(?:\.\d{1,8}){0,4}(?:[-+.]?[A-Za-z][\w.]{0,20})?)\Z")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ][\d:.+Z-]{1,30})?\Z")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_NUMBERED = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAY_IN_WORDS = re.compile(rf"(?:{_NUMBERED} {_NAMED}|{_NAMED} {_NUMBERED}),? (\d{{4}})\Z", re.IGNORECASE)
"""`5 Mar 2024`, `March 5, 2024`. Of `03/05/2024` nobody knows which is the month."""
_VERSIONS = frozenset(("version", "document version"))
_DAYS = frozenset(
    (
        "date",
        "updated",
        "last updated",
        "last update",
        "last modified",
        "lastmod",
        "revised",
        "effective date",
    )
)
_OF_VERSION = re.compile(r"([A-Za-z][\w.+-]{0,40}) v?(\d{1,4}(?:\.\d{1,4}){1,3}\w{0,6}) [Dd]ocumentation\b")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_RULE = re.compile(r"([=\-~^*#+])\1{2,}[ \t]*\Z")
_FENCE = ("```", "~~~")


class DocumentMetadata(NamedTuple):
    """What a document says of itself."""

    version: str | None = None
    dated: date | None = None
    product: str = ""
    """What it is the documentation of, where it says so beside the version."""


def stated(text: str) -> DocumentMetadata:
    """The version and the day that a text states in its front matter, or in lines of their own above its first section.

    Args:
        text: how a document in Markdown, reStructuredText or plain text begins.
    """
    version, day = None, None
    for name, value in _fields(text):
        if name in _VERSIONS and version is None and (found := _VERSION.match(value)):
            version = found[1]
        elif name in _DAYS and day is None:
            day = _day(value)
    return DocumentMetadata(version, day)


def stated_by_page(html: str) -> DocumentMetadata:
    """What a page of built documentation states: `Python 3.11.2 documentation`, `Node.js v18.20.4 Documentation`.

    Args:
        html: how the page begins.
    """
    found = _OF_VERSION.search(html)
    return DocumentMetadata(found[2], product=found[1]) if found else DocumentMetadata()


def is_site(heading: str) -> bool:
    """Whether a heading says of what all pages of a site are, and nothing of its own page."""
    return _OF_VERSION.fullmatch(heading) is not None


def _day(said: str) -> date | None:
    """The day that is written so, in figures or with the month's name."""
    try:
        if found := _DAY.match(said):
            return date.fromisoformat(found[1])
        if found := _DAY_IN_WORDS.match(said):
            month = _MONTHS.index((found[2] or found[3])[:3].casefold()) + 1
            return date(int(found[5]), month, int(found[1] or found[4]))
    except ValueError:  # the thirtieth of February
        pass
    return None


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Names and values, in order."""
    for line in _head(text):
        if found := _FIELD.match(line):
            name = re.sub(r"[ _-]+", " ", found[1]).strip().casefold()
            yield name, found[2].strip("\"'")


def _head(text: str) -> Iterator[str]:
    """The lines of the front matter, and those up to the first section; the title is no section, and code ends it too."""
    lines = iter(text.removeprefix("\ufeff").splitlines())
    first = next(lines, "")
    if _FRONT.match(first):
        for line in islice(lines, _MOST_LINES):
            if _FRONT_END.match(line):
                break
            yield line
        else:
            return
        first = next(lines, "")
    headings, before = 0, ""
    for line in islice((one for part in ([first], lines) for one in part), _MOST_LINES):
        headings += bool(_HEADING.match(line)) or bool(
            _RULE.match(line) and before.strip() and not _RULE.match(before)
        )
        if headings > 1 or line.lstrip().startswith(_FENCE):
            return
        yield line
        before = line
