"""Text of models and of the web where people read it: it mentions nobody, runs nothing, and stays in its quote."""

from __future__ import annotations

import re
import sys

from kr_core.terminal_text import printable

__all__ = ["as_written", "harmless", "harmless_line", "quoted"]

_LIVE = re.compile(r"(?<=[@<])(?=[\w/!?&])")
_REFERENCE = re.compile(r"(?<=&)(?=#|[A-Za-z][A-Za-z0-9]*;)")
"""A character reference (`&#64;`, `&commat;`), which Markdown shows as the character that it names."""
_UNSEEN = "\N{ZERO WIDTH SPACE}"
_MARKED = re.compile(f"(?<=[@<&]){_UNSEEN}")


def harmless(text: str) -> str:
    """A text in which nothing steers a terminal, `@` mentions nobody, `<` begins no element, and `&` names no character.

    What is seen stays the same: only an invisible character stands behind `@`, `<` and `&`.
    """
    return _REFERENCE.sub(_UNSEEN, _LIVE.sub(_UNSEEN, printable(text)))


def as_written(text: str) -> str:
    """The same without those characters, for a terminal, where nothing is mentioned and people copy what they read."""
    return _MARKED.sub("", text)


def harmless_line(text: str, most: int = sys.maxsize) -> str:
    """The same in one line, of at most so many characters."""
    line = " ".join(harmless(text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def quoted(text: str, most: int = sys.maxsize) -> str:
    """The same as a quote of Markdown: each line begins with `>`, so none is at the start of a line, where replies are read.

    Args:
        text: what somebody wrote.
        most: characters of the quote; of one that is longer the beginning, marked.
    """
    lines = [f"> {line}".rstrip() for line in harmless(text.strip()[:most]).splitlines()]
    left = most
    for number, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            lines[number:] = [line[: left + len(line) + 1]]
            break
    if left < 0 or len(text.strip()) > most:
        lines.append("> [There is more, which is not shown here.]")
    return "\n".join(lines)
