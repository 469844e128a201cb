"""What a question asks: the words that say what it is about, the names that it spells, its parts, and the versions that it names."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, stem, words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "WHOLE",
    "asked_words",
    "asks_advice",
    "asks_default",
    "asks_denied",
    "asks_mended",
    "asks_since",
    "asks_since_when",
    "asks_time",
    "denied_in",
    "focus_of",
    "identified",
    "keywords_in",
    "pairs_in",
    "parts_of",
    "scope_of",
    "spelled_in",
    "subject_of",
    "weighed",
]

_WEAK = 0.35
"""What ordinary English counts among the words of a question."""
_VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE)
_MARKS = ".,;:?!()\"'`"
WHOLE = 0.6
"""What an identifier counts where it stands whole; its parts have the rest."""
_MAX_PARTS = 8
_COMPOUNDS = re.compile(r"(?<!\w)(\w++(?:-\w++)++)(\s++\w++)?")
_SPELLED = re.compile(
    r"(?<![\w-])(?:(?!e\.g|i\.e)[a-z_]\w*(?:\.(?!js\b|io\b|net\b|py\b)[A-Za-z_]\w*)+|\w{3,}(?=\(\))|[A-Z][A-Za-z]*/\d[\d.]*|\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{3,}\d*)(?![\w-])"
)
_KEYWORD = re.compile(r"\b(?:WHERE|HAVING|WITH|FROM|INTO|OVER|USING|BETWEEN|THEN)\b")
"""Keywords of SQL that are stop words in small letters; those that people write so to stress them (`NOT`, `ALL`) are left out."""
_GENERAL = frozenset(
    "feature features support supports supported supporting option options available api apis ways kind kinds".split()
)
"""Words that ask what there is of a thing, and do not name it."""
_EVERYDAY = frozenset(
    map(
        root_of,
        "accept allow do exist get happen have let may mean need per permit say set show speak take use want work".split(),
    )
)
"""Stems of everyday verbs: what a question does with the things that it is about, and no such thing."""
_ARTICLES = frozenset("a an the each every this that of".split())
"""After one of these such a word is a noun: `the set`."""
_MIN_WORDS = 2
"""Telling words of a part that can be asked alone."""
_CAVEATS = re.compile(
    r"\b(?:(?:watch|look) out(?: for)?|(?:keep|bear) in mind|pay attention to|be (?:aware|careful|wary) of|take care (?:of|with))\b",
    re.IGNORECASE,
)
"""What asks for caveats, and names no thing."""
_PARTS = re.compile(
    r"(?:(?<!\s)\s++)?(?:[;?]|,\s++(?:and|und|et)\s++(?=\w++\s++\w)|,\s++(?=(?:how|what|which|when|where|why|who)\b))\s*"
    r"|(?<!\s)\s++(?:and|und|et)\s++(?=\w++\s++\w)",
    re.IGNORECASE,
)
"""Where one thing that is asked ends and the next begins; `or` joins what is asked of together."""
_CHANGE = (
    r"(?:added|introduc\w*|deprecat\w*|removed|changed|dropped|appear\w*|arriv\w*|became|become|released)"
)
_SINCE_WHEN = re.compile(
    rf"\bsince\b|\bas of\b|\A(?>.*?\bwhen\b).*\b{_CHANGE}\b|\A(?>.*?\b(?:versions?|releases?)\b).*\b{_CHANGE}\b|\b(?:introduced|deprecated)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHANGED = re.compile(_CHANGE, re.IGNORECASE)
"""What a question that asks for versions says became of a thing: which statement tells a version is seen by other means."""
_VERSIONS = re.compile(r"\b(?:versions?|releases?|changelog|deprecat\w*|migrat\w*)\b", re.IGNORECASE)
_ASKS_DENIED = re.compile(
    r"\A(?!\s*(?:how|why)\b).*(?:\b(?:not|cannot|never|impossible|unsupported)\b|n['’]t\b|\b(?:limitation|restriction)s?\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Of how to do a thing, what holds is asked for, though a denial tells which: `How do I read a file that is not text?`"""
