"""Which engines were down in a cycle: a source that could not look is never read as one that found nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Health"]

_LOOKED = frozenset({Outcome.ok.value, Outcome.empty.value})


class Health:
    """What is known of the engines from one cycle to the next.

    An engine that has answered is expected to answer again: if it fails in a whole cycle, the cycle is down. If it fails
    in the repetition too it is given up until it answers again, so that one dead engine among several does not keep an
    expedition from its end. Where nobody could look, the cycle is down in any case.
    """

    def __init__(self) -> None:
        self._answered: set[str] = set()
        self._given_up: set[str] = set()

    def expects(self, source: str) -> bool:
        """Whether an engine has answered before, so that it may do so again."""
        return source in self._answered

    def down(self, outcomes: Iterable[tuple[str, str]], *, again: bool) -> tuple[str, ...]:
        """The engines that were down in a cycle, in order; none where it can be judged.

        Args:
            outcomes: (source, outcome) of each search in the cycle.
            again: whether it is the repetition.
        """
        looked: dict[str, bool] = {}
        for source, outcome in outcomes:
            looked[source] = looked.get(source, False) or outcome in _LOOKED
        failed = [source for source, could in looked.items() if not could]
        self._answered.update(source for source, could in looked.items() if could)
        self._given_up.difference_update(source for source, could in looked.items() if could)
        expected = [source for source in failed if source in self._answered - self._given_up]
        down = failed if looked and len(failed) == len(looked) else expected
        if again:
            self._given_up.update(down)
        return tuple(down)
