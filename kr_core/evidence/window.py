"""The part of a passage that a reader is shown: its first paragraph, and the sentences that decide.

Sentences are never cut and never rewritten; what lies between two of them may be left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.asked_words import turns_round
from kr_core.evidence.citations import plain
from kr_core.evidence.sentences import (
    documentation,
    explained_value,
    is_pointer,
    prose,
    says_something,
    sentences,
    shortened,
)
from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

FIRST_PARAGRAPH = 260
_LONGEST = 600
"""Of a sentence; a longer one is data."""
_VALUE_ASKED = 0.5
"""What a sentence is worth more that explains a value which the question names."""
_EXPECTED = 0.35
"""What a sentence is worth more that says another name which the asker expects."""
_INHERITED = 0.85
"""What a sentence with a cue has of the worth of the sentence before it."""
_REACH = 3
_WORD = 40
_MESSAGE = 12
"""Sentences of an error's message that are shown."""
_WHOLE_PARAMETER = 1_000
"""Characters of a parameter's documentation that is shown whole where it is the answer."""
_WHOLE_SYMBOL = 700
"""Characters of the documentation of a function or class that is shown whole where it comes first."""
_BEYOND = 120
"""Characters by which the paragraph that says most of the question may go beyond the budget."""
_TURNS_SHOWN = 3
_MOST_VALUES = 6
"""Explained values that are all shown."""
_LEANS = re.compile(
    r"(?:But|And|So|This|These|That|Those|It|They|Its|Their|Here|Both|Instead|Otherwise|However|Therefore|Thus|Hence|Also|Then|Alternatively|Additionally|"
    r"In (?:this|that|such|the latter|these|either|both|which|other) |The (?:latter|former|same|above|following|previous)|Such|Similarly|Likewise|Conversely|"
    r"If so|If not|If (?:this|it|they|these) |When (?:this|it|they) |Since (?:this|it|they) |Doing (?:so|this)|By doing (?:so|this)|To (?:do|fix|avoid|prevent) (?:this|that|so)|"
    r"(?:For|With|Because of|Due to|After|Before) this|As a result|(?:Please )?[Nn]ote(?: also)? that (?:this|it|these|they))\b"
)
"""How a sentence begins that needs the one before it."""
_SHORT_PARAGRAPH = 420
"""Characters of a paragraph that is shown whole or not at all."""
_FAR_FROM_ASKED = 0.12
"""A sentence worth less is beside the question."""
_DECIDES = 0.6
"""A line of a list that says this share of the question is shown, even if it is not a whole sentence."""
_FAR_BESIDE = 0.3
"""The same for a passage that is shown beside the first."""
_SENTENCES_LOOKED_AT = 400
_SAYS_MORE = 15
"""Characters beyond a parameter's name that a sentence about it has."""
_CALL = re.compile(r"[\w.]++\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|[^()=]*+=[^()]*+\)")
"""A line that repeats the signature, or the end of one."""
_SPAN, _KEYWORD, _CODE_KEYWORDS = re.compile(r"`[^`\n]*+`"), re.compile(r"(?<!\w)\w++=[^\s=]"), 3
"""Keywords with values, and how many make a paragraph code."""
_BEGINNING = 40
"""Characters by which the paragraph that begins the documentation is found."""


class _Sentence(NamedTuple):
    text: str
    paragraph: int
    place: int = 0
    """Its number in the paragraph, also counting those that are never shown."""


def window(
    passage: Passage, asked: AskedWords, budget: int, said: Sequence[str] = (), *, first: bool = True
) -> list[str]:
    """What to show of a passage: verbatim runs of sentences, in order, each within one paragraph.

    Args:
        passage: the documentation.
        asked: what the question asks for.
        budget: characters; a sentence that turns the advice round is shown beyond it.
        said: what the answer says already.
        first: whether the passage comes first; of any other only what is close to the question is shown.
    """
    far = _FAR_FROM_ASKED if first else _FAR_BESIDE
    all_sentences = _without_other_values(_sentences(passage, asked), asked)
    if passage.what == "message":  # the sentence that says what to do shares no word with what is quoted
        return list(_runs(all_sentences, range(min(len(all_sentences), _MESSAGE))))
    told = [plain(one) for one in said]
    is_said = [any(plain(one.text) in other for other in told) for one in all_sentences]
    worth = _worths(all_sentences, asked, passage.parameter or (passage.symbol or "").rpartition(".")[2])
    if first and _is_short(passage, all_sentences, asked):
        return list(_runs(all_sentences, [one for one, is_known in enumerate(is_said) if not is_known]))
    if asked.asks("difference") and passage.pinned and not passage.parameter:
        # what sets a thing apart shares no word with a question that only names it
        chosen = _opening(all_sentences, budget, most=budget, paragraphs=2)
        worth = _of_cues(all_sentences, worth, asked)
    else:
        chosen = _opening(all_sentences, budget) if _begins(passage, asked, worth) else set()
    runs = _best_runs(all_sentences, worth, chosen, far)
    chosen |= _that_fit(all_sentences, worth, runs, chosen, (budget, _BEYOND if first else 0))
    if not chosen:
        chosen |= _opening(all_sentences, budget)
    chosen |= _explained(all_sentences) if first else set()
    chosen |= set(_turning(all_sentences, worth, chosen, _far_turning(passage, far, first=first)))
    chosen |= _leaned_on(all_sentences, chosen)
    chosen |= _rest_of_paragraphs(all_sentences, chosen, _SHORT_PARAGRAPH if first else FIRST_PARAGRAPH)
    return list(_runs(all_sentences, sorted(one for one in chosen if not is_said[one])))


