"""Text from outside made fit to be shown: nothing in it steers a terminal, turns the reading direction or breaks UTF-8."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Screen",
    "cleaned",
    "columns",
    "fence_around",
    "finalized",
    "one_line",
    "printable",
    "screened",
]

_UNPRINTABLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKS = re.compile("[\n-\r\x1c-\x1f\x85\u2028\u2029]+")
_CONTROLS = re.compile("[\0-\x08\x0e-\x1b\x7f-\x9f]")
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


def one_line(text: str) -> str:
    """A text that fills part of a line: a blank for each run of line breaks, and U+FFFD for control characters (but tab)."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text))


def fence_around(text: str) -> str:
    """The fence of a block of Markdown with a text: longer than any in it, so that nothing in it ends the block."""
    return "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))


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


_STYLE = r"\x1b\[(?:(?!0*8[;m])[0-9]{1,3}(?:;(?!0*8[;m])[0-9]{1,3})*)?m"
"""Colours and the like (SGR), but what would hide a text."""
_MOVE = r"\r|\x1b\[[0-9]{0,3}[AK]|\x1b\[\?25[hl]"
"""What a line of progress needs: go to its start or up, take it away, hide the cursor."""
_PLAIN = re.compile("(?!)()")
_STYLED = re.compile(f"({_STYLE})")
_MOVING = re.compile(f"({_STYLE}|{_MOVE})")


def screened(text: str, kept: re.Pattern[str]) -> str:
    """A text in which nothing but what is kept, the pattern's one group, steers a terminal."""
    if printable(text) is text:
        return text
    parts = kept.split(text.replace("\r\n", "\n"))
    parts[::2] = map(printable, parts[::2])
    return "".join(parts)


class Screen:
    """A stream of text whose every text is cleaned before it is written; on a terminal, styling stays.

    Standard output and standard error are such streams. What a command prints may come from a stranger's file: a report, a
    name, a message of a service. It is cleaned here once more, whatever the command has done.

    Args:
        stream: where it goes.
        moving: whether the cursor may be moved, as progress that is shown in place needs.
    """

    def __init__(self, stream: Any, *, moving: bool = False) -> None:
        self.stream: Any = stream.stream if isinstance(stream, Screen) else stream
        on_terminal = _MOVING if moving else _STYLED
        self._kept = on_terminal if self.stream.isatty() else _PLAIN

    def write(self, text: str) -> int:
        """Write a text, cleaned; the number of characters that were given."""
        self.stream.write(screened(text, self._kept))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
