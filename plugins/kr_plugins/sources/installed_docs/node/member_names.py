"""All member names of what a package exports, where its declarations tell all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
_MOST = 3_000
_MOST_LOOKED_AT = 100_000
"""Declarations that are looked at of one package; zod, which needs most of those tried, needs 8,000."""


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
            if own is None or following is None or depth > _DEEPEST or len(names) > _MOST:
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
