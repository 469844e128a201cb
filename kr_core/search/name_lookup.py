"""The symbols and parameters that a name may mean in an index; each is read once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.question.spelled_names import Identifier
    from kr_core.search.library_names import LibraryNames
    from kr_core.search.name_table import NameEntry
    from kr_core.search.passage_index import IndexedPassage, PassageIndex

_VARIABLES = frozenset(
    """self cls this app api db df ser arr res resp req conn cur cursor sess ctx cfg obj my the doc log logger console parser router
    model schema instance value item data result client session engine response request""".split()
)
"""Names that users give to instances."""
_FAMILIAR = 2
"""A root of so few letters is a variable or an import's short name."""
_BASES = re.compile(r"class \w+(?:\[[^\]]*\])?\(([^)]*)\)")
_MOST_BASES = 12
_MOST_ANCESTORS = 60
_MOST_GENERATIONS = 4


class Meaning(NamedTuple):
    """A symbol that a name may mean, and how exactly it is spelled (see `spelled_level`)."""

    level: int
    entry: NameEntry


class NameLookup:
    """Looks up names of one library in its index."""

    def __init__(self, index: PassageIndex, library: LibraryNames) -> None:
        self.index = index
        self._library = library
        self._passages: dict[int, IndexedPassage] = {}
        self._entries: dict[str, list[NameEntry]] = {}

    def named(self, word: str) -> list[NameEntry]:
        if word not in self._entries:
            self._entries[word] = self.index.named(word)
        return self._entries[word]

    def passage(self, entry: NameEntry) -> IndexedPassage:
        if entry.passage not in self._passages:
            self._passages[entry.passage] = self.index.get([entry.passage])[0].passage
        return self._passages[entry.passage]

    def symbols(self, one: Identifier) -> list[Meaning]:
        """The symbols that a name may mean, with how exactly."""
        parts = one.name.split(".")
        found = self.matching(parts, strong=one.form != "weak")
        if found or len(parts) == 1:
            return found
        root, *rest = parts
        module = self._library.imported_as(root)
        if module:
            found = self.matching([module, *rest], strong=True) or self.matching(rest, strong=True)
        found = found or self._inherited(parts)
        is_any = root in _VARIABLES or len(root) <= _FAMILIAR
        if not found and (is_any or (len(parts) == 2 and self._library.is_like(root))):
            found = self.symbols(one._replace(name=".".join(rest)))
        return found

    def matching(self, parts: Sequence[str], *, strong: bool) -> list[Meaning]:
        return [
            Meaning(level, entry)
            for entry in self.named(parts[-1])
            if not entry.parameter and (level := spelled_level(entry, parts, strong=strong))
        ]

    def _inherited(self, parts: Sequence[str]) -> list[Meaning]:
        """A member that a class takes over from its bases, as Python looks for it; each base is looked at once."""
        seen = {parts[-2]}
        waiting = [(base, 1) for base in reversed(list(self.bases(parts[:-1])))]
        while waiting and len(seen) <= _MOST_ANCESTORS:
            base, depth = waiting.pop()
            if base in seen:
                continue
            seen.add(base)
            found = self.matching([base, parts[-1]], strong=False)
            if found:
                return found
            if depth <= _MOST_GENERATIONS:
                waiting += [(above, depth + 1) for above in reversed(list(self.bases([base])))]
        return []

    def bases(self, owner: Sequence[str]) -> Iterator[str]:
        """The names of the bases of a class, without their modules."""
        owners = sorted(
            self.matching(owner, strong=True), key=lambda each: (-each.level, -each.entry.standing)
        )
        for each in owners[:2]:
            bases = _BASES.match(str(self.passage(each.entry).data.get("signature") or ""))
            for base in (bases[1].split(",") if bases else ())[:_MOST_BASES]:
                name = base.strip().partition("[")[0].rpartition(".")[2]
                if name.isidentifier():
                    yield name

    def owners(self, owner: str) -> list[Meaning]:
        return [each for each in self.matching(owner.split("."), strong=False) if each.level >= 2]

    def all_members(self, owner: str) -> frozenset[str] | None:
        """The names of all members of what an owner may mean; None where the documentation does not tell them all."""
        told = [self.passage(each.entry).data.get("members") for each in self.owners(owner)]
        if not told or None in told:
            return None
        return frozenset(name for names in told for name in names or ())


def spelled_level(entry: NameEntry, parts: Sequence[str], *, strong: bool) -> int:
    """How exactly a name is spelled by its last parts: 3 whole, 2 in part, 1 except for capitals; 0 not at all."""
    own = entry.name.split(".")
    if own[-len(parts) :] == list(parts):
        return 3 if len(parts) > 1 and len(own) == len(parts) else 2
    if strong and [part.lower() for part in own[-len(parts) :]] == [part.lower() for part in parts]:
        return 1
    return 0


def likeliest(entries: Iterable[NameEntry]) -> NameEntry | None:
    return max(entries, key=lambda each: each.standing + 0.3 * each.own, default=None)
