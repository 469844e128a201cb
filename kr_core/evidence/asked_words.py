"""The words that a question asks for, and the parameters and options that it names."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.sentences import documentation, prose
from kr_core.question.parsed_question import given_values, parse_question
from kr_core.text import STOP_WORDS, content_words, is_weak, stem, stems, words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from kr_core.model import Passage
    from kr_core.question.parsed_question import QuestionKind

_CUE = 0.35
"""What a sentence that answers in the question's kind says beyond its words, as a share of the question."""
_WEAK = 0.3
_SHORT = 3
"""Letters of a name that no plural is looked for of."""
_PASSAGES_LOOKED_AT = 8
_TEXT_LOOKED_AT = 20_000
_QUESTION_JOINED = 2_000
"""Characters of a question in which two words may be one name: `inplace` for "in place"."""
_LONG_NAME = 6
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
"""What a name leaves out of a word: `prereleases` for "pre-releases"."""
_CUES: dict[QuestionKind, str] = {
    "default": r"\bdefaults?\b|\bif not (?:given|set|specified)\b|\bif omitted\b",
    "difference": r"\bunlike\b|\bin contrast\b|\bwhereas\b|\bdiffer\w*\b|\bshortcut\b|\binstead\b|\bsame as\b|\bequivalent\b|\brather than\b|\bbut\b",
    "replacement": r"\binstead\b|\bnow available as\b|\brenamed\b|\bin favou?r of\b|\blegacy\b|\breplace[sd]?\b|\bdeprecated\b",
    "error": r"\bto (?:fix|avoid)\b|\binstead\b|\bmake sure\b|\bmust\b|\bcall\b.*\bfirst\b|\byou can\b|\brais(?:e|es|ed)\b",
    "options": r"\bone of\b|\beither\b|\bor\b|\bone or more\b",
    "yes_no": r"\bcan\b|\bcannot\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b",
    "how_to": r"\bto\b \w+ .*\buse\b|\buse\b|\bpass\b|\byou can\b|\bset\b",
}
_TURNS = re.compile(
    r"\binstead\b|\bdeprecated\b|\blegacy\b|\bunsafe\b|\binsecure\b|\bmust not\b|\bdo not use\b|\bdon't use\b|\bnever use\b"
    r"|\bonly (?:if|applies)\b|\bappl(?:ies|y) only\b|\bexcept(?! (?:block|clause|statement))\b|\bnot recommended\b|\bwarning\b|\bdiscouraged\b|\bno effect\b"
    r"|\bsecur(?:e|ity)\b|\barbitrary code\b|\bmalicious\b|\buntrusted\b|\bnot safe\b|\bvulnerab\w+\b",
    re.IGNORECASE,
)
_NOT_PARAMETERS = frozenset({"default", "self", "value", "data", "name"})
"""Names that are everyday words of questions: they count only where a question spells them as code."""


class AskedWords:
    """A question's kinds, words and names, the words weighted by how rare they are in the passages.

    Args:
        question: what is asked.
        passages: what was found; a word that all of them say tells little.
        expected: names that the asker expects in the answer.
    """

    def __init__(self, question: str, passages: Sequence[Passage], expected: Sequence[str] = ()) -> None:
        self.question = question
        self._expected = frozenset(name for one in expected if len(name := one.rpartition(".")[2]) > _SHORT)
        self._unhyphened = _HYPHEN.sub("", question)
        said = words(question[:_QUESTION_JOINED])
        self._joined = frozenset(f"{one}{other}" for one, other in pairwise(said))
        self.parsed = parse_question(question)
        self._given = frozenset(given_values(question))
        self.stems = stems(self.parsed.asking)
        self.telling = frozenset(
            stem(word) for word in content_words(self.parsed.asking) if not is_weak(word)
        )
        self._cue = re.compile(
            "|".join(_CUES[kind] for kind in self.parsed.kinds if kind in _CUES) or r"(?!)", re.IGNORECASE
        )
        self._weights = self._weighed(passages)
        self._all = sum(self._weights.values()) or 1.0

    def _weighed(self, passages: Sequence[Passage]) -> dict[str, float]:
        seen: Counter[str] = Counter()
        for passage in passages[:_PASSAGES_LOOKED_AT]:
            for paragraph in prose(documentation(passage)[:_TEXT_LOOKED_AT]).split("\n"):
                seen.update(stems(paragraph) & self.stems)
        return {one: (1.0 if one in self.telling else _WEAK) / (1 + seen[one]) ** 0.5 for one in self.stems}

    def share(self, text: str) -> float:
        """The share of the question that a text says, by rarity; 0-1."""
        return self.share_of(stems(text))

    def share_of(self, roots: AbstractSet[str]) -> float:
        """The same of the stems of a text."""
        return sum(self._weights[one] for one in roots & self.stems) / self._all

    def worth(self, text: str, besides: AbstractSet[str] = frozenset()) -> float:
        """The share, some words aside, and more for a cue of the question's kind in a text that says some of it."""
        share = self.share_of(stems(text) - besides)
        return share + _CUE if share and self._cue.search(text) else share

    def expects(self, text: str, besides: str = "") -> bool:
        """Whether a text says a name that the asker expects, one aside."""
        return not self._expected.isdisjoint(set(re.findall(r"\w+", text)) - {besides})

    def is_cue(self, text: str) -> bool:
        """Whether a sentence answers in the question's kind (`instead`, `defaults to`), even with other words."""
        return self._cue.search(text) is not None

    def names(self, name: str) -> bool:
        """Whether the question spells a name, or says all the words of one that has several (`follow redirects`)."""
        last = name.rpartition(".")[2].lstrip("*")
        if not last:
            return False
        if any(last == one.name.rpartition(".")[2] for one in self.parsed.identifiers):
            return True
        plural = "s?" if len(last) > _SHORT else ""
        one = f"{re.escape(last)}{plural}"
        if last.endswith("y") and len(last) > _SHORT:  # strategies
            one = f"(?:{one}|{re.escape(last[:-1])}ies)"
        spelled = re.compile(rf"(?<!\w){one}(?!\w)")
        if spelled.search(self.question) or spelled.search(self._unhyphened):
            return True
        if len(last) >= _LONG_NAME and last.lower() in self._joined:
            return True
        parts = {stem(part) for part in words(last.replace("_", " "))}
        is_part_of_other = any(
            parts < _parts_of(one.name) for one in self.parsed.identifiers if "_" in one.name
        )
        return len(parts) > 1 and parts <= self.stems and not is_part_of_other

    def gives(self, value: str) -> bool:
        """Whether the question gives a parameter this value: `mode="wrap"`."""
        return value in self._given

    def is_for_other(self, code: str) -> bool:
        """Whether the question gives a value and code has none that it gives."""
        return bool(self._given) and not any(value in code for value in self._given)

    def asks(self, *kinds: QuestionKind) -> bool:
        """Whether the question is of one of these kinds."""
        return any(kind in kinds for kind in self.parsed.kinds)


