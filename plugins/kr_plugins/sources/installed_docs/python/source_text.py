"""The source's own words: the text of a node as the file has it, and its lines."""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK_BYTES = 1000
_BEGINNING = bytes(byte for byte in range(256) if byte & 0xC0 != 0x80)
"""The bytes by which a character begins in UTF-8."""
_BESIDE = re.compile(r"\s*+#:")
_REMARK = re.compile(r"\s*+#(?![:!])(?!\s*+(?:type:|noqa|pragma|pylint|mypy|fmt:|TODO|FIXME|XXX|[-=#*~]{3}))")
_MOST_REMARKED = 12
"""Lines of a comment above a constant."""
_FEW_WORDS = 5
_SENTENCE = re.compile(r"[A-Z`\"'][^=]*$")
"""A remark in words; a statement that is commented out assigns."""
_DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FEW_FIELDS = 2_000
_MOST_COMPARED = 2_000_000_000
"""Characters that Python before 3.12 compares to find the fields of a file's f-strings; a second or so."""
_STRING = (
    r"#[^\n]*+|([A-Za-z]{0,2}+)(?:\"{3}(?:[^\\\"]++|\\.|\"(?!\"\"))*+(?:\"{3})?+|'{3}(?:[^\\']++|\\.|'(?!''))*+(?:'{3})?+"
    r"|\"(?:[^\\\"\n]++|\\.)*+\"?|'(?:[^\\'\n]++|\\.)*+'?)"
)
"""A comment, or a string with its prefix."""
_STRINGS = re.compile(_STRING, re.DOTALL)
_TOKENS = re.compile(rf"{_STRING}|\w++|[^\w\s]", re.DOTALL)
_FEW_CHARACTERS = 300_000
_MOST_TOKENS = 300_000
"""Of one file, and fields of f-strings; the syntax tree takes up to a kilobyte for each. The largest known files have a third."""
_ESCAPE = re.compile(r"\\([\\'\"])")


def is_slow_to_parse(text: str) -> bool:
    """Whether Python would parse for minutes: before 3.12 it looks for each field of an f-string from the beginning."""
    if sys.version_info >= (3, 12) or text.count("{") < _FEW_FIELDS:
        return False
    strings = (match[0] for match in _STRINGS.finditer(text) if "f" in (match[1] or "").lower())
    return sum(len(string) * string.count("{") for string in strings) > _MOST_COMPARED


def is_large_to_parse(text: str) -> bool:
    """Whether the syntax tree would take more than some hundred megabytes."""
    if len(text) < _FEW_CHARACTERS:
        return False
    more = itertools.islice(_TOKENS.finditer(text), max(0, _MOST_TOKENS - text.count("{")), None)
    return next(more, None) is not None


