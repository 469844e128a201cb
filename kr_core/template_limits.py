"""Jinja's sandbox with limits: how much text a template may make, how many steps it may take, and for how long.

A template comes with a project, so it may be made to fill memory or never to end. Nothing can stop it from outside: a
thread cannot be ended, and one operation on a long text is not interrupted. So what it does is counted where it is
done. The compiled template counts every block that it enters; every operation that makes a value is refused before
the value would be too large; and each of them looks at the clock.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.filters import make_attrgetter
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter
from jinja2.utils import Namespace, pass_context, pass_eval_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from jinja2.compiler import Frame
    from jinja2.nodes import EvalContext
    from jinja2.runtime import Context

__all__ = ["LimitedSandbox", "RenderBudget", "TemplateLimitError", "budget", "spending"]

_MOST_STEPS = 1_000_000
_MOST_TEXT = 10_000_000
"""Characters of all texts that a template makes, those between included; an item of a list counts as some."""
_MAX_SECONDS = 10.0
_MAX_CODE = 1_000_000
_MAX_BITS = 16_384
_MAX_MENDED = 100_000
"""Characters of a text for what takes longer by its square."""
_ITEM = 16
_OBJECT = 50


class TemplateLimitError(Exception):
    """A template that does more than any needs."""


class RenderBudget:
    """What one rendering may still do.

    Args:
        steps: blocks entered, values shown, operations.
        text: characters of all values that it makes.
        seconds: from now on.
    """

    def __init__(
        self, steps: int = _MOST_STEPS, text: int = _MOST_TEXT, seconds: float = _MAX_SECONDS
    ) -> None:
        self._most = steps, text, seconds
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
            raise TemplateLimitError(f"it takes more than {self._most[0]:,} steps")
        if time.monotonic() > self._end:
            raise TemplateLimitError(f"it takes more than {self._most[2]:g} seconds")
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
            raise TemplateLimitError(f"it makes more than {self._most[1]:,} characters of text")

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
                total += _checked(value).bit_length() // 3 + 1
            elif isinstance(value, range):
                total += _ITEM * len(value)
            elif (items := _items(value)) is not None:
                total += _ITEM * len(items) + 1
                self.require(total)
                left.extend(items)
            elif type(value).__module__.partition(".")[0] in {"jinja2", "builtins", "datetime"}:
                total += _OBJECT
            else:
                if id(value) not in objects:
                    objects[id(value)] = len(repr(value))
                total += objects[id(value)]
            self.require(total)
        return total


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SPENDING: ContextVar[RenderBudget] = ContextVar("what the template being rendered may still do")


def _items(value: Any) -> Sequence[Any] | None:
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


def _checked(number: int) -> int:
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


# -- what a compiled template counts ---------------------------------------------------------------------------


class _CountingGenerator(CodeGenerator):
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
        self.write("environment.kept(")
        super().visit_List(node, frame)
        self.write(")")

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a mapping."""
        self.write("environment.kept(")
        super().visit_Dict(node, frame)
        self.write(")")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a tuple, where it is none of names that are set."""
        if node.ctx != "load":
            super().visit_Tuple(node, frame)
            return
        self.write("environment.kept(")
        super().visit_Tuple(node, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802  Jinja's name
        """Count the size of a part of a text or list."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.kept(")
        super().visit_Getitem(node, frame)
        self.write(")")


def _named_values(**values: Any) -> dict[str, Any]:
    """`dict(a=1)` in a template; from pairs it would take keys that collide."""
    return values


def _concat(parts: Iterable[str]) -> str:
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


@pass_context  # which also keeps it from being called while a template is compiled
def _shown(_context: Context, value: Any) -> str:
    left = _SPENDING.get()
    left.step()
    return value if type(value) is str else left.text(value)


class LimitedSandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which everything that a template does is counted and bounded."""

    code_generator_class = _CountingGenerator
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})
    concat = staticmethod(_concat)

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
        self.filters.update(join=_joined, sum=_sum)
        self.filters = {name: _bounded(name, function) for name, function in self.filters.items()}
        self.tests = {
            name: _counted(cast("Callable[..., Any]", function)) for name, function in self.tests.items()
        }
        self.policies["json.dumps_function"] = _json

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
        return _concat(map(budget().text, parts))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063  as in Jinja
        """Call what a template may call, within the limits."""
        left = budget()
        left.step()
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str | bytes | int | dt.date | dt.time):
            operands = (owner, *args, *kwargs.values())
            name = __obj.__name__
            left.require(_bound(name, operands if name != "join" else operands[::-1]))
        value = super().call(__context, __obj, *args, **kwargs)
        left.take(left.size(value))
        return value

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute within the limits."""
        budget().step()
        if operator == "%" and isinstance(left, str | bytes):
            _check_format(left, right)
        elif operator == "*":
            _check_product(left, right)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            if right.bit_length() > 32 or left.bit_length() * abs(right) > _MAX_BITS:
                raise TemplateLimitError(f"it computes with numbers of more than {_MAX_BITS:,} bits")
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
            return _Formatter(self).vformat(text, args, kwargs)

        return formatted


