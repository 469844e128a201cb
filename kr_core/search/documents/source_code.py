"""Source code as passages, one for each symbol, verbatim."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from kr_core.markup.blocks import Block
from kr_core.search.documents.chunking import LONGEST_NAME, Chunk, divided

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINES = re.compile(
    r"""^(?:export\s+|default\s+|declare\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|abstract\s+|final\s+
    |sealed\s+|async\s+|unsafe\s+|extern\s+(?:"C"\s+)?|inline\s+|virtual\s+|override\s+|pub(?:\([a-z]+\))?\s+|open\s+|data\s+)*
    (?:function\*?|func|fn|def|class|struct|interface|trait|impl|enum|type|module|namespace|object|record|protocol|typedef|sub|macro_rules!
    |const|let|var|val)\s+(?:\([^()\n]{0,80}\)\s*)?(?:<[^<>\n]{0,80}>\s*)?([A-Za-z_$][\w$]*(?:(?:::|\.)[\w$]+)*)""",
    re.VERBOSE,
)
_C_FUNCTION = re.compile(
    r"^[A-Za-z_][\w \t*&:<>,]{0,120}?\b([A-Za-z_]\w*)\s*+\([^;{}\n]{0,300}+\)?+\s*+(?:const\s*+)?+\{?+\s*+$"
)
_NOT_NAMES = frozenset("if for while switch return else do sizeof catch".split())
_SHELL = re.compile(r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?")
_COMMENT = ("//", "/*", " *", "*", "#", "--", ";", "@")
_DEEPEST = 60
LARGEST_TREE = 1_000_000
"""Characters; the tree of so many takes 250 to 700 MB, and what is longer is data or was written by a program."""


def python_pieces(text: str) -> Iterator[Chunk]:
    """The module, its classes, functions and methods; code that does not parse is divided as any other, as are texts above LARGEST_TREE."""
    if len(text) > LARGEST_TREE:
        yield from pieces(text)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's invalid escapes
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from pieces(text)
        return
    lines = text.split("\n")
    yield from _as_code(_of_body(tree.body, lines, 1, len(lines), "", 0))


def _of_body(
    body: list[ast.stmt], lines: list[str], first: int, last: int, owner: str, depth: int
) -> Iterator[Block]:
    """The lines of a body, each definition below a heading of its own."""
    position = first
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or depth > _DEEPEST:
            continue
        start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        start = _with_comment(lines, start, position)
        yield from _code(lines, position, start - 1)
        end = node.end_lineno or node.lineno
        name = (f"{owner}.{node.name}" if owner else node.name)[-LONGEST_NAME:]
        yield Block("heading", "", f":{start}", depth + 1, name)
        if isinstance(node, ast.ClassDef):
            yield from _of_body(node.body, lines, start, end, name, depth + 1)
        else:
            yield from _code(lines, start, end)
        position = end + 1
        if not owner:
            yield Block("heading", "", f":{position}", 1, "")
    yield from _code(lines, position, last)


def _with_comment(lines: list[str], start: int, least: int) -> int:
    while start - 1 >= least and lines[start - 2].lstrip().startswith("#"):
        start -= 1
    return start


def _code(lines: list[str], first: int, last: int) -> Iterator[Block]:
    text = "\n".join(lines[first - 1 : last])
    if text.strip():
        skipped = len(text) - len(text.lstrip("\n"))
        yield Block("code", text.strip("\n").rstrip(), f":{first + skipped}")


def pieces(text: str) -> Iterator[Chunk]:
    """Code of any language, divided where a line at its margin defines something."""
    lines = text.split("\n")
    yield from _as_code(_by_margin(lines))


def _as_code(blocks: Iterator[Block]) -> Iterator[Chunk]:
    return (piece._replace(kind="code") for piece in divided(blocks))


def _by_margin(lines: list[str]) -> Iterator[Block]:
    first, position = 1, 1
    for number, line in enumerate(lines, start=1):
        if not line[:1].strip():
            continue
        name = _defined(line[:400])
        if name is None:
            continue
        start = number
        while start - 1 > first and lines[start - 2].startswith(_COMMENT):
            start -= 1
        yield from _code(lines, position, start - 1)
        yield Block("heading", "", f":{start}", 1, name)
        position = start
        first = number
    yield from _code(lines, position, len(lines))


def _defined(line: str) -> str | None:
    found = _DEFINES.match(line) or _SHELL.match(line)
    if found is None and "(" in line and not line.startswith(("#", "//", "*", "/*", "--")):
        found = _C_FUNCTION.match(line)
    if found is None or found[1] in _NOT_NAMES:
        return None
    return found[1]
