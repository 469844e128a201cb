"""The same documentation under many names: one passage that names the others."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kr_core.toolkit import IndexedPassage

MAX_SITES = 24
"""How many other names a passage gives."""
_SHORT_DOC = 3
"""A docstring of fewer words says nothing of its own."""


def collapse(passages: Iterable[IndexedPassage], *, of_owner: str = "") -> list[IndexedPassage]:
    """One passage for each text: the likeliest stays and names the others.

    Args:
        passages: of one package.
        of_owner: what belongs to its owner and stays apart: the `quality` of one format is not that of another.
    """
    groups: dict[tuple[str, str], list[IndexedPassage]] = defaultdict(list)
    order: list[tuple[str, str]] = []
    for number, passage in enumerate(passages):
        documented = len(passage.lead.split()) >= _SHORT_DOC
        if passage.kind == "parameter" and documented:
            key = (f"parameter {passage.parameter}", passage.lead)
        elif passage.kind == "symbol" and documented:
            body = "\n".join(passage.documentation.split("\n")[passage.data["signature"].count("\n") + 1 :])
            is_own = of_owner and passage.data.get("what") == of_owner
            name = passage.title if is_own else passage.title.rpartition(".")[2]
            key = (f"symbol {name}", body)
        else:
            key = ("alone", str(number))
        if key not in groups:
            order.append(key)
        groups[key].append(passage)
    return [_merged(groups[key]) for key in order]


def _merged(group: list[IndexedPassage]) -> IndexedPassage:
    if len(group) == 1:
        return group[0]
    best = max(group, key=lambda passage: (passage.prior, -len(passage.title)))
    others = {
        passage.symbol: passage
        for passage in group
        if passage.symbol
        and passage.symbol != best.symbol
        and (passage.data["public"] or not best.data["public"])
    }
    also = list(others)[:MAX_SITES]
    words = " ".join([best.words, *map(shown_name, also)])
    sites = [passage.data["site"] for passage in others.values() if "site" in passage.data][:MAX_SITES]
    return best._replace(words=words, data={**best.data, "also": also, "sites": sites})


def shown_name(name: str) -> str:
    """The words of a name that tell: all but the top-level package of a dotted one."""
    return name.partition(".")[2].replace(".", " ") or name