_DENIED = re.compile(
    r"(?:\b(?:not|cannot|never)|n['’]t)\s+((?:be\s+|been\s+|yet\s+|currently\s+|\w+ly\s+)?\w+)", re.IGNORECASE
)
_SCOPE = re.compile(r"\bin ([A-Za-z][\w.]{2,})(?= and\b| or\b| when\b| with\b|[?,;]|\s*$)")
_ASKS_ADVICE = re.compile(
    r"\bwhat (?:should|must) (?:I|we|one|you|be)\b|\binstead\b|\b(?:best|right|recommended|proper|safe) (?:way|practice)\b",
    re.IGNORECASE,
)
_ASKS_MENDED = re.compile(
    r"\b(?:bugs?|fix\w*|regressions?|crash\w*|faults?|errors?|fail\w*|broken|chang\w+|changelog|release notes?|CVE\S*|vulnerab\w*)\b",
    re.IGNORECASE,
)
_ASKS_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_DATING = re.compile(rf"since|versions?|releases?|when|changelog|history|migrat\w*|{_CHANGE}", re.IGNORECASE)
_VERSION_NUMBER = re.compile(
    r"(?<![\w.@/-])(?:v(?:ersion)?\s?)?(\d{1,4}(?:\.(?:\d{1,4}|x)){1,2})(?![\w%]|\.\d)|(?<![\w.])[vV](?:ersion )?(\d{1,3})(?![\w.]\d|\w)"
    r"|\b(?:version|versions|release|from|to|since|before|after|upgrading to|migrat\w{1,6} (?:from|to)) (\d{1,2})(?![\w.%:]\w| ?%)(?=\s*(?:$|[?.,;!)]|to\b|and\b|or\b|in\b))",
)
_AMOUNT = re.compile(
    r"\s?(?:seconds?|secs?|s\b|ms\b|minutes?|hours?|days?|bytes?|[kKMG]i?B\b|times\b|rows|columns|items|values|%|px|percent)"
)
_NAMED_VERSION = re.compile(
    r"\b[A-Z]?[A-Za-z]{2,30}[ -](\d{1,2})(?=\s*(?:$|[?.,;!)]|to\b|and\b|or\b))(?!\.\d)"
)
_COUNTS = re.compile(
    r"(?i)\b(?:top|first|last|of|by|than|least|most|than|every|only|with|between|is|are|equals?|exactly|about|level|python|step|page|chapter|axis|size|length|code|status|http|utf|http/|for|after|retry|and|or|on|at|in|the|port|base|column|row|line|error|dimension)[ -]\d"
)

_LONGEST = 9
"""Digits of a number of a version."""


def identified(text: str) -> list[tuple[str, list[str]]]:
    """The words of a text in order, each with the parts of it where it is an identifier (`AbortSignal`: `abort`, `signal`)."""
    said = words(text)
    found: list[tuple[str, list[str]]] = []
    place = 0
    while place < len(said):
        word, parts = said[place], list[str]()
        for end in range(place + 2, min(len(said), place + _MAX_PARTS)):
            if "".join(said[place + 1 : end + 1]) == word:
                parts = said[place + 1 : end + 1]
                break
        found.append((word, parts))
        place += 1 + len(parts)
    return found


def asked_words(question: str) -> list[str]:
    """The words that say what a question is about, as a person would search for them: identifiers and versions whole."""
    found: dict[str, None] = {}
    for token in _CAVEATS.sub(" ", question).split():
        if version := _VERSION.fullmatch(token.strip(_MARKS)):
            found[version.group()] = None
            continue
        telling = set(content_words(token))
        found.update(
            dict.fromkeys(
                word for word, _parts in identified(token) if word in telling and word not in STOP_WORDS
            )
        )
    return list(found) or content_words(question)


def weighed(question: str) -> dict[str, float]:
    """The stems of a question and what each counts; an identifier counts once, with its parts."""
    question = _CAVEATS.sub(" ", question)
    dated = asks_since(question)
    numbers = {
        part for token in question.split() if _VERSION.fullmatch(token.strip(_MARKS)) for part in words(token)
    }
    telling = [word for word in content_words(question) if word not in numbers] or content_words(question)
    found: dict[str, float] = {}
    before = ""
    for word, parts in identified(question):
        everyday = root_of(word) in _EVERYDAY and before not in _ARTICLES
        everyday = everyday or (dated and _CHANGED.fullmatch(word) is not None)
        weight = _WEAK if everyday or is_weak(word) or word in _GENERAL else 1.0
        before = word
        told = {word: weight} | (
            {word: WHOLE} | dict.fromkeys(parts, (1 - WHOLE) / len(parts)) if parts else {}
        )
        for one, worth in told.items():
            if one in telling:
                found[root_of(one)] = max(worth, found.get(root_of(one), 0.0))
    return found


def pairs_in(said: Sequence[str]) -> set[str]:
    """The pairs of stems that stand side by side in a text, stop words aside; `server sent` is a term, and `server sends` another."""
    roots = [stem(word) for word in said if word not in STOP_WORDS]
    return {f"{one} {other}" for one, other in itertools.pairwise(roots) if one != other}


def focus_of(question: str) -> list[frozenset[str]]:
    """What a question spells as a name, as stems and pairs of them: `server-sent events`, `HTTP/2`, `AsyncClient`, `max_age`."""
    found = [frozenset(pairs_in(words(" ".join(parts)))) for parts in _COMPOUNDS.findall(question)]
    for name in _SPELLED.findall(question):
        parts = words(name)
        found.append(
            frozenset(
                {root_of(parts[0])} if len(parts) > 1 and "/" in name else {root_of(part) for part in parts}
            )
        )
    return [parts for parts in found if parts]