def _that_fit(
    all_sentences: Sequence[_Sentence],
    worth: Sequence[float],
    runs: Iterable[Sequence[int]],
    shown: set[int],
    room: tuple[int, int],
) -> set[int]:
    """The sentences of the best runs for which there is room beside those shown; the best run may go beyond the budget."""
    budget, beyond = room
    chosen = set(shown)
    left = budget - sum(len(all_sentences[one].text) for one in chosen)
    for place, run in enumerate(runs):
        length = sum(len(all_sentences[one].text) for one in run if one not in chosen)
        more = 0 if place else beyond
        fitting = run if length <= left else _fitting(all_sentences, worth, run, left + more)
        chosen |= set(fitting)
        left -= sum(len(all_sentences[one].text) for one in fitting)
    return chosen


def told_of(name: str, owner: Passage) -> list[str]:
    """What the documentation of a callable says of a parameter that has none of its own; at most two runs."""
    naming = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    runs = []
    before = ""
    for paragraph in prose(documentation(owner)).split("\n"):
        if _CALL.fullmatch(paragraph) or _is_code(paragraph):
            continue
        told = [one for one in sentences(paragraph) if len(one) <= _LONGEST]
        if naming.search(paragraph) and not naming.match(plain(paragraph).lstrip("*`'\"- ")):
            first, told = _naming_sentence(told, naming)
            if before and told and not first and leans(told[0]):
                runs.append(before)
        if naming.search(paragraph) and told and len(told[0]) > len(name) + _SAYS_MORE:
            whole = " ".join(told)
            runs.append(whole if len(whole) <= FIRST_PARAGRAPH else told[0])
        before = told[-1] if told else before
    return runs[:3]


def _naming_sentence(told: list[str], naming: re.Pattern[str]) -> tuple[int, list[str]]:
    """The first sentence with a name, with those that it leans on, as one; and where it begins."""
    first = last = next((place for place, one in enumerate(told) if naming.search(one)), len(told))
    if first == len(told):
        return first, []
    while first and leans(told[first]):
        first -= 1
    return first, [" ".join(told[first : last + 1])]


def leans(sentence: str) -> bool:
    """Whether a sentence needs the one before it: "In this case, ..."."""
    return _LEANS.match(plain(sentence)) is not None


def leaned_on(passage: Passage, sentence: str) -> list[str]:
    """The sentences before one in its passage without which it cannot be understood, in order."""
    found = _sentences(passage)
    place = next((number for number, one in enumerate(found) if one.text == sentence), 0)
    return [found[number].text for number in sorted(_leaned_on(found, {place}) - {place})]


def as_told(run: str) -> str:
    """A run as it is printed; text without sentences that was too long ends with dots."""
    cut = len(run) > _LONGEST - _WORD and not re.search(r"[.!?:。)\]`'\"]$", run)
    return plain(run) + (" ..." if cut else "")


def first_sentence(passage: Passage) -> str:
    """The first sentence of the documentation; empty where there is none."""
    return next((one.text for one in _sentences(passage)), "")


def all_of(passage: Passage) -> list[str]:
    """The sentences of a passage's documentation."""
    return [one.text for one in _sentences(passage)]


