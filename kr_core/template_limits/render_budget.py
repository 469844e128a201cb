"""What one rendering may still do: steps, text and time.

A value is counted when it is made, and refused before it is made where it would be too large.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jinja2.utils import Namespace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "MAX_BITS",
    "PER_ITEM",
    "RenderBudget",
    "TemplateLimitError",
    "budget",
    "check_number",
    "concat",
    "items_of",
    "spending",
]

_MAX_STEPS = 1_000_000
_MAX_TEXT = 10_000_000
"""Characters of all texts that a template makes, those between included; an item of a list counts as some."""
_MAX_SECONDS = 10.0
MAX_BITS = 16_384
"""Of a number that a template computes with."""
PER_ITEM = 16
"""Characters that an item of a list counts as."""
_PER_OBJECT = 50


class TemplateLimitError(Exception):
    """A template that does more than any needs."""


class RenderBudget:
    """What one rendering may still do.

    Args:
        steps: blocks entered, values shown, operations.
        text: characters of all values that it makes.
        seconds: from now on.
    """

    def __init__(self, steps: int = _MAX_STEPS, text: int = _MAX_TEXT, seconds: float = _MAX_SECONDS) -> None:
        self._limits = steps, text, seconds
        self._steps, self.text_left = steps, text
        self._end = time.monotonic() + seconds

    def step(self, count: int = 1) -> bool:
        """Count steps.

        Returns:
            True, so that it may stand in an expression.

        Raises:
            TemplateLimitError: there were too many, or they have taken too long.
        """
        self._steps -= count
        if self._steps < 0:
            raise TemplateLimitError(f"it takes more than {self._limits[0]:,} steps")
        if time.monotonic() > self._end:
            raise TemplateLimitError(f"it takes more than {self._limits[2]:g} seconds")
        return True

    def take(self, size: int) -> None:
        """Count the size of a value that is made.

        Raises:
            TemplateLimitError: all of them together are too large.
        """
        self.require(size)
        self.text_left -= size

    def require(self, size: int) -> None:
        """Refuse a value before it is made.

        Raises:
            TemplateLimitError: it would be too large.
        """
        if size > self.text_left:
            raise TemplateLimitError(f"it makes more than {self._limits[1]:,} characters of text")

    def kept(self, value: Any) -> Any:
        """A value that a template has made, once it is counted."""
        self.step()
        self.take(self.size(value))
        return value

    def text(self, value: Any) -> str:
        """A value as text, unless that would be too long."""
        if type(value) is str:
            return value
        self.require(self.size(value))
        return str(value)

    def size(self, *values: Any) -> int:
        """About how many characters values have as text: a value that stands in others several times counts as often.

        Raises:
            TemplateLimitError: they are too large.
        """
        if len(values) == 1 and type(values[0]) is str:
            total = len(values[0])
            self.require(total)
            return total
        total = 0
        objects: dict[int, int] = {}
        left = list(values)
        while left:
            value = left.pop()
            if isinstance(value, str | bytes):
                total += len(value)
            elif isinstance(value, int):
                total += check_number(value).bit_length() // 3 + 1
            elif isinstance(value, range):
                total += PER_ITEM * len(value)
            elif (items := items_of(value)) is not None:
                total += PER_ITEM * len(items) + 1
                self.require(total)
                left.extend(items)
            elif type(value).__module__.partition(".")[0] in {"jinja2", "builtins", "datetime"}:
                total += _PER_OBJECT
            else:
                if id(value) not in objects:
                    objects[id(value)] = len(repr(value))
                total += objects[id(value)]
            self.require(total)
        return total


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SPENDING: ContextVar[RenderBudget] = ContextVar("what the template being rendered may still do")


def items_of(value: Any) -> Sequence[Any] | None:
    """What stands in a value; None where nothing can."""
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, dict | MappingProxyType):
        return [*value.keys(), *value.values()]
    if isinstance(value, set | frozenset) or type(value) in _VIEWS:
        return list(value)
    if isinstance(value, Namespace):
        return [*object.__getattribute__(value, "_Namespace__attrs").values()]  # its text shows them
    return None


def check_number(number: int) -> int:
    """Refuse a number that is too large to compute with."""
    if number.bit_length() > MAX_BITS:
        raise TemplateLimitError(f"it computes with numbers of more than {MAX_BITS:,} bits")
    return number


def budget() -> RenderBudget:
    """What the template that is being rendered may still do."""
    return _SPENDING.get()


@contextmanager
def spending(given: RenderBudget) -> Iterator[None]:
    """Render within a budget."""
    token = _SPENDING.set(given)
    try:
        yield
    finally:
        _SPENDING.reset(token)


def concat(parts: Iterable[str]) -> str:
    """The pieces that a template, or a macro in it, has made, as one text."""
    left = budget()
    kept = []
    size = 0
    for part in parts:
        size += len(part) + 1
        if size > left.text_left:
            break
        kept.append(part)
    left.take(size)
    return "".join(kept)
