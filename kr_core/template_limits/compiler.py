"""Compiles templates to code that counts what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator

from kr_core.template_limits.render_budget import TemplateLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jinja2.compiler import Frame

__all__ = ["CountingGenerator"]

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
