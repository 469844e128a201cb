"""The sentence that tells a default: `The default of P in S is V`, what `None` stands for, or that the parameter is required."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.answer_sentence import LONG_VALUE, DirectAnswer, Quote, quoted
from kr_core.evidence.asked_words import NamedParameter, is_asked, is_code
from kr_core.evidence.citations import folded, plain
from kr_core.evidence.heads import default_of, marks_nothing, read_in
from kr_core.evidence.sentences import assignment_of, behind, documentation, value_of
from kr_core.evidence.window import all_of, first_sentence, leaned_on
from kr_core.evidence.yes_no_answer import verdict_of_default
from kr_core.text import STOP_WORDS, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_DESCRIBES = 0.2
"""The share of the question that a parameter's documentation says beyond its callable's name where it is what is asked about."""
_IF_NOT_GIVEN = re.compile(
    r"\bdefaults? (?:to|is|value is)\b(?! `?None)|^by default\b|\bif (?:omitted|unset|None|`None`|not (?:given|set|specified|provided|passed|supplied))\b"
    r"|\bif it is `?None\b|\b(?:When|If) (?:set to )?`?None\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_MARKED = re.compile(r"\(the default\)", re.IGNORECASE)
_OF_WORD = re.compile(
    r"\bdefaults? (?:value )?(?:of|for) (?:the )?[`'\"]?(\w+)[`'\"]? (?:in|of|for|on|to)\b", re.IGNORECASE
)
"""What a question calls the thing whose default it asks for."""
_DEFAULTS_TO = re.compile(
    r"[`*]{0,2}(\w{1,60})[`*]{0,2}(?: (?:parameter|argument|option|keyword|setting))? (?:defaults to|is \S{1,60} by default)"
)
_OF_CLASS = re.compile(r"^class \w+$", re.MULTILINE)
"""The head of a class beside the documentation of what it takes."""
_CONSTRUCTED = re.compile(r"^def __(?:init|new)__\b", re.MULTILINE)
_OPTIONAL = re.compile(r"\boptional\b", re.IGNORECASE)
_CLEARLY = 0.75
"""What the next parameter says of it at most, beside that."""
_PLAIN_LITERAL = re.compile(
    r"^(?:None|True|False|-?\d[\d_.]*|[rbf]?['\"][^'\"]*['\"]|\.\.\.|\(\)|\[\]|\{\})$"
)
_SAYS_WHAT = frozenset({"argument", "option", "parameter", "setting", "value", "keyword"})
_TYPE_LINE = re.compile(r"[:,] default(?:: ?|=| )(?::\w{1,20}:)?`{0,2}([\w.'\"-]{1,60})`{0,2}$")
"""The end of a line of types in numpy's form."""
_LONG_LINE = 300


def told_by_callable(asked: AskedWords, first: Passage) -> DirectAnswer | None:
    """What a callable's documentation says of a default of what it hands on: "The `methods` parameter defaults to ..."."""
    own = {first.symbol, (first.symbol or "").rpartition(".")[2]}
    for sentence in all_of(first) if first.pinned and not first.parameter else ():
        said = _DEFAULTS_TO.search(plain(sentence))
        if said is not None and said[1] not in own and is_asked(asked, said[1]):
            return quoted(first, sentence)
    return None


