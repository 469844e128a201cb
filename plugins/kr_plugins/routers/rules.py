"""The router that follows the configured rules: override rule, suggested target, topic rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.plugin import Provider, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core import Question, Route
    from kr_core.plugin import Router, Setup, Table

__all__ = ["Rules", "kr_router"]


@hookimpl
def kr_router() -> Provider[Router]:
    """Provide the router over the rules in force."""
    return Provider(lambda _, setup: _built(setup))


def _built(setup: Setup) -> Rules:
    assert setup.routing is not None, "a pipeline has rules"
    return Rules(setup.routing)


class Rules:
    """A router over rules that may change while it is used.

    Args:
        table: gives the rules in force.
    """

    def __init__(self, table: Callable[[], Table]) -> None:
        self._table = table

    def route(self, question: Question) -> Route | None:
        """Where the rules send a question; None where they say nothing."""
        return self._table().route(question)
