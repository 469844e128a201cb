"""The first sentence of an answer, in the kind of the question, where one is certain; else none.

A sentence made by rule holds a value, never advice: what to do with it the documentation says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence import yes_or_no
from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.heads import default_of, marks_nothing, read_in
from kr_core.evidence.quoted_lists import items_below
from kr_core.evidence.raised_errors import raised_by
from kr_core.evidence.requirements import requirement
from kr_core.evidence.sentences import assignment_of, documentation, value_of
from kr_core.evidence.window import all_of, first_sentence, leaned_on
from kr_core.text import STOP_WORDS, stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_LONG_VALUE = 80
_LONG_LIST = 240
_TWO = 2
_DESCRIBES = 0.2
"""The share of the question that a parameter's documentation says beyond its callable's name where it is what is asked about."""
_IF_NOT_GIVEN = re.compile(
    r"\bdefaults? (?:to|is|value is)\b(?! `?None)|^by default\b|\bif (?:omitted|unset|None|`None`|not (?:given|set|specified|provided|passed|supplied))\b"
    r"|\bif it is `?None\b|\b(?:When|If) (?:set to )?`?None\b",
    re.IGNORECASE,
)
_OF_WORD = re.compile(
    r"\bdefaults? (?:value )?(?:of|for) (?:the )?[`'\"]?(\w+)[`'\"]? (?:in|of|for|on|to)\b", re.IGNORECASE
)
"""What a question calls the thing whose default it asks for."""
_DEFAULTS_TO = re.compile(
    r"[`*]{0,2}(\w{1,60})[`*]{0,2}(?: (?:parameter|argument|option|keyword|setting))? (?:defaults to|is \S{1,60} by default)"
)
_ASKS_RAISED = re.compile(
    r"\bwhat happens (?:if|when)\b|\b(?:what|which) (?:\w+ )?(?:errors?|exceptions?)\b.{0,60}\b(?:raise[sd]?|throws?)\b|\bwhen (?:does|will|do)\b.{1,60}\b(?:raise|throw|fail)\b"
    r"|\b(?:does|will|do)\b.{1,60}\b(?:raise|throw) (?:an? )?(?:\w+ )?(?:error|exception)|\bwhat does .{1,60}\b(?:raise|throw|do (?:if|when))\b",
    re.IGNORECASE,
)
_OF_CLASS = re.compile(r"^class \w+$", re.MULTILINE)
"""The head of a class beside the documentation of what it takes."""
_CONSTRUCTED = re.compile(r"^def __(?:init|new)__\b", re.MULTILINE)
_ASKS_PARAMETERS = re.compile(
    r"\b(?:options?|parameters?|params|arguments?|args|settings?|keywords?|kwargs|fields?)\b", re.IGNORECASE
)
_FAILS = re.compile(
    r"\b(?:missing|(?:not|n't) (?:exist|found|there|present|in|match)\w*|invalid|wrong|bad|fails?|absent|unknown|empty|negative|too \w+|no|raises?|throws?)\b",
    re.IGNORECASE,
)
_SAYS_CASE = 0.15
"""The share of the question beyond the callable's name that the case says in which it raises."""
_MOST_RAISED = 3
_OPTIONAL = re.compile(r"\boptional\b", re.IGNORECASE)
_CLEARLY = 0.75
"""What the next parameter says of it at most, beside that."""
_DECIDES = 0.6
"""The share of a yes/no question that the sentence which decides it must say."""
_PLAIN_LITERAL = re.compile(
    r"^(?:None|True|False|-?\d[\d_.]*|[rbf]?['\"][^'\"]*['\"]|\.\.\.|\(\)|\[\]|\{\})$"
)
_DIFFERS = re.compile(
    r"\bunlike\b|\bin contrast\b|\bwhereas\b|\bdiffer\w*\b|\bshortcut\b|\bsame as\b|\bequivalent\b|\brather than\b|\binstead of\b"
    r"|\bsimilar to\b|\blike\b.{1,80}\b(?:but|except)\b",
    re.IGNORECASE,
)
_DECIDING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\bis\b|\bare\b|\baccept\w*\b",
    re.IGNORECASE,
)
_ACTING = re.compile(
    r"\bcan(?:not)?\b|\bnot\b|\bonly\b|\bsupport\w*\b|\ballow\w*\b|\bmust\b|\bsafe\b|\bwill\b|\baccept\w*\b|n't\b|\bnever\b",
    re.IGNORECASE,
)
"""The same for a question that does not ask what something is."""
_ITEM = re.compile(
    r"^[ \t]*+(?:[-*+•][ \t]++)?(``?[\w.+-]{1,40}``?|'[\w.+-]{1,40}'|\"[\w.+-]{1,40}\")[ \t]{0,9}(?:\(default\)|,[^\n]{0,30})?[ \t]{0,9}(?::|--|$)",
    re.MULTILINE,
)
"""A value that an item of a list explains."""
_MOST_ITEMS = 16
_LISTED = re.compile(r"\{[^{}\n]{1,200}\}")
_QUOTED_VALUE = r"(?:'[\w./+-]{1,40}'|\"[\w./+-]{1,40}\"|`[\w./+'\"-]{1,42}`)"
_VALUES = re.compile(
    rf"{_QUOTED_VALUE}(?:(?:,[ \t]?|[ \t]?\|[ \t]?|,?[ \t](?:or|and)[ \t]){_QUOTED_VALUE}){{1,40}}"
)
"""Values listed on one line, as a sentence or a union type does: `'pre' | 'post' | 'sync'`."""
_OPEN = re.compile(
    r"^(?:But|And|So|However|Otherwise|Instead|Therefore|Thus|Hence|Then)\b|\b[Ww]hether\b|\bif (?:it|this|they|you) should\b"
)
"""A sentence that does not decide without the one before it, or that leaves it open."""
_OF_VALUE = re.compile(r"[`'\"]*\w++[`'\"]*(?: -+|:) |(?:If|When)\b[^.!?]*+$")
"""The item of a list that says what one value does, and a condition without what follows from it."""
_ASKS_RETURNED = re.compile(
    r"\bwhat (?:type )?(?:does|do|will|is) [^?]{1,80} return(?:ed by [^?]{1,80})?[\s?.]*+$|\breturn type\b",
    re.IGNORECASE,
)
_OR_NONE = re.compile(r"(?<!\s)\s*+\|\s*+None$")
_CONJUNCTIONS = frozenset({"and", "or", "not", "in", "is", "from", "between", "with"})
"""Functions of query builders by name, and words of any question."""
_SAYS_WHAT = frozenset({"argument", "option", "parameter", "setting", "value", "keyword"})
_TYPE_LINE = re.compile(r"[:,] default(?:: ?|=| )(?::\w{1,20}:)?`{0,2}([\w.'\"-]{1,60})`{0,2}$")
"""The end of a line of types in numpy's form."""
_LONG_LINE = 300
_NOT_PARAMETERS = frozenset({"default", "self", "value", "data", "name"})
"""Names that are everyday words of questions: they count only where a question spells them as code."""


