"""The names in a question: those that it spells, and those that it says in everyday words.

A name that is mentioned is not thereby asked about; most mistakes come from taking one for the other. What a question says in
words leads to a name, too: "set the indent of a yaml dump" is about `yaml.dump(indent=...)`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.text import content_words, split_identifier, stem, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kr_core.question.parsed_question import ParsedQuestion, QuestionKind
    from kr_core.question.pasted import Pasted, Place

Form = Literal["code", "keyword", "call", "dotted", "snake", "camel", "weak"]
Role = Literal["subject", "context", "ignored"]

BUILTIN_NAMES = frozenset(name for name in dir(builtins) if not name.startswith("_")) | frozenset(
    keyword.kwlist
)
"""Names of the language itself: in a question about a library they are not the library's."""
_MOST = 60
"""So many names of one question are kept."""
_PLAIN = frozenset({"code", "dotted", "snake", "camel"})
_MOST_ALONE = 3
"""Names that a question may be made of, with little beside them."""
_LONGEST = 120
_STRENGTH = {
    form: n for n, form in enumerate(("code", "keyword", "call", "dotted", "snake", "camel", "weak"))
}
_ASKED = frozenset({"pair", "use", "what"})
_PLACES = {"prose": 0, "traceback": 1, "code": 2}
_TOKEN = re.compile(
    r"(?:(?<![\w.@/\\$-])|(?<=[\s`'\"(]\.)|(?<=[\s`'\"(]@)(?=[\w.]{1,80}\())[^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+"
)
_TICKED = re.compile(r"(?<!`)(`{1,2})([^`\n]{1,200}+)\1(?!`)")
_IS_NAME = re.compile(r"@?([^\W\d][\w$]*+(?:\.[^\W\d][\w$]*+)*+)(\(\s*+(?:\.\.\.)?\s*+\)|\s*+=)?")
_QUOTED = re.compile(r"(?<!\w)(['\"‘“])([^\W\d][\w.]{1,80}+)['\"’”](?!\w)")
_CAMEL = re.compile(r"[a-z0-9]++[A-Z]\w*+|[A-Z]++[a-z0-9]++[A-Z]\w*+|[A-Z]{2,}+[a-z]{2,}+\w*+")
_FAULT = re.compile(r"\w(?:Error|Exception|Warning)$")
_CAPITAL_WORD = re.compile(r"[A-Z][a-z0-9]+$")
_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc", "vs", "a.k.a", "p.s", "w.r.t"})
_FILE_ENDINGS = frozenset(
    """py pyi js ts tsx jsx mjs cjs txt csv tsv md rst yaml yml toml cfg ini exe zip gz tar png jpg jpeg pdf xls xlsx parquet ipynb sh bat
    com org net io dev html htm css""".split()
)
_URL = re.compile(r"\b\w++://\S++|(?<!\w)(?:~?/|\.{1,2}/)[\w.-]++(?:/[\w.-]*+)*+")
_NEVER_NAMES = frozenset(
    """a an the it its this that these those they them my your our his her i we you he she one ones someone something anything there here and or
    not no any all some each every both what which when where why how who in on of for with by from to is are was be has have do does did can
    will should if as at into after before than then so but also only""".split()
)
_SELDOM_NAMES = frozenset(
    """best right correct difference default value type name way purpose point meaning reason same other new old following above below first last
    next given line code error exception warning message method function class module package library option parameter argument attribute
    decorator setting replacement equivalent possible allowed accepted available supported valid alternative successor usage example exactly actually really mean use using used""".split()
)
"""Words that stand where a name might, and seldom are one; "the default of X in Y" is where they may be."""
_WORD = r"[`'\"]?\.?([^\W\d][\w.$]{0,80})"
_NOUN = r"(?:function|method|class|option|parameter|param|argument|arg|kwarg|keyword|decorator|attribute|property|field|setting|flag|module|exception|hook|context manager|constant|type)"
_CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("message", re.compile(rf"\bno attribute {_WORD}|\bargument:? ['\"`]([^\W\d]\w{{0,80}})|\bcannot import name {_WORD}|\bno exported member {_WORD}|(?<!\w){_WORD} is not a function|\bProperty {_WORD} does not exist|\bno parameter named {_WORD}", re.IGNORECASE)),
    ("holder", re.compile(r"['\"`]([^\W\d][\w.]{0,80})['\"`] (?:object )?has no attribute", re.IGNORECASE)),
    ("of", re.compile(rf"\bdefaults? (?:value )?(?:of|for) (?:the )?(?:{_NOUN} )?{_WORD}[`'\"()=]{{0,3}}(?: {_NOUN})? (?:in|of|for|on|to) ", re.IGNORECASE)),
    ("of", re.compile(rf"\b(?:values?|options|strings|choices|modes) (?:\w+ ){{0,3}}(?:pass|give|set|use|have|allowed|accepted|possible|valid|available|exist|there) (?:to |as )?(?:for|to|of) (?:the )?(?:{_NOUN} )?{_WORD}[`'\"()=]{{0,3}}(?: {_NOUN})? (?:in|of|for|on|to) ", re.IGNORECASE)),
    ("pair", re.compile(rf"\bbetween (?:the )?{_WORD}[`'\"()]{{0,3}}(?: {_NOUN}s?)? (?:and|vs\.?|or) (?:the )?{_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}},? (?:vs\.?|versus|compared (?:to|with)) (?:the )?{_WORD}|\buse (?:the )?{_WORD}[`'\"()]{{0,3}}(?: {_NOUN})?,? (?:and when (?:should I (?:use )?|to use |do I use )?|or |over |instead of |rather than |versus |vs\.? )(?:the )?{_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}} (?:differ|different) (?:from|to|than) (?:the )?{_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}} or (?:the )?{_WORD}", re.IGNORECASE)),
    ("instead", re.compile(rf"\b(?:instead of|rather than|in place of|as an alternative to) (?:the |using |calling )?{_WORD}", re.IGNORECASE)),
    ("replaced", re.compile(rf"\b(?:replaced|replaces|supersedes|superseded|happened to|become of|became of|successor (?:to|of)|replacements? (?:for|of)|equivalent (?:of|to)) (?:the )?(?:old )?{_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? (?:been |was |is |got |has been )?(?:now )?(?:deprecated|removed|renamed|replaced|superseded|gone)\b|\b(?:is|was|has) (?:the )?{_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? (?:been )?(?:deprecated|removed|renamed|replaced)|\bwhere did (?:the )?{_WORD}[`'\"()]{{0,3}} go\b", re.IGNORECASE)),
    ("default", re.compile(rf"\bdoes (?:the )?(?:\w+ ){{0,1}}?{_WORD}[`'\"()]{{0,3}} (?:use|have|keep|take|make|wait|return|allow|accept|apply|assume|read|write|listen|set|open|store|hold|run|retry|follow|send|cache|show|print|try) [^.?!]{{0,60}}?\bby default\b|\bdefault (?:value )?(?:of|for) (?:the )?(?:{_NOUN} )?{_WORD}|\bdefault {_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? default (?:to|value)\b|(?<![\w.]){_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? defaults? to\b", re.IGNORECASE)),
    ("use", re.compile(rf"\bhow (?:do I|do you|does one|can I|should I|would I|to) (?:use|call|invoke) (?:the )?{_WORD}(?=[`'\"()]{{0,4}}(?: {_NOUN})?(?: in \w+| from \w+| correctly| properly)?[\s?.!]*$)|\bhow (?:does|do) (?:the )?{_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? work|\bhow is (?:the )?{_WORD}[`'\"()]{{0,3}}(?: {_NOUN})? used|\b(?:usage|example|purpose|meaning) (?:of|for) (?:the )?{_WORD}|\bexplain (?:the )?{_WORD}|(?<![\w.]){_WORD}[`'\"()]{{0,3}} (?:usage|example)s?\b", re.IGNORECASE)),
    ("what", re.compile(rf"\b(?:what|which values|what values|what options|which options|which modes|what arguments|what parameters|which parameters|when) (?:exactly )?(?:does|do|is|are|can|did) (?:the )?(?:{_NOUN} )?{_WORD}|\bwhat's (?:the )?{_WORD}|\b(?:is|does|can) (?:the )?{_WORD}", re.IGNORECASE)),
    ("option", re.compile(rf"\b(?:the|an?) {_WORD}[`'\"()=]{{0,3}} {_NOUN}s?\b|\b{_NOUN} (?:called |named )?{_WORD}|(?<![\w.]){_WORD}[`'\"()=]{{0,3}} {_NOUN}\b", re.IGNORECASE)),
)  # fmt: skip
_OF_KIND = frozenset(
    stem(word)
    for word in """default value option difference mean meaning example happen argument parameter function method class module set use
    purpose change work give pass new call write code way""".split()
)
"""Words that say what kind of answer is asked for, or what any how-to says."""
_VERB = re.compile(
    r"\W*how (?:do|does|can|could|should|would|to)\b(?: (?:i|you|we|one))?(?: \w+ly)? (\w+)", re.IGNORECASE
)
"""How a how-to begins, with its verb."""
_MOST_LEFT = 2
"""Telling words that may be about something else, if they are no more than half."""
_JOINED = 2_000
"""Characters of a question in which two words may be one name: `skiprows` for "skip rows"."""


