"""Text from outside made fit to be shown: nothing in it steers a terminal, turns the reading direction or breaks UTF-8."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO, Any

_UNPRINTABLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSEEN = "\u180b-\u180f\u200b-\u200f\u2060-\u2065\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
_HIDDEN = re.compile(
    rf"[{_UNSEEN}](?:[{_UNSEEN}]{{2,}}|(?<=[\U000e0100-\U000e01ef])(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff].))"
)
"""Three invisible characters in a row, or a variant of a letter that is not an ideograph: no language needs them, and they can encode text."""


def printable(text: str) -> str:
    """A text with U+FFFD for control characters (but newline and tab), bidi controls, tags, hidden runs and lone surrogates.

    Tags (U+E0000 to U+E007F) are letters that nobody sees but a language model; a run of variation selectors or of characters
    without width can encode such letters. A carriage return before a newline ends a line, and goes.
    """
    if not text.isascii():
        text = _HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
    if _UNPRINTABLE.search(text) is None:
        return text
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def finalized(value: Any) -> Any:
    """A value that a template puts into a page; what is markup already was made printable before."""
    return printable(value) if type(value) is str else value


def cleaned(value: Any) -> Any:
    """A value of plain data with every text in it made printable; anything else stays as it is."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [cleaned(item) for item in value]
    return value


def columns(stream: IO[str], otherwise: int) -> int:
    """The columns of the terminal that a stream goes to; another number where it is none, or does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or otherwise
    except (OSError, ValueError):
        return otherwise