def spelled_in(question: str) -> list[str]:
    """The names in a question, as they are spelled: `server-sent events`, `AsyncClient`, `max_age`."""
    return [*("".join(parts) for parts in _COMPOUNDS.findall(question)), *_SPELLED.findall(question)]


def keywords_in(question: str) -> list[str]:
    """The keywords that a question asks about and no search looks for, since they are stop words; none of one that is all in capitals."""
    if question.isupper():
        return []
    return [word for word in dict.fromkeys(_KEYWORD.findall(question)) if word.casefold() in STOP_WORDS]


def asks_since(question: str) -> bool:
    """Whether a question asks for versions, or since when something is so; a mere `when` asks for neither."""
    return asks_since_when(question) or _VERSIONS.search(question) is not None


def asks_since_when(question: str) -> bool:
    """Whether a question asks in which version something came, changed or went."""
    return _SINCE_WHEN.search(question) is not None


def asks_denied(question: str) -> bool:
    """Whether a question asks for what is not so, or cannot be."""
    return _ASKS_DENIED.search(question) is not None


def denied_in(text: str) -> frozenset[str]:
    """The stems of what a text denies: of the few words that stand behind a denial."""
    said = [word for found in _DENIED.finditer(text) for word in words(found[1])]
    return frozenset(root_of(word) for word in said if word not in STOP_WORDS and not is_weak(word))


def scope_of(question: str) -> frozenset[str]:
    """The stems of where it is to hold, as a question says it by a name alone: `in asyncio`; none where it says no such thing."""
    found = _SCOPE.search(question)
    name = words(found[1]) if found else []
    telling = name and name[0] not in STOP_WORDS and not is_weak(name[0])
    return frozenset(map(root_of, name[:1])) if telling else frozenset()


def asks_advice(question: str) -> bool:
    """Whether a question asks for advice: the best way, or what to do in the place of something."""
    return _ASKS_ADVICE.search(question) is not None


def asks_default(question: str) -> bool:
    """Whether a question asks what something is where nobody has said what it is to be."""
    return _ASKS_DEFAULT.search(question) is not None


def asks_mended(question: str) -> bool:
    """Whether a question asks for faults and what became of them."""
    return _ASKS_MENDED.search(question) is not None


def asks_time(word: str) -> bool:
    """Whether a word of a question that asks for versions asks for the time, and names no thing."""
    return _DATING.fullmatch(word) is not None


def parts_of(question: str) -> list[str]:
    """The parts of a question that each ask for something; none where it asks for one thing."""
    parts = [part.strip(" .!?") for part in _PARTS.split(question)]
    telling = [part for part in parts if len(subject_of(part)) >= _MIN_WORDS]
    return telling if len(telling) > 1 else []


def subject_of(part: str) -> list[str]:
    """The words of a question, or of a part, that say what it is about by themselves."""
    return [
        word
        for word in asked_words(part)
        if not is_weak(word)
        and not asks_time(word)
        and root_of(word) not in _EVERYDAY
        and word not in _GENERAL
    ]


def versions_in(text: str) -> tuple[str, ...]:
    """The version numbers that a text names, each once, in order."""
    found: dict[str, int] = {}
    for match in _VERSION_NUMBER.finditer(text):
        if not _AMOUNT.match(text, match.end()):
            found.setdefault(match[1] or match[2] or match[3], match.start())
    for match in _NAMED_VERSION.finditer(text):
        if not _COUNTS.match(match[0]):
            found.setdefault(match[1], match.start())
    return tuple(sorted(found, key=found.__getitem__))


def is_same_version(asked: str, told: str) -> bool:
    """Whether two version numbers agree as far as both go: `5` and `5.2`, `2.0` and `2`."""
    ours, theirs = (one.lower().replace(".x", "").split(".") for one in (asked, told))
    shared = min(len(ours), len(theirs))
    return ours[:shared] == theirs[:shared]


def versions_between(versions: Sequence[str]) -> Callable[[str], bool]:
    """Whether a version lies after the first and up to the last of some; of one, whether it is that or belongs to it."""
    numbers = sorted(_numbers(version) for version in versions)

    def is_between(version: str) -> bool:
        told = _numbers(version)
        low, high = numbers[0], numbers[-1]
        if len(numbers) == 1:
            return told[: len(low)] == low
        return low < told and told[: len(low)] != low and told[: len(high)] <= high

    return is_between if numbers else lambda _version: True


def _numbers(version: str) -> list[int]:
    return [int(part[:_LONGEST]) for part in re.findall(r"\d+", version)]
