"""What a renderer must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kr_core.model import Report

__all__ = ["Renderer"]


class Renderer(Protocol):
    """Turns a report into text."""

    def render(self, report: Report) -> str:
        """The report as text; pure except that it reads templates."""