class Quote(NamedTuple):
    """A verbatim part of a passage."""

    passage: Passage
    text: str


class DirectAnswer(NamedTuple):
    """A sentence, what it quotes, and its parts that are verbatim there."""

    text: str
    quotes: tuple[Quote, ...]
    slots: tuple[str, ...]
    said: tuple[str, ...] = ()
    """Sentences that need not be shown again."""


def direct_answer(
    asked: AskedWords, passages: Sequence[Passage], support: Sequence[Passage]
) -> DirectAnswer | None:
    """The sentence that answers in the question's kind; None where none is certain.

    Args:
        asked: what the question asks for.
        passages: those that answer, the best first.
        support: what explains them.
    """
    if not passages:
        return None
    known = [*passages, *support]
    if passages[0].what == "requirements":
        return _stated(asked, passages[0])
    if asked.asks("default"):
        only = passages[0].parameter if len(passages) == 1 and passages[0].pinned else None
        named = [*_first_parameter(passages[0], known), *_parameters(asked, known)]
        found = _default(asked, named, known, only) or _default_described(asked, known)
        if found is not None:
            return found
        told = _told_by_callable(asked, passages[0])
        if told is not None:
            return told
    if _ASKS_RAISED.search(asked.parsed.asking) and passages[0].pinned:
        raised = _raised(asked, passages[0])
        if raised is not None:
            return raised
    first = passages[0]
    if _ASKS_RETURNED.search(asked.parsed.asking) and first.pinned and first.what == "function":
        return _returned(first)
    if asked.asks("options"):
        return _options(asked, known)
    if asked.asks("difference"):
        return _difference(asked, subjects(asked, passages))
    if asked.asks("yes_no"):
        return _yes_no(asked, passages[0], known)
    return None


