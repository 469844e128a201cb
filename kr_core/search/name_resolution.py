"""What the names of a question mean in an index: whole names first, then what is left of them.

An undotted name may mean many things: what the question names beside it decides, then what users mean most often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.evidence import UnresolvedName
from kr_core.question.question_names import Identifier
from kr_core.search.absent_names import AbsentNames, is_said, nearest_names
from kr_core.search.asked_names import DOCUMENTED, AskedNames, Resolved
from kr_core.search.name_lookup import LibraryNames, Meaning, NameLookup
from kr_core.search.parameter_lookup import ParameterLookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.question.parsed_question import ParsedQuestion
    from kr_core.search.name_lookup import NameEntry
    from kr_core.search.passage_index import PassageIndex

_OWN, _TAKEN_OVER = 10, 8
"""What an owner counts that defines a member itself, and one that takes it over."""
_OF_COPIES = 0.35
"""How much a member's standing may owe to the subclasses that take it over."""
_MOST_OWNERS = 6


class Resolution(NamedTuple):
    """What the names of a question mean."""

    subjects: tuple[Resolved, ...] = ()
    """What the question asks about."""
    context: tuple[Resolved, ...] = ()
    """What it mentions: its members and parameters may be the answer."""
    unresolved: tuple[UnresolvedName, ...] = ()


def resolve(
    index: PassageIndex, parsed: ParsedQuestion, names: Sequence[str], modules: Sequence[str] = ()
) -> Resolution:
    """Look up the names of a question.

    Args:
        index: where.
        parsed: the question.
        names: what the library is called, its top-level modules included.
        modules: top-level modules that the question names.
    """
    library = LibraryNames(names)
    lookup = NameLookup(index, library)
    return _Resolver(lookup, library, AskedNames(lookup, library, parsed, modules)).resolve()


def resolved(lookup: NameLookup, library: LibraryNames, question: AskedNames) -> tuple[Resolved, ...]:
    """What the names of a question mean, whether they are asked about or not."""
    found = _Resolver(lookup, library, question).resolve()
    return (*found.subjects, *found.context)


def look_up(index: PassageIndex, name: str, names: Sequence[str]) -> NameEntry | UnresolvedName | None:
    """What a proposed name means in the index; None where it belongs to something else."""
    identifier = Identifier(name.strip().removesuffix("()"), "code")
    library = LibraryNames(names)
    lookup = NameLookup(index, library)
    question = AskedNames(lookup, library, _proposed(identifier))
    if not identifier.name or question.is_foreign(identifier):
        return None
    found = _Resolver(lookup, library, question).resolve()
    if found.subjects:
        return found.subjects[0].entry
    if is_said(index, identifier.last):
        return None
    return UnresolvedName(
        name=identifier.name, nearest=nearest_names(index, identifier.name, question.spelled)
    )


def _proposed(identifier: Identifier) -> ParsedQuestion:
    from kr_core.question.parsed_question import ParsedQuestion

    return ParsedQuestion(identifier.name, "", ("meaning",), (identifier,))


