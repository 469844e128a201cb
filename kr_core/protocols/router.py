"""What a router must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kr_core.model.questions import Question
    from kr_core.model.routing import Route

__all__ = ["Router"]


class Router(Protocol):
    """Decides where a question goes."""

    def route(self, question: Question) -> Route | None:
        """The route of a question, or None if this router does not know; pure.

        Raises:
            ConfigError: the question itself names an unknown target.
        """
