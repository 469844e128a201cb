"""What a definition's annotations, defaults and docstring send its reader to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames

_SEE = re.compile(
    r"\b(?:[Ss]ee|[Ss]ame as|[Aa]lias (?:for|of)|[Ee]quivalent to)\s++(?:also\s++)?[:`*]*+(?:(?:py:)?(?:func|meth|class|attr|obj):`*+)?~?\.?([A-Za-z_][\w.]*)"
)
_PASSED = re.compile(
    r"(?i)(?:\b(?:passed|forwarded|handed|given)\b[\w ]{0,40}?\bto|\b(?:arguments?|parameters?|options|keywords)\b[\w ]{0,20}?\b(?:of|for|that|in)"
    r"|\bsee|\bsame as)\s++(?:the\s++|in\s++)?(?::[\w:]+:)?`+~?\.?([A-Za-z_][\w.]*)"
)
"""What the documentation of `**kwargs` says of the callable that takes them: "passed on to `pack`"."""
_MOST_TARGETS = 20
"""Definitions to which one docstring sends its reader."""
_MOST_LINKED = 6
"""Definitions of which KR notes that one annotation or default speaks."""
_LONGEST = 2_000
"""Characters of an annotation or a default; KR finds no names beyond."""
_QUOTES = str.maketrans("\"'", "  ")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*")


class Links:
    """The links between the definitions of one distribution.

    Args:
        modules: what its files define.
        names: under which name each definition is known.
    """

    def __init__(self, modules: Mapping[str, Module], names: PublicNames) -> None:
        self._modules = modules
        self._names = names
        self._aliased: dict[tuple[str, str], list[str]] = {}

    def spoken_of(
        self, module: Module, definition: Definition, parameter: Parameter | None = None
    ) -> dict[str, list[str]]:
        """The definitions in this distribution that an annotation and a default speak of, by indexed name."""
        found: dict[str, list[str]] = {}
        sources = {
            "types": parameter.annotation if parameter else definition.returns,
            "defaults": parameter.default if parameter else None,
        }
        for key, source in sources.items():
            linked: dict[str, None] = {}
            for name in dict.fromkeys(_IDENTIFIER.findall((source or "").translate(_QUOTES)[:_LONGEST])):
                target = self._names.resolve(module.name, name)
                if target is not None and target is not definition:
                    linked.update(dict.fromkeys([self._names.of(target).name, *self._beneath(target)]))
                if len(linked) >= _MOST_LINKED:
                    break
            if linked:
                found[key] = list(linked)[:_MOST_LINKED]
        return found

    def _beneath(self, target: Definition) -> list[str]:
        """The classes that an alias such as `TimeoutTypes = Union[float, Timeout]` names; KR looks at each alias once."""
        if target.kind != "constant":
            return []
        key = (target.module, target.qualname)
        if key not in self._aliased:
            value = target.signature.partition("=")[2].translate(_QUOTES)
            resolved = [self._names.resolve(target.module, name) for name in _IDENTIFIER.findall(value)]
            named = [one for one in resolved if one is not None and one is not target]
            self._aliased[key] = list(dict.fromkeys(self._names.of(one).name for one in named))[:_MOST_LINKED]
        return self._aliased[key]

    def passed_to(self, definition: Definition) -> str | None:
        """The callable that takes the `**kwargs` of another, as the documentation of these says; None for none."""
        star = next((one.name for one in definition.parameters if one.star == "**"), None)
        for entry in definition.doc.parameters if definition.doc is not None and star else ():
            if definition.doc is not None and entry.name.lstrip("*") == star:
                found = _PASSED.search(
                    " ".join(" ".join(definition.doc.lines[entry.line : entry.end]).split())
                )
                return found[1].rstrip(".") if found else None
        return None

    def see(self, module: Module, definition: Definition) -> list[str]:
        """The names of the symbols that a docstring sends its reader to."""
        return list(
            dict.fromkeys(self._names.of(target).name for target in self.targets(module, definition))
        )[:3]

    def targets(self, module: Module, definition: Definition) -> list[Definition]:
        """The definitions that a docstring sends its reader to."""
        if definition.doc is None:
            return []
        text = "\n".join(definition.doc.lines[:30])
        targets: dict[tuple[str, str], Definition] = {}
        for name in dict.fromkeys(_SEE.findall(text)):
            target = self.find(module, name.rstrip("."))
            if target is not None and target is not definition and len(targets) < _MOST_TARGETS:
                targets[target.module, target.qualname] = target
        return list(targets.values())

    def find(self, module: Module, name: str) -> Definition | None:
        """The definition that a name means inside a module, or by its whole public name."""
        owner, _dot, last = name.rpartition(".")
        found = self._names.resolve(module.name, name)
        return found or (self._names.resolve(owner, last) if owner in self._modules else None)
