"""How the lines begin that KR writes around what it quotes: a sentence of a package that begins so needs quotation marks."""

from __future__ import annotations

import re

__all__ = ["is_like_own"]

_LABELS = (
    *(
        "Note",
        "Warning",
        "Deprecated",
        "Status",
        "Confidence",
        "Score",
        "Version",
        "Framework",
        "Research Date",
    ),
    *(r"Passage \d+", "Documentation", "Sources", r"Source \d+", "Citations", "Report", "Not answered here"),
    *("Kept in", "Kept answer to", "From the knowledge base", "Matched", "All of it", "All of one"),
    *("Not decided", "Why", "The record", "Look for", "Then"),
)
"""What KR writes before a colon."""
_OPENINGS = (
    *("KR", "Confirmed by a (?:person|human)", "Decided by", "Written by", "Tentative answer of"),
    *("Nothing was found", "No answer was found", "This is not an answer", r"\[\d+\]"),
)
_LIKE_OWN = re.compile(
    rf"[\s*_#>-]*+(?:(?:{'|'.join(_LABELS)})[\s*_]*+:|(?:{'|'.join(_OPENINGS)})(?!\w))", re.IGNORECASE
)


def is_like_own(text: str) -> bool:
    """Whether a text begins as a line of KR's own does, in any case and with any marks of Markdown before it."""
    return _LIKE_OWN.match(text) is not None
