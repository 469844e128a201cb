"""The names and arguments of a question that a library clearly does not have."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.evidence import UnresolvedName

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kr_core.question.question_names import Identifier
    from kr_core.search.asked_names import AskedNames, Resolved
    from kr_core.search.name_lookup import LibraryNames, NameEntry, NameLookup
    from kr_core.search.passage_index import IndexedPassage, PassageIndex

_TOLD_KINDS = frozenset({"meaning", "default", "difference", "replacement", "error"})
_INSTANCES = frozenset({"app", "req", "res", "ctx", "router"})
"""What users call the objects of a web framework."""
_MOST_UNRESOLVED = 3
_CALL = re.compile(r"(?<![\w.])([^\W\d][\w.]{0,120})\(")
_KEYWORD = re.compile(r"(?:^|,)\s{0,40}([^\W\d]\w{0,80})\s{0,9}=(?!=)")
_KIND = r"(?:parameter|param|argument|kwarg|keyword|option|method|attribute|setting)"
_SAID_OF = re.compile(
    r"\b(?:the|an?) [`'\"]?([a-z_]\w{1,60})[`'\"]?=? (?:parameter|param|argument|keyword|kwarg|option) (?:of|in|for|to|from|on) "
    r"(?:the )?[`'\"]?((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60})"
)
_QUOTED = re.compile(r"\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'")
_LONGEST_TEXT = 20_000
_LONGEST_CALL = 1_000
_MOST = 20
_MOST_NEAREST = 3
_MOST_LIKE = 4_000
_MOST_COMPARED = 40
_MOST_SAYING = 60
_NEAR = 0.7
"""A name that is less like another is not near it."""
_PUBLIC = 4.0
"""The least standing of a public name."""


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
        pairs = [*called_keywords(self._question.whole), *said_keywords(self._question.text)]
        for called, keyword in dict.fromkeys([*pairs, *self._spelled_beside(chosen)]):
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

    def _spelled_beside(self, chosen: dict[Identifier, NameEntry]) -> Iterator[tuple[str, str]]:
        """A keyword beside the one callable that the question names (`parallel=True`), if nothing in the library takes it."""
        callables = {entry.name: one.name for one, entry in chosen.items() if not entry.parameter}
        if len(callables) != 1:
            return
        for one in self._question.names:
            is_spelled = one.form == "keyword" and one.place == "prose"
            if is_spelled and not any(each.parameter for each in self._lookup.named(one.name)):
                yield next(iter(callables.values())), one.name

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


class CalledKeyword(NamedTuple):
    """An argument that a call passes by name."""

    callable: str
    keyword: str


def called_keywords(text: str) -> Iterator[CalledKeyword]:
    """The arguments that each call in a text passes by name; of a call within a call, to the inner one alone."""
    text = _QUOTED.sub(lambda match: "_" * len(match[0]), text[:_LONGEST_TEXT])
    for call in [*_CALL.finditer(text)][:_MOST]:
        for keyword in _KEYWORD.findall(_outer(text, call.end())):
            yield CalledKeyword(call[1].rstrip("."), keyword)


def said_keywords(text: str) -> Iterator[CalledKeyword]:
    """The parameters that a text says something takes: "the `retries` parameter of requests.get"."""
    for keyword, called in _SAID_OF.findall(text):
        yield CalledKeyword(called, keyword)


def is_called_part(name: str, text: str) -> bool:
    """Whether a text calls a name a part of what it names beside it: "the `retry_codes` option of Client"."""
    spelled = rf"[`'\"]?{re.escape(name)}[`'\"=]{{0,2}}"
    called = rf"(?<!\w){spelled} (?:\w{{1,20}} )?{_KIND}\b|\b{_KIND} (?:called |named )?{spelled}(?!\w)"
    beside = rf"(?:{called}).{{0,20}}\b(?:of|in|for|from|on|to|with)\b"
    return re.search(beside, text, re.IGNORECASE) is not None


def _outer(text: str, start: int) -> str:
    """What stands between the brackets of a call, without what stands in brackets there."""
    depth = 1
    kept: list[str] = []
    for letter in text[start : start + _LONGEST_CALL]:
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return "".join(kept)
        if depth == 1:
            kept.append(letter)
    return ""


def is_said(index: PassageIndex, name: str, owner: str = "") -> bool:
    """Whether any passage spells a name as an identifier, as a member of its owner where that is given."""
    return passage_saying(index, name, owner) is not None


def passage_saying(index: PassageIndex, name: str, owner: str = "") -> IndexedPassage | None:
    """The first passage that spells a name as an identifier, as a member of its owner where that is given; one that says it in prose before one with it in code."""
    escaped = re.escape(name)
    if owner:
        spelled = re.compile(rf"\b{re.escape(owner)}\.{escaped}\b")
    elif name.isalpha() and name.islower():  # a plain word too
        spelled = re.compile(
            rf"[.`'\":]{escaped}\b|\b{escaped}\s?[(=:]|^(?>.*?\bimport\b).*\b{escaped}\b", re.MULTILINE
        )
    else:
        spelled = re.compile(rf"(?<!\w){escaped}(?!\w)")
    in_code = None
    for hit in index.saying(f"{owner} {name}", _MOST_SAYING):
        passage = hit.passage
        if spelled.search(passage.documentation):
            return passage
        if in_code is None and any(map(spelled.search, passage.code)):
            in_code = passage
    return in_code


def nearest_names(index: PassageIndex, name: str, beside: Collection[str] = ()) -> tuple[str, ...]:
    """The public names that are most like one, best first.

    Args:
        index: where.
        name: the name that is not there.
        beside: other names of the question; a member of one of them is nearer.
    """
    owner, _dot, last = name.removesuffix(")").replace("(", ".").rpartition(".")
    beside = {owner.rpartition(".")[2], *beside} - {"", name}
    words = index.like_words(last, _MOST_LIKE)
    wanted = Counter(_pairs(last.lower()))
    words.sort(key=lambda word: -(wanted & Counter(_pairs(word))).total() / (len(word) + len(last)))
    likeness = difflib.SequenceMatcher(b=last.lower())
    found: list[tuple[float, str]] = []
    for word in words[:_MOST_COMPARED]:
        likeness.set_seq1(word)
        ratio = likeness.ratio()
        entries = index.named(word) if ratio >= _NEAR else []
        if not entries:
            continue
        best = max(
            entries,
            key=lambda each: (bool(beside & set(each.name.split("."))), not each.parameter, each.standing),
        )
        if best.standing >= _PUBLIC:
            ratio += 0.3 * bool(beside & set(best.name.split(".")[1:])) - 0.05 * bool(best.parameter)
            found.append((ratio, f"{best.name}({best.parameter})" if best.parameter else best.name))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(dict.fromkeys(name for _near, name in found))[:_MOST_NEAREST]


def nearest_arguments(index: PassageIndex, owner: str, name: str, taken: Collection[str]) -> tuple[str, ...]:
    """What comes nearest to an argument that a callable does not take: its own that are spelled alike, and what takes it."""
    alike = difflib.get_close_matches(name, sorted(taken), n=1, cutoff=_NEAR)
    takers = sorted(
        (each for each in index.named(name) if each.parameter == name and each.standing >= _PUBLIC),
        key=lambda each: -each.standing,
    )
    found = [f"{owner}({one})" for one in alike] + [f"{each.name}({name})" for each in takers]
    return tuple(dict.fromkeys(found))[:_MOST_NEAREST]


def _pairs(word: str) -> list[str]:
    return [word[n : n + 2] for n in range(len(word) - 1)]
