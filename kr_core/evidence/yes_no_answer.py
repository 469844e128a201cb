"""The sentence of the documentation that decides a yes/no question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from kr_core.evidence.answer_sentence import DirectAnswer, Quote, quoted
from kr_core.evidence.citations import plain
from kr_core.evidence.sentences import documentation, prose
from kr_core.evidence.window import all_of
from kr_core.text import STOP_WORDS, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_DECIDES = 0.6
"""The share of a yes/no question that the sentence which decides it must say."""
_LONGEST_ITEM = 120
_DECIDING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\bis\b|\bare\b|\baccept\w*\b",
    re.IGNORECASE,
)
_ACTING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\baccept\w*\b|n't\b|\bnever\b",
    re.IGNORECASE,
)
"""The same for a question that does not ask what something is."""
_OPEN = re.compile(
    r"^(?:But|And|So|However|Otherwise|Instead|Therefore|Thus|Hence|Then)\b|\b[Ww]hether\b|\bif (?:it|this|they|you) should\b"
)
"""A sentence that does not decide without the one before it, or that leaves it open."""
_OF_VALUE = re.compile(r"[`'\"]*\w++[`'\"]*(?: -+|:) |(?:If|When)\b[^.!?]*+$")
"""The item of a list that says what one value does, and a condition without what follows from it."""
Verdict = Literal["Yes", "No", ""]

_LONG_SENTENCE = 160
_BESIDE = 2
"""Other telling words among those that a negation denies."""
_ASKS = re.compile(r"(is|are|does|do|can|could|will)\b", re.IGNORECASE)
_UNCLEAR_QUESTION = re.compile(
    r"\b(?:not|no|never|without|or|off|disabled?|unless|instead|only|always|(?<!safe )(?<!possible )(?<!able )(?<!allowed )to|from|into|before|after|than|how|why|which|what|when|if)\b|n't\b",
    re.IGNORECASE,
)
"""Words that turn a question round, or that say in which direction or case a thing is asked about."""
_CONDITIONAL = re.compile(
    r"\b(?:if|when|whenever|unless|only|except|but|however|although|though|while|may|might|should|whether|default|until|some|most|often|usually|sometimes|generally|typically|longer|previously|prior|before|after|otherwise|than|or|without)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|cannot|never|neither|nor|no|none)\b|n't\b", re.IGNORECASE)
_DENIAL = re.compile(r"(?:\b(?:not|cannot|never)\b|n't\b)(.*)", re.IGNORECASE)
_SAME_WORD = {"is": r"is|are", "are": r"is|are", "can": r"can", "could": r"can|could", "will": r"will"}
_SWITCH: dict[str, Verdict] = {"True": "Yes", "False": "No"}
_REVERSED = re.compile(r"(?:no|not|dis\w*|ignore|skip|exclude|without|un\w*)_?")


def yes_no_answer(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> DirectAnswer | None:
    """The sentence that decides, from the documentation of the question's subject."""
    at_home = _at_home(asked, first, known)
    # that something is so is often said of something else than what was asked
    deciding = _DECIDING if re.match(r"(?:is|are)\b", asked.parsed.asking, re.IGNORECASE) else _ACTING
    own = asked.share(first.symbol or first.title)
    share, _place, best = max(
        (
            (asked.share(f"{sentence} {first.symbol or first.title}"), -number, Quote(passage, sentence))
            for number, (passage, sentence) in enumerate(_told(at_home))
            if deciding.search(sentence)
            and asked.share(f"{sentence} {first.symbol or first.title}") > own
            and not _OPEN.search(plain(sentence))
            and not _OF_VALUE.match(plain(sentence))
        ),
        default=(0.0, 0, Quote(first, "")),
        key=lambda one: one[:2],
    )
    if share < _DECIDES:
        return _listed(asked, known)
    told, passage = quoted(best.passage, best.text), best.passage
    names = [name for name in (passage.symbol, passage.parameter, *passage.aliases) if name]
    verdict = verdict_of_sentence(asked, best.text, names) if first.pinned else ""
    return told._replace(text=f"{verdict}: {told.text}") if verdict else told


def _listed(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
    """The item of a list of what the library is or can do that says all that is asked: "Thread-safe and process-safe"."""
    names = [
        one for passage in known for one in (passage.symbol, passage.parameter) if one and asked.names(one)
    ]
    wanted = _predicate(asked, names)
    for passage in known if wanted else ():
        if passage.kind != "section" or passage.what:
            continue
        for item in prose(documentation(passage)).split("\n"):
            if len(item) <= _LONGEST_ITEM and wanted <= stems(item):
                return quoted(passage, item)
    return None


def _at_home(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> list[Passage]:
    """The passages about the question's subject; where it names a parameter, the documentation of another does not decide."""
    at_home = [
        one
        for one in known
        if one is first or one.pinned or (one.parameter and one.symbol and one.symbol == first.symbol)
    ]
    named = [one for one in at_home if one.parameter and asked.names(one.parameter)]
    if not named:
        return at_home
    return [one for one in at_home if one is first or one in named or not one.parameter]


def _told(passages: Sequence[Passage]) -> Iterator[Quote]:
    for passage in passages:
        for sentence in all_of(passage):
            yield Quote(passage, sentence)


def verdict_of_sentence(asked: AskedWords, sentence: str, names: Iterable[str]) -> Verdict:
    """Whether a sentence affirms or denies all that a question asks, without a condition.

    Args:
        asked: the question.
        sentence: from the documentation of what the question names.
        names: of what the sentence is about.
    """
    said = plain(sentence)
    wanted = _predicate(asked, names)
    auxiliary = _asked_with(asked)
    if not auxiliary or not wanted or len(said) > _LONG_SENTENCE or _CONDITIONAL.search(said):
        return ""
    if not wanted <= stems(said):
        return ""
    negations = _NEGATION.findall(said)
    if len(negations) == 1 and (denied := _DENIAL.search(said)):
        near = [stem(word) for word in words(denied[1]) if word not in STOP_WORDS][: _BESIDE + len(wanted)]
        return "No" if near[:1] and near[0] in wanted and wanted <= set(near) else ""
    same = _SAME_WORD.get(auxiliary)
    return "Yes" if not negations and (same is None or re.search(rf"\b(?:{same})\b", said.lower())) else ""


def verdict_of_default(asked: AskedWords, parameter: str, value: str, names: Iterable[str]) -> Verdict:
    """Whether a switch that is named by all that a question asks is on or off by default."""
    if value not in _SWITCH or not asked.asks("default") or not _asked_with(asked):
        return ""
    if _REVERSED.match(parameter):
        return ""
    wanted = _predicate(asked, names, {stem("default")})
    if not wanted or wanted != {stem(word) for word in words(parameter.replace("_", " "))}:
        return ""
    return _SWITCH[value]


def _asked_with(asked: AskedWords) -> str:
    """The verb with which a plain yes/no question begins; empty for any other question."""
    text = asked.parsed.asking.strip()
    begun = _ASKS.match(text)
    is_plain = begun is not None and asked.asks("yes_no") and text.rstrip("?!. ").count("?") == 0
    return begun[1].lower() if begun and is_plain and not _UNCLEAR_QUESTION.search(text) else ""


def _predicate(asked: AskedWords, names: Iterable[str], also: Iterable[str] = ()) -> set[str]:
    """The stems of what is asked about a thing, without its names."""
    named = {stem(word) for name in (*names, "python") for word in words(name.replace("_", " "))}
    named |= {stem(word) for name in names for word in words(name)}
    return set(asked.stems) - named - set(also)
