"""The arguments that a question's calls pass by name, and those that its sentences say something takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALL = re.compile(r"(?<![\w.])([^\W\d][\w.]{0,120})\(")
_KEYWORD = re.compile(r"(?:^|,)\s{0,40}([^\W\d]\w{0,80})\s{0,9}=(?!=)")
_KIND = r"(?:parameter|param|argument|kwarg|keyword|option|method|attribute|setting)"
_SAID_OF = re.compile(
    r"\b(?:the|an?) [`'\"]?([a-z_]\w{1,60})[`'\"]?=? (?:parameter|param|argument|keyword|kwarg|option) (?:of|in|for|to|from|on) "
    r"(?:the )?[`'\"]?((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60})"
)
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


def said_keywords(text: str) -> Iterator[CalledKeyword]:
    """The parameters that a text says something takes: "the `retries` parameter of requests.get"."""
    for keyword, called in _SAID_OF.findall(text):
        yield CalledKeyword(called, keyword)


def is_called_part(name: str, text: str) -> bool:
    """Whether a text calls a name a part of what it names beside it: "the `retry_codes` option of Client"."""
    spelled = rf"[`'\"]?{re.escape(name)}[`'\"=]{{0,2}}"
    called = rf"(?<!\w){spelled} (?:\w{{1,20}} )?{_KIND}\b|\b{_KIND} (?:called |named )?{spelled}(?!\w)"
    beside = rf"(?:{called}).{{0,20}}\b(?:of|in|for|from|on|to|with)\b"
    return re.search(beside, text, re.IGNORECASE) is not None


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