class _Resolver:
    def __init__(self, lookup: NameLookup, library: LibraryNames, question: AskedNames) -> None:
        self._lookup = lookup
        self._library = library
        self._question = question
        self._parameters = ParameterLookup(lookup, library, question)
        self._absent = AbsentNames(lookup, library, question)
        self._options: set[Identifier] = set()

    def resolve(self) -> Resolution:
        """What each name means, and which of them are asked about."""
        question = self._question
        symbols = {one: self._lookup.symbols(one) for one in question.names if not question.is_library(one)}
        shared, standing = self._shared_owners(symbols), self._standing_of_owners(symbols)
        chosen = {one: self._best(found, shared, standing) for one, found in symbols.items() if found}
        owners: set[Identifier] = set()
        owner = _class_in(chosen)
        meant = list(self._meant(symbols, chosen, owner, owners))
        plain = self._parameters.in_plain_words(meant, owners)
        asked = [each for each in plain if each.identifier.role == "subject"]
        asked += [each for each in meant if self._is_asked(each, meant, owners)]
        return Resolution(
            tuple(_distinct(asked)),
            tuple(_distinct(each for each in (*meant, *plain) if each not in asked)),
            self._absent.find(chosen, meant, owner),
        )

    def _meant(
        self,
        symbols: dict[Identifier, list[Meaning]],
        chosen: dict[Identifier, NameEntry],
        owner: str,
        owners: set[Identifier],
    ) -> Iterator[Resolved]:
        """What each name means; what an error says that a class does not have is not looked for elsewhere."""
        for one, found in symbols.items():
            if owner and self._question.is_in_message(one):
                continue
            others = {other: entry for other, entry in chosen.items() if other != one}
            entry = self._choose(one, others, chosen.get(one), owners)
            if entry is not None and self._is_meant(one, entry, found):
                yield Resolved(one, entry)

    def _choose(
        self,
        one: Identifier,
        others: dict[Identifier, NameEntry],
        symbol: NameEntry | None,
        owners: set[Identifier],
    ) -> NameEntry | None:
        """What a name means: a parameter of what is named beside it (which is then noted), or a symbol."""
        if symbol is not None and one.form == "keyword" and self._is_called(symbol):
            symbol = None  # `bind=True` does not mean a method of that name
        parameter, taker = self._parameters.find(one, others, symbol)
        if parameter is not None and self._parameters.is_preferred(parameter, symbol, one):
            if taker is not None:
                owners.add(taker)
            return parameter
        taken = self._taker_of(one, symbol, others)
        if taken is not None:
            owners.add(taken)
            self._options.add(one)
            return symbol
        is_of_other = (
            self._question.kind in {"default", "options"}
            and one.form == "weak"
            and any(other.role == "subject" for other in others)
        )
        return (
            None if is_of_other and symbol is not None and not self._question.owner_named(symbol) else symbol
        )

    def _taker_of(
        self, one: Identifier, symbol: NameEntry | None, others: dict[Identifier, NameEntry]
    ) -> Identifier | None:
        """The name of the callable that takes an object of which a plain word is an option: `useForm` for its `mode`."""
        if (
            symbol is None
            or symbol.parameter
            or one.form != "weak"
            or self._question.kind not in {"default", "options"}
        ):
            return None
        owner = symbol.name.rpartition(".")[0]
        for other, entry in others.items():
            data = self._lookup.passage(entry).data if owner and not entry.parameter else {}
            is_returned = owner.rpartition(".")[2] in (data.get("returns") or "")
            if owner in data.get("types", ()) and not is_returned:
                return other
        return None

    def _is_called(self, entry: NameEntry) -> bool:
        return self._lookup.passage(entry).data.get("what") in {"function", "class"}

    def _is_meant(self, one: Identifier, entry: NameEntry, found: Sequence[Meaning]) -> bool:
        """A plain word means a name only if it is spelled exactly so."""
        if one.form != "weak":
            return True
        return entry.parameter == one.name or any(each.entry == entry and each.level >= 2 for each in found)

    # -- what is asked about --

    def _is_asked(self, each: Resolved, meant: Sequence[Resolved], owners: set[Identifier]) -> bool:
        """Whether what a name means is what the question asks about, and not only where that is to be found."""
        if each.identifier.role != "subject":
            return False
        if self._question.kind in {"difference", "replacement"}:
            return not each.entry.parameter or not owners or self._is_compared(each, meant)
        if self._holds_subject(each, meant):
            return False
        if each.identifier in owners:  # `timeout` in `Client`
            return False
        is_aside = (
            each.identifier.form in {"weak", "camel"}
            and each.entry.standing < DOCUMENTED
            and not each.entry.parameter
            and each.identifier not in self._options
        )
        return not is_aside or len(meant) == 1

    def _holds_subject(self, each: Resolved, meant: Sequence[Resolved]) -> bool:
        """Whether the question asks about a method of a class and names the class beside it: `SpecifierSet contains()`."""
        own = {
            name.rpartition(".")[2]
            for name in (each.entry.name, self._lookup.passage(each.entry).symbol or "")
        }
        return not each.entry.parameter and any(
            other.identifier.role == "subject"
            and other.identifier.form in {"call", "code", "snake"}
            and "." not in other.identifier.name
            and not other.entry.parameter
            and other.entry.name.rpartition(".")[0].rpartition(".")[2] in own
            and self._is_same_owner(other.entry, each.entry)
            for other in meant
        )

    def _is_same_owner(self, member: NameEntry, owner: NameEntry) -> bool:
        """Whether a name is a member of a class, by any of the class's names."""
        of = member.name.rpartition(".")[0]
        return of == owner.name or of == self._lookup.passage(owner).symbol

    def _is_compared(self, each: Resolved, meant: Sequence[Resolved]) -> bool:
        """Whether the question compares a parameter with another of the same callable."""
        return self._question.kind == "difference" and any(
            other.entry.parameter != each.entry.parameter
            and other.entry.name == each.entry.name
            and other.entry.parameter
            and other.identifier.role == "subject"
            for other in meant
        )

    # -- choosing --

    def _shared_owners(self, symbols: dict[Identifier, list[Meaning]]) -> Counter[str]:
        """In how many names' meanings each owner occurs: two names in one question take the owner that they share."""
        counted: Counter[str] = Counter()
        for one, found in symbols.items():
            owners = {(each.entry.name.rpartition(".")[0], each.entry.own) for each in found}
            for owner in {owner for owner, _own in owners} if one.role == "subject" else ():
                counted[owner] += _OWN if (owner, True) in owners else _TAKEN_OVER
        for one in symbols:  # what takes a parameter that is named
            if "." not in one.name:
                takers = {each.name for each in self._lookup.named(one.name) if each.parameter}
                counted.update(dict.fromkeys(takers, _OWN))
        return counted

    def _standing_of_owners(self, symbols: dict[Identifier, list[Meaning]]) -> dict[str, float]:
        """What the compared names of each owner stand for together, so that both are taken from one: `Task.delay` beside `Task.apply_async`."""
        counted: dict[str, float] = defaultdict(float)
        for found in symbols.values() if self._question.kind == "difference" else ():
            best: dict[str, float] = {}
            for each in found:
                owner = each.entry.name.rpartition(".")[0]
                best[owner] = max(best.get(owner, 0.0), each.entry.standing)
            for owner, standing in best.items():
                counted[owner] += standing
        return counted

    def _best(self, found: Sequence[Meaning], shared: Counter[str], standing: dict[str, float]) -> NameEntry:
        """The best of what a name may mean; of a member that several classes define alike, that of their base."""

        def worth(each: Meaning) -> tuple[float, ...]:
            owner = each.entry.name.rpartition(".")[0]
            met = shared[owner] + shared[each.entry.name]
            return (
                each.level, self._question.owner_named(each.entry), self._library.is_builtin(each.entry.name), met,
                standing.get(owner, 0.0), each.entry.standing + 0.3 * each.entry.own,
            )  # fmt: skip

        most = max(map(worth, found))
        best = [each.entry for each in found if worth(each) == most]
        bases = {
            base
            for each in best
            if len(best) > 1
            for base in self._lookup.bases(each.name.split(".")[:-1] or [""])
        }
        first = max(
            best, key=lambda each: (each.name.split(".")[-2:][0] in bases, -len(each.name), each.name)
        )
        if not _is_member(first):
            return first
        # every subclass adds to the standing of a member: what is spoken of most is meant
        near = [
            each.entry
            for each in found
            if worth(each)[:-1] == most[:-1]
            and _is_member(each.entry)
            and each.entry.own
            and each.entry.standing >= first.standing - _OF_COPIES
        ]
        near = [first, *sorted(near, key=lambda each: -each.standing)[:_MOST_OWNERS]]
        by_name = {each.name: each for each in reversed(near)}
        return by_name[self._lookup.index.most_spoken_of(list(dict.fromkeys(each.name for each in near)))]


def _is_member(entry: NameEntry) -> bool:
    """Whether a name is that of a class's member."""
    return (
        not entry.parameter and entry.name.split(".")[-2:-1] != [] and entry.name.split(".")[-2][:1].isupper()
    )


def _class_in(chosen: dict[Identifier, NameEntry]) -> str:
    """The class that is mentioned, by its last name; empty for none."""
    names = (entry.name.rpartition(".")[2] for entry in chosen.values() if not entry.parameter)
    return next((name for name in names if name[:1].isupper()), "")


def _distinct(found: Iterable[Resolved]) -> list[Resolved]:
    first: dict[int, Resolved] = {}
    for each in found:
        first.setdefault(each.entry.passage, each)
    return list(first.values())
