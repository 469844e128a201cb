"""What the types of a package's exports hold: all member names, the values that they list, and below which option a type is found.

What users pass to a function is nested: the name of the type of an inner object says nothing to them (`UserConfig.server`
for the type of vite's `server`).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.declarations import Declaration
    from kr_plugins.sources.installed_docs.node.exports import ExportedName, Exports, File

_OF_ANY = frozenset(
    """constructor prototype hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf
    apply arguments bind call caller length name then""".split()
)
"""What every object or function has; `await` takes `then` of anything."""
_NOTHING_MORE = frozenset("void undefined null never boolean".split())
"""Types of a returned value that has no members."""
_PLAIN_TYPE = re.compile(r"([^\W\d][\w$]*+)(?:<[^>]*+>)?")
_DEEPEST = 12
_MOST_MEMBERS = 3_000
_MOST_LOOKED_AT = 100_000
"""Declarations that are looked at of one package; zod, which needs most of those tried, needs 8,000."""
_STRINGS = re.compile(
    r"\|?\s*+(?:'[^'\n]{1,60}+'|\"[^\"\n]{1,60}+\")(?:\s*+\|\s*+(?:'[^'\n]{1,60}+'|\"[^\"\n]{1,60}+\"))++"
)
_MADE_OF = re.compile(r"(keyof\s++)?(typeof\s++)?([^\W\d][\w$]*+)")
_LONGEST = 1_000
_MOST_STEPS = 4
_OF_TYPE = re.compile(
    r"(?:readonly )?[\w$]++\??:\s?+([^\W\d][\w$]*+)(?:<[^<>]*+>)?(?: \| (?:undefined|boolean|true|false))?"
)
_DEEPEST_OPTION = 2
"""Options in options are followed so far."""
_MOST_BASES = 40
_MOST_DECLARED = 200
"""Declarations of a type and of what it extends; files may add to a type as often as they like."""
_MOST_PATHS = 2_000
_TYPES = frozenset({"interface", "type"})


class MemberNames:
    """The members of the exports of one package; after so many declarations nothing is known of any other export.

    Args:
        exports: of the package.
    """

    def __init__(self, exports: Exports) -> None:
        self._exports = exports
        self._left = _MOST_LOOKED_AT

    def of(self, listed: Iterable[ExportedName]) -> frozenset[str] | None:
        """The names of all members of what is exported by one name; None where there may be others.

        Args:
            listed: the exports by that name: a constant, its type that another file adds to.
        """
        names: set[str] = set()
        waiting = [(each.file, one, 0) for each in listed for one in each.declarations]
        seen: set[tuple[Path, int]] = set()
        while waiting:
            file, one, depth = waiting.pop()
            self._left -= 1
            if (file.path, one.line) in seen:
                continue
            seen.add((file.path, one.line))
            own, made_of = _own(one)
            self._left -= len(made_of)
            following = (
                _resolved(self._exports, file, made_of) if own is not None and self._left > 0 else None
            )
            if own is None or following is None or depth > _DEEPEST or len(names) > _MOST_MEMBERS:
                return None
            names |= own
            waiting += [(there, declared, depth + 1) for there, declared in following]
        return frozenset(names | _OF_ANY) if names else None


def _own(one: Declaration) -> tuple[set[str] | None, Sequence[str]]:
    """What a declaration itself has, None where others are possible, and the names of the types that it is made of."""
    names = {member.name for member in one.members} | one.further
    if one.is_open or one.kind == "property":
        return None, ()
    if one.kind == "function":
        return names, _returned(one) if one.returns else ("?",)
    if one.kind == "constant":
        known = one.members or one.type_name
        return (names if known else None), [one.type_name] if one.type_name else []
    if one.kind == "type" and "[" in one.signature:  # a list, or what another type has by a name
        return None, ()
    if one.kind == "namespace":
        if one.inner is None or one.inner.stars:
            return None, ()
        inner = one.inner
        return {*inner.declarations, *inner.exports, *(each.exported for each in inner.reexports)}, ()
    return names, one.bases


def _returned(one: Declaration) -> Sequence[str]:
    """The types of what a function returns: users give that the function's name as well."""
    if one.returns in _NOTHING_MORE:
        return ()
    plain = _PLAIN_TYPE.fullmatch(one.returns or "")
    return (plain[1] if plain else "?",)