def _parts_of(name: str) -> set[str]:
    """The stems of the words of a name's last part."""
    return {stem(part) for part in words(name.rpartition(".")[2].replace("_", " "))}


def turns_round(sentence: str) -> bool:
    """Whether a sentence turns the advice before it round, so that a reader must not miss it."""
    return _TURNS.search(sentence) is not None


class NamedParameter(NamedTuple):
    """A parameter, and the passage in which its declaration stands."""

    name: str
    default: str | None
    symbol: str
    """What takes it; empty for an option that has a passage of its own."""
    passage: Passage


def named_parameters(asked: AskedWords, known: Sequence[Passage]) -> list[NamedParameter]:
    """The parameters that the question names; those of a symbol that it names too come first."""
    found: list[tuple[bool, int, NamedParameter]] = []
    symbols = {(one.symbol or "").rpartition(".")[2] for one in known[:1] if not one.parameter}
    for place, passage in enumerate(known):
        if not passage.symbol:
            continue
        own = (
            [(passage.parameter, passage.default)]
            if passage.parameter
            else [(name.lstrip("*"), default) for name, default in passage.parameters]
        )
        is_named = passage.pinned or asked.names(passage.symbol) or owner_named(asked, passage.symbol)
        found += [
            (not is_named, place, NamedParameter(name, default, passage.symbol, passage))
            for name, default in own
            if name not in symbols and is_asked(asked, name)
        ]
        option = _option(asked, passage, place)
        if option is not None:
            found.append((not is_named, place, option))
    in_order = sorted(found, key=lambda one: one[:2])
    if any(passage.pinned for passage in known):  # of anything else the question does not speak
        return [one for unnamed, _place, one in in_order if not unnamed]
    return [one for _unnamed, _place, one in in_order]


def _option(asked: AskedWords, passage: Passage, place: int) -> NamedParameter | None:
    """An option that has a passage of its own, if the question names it, or its plural and it comes first."""
    last = (passage.symbol or "").rpartition(".")[2]
    if passage.what not in {"attribute", "constant", "setting"} or passage.parameter:
        return None
    is_meant = is_asked(asked, last) or (place == 0 and asked.names(f"{last}s"))
    if passage.what == "constant" and not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", asked.question):
        return None  # that its name has the question's words is not enough
    return NamedParameter(last, passage.default, "", passage) if is_meant else None


def is_asked(asked: AskedWords, name: str) -> bool:
    """Whether a question asks about what has a name: one that is an everyday word only where it is spelled as code."""
    if name.casefold() in _NOT_PARAMETERS or name in STOP_WORDS:
        return is_code(asked.question, name)
    said = [
        found["rest"]
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)(?P<rest>\.\w)?", asked.question)
    ]
    return asked.names(name) and not (said and all(said))  # `specifiers.SpecifierSet` names a module


def is_code(question: str, name: str) -> bool:
    """Whether a question spells an everyday word as a name: in back-ticks, with `=`, or as that of which the default is asked."""
    spelled = re.escape(name)
    of = rf"\bdefaults? (?:value )?(?:of|for) (?:the )?{spelled} (?:in|of|for|on|to)\b"
    return re.search(rf"[`.]{spelled}`|\b{spelled}=|{of}", question) is not None


def owner_named(asked: AskedWords, symbol: str) -> bool:
    """Whether a question names the class that a method belongs to."""
    owner = symbol.rpartition(".")[0].rpartition(".")[2]
    return bool(owner[:1].isupper() and asked.names(owner))


def first_parameter(first: Passage, known: Sequence[Passage]) -> list[NamedParameter]:
    """The parameter that the question turned out to be about, though it may call it by other words."""
    if not (first.pinned and first.parameter and first.symbol):
        return []
    own = [NamedParameter(first.parameter, first.default, first.symbol, first)]
    if first.default is not None:
        return own
    takers = [one for one in known if one.symbol == first.symbol and not one.parameter]
    of_taker = [
        NamedParameter(first.parameter, default, first.symbol, one)
        for one in takers
        for name, default in one.parameters
        if name == first.parameter and default is not None
    ]
    return [*of_taker, *own]  # documentation that several share lies beside another's signature