def _stated(asked: AskedWords, metadata: Passage) -> DirectAnswer | None:
    """The field of a package's metadata that answers."""
    stated = requirement(asked, metadata)
    if stated is None:
        return None
    text, quotes, slots = stated
    return DirectAnswer(text, tuple(Quote(metadata, one) for one in quotes), tuple(slots), tuple(quotes))


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


class _Parameter(NamedTuple):
    """A parameter, and the passage in which its declaration stands."""

    name: str
    default: str | None
    symbol: str
    """What takes it; empty for an option that has a passage of its own."""
    passage: Passage


def _parameters(asked: AskedWords, known: Sequence[Passage]) -> list[_Parameter]:
    """The parameters that the question names; those of a symbol that it names too come first."""
    found: list[tuple[bool, int, _Parameter]] = []
    symbols = {(one.symbol or "").rpartition(".")[2] for one in known[:1] if not one.parameter}
    for place, passage in enumerate(known):
        if not passage.symbol:
            continue
        own = (
            [(passage.parameter, passage.default)]
            if passage.parameter
            else [(name.lstrip("*"), default) for name, default in passage.parameters]
        )
        is_named = passage.pinned or asked.names(passage.symbol) or _owner_named(asked, passage.symbol)
        found += [
            (not is_named, place, _Parameter(name, default, passage.symbol, passage))
            for name, default in own
            if name not in symbols and _is_asked(asked, name)
        ]
        option = _option(asked, passage, place)
        if option is not None:
            found.append((not is_named, place, option))
    in_order = sorted(found, key=lambda one: one[:2])
    if any(passage.pinned for passage in known):  # of anything else the question does not speak
        return [one for unnamed, _place, one in in_order if not unnamed]
    return [one for _unnamed, _place, one in in_order]


def _option(asked: AskedWords, passage: Passage, place: int) -> _Parameter | None:
    """An option that has a passage of its own, if the question names it, or its plural and it comes first."""
    last = (passage.symbol or "").rpartition(".")[2]
    if passage.what not in {"attribute", "constant", "setting"} or passage.parameter:
        return None
    is_asked = _is_asked(asked, last) or (place == 0 and asked.names(f"{last}s"))
    if passage.what == "constant" and not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", asked.question):
        return None  # that its name has the question's words is not enough
    return _Parameter(last, passage.default, "", passage) if is_asked else None


def _is_asked(asked: AskedWords, name: str) -> bool:
    if name.casefold() in _NOT_PARAMETERS or name in STOP_WORDS:
        return _is_code(asked.question, name)
    said = [
        found["rest"]
        for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)(?P<rest>\.\w)?", asked.question)
    ]
    return asked.names(name) and not (said and all(said))  # `specifiers.SpecifierSet` names a module


def _is_code(question: str, name: str) -> bool:
    """Whether a question spells an everyday word as a name: in back-ticks, with `=`, or as that of which the default is asked."""
    spelled = re.escape(name)
    of = rf"\bdefaults? (?:value )?(?:of|for) (?:the )?{spelled} (?:in|of|for|on|to)\b"
    return re.search(rf"[`.]{spelled}`|\b{spelled}=|{of}", question) is not None


def _owner_named(asked: AskedWords, symbol: str) -> bool:
    owner = symbol.rpartition(".")[0].rpartition(".")[2]
    return bool(owner[:1].isupper() and asked.names(owner))


def _first_parameter(first: Passage, known: Sequence[Passage]) -> list[_Parameter]:
    """The parameter that the question turned out to be about, though it may call it by other words."""
    if not (first.pinned and first.parameter and first.symbol):
        return []
    own = [_Parameter(first.parameter, first.default, first.symbol, first)]
    if first.default is not None:
        return own
    takers = [one for one in known if one.symbol == first.symbol and not one.parameter]
    of_taker = [
        _Parameter(first.parameter, default, first.symbol, one)
        for one in takers
        for name, default in one.parameters
        if name == first.parameter and default is not None
    ]
    return [*of_taker, *own]  # documentation that several share lies beside another's signature


