"""Names that join words without a mark, such as `savefig`, and the words that they are made of."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kr_core.toolkit import IndexedPassage

_PLAIN_WORD = re.compile(r"[a-z]+")
_LONGEST = 60
_COMMON = 4
"""A word of the prose counts as one when it stands there so often."""


def joined_words(passages: Sequence[IndexedPassage]) -> dict[str, str]:
    """Names that join two words without a mark (`savefig`, `textlength`), told by the package's own prose."""
    prose = Counter(word for passage in passages for word in _PLAIN_WORD.findall(passage.lead.lower()))
    common = {
        word
        for word, count in prose.items()
        if count >= (_COMMON if len(word) >= 3 else 5 * _COMMON) and len(word) >= 2
    }
    found = {}
    for name in {part for passage in passages for part in _PLAIN_WORD.findall(passage.name.lower())}:
        if not 6 <= len(name) <= _LONGEST or name in common:
            continue
        cuts = [(name[:cut], name[cut:]) for cut in range(3, len(name) - 1)]
        known = [
            (min(prose[first], prose[last]), f"{first} {last}")
            for first, last in cuts
            if {first, last} <= common
        ]
        if known:
            found[name] = max(known)[1]
    return found


def spread(name: str, split: Mapping[str, str]) -> str:
    """A name followed by the words that its parts join."""
    more = [split[part] for part in _PLAIN_WORD.findall(name.lower()) if part in split]
    return " ".join([name, *more])
