"""Undocumented exports led to the section of a README that shows them: often the only documentation they have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.toolkit import IndexedPassage

_CALLED = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*+)\s*\(")
_QUOTED = re.compile(r"`\.?(?:[\w$]++\.)*+([A-Za-z_$][\w$]*+)(?:\([^`]{0,200}\))?`")
_HEADING = re.compile(r"(?<![\w$])([A-Za-z_$][\w$]*+)\s*+(?:\(|$)")
_MAX_ALSO = 12
_SHORTEST = 3
"""Letters of a name; in any text, shorter ones mean something else."""


def lead_to_sections(
    symbols: Sequence[IndexedPassage], sections: Sequence[IndexedPassage]
) -> Iterator[IndexedPassage]:
    """The sections; one that shows an undocumented callable has its name among the others that it goes by.

    A section whose heading is the name comes before one that calls it in an example, and that before one that only
    names it; of several the first.
    """
    shown: tuple[dict[str, int], ...] = ({}, {}, {})
    for number, section in enumerate(sections):
        heading = _HEADING.findall(section.title.rpartition(" § ")[2])
        named = (heading, _CALLED.findall("\n".join(section.code)), _QUOTED.findall(section.text))
        for known, names in zip(shown, named, strict=True):
            for name in names:
                known.setdefault(name, number)
    also: dict[int, list[str]] = {}
    for symbol in symbols:
        last = (symbol.symbol or "").rpartition(".")[2]
        deep = (symbol.symbol or "").count(
            "."
        ) > 1  # `core.util.extend`: another one than the README speaks of
        if symbol.lead or deep or symbol.data.get("what") != "function" or len(last) < _SHORTEST:
            continue
        place = next((known[last] for known in shown if last in known), None)
        if place is not None and symbol.symbol is not None:
            also.setdefault(place, []).append(symbol.symbol)
    for number, section in enumerate(sections):
        names = list(dict.fromkeys(also.get(number, ())))[:_MAX_ALSO]
        yield section._replace(data={**section.data, "also": names}) if names else section