def _sentences(passage: Passage, asked: AskedWords | None = None) -> list[_Sentence]:
    """The sentences of the documentation by paragraph; of a parameter without its name and type before them.

    A line of a few words is one only where it says most of what is asked: "Thread-safe and process-safe".
    """
    is_section = passage.kind in {"section", "page"}
    if (not is_section and not passage.lead) or passage.what == "requirements":
        return []
    if passage.what == "setting":  # its documentation is a string in the code
        return [_Sentence(sentence, 0, place) for place, sentence in enumerate(sentences(passage.lead))]
    text = passage.lead if passage.what == "message" else documentation(passage)
    paragraphs = [one for one in prose(text).split("\n") if not _CALL.fullmatch(one)]
    if not is_section:
        paragraphs = _from_lead(paragraphs, passage)
    found_sentences = [
        _Sentence(sentence, number, place)
        for number, paragraph in enumerate(paragraphs)
        for place, sentence in enumerate(sentences(paragraph))
        if len(sentence) <= _LONGEST
        and not _is_code(sentence)
        and (
            passage.what == "message"  # where it sends the reader is part of the advice
            or says_something(sentence)
            or (not number and not is_pointer(sentence))
            or (is_section and asked is not None and asked.share(sentence) >= _DECIDES)
        )
    ]
    if not found_sentences and passage.lead and not is_pointer(passage.lead):
        found_sentences = [_Sentence(shortened(passage.lead, _LONGEST), 0)]
    return found_sentences[:_SENTENCES_LOOKED_AT]


def _is_code(text: str) -> bool:
    """Whether a paragraph is the arguments of a call whose code block has no mark of its own."""
    return len(_KEYWORD.findall(_SPAN.sub("", text))) >= _CODE_KEYWORDS


def _from_lead(paragraphs: Sequence[str], passage: Passage) -> list[str]:
    """The paragraphs from the one that begins what is said of a symbol; before it stand names, types and links."""
    start = plain(passage.lead)[:_BEGINNING]
    for number, paragraph in enumerate(paragraphs):
        before, found, after = plain(paragraph).partition(start)
        if found:
            begun = found + after if before else paragraph
            return [begun, *paragraphs[number + 1 :]]
    lead = plain(passage.lead)
    if _CALL.fullmatch(lead):
        return list(paragraphs)
    return [passage.lead, *(one for one in paragraphs if plain(one) not in lead)]


def _without_other_values(all_sentences: list[_Sentence], asked: AskedWords) -> list[_Sentence]:
    """The sentences without those that explain other values than the one that the question names."""
    explained = {
        one.paragraph: value for one in reversed(all_sentences) if (value := explained_value(one.text))
    }
    if not any(asked.gives(value) for value in explained.values()):
        return all_sentences
    others = {paragraph for paragraph, value in explained.items() if not asked.gives(value)}
    return [one for one in all_sentences if one.paragraph not in others]


def _explained(all_sentences: Sequence[_Sentence]) -> set[int]:
    """The first sentences about each value of a list of values: an incomplete list misleads; none of a long one."""
    found = {number for number, one in enumerate(all_sentences) if explained_value(one.text)}
    return found if len(found) <= _MOST_VALUES else set()


def _worths(all_sentences: Sequence[_Sentence], asked: AskedWords, name: str) -> list[float]:
    """What each sentence says of the question; the fix often shares no word with it, and stands behind what does.

    Args:
        all_sentences: of one passage.
        asked: what the question asks for.
        name: what the passage is about.
    """
    known = stems(name.replace("_", " ")) & asked.stems if asked.parsed.kind == "how_to" else frozenset()
    besides = known if asked.telling - known else frozenset()
    own = [
        asked.worth(one.text, besides)
        + (_VALUE_ASKED if asked.names(explained_value(one.text)) else 0.0)
        + (_EXPECTED if asked.expects(one.text, name) else 0.0)
        for one in all_sentences
    ]
    worths = []
    for number, one in enumerate(all_sentences):
        before = [
            own[number - back] * _INHERITED**back
            for back in range(1, min(_REACH, number) + 1)
            if all_sentences[number - back].paragraph in {one.paragraph, max(1, one.paragraph - 1)}
        ]
        worths.append(max([own[number], *(before if asked.is_cue(one.text) else [])]))
    return worths


def _far_turning(passage: Passage, far: float, *, first: bool) -> float:
    """What a sentence that turns the advice round must be worth more than."""
    return -1.0 if passage.parameter else 0.0 if first else far


def _begins(passage: Passage, asked: AskedWords, worth: Sequence[float]) -> bool:
    """Whether the beginning of a passage is shown: of a section only where its title says most of the question."""
    return passage.kind not in {"section", "page"} or asked.share(passage.title) >= max(worth, default=0.0)


def _is_short(passage: Passage, all_sentences: Sequence[_Sentence], asked: AskedWords) -> bool:
    """Whether the documentation of a parameter, or of a symbol that the asker names, is shown whole where it is the answer."""
    is_named = passage.pinned or asked.expects((passage.symbol or "").rpartition(".")[2])
    longest = _WHOLE_PARAMETER if passage.parameter else _WHOLE_SYMBOL if passage.symbol and is_named else 0
    return sum(len(one.text) for one in all_sentences) <= longest


