"""What the names of a question mean in an index: whole names first, then what is left of them.

An undotted name may mean many things: what the question names beside it decides, then what users mean most often.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.evidence import UnresolvedName
from kr_core.question.spelled_names import BUILTIN_NAMES, Identifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.question.understanding import ParsedQuestion, QuestionKind
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
_STRONG = frozenset({"code", "keyword", "call", "dotted", "snake", "camel"})
_TOLD_KINDS = frozenset({"meaning", "default", "difference", "replacement", "error"})
_BASES = re.compile(r"class \w+(?:\[[^\]]*\])?\(([^)]*)\)")
_MOST_BASES = 12
_MOST_NEAREST = 3
_MOST_LIKE = 4_000
_MOST_SAYING = 60
_NEAR = 0.6
"""A name that is less like another is not near it."""
_PARAMETER_BONUS = 0.6
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


class _Candidate(NamedTuple):
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
    """What a name that somebody proposes means in the index; None where it belongs to something else."""
    identifier = Identifier(name.strip().removesuffix("()"), "code")
    parsed = _proposed(identifier)
    resolver = _Resolver(index, parsed, names, ())
    if not identifier.name or resolver.is_foreign(identifier):
        return None
    found = resolver.resolve()
    if found.subjects:
        return found.subjects[0].entry
    return (
        UnresolvedName(name=identifier.name, nearest=resolver.nearest(identifier))
        if not resolver.is_said(identifier)
        else None
    )


def _proposed(identifier: Identifier) -> ParsedQuestion:
    from kr_core.question.understanding import ParsedQuestion

    return ParsedQuestion(identifier.name, "", ("meaning",), (identifier,))


class _Resolver:
    def __init__(
        self, index: PassageIndex, parsed: ParsedQuestion, names: Sequence[str], modules: Sequence[str]
    ) -> None:
        self.index = index
        self.kind: QuestionKind = parsed.kind
        self.text = parsed.asking
        self.library = frozenset(_plain(name) for name in names)
        self.is_python = "python" in self.library
        self.tops = frozenset(name.replace("-", "_") for name in names if name.isidentifier() or "-" in name)
        self.modules = frozenset(modules)
        self.identifiers = [self._role(one) for one in parsed.identifiers]
        self.asked = [one for one in self.identifiers if one.role != "ignored"]
        self.spelled = frozenset(part for one in self.asked for part in one.name.split("."))
        self.words = frozenset(word.lower() for word in _WORD.findall(parsed.asking)) | {
            part.lower() for part in self.spelled
        }

    # -- roles that need the library --

    def _role(self, one: Identifier) -> Identifier:
        if "." not in one.name and _plain(one.name) in self.library:
            return one._replace(role="context" if not self.is_python else "ignored")
        if self.is_python and one.name in BUILTIN_NAMES and one.form in {"code", "call"}:
            return one._replace(role="subject" if self.kind not in {"how_to", "error"} else "context")
        return one._replace(role="ignored") if self.is_foreign(one) else one

    def is_foreign(self, one: Identifier) -> bool:
        """Whether a name belongs to another module (`os.remove`) or to the language."""
        root = one.name.partition(".")[0]
        if self.is_python or root in self.tops:
            return False
        if "." not in one.name:
            return one.name in BUILTIN_NAMES and one.role != "subject"
        if root not in sys.stdlib_module_names and root not in BUILTIN_NAMES:
            return False
        return not any(
            _level(entry, one.name.split("."), strong=False) for entry in self.index.named(one.last)
        )

    # -- looking up --

    def resolve(self) -> Resolution:
        symbols = {one: self._symbols(one) for one in self.asked if _plain(one.name) not in self.library}
        shared = self._shared_owners(symbols)
        chosen = {one: self._best(found, shared) for one, found in symbols.items() if found}
        subjects: list[Resolved] = []
        context: list[Resolved] = []
        owners: set[Identifier] = set()
        for one, found in symbols.items():
            entry = chosen.get(one)
            parameter, owner = self._parameter(
                one, {other: entry for other, entry in chosen.items() if other != one}, entry
            )
            if parameter is not None and self._prefers(parameter, entry, one):
                entry = parameter
                if owner is not None:
                    owners.add(owner)
            if entry is not None and self._is_meant(one, entry, found):
                (subjects if one.role == "subject" else context).append(Resolved(one, entry))
        if self.kind != "difference":  # `timeout` in `Client`: the parameter is asked about, not the class
            context += [each for each in subjects if each.identifier in owners]
            subjects = [each for each in subjects if each.identifier not in owners]
        return Resolution(
            tuple(_distinct(subjects)),
            tuple(context),
            self._unresolved({each.identifier for each in (*subjects, *context)}),
        )

    def _prefers(self, parameter: NameEntry, symbol: NameEntry | None, one: Identifier) -> bool:
        """Whether a name means a parameter rather than a symbol."""
        if symbol is None or one.form == "keyword" or self.kind == "default":
            return True
        if "." in one.name:
            return False
        is_member = symbol.name.rpartition(".")[0] == parameter.name
        return not is_member or parameter.standing + _PARAMETER_BONUS >= symbol.standing

    def _is_meant(self, one: Identifier, entry: NameEntry, found: Sequence[_Candidate]) -> bool:
        """A plain word means a name only if it is spelled exactly so."""
        if one.form != "weak":
            return True
        return entry.parameter == one.name or any(each.entry == entry and each.level >= 2 for each in found)

    def _symbols(self, one: Identifier) -> list[_Candidate]:
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

    def _matching(self, parts: Sequence[str], *, strong: bool) -> list[_Candidate]:
        return [
            _Candidate(level, entry)
            for entry in self.index.named(parts[-1])
            if not entry.parameter and (level := _level(entry, parts, strong=strong))
        ]

    def _inherited(self, parts: Sequence[str], depth: int = 0) -> list[_Candidate]:
        """A member that a class takes over from its bases."""
        if depth > 4:
            return []
        owners = sorted(
            self._matching(parts[:-1], strong=True), key=lambda each: (-each.level, -each.entry.standing)
        )
        for owner in owners[:2]:
            bases = _BASES.match(str(self._passage(owner.entry).data.get("signature") or ""))
            for base in (bases[1].split(",") if bases else ())[:_MOST_BASES]:
                name = base.strip().partition("[")[0].rpartition(".")[2]
                if not name.isidentifier() or name == parts[-2]:
                    continue
                found = self._matching([name, parts[-1]], strong=False) or self._inherited(
                    [name, parts[-1]], depth + 1
                )
                if found:
                    return found
        return []

    def _passage(self, entry: NameEntry) -> IndexedPassage:
        return self.index.get([entry.passage])[0].passage

    # -- choosing --

    def _shared_owners(self, symbols: dict[Identifier, list[_Candidate]]) -> Counter[str]:
        """In how many names' meanings each owner occurs: two names in one question take the owner that they share."""
        return Counter(
            owner
            for one, found in symbols.items()
            if one.role == "subject"
            for owner in {each.entry.name.rpartition(".")[0] for each in found}
        )

    def _best(self, found: Sequence[_Candidate], shared: Counter[str]) -> NameEntry:
        return max(
            found,
            key=lambda each: (
                each.level, self._owner_named(each.entry), shared[each.entry.name.rpartition(".")[0]],
                each.entry.standing + 0.3 * each.entry.own, each.entry.name,
            ),
        ).entry  # fmt: skip

    def _owner_named(self, entry: NameEntry) -> int:
        """How much of a name's owner the question says."""
        top, *owners = entry.name.split(".")[:-1] or [""]
        said = sum(2 if owner in self.spelled else owner.lower() in self.words for owner in owners)
        return said + (top in self.modules)

    def _parameter(
        self, one: Identifier, others: dict[Identifier, NameEntry], symbol: NameEntry | None
    ) -> tuple[NameEntry | None, Identifier | None]:
        """The parameter that a name may mean, and the name of the callable that takes it."""
        owner_name, _dot, last = one.name.rpartition(".")
        entries = [entry for entry in self.index.named(last) if entry.parameter]
        if one.form == "weak":
            entries = [entry for entry in entries if entry.parameter == one.name]
        if owner_name:
            owned = [entry for entry in entries if _level(entry, owner_name.split("."), strong=True)]
            return _highest(owned), None
        for other, entry in others.items():
            taken = {entry.name, self._passage(entry).symbol}
            direct = [each for each in entries if each.name in taken]
            if direct:
                return _highest(direct), other
        for other, entry in others.items():
            within = [each for each in entries if each.name.rpartition(".")[0] == entry.name]
            if within:
                return _highest(within), other
        if one.form in {"weak", "call"} and self.kind not in {"default", "options"}:
            return None, None
        if symbol is not None and one.form != "keyword":
            return None, None
        return max(
            entries,
            key=lambda each: (
                self._owner_named(each) + (each.name.rpartition(".")[2].lower() in self.words),
                each.standing,
            ),
            default=None,
        ), None

    # -- what is not there --

    def _unresolved(self, resolved: set[Identifier]) -> tuple[UnresolvedName, ...]:
        return tuple(
            UnresolvedName(name=one.name, nearest=self.nearest(one))
            for one in self.asked
            if one not in resolved and self._is_claimed(one) and not self.is_said(one)
        )[:_MOST_NEAREST]

    def _is_claimed(self, one: Identifier) -> bool:
        """Whether a name clearly belongs to the library, by how it is spelled and asked about."""
        if one.role != "subject" or _plain(one.name) in self.library:
            return False
        owner, _dot, _last = one.name.rpartition(".")
        if owner:
            root = owner.partition(".")[0]
            return (
                root in self.tops
                or _IMPORTED_AS.get(root, root) in self.tops
                or any(each.level >= 2 for each in self._matching(owner.split("."), strong=False))
            )
        if one.form == "weak":
            return one.place == "traceback" or self.kind == "error"
        if one.form == "camel" and self.kind not in _TOLD_KINDS:
            return False
        return one.form in _STRONG and any(_plain(word) in self.library for word in _WORD.findall(self.text))

    def is_said(self, one: Identifier) -> bool:
        """Whether any passage spells a name, as an identifier."""
        last = one.last
        plain = last.isalpha() and last.islower()
        escaped = re.escape(last)
        spelled = re.compile(
            rf"[.`'\":]{escaped}\b|\b{escaped}\s?[(=]|\bimport\b.*\b{escaped}\b"
            if plain
            else rf"(?<!\w){escaped}(?!\w)"
        )
        return any(
            spelled.search(text)
            for hit in self.index.saying(last, _MOST_SAYING)
            for text in (hit.passage.text, *hit.passage.code, *hit.passage.data.get("parameters", {}))
            if isinstance(text, str)
        )

    def nearest(self, one: Identifier) -> tuple[str, ...]:
        """The public names that are most like one, best first."""
        likeness = difflib.SequenceMatcher(b=one.last.lower())
        scored = []
        wanted = Counter(_pairs(one.last.lower()))
        words = self.index.like_words(one.last, _MOST_LIKE)
        words.sort(
            key=lambda word: -sum((wanted & Counter(_pairs(word))).values()) / (len(word) + len(one.last))
        )
        for word in words[:40]:
            likeness.set_seq1(word)
            if likeness.ratio() >= _NEAR:
                scored.append((likeness.ratio(), word))
        found: list[tuple[float, str]] = []
        owner = one.name.rpartition(".")[0].rpartition(".")[2]
        owners = {owner, *(self.spelled - {one.name})} - {""}
        for ratio, word in scored:
            entries = self.index.named(word)
            if not entries:
                continue
            best = max(
                entries,
                key=lambda each: (
                    bool(owners & set(each.name.split("."))),
                    not each.parameter,
                    each.standing,
                ),
            )
            if best.standing >= 4:
                near = (
                    ratio
                    + (0.3 if owners & set(best.name.split(".")[1:]) else 0.0)
                    - 0.05 * bool(best.parameter)
                )
                found.append((near, f"{best.name}({best.parameter})" if best.parameter else best.name))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return tuple(dict.fromkeys(name for _near, name in found))[:_MOST_NEAREST]


def _level(entry: NameEntry, parts: Sequence[str], *, strong: bool) -> int:
    """How exactly a name is spelled by its last parts: 3 whole, 2 in part, 1 but for capitals; 0 not at all."""
    own = entry.name.split(".")
    if own[-len(parts) :] == list(parts):
        return 3 if len(parts) > 1 and len(own) == len(parts) else 2
    if strong and [part.lower() for part in own[-len(parts) :]] == [part.lower() for part in parts]:
        return 1
    return 0


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


def _pairs(word: str) -> list[str]:
    return [word[n : n + 2] for n in range(len(word) - 1)]
