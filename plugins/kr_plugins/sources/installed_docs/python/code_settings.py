"""The settings that a module's code reads by name: environment variables, keys of a configuration, options handed on as keywords, options of the command line.

No signature shows them and documentation often leaves them out, so the code that reads one is what KR can cite.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from textwrap import dedent
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.toolkit import IndexedPassage, marks_nothing
from kr_plugins.sources.installed_docs.python.definitions import LONGEST_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_plugins.sources.installed_docs.python.definitions import Module
    from kr_plugins.sources.installed_docs.python.source_text import SourceText

Form = Literal["environment", "entry", "key", "flag"]

_MOST_SETTINGS = 4_000
"""Of one package; Django reads some hundred."""
_MOST_OF_MODULE = 1_000
_MOST_LINES = 12
_MOST_CHARACTERS = 800
"""Of the code that is shown."""
_LONG_DEFAULT = 80
_NAME = re.compile(r"(?=.{4,80}$)(?:[A-Z][A-Z0-9_]*|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|--[a-z][a-z0-9-]*)")
"""How a setting is spelled: in capitals, as several words joined by underscores, or as an option of the command line."""
_IN_CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_READING = re.compile(
    r"""['"](?:[A-Z][A-Z0-9_]{3,80}|[a-z][a-z0-9]*+(?:_[a-z0-9]++)++|--[a-z][a-z0-9/-]{1,80})['"]"""
)
"""A line that may read a setting; most modules have none, and are not walked through."""
_READERS = frozenset({"get", "pop", "setdefault"})
_ENVIRONMENT = frozenset({"environ", "_environ", "env", "getenv", "environb"})
_FLAGS = frozenset({"option", "add_argument", "addoption", "_addoption", "add_option", "Option"})
"""What declares an option of the command line: click, typer, argparse, optparse, pytest."""
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPE = (*_FUNCTION, ast.ClassDef)


class Setting(NamedTuple):
    """A place in the code that reads a setting or gives its default."""

    name: str
    form: Form
    """`entry`: the name is in a constant, which may give its value."""
    where: str
    """The qualified name of the function, class or constant; empty at the top of the module."""
    line: int
    code: str
    """The lines of the statement, dedented; those of the expression where the statement is long."""
    default: str | None = None
    """What counts where nothing is given, verbatim."""
    said: str = ""
    """What it says of itself: the help of an option of the command line."""
    opening: tuple[int, str] | None = None
    """Line and text of the first line of the definition or constant around it."""


def settings_of(tree: ast.Module, source: SourceText) -> list[Setting]:
    """The settings that one module reads, in order; linear in its syntax tree.

    Args:
        tree: the module.
        source: its text.
    """
    lines = [number for number, line in enumerate(source.lines, start=1) if _READING.search(line)]
    reader = _SettingReader(source, lines)
    for statement in tree.body if lines else ():
        reader.read(statement)
    return reader.found


def setting_passages(
    modules: Iterable[Module], passages: Iterable[IndexedPassage], notes: list[str]
) -> Iterator[IndexedPassage]:
    """One passage for each setting that a package's own modules read, about the place that tells most.

    A name of a definition or parameter has documentation of its own. Of a parameter without a default the code that reads
    it may tell one, if all places agree.

    Args:
        modules: the package's modules.
        passages: those about its definitions and parameters.
        notes: where too many are left out, KR adds it here.
    """
    known: set[str] = set()
    without_default: set[str] = set()
    for passage in passages:
        known.add(passage.parameter or (passage.symbol or "").rpartition(".")[2])
        if passage.parameter and marks_nothing(passage.data.get("default") or "undefined"):
            without_default.add(passage.parameter)
    places: defaultdict[str, list[tuple[Module, Setting]]] = defaultdict(list)
    for module in modules:
        for setting in module.settings if module.origin is None else ():
            if setting.name not in known or setting.name in without_default:
                places[setting.name].append((module, setting))
    agreed = {
        name: found
        for name, found in places.items()
        if name not in known or len({one.default for _module, one in found} - {None}) == 1
    }
    if len(agreed) > _MOST_SETTINGS:
        notes.append(f"more than {_MOST_SETTINGS:,} settings, the rest left out")
    for name in list(agreed)[:_MOST_SETTINGS]:
        module, setting = max(agreed[name], key=lambda place: _tells(*place))  # the first of the best
        opening = [setting.opening] if setting.opening is not None else []
        first = sum(text.count("\n") + 1 for _line, text in opening)
        where = f"{module.name}.{setting.where}".rstrip(".")
        yield IndexedPassage(
            kind="setting",
            title=f"{name} in {where}",
            text="\n".join([*(text for _line, text in opening), setting.code]),
            locator=f"{module.path}:{setting.line}",
            symbol=name,
            lead=setting.said,
            prior=0.3,
            code=(setting.code,),
            data={
                "kind": "constant", "what": "setting", "where": where, "form": setting.form,
                "default": setting.default, "public": name not in known,
                "lines": [*([0, line] for line, _text in opening), [first, setting.line]],
            },
        )  # fmt: skip


