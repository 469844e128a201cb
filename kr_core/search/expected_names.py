"""The names that an asker expects in the answer: each is looked up beside the others, and below its owner.

A parameter belongs to the callable that is named with it; a name that is spelled as an instance's (`app.get`) or
with an owner that only hands a member on is found by its last part, where the library has one such name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.model.evidence import UnresolvedName
from kr_core.question.parsed_question import ParsedQuestion
from kr_core.question.question_names import Identifier
from kr_core.search.absent_names import nearest_arguments, nearest_names, passage_saying
from kr_core.search.asked_names import DOCUMENTED, AskedNames, Resolved
from kr_core.search.name_lookup import LibraryNames, NameLookup, likeliest
from kr_core.search.name_resolution import resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.search.name_lookup import NameEntry
    from kr_core.search.passage_index import IndexedPassage, PassageIndex

_MOST = 20
"""Names of one request."""
_MOST_ARGUMENTS = 3
_MOST_MEMBERS = 100
"""Of a module, to see that there is one."""
_MOST_OWNERS = 3
"""Classes of one of which an instance's member may be: `io.use`."""
_TELLING = 6
"""Letters of a part of a name that a heading does not have by chance."""
_AS_SPELLED = 2
_MOST_SAYING = 60
_BEFORE = re.compile(r"^(?:(?:new|await|async|import|from|class|def|function|const)\s+|[@.]+|\$(?=\.))+")
_JOINED = re.compile(r"\.prototype\.|#|::")
_ARGUMENT = re.compile(r"(?<!\w)([^\W\d]\w*+)\s*+(?:=|,|$)")
_SCRIPT = re.compile(r"\.[cm]?[jt]sx?:")
_CHANGES = re.compile(r"(?i)change|history|news|release")
_HEADING = re.compile(r"[\w$.-]+")


class ExpectedNames(NamedTuple):
    """What a library has of the names that an asker expects."""

    found: tuple[Resolved, ...] = ()
    """Those that it documents, in the asker's order."""
    sections: tuple[IndexedPassage, ...] = ()
    """The sections with such a name in their heading, where no symbol has it."""
    absent: tuple[UnresolvedName, ...] = ()
    """Those without an entry, with the nearest names; `mentioned` where a passage says them."""
    mentions: tuple[IndexedPassage, ...] = ()
    """The passages that say them."""


def look_up_expected(
    index: PassageIndex,
    given: Iterable[str],
    parsed: ParsedQuestion,
    names: Sequence[str],
    modules: Sequence[str] = (),
) -> ExpectedNames:
    """Look up the names that an asker expects.

    Args:
        index: where.
        given: the names, as the asker spells them.
        parsed: the question, whose words say which of several is meant.
        names: what the library is called, its top-level modules included.
        modules: top-level modules that the question names.
    """
    library = LibraryNames(names)
    lookup = NameLookup(index, library)
    wanted = list(dict.fromkeys(one for name in given for one in _identifiers(name)))[:_MOST]
    beside = [
        one._replace(role="context", place="code")
        for one in parsed.identifiers
        if one.place == "prose" and one.form != "weak" and one.name not in {each.name for each in wanted}
    ]
    asked = ParsedQuestion("", parsed.asking, ("meaning",), (*wanted, *beside))
    question = AskedNames(lookup, library, asked, modules)
    known = {one.identifier.name: one.entry for one in resolved(lookup, library, question)}
    wanted = [one for one in wanted if not (question.is_library(one) or _is_foreign(question, lookup, one))]
    entries = tuple(f"{name}/" for name in names)  # `hono/cors` is where a name is imported from
    wanted = [one for one in wanted if not one.name.startswith(entries)]
    meant = {one: _meaning(lookup, library, one, known.get(one.name)) for one in wanted}
    if parsed.kind == "replacement":
        meant = {one: _deprecated(lookup, one) or entry for one, entry in meant.items()}
    symbols = [entry for entry in meant.values() if entry is not None and not entry.parameter]
    found: list[Resolved] = []
    sections: list[IndexedPassage] = []
    absent: list[UnresolvedName] = []
    mentions: list[IndexedPassage] = []
    callables = {one: entry for one, entry in meant.items() if entry is not None and not entry.parameter}
    for one in wanted:
        own = _parameter_of(lookup, one, symbols)
        refused = _not_taken(lookup, one, meant[one], callables) if own is None else None
        entry = own or meant[one]
        if refused is not None:
            absent.append(refused)
        elif entry is not None:
            found.append(Resolved(one, entry))
            if not entry.parameter and not lookup.passage(entry).lead:  # a guide may say what it is for
                said = _headed(index, one.last, one) or _module_saying(index, one, entry)
                sections += [said] if said is not None else []
        elif (section := _section(index, one)) is not None:
            sections.append(section)
        elif _may_have(lookup, one):
            continue
        elif not any(
            index.members_of(module, _MOST_MEMBERS)
            for module in (one.name, *(f"{root}.{one.name}" for root in names))
        ):  # a module without a text
            owner = one.name.rpartition(".")[0]
            of_class = owner.rpartition(".")[2] if owner and lookup.owners(owner) else ""
            saying = None if _is_no_member(lookup, one) else passage_saying(index, one.last, of_class)
            mentions += [saying] if saying is not None else []
            nearest = nearest_names(index, one.name, question.spelled) if saying is None else ()
            absent.append(UnresolvedName(name=one.name, nearest=nearest, mentioned=saying is not None))
    return ExpectedNames(tuple(found), tuple(sections), tuple(absent), tuple(mentions))


