"""Whether a sentence or a default says plainly yes or no to a question; where it is not certain, neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from kr_core.evidence.citations import plain
from kr_core.text import STOP_WORDS, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_core.evidence.asked_words import AskedWords

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


def of_sentence(asked: AskedWords, sentence: str, names: Iterable[str]) -> Verdict:
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


def of_default(asked: AskedWords, parameter: str, value: str, names: Iterable[str]) -> Verdict:
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
