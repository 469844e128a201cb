"""Text of models and of the web where people read it: it mentions nobody, runs nothing, and stays in its quote."""

from __future__ import annotations

import re

from kr_core.printable import printable

__all__ = ["clipped", "harmless", "harmless_line", "quoted"]

_LIVE = re.compile(r"(?<=[@<])(?=[\w/!?])")
_UNSEEN = "\N{ZERO WIDTH SPACE}"


def harmless(text: str) -> str:
    """A text in which nothing steers a terminal, no `@` mentions anybody, and no `<` begins an element or a comment.

    What is seen stays the same: only an invisible character stands behind `@` and `<`.
    """
    return _LIVE.sub(_UNSEEN, printable(text))


def harmless_line(text: str) -> str:
    """The same in one line."""
    return " ".join(harmless(text).split())


def quoted(text: str) -> str:
    """The same as a quote of Markdown: each line begins with `>`, so none is at the start of a line, where replies are read."""
    return "\n".join(f"> {line}".rstrip() for line in harmless(text.strip()).splitlines())


def clipped(text: str, most: int) -> str:
    """A text of at most so many characters; of one that is longer the beginning, marked."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()}\n[{len(text) - most:,} more characters are not shown here]"
