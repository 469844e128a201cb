"""Types that list values: a union of strings, or the keys of something declared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_plugins.sources.installed_docs.node.declarations import Declaration
    from kr_plugins.sources.installed_docs.node.exports import Exports, File

_STRINGS = re.compile(
    r"\|?\s*+(?:'[^'\n]{1,60}+'|\"[^\"\n]{1,60}+\")(?:\s*+\|\s*+(?:'[^'\n]{1,60}+'|\"[^\"\n]{1,60}+\"))++"
)
_MADE_OF = re.compile(r"(keyof\s++)?(typeof\s++)?([^\W\d][\w$]*+)")
_LONGEST = 1_000
_MOST_STEPS = 4


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