class SourceText:
    """The text of one file, by the positions of its syntax tree.

    Args:
        text: the whole file.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._marks: dict[int, tuple[bytes, list[int]]] = {}
        """The bytes of the last two lines in use, and the columns at every thousandth byte."""

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
        if text.isascii():
            return offset
        if line not in self._marks:
            while len(self._marks) > 1:
                del self._marks[next(iter(self._marks))]
            raw = text.encode()
            parts = (raw[start : start + _MARK_BYTES] for start in range(0, len(raw), _MARK_BYTES))
            self._marks[line] = raw, list(itertools.accumulate(map(_characters, parts), initial=0))
        raw, columns = self._marks[line]
        mark = min(offset // _MARK_BYTES, len(columns) - 1)
        return columns[mark] + _characters(raw[mark * _MARK_BYTES : offset])

    def header(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        """The `def` or `class` line to its colon, dedented, however many lines it takes."""
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

    def body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, list[str]]:
        """The first line of a function's code below its docstring, and its lines, indented as in the function; none of an empty one."""
        code = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        if not code or all(map(_does_nothing, code)) or code[0].lineno == node.lineno:
            return 0, []
        decorators = code[0].decorator_list if isinstance(code[0], _DECORATED) else []
        first = min([code[0].lineno, *(one.lineno for one in decorators)])
        while self.lines[first - 2].lstrip().startswith("#") and first - 1 > node.lineno:
            first -= 1
        lines = self.lines[first - 1 : code[-1].end_lineno]
        return first, [_dedent(line, node.col_offset).rstrip() for line in lines]

    def between(self, argument: ast.arg, default: ast.expr) -> str:
        """The source from an argument to the end of its default, on one line."""
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

    def parsed(self, constant: ast.Constant) -> tuple[docstrings.Docstring | None, int]:
        """A docstring, parsed, and the line of the file on which it begins; None where the constant is not a text."""
        if not isinstance(constant.value, str) or not constant.value.strip():
            return None, 0
        value = constant.value
        first, last = constant.lineno - 1, (constant.end_lineno or constant.lineno) - 1
        start, end = self.column(first, constant.col_offset), self.column(last, constant.end_col_offset or 0)
        if first == last:
            source = self.lines[first][start:end]
        else:
            source = "\n".join(
                [self.lines[first][start:], *self.lines[first + 1 : last], self.lines[last][:end]]
            )
        # An escaped or joined line break would move all lines that follow it.
        if source.count("\n") != value.count("\n") or "\\" in source:
            value = _line_by_line(source)
        lines, cut = docstrings.clean(value)
        return docstrings.parse(lines), constant.lineno + cut

    def comment_beside(self, node: ast.stmt) -> tuple[docstrings.Docstring, int] | None:
        """`timeout = 5  #: Seconds to wait.`, Sphinx's form on the same line."""
        number = node.end_lineno or node.lineno
        line = self.lines[number - 1]
        found = _BESIDE.match(line, self.column(number - 1, node.end_col_offset or 0))
        said = line[found.end() :].strip() if found else ""
        return (docstrings.parse([said]), number) if said else None

    def comment_above(self, line: int) -> tuple[docstrings.Docstring | None, int]:
        """Sphinx reads `#:` comments above an attribute as its documentation."""
        first = line - 1
        while first > 0 and self.lines[first - 1].lstrip().startswith("#:"):
            first -= 1
        if first == line - 1:
            return None, 0
        comment = [text.lstrip()[2:].strip() for text in self.lines[first : line - 1]]
        return docstrings.parse(comment), first + 1

    def remark_above(self, line: int, column: int) -> tuple[docstrings.Docstring | None, int]:
        """A plain comment right above a statement; None for one of a few words, which may be a heading, or code left out."""
        first = line - 1
        while line - first <= _MOST_REMARKED and first > 0 and _REMARK.match(self.lines[first - 1]):
            first -= 1
        remark = [text.strip().lstrip("#").strip() for text in self.lines[first : line - 1]]
        said = " ".join(remark)
        is_aligned = all(len(text) - len(text.lstrip()) == column for text in self.lines[first : line - 1])
        if (
            line - first > _MOST_REMARKED
            or not is_aligned
            or said.count(" ") < _FEW_WORDS
            or not _SENTENCE.match(said)
        ):
            return None, 0
        return docstrings.parse(remark), first + 1


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement tells nothing of what a function does: `pass`, `...`, `raise NotImplementedError`."""
    return isinstance(statement, ast.Pass | ast.Raise) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _characters(raw: bytes) -> int:
    """How many characters begin in a part of a text in UTF-8."""
    return len(raw) - len(raw.translate(None, _BEGINNING))


def with_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Every argument in order, with its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    yield from zip(positional, [*missing, *arguments.defaults], strict=True)
    if arguments.vararg:
        yield arguments.vararg, None
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    if arguments.kwarg:
        yield arguments.kwarg, None


def _head(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.expr | ast.arg]:
    """The parts of the head of a definition: arguments, defaults and the return type, or bases."""
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
        return
    for argument, default in with_defaults(node.args):
        yield argument
        if default is not None:
            yield default
    if node.returns is not None:
        yield node.returns


def _dedent(line: str, indent: int) -> str:
    return line[indent:] if not line[:indent].strip() else line.lstrip()


_TYPED_NAME = re.compile(r"\s*+\w++ : ")
"""A parameter with its type, as numpy's form has it; a type that goes on in the next line says nothing of its own."""


def _line_by_line(source: str) -> str:
    """A string literal's text with the line breaks of its source, and with no others.

    Escaped backslashes and quotes are read; other escapes stay as they are written, so that they are found there.
    """
    lines = [""] * (source.count("\n") + 1)
    for token in tokenize.generate_tokens(io.StringIO(f"(\n{source}\n)").readline):
        if token.type != tokenize.STRING:
            continue
        prefix, body = _literal(token.string)
        begun: str | None = None
        for number, written in enumerate(body.split("\n"), start=token.start[0] - 2):
            continued = (len(written) - len(written.rstrip("\\"))) % 2 == 1 and "r" not in prefix
            line = _continued(begun, written) if begun is not None else written
            begun = (begun or written) if continued else None
            shown = line[:-1] if continued else line
            lines[number] += shown if "r" in prefix else _ESCAPE.sub(r"\1", shown)
    return "\n".join(lines)


def _continued(begun: str, line: str) -> str:
    """What goes on at the margin belongs where its line began; the rest of a type says nothing of its own."""
    if not line[:1].strip():
        return line
    return "" if _TYPED_NAME.match(begun) else " " * (len(begun) - len(begun.lstrip())) + line


def _literal(source: str) -> tuple[str, str]:
    """The prefix and the body of a string literal."""
    start = min(source.find(mark) for mark in "'\"" if mark in source)
    mark = source[start] * (
        3 if source[start : start + 3] == source[start] * 3 and len(source) > start + 5 else 1
    )
    return source[:start].lower(), source[start + len(mark) : -len(mark)]