def _told_by_callable(asked: AskedWords, first: Passage) -> DirectAnswer | None:
    """What a callable's documentation says of a default of what it hands on: "The `methods` parameter defaults to ..."."""
    own = {first.symbol, (first.symbol or "").rpartition(".")[2]}
    for sentence in all_of(first) if first.pinned and not first.parameter else ():
        said = _DEFAULTS_TO.search(plain(sentence))
        if said is not None and said[1] not in own and _is_asked(asked, said[1]):
            return _quoted(first, sentence)
    return None


def _raised(asked: AskedWords, first: Passage) -> DirectAnswer | None:
    """What the documentation says that a callable raises in the case that is asked about; all of it where none is named."""
    found = raised_by(first)
    beyond = asked.share(first.symbol or "")
    is_case = re.search(r"\b(?:if|when)\b", asked.parsed.asking, re.IGNORECASE)
    shares = [asked.share(f"{one.when} {one.error} {first.symbol}") - beyond for one in found]
    most = max(shares, default=0.0)
    if is_case and (most >= _SAYS_CASE or not _FAILS.search(asked.parsed.asking)):
        found = [one for one, share in zip(found, shares, strict=True) if share >= max(_SAYS_CASE, most)]
    if not found or first.parameter or not first.symbol:
        return None
    told = [f"`{one.error}`: {plain(one.when)}" for one in found[:_MOST_RAISED]]
    text = f"`{first.symbol}` raises {' '.join(told)}"
    quotes = tuple(Quote(first, each) for one in found[:_MOST_RAISED] for each in (one.error, one.when))
    slots = tuple(each for one in found[:_MOST_RAISED] for each in one)
    return DirectAnswer(text, quotes, (first.symbol, *slots), slots[1::2])


def _returned(first: Passage) -> DirectAnswer | None:
    """What a callable is declared to return."""
    declared = first.returns or ""
    if first.parameter or not first.symbol or not declared or len(declared) > _LONG_VALUE:
        return None
    text = f"`{first.symbol}` returns `{folded(declared)}`."
    return DirectAnswer(text, (Quote(first, declared),), (first.symbol, declared))


