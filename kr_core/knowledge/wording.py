"""What a question asks, word by word and in order, so that only the same question gets a kept answer; pure.

Two questions of the same words may be opposites: `JSON to YAML` and `YAML to JSON`, `with` and `without`, `3.3 to 3.4` and
`3.4 to 3.3`. So everything counts but articles, pronouns, auxiliary verbs, and how a question for a way opens. Of questions
for a way the forms of ordinary words do not count (`set a timeout`, `setting timeouts`); elsewhere they do, since a name
may be one of them (`load`, `loads`).
"""

from __future__ import annotations

import re
import unicodedata

from kr_core.project.package_names import own_name
from kr_core.text import stem

__all__ = ["same_question", "wording"]

_PERSON = r"(?:i|we|you|one|they|people|someone|anyone)"
_MODAL = r"(?:do|does|did|can|could|should|would|will|must|might|may|shall)"
_GREETINGS = re.compile(r"(?:(?:please|hi|hello|hey|so|and|ok|okay|well)\b[\s,!.]*)+", re.IGNORECASE)
_GOOD = r"(?:(?:best|right|correct|proper|recommended|idiomatic|preferred|easiest|simplest|usual|standard|good|easy|simple)\s+)*"
_WAY = re.compile(
    rf"""how\s+(?:{_MODAL}\s+{_PERSON}\b|to\b)(?:\s+(?:best|properly|correctly))?
  | what(?:\s+is|\s+are|['\u2019]s)\s+(?:(?:the|a|an)\s+)?{_GOOD}(?:ways?|methods?|approach(?:es)?|practices?)\s+(?:to|of|for)\b
  | is\s+there\s+(?:(?:a|an|any|some)\s+)?{_GOOD}ways?\s+(?:to|of|for)\b
  | (?:can|could)\s+you\s+(?:tell|show|teach|explain)\b(?:\s+(?:to\s+)?(?:me|us))?\s+how\s+to\b
  | (?:tell|show|teach|explain)\b(?:\s+(?:to\s+)?(?:me|us))?\s+how\s+to\b
  | (?:i|we)(?:\s+am|\s+are|['\u2019]m|['\u2019]re)?\s+(?:want|need|trying|try|would\s+like|wish|have)\s+to\b
  | (?:i|we)['\u2019]d\s+like\s+to\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a question for a way opens; all of these ask the same."""
_POSSIBLE = re.compile(rf"(?:is\s+it\s+possible\s+to|can\s+{_PERSON})\b", re.IGNORECASE)
_OTHER_OPENING = re.compile(
    rf"(?:what|which|why|when|where|who|whose|{_MODAL}|is|are|was|were|has|have|how)\b", re.IGNORECASE
)
_FOLDED = {"are": "is", "was": "is", "were": "is", "does": "do", "did": "do"}
_NEUTRAL = frozenset(
    "a an the i we you my our your me us it its do does did doing is are was were be been am please".split()
)
"""Words that say nothing of what is asked, wherever they stand."""
_SYMBOLS = ((re.compile(r"\b([a-z])\+\+", re.IGNORECASE), r"\1plusplus"), (re.compile(r"\b([a-z])#", re.IGNORECASE), r"\1sharp"))  # fmt: skip
_TOKEN = re.compile(r"`([^`]+)`|(\w+(?:[./]\w+)*|[<>=!~^*+%&|@$#/\\]++|(?<!\w)--?(?=\w))")
"""What stands in back-ticks, and words, operators and the dashes of options."""
_ORDINARY = re.compile(r"[A-Z]?[a-z]+")
_PLACE = frozenset({"in", "with", "using", "via", "for", "of"})
"""Before the library's own name these say only where it is asked; elsewhere they count."""
_NAME = "KRLIBRARYNAME"
"""Stands for the library's own name where something leads to it or from it."""
_AFTER = re.compile(r"\bto\s+(?:the\s+)?(\S+)\s+from\s+(?:the\s+)?(\S+)", re.IGNORECASE)
_LITERAL_AFTER = frozenset({"use", "uses", "using", "call", "calls", "calling"})
"""What is used or called is a name, of which each letter counts."""
_MAX_LENGTH = 10_000
"""No question is longer (`kr_core.research.request_form`)."""


def wording(question: str, framework: str) -> tuple[str, ...]:
    """What a question asks of a library, as the words that count, in order.

    >>> wording("How do I convert JSON to YAML in httpx?", "httpx")
    ('convert', 'json', 'to', 'yaml')
    >>> wording("What does loads do?", "python")
    ('what', 'loads')
    """
    opening, rest = _opened(_plain(question), framework)
    kept: list[str] = []
    literal = False
    for word, is_code in _words(rest, framework):
        low = word.casefold()
        if low in _NEUTRAL and not is_code:
            continue
        ordinary = not (opening or literal or is_code) and _ORDINARY.fullmatch(word)
        kept.append(stem(low) if ordinary else low)
        literal = low in _LITERAL_AFTER or word.startswith("-")
    return (*opening, *_directed(kept))


def same_question(one: str, other: str, framework: str) -> bool:
    """Whether two questions on a library ask the same: each word that counts, in the same order."""
    return one == other or wording(one, framework) == wording(other, framework)


def _plain(question: str) -> str:
    text = unicodedata.normalize("NFKC", question[:_MAX_LENGTH]).replace("\u2019", "'")
    for pattern, name in _SYMBOLS:
        text = pattern.sub(name, text)
    return _AFTER.sub(r"from \2 to \1", " ".join(text.split()))


def _opened(text: str, framework: str) -> tuple[tuple[str, ...], str]:
    """How a question opens, which is nothing for one that asks for a way, and what follows."""
    text = _without_place(text, framework)
    if greeting := _GREETINGS.match(text):
        text = text[greeting.end() :]
    if way := _WAY.match(text):
        return (), text[way.end() :]
    if possible := _POSSIBLE.match(text):
        return ("can",), text[possible.end() :]
    if other := _OTHER_OPENING.match(text):
        return (_FOLDED.get(other[0].casefold(), other[0].casefold()),), text[other.end() :].removeprefix(
            "'s"
        )
    return (), text


def _without_place(text: str, framework: str) -> str:
    """A text without the library's own name before what is asked: `In httpx, how do I`, `httpx: how to`."""
    found = own_name(framework).search(text)
    if found is None:
        return text
    before, after = text[: found.start()].strip(" `'\"").casefold(), text[found.end() :].lstrip(" `'\"")
    leads = before in {"", *_PLACE} and after[:1] in {",", ":", ";", "-"}
    return after[1:].lstrip() if leads else text


def _words(text: str, framework: str) -> list[tuple[str, bool]]:
    """The words of a text, each with whether it is marked as code; the library's own name only where something leads to it or from it."""
    found: list[tuple[str, bool]] = []
    for code, word in _TOKEN.findall(own_name(framework).sub(f" {_NAME} ", text)):
        if code.strip() != _NAME and word != _NAME:
            found.append((code or word, bool(code)))
        elif found and found[-1][0].casefold() in _PLACE:
            found.pop()
        elif found:
            found.append((_NAME, True))
    return found


def _directed(said: list[str]) -> list[str]:
    """The words without a `from` that a `to` follows: `from A to B` is `A to B`."""
    last = max((place for place, word in enumerate(said) if word in {"to", "into"}), default=-1)
    return [word for place, word in enumerate(said) if not (word == "from" and place < last)]
