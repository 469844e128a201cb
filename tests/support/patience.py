"""Limits of time in tests: a busy machine may hold up any one try for a while, but not all of them."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Came = TypeVar("Came")
_TRIES = 20


def in_time(work: Callable[[], Came], seconds: float) -> Came:
    """Do something until it takes no longer than it may, and give what came of that.

    Raises:
        AssertionError: no try was fast enough.
    """
    took = []
    for _ in range(_TRIES):
        began = monotonic()
        came = work()
        took.append(monotonic() - began)
        if took[-1] <= seconds:
            return came
    raise AssertionError(f"the fastest of {_TRIES} took {min(took):.2f} s, {seconds:.2f} s are allowed")
