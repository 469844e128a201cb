"""What the contracts of several kinds of plugins check in the same way."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kr_core.plugin_calls import CALL_SECONDS, OverdueError, call_within, fault_line
from kr_core.testing.watchers import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic import BaseModel

Result = TypeVar("Result")


@contextmanager
def raises_nothing(what: str, hint: str, when: str = "") -> Iterator[None]:
    """Make any exception of a plugin a failed test: what raised it, on what occasion, and what to do about it."""
    try:
        yield
    except OverdueError:  # which the caller explains
        raise
    except Exception as error:
        kind, _, message = fault_line(error).partition(": ")
        raise AssertionError(f"{what} raised {kind}{when and f' {when}'}: {message}; {hint}") from error


def returned(what: str, work: Callable[[], Result], hint: str) -> Result:
    """What a call of a plugin returns; a failed test where it raises, or does not end within the limit of a run."""
    with raises_nothing(what, hint):
        try:
            return call_within(work)
        except OverdueError:
            overdue = f"{what} did not end within {CALL_SECONDS:g} s; in a run KR gives it up then, and goes on without it"
    raise AssertionError(overdue)


def check_purity(
    who: str,
    build: Callable[[], Any],
    use: Callable[[Any], object],
    given: Sequence[BaseModel] = (),
    *,
    kinds: Sequence[str] = ("reads", "writes", "network", "process"),
    hint: str = "read what it needs in `build`, and go by the arguments alone",
) -> None:
    """Check that components make the same of the same arguments, change none of them, and do nothing of some `kinds`."""
    before = [one.model_dump_json() for one in given]
    component = build()
    with watched(*kinds, with_calls=True) as touched:
        made = [use(component) for _ in range(3)]
    made.append(use(build()))
    assert all(one == made[0] for one in made), (
        f"{who} did not make the same of the same; let everything depend on the arguments alone: no clock, no chance, "
        "nothing kept between calls"
    )
    assert [one.model_dump_json() for one in given] == before, (
        f"{who} changed what it was given; work on copies (`model_copy(update=...)`, `sorted`)"
    )
    assert not touched, f"{who} touched something outside ({touched[0]}); {hint}"
