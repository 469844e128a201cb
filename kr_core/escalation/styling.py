"""A case on a terminal: its headings stand out, its quotes have a bar, long lines are wrapped; what was written stays as it is."""

from __future__ import annotations

import os
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["for_terminal"]

_WIDEST = 100
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")


def for_terminal(case: str, stream: TextIO) -> str:
    """A case's text as a stream shows it best: in colour and wrapped on a terminal that has colours, else as it is.

    It is not rendered as Markdown: that would take `__init__` in an answer for a word in bold.
    """
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return case
    width = min(_WIDEST, _columns(stream))
    return "\n".join(_styled(line, width) for line in case.split("\n"))


def _styled(line: str, width: int) -> str:
    if line.startswith("# "):
        return f"\x1b[1;33m{line[2:]}\x1b[0m"
    if line.startswith(">"):
        bar = "\x1b[36m\N{BOX DRAWINGS LIGHT VERTICAL}\x1b[0m "
        return "\n".join(f"{bar}{piece}" for piece in _wrapped(line[2:], width - 2))
    if line.startswith("- "):
        return "\n".join(_wrapped(line, width, "  "))
    if line.startswith("    "):
        return f"\x1b[36m{line}\x1b[0m"
    return _BOLD.sub("\x1b[1m\\1\x1b[0m", line)


def _wrapped(line: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        line,
        max(width, 20),
        subsequent_indent=indent,
        replace_whitespace=False,
        drop_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDEST  # some report none
    except (OSError, ValueError):
        return _WIDEST
