"""Texts and values cut to what a client's model can take, by an estimate of tokens that is rather too high than too low."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from kr_core.terminal_text import cleaned, printable
from kr_core.text import BYTES_A_TOKEN, tokens

__all__ = ["DEFAULT_TOKENS", "MAX_TOKENS", "MIN_TOKENS", "TextPage", "fitted", "page_of", "tokens"]

DEFAULT_TOKENS = 8_000
MIN_TOKENS = 500
MAX_TOKENS = 20_000
"""Clients cut off what is longer than some 25,000 tokens."""
_ESCAPED = re.compile(r"\\[bfru]")
"""How JSON writes control characters, but line ends and tabs."""
_LENGTHS = (8_000, 4_000, 2_000, 1_000, 500, 250, 120)


class TextPage(NamedTuple):
    """A page of a text."""

    text: str
    number: int
    """From 1."""
    of: int
    """How many there are."""


def page_of(text: str, number: int, limit: int = DEFAULT_TOKENS) -> TextPage:
    """A page of a text, of at most so many tokens; a page ends where a line does, unless the line is longer than a page.

    Args:
        text: the whole; equal texts have equal pages.
        number: from 1; one beyond the last is empty.
        limit: tokens.
    """
    pages: list[str] = []
    lines: list[str] = []
    size = 0
    for piece in _pieces(text, limit * BYTES_A_TOKEN):
        length = len(piece.encode("utf-8", "replace"))
        if lines and size + length > limit * BYTES_A_TOKEN:
            pages.append("".join(lines))
            lines, size = [], 0
        lines.append(piece)
        size += length
    pages.append("".join(lines))
    return TextPage(pages[number - 1] if number <= len(pages) else "", number, len(pages))


def _pieces(text: str, most: int) -> list[str]:
    """The lines of a text; those that are too long are cut, never within a character."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if len(line) * 4 <= most:
            pieces.append(line)
        else:
            pieces += [line[place : place + most // 4] for place in range(0, len(line), most // 4)]
    return pieces


def fitted(value: Any, limit: int | None = DEFAULT_TOKENS) -> Any:
    """A value of plain data fit to be shown, whose longest texts are cut until it has at most so many tokens.

    Each cut says how much is gone. A limit of None is none.
    """
    text = json.dumps(value, ensure_ascii=False)
    if (
        _ESCAPED.search(text) or printable(text) is not text
    ):  # to look at each text takes longer than all the rest
        value = cleaned(value)
        text = json.dumps(value, ensure_ascii=False)
    made = value
    for length in _LENGTHS:
        if limit is None or tokens(text) <= limit:
            break
        made = _cut(value, length)
        text = json.dumps(made, ensure_ascii=False)
    return made


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        if len(value) <= length:
            return value
        mark = f" [... {len(value) - length:,} more characters]"
        return value[:length] + mark
    if isinstance(value, dict):
        return {key: _cut(item, length) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, length) for item in value]
    return value
