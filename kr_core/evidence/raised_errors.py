"""What a callable's documentation says that it raises: the error, and when."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.answer_sentence import DirectAnswer, Quote
from kr_core.evidence.citations import plain
from kr_core.evidence.sentences import documentation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_HEADED = re.compile(r"[ \t]*+(?:Raises|Exceptions)[ \t]*+:?[ \t]*+$")
_UNDERLINE = re.compile(r"[ \t]*+[-=~]{3,}+[ \t]*+$")
_FIELD = re.compile(r"[ \t]*+:(?:raises?|except|exception)[ \t]++([\w.]{1,80})[ \t]*+:[ \t]*+(\S[^\n]*+)$")
_NAMED = re.compile(r"[`~!]*([A-Za-z_][\w.]{2,80})`*(?:[ \t]*+(?::|--)[ \t]++(\S[^\n]*+)|:?[ \t]*+)$")
_LINES = 400
_MOST = 12
_FAILS = re.compile(
    r"\b(?:missing|(?:not|n't) (?:exist|found|there|present|in|match)\w*|invalid|wrong|bad|fails?|absent|unknown|empty|negative|too \w+|no|raises?|throws?)\b",
    re.IGNORECASE,
)
_SAYS_CASE = 0.15
"""The share of the question beyond the callable's name that the case says in which it raises."""
_MOST_RAISED = 3


class Raised(NamedTuple):
    """An error and when it is raised; both verbatim but for line breaks."""

    error: str
    when: str


def raised_by(passage: Passage) -> list[Raised]:
    """The errors in the `Raises` part of a docstring, as NumPy, Google and Sphinx write it."""
    lines = documentation(passage).split("\n")[:_LINES]
    found = [*_fields(lines), *_headed(lines)]
    return [one for one in found if one.when][:_MOST]


def _fields(lines: list[str]) -> Iterator[Raised]:
    for number, line in enumerate(lines):
        field = _FIELD.match(line)
        if field is not None:
            yield Raised(field[1], _with_rest(field[2], lines[number + 1 :], _depth(line)))


def _headed(lines: list[str]) -> Iterator[Raised]:
    start = next((number for number, line in enumerate(lines) if _HEADED.match(line)), None)
    if start is None:
        return
    is_numpy = start + 1 < len(lines) and _UNDERLINE.match(lines[start + 1]) is not None
    head = _depth(lines[start])
    body = lines[start + (2 if is_numpy else 1) :]
    depth = head if is_numpy else next((_depth(line) for line in body if line.strip()), 0)
    if not is_numpy and depth <= head:
        return
    for number, line in enumerate(body):
        if line.strip() and _depth(line) < depth:
            return
        if number + 1 < len(body) and _UNDERLINE.match(body[number + 1]):
            return  # the next part of the docstring
        named = _NAMED.match(line.strip()) if _depth(line) == depth and line.strip() else None
        if named is not None:
            yield Raised(named[1], _with_rest(named[2] or "", body[number + 1 :], depth))


def _with_rest(begun: str, following: list[str], depth: int) -> str:
    """A text with the lines below it that are deeper, up to a blank one."""
    said = [begun] if begun else []
    for line in following:
        if not line.strip() or _depth(line) <= depth:
            break
        said.append(line.strip())
    return " ".join(said)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def raised_answer(asked: AskedWords, first: Passage) -> DirectAnswer | None:
    """What the documentation says that a callable raises in the case that is asked about; all of it where none is named."""
    found = raised_by(first)
    beyond = asked.share(first.symbol or "")
    is_case = re.search(r"\b(?:if|when)\b", asked.parsed.asking, re.IGNORECASE)
    shares = [asked.share(f"{one.when} {one.error} {first.symbol}") - beyond for one in found]
    most = max(shares, default=0.0)
    if is_case and (most >= _SAYS_CASE or not _FAILS.search(asked.parsed.asking)):
        found = [one for one, share in zip(found, shares, strict=True) if share >= max(_SAYS_CASE, most)]
    if not found or first.parameter or not first.symbol:
        return None
    told = [f"`{one.error}`: {plain(one.when)}" for one in found[:_MOST_RAISED]]
    text = f"`{first.symbol}` raises {' '.join(told)}"
    quotes = tuple(Quote(first, each) for one in found[:_MOST_RAISED] for each in (one.error, one.when))
    slots = tuple(each for one in found[:_MOST_RAISED] for each in one)
    return DirectAnswer(text, quotes, (first.symbol, *slots), slots[1::2])
