"""The arguments of a call: the configured ones, with the question's parts in the places kept for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_core.plugin import ResearchQuery

_PLACE = re.compile(r"\{(question|framework|version|topic|tags)\}")


def filled(arguments: Mapping[str, Any], query: ResearchQuery) -> dict[str, Any]:
    """The arguments of one call; what comes from the question is text, and is not looked through again."""
    parts = {
        "question": query.question,
        "framework": query.framework,
        "version": query.framework_version,
        "topic": query.topic,
        "tags": ", ".join(query.tags),
    }
    return {name: _filled(value, parts) for name, value in arguments.items()}


def _filled(value: Any, parts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACE.sub(lambda found: parts[found.group(1)], value)
    if isinstance(value, dict):
        return {name: _filled(item, parts) for name, item in value.items()}
    return [_filled(item, parts) for item in value] if isinstance(value, list | tuple) else value
