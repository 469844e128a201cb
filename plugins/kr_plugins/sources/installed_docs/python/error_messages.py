"""The messages of errors and warnings that a module's source holds, from its syntax tree.

What the program puts into a message is a hole, shown as `...`.
"""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage
from kr_plugins.sources.installed_docs.python.definitions import LONGEST_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping, Sequence

    from kr_plugins.sources.installed_docs.python.definitions import Module

HOLE = "..."
_MOST_MESSAGES = 6_000
"""Of one package or of the standard library; the largest known packages have half as many."""
_MOST_CHARACTERS = 1_500
LEAST_WORDS = 4
LEAST_CHARACTERS = 20
_FEW_WORDS, _FEW_CHARACTERS = 2, 12
"""Of a message without holes that an error is raised with: a question that quotes no more may mean it."""
_LEAST_CONSTANT = 40
_MOST_LINES = 12
"""Of code that is shown beside a message."""
_MOST_PARTS = 40
"""Strings and holes that are put together to one message."""
_MOST_ASSIGNED = 5
"""Strings that a name may stand for when it is raised."""
_MOST_LOOKED_AT = 10_000
"""Expressions of one module that are put together."""
_FAULT = re.compile(r"(?:Error|Exception|Warning)$")
_NAMED_MESSAGE = re.compile(r"(?i)(?:msg|message|error|warning)")
_PERCENT = re.compile(r"%(?:\((\w{1,60})\))?[#0 +-]{0,5}\d{0,5}(?:\.\d{1,5})?[a-zA-Z]")
_BRACES = re.compile(r"\{([^{}]{0,80})\}")
_WRAPPERS = frozenset({"_", "gettext", "gettext_lazy", "dedent", "cleandoc", "str"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[^\W\d_]{2,}")


class Message(NamedTuple):
    """A message as the source holds it."""

    text: str
    """The string, put together, with `...` for each hole."""
    error: str
    """The class that is raised or warned with; empty where the source does not say it beside the message."""
    where: str
    """The qualified name of the function or class that holds it; empty at the top of the module."""
    line: int
    code: str = ""
    """The statement that raises or warns with it, from the condition on; empty where it is long or stands alone."""
    code_line: int = 0


def messages_of(tree: ast.Module, source: Sequence[str]) -> list[Message]:
    """The messages of one module, in order, each once; linear in its statements.

    Args:
        tree: the module.
        source: its lines.
    """
    return _MessageReader(source).read(tree)


def message_passages(modules: Iterable[Module], notes: list[str]) -> Iterator[IndexedPassage]:
    """One passage for each message of a package's own modules, each once; adds a note where there are too many."""
    seen: set[tuple[str, str]] = set()
    for module in modules:
        for message in module.messages if module.origin is None else ():
            if (message.text, message.error) in seen:
                continue
            if len(seen) >= _MOST_MESSAGES:
                notes.append(f"more than {_MOST_MESSAGES:,} error messages, the rest left out")
                return
            seen.add((message.text, message.error))
            place = f"{module.name}.{message.where}".rstrip(".")
            after = message.text.count("\n") + 2
            yield IndexedPassage(
                kind="message",
                title=f"{message.error or 'Message'} in {place}",
                text=f"{message.text}\n\n{message.code}" if message.code else message.text,
                locator=f"{module.path}:{message.line}",
                lead=message.text,
                prose=message.text,
                prior=0.1,
                data={
                    "kind": "section", "what": "message", "message": True, "error": message.error,
                    "lines": [[0, message.line], *([[after, message.code_line]] if message.code else [])],
                    "module": module.name, "where": message.where, "raised": message.code,
                },
            )  # fmt: skip


class _MessageReader:
    def __init__(self, source: Sequence[str]) -> None:
        self.source = source
        self.shown: tuple[int, int] | None = None
        """The first and last line of the statement that is read, from its condition on."""
        self.found: dict[tuple[str, str], Message] = {}
        self.assigned: dict[str, list[ast.expr]] = {}
        """The strings that the names of the function that is read stand for."""
        self.conditions: dict[int, tuple[int, int]] = {}
        """The first and last line of the statement that assigns each of these strings on a condition."""
        self.constants: dict[str, list[ast.expr]] = {}
        self.scope = ""
        self.texts: set[str] = set()
        self.left = _MOST_LOOKED_AT

    def read(self, tree: ast.Module) -> list[Message]:
        waiting: list[tuple[ast.stmt, str, ast.If | None]] = [(one, "", None) for one in reversed(tree.body)]
        while waiting and self.left > 0 and len(self.found) < _MOST_MESSAGES:
            statement, scope, condition = waiting.pop()
            if scope != self.scope:
                self.leave()
                self.scope, self.assigned = scope, {}
            end = statement.end_lineno or statement.lineno
            self.shown = (condition.lineno, end) if condition is not None else None
            self.statement(statement)
            inner = scope
            if isinstance(statement, (*_FUNCTION, ast.ClassDef)):
                inner, condition = f"{scope}.{statement.name}".lstrip("."), None
                if len(inner) > LONGEST_NAME:
                    continue
            held = set(map(id, statement.body)) if isinstance(statement, ast.If) else set()
            waiting += [
                (one, inner, statement if isinstance(statement, ast.If) and id(one) in held else condition)
                for one in reversed(list(_inner(statement)))
            ]
        self.leave()
        self.scope, self.assigned = "", self.constants
        self.leave()
        return list(self.found.values())

    def leave(self) -> None:
        """Keep the strings of a scope that nothing beside them raises, if their names say that they are messages."""
        self.shown = None
        for name, values in self.assigned.items():
            for value in values if _NAMED_MESSAGE.search(name) else ():
                self.add(value, {}, "", _LEAST_CONSTANT)

    def statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Raise):
            if isinstance(statement.exc, ast.Call):
                self.call(statement.exc, _last(statement.exc.func))
            return
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and value is not None:
            self.assign(statement, value)
        if isinstance(value, ast.Call):
            name = _last(value.func)
            if name == "warn":
                self.call(value, _category(value))
            elif _FAULT.search(name):
                self.call(value, name)

    def assign(self, statement: ast.Assign | ast.AnnAssign, value: ast.expr) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and _may_be_text(value):
            names = self.assigned if self.scope else self.constants
            values = names.setdefault(targets[0].id, [])
            if len(values) < _MOST_ASSIGNED:
                values.append(value)
                if self.shown is not None:
                    self.conditions[id(value)] = self.shown

    def call(self, node: ast.Call, error: str) -> None:
        given = [*node.args[:3], *(keyword.value for keyword in node.keywords[:10])]
        for argument in given:
            if isinstance(argument, ast.Name):
                for value in self.assigned.pop(argument.id, None) or self.constants.get(argument.id) or ():
                    raised, self.shown = self.shown, self.conditions.get(id(value), self.shown)
                    self.add(value, self.constants, error)
                    self.shown = raised
            else:
                self.add(argument, ChainMap(self.assigned, self.constants), error)

    def add(
        self,
        node: ast.expr,
        names: MutableMapping[str, list[ast.expr]],
        error: str,
        least: int = LEAST_CHARACTERS,
    ) -> None:
        """Keep the message that an expression makes; one without an error only where no error has it."""
        self.left -= 1
        if self.left < 0 or len(self.found) >= _MOST_MESSAGES or not _may_be_text(node):
            return
        text = _text_of(node, names)
        if not _says_something(text, least, error) or (not error and text in self.texts):
            return
        self.texts.add(text)
        if (text, error) not in self.found:
            self.found[text, error] = Message(text, error, self.scope, node.lineno, *self.code())

    def code(self) -> tuple[str, int]:
        """The lines of the statement that is read, from its condition on, and the number of the first."""
        first, last = self.shown or (0, -1)
        if not 0 < last - first < _MOST_LINES:
            return "", 0
        lines = self.source[first - 1 : last]
        if (
            sum(map(len, lines)) > 2 * _MOST_CHARACTERS
        ):  # before anything is made of them, for each message again
            return "", 0
        code = dedent("\n".join(lines))
        return (code, first) if len(code) <= _MOST_CHARACTERS else ("", 0)


def _text_of(node: ast.expr, names: MutableMapping[str, list[ast.expr]]) -> str:
    """The string that an expression makes, with its holes; empty where it is too long or has too many parts."""
    parts: list[str] = []
    left = _MOST_CHARACTERS
    waiting: list[tuple[ast.expr, re.Pattern[str] | None]] = [(node, None)]
    while waiting:
        one, holes = waiting.pop()
        part = one.value if isinstance(one, ast.Constant) and isinstance(one.value, str) else HOLE
        inner = _parts(one, names)
        if inner is not None:
            if len(waiting) + len(inner[0]) > _MOST_PARTS + 1:
                return ""
            waiting += [(each, inner[1] or holes) for each in reversed(inner[0])]
            continue
        left -= len(part)
        if left < 0 or len(parts) > _MOST_PARTS or len(waiting) > _MOST_PARTS:
            return ""
        parts.append(holes.sub(HOLE, part) if holes is not None else part)
    return "".join(parts).strip()


def _parts(
    node: ast.expr, names: MutableMapping[str, list[ast.expr]]
) -> tuple[Sequence[ast.expr], re.Pattern[str] | None] | None:
    """What a string is put together of, and the form of the holes in it; None where it is one piece."""
    if isinstance(node, ast.JoinedStr):
        return node.values, None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (node.left, node.right), None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return (node.left,), _PERCENT
    if isinstance(node, ast.Call) and (unwrapped := _unwrapped(node)) is not None:
        return (unwrapped[0],), unwrapped[1]
    if isinstance(node, ast.Name) and len(known := names.get(node.id, [])) == 1:
        return (known, None) if isinstance(known[0], (ast.Constant, ast.JoinedStr)) else None
    return None


def _says_something(text: str, least: int, error: str) -> bool:
    """Whether a message has enough fixed words and characters; the whole message of an error may be short."""
    fixed = text.replace(HOLE, " ")
    few, short = (_FEW_WORDS, _FEW_CHARACTERS) if error and HOLE not in text else (LEAST_WORDS, least)
    return len(_WORD.findall(fixed)) >= few and len(fixed.strip()) >= short


def _inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    yield from getattr(statement, "body", ())
    for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield from handler.body
    yield from getattr(statement, "orelse", ())
    yield from getattr(statement, "finalbody", ())


def _may_be_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.JoinedStr, ast.BinOp)) or (
        isinstance(node, ast.Call) and _unwrapped(node) is not None
    )


def _unwrapped(call: ast.Call) -> tuple[ast.expr, re.Pattern[str] | None] | None:
    """The string in `"...".format(...)`, `_("...")` and the like, with the form of its holes."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "format":
        return call.func.value, _BRACES
    if call.args and _last(call.func) in _WRAPPERS:
        return call.args[0], None
    return None


def _category(call: ast.Call) -> str:
    """The class of a warning."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "category"] or call.args[1:2]
    name = _last(given[0]) if given else ""
    return name if _FAULT.search(name) else "UserWarning"


def _last(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
