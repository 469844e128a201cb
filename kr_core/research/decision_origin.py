"""Whether a human's decision that a kept answer tells of is in this project's record on this machine.

A report comes from git, and so does what it says of humans: a colleague's decision, or one that was made up.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from kr_core.knowledge.wording import same_question

if TYPE_CHECKING:
    from kr_core.research.container import Container

__all__ = ["NOT_RECORDED", "SOURCE", "decision_note", "is_recorded"]

SOURCE = "human"
"""The source of an answer that a human gave."""

NOT_RECORDED = "the human's decision that this answer tells of is not in your record: it was made elsewhere, or by no one"
_DECIDES = "answered|approved|checked|confirmed|corrected|decided|given|reviewed|verified"
_TOLD = re.compile(
    rf"\b(?:a|an|the|any) human (?:[a-z]+ ){{0,3}}(?:{_DECIDES})\b|\b(?:{_DECIDES}) by (?:a|an|the) human\b"
    r"|, a human,|\(via human\)|\bon \d{4}-\d\d-\d\d \(e\d{1,9}\)"
    r"|\banswer(?:ed| was (?:approved|confirmed|corrected|given)) by\b"
)
"""What tells of a human's decision, in a text as `_folded` gives it."""
_NAMES_CASE = re.compile(r"\(e\d{1,9}\)")
"""The name of a case; in documentation it may be that of an error."""
_CASE = "case:"
"""What the address of a case begins with."""
_CASES = "escalation"
_DECIDED = "resolved"
"""The status of a case that a human has decided; one that only ran out of time has an answer, too."""


def decision_note(components: Container, report: str, evidence: dict[str, Any], shown: str) -> str:
    """What is said of an answer that a human decided, or that says so; empty where the record has this decision.

    Args:
        components: what the pipeline works with.
        report: as it was kept.
        evidence: the same.
        shown: the answer that a caller gets of it.
    """
    if not _tells_of_human(report, evidence):
        return ""
    return "" if is_recorded(components, evidence, shown) else NOT_RECORDED


def _tells_of_human(report: str, evidence: dict[str, Any]) -> bool:
    listed = [one for key in ("reasons", "citations") for one in _listed(evidence.get(key))]
    cited = [one for one in listed if isinstance(one, dict)]
    passages = evidence.get("passages")
    shown = passages.values() if isinstance(passages, dict) else ()
    places = [one.get("url") for one in (*cited, *shown) if isinstance(one, dict)]
    texts = [report, evidence.get("answer"), *listed]
    return (
        "review" in evidence
        or any(_folded(one.get("source")) == SOURCE for one in cited)
        or any(_folded(place).startswith(_CASE) for place in places)
        or any(_NAMES_CASE.search(_folded(one)) for one in _listed(evidence.get("reasons")))
        or any(_TOLD.search(_folded(one)) for one in texts)
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _folded(value: object) -> str:
    """A text without differences of case, forms of characters and spaces; empty for anything else."""
    if not isinstance(value, str):
        return ""
    plain = value.lower() if value.isascii() else unicodedata.normalize("NFKC", value).casefold()
    return " ".join(plain.split())


def is_recorded(components: Container, evidence: dict[str, Any], shown: str) -> bool:
    """Return whether the record has the case that a kept answer names: decided, of its question, with this answer.

    Args:
        components: what the pipeline works with.
        evidence: of the kept answer.
        shown: the answer that a caller gets of it.
    """
    from kr_core.research.human_review import (  # with all that composes a report: a usual hit needs none of it
        reviewed_by,
        says,
    )

    name = reviewed_by(evidence)
    try:
        document = components.journal.document(_CASES, name) if name else None
    except Exception:  # a journal is a plugin; the answer is shown, with the note
        return False
    if document is None or document.status.partition(":")[0] != _DECIDED:
        return False
    query, answer = document.data["request"].get("query"), document.data.get("answer")
    if not isinstance(query, dict) or not isinstance(answer, dict):
        return False
    asked, framework = str(evidence.get("question")), str(query.get("framework"))
    return same_question(asked, str(query.get("question")), framework) and says(
        shown, str(answer.get("content"))
    )
