"""Documentation that gives definitions of its own: calls of `add_newdoc`, as numpy has them, and the attributes that a class lists.

    add_newdoc('numpy._core.multiarray', 'ndarray', ('flatten', \"\"\"a.flatten(order='C') ...\"\"\"))

The object's module, its name, and its documentation, or a pair of a member and its documentation. `_array_method_doc`
does the same for the methods of `ndarray`.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.python import docstrings
from kr_plugins.sources.installed_docs.python.builtins import parameters_in
from kr_plugins.sources.installed_docs.python.definitions import LONGEST_NAME, Definition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_plugins.sources.installed_docs.python.definitions import DefinitionKind

_MOST = 2_000
"""Calls of one file that are read."""
_SIGNATURE = re.compile(r"(?:\w{1,40}\.)?(\w{1,80})(\([^\n]{0,400}\))(?: *-> *[^\n]{1,80})?")
_MOST_LINES = 40


class _Added(NamedTuple):
    module: str
    qualname: str
    doc: str
    line: int


def added_docs(tree: ast.Module, path: str) -> Iterator[Definition]:
    """What a file documents of other modules; nothing is run.

    Args:
        tree: the file's syntax tree.
        path: as it is cited.
    """
    calls = [one.value for one in tree.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    found = [added for call in calls[:_MOST] if (added := _added(call)) is not None]
    owners = {one.qualname.rpartition(".")[0] for one in found}
    for one in found:
        lines, cut = docstrings.clean(one.doc)
        if not any(line.strip() for line in lines):
            continue
        name = one.qualname.rpartition(".")[2]
        heads, rest = _heads(lines, name)
        begin = one.line + cut
        signature = _SIGNATURE.fullmatch(lines[heads[0]]) if heads else None
        line = begin + heads[0] if heads else one.line
        parameters = list(parameters_in(signature[2])) if signature else []
        for parameter in parameters:
            parameter.line = line
        kind: DefinitionKind = "function" if signature else "attribute"
        yield Definition(
            "class" if one.qualname in owners or (not signature and "." not in one.qualname) else kind,
            one.module, one.qualname, path, line, f"{name}{signature[2]}" if signature else name,
            docstrings.parse(lines[rest:]), begin + rest, parameters,
        )  # fmt: skip


def _added(call: ast.Call) -> _Added | None:
    function = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    given = call.args
    if function == "_array_method_doc" and len(given) == 3:
        module, name, doc = "numpy._core.multiarray", f"ndarray.{_text(given[0])}", given[2]
    elif function == "add_newdoc" and len(given) >= 3:
        module, name, doc = _text(given[0]), _text(given[1]), given[2]
        if isinstance(doc, ast.Tuple) and len(doc.elts) == 2:
            name, doc = f"{name}.{_text(doc.elts[0])}", doc.elts[1]
    else:
        return None
    is_whole = bool(module and name and not name.endswith("."))
    return _Added(module, name, _text(doc), doc.lineno) if is_whole else None


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _heads(lines: list[str], name: str) -> tuple[list[int], int]:
    """Where the documentation begins with signatures, and where it goes on after them."""
    heads = []
    at = 0
    while at < len(lines):
        found = _SIGNATURE.fullmatch(lines[at])
        if found and found[1] == name:
            heads.append(at)
        elif lines[at].strip() not in {"", "--"}:
            break
        at += 1
    return heads, at if at < len(lines) else 0


def documented_attributes(definition: Definition) -> Iterator[Definition]:
    """The attributes that a class documents and that its constructor does not take."""
    doc = definition.doc
    taken = {parameter.name for parameter in definition.parameters}
    for entry in doc.parameters if doc is not None else ():
        qualname = f"{definition.qualname}.{entry.name}"
        if not entry.is_attribute or entry.name in taken or len(qualname) > LONGEST_NAME:
            continue
        assert doc is not None
        first, *rest = doc.lines[entry.line : min(entry.end, entry.line + _MOST_LINES)]
        name, _colon, said = first.strip().partition(":")
        said = said.strip()
        is_type = said == entry.type_text  # NumPy's form; in Google's the description begins behind the colon
        lines, cut = docstrings.clean("\n".join(["" if is_type else said, *rest]))
        if lines:
            yield Definition(
                "attribute",
                definition.module,
                qualname,
                definition.path,
                definition.doc_line + entry.line,
                first.strip() if is_type else name.strip(),
                docstrings.parse(lines),
                definition.doc_line + entry.line + cut,
                returns=entry.type_text or None,
            )
