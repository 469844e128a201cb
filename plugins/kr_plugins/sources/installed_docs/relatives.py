"""What stands beside a passage in its library: the members of a class, and the names that are formed like its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core import Passage
from kr_core.toolkit import ranked_members, split_identifier, stem, words
from kr_plugins.sources.installed_docs.cited_passages import passage_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.toolkit import IndexedPassage, ParsedQuestion, PassageIndex, Term
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

_LOOKED_AT = 3
"""So many of the first passages may be the class whose members are named."""
_MOST_MEMBERS = 12
_SHOWN_MEMBERS = 3
"""Members that are shown with what they do."""
_SAYS_SOME = 0.15
"""A member that says less of the question is only named."""
_MOST_ALIKE = 24
_MOST_DERIVED = 200
_FEW = 3
_KNOWN = 4.0
"""Below this standing a name is not public."""
_ASKS_FOR_ALL = re.compile(
    r"\b(?:what|which)\s(?!happens\b)(?:(?:are|is|kinds?|types?|sorts?|of|the|all|other|different|built-?in|available|possible)\s)*"
    r"(?:\w+\s){0,2}?\w+s\b.{0,80}\b(?:ships?|offers?|provides?|has|have|supports?|comes?|includes?|contains?|exists?|exist|available|there|built-?in|defines?|raises?)\b"
    r"|\b(?:list|names) (?:of )?(?:all )?(?:the )?(?:\w+\s){0,2}\w+s\b|\bwhat (?:other )?\w+s (?:are there|does \w+ (?:have|ship|offer|provide|support))\b",
    re.IGNORECASE,
)
_FAULTS = frozenset({"error", "except"})


def with_relatives(
    index: PassageIndex,
    parsed: ParsedQuestion,
    answered: IndexAnswer,
    terms: Sequence[Term],
    origin: Origin,
) -> IndexAnswer:
    """The answer whose first class names its members, for a how-to, and whose first names tell of all that are formed alike.

    Args:
        index: where they are looked up.
        parsed: the question.
        answered: the ranked passages.
        terms: the words of the question.
        origin: where the passages come from.
    """
    first = next(iter(answered.passages), None)
    is_of_one = first is not None and first.pinned and first.what == "function"
    if _ASKS_FOR_ALL.search(parsed.asking) and not is_of_one:
        return _with_alike(index, parsed, answered, origin)
    return _with_members(index, answered, terms, origin) if parsed.kind == "how_to" else answered


def _with_members(
    index: PassageIndex, answered: IndexAnswer, terms: Sequence[Term], origin: Origin
) -> IndexAnswer:
    """The answer with the members of its first class, those first that say most of the question."""
    for passage in answered.passages[:_LOOKED_AT]:
        if passage.what != "class" or not passage.symbol or passage.parameter:
            continue
        ranked = [
            (share, one)
            for share, one in ranked_members(index, terms, passage.symbol)
            if not one.data.get("deprecated")
        ][:_MOST_MEMBERS]
        told = {one.title for one in (*answered.passages, *answered.support)}
        shown = [
            passage_of(one, origin)
            for share, one in ranked[:_SHOWN_MEMBERS]
            if share >= _SAYS_SOME and one.title not in told
        ]
        names = names_beside(passage, [one for _share, one in ranked], origin)
        return answered._replace(support=(*answered.support, *shown, *names))
    return answered


def names_beside(passage: Passage, found: Sequence[IndexedPassage], origin: Origin) -> list[Passage]:
    """The first lines of some definitions, those of each file as one passage."""
    by_file: dict[str, list[IndexedPassage]] = {}
    for one in found:
        by_file.setdefault(one.locator.rpartition(":")[0], []).append(one)
    names = []
    for file, defined in by_file.items():
        lines = [one.locator.rpartition(":")[2] for one in defined]
        if not file or not all(line.isdigit() for line in lines):
            continue
        base = passage_of(defined[0], origin)
        names.append(
            Passage(
                text="\n".join(one.text.split("\n")[0] for one in defined),
                url=base.url,
                locator=defined[0].locator,
                lines=tuple((place, int(line)) for place, line in enumerate(lines)),
                title=f"names beside {passage.symbol}",
                kind="symbol",
                what="names",
                also=tuple(one.symbol for one in defined if one.symbol),
                version=base.version,
                official=base.official,
            )
        )
    return names


def _with_alike(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The answer whose first name comes with all that end or begin as it does, in a word that the question says."""
    said = {stem(word) for word in words(parsed.asking)}
    for passage in answered.passages[:_LOOKED_AT]:
        if not passage.symbol or passage.parameter:
            continue
        last = passage.symbol.rpartition(".")[2]
        for affix in _affixes(last, said):
            alike = _named_like(index, affix, passage.symbol)
            if passage.what == "class" and (len(alike) < _FEW or affix in {"error", "exception"}):
                known = {one.title for one in alike}
                alike += [one for one in _derived(index, passage.symbol) if one.title not in known]
            if len(alike) >= _FEW:
                names = names_beside(answered.passages[0], alike[:_MOST_ALIKE], origin)
                return answered._replace(support=(*answered.support, *names))
    return answered


def _derived(index: PassageIndex, base: str) -> list[IndexedPassage]:
    """The public classes that derive from a class by name, the best known first."""
    top, last = base.partition(".")[0], base.rpartition(".")[2]
    found = [
        hit.passage
        for hit in index.subclasses_of(last, _MOST_DERIVED)
        if hit.passage.data.get("public") and (hit.passage.symbol or "").partition(".")[0] == top
    ]
    return sorted(found, key=lambda one: (-one.prior, one.title))


def _affixes(name: str, said: set[str]) -> Iterable[str]:
    """The first and the last part of a name that the question says; an error says "exception"."""
    parts = _parts(name)
    for part in dict.fromkeys([parts[-1], parts[0]] if len(parts) > 1 else []):
        root = stem(part)
        if root in _FAULTS if said & _FAULTS else root in said:
            yield part


def _named_like(index: PassageIndex, affix: str, symbol: str) -> list[IndexedPassage]:
    """The public names of a package that begin or end with a part as a symbol does, those beside it first, then the best known."""
    beside, _dot, own = symbol.rpartition(".")
    found: dict[int, str] = {}
    for entry in sorted(
        index.affixed(affix),
        key=lambda one: (one.name.rpartition(".")[0] != beside, -one.standing, not one.own, one.name),
    ):
        owner, _dot, last = entry.name.rpartition(".")
        parts = _parts(last)
        is_member = owner.rpartition(".")[2][:1].isupper()
        is_like = len(parts) > 1 and affix in {parts[0], parts[-1]} and _form(last) == _form(own)
        is_near = entry.standing >= _KNOWN and owner.partition(".")[0] == symbol.partition(".")[0]
        if is_like and is_near and not is_member:
            found.setdefault(entry.passage, entry.name)
    return [hit.passage._replace(symbol=found[hit.id]) for hit in index.get(list(found)[:_MOST_ALIKE])]


def _form(name: str) -> tuple[bool, bool]:
    """How a name is capitalised: as a class, as a constant, or as a function."""
    return name[:1].isupper(), name.isupper()


def _parts(name: str) -> list[str]:
    return [part.lower() for part in (split_identifier(name) if "_" not in name else name.split("_"))]
