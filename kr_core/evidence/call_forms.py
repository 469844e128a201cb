"""A call that shows how a parameter is given: the shortest that a signature admits, with a value that documentation gives it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.sentences import behind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model import Passage

_FEW_REQUIRED = 3
_GIVEN = r"(-?\d{1,9}(?:\.\d{1,6})?|'[\w./+-]{1,40}'|\"[\w./+-]{1,40}\")(?![\w.(])"
"""A value that code or a constant gives a parameter by name."""
_NUMBER_TYPE = re.compile(r"\b(?:int|float|integer|number|Number|Decimal)\b")
_TEXT_TYPE = re.compile(r"\b(?:str|string|Literal)\b")


class CallForm(NamedTuple):
    """A call, its parts that are verbatim in passages, and what is quoted for it."""

    text: str
    slots: tuple[str, ...]
    quotes: tuple[tuple[Passage, str], ...]


def call_form(passage: Passage, support: Sequence[Passage]) -> CallForm | None:
    """How a parameter is given to the function with the fewest required ones of those that share it.

    Args:
        passage: about the parameter.
        support: the functions that take it, its type and its default.
    """
    if not passage.parameter or passage.star:
        return None
    names = {passage.symbol, *passage.also}
    takers = [
        one
        for one in support
        if one.what == "function" and one.symbol in names and not one.parameter and not one.deprecated
    ]
    value, place, quote = _documented_value(passage, support)
    taker = min(takers, key=lambda one: len(one.required), default=None)
    if place is None or taker is None or len(taker.required) > _FEW_REQUIRED:
        return None
    call = _call_of(taker, passage.parameter, value)
    if call is None:
        return None
    quotes = ((taker, (taker.signature or taker.text).split("\n")[0]), (place, quote))
    return CallForm(*call, quotes)


def _documented_value(passage: Passage, support: Sequence[Passage]) -> tuple[str, Passage | None, str]:
    """A number or text that documentation gives a parameter, where its type admits it; the passage, and its line."""
    spoken = " ".join(
        [passage.annotation or "", *(one.text for one in [behind(support, passage.annotation or "")] if one)]
    )
    constant = behind(support, passage.default or "")
    texts = [(one, code) for one in (passage, *support) for code in one.code]
    texts += [(constant, constant.text)] if constant else []
    given = re.compile(rf"\b{re.escape(passage.parameter or '')}\s?=\s?{_GIVEN}")
    for place, text in texts:
        found = given.search(text)
        kind = _TEXT_TYPE if found and found[1][0] in "'\"" else _NUMBER_TYPE
        if found and kind.search(spoken):
            line = next(one.strip() for one in text.split("\n") if found[1] in one)
            return found[1], place, place.text if place is constant else line
    return "", None, ""


def _call_of(passage: Passage, parameter: str, value: str) -> tuple[str, tuple[str, ...]] | None:
    """`name(required, parameter=value)`: a call that the signature admits; None where it cannot be read."""
    try:
        tree = ast.parse(f"{(passage.signature or '').rstrip().rstrip(':')}: ...")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    defined = next(iter(tree.body), None)
    if not isinstance(defined, (ast.FunctionDef, ast.AsyncFunctionDef)) or not passage.symbol:
        return None
    takes = defined.args
    if parameter not in {one.arg for one in (*takes.args, *takes.kwonlyargs)}:
        return None
    by_name = {one.arg for one in takes.kwonlyargs}
    needed = [one for one in passage.required if one != parameter]
    given = [f"{one}={one}" if one in by_name else one for one in needed]
    call = f"{passage.symbol}({', '.join([*given, f'{parameter}={value}'])})"
    is_async = isinstance(defined, ast.AsyncFunctionDef)
    return f"`await {call}`" if is_async else f"`{call}`", (passage.symbol, *needed, parameter, value)
