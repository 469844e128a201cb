"""Jinja's sandbox, in which everything that a template does is counted and bounded."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.filters import make_attrgetter
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment, SandboxedFormatter
from jinja2.utils import pass_context, pass_eval_context

from kr_core.template_limits import (
    TemplateLimitError,
    bound,
    budget,
    check_format,
    check_power,
    check_product,
    check_time,
    check_widths,
    concat,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jinja2.compiler import Frame
    from jinja2.nodes import EvalContext
    from jinja2.runtime import Context

__all__ = ["LimitedSandbox"]

_MAX_CODE = 1_000_000


class CountingGenerator(CodeGenerator):
    """Compiles templates that count what they do, as far as they compile to code of a bounded size."""

    _written = 0

    def write(self, x: str) -> None:
        """Bound the code: each `include` names all that is set before it."""
        self._written += len(x)
        if self._written > _MAX_CODE:
            raise TemplateLimitError(f"it compiles to more than {_MAX_CODE:,} characters of code")
        super().write(x)

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """Count each time that a block is entered: the round of a loop, a macro, a whole template."""
        block = list(nodes)
        cost = 1 + sum(len(getattr(node, "nodes", ())) or 1 for node in block)
        self.writeline(f"environment.step({cost})", block[0] if block else None)
        super().blockvisit(block, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the rounds that a condition leaves out, too."""
        if node.test is not None:
            counted = nodes.Call(nodes.EnvironmentAttribute("step"), [], [], None, None)
            node.test = nodes.And(counted, node.test)
            node.test.set_lineno(node.lineno).set_environment(self.environment)
        super().visit_For(node, frame)

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count each comparison."""
        self.write("(environment.step() and ")
        super().visit_Compare(node, frame)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Join texts within the limits."""
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a list."""
        self._count_size(super().visit_List, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a mapping."""
        self._count_size(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a tuple, unless it holds the names that are set."""
        if node.ctx == "load":
            self._count_size(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a part of a text or list."""
        if isinstance(node.arg, nodes.Slice):
            self._count_size(super().visit_Getitem, node, frame)
        else:
            super().visit_Getitem(node, frame)

    def _count_size(self, visit: Callable[[Any, Frame], None], node: nodes.Node, frame: Frame) -> None:
        self.write("environment.kept(")
        visit(node, frame)
        self.write(")")


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
