"""The first sentence of an answer, in the kind of the question, where one is certain; else none.

A sentence made by rule holds a value, never advice: what to do with it the documentation says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence import yes_or_no
from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.heads import default_of
from kr_core.evidence.sentences import value_of
from kr_core.evidence.window import all_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_LONG_VALUE = 80
_LONG_LIST = 240
_TWO = 2
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
_CONJUNCTIONS = frozenset({"and", "or", "not", "in", "is", "from", "between", "with"})
"""Functions of query builders by name, and words of any question."""
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
    if asked.asks("default"):
        found = _default(asked, known)
        if found is not None:
            return found
    if asked.asks("options"):
        return _options(asked, known)
    if asked.asks("difference"):
        return _difference(subjects(asked, passages))
    if asked.asks("yes_no"):
        return _yes_no(asked, passages[0], known)
    return None


def subjects(asked: AskedWords, passages: Sequence[Passage]) -> list[Passage]:
    """The two things that a question about a difference names, in its order; empty where not both were found."""
    pinned = {(one.symbol, one.parameter): one for one in reversed(passages) if one.symbol and one.pinned}
    found = list(reversed(pinned.values()))
    if len(found) < _TWO:
        wanted = [name.rpartition(".")[2] for name in _names_asked_about(asked)]
        by_name: dict[str, Passage] = {}
        for passage in passages:
            last = (passage.symbol or "").rpartition(".")[2]
            is_named = passage.pinned or (
                last in wanted if wanted else last not in _CONJUNCTIONS and asked.names(last)
            )
            if last and not passage.parameter and is_named:
                by_name.setdefault(last, passage)
        found = list(by_name.values())
    both = sorted(found, key=lambda one: _place(asked.question, one))[:_TWO]
    return both if len(both) == _TWO else []


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
    full = [] if passage.parameter else [place for name in names if (place := _find(question, name)) >= 0]
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
    if passage.what != "attribute" or passage.parameter:
        return None
    is_asked = _is_asked(asked, last) or (place == 0 and asked.names(f"{last}s"))
    return _Parameter(last, passage.default, "", passage) if is_asked else None


def _is_asked(asked: AskedWords, name: str) -> bool:
    if name.casefold() in _NOT_PARAMETERS:
        return re.search(rf"[`.]{re.escape(name)}`|\b{re.escape(name)}=", asked.question) is not None
    return asked.names(name)


def _owner_named(asked: AskedWords, symbol: str) -> bool:
    owner = symbol.rpartition(".")[0].rpartition(".")[2]
    return bool(owner[:1].isupper() and asked.names(owner))


def _default(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
    """`The default of P in S is V`, with what a constant or `None` stands for."""
    for one in _parameters(asked, known):
        value = default_of(one.passage, one.default)
        if value is None or len(value) > _LONG_VALUE:
            continue
        holder, named = _held_by(one)
        verdict = yes_or_no.of_default(asked, one.name, value, [one.symbol, *one.passage.aliases])
        text = f"{verdict}: the" if verdict else "The"
        text += f" default of {holder} is `{value}`"
        quote, slots = Quote(one.passage, _declaration(one, value)), (*named, value)
        relative, meaning, place = _stands_for(known, one, value)
        if place is None:
            return DirectAnswer(f"{text}.", (quote,), slots)
        text += f", which {relative} `{folded(meaning)}`."
        return DirectAnswer(text, (quote, place), (*slots, meaning), (meaning,))
    return None


def _stands_for(known: Sequence[Passage], one: _Parameter, value: str) -> tuple[str, str, Quote | None]:
    """What a default stands for: `is` a constant's value, or `means` what the function puts in the place of `None`."""
    meaning = next((each for each in known if _means(each, one)), None) if value == "None" else None
    if meaning is not None and meaning.default_means:
        return "means", meaning.default_means, Quote(meaning, last_run(meaning))
    constant = None if _PLAIN_LITERAL.match(value) else behind(known, value)
    if constant is None or len(folded(value_of(constant.text))) > _LONG_VALUE:
        return "", "", None
    return "is", value_of(constant.text), Quote(constant, constant.text)


def _means(passage: Passage, one: _Parameter) -> bool:
    """Whether a passage says what a default of `None` of a parameter means."""
    is_same = passage.parameter == one.name and passage.symbol == one.symbol
    return is_same and passage.default_means is not None


