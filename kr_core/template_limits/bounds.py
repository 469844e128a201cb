"""Bounds on what an operation makes whose result may be much larger than what it is given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kr_core.template_limits.render_budget import (
    MAX_BITS,
    PER_ITEM,
    TemplateLimitError,
    budget,
    check_number,
    items_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bound", "check_format", "check_power", "check_product", "check_time", "check_widths"]

_MAX_MENDED = 100_000
"""Characters of a text for what takes longer by its square."""


def check_product(left: Any, right: Any) -> None:
    """Refuse what `left * right` would be, where that is too large."""
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            budget().require(budget().size(many) * max(0, times))
            return
    if isinstance(left, int) and isinstance(right, int):
        check_number(left)
        check_number(right)


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
    found = items_of(values) if items_of(values) is not None else [values]
    return max((abs(one) for one in found or () if isinstance(one, int)), default=0)


def check_power(base: int, exponent: int) -> None:
    """Refuse what `base ** exponent` would be, where that is too large."""
    if exponent.bit_length() > 32 or base.bit_length() * abs(exponent) > MAX_BITS:
        raise TemplateLimitError(f"it computes with numbers of more than {MAX_BITS:,} bits")


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
        return PER_ITEM * size
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
