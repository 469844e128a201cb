"""Below which option a type is found: `UserConfig.server` for the type of vite's `server`.

What users pass to a function is nested: the name of the type of an inner object says nothing to them.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.declarations import Declaration
    from kr_plugins.sources.installed_docs.node.exports import ExportedName, Exports, File

_OF_TYPE = re.compile(
    r"(?:readonly )?[\w$]++\??:\s?+([^\W\d][\w$]*+)(?:<[^<>]*+>)?(?: \| (?:undefined|boolean|true|false))?"
)
_DEEPEST = 2
"""Options in options are followed so far."""
_MOST_BASES = 40
_MOST_DECLARED = 200
"""Declarations of a type and of what it extends; files may add to a type as often as they like."""
_MOST = 2_000
_TYPES = frozenset({"interface", "type"})


def option_paths(exports: Exports, offered: Sequence[ExportedName]) -> dict[tuple[str, int], list[str]]:
    """Of each type that an option of an exported function's parameter has, the options that lead there.

    The key is where the type is declared; what it extends counts too.
    """
    named = {each.key: each.name for each in reversed(offered)}
    found: dict[tuple[str, int], list[str]] = {}
    waiting = [(file, one, name, 0) for file, one, name in islice(_taken(exports, offered, named), _MOST)]
    seen: set[tuple[str, int, str]] = set()
    while waiting and len(seen) < _MOST:
        file, one, path, depth = waiting.pop(0)
        if (file.locator, one.line, path) in seen:
            continue
        seen.add((file.locator, one.line, path))
        for member in one.members:
            typed = _OF_TYPE.fullmatch(member.signature) if member.kind == "property" else None
            for inner_file, inner in _with_bases(exports, file, typed[1]) if typed else ():
                names = found.setdefault((inner_file.locator, inner.line), [])
                names += [] if f"{path}.{member.name}" in names else [f"{path}.{member.name}"]
                if depth + 1 < _DEEPEST:
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
