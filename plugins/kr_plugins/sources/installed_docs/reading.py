"""Python source read without importing it: what each module defines, with verbatim text and lines.

The standard library's `ast` is used rather than a documentation loader, because a citation needs the source's
own words and the line of each argument, and loaders render expressions anew and forget where arguments stand.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from kr_plugins.sources.installed_docs import docstrings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DefinitionKind = Literal["function", "class", "property", "attribute", "constant"]
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONSTANT_LIMIT = 600
_NOT_A_FIELD = re.compile(r"[\"']?(?:[\w.]+\.)?(?:ClassVar\b|KW_ONLY\b)")
_ESCAPE = re.compile(r"\\([\\'\"])")
_MAX_BYTES = 5_000_000
"""A larger file is generated data, not something that documents itself (it is skipped, and noted)."""


@dataclass(slots=True)
class Parameter:
    """One argument of a signature or one field of a class."""

    name: str
    source: str
    """Verbatim: `timeout: float = 5`."""
    line: int
    annotation: str | None = None
    default: str | None = None
    required: bool = False
    star: str = ""
    """`*` or `**` where it takes any number of arguments."""
    doc: docstrings.Docstring | None = None
    doc_line: int = 0
    tail: tuple[int, str] | None = None
    """Line and text of a default that stands far from the name."""


@dataclass(slots=True)
class Definition:
    """A function, class, property, attribute or constant."""

    kind: DefinitionKind
    module: str
    qualname: str
    path: str
    """Relative to the folder that holds the package: `httpx/_api.py`."""
    line: int
    signature: str
    """Verbatim, dedented: the `def` or `class` line to its colon, or the whole assignment."""
    doc: docstrings.Docstring | None = None
    doc_line: int = 0
    """The file's line of the first line of the cleaned docstring."""
    parameters: list[Parameter] = field(default_factory=list)
    returns: str | None = None
    bases: tuple[str, ...] = ()
    constructor: tuple[int, str] | None = None
    """Line and signature of a class's `__init__`, where it has one."""
    deprecated: bool = False
    forwards: str | None = None
    """The callable to which a function passes its `**kwargs` on."""
    fields: bool = False
    """A class whose annotated attributes are what its constructor takes."""
    value: str | None = None
    """What is assigned to an attribute or constant, verbatim."""

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.qualname.rpartition(".")[2]


@dataclass(slots=True)
class Module:
    """What one file defines and imports."""

    name: str
    path: str
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    """Local name to (module, name in it or None for the module itself)."""
    stars: list[str] = field(default_factory=list)
    exported: frozenset[str] | None = None
    """`__all__`, where it is a plain list."""
    doc: docstrings.Docstring | None = None
    doc_line: int = 0


class Unreadable(Exception):  # noqa: N818  it names the state of the file
    """A file that cannot be read as Python; the text says why."""