def _tells(module: Module, setting: Setting) -> tuple[bool, bool, bool, int]:
    """How much a place tells of a setting: a value, that it is one of the environment, its default; and how central it is."""
    return (
        setting.default is not None,
        setting.form == "environment",
        ".setdefault(" in setting.code or setting.form == "entry",
        -module.name.count("."),
    )


class _Read(NamedTuple):
    """An expression that reads a setting."""

    name: str
    form: Form
    default: ast.expr | None = None
    help: ast.expr | None = None


class _Place(NamedTuple):
    """Where in a module an expression stands."""

    scope: str
    """The qualified name of the function or class; empty at the top."""
    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None
    statement: ast.stmt


class _SettingReader:
    def __init__(self, source: SourceText, lines: list[int]) -> None:
        self.source = source
        self.lines = lines
        """The numbers of the lines that may read a setting."""
        self.found: list[Setting] = []

    def read(self, top: ast.stmt) -> None:
        """Read one statement of a module's top, and all that it holds."""
        waiting: list[tuple[ast.AST, _Place]] = [(top, _Place("", None, top))]
        while waiting and len(self.found) < _MOST_OF_MODULE:
            node, place = waiting.pop()
            if not self.may_read(node):
                continue
            if isinstance(node, ast.stmt):
                place = place._replace(statement=node)
            if isinstance(node, _SCOPE):
                place = place._replace(scope=f"{place.scope}.{node.name}".lstrip("."), definition=node)
            if len(place.scope) > LONGEST_NAME:
                continue
            for read in _read_by(node):
                self.add(read, node, place)
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and not isinstance(place.definition, _FUNCTION):
                self.entries(node, place.scope)
            waiting += [(child, place) for child in reversed(list(ast.iter_child_nodes(node)))]

    def may_read(self, node: ast.AST) -> bool:
        """Whether a node has one of the lines; one without a place of its own may have any."""
        if not isinstance(node, (ast.stmt, ast.expr)):
            return True
        first = min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno)
        place = bisect_left(self.lines, first)
        return place < len(self.lines) and self.lines[place] <= (node.end_lineno or node.lineno)

    def add(self, read: _Read, node: ast.AST, place: _Place) -> None:
        """Keep a place that reads a setting."""
        if not _NAME.fullmatch(read.name) or not isinstance(node, (ast.expr, ast.keyword)):
            return
        is_simple = not hasattr(place.statement, "body") and not hasattr(place.statement, "cases")
        code = self.code(place.statement) if is_simple else ""
        line = place.statement.lineno if code else node.lineno
        code = code or self.code(node)
        if code:
            opening = self.line(place.definition) if place.definition is not None else None
            told = None if read.default is None else self.value(_without_repeating(read.default, read.name))
            said = _text(read.help) if read.help is not None else ""
            said = (
                said if said in code else ""
            )  # put together of several strings, it is not what the source has
            self.found.append(Setting(read.name, read.form, place.scope, line, code, told, said, opening))

    def entries(self, node: ast.Assign | ast.AnnAssign, scope: str) -> None:
        """Keep the names in capitals that a constant holds, those of a dictionary with their values."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        where = f"{scope}.{names[0]}".lstrip(".") if names else scope
        if len(where) > LONGEST_NAME:
            return
        opening = self.line(node)
        for one in ast.walk(node.value) if node.value is not None else ():
            pairs = zip(one.keys, one.values, strict=True) if isinstance(one, ast.Dict) else ()
            for key, value in pairs:
                held = [each for each in (key, *_tuple_of(value)) if each is not None]
                for each in held:
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        self.entry(each, key or each, value, where, opening, is_key=each is key)

    def entry(
        self, name: ast.Constant, key: ast.expr, value: ast.expr, where: str, opening: tuple[int, str], *,
        is_key: bool,
    ) -> None:  # fmt: skip
        """Keep one entry of a dictionary."""
        assert isinstance(name.value, str)
        code = self.shown(key.lineno, value.end_lineno or value.lineno)
        if _IN_CAPITALS.fullmatch(name.value) and code and len(self.found) < _MOST_OF_MODULE:
            told = self.value(value) if is_key else None
            opens = [opening] if opening[0] < key.lineno else []
            self.found.append(Setting(name.value, "entry", where, key.lineno, code, told, "", *opens))

    def line(self, node: ast.stmt) -> tuple[int, str]:
        """The number and text of a statement's first line."""
        return node.lineno, self.source.lines[node.lineno - 1][:_MOST_CHARACTERS].strip()

    def code(self, node: ast.stmt | ast.expr | ast.keyword) -> str:
        return self.shown(node.lineno, node.end_lineno or node.lineno)

    def shown(self, first: int, last: int) -> str:
        """Some lines, dedented; empty where they are too many to be shown."""
        if last - first >= _MOST_LINES:
            return ""
        lines = self.source.lines[first - 1 : last]
        return dedent("\n".join(lines)) if sum(map(len, lines)) <= _MOST_CHARACTERS else ""

    def value(self, node: ast.expr) -> str | None:
        text = self.source.segment(node) if node.lineno == node.end_lineno else ""
        return text if 0 < len(text) <= _LONG_DEFAULT else None


