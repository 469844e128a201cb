"""What a question is, as one value: its kinds, the names in it, and the sentences that ask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.question.analysis import parts_of, versions_in
from kr_core.question.pasted import Place, asking_sentences, is_only_error
from kr_core.question.pasted import parts_of as pasted_parts_of
from kr_core.question.question_names import Form, Identifier, Role, identifiers_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Form",
    "Identifier",
    "ParsedQuestion",
    "Place",
    "QuestionKind",
    "Role",
    "given_values",
    "parse_question",
]

_LONGEST = 1_000_000
_GIVEN = re.compile(r"""[=:]\s?["']([\w.+-]{1,40})["']""")
QuestionKind = Literal[
    "how_to", "meaning", "default", "difference", "replacement", "error", "yes_no", "options"
]

_FAULT = r"\b\w*(?:Error|Exception|Warning)\b"
_AUX = r"(?:is|are|does|do|can|could|will|would|has|have|should|must|was|did)(?:n't)?"
_NAME = r"[`'\"]?[\w.]+(?:\(\))?[`'\"]?"
_DIFFERENCE = re.compile(
    rf"\bdifferences?\b(?! (?:between )?(?:two|the two|dates|times|rows|columns)\b)|\bdiffers?\b|\bhow (?:is|are|does) .{{1,80}}? (?:different|differ) (?:from|to|than)\b|(?<=[\w`'\")] )(?:vs\.?|versus)(?= )|\bcompared (?:to|with)\b"
    rf"|\bwhen (?:should|do|would|to|must) .{{0,20}}?\buse\b.{{1,60}}?\b(?:and when|or|over|instead of|rather than|versus|vs)\b|\bshould i (?:use|prefer|choose|pick|go for) {_NAME} (?:or|over) "
    rf"|\bwhich (?:one )?(?:is better|should i use|to use)\b.{{0,20}}? {_NAME} or |\b(?:better to use|prefer) {_NAME} (?:or|over) ",
    re.IGNORECASE,
)
_COMPUTED = re.compile(
    r"\b(?:compute|computing|calculate|calculating|get|find|take|show|display|measure)\s(?:\w+\s){0,3}differences?\b|\btime difference\b",
    re.IGNORECASE,
)
_REPLACEMENT = re.compile(
    rf"\bwhat (?:has |have )?(?:replaced|replaces|superseded|supersedes)\b|\breplacements? (?:for|of)\b|\b(?:been |was |is |were |are |got )(?:now )?(?:replaced (?:by|with)|deprecated|removed|renamed|superseded|moved)\b"
    rf"|\b(?:is|are|was|were|has|have|got) {_NAME} (?:now |been )?(?:deprecated|removed|renamed|replaced|superseded|moved|gone)\b|\b(?:happened to|become of|became of|successor (?:to|of))\b|\bdeprecat\w{{0,5}}\b(?![._(])|\brenamed to\b|\bno longer (?:exists?|available|there|works?|supported|found)\b|\bwhere did\b.{{1,60}}?\bgo\b"
    rf"|\b(?:use|call|write|do|pass|there)\b(?: \w+){{0,3}} (?:instead\b(?! of\b)|in place of|in lieu of)|\bwhat (?:should|do|can|must|would) (?:i|we|you|one) (?:use|call|write|pass|do) instead of\b|\b(?:new|modern|current) (?:way|equivalent|name|version) (?:of|for|to)\b|\bequivalent (?:of|to|for)\b.{0, 60}?\b(?:v?\d|new)",
    re.IGNORECASE,
)
_RAISED = re.compile(
    rf"{_FAULT}(?=:\s)|\bTraceback\b|\berror:|\bfail(?:s|ed|ing)? with\b|\b(?:an?|the|this|following|error) (?:error|exception) (?:message|says?|that|saying|when|about|from|if|in|on|after)\b"
    rf"|(?:get|gets|getting|got|see|seeing|raise[sd]?|raising|throw[sn]?|threw|throwing|fix|solve|resolve|avoid|cause[sd]?|trigger(?:s|ed)?|why|hit|with|gives?|gave|says?|complains)\b[^.?!]{{0,60}}?{_FAULT}"
    rf"|{_FAULT}[^.?!]{{0,60}}?\b(?:come from|comes from|fix|solve|avoid|cause|why)\b"
    r"|\b(?:rais(?:e|es|ing)|throw(?:s|ing)?|fail(?:s|ed|ing)? with|complain(?:s|ing)?(?: about| that)?|say(?:s|ing)?):? [\"'`\u201c]\w+ \w"
    r"|\bhas no attribute\b|\bunexpected keyword argument\b|\bcannot import name\b|\bis not a function\b|\bNo module named\b|\bmissing \d+ required\b|\bis not callable\b|\bwhy (?:do|does|am|is) (?:i|my|it)\b.{0,60}?\b(?:error|exception|fail|crash)",
)
_HANDLES = re.compile(
    rf"\bhow (?:do|can|should|would|to|does)\b[^.?!]{{0,30}}?\b(?:catch|handle|raise|throw|return|define|create|test|assert|ignore|suppress|customi[sz]e|log|use|mock|register|retry)\b[^.?!:]{{0,60}}?(?:{_FAULT}|\bexceptions?\b|\berrors?\b)",
    re.IGNORECASE,
)
_DEFAULT = re.compile(r"\bdefaults?\b(?![_.(\w])", re.IGNORECASE)
_SETS_DEFAULT = re.compile(
    r"\b(?:set|change|override|overriding|provide|give|giving|specify|define|add|use|make|apply|setting|have|with|remove|disable|declare|assign|fill|return)\b(?: \w+){0,4}? defaults?\b|\bdefault (?:factory|dict|argument that)\b"
    r"|\bthe default (?:\w+ ){0,3}(?:to|with|from|so)\b|\b(?:its|their|my|our) defaults? (?:values? )?from\b",
    re.IGNORECASE,
)
_ACTS_BY_DEFAULT = re.compile(
    r"\b(?:what|which|how (?:many|much|long|often|wide|large|big|deep|far|old))\b.{0,80}?\b(?:does|do|is|are|will)\b(?! (?:i|we|you|one)\b).{1,80}?\bby default\b"
    r"|\b(?:does|do|is|are)\b(?! (?:i|we|you|one)\b).{1,60}?\b(?:have|there) (?:a|an|any) (?:\w+ )?default\b",
    re.IGNORECASE,
)
"""What a thing does by default is asked, or whether there is one, not how to make it do so."""
_OMITTED = re.compile(
    r"\bif (?:i|you|we|one) (?:do not|don'?t|never|didn'?t) (?:pass|give|set|specify|provide|supply)\b|\bif (?:\w+ ){1,3}(?:is|are) (?:omitted|left out|not (?:given|passed|set|specified|provided|supplied))\b"
    r"|\b(?:when|if) (?:omitted|not (?:given|passed|set|specified|provided|supplied))\b",
    re.IGNORECASE,
)
"""What holds where a thing is not given is asked."""
_OPTIONS = re.compile(
    r"\b(?:which|what)(?: are(?: the| all)?| kinds? of| the)? (?:\w+ )?(?:options|values|choices|modes|formats|strategies|levels|arguments|parameters|methods|engines|flags|types|orders|kinds|keywords|settings|schemes|backends|codecs|algorithms|drivers)\b(?! (?:do i|should i|mean))"
    r"|\b(?:allowed|possible|valid|accepted|supported|available|legal) (?:\w+ )?(?:options|values|choices|modes|formats|strategies|arguments|parameters|strings|inputs|engines|types|levels)\b|\bwhat can (?:i|you|be|we) (?:pass(?:ed)?|give|given|set|specif(?:y|ied))\b(?: \w+){0,3} (?:to|as|for|into)\b|\blist of (?:all )?(?:\w+ )?(?:options|values|modes)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    rf"(?:\A|[.;:,!?]\s+|\b(?:but|and|so|or) (?=(?:is|are|does|can|will)))[\"'(]*(?!(?:can|could|would|will) you\b|{_AUX} there (?:a|an|any|some) (?:\w+ )?(?:way|method|function|option|built-?in|helper|equivalent|class|setting|parameter|possibility)\b){_AUX} \S|\bwhether\b",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\bhow (?:do|does|did|can|could|should|would|to|is|are|come)\b|\bhow'd\b|\b(?:is|are) there (?:a|an|any|some)\b.{0,40}?\b(?:way|method|function|option|built-?in|helper|possibility)\b|\bany way to\b|\b(?:best|right|correct|easiest|simplest|proper|recommended|cleanest|idiomatic) (?:way|method|practice)\b"
    r"|\bi (?:want|need|wish)\b|\bi'd like\b|\btrying to\b|\bneed to\b|\bwant to\b|\bwhat (?:do|should|must|can|would) (?:i|we|you|one)\b|\b(?:which|what) (?:\w+ ){1,3}(?:do|should|must|can|would) (?:i|we|you|one)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:what|which)\b", re.IGNORECASE)
_MEANING = re.compile(
    rf"\bwhat(?: exactly|'s|s)? (?:is|are|does|do|happens|will|did) (?!(?:the )?(?:best|right|correct|easiest|simplest|proper|recommended|cleanest|idiomatic|way)\b)(?!(?:i|we|you|one)\b)|\bwhat's (?!the (?:best|right|correct|easiest|simplest|proper|recommended|way)\b)|\b(?:what|which) type (?:does|do|is|are|will) (?!(?:i|we|you|one)\b)|\bmeaning of\b|\bexplain\b|\bpurpose of\b|\bmeant by\b|\bwhen (?:is|are|does) |\bhow does {_NAME} (?:\w+ )?(?:work|behave)\b|\bwhat (?:causes|triggers|raises)\b|\b(?:what|which) (?:\w+ )?(?:errors?|exceptions?|warnings?) (?:does|do|can|will|may) (?!(?:i|we|you|one)\b)",
    re.IGNORECASE,
)


class ParsedQuestion(NamedTuple):
    """What a question asks.

    `kinds` has the most telling kind first and is never empty.
    """

    text: str
    asking: str
    """The sentences that ask, without pasted code, tracebacks and data."""
    kinds: tuple[QuestionKind, ...]
    identifiers: tuple[Identifier, ...] = ()
    versions: tuple[str, ...] = ()
    """Version numbers that the question names, in order."""

    @property
    def kind(self) -> QuestionKind:
        """The most telling kind."""
        return self.kinds[0]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that each ask for something; none where the question asks for one thing."""
        return tuple(parts_of(self.asking))

    def spells(self, names: Iterable[str]) -> bool:
        """Whether it has the last part of one of these names, spelled as code or behind the first part."""
        ends = {(name.partition(".")[0].lower(), name.rpartition(".")[2].lower()) for name in names}
        lasts = {last for _root, last in ends}
        return any(one.form != "weak" and one.last.lower() in lasts for one in self.identifiers) or any(
            f"{root} {last}" in self.asking.lower() for root, last in ends if root != last
        )


def given_values(text: str) -> list[str]:
    """The values that a text gives parameters (`mode="wrap"`), without their quotes, in order."""
    return _GIVEN.findall(text)


def parse_question(text: str) -> ParsedQuestion:
    """Parse a question; pure and linear in the length of the text."""
    pasted = pasted_parts_of(text[:_LONGEST])
    asking = asking_sentences(pasted)
    kinds = kinds_of(asking, error=bool(pasted.error))
    names = identifiers_of(pasted, asking, kinds)
    return ParsedQuestion(
        text, asking or " ".join(dict.fromkeys(name.name for name in names))[:300] or text[:300], kinds, names,
        versions_in(asking),
    )  # fmt: skip


def kinds_of(asking: str, *, error: bool = False) -> tuple[QuestionKind, ...]:
    """The kinds of a question, the most telling first; never empty.

    Args:
        asking: the sentences that ask.
        error: an error was pasted with them.
    """
    if is_only_error(asking):
        return ("error",)
    yes_no = bool(_YES_NO.search(asking))
    sets = bool(_SETS_DEFAULT.search(asking)) and not _ACTS_BY_DEFAULT.search(asking)
    omitted = bool(_OMITTED.search(asking) and _WHICH.search(asking))
    defaults = (bool(_DEFAULT.search(asking)) and not sets) or omitted
    whether = yes_no and defaults and not _WHICH.search(asking)
    told: dict[QuestionKind, bool] = {
        "difference": bool(_DIFFERENCE.search(asking)) and not _COMPUTED.search(asking),
        "replacement": bool(_REPLACEMENT.search(asking)),
        "error": error or (bool(_RAISED.search(asking)) and not _HANDLES.search(asking)),
        **({"yes_no": True} if whether else {}),
        "default": defaults,
        "options": bool(_OPTIONS.search(asking)),
        "yes_no": yes_no,
    }
    found = [kind for kind, is_told in told.items() if is_told]
    if _MEANING.search(asking) and (not found or found[0] in {"error", "yes_no"}):
        found.append("meaning")
    return (*found, "how_to") if _HOW.search(asking) or not found else tuple(found)