def default_described(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
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
    return default_answer(
        asked, [NamedParameter(one.parameter or "", one.default, one.symbol or "", one)], known, None
    )


def _says_name(asked: AskedWords, parameter: Passage) -> bool:
    """Whether the question says a word of a parameter's name that its callable's name does not have: "chunk size" of `chunks`."""
    own = stems((parameter.parameter or "").replace("_", " ")) - stems(
        (parameter.symbol or "").replace("_", " ")
    )
    return bool(own & asked.telling)


def default_answer(
    asked: AskedWords, found: Sequence[NamedParameter], known: Sequence[Passage], only: str | None
) -> DirectAnswer | None:
    """`The default of P in S is V`, or that P is required; of one parameter where it is given."""
    needed = [one for one in found if only in {None, one.name} and _is_required(asked, one, known)]
    marked = _marked_default(needed[0], known) if needed else None
    if marked is not None:
        return marked
    first = needed[0] if needed and needed[0] is found[0] and known[0].parameter else None
    told = _required(first, known[0]) if first is not None else _value_told(asked, found, known, only)
    return told or (_required(needed[0], known[0]) if needed else None)


def _value_told(
    asked: AskedWords, found: Sequence[NamedParameter], known: Sequence[Passage], only: str | None
) -> DirectAnswer | None:
    """`The default of P in S is V`, with what a constant or `None` means."""
    for one in found:
        value = default_of(one.passage, one.default) or _given_instead(one)
        is_handed_on = value is None and one.passage is known[0] and not _is_required(asked, one, known)
        told = _said_of_default(one.passage) if is_handed_on else ""
        if told and only in {None, one.name}:  # documented alone, and handed on
            return quoted(one.passage, told)
        if value is None or len(value) > LONG_VALUE or (only and one.name != only):
            continue
        given = _given_by_taker(asked, one, known)
        if given is not None:
            return given
        holder, named = _held_by(one, known[0])
        verdict = verdict_of_default(asked, one.name, value, [one.symbol, *one.passage.aliases])
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


def _given_by_taker(asked: AskedWords, one: NamedParameter, known: Sequence[Passage]) -> DirectAnswer | None:
    """The object that a named taker uses by default, made of the parameter's class: a session's `ClientTimeout(total=300)`."""
    call, keyword = f"{one.symbol.rpartition('.')[2]}(", re.compile(rf"\b{re.escape(one.name)}=")
    for taker in known:
        owner = (taker.symbol or "").rpartition(".")[2]
        is_named = asked.names(owner) or asked.expects(owner)
        if not taker.parameter or taker.symbol == one.symbol or not is_named:
            continue
        name = taker.default_means or taker.default or ""
        constant = behind(known, name) if name.isidentifier() else None
        value = value_of(constant) if constant is not None else ""
        is_made = keyword.search(value.partition(call)[2]) is not None
        if constant is None or not is_made or len(folded(value)) > LONG_VALUE:
            continue
        text = (
            f"The default of `{taker.parameter}` in `{taker.symbol}` is `{name}`, which is `{folded(value)}`."
        )
        quotes = (Quote(taker, last_run(taker)), Quote(constant, assignment_of(constant)))
        return DirectAnswer(text, quotes, (taker.parameter, taker.symbol or "", name, value), (value,))
    return None


def _given_instead(one: NamedParameter) -> str | None:
    """What a function takes where nothing is given, if the default in its signature only marks that."""
    is_mark = bool(one.passage.parameter) and marks_nothing(one.default or "")
    return one.passage.default_means if is_mark else None


def _marked_default(one: NamedParameter, known: Sequence[Passage]) -> DirectAnswer | None:
    """What the documentation of a callable marks as the default for a parameter that each call must give: what holds without a call."""
    for owner in known:
        if owner.symbol == one.symbol and not owner.parameter:
            others = {name.lstrip("*") for name, _default in owner.parameters} - {one.name}
            marked = (each for each in all_of(owner) if _MARKED.search(each))
            told = next((each for each in marked if others.isdisjoint(_WORD.findall(each))), "")
            return quoted(owner, told) if told else None
    return None


def _required(one: NamedParameter, first: Passage) -> DirectAnswer:
    """That each call must give a parameter."""
    holder, names = _held_by(one, first)
    quote = Quote(one.passage, _declaration(one, one.name))
    return DirectAnswer(f"{holder} has no default: it is required.", (quote,), tuple(names))


def _is_required(asked: AskedWords, one: NamedParameter, known: Sequence[Passage]) -> bool:
    """Whether each call must give a parameter that the question spells.

    What is only documented as optional has a default that no signature shows.
    """
    if not re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", asked.question):
        return False
    if not is_code(asked.question, one.name) and (one.name in STOP_WORDS or _qualifies(asked, one.name)):
        return False
    declared = f"{one.passage.annotation or ''} {one.passage.lead if one.passage.parameter else ''}"
    is_needed = one.default is None and one.name in one.passage.required
    return is_needed and not _OPTIONAL.search(declared) and _is_called(one, known)


def _qualifies(asked: AskedWords, name: str) -> bool:
    """Whether a plain word only says of which thing the default is asked: `worker` in "the default worker timeout"."""
    said = re.search(rf"\bdefault (?:\w+ )?{re.escape(name)} (\w+)", asked.parsed.asking, re.IGNORECASE)
    return said is not None and said[1].lower() not in STOP_WORDS | _SAYS_WHAT


def _is_called(one: NamedParameter, known: Sequence[Passage]) -> bool:
    """Whether a parameter is one of a function or constructor; the keys of a `TypedDict` may be left out."""
    if one.passage.what != "class" and not _OF_CLASS.search(one.passage.text):
        return True
    owners = [one.passage, *(each for each in known if each.symbol == one.symbol and not each.parameter)]
    return any(_CONSTRUCTED.search(each.text) for each in owners)


def _none_told(known: Sequence[Passage], one: NamedParameter) -> tuple[Passage, str]:
    """The passage about a parameter, and its sentence about what holds if nothing is given."""
    named = [each for each in known if each.parameter == one.name]
    about = [each for each in named if one.symbol in {each.symbol, *each.also}]
    if not about:  # what several share bears the name of one of them: a method of the same name
        last = one.symbol.rpartition(".")[2]
        about = [each for each in named if (each.symbol or "").rpartition(".")[2] == last]
    return next(((each, said) for each in about if (said := _said_of_default(each))), (one.passage, ""))


def _said_of_default(passage: Passage) -> str:
    """The sentence of a parameter's documentation that says what holds if nothing is given; empty where none does."""
    told = (one for one in all_of(passage) if passage.parameter and _IF_NOT_GIVEN.search(plain(one)))
    return next(told, "")


def _stands_for(known: Sequence[Passage], one: NamedParameter, value: str) -> tuple[str, str, Quote | None]:
    """What a default means: `is` a constant's value, or `means` what the function puts in the place of `None`."""
    meaning = next((each for each in known if _means(each, one)), None) if value == "None" else None
    if meaning is not None and meaning.default_means:
        return "means", meaning.default_means, Quote(meaning, last_run(meaning))
    if value == "None":
        return _declared_in_words(known, one)
    constant = None if _PLAIN_LITERAL.match(value) else behind(known, value)
    if constant is None or len(folded(value_of(constant))) > LONG_VALUE:
        return "", "", None
    return "is", value_of(constant), Quote(constant, assignment_of(constant))


def _declared_in_words(known: Sequence[Passage], one: NamedParameter) -> tuple[str, str, Quote | None]:
    """The default that the line of types gives where the signature has `None`: `figsize : float, default: 6.4`."""
    about = [each for each in known if each.parameter == one.name and each.symbol == one.symbol]
    for passage in about:
        line = documentation(passage).strip().split("\n")[0]
        declared = _TYPE_LINE.search(line) if len(line) <= _LONG_LINE else None
        if declared is not None and declared[1] != "None":
            return "means", declared[1], Quote(passage, line)
    return "", "", None


def _means(passage: Passage, one: NamedParameter) -> bool:
    """Whether a passage says what a default of `None` of a parameter means."""
    is_same = passage.parameter == one.name and passage.symbol == one.symbol
    return is_same and passage.default_means is not None


def last_run(passage: Passage) -> str:
    """The last run of a passage's lines."""
    lines = passage.text.split("\n")
    return "\n".join(lines[passage.lines[-1][0] :]) if passage.lines else passage.text


def _held_by(one: NamedParameter, first: Passage) -> tuple[str, list[str]]:
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


def _is_handed_on(one: NamedParameter, first: Passage) -> bool:
    """Whether what the question names takes a parameter only to hand it on to what declares it."""
    return bool(one.symbol and first.symbol != one.symbol and first.symbol in one.passage.also)


def _declaration(one: NamedParameter, value: str) -> str:
    """What is quoted for a default: the parameter's line of the signature."""
    if one.passage.parameter:
        return one.passage.signature or value
    for line in one.passage.text.split("\n"):
        if re.match(rf"\s*\*{{0,2}}{re.escape(one.name)}\s*[:=]", line) and value in folded(line):
            return line.strip().rstrip(",")
    return value
