"""Messages of a package that a question quotes: found by their fixed parts, whatever stands in their holes.

A message of the source and a question are compared as words in lower case with one blank between; punctuation, line
breaks and mark-up do not count.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.python.error_messages import HOLE, LEAST_CHARACTERS, LEAST_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex

_LONGEST = 20_000
"""Characters at the end of a question in which a message is looked for."""
_COMPARED_TEXT = 600
"""Characters of a message that are compared; what follows is advice."""
_LONGEST_TAIL = 60
"""Words of what was raised that are compared with a message that differs."""
_LONGEST_HOLE = 200
_LONE_SENTENCE = 40
"""Characters of a sentence that is known by itself though the first one of its message is not quoted."""
_LONGEST_LONE = 200
"""Characters of a message that counts if it is all that was raised."""
_OF_PYTHON = re.compile(
    r"object has no attribute|unexpected keyword argument|required positional argument|object is not (?:callable|iterable)"
)
"""What Python itself says of any library; a library that says the same tells nothing more."""
_STARTS = 5
"""Places at which a sentence may begin."""
_PARTIAL = 0.6
_COMPARED = 20
_SHOWN = 2
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[^.][.!?])\s+|\n[^\S\n]*+\n")
_RAISED = re.compile(r"\b([A-Z][a-z]\w{0,80}):[ \t]+([^\n]{4,2000})")
_CLASS = re.compile(r"\w[a-z]\w{0,80}?[A-Z]|Error$|Exception$|Warning$")
_FAULT = re.compile(r"\b\w{0,80}(?:Error|Exception|Warning)\b")
_QUOTED = re.compile(r"[\"'`“]((?:[^\s\"'`“”]{1,80} ){3}[^\"“”\n]{1,400})[\"'`”]")
_SAID = re.compile(
    r"(?i)\b(?:rais|throw|fail|complain|say|error|exception|message)\w{0,8}\b[^\"'`“\n]{0,20}[\"'`“]((?:[^\s\"'`“”]{1,80} ){1,2}[^\s\"'`“”]{1,80})[\"'`”]"
)
"""A short text between quotation marks, behind a word such as "raises"."""
_COMPLAINS = re.compile(
    r"(?i)\b(?:fail\w{0,4}|invalid|cannot|could not|unable|unknown|unexpected|expected|missing|must|malformed|expired|denied|refused|ignored"
    r"|exceeded|not (?:an?|found|open|defined|allowed|supported)|too (?:large|long|many))\b"
)
_ASKS = re.compile(
    r"(?i)\?|\b(?:how|what|which|where|when|can|does|do) (?:do|does|to|can|is|are|i|should|the)\b"
)


class FoundMessage(NamedTuple):
    """A message that a question quotes."""

    passage: IndexedPassage
    exact: bool
    """Whether a whole sentence of it is quoted, or all that was raised stands in it."""


class _QuotedMessage(NamedTuple):
    passage: IndexedPassage
    same_class: bool
    matched: int
    """Characters of the message that are quoted."""


def quoted(parsed: ParsedQuestion) -> list[str]:
    """What a question may quote of a message: the text of an error, text between quotation marks, or all of it; nothing where it only asks."""
    text = parsed.text[-_LONGEST:]
    found = [
        *(said for _name, said in _raised(text)[-1:]),
        *_QUOTED.findall(text)[:3],
        *_SAID.findall(text)[:1],
    ]
    if not (found or "error" in parsed.kinds or not _ASKS.search(text)):
        return []
    return found or [text[-_COMPARED_TEXT:]]


def may_be_raised(parsed: ParsedQuestion) -> list[str]:
    """The same, without text that says of nothing that it went wrong: to look through all code for it takes too long."""
    found = quoted(parsed)
    text = parsed.text[-_LONGEST:]
    complains = "error" in parsed.kinds or _raised(text) or _COMPLAINS.search(text)
    return found if complains else []


def _raised(text: str) -> list[tuple[str, str]]:
    """The classes of errors in a text, each with the message behind it."""
    return [(name, said) for name, said in _RAISED.findall(text) if _CLASS.search(name)]


def pasted_messages(
    index: PassageIndex, parsed: ParsedQuestion, in_code: Sequence[IndexedPassage] = ()
) -> list[FoundMessage]:
    """The messages that a question quotes, the surest first; none for a question that quotes no message.

    Args:
        index: what has messages.
        parsed: the question.
        in_code: further messages, found in code by words of the question; a short one counts if it is all that was raised.
    """
    text = parsed.text[-_LONGEST:]
    raised = _raised(text)
    quotes = [*(said for _name, said in raised[-1:]), *_QUOTED.findall(text)[:3]]
    if not quoted(parsed):
        return []
    said = _words_of(text)
    whole = frozenset(map(_words_of, [*(one for _name, one in raised), *_SAID.findall(text)[:1]]))
    tails = [tail for quote in quotes if _says_enough(tail := _words_of(quote))]
    errors = frozenset(_FAULT.findall(text)).union(name for name, _said in raised)
    messages = [
        one for one in index.unsearched("message") if not _OF_PYTHON.search(one.lead[:_COMPARED_TEXT])
    ]
    messages += in_code
    lone = (
        [one for one in messages if len(one.lead) <= _LONGEST_LONE and _words_of(one.lead) in whole]
        if whole
        else []
    )
    exact = _best(
        _QuotedMessage(passage, is_same_class, matched)
        for passage in messages
        if (
            matched := _matched(passage.lead[:_COMPARED_TEXT], said, tails)
            or len(passage.lead) * (passage in lone)
        )
        for is_same_class in [not errors or passage.data["error"] in {"", *errors}]
    )
    near = _like(messages, tails[:1], errors) if not exact else []
    return [
        *(FoundMessage(one, exact=True) for one in exact),
        *(FoundMessage(one, exact=False) for one in near),
    ]


def _says_enough(words: str) -> bool:
    return words.count(" ") >= LEAST_WORDS - 1 and len(words) >= LEAST_CHARACTERS


def _best(candidates: Iterable[_QuotedMessage]) -> list[IndexedPassage]:
    """Those of the class that is quoted before others, then those of which most is quoted."""
    known = list(candidates)
    best = max(((one.same_class, one.matched) for one in known), default=None)
    return [one.passage for one in known if (one.same_class, one.matched) == best][:_SHOWN]


def _matched(shape: str, said: str, tails: Sequence[str]) -> int:
    """How many characters of a message stand in what was said; 0 where it is not sure that the message is meant."""
    matched = 0
    is_sure = False
    for number, sentence in enumerate(_SENTENCE.split(shape)):
        parts = [words for part in sentence.split(HOLE) if (words := _words_of(part))]
        length = sum(map(len, parts))
        telling = sum(part.count(" ") + 1 for part in parts) >= LEAST_WORDS and length >= LEAST_CHARACTERS
        if telling and _stands(parts, said):
            matched += length
            is_sure = is_sure or not number or length >= _LONE_SENTENCE
    if not is_sure:
        whole = _words_of(shape)
        return max((len(tail) for tail in tails if f" {tail} " in f" {whole} "), default=0)
    return matched


def _stands(parts: Sequence[str], said: str) -> bool:
    """Whether the fixed parts of a sentence follow each other, with holes of a limited length between them."""
    start = -1
    for _attempt in range(_STARTS):
        start = said.find(parts[0], start + 1)
        if start < 0:
            return False
        place = start + len(parts[0])
        for part in parts[1:]:
            place = said.find(part, place, place + _LONGEST_HOLE + len(part))
            if place < 0:
                break
            place += len(part)
        else:
            return True
    return False


def _like(
    messages: Sequence[IndexedPassage], tails: Sequence[str], errors: frozenset[str]
) -> list[IndexedPassage]:
    """The message whose first sentence is nearest to what was raised, if it has most of its words in order."""
    if not tails:
        return []
    asked = tails[0].split()[:_LONGEST_TAIL]
    known = frozenset(asked)
    shares = []
    for number, passage in enumerate(messages):
        error = passage.data["error"]
        if error and errors and error not in errors:
            continue
        words = _words_of(_SENTENCE.split(passage.lead[:_COMPARED_TEXT])[0].replace(HOLE, " ")).split()
        share = len(known.intersection(words)) / len(set(words)) if len(words) > LEAST_WORDS else 0.0
        if share >= _PARTIAL:
            shares.append((share, -number, words[: 2 * _LONGEST_TAIL]))
    best: list[tuple[float, IndexedPassage]] = []
    for _share, number, words in sorted(shares, reverse=True)[:_COMPARED]:
        blocks = SequenceMatcher(None, words, asked, autojunk=False).get_matching_blocks()
        in_order = sum(block.size for block in blocks)
        if in_order >= _PARTIAL * len(words) and in_order > LEAST_WORDS:
            best.append((in_order / len(words), messages[-number]))
    return [max(best, key=lambda one: one[0])[1]] if best else []


def _words_of(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
