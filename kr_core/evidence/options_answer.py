"""The sentence that lists what a parameter or an option takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.answer_sentence import DirectAnswer, Quote
from kr_core.evidence.asked_words import NamedParameter, named_parameters, owner_named
from kr_core.evidence.citations import folded, holds, plain
from kr_core.evidence.sentences import behind, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_LONG_LIST = 240
_ASKS_PARAMETERS = re.compile(
    r"\b(?:options?|parameters?|params|arguments?|args|settings?|keywords?|kwargs|fields?)\b", re.IGNORECASE
)
_ITEM = re.compile(
    r"^[ \t]*+(?:[-*+•][ \t]++)?(?:[Ii]f[ \t]++)?(``?[\w.+-]{1,40}``?|'[\w.+-]{1,40}'|\"[\w.+-]{1,40}\")[ \t]{0,9}(?:\(default\)|,[^\n]{0,30})?[ \t]{0,9}(?::|--|, then\b|$)",
    re.MULTILINE,
)
"""A value that an item of a list explains."""
_MOST_ITEMS = 16
_OF_PARAMETER = re.compile(r"@param\s++(?:\{[^}\n]{0,200}\}\s*+)?\[?([\w$]++)\.([\w$]++)(?!\.)")
"""What JSDoc says of a member of a parameter: `@param {number} [options.maxWait]`."""
_LISTED = re.compile(r"\{[^{}\n]{1,200}\}")
_QUOTED_VALUE = r"(?:'[\w./+-]{1,40}'|\"[\w./+-]{1,40}\"|`[\w./+'\"-]{1,42}`)"
_VALUES = re.compile(
    rf"{_QUOTED_VALUE}(?:(?:,[ \t]?|[ \t]?\|[ \t]?|,?[ \t](?:or|and)[ \t]){_QUOTED_VALUE}){{1,40}}"
)
"""Values listed on one line, as a sentence or a union type does: `'pre' | 'post' | 'sync'`."""


def options_answer(asked: AskedWords, known: Sequence[Passage]) -> DirectAnswer | None:
    """`P in S takes ...`: the members of a `Literal`, or those that the documentation lists in braces."""
    found = named_parameters(asked, known)
    subject = found[0].symbol if found and asked.names(found[0].symbol) else ""
    for one in found:
        if subject and one.symbol and one.symbol != subject:  # another function's list may be another
            continue
        is_named = one.passage.pinned or asked.names(one.symbol) or owner_named(asked, one.symbol)
        if one.symbol and not is_named:  # the question only happens to say its name
            continue
        told = _choices(one, known) or _values(one) or _items(one)
        if told is not None:
            return told
    return _members(known) if _ASKS_PARAMETERS.search(asked.parsed.asking) else None


def _choices(one: NamedParameter, known: Sequence[Passage]) -> DirectAnswer | None:
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


def _items(one: NamedParameter) -> DirectAnswer | None:
    """The values of a parameter whose documentation has an item for each."""
    passage = one.passage
    items = _ITEM.findall(passage.text) if passage.parameter else []
    if len(items) < 2:
        return None
    values = list(dict.fromkeys(items))[:_MOST_ITEMS]
    text = f"The options of `{one.name}` in `{one.symbol}`: {', '.join(plain(value) for value in values)}."
    quote = next(line.strip() for line in passage.text.split("\n") if values[0] in line)
    return DirectAnswer(text, (Quote(passage, quote),), (one.name, one.symbol, *values))


def _values(one: NamedParameter) -> DirectAnswer | None:
    """The values of an option that its documentation or its type lists."""
    said = None if one.symbol else _VALUES.search(one.passage.text)
    if said is None:
        return None
    text = f"The options of `{one.passage.symbol}`: {said[0]}."
    return DirectAnswer(text, (Quote(one.passage, said[0]),), (one.passage.symbol or "", said[0]))


def _members(known: Sequence[Passage]) -> DirectAnswer | None:
    """What a type holds that the function named in the question takes, or what its comment says of each: its options."""
    first = known[0]
    if not first.pinned or first.what != "function" or not first.symbol:
        return None
    told = {found[2]: found[1] for found in _OF_PARAMETER.finditer(first.text)}
    if len(told) > 1:
        names = list(told)[:_MOST_ITEMS]
        text = f"The options of `{first.symbol}`: {', '.join(f'`{name}`' for name in names)}."
        quotes = (Quote(first, first.signature or first.symbol), Quote(first, f"{told[names[0]]}.{names[0]}"))
        return DirectAnswer(text, quotes, (first.symbol, *names))
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
