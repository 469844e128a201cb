"""The arguments that a question's calls pass by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = re.compile(r"(?<![\w.])([^\W\d][\w.]{0,120})\(")
_KEYWORD = re.compile(r"(?:^|,)\s{0,40}([^\W\d]\w{0,80})\s{0,9}=(?!=)")
_QUOTED = re.compile(r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'")
_LONGEST_TEXT = 20_000
_LONGEST_CALL = 1_000
_MOST = 20


class CalledKeyword(NamedTuple):
    """An argument that a call passes by name."""

    callable: str
    keyword: str


def called_keywords(text: str) -> Iterator[CalledKeyword]:
    """The arguments that each call in a text passes by name; of a call within a call, to the inner one alone."""
    text = _QUOTED.sub(lambda match: "_" * len(match[0]), text[:_LONGEST_TEXT])
    for call in [*_CALL.finditer(text)][:_MOST]:
        for keyword in _KEYWORD.findall(_outer(text, call.end())):
            yield CalledKeyword(call[1].rstrip("."), keyword)


def _outer(text: str, start: int) -> str:
    """What stands between the brackets of a call, without what stands in brackets there."""
    depth = 1
    kept: list[str] = []
    for letter in text[start : start + _LONGEST_CALL]:
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return "".join(kept)
        if depth == 1:
            kept.append(letter)
    return ""
