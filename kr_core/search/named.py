"""What the names of a question mean in an index: whole names first, then what is left of them.

An undotted name may mean many things: what the question names beside it decides, then what users mean most often.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.evidence import UnresolvedName
from kr_core.question.spelled_names import BUILTIN_NAMES, Identifier
from kr_core.search.called_keywords import called_keywords, is_called_part, said_keywords
from kr_core.search.unknown_names import is_said, nearest_arguments, nearest_names
from kr_core.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from kr_core.question.parsed_question import ParsedQuestion, QuestionKind
    from kr_core.search.name_table import NameEntry
    from kr_core.search.passage_index import IndexedPassage, PassageIndex

_IMPORTED_AS = {
    "np": "numpy", "pd": "pandas", "sa": "sqlalchemy", "nx": "networkx", "plt": "matplotlib", "tf": "tensorflow", "pl": "polars",
    "sns": "seaborn", "dt": "datetime", "ET": "xml", "bs4": "bs4", "dj": "django", "px": "plotly", "st": "streamlit", "orm": "sqlalchemy",
}  # fmt: skip
"""Names by which modules are imported as a rule."""
_VARIABLES = frozenset(
    """self cls this app api db df ser arr res resp req conn cur cursor sess ctx cfg obj my the doc log logger console parser router
    model schema instance value item data result client session engine response request""".split()
)
"""Names that users give to instances."""
_FAMILIAR = 2
"""A root of so few letters is a variable or an import's short name."""
_TOLD_KINDS = frozenset({"meaning", "default", "difference", "replacement", "error"})
_ABOUT_MEMBERS = frozenset({"meaning", "yes_no", "difference"})
"""Kinds of questions in which a word behind a class is a member rather than a parameter."""
_BASES = re.compile(r"class \w+(?:\[[^\]]*\])?\(([^)]*)\)")
_MOST_BASES = 12
_MOST_ANCESTORS = 60
_MOST_GENERATIONS = 4
_MOST_UNRESOLVED = 3
_MOST_WORDS = 40
_MOST_JOINED = 3
"""Words that may spell one name together."""
_PLAIN_WORTH = 4.9
"""Below this standing a name is not public, or not documented."""
_PARAMETER_BONUS = 0.6
_OWN, _TAKEN_OVER = 10, 8
"""What an owner counts that defines a member itself, and one that takes it over."""
_WORD = re.compile(r"[^\W\d]\w*")


class Resolved(NamedTuple):
    """A name of the question, and what it means in the index."""

    identifier: Identifier
    entry: NameEntry


class Resolution(NamedTuple):
    """What the names of a question mean."""

    subjects: tuple[Resolved, ...] = ()
    """What the question asks about."""
    context: tuple[Resolved, ...] = ()
    """What it mentions: its members and parameters may be the answer."""
    unresolved: tuple[UnresolvedName, ...] = ()


_INSTANCES = frozenset({"app", "req", "res", "ctx", "router"})
"""What users call the objects of a web framework."""


class _Meaning(NamedTuple):
    level: int
    entry: NameEntry


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
    return _Resolver(index, parsed, names, modules).resolve()


def look_up(index: PassageIndex, name: str, names: Sequence[str]) -> NameEntry | UnresolvedName | None:
    """What a proposed name means in the index; None where it belongs to something else."""
    identifier = Identifier(name.strip().removesuffix("()"), "code")
    parsed = _proposed(identifier)
    resolver = _Resolver(index, parsed, names, ())
    if not identifier.name or resolver.is_foreign(identifier):
        return None
    found = resolver.resolve()
    if found.subjects:
        return found.subjects[0].entry
    return (
        UnresolvedName(name=identifier.name, nearest=nearest_names(index, identifier.name, resolver.spelled))
        if not is_said(index, identifier.last)
        else None
    )


def _proposed(identifier: Identifier) -> ParsedQuestion:
    from kr_core.question.parsed_question import ParsedQuestion

    return ParsedQuestion(identifier.name, "", ("meaning",), (identifier,))


