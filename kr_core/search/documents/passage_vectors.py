"""The vector of a passage: the sum of the vectors of its words, where its headings and its file's name count four times."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.search.word_vectors import MAX_WORDS, readable_table, row_of, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_core.search.word_vectors import WordTable

__all__ = ["rows"]

_NAMES_COUNT = 4
"""How many times a word of the headings counts; chosen on one half of ODEX."""
_NAMES, _BODY = 60, 400
"""Words of the headings and of the text that count."""
_READ = 6_000
"""Characters that hold so many words."""
assert _NAMES_COUNT * _NAMES + _BODY <= MAX_WORDS


def rows(passages: Iterable[tuple[str, str]]) -> bytes:
    """The vectors of passages, each given by its names and its text; nothing where the table cannot be read."""
    table = readable_table()
    if table is None:
        return b""
    made = bytearray()
    for names, text in passages:
        made += row_of(_named(table, names) + table.total(tokens(text[:_READ])[:_BODY])).tobytes()
    return bytes(made)


@lru_cache(256)
def _named(table: WordTable, names: str) -> int:
    # the same for one passage of a file after another
    return _NAMES_COUNT * table.total(tokens(names)[:_NAMES])
