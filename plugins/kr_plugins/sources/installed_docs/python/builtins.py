"""The standard library's compiled modules: documentation that CPython carries in itself (`str.split`, `itertools`).

These modules have no source to read, so their docstrings are taken from the interpreter that runs KR, and only where
it is the same minor version as the project's. Nothing but the standard library is imported.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from typing import TYPE_CHECKING, Any

from kr_plugins.sources.installed_docs.python import docstrings
from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULES = {
    "builtins": "",
    "itertools": "itertools",
    "math": "math",
    "cmath": "cmath",
    "time": "time",
    "sys": "sys",
    "gc": "gc",
    "array": "array",
    "zlib": "zlib",
    "select": "select",
    "posix": "os",
    "_io": "io",
    "_csv": "csv",
    "_collections": "collections",
    "_functools": "functools",
    "_operator": "operator",
    "_socket": "socket",
    "_sqlite3": "sqlite3",
    "_struct": "struct",
    "_thread": "threading",
    "_json": "json",
    "_random": "random",
    "_hashlib": "hashlib",
    "_bisect": "bisect",
    "_heapq": "heapq",
}
"""Each compiled module, and the public one that offers its names; builtins have none."""
_BOUND = re.compile(r"\(\$\w+(?:, /)?(?:, )?")
"""What CPython passes itself, as its signatures begin: `($self, /, sep=None)`, `($module, x, /)`."""
PUBLIC = frozenset(public for public in _MODULES.values() if public)
"""The names under which the compiled modules are imported."""


def modules() -> Iterator[Module]:
    """The documented names of the compiled modules that this interpreter has, as if they had been read."""
    for name, public in _MODULES.items():
        try:
            loaded = importlib.import_module(name)
        except ImportError:  # another platform's
            continue
        module = Module(f"{public or 'builtins'}", f"{public or 'builtins'} (built into Python)")
        for attribute, value in sorted(vars(loaded).items()):
            if attribute.startswith("_") or not _belongs(value, name):
                continue
            if public and public != name and not _offered(public, attribute, value):
                continue
            _add(module, attribute, value)
            if inspect.isclass(value):
                for member, function in sorted(vars(value).items()):
                    if not member.startswith("_") and callable(function):
                        _add(module, f"{attribute}.{member}", function)
        if module.definitions:
            yield module


def _belongs(value: Any, module: str) -> bool:
    return callable(value) and getattr(value, "__module__", module) in {
        module,
        _MODULES[module],
        "builtins",
        None,
    }


def _offered(public: str, attribute: str, value: Any) -> bool:
    loaded = sys.modules.get(public) or importlib.import_module(public)
    return getattr(loaded, attribute, None) is value


def _add(module: Module, qualname: str, value: Any) -> None:
    doc = getattr(value, "__doc__", None)
    if not isinstance(doc, str) or not doc.strip():
        return
    signature = getattr(value, "__text_signature__", None)
    head = f"{qualname.rpartition('.')[2]}{_BOUND.sub('(', signature or '')}"
    lines, _cut = docstrings.clean(doc)
    module.definitions[qualname] = Definition(
        "class" if inspect.isclass(value) else "function",
        module.name,
        qualname,
        module.path,
        0,
        head,
        docstrings.parse(lines),
        0,
        list(parameters_in(signature)),
    )


def parameters_in(signature: str | None) -> Iterator[Parameter]:
    """The parameters of a signature in brackets, as CPython's `__text_signature__` has it."""
    for part in (signature or "").strip("()").split(","):
        source = part.strip()
        name, _equals, default = source.partition("=")
        if name.isidentifier():
            yield Parameter(name, source, 0, default=default or None, required=not default)
