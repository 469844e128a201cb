"""What a declaration file declares, exports and imports, as it was read, and the text of a declaration's passage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_plugins.sources.installed_docs.code_blocks import fenced_code
from kr_plugins.sources.installed_docs.node import tsdoc

if TYPE_CHECKING:
    from collections.abc import Sequence

DeclarationKind = Literal[
    "function", "class", "interface", "type", "enum", "constant", "namespace", "property"
]
MAX_LINES = 120
_MEMBER_LINES = 6


class DeclaredParameter(NamedTuple):
    """One parameter of a callable; what is destructured has the name ``."""

    name: str
    required: bool
    rest: bool = False
    type_name: str = ""
    """The name of its type, where it is a plain one."""


@dataclass(slots=True)
class Declaration:
    """Something that a file declares."""

    kind: DeclarationKind
    name: str
    line: int
    signature: str
    """Verbatim and dedented: of a class or interface its head, else the whole declaration."""
    comment: tsdoc.TSDocComment | None = None
    parameters: tuple[DeclaredParameter, ...] = ()
    returns: str | None = None
    type_name: str | None = None
    """The name of a constant's type, where it is a plain one."""
    bases: tuple[str, ...] = ()
    members: list[Declaration] = field(default_factory=list)
    further: set[str] = field(default_factory=set)
    """The names of members that users do not meet, or can only set."""
    is_open: bool = False
    """Whether it may have members of any name: `[key: string]: unknown`, `[K in keyof T]: ...`."""
    inner: ModuleDeclarations | None = None
    """What a namespace declares."""
    calls: list[Declaration] = field(default_factory=list)
    """How an object of the type is called: `(column: string): Builder` among its members."""


class Reexport(NamedTuple):
    """`export { name as exported } from "source"`; a namespace has the name `*`."""

    source: str
    name: str
    exported: str


@dataclass(slots=True)
class ModuleDeclarations:
    """What one file, module block or namespace declares."""

    declarations: dict[str, list[Declaration]] = field(default_factory=dict)
    exports: dict[str, str] = field(default_factory=dict)
    """Exported name to local name."""
    renamed: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Of an exported name that is not the local one the line, and `local as exported` as it stands there."""
    reexports: list[Reexport] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Local name to (source, name there); `*` for all of it."""
    modules: dict[str, ModuleDeclarations] = field(default_factory=dict)
    """The bodies of `declare module "name"`."""
    assigned: str | None = None
    """What `export =` or `export default` names."""
    references: list[str] = field(default_factory=list)
    """The files beside it that `/// <reference path>` names: they add to it."""


class DeclarationText:
    """The text of a passage in the making, with the line of the file on which each run begins."""

    def __init__(self, signature: str, line: int) -> None:
        self.parts = signature.split("\n")
        self.runs = [[0, line]]

    def add(self, lines: Sequence[tsdoc.CommentLine]) -> None:
        previous = None
        for line in lines[:MAX_LINES]:
            if previous is None or line.number != previous + 1:
                self.runs.append([len(self.parts), line.number])
            self.parts.append(line.text)
            previous = line.number

    def fence(self, lines: Sequence[tsdoc.CommentLine], before: int, language: str) -> None:
        """Code that has no fences of its own, between fences; `before` is the line of the file for the first."""
        self.runs.append([len(self.parts), before])
        self.parts.append(f"```{language}")
        self.add(lines)
        self.parts.append("```")

    def __str__(self) -> str:
        return "\n".join(self.parts)


def declaration_text(
    signature: str,
    one: Declaration,
    comment: tsdoc.TSDocComment,
    bare: Sequence[Declaration],
    language: str = "ts",
) -> DeclarationText:
    """The signature, what the comment says, each `@param` as a paragraph, the examples, and the members without a comment."""
    text = DeclarationText(signature, one.line)
    text.add(comment.deprecation)
    text.add(comment.prose)
    text.add(comment.default)
    for _parameter, lines in comment.parameters:
        text.runs.append([len(text.parts), lines[0].number - 1])
        text.parts.append("")
        text.add(lines)
    for example in comment.examples:
        if example.fenced:
            text.add(example.lines)
        else:
            text.fence(example.lines, example.tag_line, language)
    listed = [
        tsdoc.CommentLine(member.line + offset, line)
        for member in bare
        for offset, line in enumerate(member.signature.split("\n")[:_MEMBER_LINES])
    ]
    if listed:
        text.fence(listed, max(1, listed[0].number - 1), language)
    return text


def comment_examples(comment: tsdoc.TSDocComment) -> tuple[str, ...]:
    found = [block.code for block in fenced_code([line.text for line in comment.prose])]
    for example in comment.examples:
        lines = [line.text for line in example.lines]
        if example.fenced:
            found += [block.code for block in fenced_code(lines)]
        elif any(line.strip() for line in lines):
            found.append("\n".join(lines))
    return tuple(found)