def last_run(passage: Passage) -> str:
    """The last run of a passage's lines."""
    lines = passage.text.split("\n")
    return "\n".join(lines[passage.lines[-1][0] :]) if passage.lines else passage.text


def _held_by(one: _Parameter) -> tuple[str, list[str]]:
    """A parameter and what takes it, or an option under its full name; and the names in it."""
    if one.symbol:
        return f"`{one.name}` in `{one.symbol}`", [one.name, one.symbol]
    return f"`{one.passage.symbol}`", [one.passage.symbol or one.name]


def _declaration(one: _Parameter, value: str) -> str:
    """What is quoted for a default: the parameter's line of the signature."""
    if one.passage.parameter:
        return one.passage.signature or value
    for line in one.passage.text.split("\n"):
        if re.match(rf"\s*\*{{0,2}}{re.escape(one.name)}\s*[:=]", line) and value in folded(line):
            return line.strip().rstrip(",")
    return value


def behind(known: Sequence[Passage], name: str) -> Passage | None:
    """The constant or alias behind a bare name in a signature."""
    bare = name.strip("'\" ").rpartition(".")[2]
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
    for one in _parameters(asked, known):
        passage = one.passage
        listed = _LISTED.search(passage.text.split("\n")[0]) if passage.parameter else None
        choices, source = listed[0] if listed else "", passage
        if not choices and passage.annotation:
            source = behind(known, passage.annotation) or passage
            declared = value_of(source.text) if source is not passage else passage.annotation
            choices = declared if "Literal[" in declared else ""
        if choices and len(choices) <= _LONG_LIST and holds(source.text, choices):
            text = f"The options of `{one.name}` in `{one.symbol}`: `{folded(choices)}`."
            quotes = dict.fromkeys(
                [Quote(passage, passage.signature or one.name), Quote(source, folded(choices))]
            )
            return DirectAnswer(text, tuple(quotes), (one.name, one.symbol, choices))
        told = _values(one)
        if told is not None:
            return told
        items = _ITEM.findall(passage.text) if passage.parameter else []
        if len(items) > 1:
            values = list(dict.fromkeys(items))[:_MOST_ITEMS]
            shown = ", ".join(plain(value) for value in values)
            text = f"The options of `{one.name}` in `{one.symbol}`: {shown}."
            quote = next(line.strip() for line in passage.text.split("\n") if values[0] in line)
            return DirectAnswer(text, (Quote(passage, quote),), (one.name, one.symbol, *values))
    return _members(known)


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


def _difference(both: Sequence[Passage]) -> DirectAnswer | None:
    """The sentence of one subject that names the other and says what differs."""
    for passage, other in (both, both[::-1]) if both else ():
        name = other.parameter or (other.symbol or "").rpartition(".")[2]
        for sentence in all_of(passage):
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain(sentence)) and _DIFFERS.search(sentence):
                return _quoted(passage, sentence)
    return None


def _yes_no(asked: AskedWords, first: Passage, known: Sequence[Passage]) -> DirectAnswer | None:
    """The sentence that decides, from the documentation of the question's subject."""
    at_home = [
        one
        for one in known
        if one is first or one.pinned or (one.parameter and one.symbol and one.symbol == first.symbol)
    ]
    share, _place, best = max(
        (
            (asked.share(f"{sentence} {first.symbol or first.title}"), -number, Quote(passage, sentence))
            for number, (passage, sentence) in enumerate(_told(at_home))
            if _DECIDING.search(sentence) and asked.share(sentence) > 0
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


def _told(passages: Sequence[Passage]) -> Iterator[Quote]:
    for passage in passages:
        for sentence in all_of(passage):
            yield Quote(passage, sentence)


def _quoted(passage: Passage, sentence: str) -> DirectAnswer:
    """A sentence of a passage under the passage's name."""
    names = tuple(name for name in (passage.parameter, passage.symbol) if name)
    label = " in ".join(f"`{name}`" for name in names) or folded(passage.title)
    text = f"{label}: {plain(sentence)}" if label else plain(sentence)
    return DirectAnswer(text, (Quote(passage, sentence),), (*names, sentence), (sentence,))
