"""What changed between versions, as a package says it: entries of its changelog, and marks in its documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.toolkit import versions_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.toolkit import Hit, PassageIndex

_HEADING = re.compile(
    r"(?:^|§ )(?:version |release )?\[?v?(\d+(?:\.\d+){1,3})(?:[a-z]\w*)?(?![\w.])", re.IGNORECASE
)
_MARK = re.compile(
    r"(version-?(?:added|changed|removed)|deprecated(?:-removed)?|(?:added|changed|new|deprecated|removed) (?:in|since))[:|\s]{1,6}"
    r"(?:(?:in|since|version|release)\s){0,3}v?(\d+(?:\.\d+){0,3})(?![\w.]*\w)",
    re.IGNORECASE,
)
_MARKS = (
    "versionadded",
    "version-added",
    "versionchanged",
    "version-changed",
    "deprecated",
    "new in ",
    "added in ",
    "changed in ",
)
_WEIGHT = {"depr": 3, "remo": 3, "chan": 2}
"""What breaks something comes first; the text of a mark says whether it is `versionchanged` or `versionadded`."""
_MOST = 3_000
_NEWEST = 3
"""Versions of a changelog that a survey shows if its question names none."""


def changelog_entries(index: PassageIndex, versions: Sequence[str]) -> list[Hit]:
    """The sections of changelogs about versions, as they stand; what stands below a version's heading is of that version."""
    wanted = versions_between(versions)
    found: list[int] = []
    version, file, newest = "", "", list[str]()
    for number, title, where in index.headings():
        version = version if where == file else ""
        file = where
        told = _HEADING.search(title)
        if told:
            version = told[1]
            if version not in newest and len(newest) < _NEWEST:
                newest.append(version)
        is_new = bool(versions) or version in newest
        if version and is_new and wanted(version):
            found.append(number)
    return index.get(found[:_MOST])


def marked_changes(index: PassageIndex, versions: Sequence[str]) -> list[Hit]:
    """The symbols and parameters that say of themselves in which version they came, changed or were deprecated."""
    wanted = versions_between(versions)
    marked = [
        hit
        for hit in index.with_text(_MARKS, _MOST)
        if hit.passage.symbol and hit.passage.data.get("public", True)
    ]
    told: list[tuple[int, float, Hit]] = []
    for hit in marked:
        found = [what.lower() for what, version in _MARK.findall(hit.passage.text) if wanted(version)]
        if found:
            told.append(
                (
                    max(_WEIGHT.get(what.replace("version", "").lstrip("-")[:4], 1) for what in found),
                    hit.passage.prior,
                    hit,
                )
            )
    known = {hit.id for *_worth, hit in told}
    told += [(1, hit.passage.prior, hit) for hit in index.deprecated(_MOST) if hit.id not in known]
    return [hit for _weight, _prior, hit in sorted(told, key=lambda entry: entry[:2], reverse=True)]