class _Resolver:
    def __init__(
        self, index: PassageIndex, parsed: ParsedQuestion, names: Sequence[str], modules: Sequence[str]
    ) -> None:
        self.index = index
        self.passages: dict[int, IndexedPassage] = {}
        self.entries: dict[str, list[NameEntry]] = {}
        self.options: set[Identifier] = set()
        self.kind: QuestionKind = parsed.kind
        is_whether = parsed.kind == "yes_no" and "default" in parsed.kinds
        self.value_asked = is_whether or parsed.kind in {"default", "options"}
        self.text = parsed.asking
        self.whole = parsed.text
        self.names = frozenset(names)
        self.library = frozenset(_plain(name) for name in names)
        self.is_python = "python" in self.library
        self.tops = frozenset(name.replace("-", "_") for name in names if name.isidentifier() or "-" in name)
        self.modules = frozenset(modules)
        self.identifiers = [self._role(self._with_member(self._joined(one))) for one in parsed.identifiers]
        if self.value_asked and all(
            one.role == "ignored" or self._is_library(one) for one in self.identifiers
        ):
            self.identifiers += self._spelled_in_words()
        self.asked = [one for one in self.identifiers if one.role != "ignored"]
        self.spelled = frozenset(part for one in self.asked for part in one.name.split("."))
        said = (*_WORD.findall(parsed.asking), *self.spelled)
        self.words = frozenset(word.lower() for word in said if _plain(word) not in self.library)

    # -- roles that need the library --

    def _joined(self, one: Identifier) -> Identifier:
        """A plain word with those behind it, where they spell a parameter together: `pool_size` for "the default pool size"."""
        if one.form != "weak" or not one.name.isidentifier():
            return one
        words = _WORD.findall(self.text)
        places = [place for place, word in enumerate(words) if word == one.name]
        found = (self._together(words[place:]) for place in places[:_MOST_JOINED])
        return one._replace(name=next(filter(None, found), one.name))

    def _with_member(self, one: Identifier) -> Identifier:
        """A class with the plain word behind it, if that is a documented member: `CancelScope.shield` for "CancelScope shield"."""
        if self.kind not in _ABOUT_MEMBERS or not one.last[:1].isupper() or one.place != "prose":
            return one
        behind = re.search(rf"(?<!\w){re.escape(one.name)}[`'\"]?(?:'s)?\s++[`'\"]?([a-z_]\w*+)", self.text)
        word = behind[1] if behind else ""
        is_member = word not in STOP_WORDS and any(
            each.standing >= _PLAIN_WORTH
            and not each.parameter
            and f".{each.name}".endswith(f".{one.last}.{word}")
            for each in (self._named(word) if word else ())
        )
        return one._replace(name=f"{one.name}.{word}") if is_member else one

    def _spelled_in_words(self) -> list[Identifier]:
        """A parameter that several plain words spell, where a question for a value names nothing: "max keepalive connections"."""
        words = _WORD.findall(self.text)[:_MOST_WORDS]
        found = (self._together(words[place:]) for place in range(len(words)))
        return [Identifier(name, "weak", "prose", "subject") for name in filter(None, found)][:1]

    def _together(self, words: Sequence[str]) -> str:
        """The longest name of a parameter that the first of some words spell together; empty where there is none."""
        for length in range(min(_MOST_JOINED, len(words)), 1, -1):
            name = "_".join(words[:length]).lower()
            if any(each.parameter == name for each in self._named(name)):
                return name
        return ""

    def _role(self, one: Identifier) -> Identifier:
        if self._is_library(one):
            return one._replace(role="context" if not self.is_python else "ignored")
        if self.is_python and one.name in BUILTIN_NAMES and one.form in {"code", "call"}:
            is_asked = self.kind not in {"how_to", "error"} and one.place == "prose"
            return one._replace(role="subject" if is_asked else "context")
        return one._replace(role="ignored") if self.is_foreign(one) else one

    def _is_library(self, one: Identifier) -> bool:
        """Whether a name is the library's own; a class that is called so is meant only beside another."""
        if "." in one.name or _plain(one.name) not in self.library:
            return False
        return self.kind != "difference" or one.name in self.names

    def is_foreign(self, one: Identifier) -> bool:
        """Whether a name belongs to another module (`os.remove`) or to the language."""
        root = one.name.partition(".")[0]
        if self.is_python or root in self.tops:
            return False
        if "." not in one.name:
            return one.name in BUILTIN_NAMES and one.role != "subject"
        if root not in sys.stdlib_module_names and root not in BUILTIN_NAMES:
            return False
        return not any(_level(entry, one.name.split("."), strong=False) for entry in self._named(one.last))

    # -- looking up --

    def resolve(self) -> Resolution:
        """What each name means, and which of them are asked about."""
        symbols = {one: self._symbols(one) for one in self.asked if not self._is_library(one)}
        shared, standing = self._shared_owners(symbols), self._standing_of_owners(symbols)
        chosen = {one: self._best(found, shared, standing) for one, found in symbols.items() if found}
        owners: set[Identifier] = set()
        owner = _class_in(chosen)
        meant = list(self._meant(symbols, chosen, owner, owners))
        plain = self._plain_parameters(meant, owners)
        asked = [each for each in plain if each.identifier.role == "subject"]
        asked += [each for each in meant if self._is_asked(each, meant, owners)]
        told = {
            one.name: one
            for one in (*islice(self._not_taken(chosen), _MOST_UNRESOLVED), *self._unresolved(meant, owner))
        }
        for name in [one for one in told if any(other.endswith(f"({one})") for other in told)]:
            del told[name]  # said with what does not take it
        return Resolution(
            tuple(_distinct(asked)),
            tuple(_distinct(each for each in (*meant, *plain) if each not in asked)),
            tuple(told.values())[:_MOST_UNRESOLVED],
        )

    def _meant(
        self,
        symbols: dict[Identifier, list[_Meaning]],
        chosen: dict[Identifier, NameEntry],
        owner: str,
        owners: set[Identifier],
    ) -> Iterator[Resolved]:
        """What each name means; what an error says that a class does not have is not looked for elsewhere."""
        for one, found in symbols.items():
            if owner and self._is_in_message(one):
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
        parameter, taker = self._parameter(one, others, symbol)
        if parameter is not None and self._prefers(parameter, symbol, one):
            if taker is not None:
                owners.add(taker)
            return parameter
        taken = self._taker_of(one, symbol, others)
        if taken is not None:
            owners.add(taken)
            self.options.add(one)
            return symbol
        is_of_other = (
            self.kind in {"default", "options"}
            and one.form == "weak"
            and any(other.role == "subject" for other in others)
        )
        return None if is_of_other and symbol is not None and not self._owner_named(symbol) else symbol

    def _taker_of(
        self, one: Identifier, symbol: NameEntry | None, others: dict[Identifier, NameEntry]
    ) -> Identifier | None:
        """The name of the callable that takes an object of which a plain word is an option: `useForm` for its `mode`."""
        if (
            symbol is None
            or symbol.parameter
            or one.form != "weak"
            or self.kind not in {"default", "options"}
        ):
            return None
        owner = symbol.name.rpartition(".")[0]
        for other, entry in others.items():
            data = self._passage(entry).data if owner and not entry.parameter else {}
            is_returned = owner.rpartition(".")[2] in (data.get("returns") or "")
            if owner in data.get("types", ()) and not is_returned:
                return other
        return None

    def _is_called(self, entry: NameEntry) -> bool:
        return self._passage(entry).data.get("what") in {"function", "class"}

    def _is_asked(self, each: Resolved, meant: Sequence[Resolved], owners: set[Identifier]) -> bool:
        """Whether what a name means is what the question asks about, and not only where that is to be found."""
        if each.identifier.role != "subject":
            return False
        if self.kind in {"difference", "replacement"}:
            return not each.entry.parameter or not owners or self._is_compared(each, meant)
        if self._holds_subject(each, meant):
            return False
        if each.identifier in owners:  # `timeout` in `Client`
            return False
        is_aside = (
            each.identifier.form in {"weak", "camel"}
            and each.entry.standing < _PLAIN_WORTH
            and not each.entry.parameter
            and each.identifier not in self.options
        )
        return not is_aside or len(meant) == 1

    def _holds_subject(self, each: Resolved, meant: Sequence[Resolved]) -> bool:
        """Whether the question asks about a method of a class and names the class beside it: `SpecifierSet contains()`."""
        own = {name.rpartition(".")[2] for name in (each.entry.name, self._passage(each.entry).symbol or "")}
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
        return of == owner.name or of == self._passage(owner).symbol

    def _is_compared(self, each: Resolved, meant: Sequence[Resolved]) -> bool:
        """Whether the question compares a parameter with another of the same callable."""
        return self.kind == "difference" and any(
            other.entry.parameter != each.entry.parameter
            and other.entry.name == each.entry.name
            and other.entry.parameter
            and other.identifier.role == "subject"
            for other in meant
        )

    def _plain_parameters(self, meant: Sequence[Resolved], owners: set[Identifier]) -> list[Resolved]:
        """Plain words of the question that are parameters of what it names: they are asked about, or may be the answer."""
        takers = {
            name: each.identifier for each in meant if not each.entry.parameter
            for name in (each.entry.name, self._passage(each.entry).symbol or "")
        }  # fmt: skip
        is_value = self.value_asked and not owners
        words = _WORD.findall(self.text)[:_MOST_WORDS] if self.kind != "error" else []
        found = []
        for word, entry in self._words_that_name(words, takers) if takers else ():
            if self.kind == "how_to" and self._passage(entry).data.get("needed"):
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
            length, named = self._longest_name(words[place : place + _MOST_JOINED], takers)
            if named is not None:
                yield named.parameter, named
            place += length

    def _longest_name(self, words: Sequence[str], takers: Container[str]) -> tuple[int, NameEntry | None]:
        """The parameter that the first of some words spell together, as many of them as possible, and how many these are."""
        for length in range(len(words), 0, -1):
            name = "_".join(words[:length]).lower() if length > 1 else words[0]
            if length == 1 and (
                name in self.spelled
                or name in STOP_WORDS
                or name in {"default", "value", "values", "options"}
            ):
                continue
            entry = _highest(
                [each for each in self._named(name) if each.parameter == name and each.name in takers]
            )
            if entry is not None:
                return length, entry
        return 1, None

    def _prefers(self, parameter: NameEntry, symbol: NameEntry | None, one: Identifier) -> bool:
        """Whether a name means a parameter rather than a symbol."""
        if symbol is None or self.kind == "default":
            return True
        if symbol.name.rpartition(".")[0] == parameter.name:  # its documentation may stand at the attribute
            return "." not in one.name and parameter.standing + _PARAMETER_BONUS >= symbol.standing
        return one.form == "keyword" or "." not in one.name

    def _is_meant(self, one: Identifier, entry: NameEntry, found: Sequence[_Meaning]) -> bool:
        """A plain word means a name only if it is spelled exactly so."""
        if one.form != "weak":
            return True
        return entry.parameter == one.name or any(each.entry == entry and each.level >= 2 for each in found)

    def _symbols(self, one: Identifier) -> list[_Meaning]:
        """The symbols that a name may mean, with how exactly."""
        parts = one.name.split(".")
        found = self._matching(parts, strong=one.form != "weak")
        if found or len(parts) == 1:
            return found
        root, *rest = parts
        if root in _IMPORTED_AS and _IMPORTED_AS[root] in self.tops:
            found = self._matching([_IMPORTED_AS[root], *rest], strong=True) or self._matching(
                rest, strong=True
            )
        found = found or self._inherited(parts)
        if not found and (root in _VARIABLES or len(root) <= _FAMILIAR):
            found = self._symbols(one._replace(name=".".join(rest)))
        return found

    def _matching(self, parts: Sequence[str], *, strong: bool) -> list[_Meaning]:
        return [
            _Meaning(level, entry)
            for entry in self._named(parts[-1])
            if not entry.parameter and (level := _level(entry, parts, strong=strong))
        ]

    def _inherited(self, parts: Sequence[str]) -> list[_Meaning]:
        """A member that a class takes over from its bases, as Python looks for it; each base is looked at once."""
        seen = {parts[-2]}
        waiting = [(base, 1) for base in reversed(list(self._bases(parts[:-1])))]
        while waiting and len(seen) <= _MOST_ANCESTORS:
            base, depth = waiting.pop()
            if base in seen:
                continue
            seen.add(base)
            found = self._matching([base, parts[-1]], strong=False)
            if found:
                return found
            if depth <= _MOST_GENERATIONS:
                waiting += [(above, depth + 1) for above in reversed(list(self._bases([base])))]
        return []

    def _bases(self, owner: Sequence[str]) -> Iterator[str]:
        """The names of the bases of a class, without their modules."""
        owners = sorted(
            self._matching(owner, strong=True), key=lambda each: (-each.level, -each.entry.standing)
        )
        for each in owners[:2]:
            bases = _BASES.match(str(self._passage(each.entry).data.get("signature") or ""))
            for base in (bases[1].split(",") if bases else ())[:_MOST_BASES]:
                name = base.strip().partition("[")[0].rpartition(".")[2]
                if name.isidentifier():
                    yield name

    def _named(self, word: str) -> list[NameEntry]:
        if word not in self.entries:
            self.entries[word] = self.index.named(word)
        return self.entries[word]

    def _passage(self, entry: NameEntry) -> IndexedPassage:
        if entry.passage not in self.passages:
            self.passages[entry.passage] = self.index.get([entry.passage])[0].passage
        return self.passages[entry.passage]

    # -- choosing --

    def _shared_owners(self, symbols: dict[Identifier, list[_Meaning]]) -> Counter[str]:
        """In how many names' meanings each owner occurs: two names in one question take the owner that they share."""
        counted: Counter[str] = Counter()
        for one, found in symbols.items():
            owners = {(each.entry.name.rpartition(".")[0], each.entry.own) for each in found}
            for owner in {owner for owner, _own in owners} if one.role == "subject" else ():
                counted[owner] += _OWN if (owner, True) in owners else _TAKEN_OVER
        for one in symbols:  # what takes a parameter that is named
            if "." not in one.name:
                takers = {each.name for each in self._named(one.name) if each.parameter}
                counted.update(dict.fromkeys(takers, _OWN))
        return counted

    def _standing_of_owners(self, symbols: dict[Identifier, list[_Meaning]]) -> dict[str, float]:
        """What the compared names of each owner stand for together, so that both are taken from one: `Task.delay` beside `Task.apply_async`."""
        counted: dict[str, float] = defaultdict(float)
        for found in symbols.values() if self.kind == "difference" else ():
            best: dict[str, float] = {}
            for each in found:
                owner = each.entry.name.rpartition(".")[0]
                best[owner] = max(best.get(owner, 0.0), each.entry.standing)
            for owner, standing in best.items():
                counted[owner] += standing
        return counted

    def _best(self, found: Sequence[_Meaning], shared: Counter[str], standing: dict[str, float]) -> NameEntry:
        """The best of what a name may mean; of a member that several classes define alike, that of their base."""

        def worth(each: _Meaning) -> tuple[float, ...]:
            owner = each.entry.name.rpartition(".")[0]
            met = shared[owner] + shared[each.entry.name]
            return (
                each.level, self._owner_named(each.entry), self._is_builtin(each.entry.name), met,
                standing.get(owner, 0.0), each.entry.standing + 0.3 * each.entry.own,
            )  # fmt: skip

        most = max(map(worth, found))
        best = [each.entry for each in found if worth(each) == most]
        bases = {
            base for each in best if len(best) > 1 for base in self._bases(each.name.split(".")[:-1] or [""])
        }
        return max(best, key=lambda each: (each.name.split(".")[-2:][0] in bases, -len(each.name), each.name))

    def _is_builtin(self, name: str) -> bool:
        """Whether a name of the standard library needs no import: `open`, which is defined in `io`."""
        return self.is_python and name.removeprefix("io.") in BUILTIN_NAMES

    def _owner_named(self, entry: NameEntry) -> int:
        """How much of a name's owner the question says."""
        *rest, last = entry.name.split(".")
        top, *owners = rest or [""]
        said = sum(
            2 if owner in self.spelled else owner.lower() in self.words for owner in owners if owner != last
        )
        return said + (top in self.modules)

    def _parameter(
        self, one: Identifier, others: dict[Identifier, NameEntry], symbol: NameEntry | None
    ) -> tuple[NameEntry | None, Identifier | None]:
        """The parameter that a name may mean, and the name of the callable that takes it."""
        owner_name, _dot, last = one.name.rpartition(".")
        entries = [entry for entry in self._named(last) if entry.parameter]
        if one.form == "weak":
            entries = [entry for entry in entries if entry.parameter == one.name]
        if owner_name:
            return _highest(
                each for each in entries if _level(each, owner_name.split("."), strong=True)
            ), None
        for rule in range(3) if entries else ():
            owned: dict[str, list[NameEntry]] = defaultdict(list)
            for each in entries:
                owned[_takers(each)[rule]].append(each)
            for other, entry in others.items():
                found = [each for name in self._takes(entry)[rule] for each in owned.get(name, ())]
                if found:
                    return _highest(found), other
        if not self._stands_alone(one, others, symbol) and not self._is_spelled_better(one, entries, symbol):
            return None, None

        def worth(each: NameEntry) -> tuple[float, ...]:
            return (self._taker_named(each), self._is_builtin(each.name), each.standing)

        return max(entries, key=worth, default=None), None

    def _stands_alone(
        self, one: Identifier, others: dict[Identifier, NameEntry], symbol: NameEntry | None
    ) -> bool:
        """Whether a name may be a parameter though nothing is named that takes it."""
        if one.role != "subject" or one.form == "call":
            return False
        if self.kind == "default" or (self.kind == "yes_no" and self.value_asked):
            return not any(other.role == "subject" for other in others)
        if one.form == "weak" and self.kind != "options":
            return False
        return symbol is None or one.form == "keyword"

    def _is_spelled_better(
        self, one: Identifier, entries: Sequence[NameEntry], symbol: NameEntry | None
    ) -> bool:
        """Whether a documented parameter is spelled as the question spells it, and the symbol has no documentation."""
        if symbol is None or symbol.standing >= _PLAIN_WORTH or one.role != "subject" or one.form != "snake":
            return False
        return any(each.parameter == one.name and each.standing >= _PLAIN_WORTH for each in entries)

    def _takes(self, symbol: NameEntry) -> tuple[Sequence[str], ...]:
        """The names by which a symbol may be the taker of a parameter, as `_takers` orders them."""
        return (symbol.name, self._passage(symbol).symbol or ""), (symbol.name,), (_plain_last(symbol),)

    def _taker_named(self, entry: NameEntry) -> int:
        """How much of what takes a parameter the question says."""
        taker = entry.name.rpartition(".")[2].lower()
        return self._owner_named(entry) + (taker in self.words and taker != entry.parameter.lower())

    # -- what is not there --

    def _not_taken(self, chosen: dict[Identifier, NameEntry]) -> Iterator[UnresolvedName]:
        """The arguments of the question's calls that the library's callables do not take."""
        named = {one.name: entry for one, entry in chosen.items() if not self.is_foreign(one)}
        for called, keyword in dict.fromkeys([*called_keywords(self.whole), *said_keywords(self.text)]):
            entry = named.get(called)
            if entry is None or not (self._is_top(called.partition(".")[0]) or self._names_library()):
                continue
            taken = self._passage(entry).data.get("keywords")
            if taken is None or keyword in taken:
                continue
            if not any(
                each.parameter == keyword and each.name == entry.name for each in self._named(keyword)
            ):
                nearest = nearest_arguments(self.index, entry.name, keyword, taken)
                yield UnresolvedName(name=f"{called}({keyword})", nearest=nearest)

    def _unresolved(self, meant: Sequence[Resolved], owner: str) -> tuple[UnresolvedName, ...]:
        told = []
        resolved = {each.identifier for each in meant}
        for one in self.asked:
            name = self._absent(one, owner, beside=bool(resolved)) if one not in resolved else ""
            if name:
                told.append(UnresolvedName(name=name, nearest=nearest_names(self.index, name, self.spelled)))
        return tuple(told[:_MOST_UNRESOLVED])

    def _absent(self, one: Identifier, owner: str, *, beside: bool) -> str:
        """A name that clearly belongs to the library and that no passage spells, as KR says it; empty for any other.

        Args:
            one: the name.
            owner: the class that the question mentions.
            beside: whether another name of the question is the library's.
        """
        is_rooted = "." in one.name and (
            self._is_top(one.name.partition(".")[0])
            or (one.place == "prose" and self._all_members(one.name.rpartition(".")[0]) is not None)
        )
        is_claimed = one.role == "subject" or is_rooted or self._is_called_part(one)
        if not is_claimed or self._is_library(one):
            return ""
        if self._is_in_message(one):  # the error itself says that it is not there
            if not is_said(self.index, one.last):
                return one.name if owner or self._names_library() else ""
            return _member(owner, one.last, self.text) if owner else ""
        return one.name if self._is_claimed(one, beside=beside) and not self._is_said(one) else ""

    def _is_called_part(self, one: Identifier) -> bool:
        """Whether the question calls a name a part of what it names beside it."""
        is_name = one.form in {"code", "keyword", "snake"} and one.place == "prose"
        return is_name and is_called_part(one.name, self.text)

    def _is_in_message(self, one: Identifier) -> bool:
        return bool(
            re.search(
                rf"(?:no attribute|argument:?|import name|member) ['\"`]{re.escape(one.name)}['\"`]",
                self.text,
            )
        )

    def _names_library(self) -> bool:
        if any(_plain(word) in self.library for word in _WORD.findall(self.text)):
            return True
        spelled = {part for name in self.names if not name.isidentifier() for part in _ways_to_name(name)}
        return any(
            re.search(rf"(?<![\w@/-]){re.escape(one)}(?![\w-])", self.text, re.IGNORECASE) for one in spelled
        )

    def _is_claimed(self, one: Identifier, *, beside: bool) -> bool:
        """Whether a name clearly belongs to the library, by how it is spelled and asked about."""
        owner = one.name.rpartition(".")[0]
        if owner:
            root = owner.partition(".")[0]
            is_instance = root in _INSTANCES and self._names_library()
            return self._is_top(root) or is_instance or bool(self._owners(owner))
        if one.form == "weak" or (one.form == "camel" and self.kind not in _TOLD_KINDS):
            return False
        return self._names_library() or (beside and self.kind == "default")

    def _is_top(self, root: str) -> bool:
        return root in self.tops or _IMPORTED_AS.get(root) in self.tops

    def _owners(self, owner: str) -> list[_Meaning]:
        return [each for each in self._matching(owner.split("."), strong=False) if each.level >= 2]

    def _is_said(self, one: Identifier) -> bool:
        owner, _dot, last = one.name.rpartition(".")
        if owner in _INSTANCES:  # `app.register`: that its documentation says the word is not enough
            return any(entry.name.rpartition(".")[2] == last for entry in self.index.named(last))
        members = self._all_members(owner) if owner else None
        if members is not None:
            return last in members or is_said(self.index, last, owner.rpartition(".")[2])
        if owner and self.kind in {"replacement", "error"} and self._owners(owner):
            return is_said(self.index, last, owner.rpartition(".")[2])
        return is_said(self.index, last)

    def _all_members(self, owner: str) -> frozenset[str] | None:
        """The names of all members of what an owner may mean; None where the documentation does not tell them all."""
        told = [self._passage(each.entry).data.get("members") for each in self._owners(owner)]
        if not told or None in told:
            return None
        return frozenset(name for names in told for name in names or ())


