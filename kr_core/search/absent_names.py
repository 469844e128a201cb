"""The names and arguments of a question that a library clearly does not have."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from kr_core.model.evidence import UnresolvedName
from kr_core.search.called_keywords import called_keywords, is_called_part, said_keywords
from kr_core.search.unknown_names import is_said, nearest_arguments, nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.question.spelled_names import Identifier
    from kr_core.search.asked_names import AskedNames, Resolved
    from kr_core.search.library_names import LibraryNames
    from kr_core.search.name_lookup import NameLookup
    from kr_core.search.name_table import NameEntry

_TOLD_KINDS = frozenset({"meaning", "default", "difference", "replacement", "error"})
_INSTANCES = frozenset({"app", "req", "res", "ctx", "router"})
"""What users call the objects of a web framework."""
_MOST_UNRESOLVED = 3


class AbsentNames:
    """Finds what one question names and the library does not have."""

    def __init__(self, lookup: NameLookup, library: LibraryNames, question: AskedNames) -> None:
        self._lookup = lookup
        self._library = library
        self._question = question

    def find(
        self, chosen: dict[Identifier, NameEntry], meant: Sequence[Resolved], owner: str
    ) -> tuple[UnresolvedName, ...]:
        """What is not there, with what comes nearest.

        Args:
            chosen: the best meaning of each name that has one.
            meant: what the names mean.
            owner: the class that the question mentions; empty for none.
        """
        told = {
            one.name: one
            for one in (*islice(self._not_taken(chosen), _MOST_UNRESOLVED), *self._unresolved(meant, owner))
        }
        for name in [one for one in told if any(other.endswith(f"({one})") for other in told)]:
            del told[name]  # said with what does not take it
        return tuple(told.values())[:_MOST_UNRESOLVED]

    def _not_taken(self, chosen: dict[Identifier, NameEntry]) -> Iterator[UnresolvedName]:
        """The arguments of the question's calls that the library's callables do not take."""
        named = {one.name: entry for one, entry in chosen.items() if not self._question.is_foreign(one)}
        for called, keyword in dict.fromkeys(
            [*called_keywords(self._question.whole), *said_keywords(self._question.text)]
        ):
            entry = named.get(called)
            if entry is None or not (
                self._library.is_root(called.partition(".")[0])
                or self._library.is_named_in(self._question.text)
            ):
                continue
            taken = self._lookup.passage(entry).data.get("keywords")
            if taken is None or keyword in taken:
                continue
            if not any(
                each.parameter == keyword and each.name == entry.name for each in self._lookup.named(keyword)
            ):
                nearest = nearest_arguments(self._lookup.index, entry.name, keyword, taken)
                yield UnresolvedName(name=f"{called}({keyword})", nearest=nearest)

    def _unresolved(self, meant: Sequence[Resolved], owner: str) -> tuple[UnresolvedName, ...]:
        told = []
        resolved = {each.identifier for each in meant}
        for one in self._question.names:
            name = self._absent(one, owner, beside=bool(resolved)) if one not in resolved else ""
            if name:
                told.append(
                    UnresolvedName(
                        name=name, nearest=nearest_names(self._lookup.index, name, self._question.spelled)
                    )
                )
        return tuple(told[:_MOST_UNRESOLVED])

    def _absent(self, one: Identifier, owner: str, *, beside: bool) -> str:
        """A name that clearly belongs to the library and that no passage spells, as KR says it; empty for any other.

        Args:
            one: the name.
            owner: the class that the question mentions.
            beside: whether another name of the question is the library's.
        """
        is_rooted = "." in one.name and (
            self._library.is_root(one.name.partition(".")[0])
            or (one.place == "prose" and self._lookup.all_members(one.name.rpartition(".")[0]) is not None)
        )
        is_claimed = one.role == "subject" or is_rooted or self._is_called_part(one)
        if not is_claimed or self._question.is_library(one):
            return ""
        if self._question.is_in_message(one):  # the error itself says that it is not there
            if not is_said(self._lookup.index, one.last):
                return one.name if owner or self._library.is_named_in(self._question.text) else ""
            return _member(owner, one.last, self._question.text) if owner else ""
        return one.name if self._is_claimed(one, beside=beside) and not self._is_said(one) else ""

    def _is_called_part(self, one: Identifier) -> bool:
        """Whether the question calls a name a part of what it names beside it."""
        is_name = one.form in {"code", "keyword", "snake"} and one.place == "prose"
        return is_name and is_called_part(one.name, self._question.text)

    def _is_claimed(self, one: Identifier, *, beside: bool) -> bool:
        """Whether a name clearly belongs to the library, by how it is spelled and asked about."""
        owner = one.name.rpartition(".")[0]
        if owner:
            root = owner.partition(".")[0]
            is_instance = root in _INSTANCES and self._library.is_named_in(self._question.text)
            return self._library.is_root(root) or is_instance or bool(self._lookup.owners(owner))
        if one.form == "weak" or (one.form == "camel" and self._question.kind not in _TOLD_KINDS):
            return False
        return self._library.is_named_in(self._question.text) or (beside and self._question.kind == "default")

    def _is_said(self, one: Identifier) -> bool:
        owner, _dot, last = one.name.rpartition(".")
        if owner in _INSTANCES:  # `app.register`: that its documentation says the word is not enough
            return any(entry.name.rpartition(".")[2] == last for entry in self._lookup.index.named(last))
        members = self._lookup.all_members(owner) if owner else None
        if members is not None:
            return last in members or is_said(self._lookup.index, last, owner.rpartition(".")[2])
        if owner and self._question.kind in {"replacement", "error"} and self._lookup.owners(owner):
            return is_said(self._lookup.index, last, owner.rpartition(".")[2])
        return is_said(self._lookup.index, last)


def _member(owner: str, name: str, text: str) -> str:
    return f"{owner}({name})" if "argument" in text else f"{owner}.{name}"
