"""The parameters that names and plain words of a question mean."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kr_core.question.question_names import Identifier
from kr_core.search.asked_names import DOCUMENTED, MOST_JOINED, MOST_WORDS, Resolved
from kr_core.search.name_lookup import likeliest, spelled_level
from kr_core.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from kr_core.search.asked_names import AskedNames
    from kr_core.search.name_lookup import LibraryNames, NameEntry, NameLookup

_PARAMETER_BONUS = 0.6
_BY_LAST_NAME = 2
"""The rule by which a taker has the last part of a name in the question."""


class ParameterLookup:
    """Finds the parameters that one question means."""

    def __init__(self, lookup: NameLookup, library: LibraryNames, question: AskedNames) -> None:
        self._lookup = lookup
        self._library = library
        self._question = question

    def find(
        self, one: Identifier, others: dict[Identifier, NameEntry], symbol: NameEntry | None
    ) -> tuple[NameEntry | None, Identifier | None]:
        """The parameter that a name may mean, and the name of the callable that takes it."""
        owner_name, _dot, last = one.name.rpartition(".")
        entries = [entry for entry in self._lookup.named(last) if entry.parameter]
        if one.form == "weak":
            entries = [entry for entry in entries if entry.parameter == one.name]
        if owner_name:
            return likeliest(
                each for each in entries if spelled_level(each, owner_name.split("."), strong=True)
            ), None
        for rule in range(3) if entries else ():
            owned: dict[str, list[NameEntry]] = defaultdict(list)
            for each in entries:
                owned[_takers(each)[rule]].append(each)
            for other, entry in others.items():
                found = [each for name in self._takes(entry)[rule] for each in owned.get(name, ())]
                if (
                    rule == _BY_LAST_NAME and "." in other.name
                ):  # `Queue.enqueue` is not the command `cli.enqueue`
                    found = [each for each in found if _owner(each) == _owner(entry)]
                if found:
                    return likeliest(found), other
        if not self._stands_alone(one, others, symbol) and not self._is_spelled_better(one, entries, symbol):
            return None, None

        def worth(each: NameEntry) -> tuple[float, ...]:
            return (self._question.taker_named(each), self._library.is_builtin(each.name), each.standing)

        return max(entries, key=worth, default=None), None

    def is_preferred(self, parameter: NameEntry, symbol: NameEntry | None, one: Identifier) -> bool:
        """Whether a name means a parameter rather than a symbol."""
        if symbol is None or self._question.kind == "default":
            return True
        if symbol.name.rpartition(".")[0] == parameter.name:  # its documentation may stand at the attribute
            return "." not in one.name and parameter.standing + _PARAMETER_BONUS >= symbol.standing
        return one.form == "keyword" or "." not in one.name

    def in_plain_words(self, meant: Sequence[Resolved], owners: set[Identifier]) -> list[Resolved]:
        """Plain words of the question that are parameters of what it names: they are asked about, or may be the answer."""
        takers = {
            name: each.identifier for each in meant if not each.entry.parameter
            for name in (each.entry.name, self._lookup.passage(each.entry).symbol or "")
        }  # fmt: skip
        is_value = self._question.value_asked and not owners
        words = self._question.text_words[:MOST_WORDS] if self._question.kind != "error" else []
        found = []
        for word, entry in self._words_that_name(words, takers) if takers else ():
            if self._question.kind == "how_to" and self._lookup.passage(entry).data.get("needed"):
                continue
            taker = takers[entry.name]
            role = taker.role if is_value else "context"
            if role == "subject":
                owners.add(taker)
            found.append(Resolved(Identifier(word, "weak", "prose", role), entry))
        return found

    def _words_that_name(
        self, words: Sequence[str], takers: Container[str]
    ) -> Iterator[tuple[str, NameEntry]]:
        """The parameters that plain words spell, with their names; of "pool size" `pool_size` is meant, and not `pool`."""
        place = 0
        while place < len(words):
            length, named = self._longest_name(words[place : place + MOST_JOINED], takers)
            if named is not None:
                yield named.parameter, named
            place += length

    def _longest_name(self, words: Sequence[str], takers: Container[str]) -> tuple[int, NameEntry | None]:
        """The parameter that the first of some words spell together, as many of them as possible, and how many these are."""
        for length in range(len(words), 0, -1):
            name = "_".join(words[:length]).lower() if length > 1 else words[0]
            if length == 1 and (
                name in self._question.spelled
                or name in STOP_WORDS
                or name in {"default", "value", "values", "options"}
            ):
                continue
            entry = likeliest(
                [each for each in self._lookup.named(name) if each.parameter == name and each.name in takers]
            )
            if entry is not None:
                return length, entry
        return 1, None

    def _stands_alone(
        self, one: Identifier, others: dict[Identifier, NameEntry], symbol: NameEntry | None
    ) -> bool:
        """Whether a name may be a parameter though nothing is named that takes it."""
        if one.role != "subject" or one.form == "call":
            return False
        if self._question.kind == "default" or (
            self._question.kind == "yes_no" and self._question.value_asked
        ):
            return not any(other.role == "subject" for other in others)
        if one.form == "weak" and self._question.kind != "options":
            return False
        return symbol is None or one.form == "keyword"

    def _is_spelled_better(
        self, one: Identifier, entries: Sequence[NameEntry], symbol: NameEntry | None
    ) -> bool:
        """Whether a documented parameter is spelled as the question spells it, and the symbol has no documentation."""
        if symbol is None or symbol.standing >= DOCUMENTED or one.role != "subject" or one.form != "snake":
            return False
        return any(each.parameter == one.name and each.standing >= DOCUMENTED for each in entries)

    def _takes(self, symbol: NameEntry) -> tuple[Sequence[str], ...]:
        """The names by which a symbol may be the taker of a parameter, as `_takers` orders them."""
        return (
            (symbol.name, self._lookup.passage(symbol).symbol or ""),
            (symbol.name,),
            (_plain_last(symbol),),
        )


def _takers(parameter: NameEntry) -> tuple[str, ...]:
    """What takes a parameter, what has that as a member, and its last name: the decorator `option` takes what the class `Option` takes."""
    return parameter.name, parameter.name.rpartition(".")[0], _plain_last(parameter)


def _owner(entry: NameEntry) -> str:
    return entry.name.rpartition(".")[0]


def _plain_last(entry: NameEntry) -> str:
    return entry.name.rpartition(".")[2].lower()
