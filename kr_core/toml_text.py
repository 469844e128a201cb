"""TOML of files that anybody may have written."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LongKeyError", "load_toml"]

_LONG_KEY = re.compile(
    r"(?<![\w.-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){60}",
)


class LongKeyError(ValueError):
    """A key of more parts than any tool writes.

    Args:
        line: where it is, from 1.
    """

    def __init__(self, line: int) -> None:
        super().__init__("a key of more than sixty parts")
        self.line = line


def load_toml(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read a TOML text in time and memory proportional to its length.

    `tomllib` needs both in proportion to the square of the number of parts of a key.

    Args:
        text: the file's.
        parse_float: converts a number with a fraction.

    Raises:
        LongKeyError: a key has more than sixty parts.
        ValueError: it is not valid TOML.
        RecursionError: it is nested too deeply.
    """
    if found := _LONG_KEY.search(text):
        raise LongKeyError(text.count("\n", 0, found.start()) + 1)
    return tomllib.loads(text, parse_float=parse_float)