def _of_cues(all_sentences: Sequence[_Sentence], worth: Sequence[float], asked: AskedWords) -> list[float]:
    """The worth of the sentences that answer in the question's kind; that of any other is 0."""
    return [one if asked.is_cue(each.text) else 0.0 for one, each in zip(worth, all_sentences, strict=True)]


def _opening(
    all_sentences: Sequence[_Sentence], budget: int, *, most: int = FIRST_PARAGRAPH, paragraphs: int = 1
) -> set[int]:
    """The first paragraphs, as much of them as fits in whole sentences; at least the first sentence."""
    chosen: set[int] = set()
    length = 0
    opening = list(dict.fromkeys(one.paragraph for one in all_sentences))[:paragraphs]
    for number, one in enumerate(all_sentences):
        length += len(one.text)
        if chosen and (one.paragraph not in opening or length > min(most, budget)):
            break
        if is_pointer(one.text) and not chosen and len(all_sentences) > 1:
            continue
        chosen.add(number)
    return chosen


def _best_runs(
    all_sentences: Sequence[_Sentence], worth: Sequence[float], chosen: set[int], far: float
) -> Iterator[list[int]]:
    """The paragraphs that say most of the question, best first, without those that say little of it."""
    paragraphs: dict[int, list[int]] = {}
    for number, one in enumerate(all_sentences):
        paragraphs.setdefault(one.paragraph, []).append(number)
    by_worth = sorted(
        (max(worth[number] for number in run), -place, run)
        for place, run in paragraphs.items()
        if any(number not in chosen for number in run)
    )
    for most, _place, run in reversed(by_worth):
        if most > far:
            yield run


def _leaned_on(all_sentences: Sequence[_Sentence], chosen: set[int]) -> set[int]:
    """The sentences without which a chosen one cannot be understood: "Instead, ...", "This behavior ..."."""
    found: set[int] = set()
    for number in chosen:
        place = number
        while place and number - place < _REACH and leans(all_sentences[place].text):
            place -= 1
            found.add(place)
    return found


def _rest_of_paragraphs(all_sentences: Sequence[_Sentence], chosen: set[int], longest: int) -> set[int]:
    """The other sentences of the paragraphs of which one is shown, as far as these are short: alone, a sentence misleads."""
    lengths: Counter[int] = Counter()
    for one in all_sentences:
        lengths[one.paragraph] += len(one.text)
    shown = {all_sentences[number].paragraph for number in chosen}
    return {
        number
        for number, one in enumerate(all_sentences)
        if one.paragraph in shown and lengths[one.paragraph] <= longest
    }


def _fitting(
    all_sentences: Sequence[_Sentence], worth: Sequence[float], run: Sequence[int], left: int
) -> list[int]:
    """The run of sentences of a paragraph around its best that fits."""
    best = max(run, key=lambda number: worth[number])
    if len(all_sentences[best].text) > left:
        return []
    chosen = [best]
    length = len(all_sentences[best].text)
    low = high = run.index(best)
    while True:
        beside = [place for place in (high + 1, low - 1) if 0 <= place < len(run)]
        nearby = [place for place in beside if length + len(all_sentences[run[place]].text) <= left]
        if not nearby:
            return sorted(chosen)
        place = max(nearby, key=lambda one: worth[run[one]])
        if worth[run[place]] <= _FAR_FROM_ASKED:
            return sorted(chosen)
        chosen.append(run[place])
        length += len(all_sentences[run[place]].text)
        low, high = min(low, place), max(high, place)


def _turning(
    all_sentences: Sequence[_Sentence], worth: Sequence[float], chosen: set[int], far: float
) -> list[int]:
    """The sentences that turn the advice round; where there are many, those that are nearest to the question."""
    turning = [
        number
        for number, one in enumerate(all_sentences)
        if number not in chosen and turns_round(one.text) and worth[number] > far
    ]
    near = {one.paragraph for number, one in enumerate(all_sentences) if number in chosen}
    turning.sort(
        key=lambda number: (all_sentences[number].paragraph in near, worth[number], -number), reverse=True
    )
    return turning[:_TURNS_SHOWN]


def _runs(all_sentences: Sequence[_Sentence], chosen: Sequence[int]) -> Iterator[str]:
    run: list[_Sentence] = []
    for one in (all_sentences[number] for number in chosen):
        if run and (one.paragraph, one.place) == (run[-1].paragraph, run[-1].place + 1):
            run.append(one)
            continue
        if run:
            yield " ".join(each.text for each in run)
        run = [one]
    if run:
        yield " ".join(each.text for each in run)
