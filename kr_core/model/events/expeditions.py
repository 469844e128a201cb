"""What the events of an expedition tell."""

from typing import TypedDict


class ExpeditionStarted(TypedDict):
    """An expedition begins, or goes on after it was ended."""

    expedition: str
    query: str
    resumed: bool


class CycleStarted(TypedDict):
    """A cycle of an expedition begins; its second attempt repeats one in which engines were down."""

    expedition: str
    cycle: int
    attempt: int


class CycleFinished(TypedDict):
    """What a cycle has brought, which engines were `down`, and what follows: `continue`, `repeat` or `stop`."""

    expedition: str
    cycle: int
    attempt: int
    new_axioms: int
    merged: int
    new_sources: int
    down: list[str]
    decision: str


class ExpeditionFinished(TypedDict):
    """Which rule ended an expedition, and how many axioms it has found."""

    expedition: str
    reason: str
    cycles: int
    axioms: int