def _ways_to_name(name: str) -> Iterator[str]:
    """A library's name that is more than one word, and what else users call a scoped one: `TanStack` for `@tanstack/...`."""
    scope, _slash, rest = name.rpartition("/")
    yield name
    if scope.startswith("@"):
        yield from (scope[1:], rest)


def _member(owner: str, name: str, text: str) -> str:
    return f"{owner}({name})" if "argument" in text else f"{owner}.{name}"


def _level(entry: NameEntry, parts: Sequence[str], *, strong: bool) -> int:
    """How exactly a name is spelled by its last parts: 3 whole, 2 in part, 1 except for capitals; 0 not at all."""
    own = entry.name.split(".")
    if own[-len(parts) :] == list(parts):
        return 3 if len(parts) > 1 and len(own) == len(parts) else 2
    if strong and [part.lower() for part in own[-len(parts) :]] == [part.lower() for part in parts]:
        return 1
    return 0


def _class_in(chosen: dict[Identifier, NameEntry]) -> str:
    """The class that is mentioned, by its last name; empty for none."""
    names = (entry.name.rpartition(".")[2] for entry in chosen.values() if not entry.parameter)
    return next((name for name in names if name[:1].isupper()), "")


def _takers(parameter: NameEntry) -> tuple[str, ...]:
    """What takes a parameter, what has that as a member, and its last name: the decorator `option` takes what the class `Option` takes."""
    return parameter.name, parameter.name.rpartition(".")[0], _plain_last(parameter)


def _plain_last(entry: NameEntry) -> str:
    return entry.name.rpartition(".")[2].lower()


def _highest(entries: Iterable[NameEntry]) -> NameEntry | None:
    return max(entries, key=lambda each: each.standing + 0.3 * each.own, default=None)


def _distinct(found: Iterable[Resolved]) -> list[Resolved]:
    first: dict[int, Resolved] = {}
    for each in found:
        first.setdefault(each.entry.passage, each)
    return list(first.values())


def _plain(name: str) -> str:
    """A library's name as people vary it: `BeautifulSoup`, `beautifulsoup4`."""
    return re.sub(r"[\W_]", "", name.lower()).rstrip("0123456789") or name.lower()
