"""What a declaration file declares, exports and imports, as it was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kr_plugins.sources.installed_docs.node import tsdoc

DeclarationKind = Literal[
    "function", "class", "interface", "type", "enum", "constant", "namespace", "property"
]


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