def _read_by(node: ast.AST) -> Iterator[_Read]:
    """The settings that an expression itself reads, each with what counts where nothing is given."""
    if isinstance(node, ast.Call):
        yield from _read_by_call(node)
    elif isinstance(node, ast.Subscript) and (read := _text(node.slice)):
        if _last(node.value) in _ENVIRONMENT:
            yield _Read(read, "environment")
        elif isinstance(node.ctx, ast.Load) and _IN_CAPITALS.fullmatch(read):
            yield _Read(read, "key")
    elif isinstance(node, ast.keyword) and node.arg == "envvar" and (read := _text(node.value)):
        yield _Read(read, "environment")
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        read = _text(node.left) if _last(node.comparators[0]) in _ENVIRONMENT else ""
        if read:
            yield _Read(read, "environment")


def _read_by_call(node: ast.Call) -> Iterator[_Read]:
    name = _last(node.func)
    if name in _FLAGS:
        given = {one.arg: one.value for one in node.keywords}
        flags = [flag for one in node.args[:6] if (flag := _text(one)).startswith("--")]
        yield from (
            _Read(flag.partition("/")[0], "flag", given.get("default"), given.get("help")) for flag in flags
        )
        return
    owner = _last(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    form: Form = "environment" if name in _ENVIRONMENT or owner in _ENVIRONMENT else "key"
    first = 1 if name == "getattr" else 0 if name in _READERS or name in _ENVIRONMENT else None
    if first is not None and len(node.args) > first and (read := _text(node.args[first])):
        yield _Read(read, form, node.args[first + 1] if len(node.args) > first + 1 else None)


def _without_repeating(default: ast.expr, name: str) -> ast.expr:
    """The default behind places that read the same name: `options.get("a", getattr(task, "a", 600))` has 600."""
    inner = next((one.default for one in _read_by(default) if one.name == name), None)
    return default if inner is None else inner


def _tuple_of(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _last(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
