"""A question that KR has not answered, handed back to an agent that can search the web by itself: what to look for, and how to go on.

It is not an answer, and the result's confidence stays as it is. What the agent finds comes back as names, which KR looks up in
the documentation that it can read; so KR keeps and grades what that documentation says, never what the agent says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.model import ResearchQuery, ResearchResult
    from kr_core.server.mcp.tool_schemas import Schema

__all__ = ["SCHEMA", "lines", "task_of"]

_UNANSWERED = frozenset({"degraded", "partial", "timeout", "budget-exhausted"})
_NO_VERSION = "latest"
_MAX_LENGTH = 300
"""Characters of a query; search engines take 400."""

_TEXT: Schema = {"type": "string"}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "queries": {"type": "array", "items": _TEXT},
        "library": _TEXT,
        "version": _TEXT,
        "look_for": _TEXT,
        "hand_back": _TEXT,
    },
    "required": ["queries", "library", "version", "look_for", "hand_back"],
}


def task_of(result: ResearchResult, query: ResearchQuery) -> dict[str, Any] | None:
    """What an agent with a search of its own looks for; None where the question has an answer."""
    results = result.results
    if results.confidence in {"high", "medium"} or (result.status not in _UNANSWERED and results.passages):
        return None
    from kr_core.net.redaction import outgoing

    sent = outgoing(query, "question").query  # it goes to a search engine: without code and secrets
    version = "" if query.framework_version == _NO_VERSION else query.framework_version
    of_version = f" {version}" if version else ""
    library = f"{query.framework}{of_version}"
    return {
        "queries": [
            _query(query.framework, sent.question),
            _query(f"{library} documentation", sent.topic),
        ],
        "library": query.framework,
        "version": version,
        "look_for": f"a passage of the official documentation, the changelog or the source of {library} that says it; note its"
        " address and the version that it is about. Forums and pages about another version only give you names to look up",
        "hand_back": f"research with the same question, framework={json.dumps(query.framework)}, refresh=true, and as `names` the"
        " functions, classes and parameters that the pages name: KR looks each up in the documentation that it can read, keeps"
        " what that says, and grades it. What only the pages say is not KR's: quote it with its address, as not verified",
    }


def lines(task: Mapping[str, Any] | None) -> list[str]:
    """The task in words; empty where there is none."""
    if task is None:
        return []
    return [
        "",
        "This is not an answer. If you can search the web yourself, search this:",
        *(f"- {query}" for query in task["queries"]),
        f"Look for: {task['look_for']}.",
        f"Then: {task['hand_back']}.",
    ]


def _query(subject: str, words: str) -> str:
    """A query on one line, which names its subject once."""
    said = " ".join(words.split())
    named = said if subject.lower() in said.lower() else f"{subject} {said}"
    return named[:_MAX_LENGTH].strip()