# -- operations whose result may be much larger than what they are given --------------------------------------


def _check_product(left: Any, right: Any) -> None:
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            budget().require(budget().size(many) * max(0, times))
            return
    if isinstance(left, int) and isinstance(right, int):
        _checked(left)
        _checked(right)


_NUMBER = re.compile(r"[0-9]+")


def _check_widths(form: str | bytes) -> None:
    """Refuse widths in a format: the longest number in it is taken for one."""
    text = form if isinstance(form, str) else form.decode("latin-1")
    longest = max((int(digits[:9]) for digits in _NUMBER.findall(text)), default=0)
    budget().require(longest * max(1, text.count("%")))


def _check_format(form: str | bytes, values: Any) -> None:
    """Refuse what `form % values` would be, where that is too large."""
    _check_widths(form)
    star, mark = ("*", "%") if isinstance(form, str) else (b"*", b"%")
    if star in form:  # type: ignore[operator]  # of the same kind
        budget().require(_widest(values) * form.count(star))  # type: ignore[arg-type]
    budget().require(len(form) + form.count(mark) * budget().size(values))  # type: ignore[arg-type]


def _widest(values: Any) -> int:
    """The largest number among values."""
    found = _items(values) if _items(values) is not None else [values]
    return max((abs(one) for one in found or () if isinstance(one, int)), default=0)


class _Formatter(SandboxedFormatter):
    def format_field(self, value: Any, format_spec: str) -> Any:
        _check_widths(format_spec)
        _check_time(format_spec)
        budget().require(budget().size(value))
        text = super().format_field(value, format_spec)
        budget().take(len(text))
        budget().step()
        return text

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is not None:
            budget().require(budget().size(value))
        return super().convert_field(value, conversion)


def _check_time(form: str) -> None:
    budget().require(256 * len(form))  # as much as the system's `strftime` is given room for


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


def _bound(name: str, operands: Sequence[Any]) -> int:
    """No less than the size of what a method or a filter makes of its operands, the first of which is what it works on."""
    left = budget()
    size = left.size(*operands)
    first, *rest = operands or ("",)
    if name in _SLOW and size > _MAX_MENDED:
        raise TemplateLimitError(f"it gives `{name}` more than {_MAX_MENDED:,} characters")
    if name in _SPLITS and isinstance(first, str | bytes):
        return _ITEM * size
    if name == "strftime":
        for form in rest:
            _check_widths(str(form))
            _check_time(str(form))
    if name == "format":
        _check_format(left.text(first), tuple(rest))
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


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter within the limits. What it would make item by item later is made at once."""
    skipped = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        left = budget()
        left.step()
        left.require(_bound(name, (*args[skipped:], *kwargs.values())))
        value = function(*args, **kwargs)
        if isinstance(value, Iterator) and type(value).__module__.partition(".")[0] != "jinja2":
            value = [one for one in value if left.step()]
        left.take(left.size(value))
        return value

    return filtered


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def tested(*args: Any, **kwargs: Any) -> Any:
        budget().step()
        return function(*args, **kwargs)

    return tested


@pass_eval_context
def _joined(
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
def _sum(
    context: Context, iterable: Iterable[Any], attribute: str | int | None = None, start: Any = 0
) -> Any:
    """Jinja's `sum`, of which each addition is bounded."""
    environment = context.environment
    assert isinstance(environment, LimitedSandbox)
    if attribute is not None:
        iterable = map(make_attrgetter(environment, attribute), iterable)
    for one in iterable:
        start = environment.call_binop(context, "+", start, one)
    return start


def _json(value: Any, **options: Any) -> str:
    """A value as JSON, piece by piece: what stands in others is indented once more in each."""
    from json import JSONEncoder

    indent = options.get("indent")
    if indent is not None:
        budget().require((indent if isinstance(indent, int) else len(indent)) * sys.getrecursionlimit())
    known: Mapping[str, Any] = {name: given for name, given in options.items() if name != "default"}
    return _concat(JSONEncoder(**known).iterencode(value))