def read_module(file: Path, name: str, path: str) -> Module:
    """Read one file.

    Raises:
        Unreadable: it is too large, not text, or does not parse.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise Unreadable(f"{path}: {file.stat().st_size // 1_000_000} MB in one file, not read")
        raw = file.read_bytes()
        text = _decode(raw).replace("\r\n", "\n").replace("\r", "\n")  # as Python itself counts lines
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings are not our news
            tree = ast.parse(text)
        reader = _Reader(Module(name, path), text, is_package=file.stem == "__init__")
        reader.read(tree)
    except (OSError, SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise Unreadable(f"{path}: does not parse ({type(error).__name__})") from error
    return reader.module


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding)


class _Reader:
    def __init__(self, module: Module, text: str, *, is_package: bool) -> None:
        self.module = module
        self.lines = text.split("\n")
        self.package = module.name if is_package else module.name.rpartition(".")[0]
        self.overloads: set[str] = set()

    def read(self, tree: ast.Module) -> None:
        self.module.doc, self.module.doc_line = self.docstring(tree)
        self.statements(tree.body, "")

    # -- structure --

    def statements(self, body: list[ast.stmt], prefix: str) -> None:
        for position, statement in enumerate(body):
            if isinstance(statement, _FUNCTION):
                self.add(self.function(statement, prefix), overload=_is_overload(statement))
            elif isinstance(statement, ast.ClassDef):
                self.class_(statement, prefix)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                self.assignment(statement, prefix, body[position + 1] if position + 1 < len(body) else None)
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                if not prefix:
                    self.import_(statement)
            elif isinstance(statement, ast.AugAssign) or _extends_all(statement):
                if not prefix:
                    self.exports_more(statement)
            else:
                for block in _blocks(statement):
                    self.statements(block, prefix)

    def add(self, definition: Definition, *, overload: bool = False) -> None:
        """Keep the first definition of a name, a documented one or an implementation before others.

        Overloads count only where there is nothing else, as in a stub.
        """
        known = self.module.definitions.get(definition.qualname)
        replaces = (
            known is None or definition.qualname in self.overloads or (known.doc is None and definition.doc)
        )
        if replaces and not (overload and known is not None):
            self.module.definitions[definition.qualname] = definition
            if overload:
                self.overloads.add(definition.qualname)
            else:
                self.overloads.discard(definition.qualname)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> Definition:
        doc, doc_line = self.docstring(node)
        decorators = {_dotted(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        is_property = bool(prefix) and bool(
            decorators & {"property", "cached_property", "hybrid_property", "setter"}
        )
        return Definition(
            "property" if is_property else "function",
            self.module.name,
            prefix + node.name,
            self.module.path,
            node.lineno,
            self.header(node),
            doc,
            doc_line,
            self.parameters(node.args, method=bool(prefix) and "staticmethod" not in decorators),
            self.segment(node.returns) if node.returns else None,
            deprecated="deprecated" in decorators or _says_deprecated(doc),
            forwards=_forwards(node),
        )

    def class_(self, node: ast.ClassDef, prefix: str) -> None:
        doc, doc_line = self.docstring(node)
        bases = tuple(_dotted(base) for base in node.bases if _dotted(base))
        decorators = {_dotted(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        definition = Definition(
            "class",
            self.module.name,
            prefix + node.name,
            self.module.path,
            node.lineno,
            self.header(node),
            doc,
            doc_line,
            bases=bases,
            deprecated="deprecated" in decorators or _says_deprecated(doc),
            fields=bool(decorators & {"dataclass", "define", "frozen", "mutable", "attrs", "s"})
            or any(base.rpartition(".")[2] in {"NamedTuple", "TypedDict", "BaseModel"} for base in bases),
        )
        self.add(definition)
        here = f"{prefix}{node.name}."
        self.statements(node.body, here)
        initialiser = self.module.definitions.get(f"{here}__init__") or self.module.definitions.get(
            f"{here}__new__"
        )
        if initialiser is not None:
            definition.parameters = initialiser.parameters
            definition.constructor = (initialiser.line, initialiser.signature)
            if definition.doc is None and initialiser.doc is not None:
                definition.doc, definition.doc_line = initialiser.doc, initialiser.doc_line
        elif definition.fields:
            definition.parameters = [
                Parameter(
                    attribute.name, attribute.signature, attribute.line, attribute.returns,
                    default=attribute.value, required=attribute.value is None,
                    doc=attribute.doc, doc_line=attribute.doc_line,
                )
                for attribute in self.module.definitions.values()
                if attribute.kind == "attribute" and attribute.qualname == here + attribute.name
                and attribute.returns and not _NOT_A_FIELD.match(attribute.returns)
            ]  # fmt: skip

    def assignment(self, node: ast.Assign | ast.AnnAssign, prefix: str, following: ast.stmt | None) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if not names:
            return
        if names == ["__all__"] and not prefix:
            self.module.exported = _string_list(node.value)
            return
        doc, doc_line = None, 0
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            doc, doc_line = self.parsed(following.value)
        if doc is None:
            doc, doc_line = self.comment_beside(node) or self.comment_above(node.lineno)
        source = self.segment(node)
        if len(source) > _CONSTANT_LIMIT:
            if doc is None:
                return
            source = source[:_CONSTANT_LIMIT].rpartition("\n")[0] or source.split("\n")[0]
        annotation = self.segment(node.annotation) if isinstance(node, ast.AnnAssign) else None
        value = self.segment(node.value)[:_CONSTANT_LIMIT] if node.value is not None else None
        kind: DefinitionKind = "attribute" if prefix else "constant"
        for name in names:
            self.add(
                Definition(
                    kind, self.module.name, prefix + name, self.module.path, node.lineno, source, doc, doc_line,
                    returns=annotation, value=value,
                )
            )  # fmt: skip

    def exports_more(self, statement: ast.stmt) -> None:
        """`__all__ += [...]`, and `extend`, `append`; what is not a plain list leaves it unknown."""
        if isinstance(statement, ast.AugAssign):
            if not (isinstance(statement.target, ast.Name) and statement.target.id == "__all__"):
                return
            more = _string_list(statement.value)
        else:
            assert isinstance(statement, ast.Expr)
            assert isinstance(statement.value, ast.Call)
            given = statement.value.args
            appended = _dotted(statement.value.func) == "__all__.append"
            more = _string_list(ast.List(given) if appended else given[0]) if given else frozenset()
        known = self.module.exported
        self.module.exported = None if known is None or more is None else known | more

    def import_(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.module.imports[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0],
                    None,
                )
            return
        source = node.module or ""
        if node.level:
            parts = self.package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1])
            source = f"{base}.{source}".rstrip(".") if base else source
        for alias in node.names:
            if alias.name == "*":
                self.module.stars.append(source)
            else:
                self.module.imports[alias.asname or alias.name] = (source, alias.name)

    # -- verbatim text --

    def segment(self, node: ast.expr | ast.stmt | ast.arg) -> str:
        """The source of a node, dedented to its first column."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        start = self.column(first, node.col_offset)
        end = self.column(last, node.end_col_offset or 0)
        if first == last:
            return self.lines[first][start:end]
        middle = [_dedent(line, start) for line in self.lines[first + 1 : last]]
        return "\n".join([self.lines[first][start:], *middle, _dedent(self.lines[last][:end], start)])

    def column(self, line: int, offset: int) -> int:
        """`ast` counts bytes; strings count characters."""
        text = self.lines[line]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))

    def header(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        first = node.lineno - 1
        stop = max(first + 1, node.body[0].lineno - 1)
        indent = node.col_offset
        last = max((part.end_lineno or 0 for part in _head(node)), default=0) - 1
        taken = []
        for number in range(first, min(stop, first + 60)):
            line = self.lines[number]
            taken.append(_dedent(line, indent).rstrip())
            bare = line.split("#")[0].rstrip()
            if (
                number >= last
                and bare.endswith(":")
                and (number > first or isinstance(node, ast.ClassDef) or ")" in bare)
            ):
                break
        return "\n".join(taken)

    def docstring(
        self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> tuple[docstrings.Docstring | None, int]:
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            return self.parsed(node.body[0].value)
        return None, 0

    def parsed(self, constant: ast.Constant) -> tuple[docstrings.Docstring | None, int]:
        if not isinstance(constant.value, str) or not constant.value.strip():
            return None, 0
        value = constant.value
        first, last = constant.lineno - 1, (constant.end_lineno or constant.lineno) - 1
        taken = self.lines[first : last + 1]
        taken[-1] = taken[-1][: self.column(last, constant.end_col_offset or 0)]
        taken[0] = taken[0][self.column(first, constant.col_offset) :]
        source = "\n".join(taken)
        # An escaped or joined line break would move all lines that follow it.
        if source.count("\n") != value.count("\n") or "\\" in source:
            value = _line_by_line(source)
        lines, cut = docstrings.clean(value)
        return docstrings.parse(lines), constant.lineno + cut

    def comment_beside(self, node: ast.stmt) -> tuple[docstrings.Docstring, int] | None:
        """`timeout = 5  #: Seconds to wait.`, Sphinx's form on the same line."""
        number = node.end_lineno or node.lineno
        line = self.lines[number - 1]
        rest = line[self.column(number - 1, node.end_col_offset or 0) :].strip()
        return (
            (docstrings.parse([rest[2:].strip()]), number)
            if rest.startswith("#:") and rest[2:].strip()
            else None
        )

    def comment_above(self, line: int) -> tuple[docstrings.Docstring | None, int]:
        """Sphinx reads `#:` comments above an attribute as its documentation."""
        first = line - 1
        while first > 0 and self.lines[first - 1].lstrip().startswith("#:"):
            first -= 1
        if first == line - 1:
            return None, 0
        comment = [text.lstrip()[2:].strip() for text in self.lines[first : line - 1]]
        return docstrings.parse(comment), first + 1

    def parameters(self, arguments: ast.arguments, *, method: bool) -> list[Parameter]:
        found = []
        for number, (argument, default) in enumerate(_with_defaults(arguments)):
            if method and number == 0 and (arguments.posonlyargs or arguments.args):
                continue
            source = self.segment(argument)
            if default is not None:
                source = self.between(argument, default)
            annotation = argument.annotation
            doc, doc_line = self.annotated_doc(annotation)
            tail = None
            if (
                doc is not None
                and isinstance(annotation, ast.Subscript)
                and isinstance(annotation.slice, ast.Tuple)
            ):
                annotation = annotation.slice.elts[0]  # the type in `Annotated[type, ..., Doc("...")]`
                source = self.between(argument, annotation)
                if default is not None:
                    tail = (default.lineno, self.segment(default))
            found.append(
                Parameter(
                    argument.arg,
                    source,
                    argument.lineno,
                    self.segment(annotation) if annotation else None,
                    self.segment(default) if default is not None else None,
                    required=default is None and argument not in (arguments.vararg, arguments.kwarg),
                    star="*" if argument is arguments.vararg else "**" if argument is arguments.kwarg else "",
                    doc=doc,
                    doc_line=doc_line,
                    tail=tail,
                )
            )
        return found

    def annotated_doc(self, annotation: ast.expr | None) -> tuple[docstrings.Docstring | None, int]:
        """The text of `Annotated[type, Doc("...")]` (PEP 727's form, used by FastAPI and Typer)."""
        if not (isinstance(annotation, ast.Subscript) and _dotted(annotation.value).endswith("Annotated")):
            return None, 0
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
        for part in parts[1:]:
            if (
                isinstance(part, ast.Call)
                and _dotted(part.func).rpartition(".")[2] == "Doc"
                and part.args
                and isinstance(part.args[0], ast.Constant)
            ):
                return self.parsed(part.args[0])
        return None, 0

    def between(self, argument: ast.arg, default: ast.expr) -> str:
        first, last = argument.lineno - 1, (default.end_lineno or default.lineno) - 1
        start = self.column(first, argument.col_offset)
        end = self.column(last, default.end_col_offset or 0)
        if first == last:
            return self.lines[first][start:end]
        return " ".join(
            [
                self.lines[first][start:].strip(),
                *(line.strip() for line in self.lines[first + 1 : last]),
                self.lines[last][:end].strip(),
            ]
        )


def _forwards(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The dotted name of the callable in `return callable(..., **kwargs)`, where a function ends like that."""
    if node.args.kwarg is None or not node.body or not isinstance(node.body[-1], ast.Return):
        return None
    call = node.body[-1].value
    if isinstance(call, ast.Await):
        call = call.value
    if not isinstance(call, ast.Call):
        return None
    passed = any(
        keyword.arg is None
        and isinstance(keyword.value, ast.Name)
        and keyword.value.id == node.args.kwarg.arg
        for keyword in call.keywords
    )
    return _dotted(call.func) or None if passed else None


def _says_deprecated(doc: docstrings.Docstring | None) -> bool:
    return doc is not None and any(
        "deprecated" in line.lower() and "version" not in line.lower() for line in doc.lines[:3]
    )


def _dedent(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


def _with_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    yield from zip(positional, [*missing, *arguments.defaults], strict=True)
    if arguments.vararg:
        yield arguments.vararg, None
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    if arguments.kwarg:
        yield arguments.kwarg, None


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of `if`, `try` and `with`, where definitions hide behind a version or a type check."""
    while isinstance(statement, ast.If):  # a generated chain of `elif` is deeper than Python's stack
        yield statement.body
        if len(statement.orelse) != 1 or not isinstance(statement.orelse[0], ast.If):
            yield statement.orelse
            return
        statement = statement.orelse[0]
    if isinstance(statement, (ast.Try, ast.TryStar, ast.With)):
        yield statement.body
        yield from (handler.body for handler in getattr(statement, "handlers", ()))
        yield getattr(statement, "orelse", [])
        yield getattr(statement, "finalbody", [])


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.expr | ast.arg]:
    """What stands in the head of a definition: arguments, defaults and the return type, or bases."""
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
        return
    for argument, default in _with_defaults(node.args):
        yield argument
        if default is not None:
            yield default
    if node.returns is not None:
        yield node.returns


def _extends_all(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _dotted(statement.value.func) in {"__all__.extend", "__all__.append"}
    )


def _line_by_line(source: str) -> str:
    """A string literal's text with the line breaks of its source, and with no others.

    Escaped backslashes and quotes are read; other escapes stay as they are written, so that they are found there.
    """
    lines = [""] * (source.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(f"(\n{source}\n)").readline):
        if token.type != tokenize.STRING:
            continue
        prefix, body = _literal(token.string)
        for number, line in enumerate(body.split("\n"), start=token.start[0] - 2):
            continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
            shown = line[:-1] if continued and "r" not in prefix else line
            lines[number] += shown if "r" in prefix else _ESCAPE.sub(r"\1", shown)
    return "\n".join(lines)


def _literal(source: str) -> tuple[str, str]:
    """The prefix and the body of a string literal."""
    start = min(source.find(mark) for mark in "'\"" if mark in source)
    mark = source[start] * (
        3 if source[start : start + 3] == source[start] * 3 and len(source) > start + 5 else 1
    )
    return source[:start].lower(), source[start + len(mark) : -len(mark)]


def _is_overload(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(_dotted(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    if isinstance(node, (ast.Call, ast.Subscript)):
        return _dotted(node.func if isinstance(node, ast.Call) else node.value)
    return ""


def _string_list(node: ast.expr | None) -> frozenset[str] | None:
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    return frozenset(
        item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)
    )
