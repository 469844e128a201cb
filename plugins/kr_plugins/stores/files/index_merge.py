"""Two versions of an index made one, entry by entry: for git's merge driver, and for a file with the marks of a conflict.

Git merges lines. Two answers that are added on two branches end at the same place of the file, and a day of use that changes on
both is one line: each a conflict, though nothing contradicts.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from kr_plugins.stores.files.index import ARCHIVED, LIVE, Index, IndexRow
from kr_plugins.stores.files.index_edit import edited, read
from kr_plugins.stores.files.index_file import UnreadableIndexError, parse

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from datetime import date

_ARCHIVED = re.compile(rf"^{ARCHIVED}:", re.MULTILINE)
_MARKS = {"<<<<<<<": "ours", "|||||||": "base", "=======": "theirs", ">>>>>>>": ""}
_LEAST, _MOST = ("created",), ("last_accessed",)
"""Of a day that changed on both sides the earlier or the later one is right."""


def merge_indexes(base: str, ours: str, theirs: str, *, undated: date) -> Index:
    """Merge two versions of an index.

    What changed on one side only is taken from there. Of an entry that changed on both, each value is merged by itself; of two
    new values, that of the side which used the entry last.

    Args:
        base: what both come from; empty where that is not known.
        ours: the text of one side, whose order and layout stay.
        theirs: the text of the other.
        undated: the day of an entry that has none.

    Raises:
        UnreadableIndexError: a text is not an index, or the keys beside the list changed on both sides.
    """
    key = ARCHIVED if _ARCHIVED.search(ours) or _ARCHIVED.search(theirs) else LIVE
    old, mine, other = (
        parse(text, key=key, header={}, undated=undated) for text in (base, ours or theirs, theirs)
    )
    frame = _frame(old if base.strip() else None, mine, other)
    before, here, there = _by_key(old), _by_key(mine), _by_key(other)
    rows = []
    for name, row in here.items():
        if name in there:
            rows.append(_merged(before.get(name), row, there[name], frame.indent, undated))
        elif name not in before or not _same(before[name], row):
            rows.append(row)
    for name, row in there.items():
        if name not in here and (name not in before or not _same(before[name], row)):
            rows.append(row)
    moved = [row if row.text.startswith(f"{frame.indent}- ") else IndexRow("", row.read) for row in rows]
    return frame.with_rows(moved)


def resolve_conflict(text: str, *, undated: date) -> Index | None:
    """The index of a file with the marks of a merge conflict, of both sides; None where the sides cannot be read."""
    sides: dict[str, list[str]] = {"ours": [], "base": [], "theirs": []}
    at, has_base = "", False
    for line in text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n").split("\n"):
        mark = line[:7] if line[7:8] in {" ", ""} else ""
        if mark in _MARKS and (at or mark == "<<<<<<<"):
            at = _MARKS[mark]
            has_base = has_base or at == "base"
            continue
        for side in [at] if at else sides:
            sides[side].append(line)
    ours, base, theirs = ("\n".join(sides[side]) for side in ("ours", "base", "theirs"))
    try:
        return merge_indexes(base if has_base else "", ours, theirs, undated=undated)
    except UnreadableIndexError:
        return None


def _frame(old: Index | None, mine: Index, other: Index) -> Index:
    """The side whose text before and after the list counts."""
    ours, theirs = (index.with_rows(()).text() for index in (mine, other))
    base = old.with_rows(()).text() if old else ours
    if ours == base and old:
        return other
    if old and theirs not in {base, ours}:
        raise UnreadableIndexError("the keys beside the list were changed on both sides", 1)
    return mine


def _by_key(index: Index) -> dict[Hashable, IndexRow]:
    """The rows by what tells them apart; of several with the same the first, the second ..."""
    seen: Counter[Hashable] = Counter()
    found: dict[Hashable, IndexRow] = {}
    for row in index.rows:
        key = row.key or repr(row.read.item)
        seen[key] += 1
        found[key, seen[key]] = row
    return found


def _same(one: IndexRow, other: IndexRow) -> bool:
    return (bool(one.text) and one.text.strip() == other.text.strip()) or one.read.item == other.read.item


def _merged(
    before: IndexRow | None, ours: IndexRow, theirs: IndexRow, indent: str, undated: date
) -> IndexRow:
    if _same(ours, theirs) or (before and _same(before, theirs)):
        return ours
    if before and _same(before, ours):
        return theirs
    old = before.read.item if before and isinstance(before.read.item, dict) else {}
    item = _values(old, ours.read.item, theirs.read.item)
    return IndexRow(edited(ours.text, indent, ours.read.item, item), read(item, undated))


def _values(old: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an entry that changed on both sides."""
    later = theirs if str(theirs.get("last_accessed")) > str(ours.get("last_accessed")) else ours
    found: dict[str, Any] = {}
    for key in dict.fromkeys([*ours, *theirs]):
        mine, other = ours.get(key), theirs.get(key)
        if key in (*_LEAST, *_MOST) and isinstance(mine, str) and isinstance(other, str):
            found[key] = (min if key in _LEAST else max)(mine, other)
        elif mine == other or other == old.get(key):
            found[key] = mine
        else:
            found[key] = other if mine == old.get(key) else later.get(key)
    return {key: value for key, value in found.items() if value is not None}
