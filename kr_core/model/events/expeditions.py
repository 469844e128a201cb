"""What the events of an expedition tell."""

from typing import TypedDict


class ExpeditionStarted(TypedDict):
    """An expedition starts, or resumes after an interruption."""

    expedition: str
    query: str
    resumed: bool


class CycleStarted(TypedDict):
    """A cycle of an expedition starts. Its second attempt repeats one in which engines were down."""

    expedition: str
    cycle: int
    attempt: int


class CycleFinished(TypedDict):
    """What a cycle found, which engines were `down`, and what follows: `continue`, `repeat` or `stop`."""

    expedition: str
    cycle: int
    attempt: int
    new_axioms: int
    merged: int
    new_sources: int
    down: list[str]
    decision: str


class ExpeditionFinished(TypedDict):
    """The rule that ended an expedition, and the number of axioms it found."""

    expedition: str
    reason: str
    cycles: int
    axioms: int