class Identifier(NamedTuple):
    """A name that a question spells."""

    name: str
    """As spelled, without back-ticks, brackets or `=`."""
    form: Form
    """How it is spelled: `code` in back-ticks, `keyword` as `name=`, `weak` as a plain word with a cue."""
    place: Place = "prose"
    role: Role = "subject"
    """Whether the question asks about it, only mentions it, or means something else by it."""

    @property
    def last(self) -> str:
        """The last part of a dotted name."""
        return self.name.rpartition(".")[2]


class _Spelled(NamedTuple):
    name: str
    form: Form
    place: Place
    at: int
    is_member: bool = False
    """It is spelled with a dot before it: `.dict()`."""


def identifiers_of(pasted: Pasted, asking: str, kinds: Sequence[QuestionKind]) -> tuple[Identifier, ...]:
    """All names of a question, each once, in the order in which it spells them, with their roles."""
    cues = _cues(asking, kinds[0])
    found: dict[str, _Spelled] = {}
    offset = 0
    for part in pasted.parts:
        for spelled in _spelled(part.text, part.place):
            _keep(found, spelled._replace(at=spelled.at + offset))
        offset += len(part.text) + 1
    for name in cues:
        if name not in found and len(found) < _MOST:
            place: Place = "traceback" if pasted.error and name not in pasted.prose else "prose"
            at = asking.find(name)
            found[name] = _Spelled(name, "weak", place, offset if place == "traceback" else at)
    plain = len(found) == 1 or all(one.form in _PLAIN for one in found.values())
    is_name_alone = plain and 1 <= len(found) <= _MOST_ALONE and len(pasted.prose.split()) < len(found) + 3
    return tuple(
        Identifier(
            one.name, one.form, one.place, _role(one, cues.get(one.name, ""), kinds, alone=is_name_alone)
        )
        for one in sorted(found.values(), key=lambda one: one.at)
    )


