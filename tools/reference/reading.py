"""What stands in the source of a class: its attributes and methods, each with the text below it.

Read from the source and not from the running class: only there are the text below an attribute, the annotation as it
was written, and the order.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Attribute", "Class", "Method", "markdown", "read_class", "read_constants", "read_function"]

_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields|Example):\s*$")
_ITEM = re.compile(r"^    (?! )(?P<name>[\w.*, ]+?): (?P<text>.*)$")
_WIDTH = 100


class Attribute(NamedTuple):
    """A field of a class, or a constant of a module; `default` is empty where there is none."""

    name: str
    annotation: str
    default: str
    text: str


class Method(NamedTuple):
    """A method or a property."""

    name: str
    signature: str
    text: str


class Class(NamedTuple):
    """A class as its source has it, without what begins with an underscore."""

    text: str
    made_by: str
    """The call that makes one; empty for what makes none itself, or takes its fields as they are listed."""
    attributes: tuple[Attribute, ...]
    methods: tuple[Method, ...]


def read_class(cls: type) -> Class:
    """The documented parts of one class, with those of a `Base...` class that it shares with another one."""
    bases = [base for base in cls.__bases__ if base.__module__.startswith("kr_core.") and _is_base(base)]
    inherited = [read_class(base) for base in bases]
    source = textwrap.dedent(inspect.getsource(cls))
    found = ast.parse(source).body[0]
    assert isinstance(found, ast.ClassDef)
    makers = [
        node
        for node in found.body
        if isinstance(node, ast.FunctionDef) and node.name in {"__init__", "__new__"}
    ]
    head = _signature(makers[0], source).partition("(")[2].rpartition(")")[0] if makers else ""
    made_by = f"{cls.__name__}({head})" if makers else ""
    for base, known in zip(bases, inherited, strict=True):
        made_by = made_by or known.made_by.replace(base.__name__, cls.__name__, 1)
    return Class(
        text=ast.get_docstring(found) or "",
        made_by=made_by,
        attributes=tuple(_attributes(found.body)),
        methods=(*(method for known in inherited for method in known.methods), *_methods(cls, found, source)),
    )


def _is_base(cls: type) -> bool:
    return cls.__name__.startswith("Base")


def _methods(cls: type, found: ast.ClassDef, source: str) -> Iterator[Method]:
    """The public methods and properties, also those made from another class's coroutines: `ask = _blocking(Other.ask)`."""
    for node in found.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_"):
                yield Method(node.name, _signature(node, source), ast.get_docstring(node) or "")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            made = vars(cls).get(name)
            if inspect.isfunction(made) and hasattr(made, "__wrapped__"):
                signature = read_function(made, name).removeprefix("async ")
                yield Method(name, signature, inspect.getdoc(made) or "")


def read_function(function: Callable[..., object], name: str) -> str:
    """A function's signature, under the name that it is public by."""
    source = textwrap.dedent(inspect.getsource(function))
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return _signature(node, source).replace(f"def {node.name}(", f"def {name}(", 1)


def read_constants(module: object) -> dict[str, Attribute]:
    """The constants of a module, by name."""
    tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]  # a module
    return {attribute.name: attribute for attribute in _attributes(tree.body)}


def _attributes(body: list[ast.stmt]) -> list[Attribute]:
    found = []
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, annotation, value = node.target.id, ast.unparse(node.annotation), node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, annotation, value = node.targets[0].id, "", node.value
        else:
            continue
        if name.startswith("_") or name == "model_config":
            continue
        said = below.value if isinstance(below, ast.Expr) else None
        text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
        default = "" if value is None else ast.unparse(value)
        found.append(Attribute(name, annotation, default, inspect.cleandoc(text)))
    return found


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, source: str) -> str:
    """A function's or property's head without `self`, one argument a line where it is long."""
    lines = source.splitlines()[node.lineno - 1 : max(node.lineno, node.body[0].lineno - 1)]
    head = " ".join(" ".join(line.partition("  # ")[0] for line in lines).split()).rstrip(" :")
    head = re.sub(r",? \)", ")", head.replace("( ", "("))
    if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
        return head.replace("def ", "").replace("(self) ->", ":")
    head = re.sub(r"\((self|cls)(, )?", "(", head, count=1)
    if len(head) <= _WIDTH:
        return head
    start, end = head.index("(") + 1, head.rindex(") ->")
    return f"{head[:start]}\n    {_one_a_line(head[start:end])},\n{head[end:]}"


def _one_a_line(arguments: str) -> str:
    depth, text = 0, ""
    for character in arguments:
        depth += (character in "[(") - (character in ")]")
        text += ",\n   " if character == "," and not depth else character
    return text


def markdown(docstring: str) -> str:
    """A Google-style docstring as Markdown: its sections become lists, its indented blocks code."""
    parts = re.split(r"\n{2,}", docstring.strip("\n"))
    return "\n\n".join(_paragraph(part) for part in parts if part.strip())


def _paragraph(part: str) -> str:
    first, *rest = part.split("\n")
    if _SECTION.match(first):
        return "\n".join([f"**{first.strip()}**", "", *_items(rest)])
    if first.startswith("    "):
        return f"```{_language(part)}\n{textwrap.dedent(part)}\n```"
    return part


def _language(part: str) -> str:
    try:
        ast.parse(textwrap.dedent(part))
    except SyntaxError:
        return "text"
    return "pyi"


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            items.append(f"- `{item['name']}`: {item['text']}")
        elif line.startswith("     ") and items:
            items[-1] += f" {line.strip()}"
        else:
            items.append(f"- {line.strip()}")
    return items
