"""What one rendering of a template may still do: how many steps, how much text, and for how long.

A template comes with a project, so it may be made to fill memory or never to end. Nothing can stop it from outside: a
thread cannot be ended, and one operation on a long text is not interrupted. So what it does is counted where it is
done, by `template_sandbox`: it counts each block that a template enters, refuses a value before it would be too large,
and looks at the clock.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jinja2.utils import Namespace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "RenderBudget",
    "TemplateLimitError",
    "bound",
    "budget",
    "check_format",
    "check_power",
    "check_product",
    "check_time",
    "check_widths",
    "concat",
    "spending",
]

_MAX_STEPS = 1_000_000
_MAX_TEXT = 10_000_000
"""Characters of all texts that a template makes, those between included; an item of a list counts as some."""
_MAX_SECONDS = 10.0
_MAX_BITS = 16_384
"""Of a number that a template computes with."""
_PER_ITEM = 16
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
                total += _check_number(value).bit_length() // 3 + 1
            elif isinstance(value, range):
                total += _PER_ITEM * len(value)
            elif (items := _items_of(value)) is not None:
                total += _PER_ITEM * len(items) + 1
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


def _items_of(value: Any) -> Sequence[Any] | None:
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


def _check_number(number: int) -> int:
    """Refuse a number that is too large to compute with."""
    if number.bit_length() > _MAX_BITS:
        raise TemplateLimitError(f"it computes with numbers of more than {_MAX_BITS:,} bits")
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


# -- what an operation makes whose result may be much larger than what it is given ------------------------

_MAX_MENDED = 100_000
"""Characters of a text for what takes longer by its square."""


def check_product(left: Any, right: Any) -> None:
    """Refuse what `left * right` would be, where that is too large."""
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            budget().require(budget().size(many) * max(0, times))
            return
    if isinstance(left, int) and isinstance(right, int):
        _check_number(left)
        _check_number(right)


_NUMBER = re.compile(r"[0-9]+")


def check_widths(form: str | bytes) -> None:
    """Refuse widths in a format: the longest number in it is taken for one."""
    text = form if isinstance(form, str) else form.decode("latin-1")
    longest = max((int(digits[:9]) for digits in _NUMBER.findall(text)), default=0)
    budget().require(longest * max(1, text.count("%")))


def check_format(form: str | bytes, values: Any) -> None:
    """Refuse what `form % values` would be, where that is too large."""
    check_widths(form)
    star, mark = ("*", "%") if isinstance(form, str) else (b"*", b"%")
    if star in form:  # type: ignore[operator]  # of the same kind
        budget().require(_widest(values) * form.count(star))  # type: ignore[arg-type]
    budget().require(len(form) + form.count(mark) * budget().size(values))  # type: ignore[arg-type]


def _widest(values: Any) -> int:
    """The largest number among values."""
    found = _items_of(values) if _items_of(values) is not None else [values]
    return max((abs(one) for one in found or () if isinstance(one, int)), default=0)


def check_power(base: int, exponent: int) -> None:
    """Refuse what `base ** exponent` would be, where that is too large."""
    if exponent.bit_length() > 32 or base.bit_length() * abs(exponent) > _MAX_BITS:
        raise TemplateLimitError(f"it computes with numbers of more than {_MAX_BITS:,} bits")


def check_time(form: str) -> None:
    """Refuse a format of a time that is too long: the system's `strftime` is given room for so much."""
    budget().require(256 * len(form))


_SPLITS = frozenset({"split", "rsplit", "splitlines", "list", "sort", "unique", "reverse", "batch", "slice", "map", "select",
                     "reject", "groupby", "random", "first", "last", "min", "max", "items", "fromkeys"})  # fmt: skip
"""What makes a list of a text's characters or parts."""
_SLOW = frozenset(
    {"striptags", "wordwrap", "rfind", "rindex", "rsplit", "rpartition", "strip", "lstrip", "rstrip"}
)
"""What takes time by the square of a text's length, or by what it looks for; a single operation hears no clock."""
_WIDTHS = frozenset(
    {"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes", "batch", "slice", "round", "indent"}
)
"""What makes a text as long as a number says."""
_PUTS = _WIDTHS | {"wordwrap", "replace", "translate", "join"}
"""What puts a text between the pieces of another, too."""


def bound(name: str, operands: Sequence[Any]) -> int:
    """No less than the size of what a method or a filter makes of its operands, the first of which is what it works on."""
    left = budget()
    size = left.size(*operands)
    first, *rest = operands or ("",)
    if name in _SLOW and size > _MAX_MENDED:
        raise TemplateLimitError(f"it gives `{name}` more than {_MAX_MENDED:,} characters")
    if name in _SPLITS and isinstance(first, str | bytes):
        return _PER_ITEM * size
    if name == "strftime":
        for form in rest:
            check_widths(str(form))
            check_time(str(form))
    if name == "format":
        check_format(left.text(first), tuple(rest))
    if name not in _PUTS:
        return size
    texts = [left.size(one) for one in rest if not isinstance(one, int)]
    widths = [abs(one) for one in rest if isinstance(one, int)] if name in _WIDTHS else []
    return size + _pieces(name, first, rest) * max([*texts, *widths], default=0)


def _pieces(name: str, first: Any, rest: Sequence[Any]) -> int:
    """Into how many pieces a text may fall between each of which something is put."""
    if name == "join":
        return len(first) if hasattr(first, "__len__") else 0
    if not isinstance(first, str | bytes):
        return budget().size(first) if name in {"replace", "indent", "wordwrap"} else 1
    if name in {"wordwrap", "translate"}:
        return len(first)
    text = first if isinstance(first, str) else first.decode("latin-1")
    if name == "replace":
        old = next((one for one in rest if isinstance(one, str | bytes)), "")
        return text.count(old if isinstance(old, str) else old.decode("latin-1")) + 1
    if name in {"indent", "expandtabs"}:
        return 1 + len(text.splitlines()) + text.count("\t")
    return 1