def _keep(found: dict[str, _Spelled], spelled: _Spelled) -> None:
    known = found.get(spelled.name)
    if known is None:
        if len(found) < _MOST:
            found[spelled.name] = spelled
        return
    best = min(known, spelled, key=lambda one: (_PLACES[one.place], _STRENGTH[one.form]))
    found[spelled.name] = best._replace(at=min(known.at, spelled.at))


def _role(one: _Spelled, cue: str, kinds: Sequence[QuestionKind], *, alone: bool) -> Role:
    """Whether a question of these kinds asks about a name."""
    kind = kinds[0]
    if (
        one.name in BUILTIN_NAMES
        and not one.is_member
        and (cue not in _ASKED or not _is_callable(one.name))
        and cue != "of"
    ):
        return "ignored"
    if cue == "message":
        return "subject"
    if one.place != "prose" or cue == "holder":
        return "context"
    if cue == "instead" and kind != "difference":
        return "subject" if kind == "replacement" else "context"
    return "subject" if _is_subject(one, cue, kind, alone=alone) else "context"


def _is_subject(one: _Spelled, cue: str, kind: QuestionKind, *, alone: bool) -> bool:
    """Whether a question of this kind asks about a name in its prose."""
    if kind == "difference":
        return cue == "pair"
    if _FAULT.search(one.name):
        return cue in {"what", "use", "replaced"} or kind == "meaning" or alone
    if one.form == "weak" and cue in {"", "option"}:
        return kind in {"meaning", "default", "options", "yes_no"}
    if kind == "error":
        return cue in {"use", "what"} or alone
    return kind != "how_to" or cue == "use" or alone


def _is_callable(builtin: str) -> bool:
    """Whether a name of the language may be a library's method too: `map`, `filter`."""
    return builtin.islower() and not keyword.iskeyword(builtin)


def _spelled(text: str, place: Place) -> Iterator[_Spelled]:
    plain = _URL.sub(lambda match: " " * len(match[0]), text)
    if place == "prose":
        for ticked in _TICKED.finditer(plain):
            yield from _in_ticks(ticked[2].strip(), ticked.start())
        plain = _TICKED.sub(lambda match: " " * len(match[0]), plain)
        for quoted in _QUOTED.finditer(plain):
            if not _is_file(quoted[2]):
                yield _Spelled(quoted[2], _form(quoted[2], "", "") or "weak", place, quoted.start())
    for token in _TOKEN.finditer(plain):
        name = token[0]
        if len(name) > _LONGEST or name.lower() in _ABBREVIATIONS or _is_file(name):
            continue
        after = plain[token.end() : token.end() + 2]
        form = _form(name, after, plain[max(0, token.start() - 2) : token.start()])
        if form is None and place == "prose" and _is_capital(plain, token):
            form = "weak"
        if form is not None:
            is_member = plain[max(0, token.start() - 1) : token.start()] == "."
            yield _Spelled(name, form, place, token.start(), is_member)


