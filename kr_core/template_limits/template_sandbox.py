"""Jinja's sandbox, in which everything that a template does is counted and bounded."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, cast

from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter
from jinja2.utils import pass_context

from kr_core.template_limits.bounds import (
    bound,
    check_format,
    check_power,
    check_product,
    check_time,
    check_widths,
)
from kr_core.template_limits.compiler import CountingGenerator
from kr_core.template_limits.filters import as_json, bounded, bounded_sum, counted, joined
from kr_core.template_limits.render_budget import budget, concat

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.runtime import Context

__all__ = ["LimitedSandbox"]


def _named_values(**values: Any) -> dict[str, Any]:
    """`dict(a=1)` in a template; from pairs it would take keys that collide."""
    return values


@pass_context  # which also keeps it from being called while a template is compiled
def _shown(_context: Context, value: Any) -> str:
    left = budget()
    left.step()
    return value if type(value) is str else left.text(value)


class LimitedSandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which everything that a template does is counted and bounded."""

    code_generator_class = CountingGenerator
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})
    concat = staticmethod(concat)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, finalize=_shown, optimized=False)  # it would compute while it compiles
        for name in (
            "pprint",
            "urlize",
            "xmlattr",
        ):  # for HTML and for debugging; slow for what a project may put in
            del self.filters[name]
        del self.globals["lipsum"]
        self.globals["dict"] = _named_values
        self.filters.update(join=joined, sum=bounded_sum)
        self.filters = {name: bounded(name, function) for name, function in self.filters.items()}
        self.tests = {
            name: counted(cast("Callable[..., Any]", function)) for name, function in self.tests.items()
        }
        self.policies["json.dumps_function"] = as_json

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Leave out what makes bytes of a text, or a mapping of numbers: both may take the square of the length."""
        return attr not in {"encode", "decode", "fromkeys"} and super().is_safe_attribute(obj, attr, value)

    def step(self, count: int = 1) -> bool:
        """Count steps, for the compiled template."""
        return budget().step(count)

    def kept(self, value: Any) -> Any:
        """Count the size of a value, for the compiled template."""
        return budget().kept(value)

    def joined(self, parts: tuple[Any, ...]) -> str:
        """Values as one text: `a ~ b`."""
        budget().step()
        return concat(map(budget().text, parts))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063  as in Jinja
        """Call what a template may call, within the limits."""
        left = budget()
        left.step()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str | bytes | int | dt.date | dt.time):
            operands = (owner, *args, *kwargs.values())
            name = __obj.__name__
            left.require(bound(name, operands if name != "join" else operands[::-1]))
        value = super().call(__context, __obj, *args, **kwargs)
        left.take(left.size(value))
        return value

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute within the limits."""
        budget().step()
        if operator == "%" and isinstance(left, str | bytes):
            check_format(left, right)
        elif operator == "*":
            check_product(left, right)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            check_power(left, right)
        elif operator == "+" and isinstance(left, str | bytes | list | tuple):
            budget().require(len(left) + (len(right) if hasattr(right, "__len__") else 0))
        value = super().call_binop(context, operator, left, right)
        budget().take(budget().size(value))
        return value

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`format` and `format_map` of a text, within the limits."""
        if super().wrap_str_format(value) is None:
            return None
        text, takes_mapping = str(value.__self__), value.__name__ == "format_map"

        def formatted(*args: Any, **kwargs: Any) -> str:
            if takes_mapping:
                (kwargs,) = args
                args = ()
            return LimitedFormatter(self).vformat(text, args, kwargs)

        return formatted


class LimitedFormatter(SandboxedFormatter):
    def format_field(self, value: Any, format_spec: str) -> Any:
        check_widths(format_spec)
        check_time(format_spec)
        budget().require(budget().size(value))
        text = super().format_field(value, format_spec)
        budget().take(len(text))
        budget().step()
        return text

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is not None:
            budget().require(budget().size(value))
        return super().convert_field(value, conversion)
