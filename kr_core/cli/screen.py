"""The way of every text to standard output and standard error: nothing in it steers the terminal but KR's own styling.

What is printed may come from a stranger's file: a report, a name, a message of a service. It is cleaned here once more,
whatever the command that prints it has done.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Screen", "screened"]

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