def _identifiers(name: str) -> Iterator[Identifier]:
    """A name without what people write around it, and the arguments of a call: `new Client(timeout)`."""
    plain = _JOINED.sub(".", _BEFORE.sub("", name.strip(" \t`'\"")))
    called, _bracket, inside = plain.partition("(")
    called = called.strip(" .")
    if called:
        yield Identifier(called.removesuffix("="), "code", "code")
    for argument in _ARGUMENT.findall(inside.rstrip(")"))[:_MOST_ARGUMENTS] if called else ():
        yield Identifier(f"{called}.{argument}", "code", "code")


def _not_taken(
    lookup: NameLookup, one: Identifier, meant: NameEntry | None, named: Mapping[Identifier, NameEntry]
) -> UnresolvedName | None:
    """That what is named beside a parameter does not take it: another callable does, or none; None where it may.

    A callable that hands keywords on may take any. So may a method of a class that is named, and what takes a callable's
    arguments in its place (`Option` for `option`).
    """
    if "." in one.name or not one.name.islower() or (meant is not None and not meant.parameter):
        return None
    others = {other: entry for other, entry in named.items() if other != one}
    taken = {other: lookup.passage(entry).data.get("keywords") for other, entry in others.items()}
    if not taken or None in taken.values():
        return None
    if meant is not None and any(_is_of(meant, entry) for entry in others.values()):
        return None
    first, keywords = next(iter(taken.items()))
    nearest = nearest_arguments(lookup.index, others[first].name, one.name, keywords or ())
    return UnresolvedName(name=f"{first.name}({one.name})", nearest=nearest)


def _is_of(parameter: NameEntry, named: NameEntry) -> bool:
    """Whether a parameter is that of a method of a class, of the class of a method, or of a name that differs only in capitals."""
    owner, _dot, last = named.name.rpartition(".")
    taken_by = _last_part(parameter.name)
    is_of_method = parameter.name.startswith(f"{named.name}.")
    return is_of_method or taken_by == _last_part(owner) or taken_by.lower() == last.lower()


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


def _meaning(
    lookup: NameLookup, library: LibraryNames, one: Identifier, known: NameEntry | None
) -> NameEntry | None:
    """What a name means: what it was resolved to, unless that is a parameter of other capitals."""
    if known is not None and known.parameter in {"", one.last}:
        return known
    if _is_no_member(lookup, one):
        return None
    found = _exactly(lookup, one) or _by_last_part(lookup, library, one)
    owner = one.name.rpartition(".")[0]
    is_said = any(_last_part(each.name) == one.last for each in lookup.named(one.last))
    is_chain = "." in owner and not library.is_root(one.name.partition(".")[0])
    if found is None and is_chain and not is_said:  # `socket.handshake` of `socket.handshake.auth`
        return _by_last_part(lookup, library, Identifier(owner, "code", "code"))
    return found


def _is_no_member(lookup: NameLookup, one: Identifier) -> bool:
    """Whether a dotted name is none of the members of its class, all of which the documentation tells."""
    owner, _dot, last = one.name.rpartition(".")
    members = lookup.all_members(owner) if owner else None
    return members is not None and last not in members


def _parameter_of(lookup: NameLookup, one: Identifier, symbols: Iterable[NameEntry]) -> NameEntry | None:
    """The parameter of one of the symbols named beside it, or of the class of one, under the name by which that one is called.

    Settings classes mark their own options: `_env_file` for `env_file`.
    """
    entries = [each for each in lookup.named(one.last) if each.parameter == one.name]
    entries += [each for each in lookup.named(f"_{one.last}") if each.parameter == f"_{one.name}"]
    names = [symbol.name for symbol in symbols]
    for name in (*names, *(each.rpartition(".")[0] for each in names)):
        own = next((each for each in entries if each.name == name), None)
        if own is not None:
            return own
    return None


def _exactly(lookup: NameLookup, one: Identifier) -> NameEntry | None:
    """The symbol that is spelled exactly so."""
    return likeliest(each.entry for each in lookup.symbols(one) if each.level >= _AS_SPELLED)


