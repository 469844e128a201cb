"""The chain of hashes over a journal's events: what it is made of, and what it shows.

The hash of an event is SHA-256 over the hash of the event before it (32 zero bytes for the first) and, in UTF-8, a line
with the lengths in characters of its id, time, run and kind, and these four and its data as they are stored:

    18 32 16 11
    <id><time><run><kind><data>

The lengths keep a text from being moved from one of them to the next. Who can write the file can also make the chain
again: it shows accidents and careless hands, and a forger to those who have kept one of the hashes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kr_core.plugin import Issue
from kr_plugins.journals.sqlite_append import link

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["START", "feature_of", "flaws", "link"]

START = bytes(32)
_MOST = 1000
"""The most flaws to show; they are enough to tell a record that is wrong."""
_COMPARE = "compare it with a log (.kr/log.jsonl) or a backup"

_Stored = tuple[int, str, str, str, str, str, str | None, bytes]


def feature_of(data: Any) -> str | None:
    """What an event is listed by; None where its data names no feature."""
    feature = data.get("feature_id") if isinstance(data, dict) else None
    return feature if isinstance(feature, str) and feature else None


def flaws(rows: Iterable[_Stored], *, last: int, dense_after: int) -> list[Issue]:
    """What is wrong with a record, entry by entry; at most 1000 flaws.

    Args:
        rows: number, id, time, run, kind, data, feature and hash of each event, in order.
        last: the highest number that was ever given.
        dense_after: up to this number some may have been left out.
    """
    found: list[Issue] = []
    number, before = 0, START
    for this, *row, feature, told in rows:
        if this != number + 1 and this > dense_after:
            found.append(_missing(max(number, dense_after) + 1, this - 1))
        number = this
        if link(before, *row) != told:
            found.append(
                Issue(
                    "altered",
                    f"entry {number}",
                    "it does not follow from the entry before it: one of the two was altered, added or moved, or one "
                    "between them was taken out",
                    _COMPARE,
                )
            )
        elif not _listed_rightly(row[-1], feature):
            found.append(
                Issue("altered", f"entry {number}", "it is listed by another feature than its own", _COMPARE)
            )
        before = told
        if len(found) >= _MOST:
            return found
    if number < last:
        found.append(_missing(number + 1, last))
    return found


def _missing(first: int, last: int) -> Issue:
    said = "it is missing" if first == last else f"it and those up to entry {last} are missing"
    return Issue("missing", f"entry {first}", said, _COMPARE)


def _listed_rightly(data: str, feature: str | None) -> bool:
    if feature is None and '"feature_id"' not in data:
        return True
    return feature_of(json.loads(data)) == feature
