"""The parameters and options that a question names, with what takes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_NOT_PARAMETERS = frozenset({"default", "self", "value", "data", "name"})
"""Names that are everyday words of questions: they count only where a question spells them as code."""


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