def _in_ticks(content: str, at: int) -> Iterator[_Spelled]:
    name = _IS_NAME.fullmatch(content)
    if name is not None:
        yield _Spelled(name[1], "keyword" if (name[2] or "").endswith("=") else "code", "prose", at)
        return
    for spelled in _spelled(content.lstrip(".@"), "code"):
        yield spelled._replace(at=at + spelled.at, place="prose")


def _form(name: str, after: str, before: str) -> Form | None:
    """How a word is spelled as a name; None for a plain word."""
    if after[:1] == "=" and after[1:] not in {"=", ">"} and "." not in name:
        return "keyword"
    if after[:1] == "(":
        return "call"
    if "." in name:
        return "dotted"
    if "_" in name.strip("_") or (name.startswith("__") and name.endswith("__") and len(name) > 4):
        return "snake"
    if before.endswith("@"):
        return "call"
    return "camel" if _CAMEL.fullmatch(name) else None


def _is_capital(text: str, token: re.Match[str]) -> bool:
    """Whether a word is written with a capital though no sentence begins with it, or is five capitals or more."""
    name = token[0]
    if name.isupper() and len(name) >= 5:
        return True
    if not _CAPITAL_WORD.match(name) or name.lower() in _NEVER_NAMES | _SELDOM_NAMES:
        return False
    before = text[max(0, token.start() - 3) : token.start()].rstrip()
    return (
        bool(before)
        and before[-1] not in ".?!:"
        and "\n" not in text[max(0, token.start() - 1) : token.start()]
    )


def _is_file(name: str) -> bool:
    return "." in name and name.rpartition(".")[2].lower() in _FILE_ENDINGS and not name[:1].isupper()


def _cues(asking: str, kind: QuestionKind) -> dict[str, str]:
    """Each name that stands where one is asked about, with the cue; the first cue of the list wins.

    "X or Y" counts only in a question about a difference.
    """
    found: dict[str, str] = {}
    for cue, pattern in _CUES:
        if cue == "pair" and kind != "difference":
            continue
        for match in pattern.finditer(asking):
            for group in match.groups():
                name = (group or "").rstrip(".")
                if name and not _is_file(name) and _may_be_name(name.lower(), cue):
                    found.setdefault(name, cue)
    return found


def _may_be_name(word: str, cue: str) -> bool:
    return cue == "of" or word not in _NEVER_NAMES | _SELDOM_NAMES


def telling_stems(parsed: ParsedQuestion, library: str) -> set[str]:
    """The stems of a question's telling words, without the library's name and those that any question of its kind has."""
    return (
        {stem(word) for word in content_words(parsed.asking)}
        - {stem(word) for word in words(library)}
        - _OF_KIND
    )


def named_elsewhere(names: Iterable[str], told: str) -> set[str]:
    """The stems that the last parts of some names say and a text does not: `read_csv` is another place for the words of a CSV."""
    return {part for name in names for part in _parts(name.rpartition(".")[2])} - set(map(stem, words(told)))


def says_parameter(
    parsed: ParsedQuestion,
    library: str,
    parameter: str,
    takers: Iterable[str],
    elsewhere: Collection[str] = frozenset(),
) -> bool:
    """Whether a how-to says a parameter and a callable that takes it, each in full, and for the most part nothing else.

    Args:
        parsed: the question.
        library: its name, which says nothing of the callable.
        parameter: its name.
        takers: the names of the callable, and of others that take the same parameter.
        elsewhere: stems that speak for another callable, from `named_elsewhere`.
    """
    if parsed.kind != "how_to":
        return False
    said = {stem(word) for word in words(parsed.asking)} | _joined(parsed.asking)
    named = _parts(parameter)
    taking = [parts for name in takers if (parts := _parts(name.rpartition(".")[2])) and parts <= said]
    verb = _VERB.match(parsed.asking)
    if verb is not None and named == {stem(verb[1].lower())}:  # "how do I check" does not speak of a `check`
        said = {stem(word) for word in words(parsed.asking[verb.end() :])}
    if not taking or not named or not named <= said:
        return False
    telling = telling_stems(parsed, library)
    left = telling.difference(named, *taking)
    return left.isdisjoint(elsewhere) and len(left) <= min(_MOST_LEFT, len(telling) / 2)


def _joined(asking: str) -> set[str]:
    return {stem(f"{one}{other}") for one, other in pairwise(words(asking[:_JOINED]))}


def _parts(name: str) -> set[str]:
    return {stem(part) for part in split_identifier(name)}
