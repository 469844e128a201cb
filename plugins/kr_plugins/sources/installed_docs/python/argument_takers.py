"""What takes the arguments of a callable: by itself, of its constructor, of its base, or of what it passes them on to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.python.keywords import keywords_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module
    from kr_plugins.sources.installed_docs.python.public_names import PublicNames
    from kr_plugins.sources.installed_docs.python.references import Links

_MOST_BASES = 8
_MOST_HANDED = 4
"""Callables, each of which passes a parameter on to the next."""


class ArgumentTakers:
    """Finds what takes the arguments of the callables of some modules."""

    def __init__(self, modules: Mapping[str, Module], names: PublicNames, links: Links) -> None:
        self._modules = modules
        self._names = names
        self._links = links
        self._taken: dict[tuple[str, str, int], frozenset[str] | None] = {}

    def keywords(self, definition: Definition) -> dict[str, list[str]]:
        """The arguments that a public callable takes by name, where they are known for certain."""
        if definition.kind not in {"function", "class"} or not self._names.of(definition).public:
            return {}
        taken = keywords_of(definition, self._taker, self._taken)
        return {} if taken is None else {"keywords": sorted(taken)}

    def declared(self, definition: Definition, name: str) -> dict[str, str]:
        """The callable that declares a parameter, and its default, which another only documents and passes on."""
        for _step in range(_MOST_HANDED):
            targets = [self._taker(definition, passed) for passed in definition.passes[:1]]
            if len(definition.passes) != 1 or targets[0] is None or targets[0] is definition:
                return {}
            definition = targets[0]
            own = next((one for one in definition.parameters if one.name == name), None)
            if own is not None:
                return {"declared_by": self._names.of(definition).name} if own.default else {}
        return {}

    def _taker(self, definition: Definition, name: str) -> Definition | None:
        """What a name means that takes the arguments of a function or class; of a class, its constructor."""
        module = self._modules[definition.module]
        if definition.kind == "class":
            return self._inherited(definition, name)
        owner = owner_of(module, definition)
        head, _dot, rest = name.partition(".")
        if owner is not None and owner.kind == "class" and head in {"self", "cls"}:
            return self._inherited(owner, rest)
        if owner is not None and owner.kind == "class" and head == "super":
            return self._inherited(owner, rest, above=True)
        return self._links.find(module, name)

    def _inherited(self, cls: Definition, name: str, *, above: bool = False) -> Definition | None:
        """A member of a class or of the first of its bases that has it; None where a base before it is not known."""
        for _step in range(_MOST_BASES):
            own = self._modules[cls.module].definitions.get(f"{cls.qualname}.{name}")
            if own is not None and not above:
                return own
            above = False
            bases = [self._names.resolve(cls.module, base) for base in cls.bases[:1]]
            if len(cls.bases) != 1 or bases[0] is None:
                return None
            cls = bases[0]
        return None


def owner_of(module: Module, definition: Definition) -> Definition | None:
    return module.definitions.get(definition.qualname.rpartition(".")[0])
