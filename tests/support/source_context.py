"""What a source is handed when a test asks it without the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kr_core.project.project import LocalProject


class SourceContext:
    """A context of the protocol without a network; it keeps the events.

    Args:
        project: what the source asks about the project.
    """

    http = None
    deadline = 0.0

    def __init__(self, project: LocalProject) -> None:
        self.project = project
        self.events: list[tuple[str, dict[str, Any]]] = []

    def emit(self, kind: str, data: dict[str, Any]) -> None:
        """Keep an event."""
        self.events.append((kind, data))
