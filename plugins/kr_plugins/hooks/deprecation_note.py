"""Notes that the subject of a passage is deprecated, so that an answer from it says so.

It recognises the markers of reST (`.. deprecated:: 2.0`) and TSDoc (`@deprecated`), and a first paragraph that says so.
A marker below the heading of a part, such as the parameters, applies only to that part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core import Passage

__all__ = ["kr_passages_found"]

KR_CONTRACT = 2

_PARTS = re.compile(
    r"^[ \t]*+(?:(?:parameters|args|arguments|attributes|returns|yields|raises|notes|examples?)(?:[ \t]*+:)?+[ \t]*+$|:param|@param)",
    re.IGNORECASE | re.MULTILINE,
)
"""Where the parts of a docstring begin."""
_SINCE = r"(?:[ \t]++since)?+(?:[ \t]++version)?+:?+[ \t]*+(?P<since>v?+\d(?:\.*+\w)++)?+"
_MARKERS = (
    re.compile(rf"^[ \t]*+\.\.[ \t]++deprecated::{_SINCE}", re.MULTILINE),
    re.compile(rf"^[ \t/*]*+@deprecated\b{_SINCE}", re.MULTILINE),
    re.compile(rf"^[ \t*_>]*+[(\[]?+deprecated\b[*_]*+{_SINCE}", re.IGNORECASE | re.MULTILINE),
    re.compile(rf"\b(?:is|are|was|were|has been|have been) deprecated\b{_SINCE}", re.IGNORECASE),
)
_MAX_LENGTH = 2_000
"""So many characters of a passage are read: what is deprecated says so at its beginning."""
_KINDS = frozenset({"symbol", "parameter", "constant", "type"})


@hookimpl
def kr_passages_found(passages: Sequence[Passage]) -> Sequence[Passage] | None:
    """Note on each passage of something deprecated that it is, and since when."""
    notes = [_note(passage) for passage in passages]
    if not any(notes):
        return None
    return [
        passage.model_copy(update={"notes": (*passage.notes, note)})
        if note and note not in passage.notes
        else passage
        for passage, note in zip(passages, notes, strict=True)
    ]


def _note(passage: Passage) -> str:
    if passage.kind not in _KINDS:
        return ""
    text = passage.text[:_MAX_LENGTH]
    part = _PARTS.search(text) if passage.kind == "symbol" else None
    said = text[: part.start()] if part else text
    found = [match for marker in _MARKERS if (match := marker.search(said))]
    if not found:
        return ""
    since = next((match["since"] for match in found if match["since"]), None)
    return f"deprecated since {since}" if since else "deprecated"
