"""The names of an index: how it stores them, what its library is called, and what a name may mean there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.question.question_names import BUILTIN_NAMES
from kr_core.question.vocabulary import IMPORTED_AS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.question.question_names import Identifier
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
_WORD = re.compile(r"[^\W\d]\w*")
_INNER = re.compile(r"(?:^|\.)(?:_[^.]*|core|internals?|impl|compat|legacy|v1|deprecated)(?=\.)")
"""Modules whose names stand for a low-level duplicate of what users call."""
_KINDS = {"class": 0.5, "function": 0.4, "property": 0.3}
_MOST_OTHERS = 200


class LibraryNames:
    """The names of one library.

    Args:
        names: what the library is called, its top-level modules included.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._plain = frozenset(_plain(name) for name in names)
        self._tops = frozenset(name.replace("-", "_") for name in names if name.isidentifier() or "-" in name)
        self.is_python = "python" in self._plain

    def __contains__(self, name: str) -> bool:
        """Whether a name is the library's, letter by letter."""
        return name in self._names

    def is_like(self, word: str) -> bool:
        """Whether a word is a name of the library as people vary it."""
        return _plain(word) in self._plain

    def is_root(self, root: str) -> bool:
        """Whether a dotted name that begins so is the library's."""
        return root in self._tops or bool(self.imported_as(root))

    def imported_as(self, root: str) -> str:
        """The library's module that users import under a short name; empty for none."""
        module = IMPORTED_AS.get(root, "")
        return module if module in self._tops else ""

    def is_builtin(self, name: str) -> bool:
        """Whether a name of the standard library needs no import: `open`, which is defined in `io`."""
        return self.is_python and name.removeprefix("io.") in BUILTIN_NAMES

    def is_named_in(self, text: str) -> bool:
        """Whether a text names the library."""
        if any(self.is_like(word) for word in _WORD.findall(text)):
            return True
        spelled = {part for name in self._names if not name.isidentifier() for part in _ways_to_name(name)}
        return any(
            re.search(rf"(?<![\w@/-]){re.escape(one)}(?![\w-])", text, re.IGNORECASE) for one in spelled
        )


def _ways_to_name(name: str) -> Iterator[str]:
    """A library's name that is more than one word, and what else users call a scoped one: `TanStack` for `@tanstack/...`."""
    scope, _slash, rest = name.rpartition("/")
    yield name
    if scope.startswith("@"):
        yield from (scope[1:], rest)


def _plain(name: str) -> str:
    """A library's name as people vary it: `BeautifulSoup`, `beautifulsoup4`."""
    return re.sub(r"[\W_]", "", name.lower()).rstrip("0123456789") or name.lower()


class NameEntry(NamedTuple):
    """A name and the passage that it leads to."""

    name: str
    """The dotted name of the symbol."""
    parameter: str
    """The parameter of it that is meant; empty for the symbol itself."""
    own: bool
    """Whether the passage goes by this name; false for a re-export or a copy."""
    standing: float
    """How likely users mean this one by its last part alone."""
    passage: int


class NameTable:
    """Collects the names while an index is built."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[bool, float, int]] = {}

    def add(self, number: int, passage: IndexedPassage) -> None:
        """Note the names of a passage; the first passage that has a name as its own keeps it."""
        if passage.symbol is None:
            return
        parameter = passage.parameter or ""
        others = [*passage.data.get("also", ()), *passage.data.get("aliases", ())]
        names = {passage.symbol: True}
        for other in others[:_MOST_OTHERS]:
            names.setdefault(str(other).partition("(")[0], False)
        for name, own in names.items():
            place = (own, _standing(name, passage, len(others)), number)
            known = self._known.get((name, parameter))
            if known is None or place[:2] > known[:2]:
                self._known[name, parameter] = place

    def rows(self) -> Iterator[tuple[str, str, str, bool, float, int]]:
        """The rows of the table."""
        for (name, parameter), (own, standing, number) in self._known.items():
            word = parameter or name.rpartition(".")[2]
            yield word.lower(), name, parameter, own, standing, number


def _standing(name: str, passage: IndexedPassage, others: int) -> float:
    """Public, documented, class, plain function, often re-exported, near the top; in this order."""
    data = passage.data
    standing = passage.prior
    standing += 4.0 if data.get("public", True) and not _INNER.search(name) else 0.0
    standing += 1.0 if passage.lead and passage.kind != "section" else 0.0
    standing += _KINDS.get(str(data.get("what")), 0.0) * (0.4 if passage.parameter else 1.0)
    standing += 0.05 * min(others, 6) - 0.15 * name.count(".")
    return round(standing, 4)


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
