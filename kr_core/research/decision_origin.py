"""Whether a human's decision that a kept answer tells of is in this project's record on this machine.

A report comes from git, and so does what it says of humans: a colleague's decision, or one that was made up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.knowledge.wording import same_question

if TYPE_CHECKING:
    from kr_core.research.container import Container

__all__ = ["NOT_RECORDED", "SOURCE", "decision_note", "is_recorded"]

SOURCE = "human"
"""The source of an answer that a human gave."""

NOT_RECORDED = "the human's decision that this answer tells of is not in your record: it was made elsewhere, or by no one"
_TOLD = re.compile(
    r"\ba human (?:answered|confirmed|corrected|decided)\b|\(via human\)"
    r"|\banswer(?:ed|[ ]was[ ](?:confirmed|corrected|given))[ ]by\b",
    re.IGNORECASE,
)
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
    told = [evidence.get("reasons"), evidence.get("citations")]
    listed = [one for each in told if isinstance(each, list) for one in each]
    sources = {str(one.get("source")).casefold() for one in listed if isinstance(one, dict)}
    texts = [report, *(one for one in listed if isinstance(one, str))]
    return "review" in evidence or SOURCE in sources or any(map(_TOLD.search, texts))


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