def _default_described(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
    """The default of the one parameter of the first callable whose documentation says what the question calls it: "damping factor"."""
    first = known[0]
    if first.parameter or first.what not in {"function", "class"} or not asked.names(first.symbol or ""):
        return None
    own = {one.parameter: one for one in known if one.parameter and one.symbol == first.symbol and one.lead}
    beyond = asked.share(first.symbol or "")
    called = _OF_WORD.search(asked.parsed.asking)
    word = stems(called[1]) if called else frozenset()
    told = sorted(
        (
            (asked.share(f"{one.parameter} {one.lead} {first.symbol}") - beyond, one)
            for one in own.values()
            if word <= stems(f"{(one.parameter or '').replace('_', ' ')} {first_sentence(one)}")
        ),
        key=lambda pair: -pair[0],
    )
    named = [pair for pair in told if _says_name(asked, pair[1])]
    told = named or told
    if not told or told[0][0] < _DESCRIBES or (len(told) > 1 and told[1][0] > _CLEARLY * told[0][0]):
        return None
    one = told[0][1]
    return _default(asked, [_Parameter(one.parameter or "", one.default, one.symbol or "", one)], known, None)


def _says_name(asked: AskedWords, parameter: Passage) -> bool:
    """Whether the question says a word of a parameter's name that its callable's name does not have: "chunk size" of `chunks`."""
    own = stems((parameter.parameter or "").replace("_", " ")) - stems(
        (parameter.symbol or "").replace("_", " ")
    )
    return bool(own & asked.telling)


def _default(
    asked: AskedWords, found: Sequence[_Parameter], known: Sequence[Passage], only: str | None
) -> DirectAnswer | None:
    """`The default of P in S is V`, or that P is required; of one parameter where it is given."""
    needed = [one for one in found if only in {None, one.name} and _is_required(asked, one, known)]
    first = needed[0] if needed and needed[0] is found[0] and known[0].parameter else None
    told = _required(first, known[0]) if first is not None else _value_told(asked, found, known, only)
    return told or (_required(needed[0], known[0]) if needed else None)


def _value_told(
    asked: AskedWords, found: Sequence[_Parameter], known: Sequence[Passage], only: str | None
) -> DirectAnswer | None:
    """`The default of P in S is V`, with what a constant or `None` means."""
    for one in found:
        value = default_of(one.passage, one.default) or _given_instead(one)
        is_handed_on = value is None and one.passage is known[0] and not _is_required(asked, one, known)
        told = _said_of_default(one.passage) if is_handed_on else ""
        if told and only in {None, one.name}:  # documented alone, and handed on
            return _quoted(one.passage, told)
        if value is None or len(value) > _LONG_VALUE or (only and one.name != only):
            continue
        holder, named = _held_by(one, known[0])
        verdict = yes_or_no.of_default(asked, one.name, value, [one.symbol, *one.passage.aliases])
        text = f"{verdict}: the" if verdict else "The"
        text += f" default of {holder} is `{value}`"
        declared = last_run(one.passage) if _given_instead(one) else _declaration(one, value)
        quote, slots = Quote(one.passage, declared), (*named, value)
        if _is_handed_on(one, known[0]):
            text += "."
            return DirectAnswer(text, (quote, Quote(known[0], known[0].parameter or value)), slots)
        relative, meaning, place = _stands_for(known, one, value)
        about, said = _none_told(known, one) if value == "None" and place is None else (one.passage, "")
        if said:  # what `None` stands for, in the words of the documentation
            run = [*leaned_on(about, said), said]
            more = [Quote(about, each) for each in run]
            meant = " ".join(map(plain, run))
            return DirectAnswer(f"{text}: {meant}", (quote, *more), (*slots, *run), tuple(run))
        if place is None:
            return DirectAnswer(f"{text}.", (quote,), slots)
        text += f", which {relative} `{folded(meaning)}`."
        return DirectAnswer(text, (quote, place), (*slots, meaning), (meaning,))
    return None


def _given_instead(one: _Parameter) -> str | None:
    """What a function takes where nothing is given, if the default in its signature only marks that."""
    is_mark = bool(one.passage.parameter) and marks_nothing(one.default or "")
    return one.passage.default_means if is_mark else None


def _required(one: _Parameter, first: Passage) -> DirectAnswer:
    """That each call must give a parameter."""
    holder, names = _held_by(one, first)
    quote = Quote(one.passage, _declaration(one, one.name))
    return DirectAnswer(f"{holder} has no default: it is required.", (quote,), tuple(names))


def _is_required(asked: AskedWords, one: _Parameter, known: Sequence[Passage]) -> bool:
    """Whether each call must give a parameter that the question spells.

    What is only documented as optional has a default that no signature shows.
    """
    if not re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", asked.question):
        return False
    if not _is_code(asked.question, one.name) and (one.name in STOP_WORDS or _qualifies(asked, one.name)):
        return False
    declared = f"{one.passage.annotation or ''} {one.passage.lead if one.passage.parameter else ''}"
    is_needed = one.default is None and one.name in one.passage.required
    return is_needed and not _OPTIONAL.search(declared) and _is_called(one, known)


def _qualifies(asked: AskedWords, name: str) -> bool:
    """Whether a plain word only says of which thing the default is asked: `worker` in "the default worker timeout"."""
    said = re.search(rf"\bdefault (?:\w+ )?{re.escape(name)} (\w+)", asked.parsed.asking, re.IGNORECASE)
    return said is not None and said[1].lower() not in STOP_WORDS | _SAYS_WHAT


def _is_called(one: _Parameter, known: Sequence[Passage]) -> bool:
    """Whether a parameter is one of a function or constructor; the keys of a `TypedDict` may be left out."""
    if one.passage.what != "class" and not _OF_CLASS.search(one.passage.text):
        return True
    owners = [one.passage, *(each for each in known if each.symbol == one.symbol and not each.parameter)]
    return any(_CONSTRUCTED.search(each.text) for each in owners)


def _none_told(known: Sequence[Passage], one: _Parameter) -> tuple[Passage, str]:
    """The passage about a parameter, and its sentence about what holds if nothing is given."""
    about = [each for each in known if each.parameter == one.name and each.symbol == one.symbol]
    return next(((each, said) for each in about if (said := _said_of_default(each))), (one.passage, ""))


def _said_of_default(passage: Passage) -> str:
    """The sentence of a parameter's documentation that says what holds if nothing is given; empty where none does."""
    told = (one for one in all_of(passage) if passage.parameter and _IF_NOT_GIVEN.search(plain(one)))
    return next(told, "")


def _stands_for(known: Sequence[Passage], one: _Parameter, value: str) -> tuple[str, str, Quote | None]:
    """What a default means: `is` a constant's value, or `means` what the function puts in the place of `None`."""
    meaning = next((each for each in known if _means(each, one)), None) if value == "None" else None
    if meaning is not None and meaning.default_means:
        return "means", meaning.default_means, Quote(meaning, last_run(meaning))
    if value == "None":
        return _declared_in_words(known, one)
    constant = None if _PLAIN_LITERAL.match(value) else behind(known, value)
    if constant is None or len(folded(value_of(constant))) > _LONG_VALUE:
        return "", "", None
    return "is", value_of(constant), Quote(constant, assignment_of(constant))


def _declared_in_words(known: Sequence[Passage], one: _Parameter) -> tuple[str, str, Quote | None]:
    """The default that the line of types gives where the signature has `None`: `figsize : float, default: 6.4`."""
    about = [each for each in known if each.parameter == one.name and each.symbol == one.symbol]
    for passage in about:
        line = documentation(passage).strip().split("\n")[0]
        declared = _TYPE_LINE.search(line) if len(line) <= _LONG_LINE else None
        if declared is not None and declared[1] != "None":
            return "means", declared[1], Quote(passage, line)
    return "", "", None


def _means(passage: Passage, one: _Parameter) -> bool:
    """Whether a passage says what a default of `None` of a parameter means."""
    is_same = passage.parameter == one.name and passage.symbol == one.symbol
    return is_same and passage.default_means is not None


def last_run(passage: Passage) -> str:
    """The last run of a passage's lines."""
    lines = passage.text.split("\n")
    return "\n".join(lines[passage.lines[-1][0] :]) if passage.lines else passage.text


def _held_by(one: _Parameter, first: Passage) -> tuple[str, list[str]]:
    """A parameter and what takes it, or an option under its full name; and the names in it."""
    if _is_handed_on(one, first):
        handed = f"`{one.name}` in `{one.symbol}`, to which `{first.symbol}` hands it on,"
        return handed, [one.name, one.symbol]
    if one.symbol:
        return f"`{one.name}` in `{one.symbol}`", [one.name, one.symbol]
    where = read_in(one.passage)
    if where:
        return f"`{one.name}` in `{where}`", [one.name, where]
    return f"`{one.passage.symbol}`", [one.passage.symbol or one.name]


def _is_handed_on(one: _Parameter, first: Passage) -> bool:
    """Whether what the question names takes a parameter only to hand it on to what declares it."""
    return bool(one.symbol and first.symbol != one.symbol and first.symbol in one.passage.also)


def _declaration(one: _Parameter, value: str) -> str:
    """What is quoted for a default: the parameter's line of the signature."""
    if one.passage.parameter:
        return one.passage.signature or value
    for line in one.passage.text.split("\n"):
        if re.match(rf"\s*\*{{0,2}}{re.escape(one.name)}\s*[:=]", line) and value in folded(line):
            return line.strip().rstrip(",")
    return value


def bare_name(name: str) -> str:
    """The name in an annotation or a default, without quotes and `| None`."""
    return _OR_NONE.sub("", name.strip("'\" "))


def behind(known: Sequence[Passage], name: str) -> Passage | None:
    """The constant or alias behind a bare name in a signature."""
    bare = bare_name(name).rpartition(".")[2]
    return next(
        (
            one
            for one in known
            if one.what == "constant"
            and one.kind in {"constant", "type"}
            and (one.symbol or "").rpartition(".")[2] == bare
        ),
        None,
    )


def _options(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
    """`P in S takes ...`: the members of a `Literal`, or those that the documentation lists in braces."""
    found = _parameters(asked, known)
    subject = found[0].symbol if found and asked.names(found[0].symbol) else ""
    for one in found:
        if subject and one.symbol and one.symbol != subject:  # another function's list may be another
            continue
        is_named = one.passage.pinned or asked.names(one.symbol) or _owner_named(asked, one.symbol)
        if one.symbol and not is_named:  # the question only happens to say its name
            continue
        told = _choices(one, known) or _values(one) or _items(one)
        if told is not None:
            return told
    return _members(known) if _ASKS_PARAMETERS.search(asked.parsed.asking) else None


def _choices(one: _Parameter, known: Sequence[Passage]) -> DirectAnswer | None:
    """The list in braces of a parameter, or the members of its `Literal`."""
    passage = one.passage
    declares = behind(known, passage.annotation) or passage if passage.annotation else passage
    choices = value_of(declares) if declares is not passage else passage.annotation or ""
    source = declares
    if "Literal[" not in choices:
        listed = _LISTED.search(passage.text.split("\n")[0]) if passage.parameter else None
        choices, source = listed[0] if listed else "", passage
    if not choices or len(choices) > _LONG_LIST or not holds(source.text, choices):
        return None
    text = f"The options of `{one.name}` in `{one.symbol}`: `{folded(choices)}`."
    quotes = dict.fromkeys([Quote(passage, passage.signature or one.name), Quote(source, folded(choices))])
    return DirectAnswer(text, tuple(quotes), (one.name, one.symbol, choices), (plain(choices),))


def _items(one: _Parameter) -> DirectAnswer | None:
    """The values of a parameter whose documentation has an item for each."""
    passage = one.passage
    items = _ITEM.findall(passage.text) if passage.parameter else []
    if len(items) < 2:
        return None
    values = list(dict.fromkeys(items))[:_MOST_ITEMS]
    text = f"The options of `{one.name}` in `{one.symbol}`: {', '.join(plain(value) for value in values)}."
    quote = next(line.strip() for line in passage.text.split("\n") if values[0] in line)
    return DirectAnswer(text, (Quote(passage, quote),), (one.name, one.symbol, *values))


def _values(one: _Parameter) -> DirectAnswer | None:
    """The values of an option that its documentation or its type lists."""
    said = None if one.symbol else _VALUES.search(one.passage.text)
    if said is None:
        return None
    text = f"The options of `{one.passage.symbol}`: {said[0]}."
    return DirectAnswer(text, (Quote(one.passage, said[0]),), (one.passage.symbol or "", said[0]))


def _members(known: Sequence[Passage]) -> DirectAnswer | None:
    """What a type holds that the function named in the question takes: its options."""
    first = known[0]
    if not first.pinned or first.what != "function" or not first.symbol:
        return None
    for one in known[1:]:
        is_taken = (
            one.kind == "type" and one.symbol and re.search(rf"\b{re.escape(one.symbol)}\b", first.text)
        )
        names = (
            list(dict.fromkeys(name for name, _default in one.parameters))[:_MOST_ITEMS] if is_taken else []
        )
        if len(names) > 1 and one.symbol:
            text = f"The options of `{first.symbol}`: {', '.join(f'`{name}`' for name in names)}."
            line = next((line.strip() for line in one.text.split("\n") if names[0] in line), names[0])
            quotes = (Quote(first, first.signature or first.symbol), Quote(one, line))
            return DirectAnswer(text, quotes, (first.symbol, *names))
    return None


def _difference(asked: AskedWords, both: Sequence[Passage]) -> DirectAnswer | None:
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
                return _quoted(passage, sentence)
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
    quoted = _quoted(passage, heading)
    items = [item.rstrip(".;,") for item in items]
    text = " ".join([quoted.text, "; ".join(map(plain, items))])
    quotes = (*quoted.quotes, *(Quote(passage, item) for item in items))
    return DirectAnswer(f"{text}.", quotes, (*quoted.slots, *items), (heading, *items))


def _yes_no(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> DirectAnswer | None:
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
        return None
    quoted, passage = _quoted(best.passage, best.text), best.passage
    names = [name for name in (passage.symbol, passage.parameter, *passage.aliases) if name]
    verdict = yes_or_no.of_sentence(asked, best.text, names) if first.pinned else ""
    return quoted._replace(text=f"{verdict}: {quoted.text}") if verdict else quoted


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


def _quoted(passage: Passage, sentence: str) -> DirectAnswer:
    """A sentence of a passage under the passage's name."""
    names = tuple(name for name in (passage.parameter, passage.symbol) if name)
    label = " in ".join(f"`{name}`" for name in names) or folded(passage.title)
    told = [*leaned_on(passage, sentence), sentence]
    text = " ".join([f"{label}:" if label else "", *map(plain, told)]).strip()
    return DirectAnswer(text, tuple(Quote(passage, one) for one in told), (*names, *told), tuple(told))
