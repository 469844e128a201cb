"""What a default means that only marks that nothing was given, as `None` does: the value that the body of the function puts in its place, where that is certain."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import marks_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_plugins.sources.installed_docs.python.source_text import SourceText

_STATEMENTS_LOOKED_AT = 40
_LONG_VALUE = 100


class NoneDefault(NamedTuple):
    """The statement that replaces `None`, where it stands, and the value in it; both verbatim."""

    line: int
    statement: str
    value: str


def meant(
    node: ast.FunctionDef | ast.AsyncFunctionDef, names: Sequence[str], text: SourceText
) -> dict[str, NoneDefault]:
    """What the default means for each of the parameters, as far as the first statements of the body say it unconditionally.

    A value that depends on what the body has computed before is not told: nobody could read it alone.

    Args:
        node: the function.
        names: the parameters whose default is `None` or another mark that nothing was given.
        text: the source.
    """
    found: dict[str, NoneDefault] = {}
    bound: set[str] = set()
    for statement in node.body[:_STATEMENTS_LOOKED_AT] if names else ():
        for name, assignment, value in _replaced(statement):
            source = text.segment(value)
            is_known = name in names and name not in bound and name not in found
            if (
                is_known
                and len(source) <= _LONG_VALUE
                and "\n" not in source
                and _is_plain(value, name, bound)
            ):
                found[name] = NoneDefault(assignment.lineno, text.segment(assignment), source)
        bound |= _bound_in(statement)
    return found


def _replaced(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt, ast.expr]]:
    """The parameters for which a statement replaces such a default, with the assignment and the value."""
    if isinstance(statement, ast.If):
        name = _checked(statement.test)
        assigned = [one for one in statement.body if isinstance(one, _ASSIGNMENTS) and _stores(one, name)]
        known = set(map(id, assigned))
        others = [one for one in statement.body if id(one) not in known]
        before = set[str]().union(*map(_bound_in, others))
        value = assigned[0].value if len(assigned) == 1 else None
        if name and value is not None and name not in before and not before & _names_in(value):
            yield name, assigned[0], value
    elif isinstance(statement, _ASSIGNMENTS) and statement.value is not None:
        name, value = _alternative(statement.value)
        if name and value is not None and _stores(statement, name):
            yield name, statement, value


_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


def _checked(test: ast.expr) -> str:
    """The name in `name is None` or `name is UNSET or name is None`; empty for any other test."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        names = {_checked(one) for one in test.values}
        return names.pop() if len(names) == 1 else ""
    if not (isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1):
        return ""
    is_none = isinstance(test.ops[0], ast.Is) and _is_none(test.comparators[0])
    return test.left.id if is_none else ""


def _alternative(value: ast.expr) -> tuple[str, ast.expr | None]:
    """The name and the other value of `name or value`, `value if name is None else name` and its reverse."""
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) and len(value.values) == 2:
        first, other = value.values
        return (first.id, other) if isinstance(first, ast.Name) else ("", None)
    if isinstance(value, ast.IfExp) and isinstance(value.test, ast.Compare) and len(value.test.ops) == 1:
        left, kept, other = value.test.left, value.orelse, value.body
        if isinstance(value.test.ops[0], ast.IsNot):
            kept, other = other, kept
        is_check = isinstance(value.test.ops[0], ast.Is | ast.IsNot) and _is_none(value.test.comparators[0])
        if is_check and isinstance(left, ast.Name) and isinstance(kept, ast.Name) and kept.id == left.id:
            return left.id, other
    return "", None


def _stores(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    """Whether an assignment keeps a parameter under its own name: `name = ...`, `self._name = ...`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) != 1:
        return False
    target = targets[0]
    return name in _targets(statement) or (
        isinstance(target, ast.Attribute) and target.attr.lstrip("_") == name
    )


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        return {one.id for one in statement.targets if isinstance(one, ast.Name)}
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    return set()


def _bound_in(statement: ast.stmt) -> set[str]:
    """All names that a statement binds, wherever in it."""
    return {
        one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _names_in(value: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}


def _is_plain(value: ast.expr, name: str, bound: set[str]) -> bool:
    """Whether a value can be read alone: no `None`, not the parameter itself, nothing that was computed before."""
    names = _names_in(value)
    if any("deprecated" in one for one in names):  # what an old name of the parameter was given
        return False
    return not _is_none(value) and name not in names and not names & bound


def _is_none(value: ast.expr) -> bool:
    """Whether a value says that nothing was given: `None`, or a constant that is there to say so."""
    if isinstance(value, ast.Constant):
        return value.value is None
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return bool(name) and marks_nothing(name)