def _resolved(exports: Exports, file: File, names: Iterable[str]) -> list[tuple[File, Declaration]] | None:
    """The declarations that names mean in a file; None where the package lacks one of them."""
    found: list[tuple[File, Declaration]] = []
    for name in names:
        known = exports.local(file, name)
        if known is None:
            return None
        found += [(known.file, one) for one in known.declarations]
    return found


def listing(exports: Exports, file: File, name: str) -> list[tuple[File, Declaration]]:
    """The type of a name and, if it is the keys of something, what has them; empty if it does not list its values."""
    known = exports.local(file, name)
    if known is None or known.declarations[0].kind != "type":
        return []
    first = known.file, known.declarations[0]
    meant = _meant(first[1])
    if _STRINGS.fullmatch(meant):
        return [first]
    keys = _MADE_OF.fullmatch(meant)
    if keys is None or not keys[1]:
        return []
    here, wanted = known.file, keys[3]
    for _step in range(_MOST_STEPS):
        found = exports.local(here, wanted)
        if found is None:
            return []
        one = found.declarations[0]
        if one.members and not one.is_open:
            return [first, (found.file, one)]
        following = _MADE_OF.fullmatch(_meant(one))
        if following is None or following[1]:
            return []
        here, wanted = found.file, following[3]
    return []


def _meant(one: Declaration) -> str:
    """What stands behind the `=` of a type."""
    return one.signature[:_LONGEST].partition("=")[2].strip()


def option_paths(exports: Exports, offered: Sequence[ExportedName]) -> dict[tuple[str, int], list[str]]:
    """Of each type that an option of an exported function's parameter has, the options that lead there.

    The key is where the type is declared; what it extends counts too.
    """
    named = {each.key: each.name for each in reversed(offered)}
    found: dict[tuple[str, int], list[str]] = {}
    waiting = [
        (file, one, name, 0) for file, one, name in islice(_taken(exports, offered, named), _MOST_PATHS)
    ]
    seen: set[tuple[str, int, str]] = set()
    while waiting and len(seen) < _MOST_PATHS:
        file, one, path, depth = waiting.pop(0)
        if (file.locator, one.line, path) in seen:
            continue
        seen.add((file.locator, one.line, path))
        for member in one.members:
            typed = _OF_TYPE.fullmatch(member.signature) if member.kind == "property" else None
            for inner_file, inner in _with_bases(exports, file, typed[1]) if typed else ():
                names = found.setdefault((inner_file.locator, inner.line), [])
                names += [] if f"{path}.{member.name}" in names else [f"{path}.{member.name}"]
                if depth + 1 < _DEEPEST_OPTION:
                    waiting.append((inner_file, inner, f"{path}.{member.name}", depth + 1))
    return found


def _taken(
    exports: Exports, offered: Sequence[ExportedName], named: Mapping[tuple[object, int], str]
) -> Iterator[tuple[File, Declaration, str]]:
    """The types that exported functions take, and what they extend; each by the name of the exported one."""
    known: set[tuple[Path, str]] = set()
    for each in offered:
        types = {one.type_name for call in each.declarations for one in call.parameters if one.type_name}
        for name in sorted(types):
            if (each.file.path, name) in known:
                continue
            known.add((each.file.path, name))
            called = name
            for file, one in _with_bases(exports, each.file, name):
                called = named.get((file.path, one.line), called)
                yield file, one, called


def _with_bases(exports: Exports, file: File, name: str) -> list[tuple[File, Declaration]]:
    """The declarations of a type, and of what it extends."""
    found: list[tuple[File, Declaration]] = []
    waiting = [(file, name)]
    seen: set[tuple[object, int]] = set()
    while waiting and len(seen) < _MOST_BASES and len(found) < _MOST_DECLARED:
        here, wanted = waiting.pop(0)
        known = exports.local(here, wanted)
        if known is None or known.key in seen:
            continue
        seen.add(known.key)
        for one in known.declarations[:_MOST_DECLARED]:
            if one.kind in _TYPES:
                found.append((known.file, one))
                waiting += [(known.file, base) for base in one.bases]
    return found
