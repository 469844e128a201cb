"""What a broken index still tells: its head, and the items that can be read one by one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.toolkit import yaml_text
from kr_plugins.stores.files.entries import read
from kr_plugins.stores.files.index import BOM
from kr_plugins.stores.files.index_edit import item_of
from kr_plugins.stores.files.index_parser import CONFLICT_MARK, UnreadableIndexError, parse
from kr_plugins.stores.files.index_row import IndexRow

if TYPE_CHECKING:
    from datetime import date

    from kr_plugins.stores.files.index import Index

_MOST_LINES = 60
"""So many lines of an item are tried where a file is broken; KR's own have about a dozen."""
_MOST_SALVAGED = 10_000
"""Pieces of a broken index that are tried one by one."""
_MOST_TRIED = 10_000_000
"""Characters that are tried in all: a piece that is broken itself is tried once for each of its lines."""
_TRY = 500
"""Characters that are read in the time that each attempt takes besides."""


def head_of(text: str, key: str, new: Index, undated: date) -> Index:
    """An empty index with the comments and keys before the list of a broken file, as far as they can be read."""
    text = _without_marks(text)
    found = re.search(rf"^{key}:", text, re.MULTILINE)
    if found is None:
        return new
    try:
        return parse(f"{text[: found.start()]}{key}: []\n", key=key, header=new.header or {}, undated=undated)
    except UnreadableIndexError:
        return new


def salvaged(text: str, undated: date) -> list[IndexRow]:
    """The items of a broken index file that can still be read one by one.

    The marks of a merge conflict are passed over, so that both sides count.
    """
    left = [_MOST_TRIED]
    found = (read(_item(chunk, left), undated) for chunk in _chunks(_without_marks(text)))
    return [IndexRow("", made) for made in found if made.entry is not None]


def _without_marks(text: str) -> str:
    text = text.removeprefix(BOM).replace("\r\n", "\n")
    return "".join(line for line in text.splitlines(keepends=True) if not CONFLICT_MARK.match(line))


def _item(chunk: str, left: list[int]) -> Any:
    """What a piece of a broken file says; where it cannot be read, what its lines before the break say."""
    lines = chunk.splitlines(keepends=True)[:_MOST_LINES]
    while lines:
        tried = "".join(lines)
        left[0] -= len(tried) + _TRY
        if left[0] < 0:
            return None
        try:
            return item_of(tried)
        except (yaml_text.YAMLError, ValueError, RecursionError):
            lines.pop()
    return None


def _chunks(text: str) -> list[str]:
    """The text cut wherever the least indented dashes stand."""
    dashes = list(re.finditer(r"^( *)- ", text, re.MULTILINE))
    if not dashes:
        return []
    indent = min((dash.group(1) for dash in dashes), key=len)
    starts = [dash.start() for dash in dashes if dash.group(1) == indent][: _MOST_SALVAGED + 1]
    chunks = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)][:_MOST_SALVAGED]
    # Where the list ends, or the file was cut off, what follows is none of the item's.
    return [
        re.split(rf"^(?!{indent}[ -]|[^\S\n]*+(?:$|#))", chunk, maxsplit=1, flags=re.MULTILINE)[0]
        for chunk in chunks
    ]
