"""What DeepWiki answered, as a finding: its sections as they came, and where a reader finds the same on the web."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.plugin import Finding, Outcome
from kr_core.toolkit import refusal
from kr_plugins.sources.sections import AnswerText, search

if TYPE_CHECKING:
    from kr_core.plugin import ToolResult

_NOT_INDEXED = re.compile(r"repository not found|visit https://deepwiki\.com", re.IGNORECASE)
_SHORT = 600
"""Characters; a longer text says something besides."""
_TAIL = re.compile(
    r"^[ \t#*]*(?:wiki pages you might want to explore|view this search on deepwiki)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Where the answer ends and its links begin."""
_SEARCH = re.compile(r"https://deepwiki\.com/search/[\w%.~-]+")
_MADE_FROM_ITS_OWN_CODE = 2
"""Places that say the same: what DeepWiki tells is made from the library's repository, and so stands there, too."""


def told(result: ToolResult, question: str, repository: str) -> Finding:
    """What DeepWiki answered about a repository; takes up to a second for a long answer."""
    wiki = f"https://deepwiki.com/{repository}"
    text = result.text or _text_in(result.structured)
    if len(text) <= _SHORT and _NOT_INDEXED.search(text):
        # Not `empty`: that would be remembered for a day, and it says so of repositories that it knows, too.
        reason = f"it does not know the repository {repository}; {wiki} asks it to read it"
        return Finding(outcome=Outcome.unavailable, reason=reason, url=wiki)
    tail = _TAIL.search(text)
    said = text[: tail.start()] if tail else text
    outcome = refusal(said, question, is_error=result.is_error)
    if outcome is not None:
        return Finding(outcome=outcome, reason=" ".join(said.split())[:300] or "it said nothing", url=wiki)
    there = _SEARCH.search(text, tail.start()) if tail else None
    found = search(
        [AnswerText(said, repository)],
        question,
        url=there.group() if there else wiki,
        agreement=_MADE_FROM_ITS_OWN_CODE,
    )
    if not any(passage.coverage for passage in found.passages):
        return Finding(outcome=Outcome.empty, reason="its answer is not about the question", url=wiki)
    return Finding(outcome=Outcome.ok, passages=found.passages, missing=found.missing, url=wiki)


def _text_in(structured: object) -> str:
    """The same text as structured content has it."""
    said = structured.get("result") if isinstance(structured, dict) else None
    return said if isinstance(said, str) else ""
