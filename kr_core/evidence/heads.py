"""The head of a passage: the name that a user writes, with the parameters that matter to the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded, holds, plain, slot_stands

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.model import Passage

_WIDTH = 120
_WIDTH_BESIDE = 70
_LONG_TYPE = 110
_LONG_DEFAULT = 24
_MAX_PARAMETERS = 24
"""A reader looks the rest up in the signature."""
_FEW_PARAMETERS = 6
_PARAMETERS_LOOKED_AT = 500
_PRIVATE = re.compile(r"(?<![\w'\"])_[A-Za-z](?!\w*\.[A-Z][A-Z_\d]*\b)")
"""A private name; the module of a constant (`_utils.MAX_WAIT`) does not count."""
_UNSET = re.compile(
    r"(?:\w+\.)*(?:no_?default|_?no_?value|unset|missing|not_?given|undefined|not_?set|unspecified|omit(?:ted)?|sentinel)(?:_type)?$",
    re.IGNORECASE,
)
"""Constants that only mark that nothing was given."""
_WRAPPED = re.compile(r"Default\((.*)\)")
"""FastAPI's mark around a default that a router may replace."""


SUBCLASS = "class ..."
"""How the statement of a subclass begins that gives a keyword."""


class Head(NamedTuple):
    """A head, and its parts that are verbatim in the passage."""

    text: str
    slots: tuple[str, ...]


def head_of(
    passage: Passage, asked: AskedWords, *, first: bool = True, without: AbstractSet[str] = frozenset()
) -> Head | None:
    """`name(parameters)` for a callable, `name(parameter=...)` for a parameter; None for a section.

    Args:
        passage: what the head is of.
        asked: the question; what it names is shown.
        first: whether the passage comes first; of any other less is shown.
        without: parameters that are shown only where the question names them.
    """
    if not passage.symbol or not (passage.parameter or passage.what):
        return None
    if passage.parameter:
        return _of_parameter(passage, passage.symbol, passage.parameter)
    if passage.what in {"constant", "setting"} or (passage.what == "attribute" and passage.default):
        return _of_value(passage, passage.symbol)
    if passage.what not in {"function", "class"} or (passage.what == "class" and not passage.parameters):
        return Head(f"`{passage.symbol}`", (passage.symbol,))
    return _of_callable(passage, asked, _WIDTH if first else _WIDTH_BESIDE, without)


def listed_parameter(passage: Passage, taker: str | None) -> Head:
    """The head of a parameter in the list of what a callable takes: its own name, and the default that it has there."""
    name = passage.parameter or ""
    default = default_of(passage, passage.default)
    if passage.symbol != taker or default is None or len(default) > _LONG_DEFAULT:
        return Head(f"- `{name}`", (name,))  # documented in the same words elsewhere, its default may differ
    return Head(f"- `{name}` (default `{default}`)", (name, default))


def default_of(passage: Passage, default: str | None) -> str | None:
    """A default as a user means it; None for one that only marks that nothing was given, or that a stub leaves out."""
    if default is None or default == "...":
        return None
    wrapped = _WRAPPED.fullmatch(default)
    value = wrapped[1] if wrapped else default
    is_shown = not _PRIVATE.search(value) and not marks_nothing(value) and holds(passage.text, value)
    return folded(value) if is_shown else None


def marks_nothing(default: str) -> bool:
    """Whether a default is a constant that only marks that nothing was given."""
    return _UNSET.match(default) is not None


def read_in(passage: Passage) -> str:
    """The function or constant whose code holds a setting, by its last name; empty where the passage does not show it."""
    where = passage.title.partition(f"{passage.symbol} in ")[2] if passage.what == "setting" else ""
    last = where.rpartition(".")[2]
    return last if last and slot_stands(last, [passage.text]) else ""


def _of_value(passage: Passage, symbol: str) -> Head:
    """A constant or setting, the code that reads it, and its value."""
    text, slots = f"`{symbol}`", [symbol]
    where = read_in(passage)
    if where:
        text += f" in `{where}`"
        slots.append(where)
    value = default_of(passage, passage.default)
    if value is not None:
        text += f" ({'value' if passage.what == 'constant' else 'default'} `{value}`)"
        slots.append(value)
    return Head(text, tuple(slots))


def _of_parameter(passage: Passage, symbol: str, parameter: str) -> Head:
    """`name(parameter=...)`, or how a subclass gives it, its type and its default."""
    call = f"{symbol}({passage.star}{parameter})" if passage.star else f"{symbol}({parameter}=...)"
    if passage.what == "keyword":
        call = f"{SUBCLASS}({symbol}, {parameter}=...)"
    slots = [symbol, parameter]
    said: list[str] = []
    declared = plain(passage.annotation or "")
    if (
        declared
        and len(declared) <= _LONG_TYPE
        and not _PRIVATE.search(declared)
        and slot_stands(declared, [passage.text])
    ):
        said.append(f"type `{declared}`")
        slots.append(declared)
    default = default_of(passage, passage.default)
    if default is not None and len(default) <= _LONG_TYPE:
        said.append(f"default `{default}`")
        slots.append(default)
    return Head(f"`{call}`" + (f" ({', '.join(said)})" if said else ""), tuple(slots))


def _of_callable(passage: Passage, asked: AskedWords, most: int, without: AbstractSet[str]) -> Head:
    """The required parameters and those that the question names, then what fits."""
    symbol = passage.symbol or ""
    parameters = passage.parameters[:_PARAMETERS_LOOKED_AT]
    wanted = _wanted(passage, asked, most, without)
    slots = [symbol]
    for name, default in parameters:
        if name in wanted:
            slots.append(name.lstrip("*"))
            value = default_of(passage, default)
            slots += [value] if value is not None and len(value) <= _LONG_DEFAULT else []
    inside = [_shown(passage, *one) for one in parameters if one[0] in wanted]
    left_out = ["..."] if len(inside) < len(passage.parameters) else []
    is_async = (passage.signature or "").startswith("async def")
    after, slots = (" (async)", [*slots, "async"]) if is_async else ("", slots)
    return Head(f"`{symbol}({', '.join([*inside, *left_out])})`{after}", tuple(slots))


def _wanted(passage: Passage, asked: AskedWords, most: int, without: AbstractSet[str]) -> list[str]:
    """The parameters to show in at most so many characters, which the name shares."""
    parameters = passage.parameters[:_PARAMETERS_LOOKED_AT]
    wanted = [name for name, _default in parameters if name in passage.required or asked.names(name)]
    wanted = wanted[: _MAX_PARAMETERS if most == _WIDTH else _FEW_PARAMETERS]
    width = len(passage.symbol or "") + 5
    width += sum(len(_shown(passage, *one)) + 2 for one in parameters if one[0] in wanted)
    for one in parameters:
        if (
            one[0] not in wanted
            and one[0] not in without
            and not (one[0].startswith("**") and len(parameters) > 1)
        ):
            width += len(_shown(passage, *one)) + 2
            if width > most or len(wanted) >= _MAX_PARAMETERS:
                break
            wanted.append(one[0])
    return wanted


def _shown(passage: Passage, name: str, default: str | None) -> str:
    if default is None:
        return name
    value = default_of(passage, default)
    return f"{name}={value if value is not None and len(value) <= _LONG_DEFAULT else '...'}"
