"""Python source read without importing it: what each module defines, with verbatim text and lines.

The standard library's `ast` is used rather than a documentation loader, because a citation needs the source's
own words and the line of each argument, and loaders render expressions again and forget where arguments are.
"""

from __future__ import annotations

import ast
import errno
import io
import re
import tokenize
import warnings
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.toolkit import marks_nothing, read_bytes
from kr_plugins.sources.installed_docs.python import deprecation, none_defaults
from kr_plugins.sources.installed_docs.python.added_docs import added_docs, documented_attributes
from kr_plugins.sources.installed_docs.python.code_settings import settings_of
from kr_plugins.sources.installed_docs.python.cython import as_python
from kr_plugins.sources.installed_docs.python.definitions import LONGEST_NAME, Definition, Module, Parameter
from kr_plugins.sources.installed_docs.python.error_messages import messages_of
from kr_plugins.sources.installed_docs.python.keywords import made_by, passed_on
from kr_plugins.sources.installed_docs.python.newer_syntax import as_older
from kr_plugins.sources.installed_docs.python.source_text import (
    SourceText,
    is_large_to_parse,
    is_slow_to_parse,
    with_defaults,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_plugins.sources.installed_docs.python import docstrings
    from kr_plugins.sources.installed_docs.python.definitions import DefinitionKind

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_CONSTANT_LIMIT = 600
_NOT_A_FIELD = re.compile(r"[\"']?(?:[\w.]+\.)?(?:ClassVar\b|KW_ONLY\b)")
_TRANSPARENT = frozenset(
    """abstractmethod array_function_dispatch asynccontextmanager cache cached_property classmethod contextmanager deprecated doc final
    lru_cache overload override property set_module staticmethod Appender Substitution""".split()
)
"""Decorators that leave the parameters of a function as they are."""
_DESCRIPTIONS = frozenset({"desc", "description", "help"})
_SETTING = re.compile(r"[a-z][a-z0-9_]{2,60}")
_SHORTEST_DESCRIPTION = 20
_OF_ANY_CLASS = 3
"""What each metaclass takes: name, bases and body of a class."""
_LITTLE = 8
"""Lines of a docstring beside which the code of a short function is shown."""
_LONGEST_BODY, _LONGEST_BODY_BESIDE = 20, 10
"""Lines of such code without a docstring, and beside one."""
_WIDTH = 60
"""Characters of a line of such code, on average."""
_CYTHON = (".pyx", ".pxi")
_STUBS = (".pyi", *_CYTHON)
_INCLUDED = re.compile(r"^include [\"'](\w+\.pxi)[\"']", re.MULTILINE)
_MAX_INCLUDED = 60
_MOST_INCLUDING = 8
"""Modules that include one file; KR reads it for no more of them."""
MAX_BYTES = 2_000_000
"""A larger file is generated data without documentation; KR skips and notes it. A syntax tree may take a thousand times as
many bytes.
"""
_MAX_DEFINITIONS = 10_000
"""Of one file; those that follow are left out."""
_MAX_TARGETS = 100
"""Names that one statement assigns to, all with one documentation."""
_MAX_PARAMETERS = 1000
"""Of one callable; the longest signatures that people write have two hundred."""


class Unreadable(Exception):  # noqa: N818  it names the state of the file
    """A file that cannot be read as Python; the text says why."""


def read_module(
    file: Path,
    name: str,
    path: str,
    within: Sequence[Path] | None = None,
    including: Counter[Path] | None = None,
) -> Module:
    """Read one file.

    Args:
        file: the file.
        name: of the module, dotted.
        path: of the file, as it is cited.
        within: the folders in one of which it must really lie; anywhere if not given.
        including: how many modules include each file (of Cython); KR adds to it.

    Raises:
        Unreadable: it is too large, not text, does not parse, or lies elsewhere.
    """
    try:
        raw = read_bytes(file, limit=MAX_BYTES, within=within)
    except OSError as error:
        large = error.errno == errno.EFBIG
        said = f"{file.stat().st_size // 1_000_000} MB in one file" if large else error.strerror
        raise Unreadable(f"{path}: {said}, not read") from error
    try:
        text = _decode(raw).replace("\r\n", "\n").replace("\r", "\n")  # as Python itself counts lines
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings are not our news
            source = as_python(text) if file.suffix in _CYTHON else text
            if is_slow_to_parse(source):
                raise Unreadable(f"{path}: too many fields in one f-string, not read")
            if is_large_to_parse(source):
                raise Unreadable(f"{path}: too many statements and values in one file, not read")
            tree = _parsed(source)
        reader = _ModuleReader(Module(name, path), text, is_package=file.stem == "__init__")
        reader.read(tree)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise Unreadable(f"{path}: does not parse ({type(error).__name__})") from error
    if file.suffix == ".pyx":
        counted = Counter[Path]() if including is None else including
        for included in list(dict.fromkeys(_INCLUDED.findall(text)))[:_MAX_INCLUDED]:
            beside = file.with_name(included)
            counted[beside] += 1
            if counted[beside] > _MOST_INCLUDING:
                continue
            with suppress(Unreadable):
                more = read_module(beside, name, Path(path).with_name(included).as_posix(), within)
                reader.module.definitions = {**more.definitions, **reader.module.definitions}
    return reader.module


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:
        older = as_older(source)
        if older == source or is_slow_to_parse(older) or is_large_to_parse(older):
            raise
    return ast.parse(older)


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return raw.decode(encoding)


class _ModuleReader:
    def __init__(self, module: Module, text: str, *, is_package: bool) -> None:
        self.module = module
        self.text = SourceText(text)
        self.package = module.name if is_package else module.name.rpartition(".")[0]
        self.overloads: set[str] = set()
        self.overloaded: defaultdict[str, dict[str, Parameter]] = defaultdict(dict)
        """The parameters of the overloads of each name."""
        self.fullest: dict[str, Definition] = {}
        """Of the overloads of each name the one that tells most defaults."""
        self.members: defaultdict[str, list[str]] = defaultdict(list)
        """The definitions below each prefix, such as `Class.`."""

    def read(self, tree: ast.Module) -> None:
        self.module.doc, self.module.doc_line = self.docstring(tree)
        self.statements(tree.body, "")
        self.module.messages = messages_of(tree, self.text.lines)
        self.module.settings = settings_of(tree, self.text)
        self.module.added = list(added_docs(tree, self.module.path))

    # -- structure --

    def statements(self, body: list[ast.stmt], prefix: str) -> None:
        for position, statement in enumerate(body):
            if isinstance(statement, _FUNCTION):
                self.add(self.function(statement, prefix), overload=_is_overload(statement))
                if not prefix and statement.name == "__getattr__":
                    self.late_imports(statement)
            elif isinstance(statement, ast.ClassDef):
                self.class_(statement, prefix)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                self.assignment(statement, prefix, body, position)
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                if not prefix:
                    self.import_(statement)
            elif isinstance(statement, (ast.AugAssign, ast.For)) or _extends_all(statement):
                if not prefix:
                    self.exports_more(statement)
            else:
                for block in _blocks(statement):
                    self.statements(block, prefix)

    def add(self, definition: Definition, *, overload: bool = False) -> None:
        """Keep the first definition of a name, a documented one or an implementation before others.

        Overloads count only where there is nothing else, as in a stub.
        """
        if len(definition.qualname) > LONGEST_NAME:
            return
        self.overloads_of(definition, overload=overload)
        known = self.module.definitions.get(definition.qualname)
        if known is None and len(self.module.definitions) >= _MAX_DEFINITIONS:
            return
        if (
            overload
            and known is not None
            and definition.qualname in self.overloads
            and not definition.deprecated
        ):
            known.deprecated = None  # what is said of one way to call is not said of the function
        replaces = (
            known is None or definition.qualname in self.overloads or (known.doc is None and definition.doc)
        )
        if known is None:
            self.members[definition.qualname.removesuffix(definition.name)].append(definition.qualname)
        if replaces and not (overload and known is not None):
            self.module.definitions[definition.qualname] = definition
            if overload:
                self.overloads.add(definition.qualname)
            else:
                self.overloads.discard(definition.qualname)

    def overloads_of(self, definition: Definition, *, overload: bool) -> None:
        """Note what an overload takes, and give it to the implementation that takes anything."""
        met = self.overloaded[definition.qualname] if overload else self.overloaded.get(definition.qualname)
        if overload and met is not None:
            for parameter in definition.parameters:
                known = met.get(parameter.name)
                if known is None and len(met) >= _MAX_PARAMETERS:
                    break
                if known is None or known.default in {None, "..."}:
                    met[parameter.name] = parameter
            told = self.fullest.get(definition.qualname)
            if told is None or _defaults(definition) > _defaults(told):
                self.fullest[definition.qualname] = definition
            stub = self.module.definitions.get(definition.qualname)
            if stub is not None:
                needed = {parameter.name for parameter in definition.parameters if parameter.required}
                for parameter in stub.parameters:
                    parameter.required &= parameter.name in needed
            for one in (definition, stub):
                if one is not None:
                    one.overloads = frozenset(met)
        elif met:
            definition.overloads = frozenset(met)
            self.tell_overload(definition)
            if any(parameter.star == "**" for parameter in definition.parameters):
                names = {parameter.name for parameter in definition.parameters}
                definition.parameters += [
                    replace(parameter, required=False)
                    for name, parameter in met.items()
                    if name not in names and not parameter.star
                ][:_MAX_PARAMETERS]

    def tell_overload(self, definition: Definition) -> None:
        """Give an implementation that takes anything the signature of the overload that tells most defaults."""
        if definition.parameters and all(parameter.star for parameter in definition.parameters):
            told = self.fullest[definition.qualname]
            definition.constructor = (told.line, told.signature)
            own = {parameter.name for parameter in told.parameters}
            met = self.overloaded[definition.qualname]
            for name in [one for one in met if one not in own]:
                met[name] = replace(met[name], source="")  # its signature is not the one that is shown

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> Definition:
        doc, doc_line = self.docstring(node)
        decorators = {_dotted(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        parameters = self.parameters(node.args, method=bool(prefix) and "staticmethod" not in decorators)
        names = [parameter.name for parameter in parameters]
        self.deprecated_parameters(node, (doc, doc_line), parameters)
        meant = none_defaults.meant(
            node, [one.name for one in parameters if _may_be_left_out(one.default)], self.text
        )
        for parameter in parameters:
            parameter.meant = meant.get(parameter.name)
        is_property = bool(prefix) and bool(
            decorators & {"property", "cached_property", "hybrid_property", "setter"}
        )
        fixture = None if prefix else _fixture(node)
        return Definition(
            "property" if is_property or fixture else "function",
            self.module.name,
            prefix + node.name,
            self.module.path,
            node.lineno,
            self.text.header(node),
            doc,
            doc_line,
            [] if fixture else parameters,
            self.text.segment(node.returns) if node.returns else None,
            deprecated=deprecation.of_function(node, doc, names, self.text),
            forwards=_forwards(node),
            passes=passed_on(node),
            makes=made_by(node),
            body=self.told_by_code(node, doc),
            wrapped=not decorators <= _TRANSPARENT,
            called=fixture,
        )

    def told_by_code(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, doc: docstrings.Docstring | None
    ) -> tuple[int, list[str]]:
        """The code of a short function with little documentation or none; readers look there next."""
        longest = _LONGEST_BODY if doc is None else _LONGEST_BODY_BESIDE
        last = node.end_lineno or node.lineno
        is_told = doc is not None and len(doc.lines) - len(doc.of_parameters()) > _LITTLE
        if is_told or last - node.body[0].lineno > longest + _LITTLE or self.module.path.endswith(_STUBS):
            return 0, []
        line, lines = self.text.body(node)
        fits = len(lines) <= longest and sum(map(len, lines)) <= longest * _WIDTH
        return (line, lines) if fits else (0, [])

    def deprecated_parameters(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef,
        documented: tuple[docstrings.Docstring | None, int],
        parameters: list[Parameter],
    ) -> None:
        """Note which parameters are deprecated; an old name that a decorator takes becomes a parameter."""
        names = [parameter.name for parameter in parameters]
        doc, doc_line = documented
        said = dict(deprecation.of_directive(doc, doc_line, names)) if doc is not None else {}
        said.update(deprecation.of_parameters(node, names, self.text))
        for parameter in parameters:
            parameter.deprecated = said.pop(parameter.name, None) or parameter.deprecated
        parameters += [
            Parameter(name, "", node.lineno, deprecated=one) for name, one in said.items() if one.instead
        ]

    def class_(self, node: ast.ClassDef, prefix: str) -> None:
        here = f"{prefix}{node.name}."
        if len(here) > LONGEST_NAME:
            return
        doc, doc_line = self.docstring(node)
        bases = tuple(_dotted(base) for base in node.bases if _dotted(base))
        decorators = {_dotted(decorator).rpartition(".")[2] for decorator in node.decorator_list}
        definition = Definition(
            "class",
            self.module.name,
            prefix + node.name,
            self.module.path,
            node.lineno,
            self.text.header(node),
            doc,
            doc_line,
            bases=bases,
            fields=bool(decorators & {"dataclass", "define", "frozen", "mutable", "attrs", "s"})
            or any(base.rpartition(".")[2] in {"NamedTuple", "TypedDict", "BaseModel"} for base in bases),
        )
        self.add(definition)
        self.statements(node.body, here)
        self.instance_attributes(node, here)
        initialiser = self.module.definitions.get(f"{here}__init__") or self.module.definitions.get(
            f"{here}__new__"
        )
        if initialiser is not None:
            definition.parameters = initialiser.parameters
            definition.constructor = (initialiser.line, initialiser.signature)
            if definition.doc is None and initialiser.doc is not None:
                definition.doc, definition.doc_line = initialiser.doc, initialiser.doc_line
        elif definition.fields and self.module.definitions.get(definition.qualname) is definition:
            definition.parameters = [
                Parameter(
                    attribute.name, attribute.signature, attribute.line, attribute.returns,
                    default=attribute.value, required=attribute.value is None,
                    doc=attribute.doc, doc_line=attribute.doc_line, deprecated=attribute.deprecated,
                )
                for attribute in map(self.module.definitions.__getitem__, self.members[here])
                if attribute.kind == "attribute" and attribute.returns and not _NOT_A_FIELD.match(attribute.returns)
            ]  # fmt: skip
        definition.class_keywords = self.class_keywords(node, here)
        if definition.doc is None:
            definition.doc, definition.doc_line = self.description(node)
            if definition.doc is not None and not prefix:
                self.setting(node, definition)
        for attribute in documented_attributes(definition):
            if attribute.qualname not in self.module.definitions:
                self.add(attribute)
        names = [parameter.name for parameter in definition.parameters]
        definition.deprecated = deprecation.of_class(node, doc, names, self.text)

    def class_keywords(self, node: ast.ClassDef, here: str) -> list[Parameter]:
        """What `__init_subclass__` takes, or the metaclass behind the name, the bases and the body of a class."""
        own = self.module.definitions.get(f"{here}__init_subclass__")
        if own is not None:
            return [one for one in own.parameters if not one.star]
        names = [_dotted(one.value) for one in node.keywords if one.arg == "metaclass"]
        made = [
            self.module.definitions.get(f"{name}.{method}")
            for name in names
            for method in ("__new__", "__init__")
        ]
        taken = next((one.parameters for one in made if one is not None), [])
        return [one for one in taken[_OF_ANY_CLASS:] if not one.star]

    def instance_attributes(self, node: ast.ClassDef, prefix: str) -> None:
        """What a constructor documents of the attributes that it sets: `#: Seconds to wait.` above `self.wait = 5`."""
        for one in node.body:
            body = one.body if isinstance(one, _FUNCTION) and one.name == "__init__" else []
            for place, statement in enumerate(body):
                if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    continue
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = [target.attr for target in targets if isinstance(target, ast.Attribute)]
                doc, doc_line = self.said_of(statement, body, place)
                if doc is not None:
                    self.assigned(
                        statement, [f"{prefix}{name}" for name in names], "attribute", doc, doc_line
                    )

    def assignment(
        self, node: ast.Assign | ast.AnnAssign, prefix: str, body: Sequence[ast.stmt], place: int
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if not names:
            return
        if names == ["__all__"] and not prefix:
            self.module.exported = _string_list(node.value)
            return
        doc, doc_line = self.said_of(node, body, place)
        if doc is None and all(name.isupper() for name in names) and _begins_line(body, place):
            doc, doc_line = self.text.remark_above(node.lineno, node.col_offset)
        kind: DefinitionKind = "attribute" if prefix else "constant"
        self.assigned(node, [prefix + name for name in names], kind, doc, doc_line)

    def said_of(
        self, node: ast.Assign | ast.AnnAssign, body: Sequence[ast.stmt], place: int
    ) -> tuple[docstrings.Docstring | None, int]:
        """The documentation of what a statement of a body assigns: a string below it, or Sphinx's comment.

        A comment above a line is that of its first statement: there may be thousands of them.
        """
        for below in body[place + 1 : place + 2]:
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                doc, doc_line = self.text.parsed(below.value)
                if doc is not None:
                    return doc, doc_line
        beside = self.text.comment_beside(node)
        if beside is not None or not _begins_line(body, place):
            return beside or (None, 0)
        return self.text.comment_above(node.lineno)

    def assigned(
        self, node: ast.Assign | ast.AnnAssign, names: Sequence[str], kind: DefinitionKind,
        doc: docstrings.Docstring | None, doc_line: int,
    ) -> None:  # fmt: skip
        """Keep attributes or constants; a long value only where they are documented."""
        source = self.text.segment(node)
        if len(source) > _CONSTANT_LIMIT:
            if doc is None:
                return
            source = source[:_CONSTANT_LIMIT].rpartition("\n")[0] or source.split("\n")[0]
        annotation = self.text.segment(node.annotation) if isinstance(node, ast.AnnAssign) else None
        value = self.text.segment(node.value)[:_CONSTANT_LIMIT] if node.value is not None else None
        annotated = node.annotation if isinstance(node, ast.AnnAssign) else None
        is_member = kind == "attribute"
        deprecated = deprecation.annotated(annotated, node.value, self.text) if is_member else None
        for name in names[:_MAX_TARGETS]:
            self.add(
                Definition(
                    kind, self.module.name, name, self.module.path, node.lineno, source, doc, doc_line,
                    returns=annotation, value=value, deprecated=deprecated,
                )
            )  # fmt: skip

    def exports_more(self, statement: ast.stmt) -> None:
        """`__all__ += [...]`, and `extend`, `append`; anything but a plain list leaves it unknown. A loop hands out members."""
        if isinstance(statement, ast.For):
            self.hands_out(statement)
            return
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

    def hands_out(self, loop: ast.For) -> None:
        """The members of enums that a loop gives to the module: `for item in Color: setattr(module, item.name, item.value)`."""
        calls = [
            one for one in ast.walk(loop) if isinstance(one, ast.Call) and _dotted(one.func) == "setattr"
        ]
        names = [_dotted(one.args[1]).rpartition(".")[2] for one in calls if len(one.args) == 3]
        if names != ["name"]:
            return
        listed = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List)) else [loop.iter]
        for owner in [one.id for one in listed if isinstance(one, ast.Name)][:_MAX_TARGETS]:
            for member in self.members.get(f"{owner}.", ())[:_MAX_TARGETS]:
                one = self.module.definitions[member]
                if one.kind == "attribute":
                    self.add(replace(one, kind="constant", qualname=one.name))

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
                if alias.asname == alias.name:
                    self.module.reexported.add(alias.name)

    def late_imports(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What a module's `__getattr__` imports under its own name, on request."""
        asked = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
        known = dict(self.module.imports)
        for each in ast.walk(node):
            if isinstance(each, ast.ImportFrom):
                named = [ast.alias(one.name) for one in each.names if one.name in asked]
                self.import_(ast.ImportFrom(each.module, named, each.level))
        self.module.imports.update(known)

    # -- what a node says of itself --

    def docstring(
        self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> tuple[docstrings.Docstring | None, int]:
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            return self.text.parsed(node.body[0].value)
        return None, 0

    def setting(self, node: ast.ClassDef, definition: Definition) -> None:
        """Give a class that describes a setting the setting's name and default, as gunicorn's do: `name = "max_requests"`."""
        told: list[ast.Assign] = []
        for one in node.body:
            follows = bool(told) and one.lineno == (told[-1].end_lineno or 0) + 1
            if isinstance(one, ast.Assign) and (follows or _dotted(one.targets[0]) == "name"):
                told.append(one)
        given = {_dotted(one.targets[0]): one.value for one in told}
        name = given.get("name")
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and _SETTING.fullmatch(name.value):
            described = next(
                (n for n, one in enumerate(told) if _dotted(one.targets[0]) in _DESCRIPTIONS), None
            )
            definition.kind, definition.called = "constant", name.value
            definition.constructor = (told[0].lineno, "\n".join(map(self.text.segment, told[:described])))
            definition.value = self.text.segment(given["default"]) if "default" in given else None

    def description(self, node: ast.ClassDef) -> tuple[docstrings.Docstring | None, int]:
        """The text that a class without a docstring gives itself as an attribute: a command's `help`, a setting's `desc`."""
        for statement in node.body:
            if (
                isinstance(statement, ast.Assign)
                and _dotted(statement.targets[0]) in _DESCRIPTIONS
                and isinstance(statement.value, ast.Constant)
                and len(str(statement.value.value)) >= _SHORTEST_DESCRIPTION
            ):
                return self.text.parsed(statement.value)
        return None, 0

    def parameters(self, arguments: ast.arguments, *, method: bool) -> list[Parameter]:
        found = []
        for number, (argument, default) in enumerate(islice(with_defaults(arguments), _MAX_PARAMETERS)):
            if method and number == 0 and (arguments.posonlyargs or arguments.args):
                continue
            source = self.text.segment(argument)
            if default is not None:
                source = self.text.between(argument, default)
            annotation = argument.annotation
            doc, doc_line = self.annotated_doc(annotation)
            deprecated = deprecation.annotated(annotation, default, self.text)
            tail = None
            if (
                doc is not None
                and isinstance(annotation, ast.Subscript)
                and isinstance(annotation.slice, ast.Tuple)
            ):
                annotation = annotation.slice.elts[0]  # the type in `Annotated[type, ..., Doc("...")]`
                source = self.text.between(argument, annotation)
                if default is not None:
                    tail = (default.lineno, self.text.segment(default))
            found.append(
                Parameter(
                    argument.arg,
                    source,
                    argument.lineno,
                    self.text.segment(annotation) if annotation else None,
                    self.text.segment(default) if default is not None else None,
                    required=default is None and argument not in (arguments.vararg, arguments.kwarg),
                    star="*" if argument is arguments.vararg else "**" if argument is arguments.kwarg else "",
                    doc=doc,
                    doc_line=doc_line,
                    tail=tail,
                    deprecated=deprecated,
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
                return self.text.parsed(part.args[0])
        return None, 0


def _defaults(definition: Definition) -> int:
    """How many defaults a signature tells."""
    return sum(one.default not in {None, "..."} for one in definition.parameters)


def _begins_line(body: Sequence[ast.stmt], place: int) -> bool:
    """Whether a statement of a body is the first one on its line."""
    return not place or (body[place - 1].end_lineno or 0) < body[place].lineno


def _may_be_left_out(default: str | None) -> bool:
    """Whether a default only marks that nothing was given."""
    return default is not None and (default == "None" or marks_nothing(default))


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


def _extends_all(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and _dotted(statement.value.func) in {"__all__.extend", "__all__.append"}
    )


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


def _fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The name of a fixture of pytest; None for any other function."""
    for one in node.decorator_list:
        if _dotted(one) in {"fixture", "pytest.fixture"}:
            given = (
                [each.value for each in one.keywords if each.arg == "name"]
                if isinstance(one, ast.Call)
                else []
            )
            named = given[0].value if given and isinstance(given[0], ast.Constant) else node.name
            return named if isinstance(named, str) and named.isidentifier() else node.name
    return None


def _string_list(node: ast.expr | None) -> frozenset[str] | None:
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    return frozenset(
        item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)
    )