def _deprecated(lookup: NameLookup, one: Identifier) -> NameEntry | None:
    """The symbol that is spelled exactly so and is deprecated: it says what replaces it, as an older namesake does not."""
    spelled = [each.entry for each in lookup.symbols(one) if each.level >= _AS_SPELLED]
    return likeliest(each for each in spelled if lookup.passage(each).data.get("deprecated"))


def _by_last_part(lookup: NameLookup, library: LibraryNames, one: Identifier) -> NameEntry | None:
    """What a dotted name means whose owner does not have it: the documented name with its last part and most of its other parts."""
    root, *owners = one.name.split(".")
    if not owners:
        return None
    *owners, last = owners
    said = {part.lower() for part in (root, *owners)}
    named = [each for each in lookup.named(last) if not each.parameter]
    named = [each for each in named if each.name.rpartition(".")[2] == last]
    around = [each for each in named if _is_within([root, *owners], each.name.split("."))]
    if around:
        return likeliest(around)
    entries = [each for each in named if each.standing >= DOCUMENTED]
    beside = [each for each in entries if said & {part.lower() for part in each.name.split(".")[1:-1]}]
    # `retry.limit` of an option `retry` whose type is `RetryOptions`
    beside = beside or [each for each in named if _is_type_of(root, each.name.rpartition(".")[0])]
    if beside:
        return likeliest(beside)
    is_instance = root.islower() and not owners and not library.is_root(root)
    owners_of = entries or named  # `stream.writeSSE` has no documentation of its own
    alone = {each.passage for each in owners_of}
    return likeliest(owners_of) if is_instance and len(alone) <= _MOST_OWNERS else None


def _is_type_of(option: str, owner: str) -> bool:
    """Whether a type is named after an option that holds one: `RetryOptions` after `retry`."""
    return bool(
        re.fullmatch(rf"{re.escape(option)}(?:Options|Config|Settings)", _last_part(owner), re.IGNORECASE)
    )


def _is_within(parts: Sequence[str], whole: Iterable[str]) -> bool:
    """Whether a name has all parts of another in their order: `skimage.transform._warps.rotate` those of `skimage.transform.rotate`."""
    left = iter(whole)
    return all(part in left for part in parts)


def _is_foreign(question: AskedNames, lookup: NameLookup, one: Identifier) -> bool:
    """Whether a name is another module's; Python's modules (`io`, `socket`) say nothing of what a script declares."""
    found = lookup.named(one.last) or lookup.named(one.name.split(".")[-2 if "." in one.name else -1])
    is_script = any(_SCRIPT.search(lookup.passage(each).locator) for each in found[:1])
    return question.is_foreign(one) and not is_script


def _may_have(lookup: NameLookup, one: Identifier) -> bool:
    """Whether an instance or a function of a script may have a member: the type of `test.each` may be another package's."""
    owner = one.name.rpartition(".")[0]
    entry = _exactly(lookup, Identifier(owner, "code", "code")) if owner else None
    passage = lookup.passage(entry) if entry is not None else None
    is_value = passage is not None and passage.data.get("what") != "class" and _SCRIPT.search(passage.locator)
    return bool(is_value) and not _is_no_member(lookup, one)


def _section(index: PassageIndex, one: Identifier) -> IndexedPassage | None:
    """The section of a README or a guide whose heading has a name, or else a telling part of it: `Interceptors`."""
    parts = [part for part in one.name.split(".")[:-1] if len(part) >= _TELLING]
    found = (_headed(index, word, one) for word in (one.last, *parts))
    return next((passage for passage in found if passage is not None), None)


def _headed(index: PassageIndex, name: str, one: Identifier) -> IndexedPassage | None:
    """The section that has a part of a name in its heading, or all of it."""
    wanted = {one.name.lower(), name.lower()}
    for hit in index.saying(name, _MOST_SAYING):
        passage = hit.passage
        is_section = passage.kind in {"section", "page"} and not _CHANGES.match(passage.title)
        heading = passage.title.rpartition(" § ")[2] if is_section else ""
        said = {word.lower() for word in _HEADING.findall(heading)}
        if any(word in wanted or word.endswith(f".{name.lower()}") for word in said):
            return passage
    return None


def _module_saying(index: PassageIndex, one: Identifier, entry: NameEntry) -> IndexedPassage | None:
    """What the module of a symbol says of it: "Use `default_rng()` to create a generator"."""
    module = entry.name.rpartition(".")[0]
    spoken = re.compile(rf"`{re.escape(one.last)}(?:\(\))?`")
    said = (hit.passage for hit in index.saying(one.last, _MOST_SAYING))
    of_module = (each for each in said if module and each.title.partition(" § ")[0] == module)
    return next((each for each in of_module if spoken.search(each.text)), None)
