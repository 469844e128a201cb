"""What a module defines, as it was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kr_plugins.sources.installed_docs.python import docstrings
    from kr_plugins.sources.installed_docs.python.code_settings import Setting
    from kr_plugins.sources.installed_docs.python.deprecation import Deprecation
    from kr_plugins.sources.installed_docs.python.error_messages import Message
    from kr_plugins.sources.installed_docs.python.none_defaults import NoneDefault

_SHORT_VALUE = 80
LONGEST_NAME = 1_000
"""Of a definition, qualified; a longer one is left out, with all that it holds: each part would repeat it."""
DefinitionKind = Literal["function", "class", "property", "attribute", "constant"]


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
    deprecated: Deprecation | None = None
    meant: NoneDefault | None = None
    """What a default of `None` means."""


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
    class_keywords: list[Parameter] = field(default_factory=list)
    """What the statement of a subclass may give beside its bases: `class User(Struct, rename="camel")`."""
    constructor: tuple[int, str] | None = None
    """Line and signature of a class's `__init__`, where it has one; of a function that takes anything, of its fullest overload."""
    deprecated: Deprecation | None = None
    forwards: str | None = None
    """The callable to which a function passes its `**kwargs` on."""
    passes: tuple[str, ...] = ()
    """All callables to which it passes its `**kwargs` on, where it does nothing else with them."""
    makes: str | None = None
    """The class of which it only returns a new instance."""
    wrapped: bool = False
    """A decorator may change what it takes."""
    overloads: frozenset[str] = frozenset()
    """The parameters of all its overloads."""
    fields: bool = False
    """A class whose annotated attributes are what its constructor takes."""
    body: tuple[int, list[str]] = (0, [])
    """The first line of a short function's code, and its lines, where its docstring says little; else none."""
    value: str | None = None
    """What is assigned to an attribute or constant, verbatim."""
    called: str | None = None
    """The name by which users call it, where that is not its own: of a fixture of pytest, of a setting that a class describes."""

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.qualname.rpartition(".")[2]

    @property
    def short_value(self) -> str | None:
        """The value, if it fits into a sentence."""
        value = self.value or ""
        return value if 0 < len(value) <= _SHORT_VALUE and "\n" not in value else None


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
    reexported: set[str] = field(default_factory=set)
    """Names imported as themselves (`from dependency import name as name`), and so offered on purpose."""
    origin: tuple[str, str] | None = None
    """Package URL and version of the dependency that it belongs to; None for the distribution's own."""
    added: list[Definition] = field(default_factory=list)
    """What it documents of other modules, which are compiled."""
    messages: list[Message] = field(default_factory=list)
    """What its errors and warnings say."""
    settings: list[Setting] = field(default_factory=list)
    """The settings that its code reads."""
