"""Jinja's filters and tests within the limits."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

from jinja2.filters import make_attrgetter
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import pass_context, pass_eval_context

from kr_core.template_limits.bounds import bound
from kr_core.template_limits.render_budget import budget, concat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jinja2.nodes import EvalContext
    from jinja2.runtime import Context

__all__ = ["as_json", "bounded", "bounded_sum", "counted", "joined"]


def bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter within the limits. What it would make item by item later is made at once."""
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        left = budget()
        left.step()
        left.require(bound(name, (*args[skipped:], *kwargs.values())))
        value = function(*args, **kwargs)
        if isinstance(value, Iterator) and type(value).__module__.partition(".")[0] != "jinja2":
            value = [one for one in value if left.step()]
        left.take(left.size(value))
        return value

    return filtered


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A test within the limits."""

    @wraps(function)
    def tested(*args: Any, **kwargs: Any) -> Any:
        budget().step()
        return function(*args, **kwargs)

    return tested


@pass_eval_context
def joined(
    context: EvalContext, value: Iterable[Any], d: str = "", attribute: str | int | None = None
) -> str:
    """Jinja's `join`, piece by piece: what an attribute holds may be longer than what has it."""
    left = budget()
    if attribute is not None:
        value = map(make_attrgetter(context.environment, attribute), value)
    between = left.text(d)
    parts = []
    size = 0
    for one in value:
        part = one if type(one) is str else left.text(one)
        size += len(part) + len(between) + 1
        if size > left.text_left:
            break
        parts.append(part)
    left.take(size)
    return between.join(parts)


@pass_context
def bounded_sum(
    context: Context, iterable: Iterable[Any], attribute: str | int | None = None, start: Any = 0
) -> Any:
    """Jinja's `sum`, of which each addition is bounded."""
    environment = context.environment
    assert isinstance(environment, SandboxedEnvironment)
    if attribute is not None:
        iterable = map(make_attrgetter(environment, attribute), iterable)
    for one in iterable:
        start = environment.call_binop(context, "+", start, one)
    return start


def as_json(value: Any, **options: Any) -> str:
    """A value as JSON, piece by piece: what stands in others is indented once more in each."""
    from json import JSONEncoder

    indent = options.get("indent")
    if indent is not None:
        budget().require((indent if isinstance(indent, int) else len(indent)) * sys.getrecursionlimit())
    known: Mapping[str, Any] = {name: given for name, given in options.items() if name != "default"}
    return concat(JSONEncoder(**known).iterencode(value))
