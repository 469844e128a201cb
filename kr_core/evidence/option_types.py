"""What the type of an option holds or lists: an option of another type than a plain one says nothing without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.evidence.citations import folded
from kr_core.evidence.sentences import value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Passage

_ALIAS = re.compile(r"(?:export |declare ){0,2}type [\w$]++\s*+=")
"""A type without parameters of its own: what `=` gives one of those is not the type."""
_MOST_MEMBERS = 6
_MOST_KEYS = 16
_LONG_MEMBER = 70
_LONG_VALUE = 160


class ExplainedType(NamedTuple):
    """A sentence about the type of an option, quotes of its declarations, and what is verbatim in them."""

    text: str
    quotes: tuple[tuple[Passage, str], ...]
    slots: tuple[str, ...]


def option_type(option: Passage, known: Iterable[Passage]) -> ExplainedType | None:
    """The members of the first type that the declaration of an option names, or what that type is; None where neither is known."""
    if option.what != "attribute" or option.parameter or not option.signature:
        return None
    declared = option.signature.partition(":")[2]
    known = list(known)
    for place, one in enumerate(known):
        name = (one.symbol or "").rpartition(".")[2]
        is_named = name and re.search(rf"(?<![\w.$]){re.escape(name)}(?![\w$])", declared)
        if one.kind != "type" or not one.signature or not is_named or one.symbol == option.symbol:
            continue
        members = _members(one)
        if members:
            shown = [f"`{member}`" for member in members]
            listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
            return ExplainedType(f"The type `{name}` has {listed}.", ((one, members[0]),), (name, *members))
        value = folded(value_of(one)) if _ALIAS.match(one.signature) else ""
        keys = _keys(known[place + 1 :]) if value.startswith("keyof ") else ()
        if keys:
            listed = ", ".join(f"`{key}`" for key in keys)
            text = f"The type `{name}` is `{value}`: {listed}."
            return ExplainedType(
                text, ((one, one.signature), *_holder(known[place + 1 :])), (name, value, *keys)
            )
        if value and len(value) <= _LONG_VALUE:
            return ExplainedType(f"The type `{name}` is `{value}`.", ((one, one.signature),), (name, value))
    return None


def option_taker(option: Passage, known: Iterable[Passage]) -> ExplainedType | None:
    """The function that takes the type which an option is a member of: `Sharp.webp(options)` takes `WebpOptions`."""
    owner = (option.symbol or "").rpartition(".")[0].rpartition(".")[2]
    if option.what != "attribute" or option.parameter or not owner:
        return None
    takes = re.compile(rf"(?<![\w$]){re.escape(owner)}(?![\w$])")
    for one in known:
        head = (one.signature or "").split("\n")[0]
        taken = head.partition("(")[2].rpartition(")")[0]  # and not what it returns
        if one.what == "function" and one.symbol and takes.search(taken):
            names = [name for name, _default in one.parameters]
            called = f"{one.symbol}({', '.join(names)})" if len(names) <= _MOST_MEMBERS else one.symbol
            return ExplainedType(f"`{called}` takes `{owner}`.", ((one, head),), (one.symbol, *names, owner))
    return None


def _keys(known: Sequence[Passage]) -> Sequence[str]:
    """The names of what has the keys that a type lists: it comes right behind the type."""
    names = [name for name, _default in known[0].parameters] if known and known[0].kind == "type" else []
    return names if len(names) <= _MOST_KEYS else ()


def _holder(known: Sequence[Passage]) -> tuple[tuple[Passage, str], ...]:
    """What has the keys, with the line of the first one."""
    holder = known[0]
    first = holder.parameters[0][0]
    line = next((line.strip() for line in holder.text.split("\n") if line.strip().find(first) >= 0), first)
    return ((holder, line),)


def _members(declared: Passage) -> Sequence[str]:
    """All members of a type as they are declared; empty where they are too many or too long, or others are inherited."""
    if " extends " in (declared.signature or ""):
        return ()
    names = {name for name, _default in declared.parameters}
    found: dict[str, set[str]] = {}
    for line in declared.text.split("\n"):
        member = line.strip().rstrip(";,")
        name = re.split(r"[?:(<]", member, maxsplit=1)[0]
        if name in names:
            found.setdefault(name, set()).add(member)
    members = [member for lines in found.values() for member in lines]
    is_whole = set(found) == names and len(members) == len(names) <= _MOST_MEMBERS
    return members if is_whole and all(len(member) <= _LONG_MEMBER for member in members) else ()
