"""What a human types at the terminal, line by line; meanwhile somebody else may decide."""

from __future__ import annotations

import os
import select
import sys
import termios
from typing import TYPE_CHECKING

from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["POLL_SECONDS", "AlreadyDecidedError", "TypedLines", "person_is_there", "tell"]

POLL_SECONDS = 0.5
"""How often somebody who waits looks whether somebody else has decided."""
_AT_ONCE_SECONDS = 0.05
"""Lines that come so close behind each other were pasted, and are one text."""
_MAX_LINE_LENGTH = 4095
"""Bytes: a terminal drops what a line has beyond them, and says nothing."""


class AlreadyDecidedError(Exception):
    """Somebody else has decided the case that is typed about."""


def person_is_there() -> bool:
    """Whether a human can read and type: standard input and standard error are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def tell(text: str = "") -> None:
    """Say something to the human; standard output is the result's."""
    print(text, file=sys.stderr, flush=True)


class TypedLines:
    """What the human types; from a pipe, a line each.

    Args:
        decided: whether somebody else has decided meanwhile.
    """

    def __init__(self, decided: Callable[[], bool]) -> None:
        self._decided = decided
        self._fd = sys.stdin.fileno()
        self._tty = sys.stdin.isatty()
        self._read = b""

    def line(self, prompt: str) -> str | None:
        """The next line, or the lines that are pasted together; None at the end of input (Ctrl-D).

        What was typed before the prompt stood there is dropped: it cannot be a reply to what is shown now.

        Raises:
            DecidedError: somebody else was quicker.
        """
        if self._tty:
            termios.tcflush(self._fd, termios.TCIFLUSH)
            self._read = b""
        lines = [self._next(prompt)]
        while self._tty and lines[-1] is not None and self._more_at_once():
            lines.append(self._next(""))
        said = [line for line in lines if line is not None]
        return "\n".join(said).strip() if said else None

    def text(self, prompt: str) -> str | None:
        """The lines up to an empty one; None at the end of input.

        Raises:
            DecidedError: somebody else was quicker.
        """
        tell(f"{prompt} End it with an empty line.")
        lines: list[str] = []
        while line := self._next("> "):
            lines.append(line)
        return "\n".join(lines) if line is not None or lines else None

    def _more_at_once(self) -> bool:
        return b"\n" in self._read or bool(select.select([self._fd], [], [], _AT_ONCE_SECONDS)[0])

    def _next(self, prompt: str) -> str | None:
        while True:
            print(prompt, end="", file=sys.stderr, flush=True)
            line = self._bytes()
            if line is None:
                if self._tty:
                    tell()
                return None
            if not self._tty or len(line) < _MAX_LINE_LENGTH:
                return printable(line.decode(sys.stdin.encoding or "utf-8", "replace")).rstrip()
            tell(
                f"A terminal drops what a line has beyond {_MAX_LINE_LENGTH:,} bytes; for a long text use `kr inbox correct ID -`."
            )

    def _bytes(self) -> bytes | None:
        while b"\n" not in self._read:
            while not select.select([self._fd], [], [], POLL_SECONDS)[0]:
                if self._decided():
                    tell()
                    raise AlreadyDecidedError
            piece = os.read(self._fd, 65536)
            if not piece:
                rest, self._read = self._read, b""
                return rest or None
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line
