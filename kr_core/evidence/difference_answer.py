"""The sentence that tells two things apart, and which two a question means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.answer_sentence import DirectAnswer, Quote, quoted
from kr_core.evidence.citations import plain
from kr_core.evidence.quoted_lists import items_below
from kr_core.evidence.window import all_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_TWO = 2
_DIFFERS = re.compile(
    r"\bunlike\b|\bin contrast\b|\bwhereas\b|\bdiffer\w*\b|\bshortcut\b|\bsame as\b|\bequivalent\b|\brather than\b|\binstead of\b"
    r"|\bsimilar to\b|\blike\b.{1,80}\b(?:but|except)\b",
    re.IGNORECASE,
)
_CONJUNCTIONS = frozenset({"and", "or", "not", "in", "is", "from", "between", "with"})
"""Functions of query builders by name, and words of any question."""


def subjects(asked: AskedWords, passages: Sequence[Passage]) -> list[Passage]:
    """The two things that a question about a difference names, in its order; empty where not both were found."""
    pinned = {(one.symbol, one.parameter): one for one in reversed(passages) if one.symbol and one.pinned}
    found = list(reversed(pinned.values()))
    if len(found) < _TWO:
        wanted = _names_asked_about(asked)
        lasts = [name.rpartition(".")[2] for name in wanted]
        by_name: dict[str, Passage] = {}
        for passage in passages:
            last = (passage.symbol or "").rpartition(".")[2]
            is_named = passage.pinned or (
                last in lasts if wanted else last not in _CONJUNCTIONS and asked.names(last)
            )
            if last and not passage.parameter and is_named:
                by_name.setdefault(_spelled_as(passage, wanted) or last, passage)
        found = list(by_name.values())
    both = sorted(found, key=lambda one: _place(asked.question, one))[:_TWO]
    return both if len(both) == _TWO else []


def _spelled_as(passage: Passage, wanted: Sequence[str]) -> str:
    """The dotted name of a question that means a passage: `A.read` and `B.read` are two things."""
    names = [f".{name}" for name in (passage.symbol, *passage.aliases, *passage.also) if name]
    return next((one for one in wanted if "." in one and any(name.endswith(f".{one}") for name in names)), "")


def not_found(asked: AskedWords, passages: Sequence[Passage]) -> list[str]:
    """The names of a question about a difference that no passage is about, where another one was found."""
    if not asked.asks("difference") or not any(one.pinned for one in passages) or subjects(asked, passages):
        return []
    known = {
        part.casefold()
        for one in passages
        for name in (one.symbol or one.title, one.parameter, *one.also, *one.aliases)
        if name
        for part in re.findall(r"\w+", name)
    }
    return [name for name in _names_asked_about(asked) if name.rpartition(".")[2].casefold() not in known]


def _names_asked_about(asked: AskedWords) -> list[str]:
    """The names that a question asks about, in its order."""
    return [one.name for one in asked.parsed.identifiers if one.role == "subject"]


def _place(question: str, passage: Passage) -> tuple[int, int]:
    """Where a question spells a symbol, in full or else by its last part."""
    names = [name for name in (passage.symbol, *passage.aliases, *passage.also) if name]
    dotted = [
        ".".join(parts[at:]) for name in names for parts in [name.split(".")] for at in range(len(parts) - 1)
    ]
    full = [] if passage.parameter else [place for name in dotted if (place := _find(question, name)) >= 0]
    last = [_find(question, passage.parameter or name.rpartition(".")[2]) for name in names]
    places = full or [place for place in last if place >= 0]
    return (min(places, default=len(question)), not full)


def _find(question: str, name: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question)
    return found.start() if found else -1


def difference_answer(asked: AskedWords, both: Sequence[Passage]) -> DirectAnswer | None:
    """The list or sentence of one subject that names the other and says what differs."""
    for passage, other in (both, both[::-1]) if both else ():
        listed = _listed_differences(asked, passage, other)
        if listed is not None:
            return listed
    for passage, other in (both, both[::-1]) if both else ():
        name = _told_apart(other, passage)
        for sentence in all_of(passage):
            said = plain(sentence)
            is_advised = re.search(rf"\buse `?(?:\w+\.)*{re.escape(name)}(?!\w)", said)
            if is_advised or (_spells(name, said, sentence) and _DIFFERS.search(said)):
                return quoted(passage, sentence)
    return None


def _spells(name: str, said: str, sentence: str) -> bool:
    """Whether a sentence names something; a plain word (`join` in "a SQL join") only as code."""
    if name.isalpha() and name.islower():
        return bool(re.search(rf"[`.]{name}\b(?![ ]\w+`)|\b{name}\(", sentence))
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said))


def _told_apart(one: Passage, other: Passage) -> str:
    """The shortest end of a name that is not that of the other too."""
    parts = (one.parameter or one.symbol or "").split(".")
    ends = [".".join(parts[-count:]) for count in range(1, len(parts) + 1)]
    other_name = f".{other.parameter or other.symbol or ''}"
    return next((end for end in ends if not other_name.endswith(f".{end}")), ends[-1])


def _listed_differences(asked: AskedWords, passage: Passage, other: Passage) -> DirectAnswer | None:
    """What a list says sets a subject apart, below a line that names the other: "The main differences to X are:"."""
    names = {name.rpartition(".")[2] for name in (other.parameter or other.symbol, *other.aliases) if name}
    names |= {one.last for one in asked.parsed.identifiers} - {(passage.symbol or "").rpartition(".")[2]}
    named = "|".join(re.escape(name) for name in names)
    heading, items = items_below(
        passage,
        re.compile(rf"(?i:\bdiffer(?:s|ed|ing|ent|ently|ences?)?\b).{{0,200}}(?<!\w)(?:{named})(?!\w)"),
    )
    if not items:
        return None
    told = quoted(passage, heading)
    items = [item.rstrip(".;,") for item in items]
    text = " ".join([told.text, "; ".join(map(plain, items))])
    quotes = (*told.quotes, *(Quote(passage, item) for item in items))
    return DirectAnswer(f"{text}.", quotes, (*told.slots, *items), (heading, *items))
