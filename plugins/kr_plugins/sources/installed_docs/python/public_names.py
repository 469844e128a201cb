"""Public names: what a user writes (`httpx.get`), not where the code lies (`httpx._api.get`).

Re-exports are followed by hand, name by name: asking a documentation loader to resolve every alias of a large
package took minutes where this takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module

_MAX_ALSO = 12
_MAX_STEPS = 12
"""KR follows this many imports and aliases; longer chains are circles."""


_MOST_SUBCLASSES = 60
"""Classes that inherit a member under whose names KR looks for it."""
_MOST_PLACES = 40
"""Modules in which KR looks for one name."""
_MOST_STARRED = 200
"""Modules of the distribution from which one module imports all names."""
_MAX_STARS = 5
"""The longest chain of `from ... import *` that KR follows."""


class PublicName(NamedTuple):
    """How a definition is known to its users."""

    name: str
    also: tuple[str, ...] = ()
    public: bool = True


class PublicNames:
    """The public names of everything that a distribution's modules define.

    Args:
        modules: the modules that were read, by dotted name.
        packages: the distribution's top-level names, the preferred one first.
    """

    def __init__(self, modules: Mapping[str, Module], packages: Iterable[str]) -> None:
        self.modules = modules
        self.packages = tuple(packages)
        self._aliases: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._subclasses: dict[tuple[str, str], list[Definition]] = defaultdict(list)
        self._cache: dict[tuple[str, str], PublicName] = {}
        self._offered: set[tuple[str, str]] = set()
        self._stars: dict[str, frozenset[str]] = {}
        self._sources: dict[str, list[str]] = {
            module.name: [star for star in dict.fromkeys(module.stars) if star in modules][:_MOST_STARRED]
            for module in modules.values()
        }
        self._missing: set[tuple[str, str]] = set()
        """Names that a module does not have, wherever it imports from."""
        self._parts = self._imported()
        self._collect_aliases()
        self._collect_subclasses()
        self._instances: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._collect_instances()

    def of(self, definition: Definition) -> PublicName:
        """The name users write for a definition, other names for it, and whether any of them is public."""
        key = (definition.module, definition.qualname)
        if key not in self._cache:
            self._cache[key] = self._name(definition)
        return self._cache[key]

    def resolve(self, module: str, name: str) -> Definition | None:
        """What a dotted name means inside a module, as far as this distribution defines it."""
        return self._resolve(module, name, 0, set())

    def _resolve(self, module: str, name: str, depth: int, seen: set[tuple[str, str]]) -> Definition | None:
        head, _dot, rest = name.partition(".")
        found = self._lookup(module, head, depth, seen)
        if found is None and module in self.modules and head in self.modules[module].imports:
            source, imported = self.modules[module].imports[head]
            target = source if imported is None else f"{source}.{imported}"
            if target in self.modules and rest and depth <= _MAX_STEPS:
                return self._resolve(target, rest, depth + 1, seen)
        if found is None and rest and f"{module}.{head}" in self.modules:  # a submodule by its full name
            return self._resolve(f"{module}.{head}", rest, depth, seen)
        if found is None or not rest:
            return found
        return self.modules[found.module].definitions.get(f"{found.qualname}.{rest}")

    def is_offered(self, definition: Definition) -> bool:
        """Whether a package re-exports a definition of one of its modules, or defines it itself."""
        return (definition.module, definition.qualname) in self._offered

    def is_part(self, module: str) -> bool:
        """Whether other modules of the distribution are made of this one; what users enter by, nobody else imports."""
        return module in self._parts

    def is_own(self, name: str) -> bool:
        """Whether a public name begins with one of the distribution's packages, and not with a dependency's."""
        return name.partition(".")[0] in self.packages

    # -- collecting --

    def _collect_aliases(self) -> None:
        for module in self.modules.values():
            if not _is_public_path(module.name):
                continue
            for name in dict.fromkeys(self._bound(module)):
                if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
                    continue
                definition = self._find(module.name, name)
                if definition is not None:
                    if _is_package(module):
                        self._offered.add((definition.module, definition.qualname))
                    self._aliases[definition.module, definition.qualname].append(f"{module.name}.{name}")

    def _imported(self) -> frozenset[str]:
        """The modules that another module (not the package that holds them) imports from."""
        found: set[str] = set()
        for module in self.modules.values():
            sources = [
                source if name is None or f"{source}.{name}" not in self.modules else f"{source}.{name}"
                for source, name in module.imports.values()
            ]
            found.update(
                source
                for source in (*sources, *module.stars)
                if source in self.modules
                and source.rpartition(".")[0] != (module.name if _is_package(module) else "")
            )
        return frozenset(found)

    def _bound(self, module: Module) -> Iterator[str]:
        """The names that users may import from a module: its own, and what it re-exports on purpose.

        A plain module that imports a name for its own use does not offer it; a package, `__all__` or `as` the same name does.
        """
        yield from (name for name in module.definitions if "." not in name)
        if _is_package(module):
            yield from module.imports
            for star in self._sources[module.name]:
                yield from self._starred(star)
        elif module.exported is not None:
            yield from (name for name in module.imports if name in module.exported)
        else:
            yield from module.reexported

    def _starred(self, source: str) -> frozenset[str]:
        """What `from source import *` binds."""
        if source not in self._stars:
            found: set[str] = set()
            met, following = {source}, [source]
            for _step in range(_MAX_STARS):
                modules = [self.modules[one] for one in following if one in self.modules]
                for module in modules:
                    found.update(_bound_by_star(module))
                stars = [
                    star
                    for module in modules
                    if module.exported is None
                    for star in self._sources[module.name]
                ]
                following = [star for star in dict.fromkeys(stars) if star not in met]
                met.update(following)
            self._stars[source] = frozenset(found)
        return self._stars[source]

    def _find(self, module: str, name: str) -> Definition | None:
        """Find what a name means inside a module; what is nowhere is looked for once in each module."""
        if (module, name) in self._missing:
            return None
        seen: set[tuple[str, str]] = set()
        found = self._lookup(module, name, 0, seen)
        if found is None:
            self._missing |= seen
        return found

    def _lookup(
        self, module_name: str, name: str, depth: int, seen: set[tuple[str, str]]
    ) -> Definition | None:
        """Find what a name means inside a module; `seen` holds the places that KR searched."""
        module = self.modules.get(module_name)
        place = (module_name, name)
        if module is None or depth > _MAX_STEPS or place in seen or place in self._missing:
            return None
        if len(seen) >= _MOST_PLACES:
            return None
        seen.add((module_name, name))
        if name in module.definitions:
            found = module.definitions[name]
            return (
                (self._pointed_to(module, found, depth, seen) or found) if found.kind == "constant" else found
            )
        if name in module.imports:
            source, imported = module.imports[name]
            return None if imported is None else self._lookup(source, imported, depth + 1, seen)
        return self._lookup_starred(module_name, name, depth, seen) if depth < _MAX_STEPS else None

    def _lookup_starred(
        self, module_name: str, name: str, depth: int, seen: set[tuple[str, str]]
    ) -> Definition | None:
        for star in self._sources[module_name]:
            if len(seen) >= _MOST_PLACES:
                return None
            if (star, name) not in seen and name in self._starred(star):
                found = self._lookup(star, name, depth + 1, seen)
                if found is not None:
                    return found
        return None

    def _pointed_to(
        self, module: Module, constant: Definition, depth: int, seen: set[tuple[str, str]]
    ) -> Definition | None:
        """What a constant is another name of: `get = _api.get`, `Foo = _Foo`."""
        name = constant.name
        source, imported = module.imports.get(name, ("", None))
        if imported is not None:  # `try: from ._fast import parse`, and `parse = None` where that fails
            meant = self._lookup(source, imported, depth + 1, seen)
            if meant is not None:
                return meant
        value = (constant.value or "").strip()
        is_name = value.replace(".", "").replace("_", "").isalnum() and not value[0].isdigit()
        if not is_name or value == name or depth >= _MAX_STEPS:
            return None
        return self._resolve(module.name, value, depth + 1, seen)

    def _collect_subclasses(self) -> None:
        for module in self.modules.values():
            for definition in module.definitions.values():
                if definition.kind != "class":
                    continue
                for base in definition.bases:
                    parent = self.resolve(module.name, base)
                    if parent is not None and parent is not definition:
                        self._subclasses[parent.module, parent.qualname].append(definition)

    def _collect_instances(self) -> None:
        """Public objects of private classes: `loguru.logger` is how `_Logger.add` is called."""
        for module in self.modules.values():
            for definition in module.definitions.values():
                made = re.match(r"\w++(?:\s*+:[^=]++)?\s*+=\s*+([A-Za-z_][\w.]*+)\(", definition.signature)
                if definition.kind != "constant" or made is None:
                    continue
                maker = self.resolve(module.name, made[1])
                if maker is not None and maker.kind == "class":
                    aliases = self._aliases.get((definition.module, definition.qualname), [])
                    self._instances[maker.module, maker.qualname].extend(aliases)

    # -- choosing --

    def _name(self, definition: Definition) -> PublicName:
        if definition.called:
            return PublicName(definition.called, (f"{definition.module}.{definition.qualname}",))
        if "." not in definition.qualname:
            return self._choose(self._aliases.get((definition.module, definition.qualname), []), definition)
        owner_name, _dot, member = definition.qualname.rpartition(".")
        owner = self.modules[definition.module].definitions.get(owner_name)
        if owner is None:
            return self._choose([], definition)
        hidden = member.startswith("_") and not (member.startswith("__") and member.endswith("__"))
        known = self.of(owner)
        candidates = [f"{known.name}.{member}"] if known.public else []
        if not known.public:
            candidates += [
                f"{instance}.{member}"
                for instance in self._instances.get((owner.module, owner.qualname), [])[:_MOST_SUBCLASSES]
            ]
        for subclass in self._inheriting(owner, member):
            naming = self.of(subclass)
            if naming.public:
                candidates.append(f"{naming.name}.{member}")
        if hidden or not candidates:
            return PublicName(_written(f"{known.name}.{member}"), (), public=False)
        return self._choose(candidates, definition, known.name)

    def _inheriting(self, owner: Definition, member: str) -> Iterator[Definition]:
        waiting, seen = [owner], {(owner.module, owner.qualname)}
        while waiting and len(seen) < _MOST_SUBCLASSES:
            current = waiting.pop()
            known = self._subclasses.get((current.module, current.qualname), [])
            for subclass in known[:_MOST_SUBCLASSES]:
                overrides = f"{subclass.qualname}.{member}" in self.modules[subclass.module].definitions
                key = (subclass.module, subclass.qualname)
                if key in seen or overrides:
                    continue
                seen.add(key)
                waiting.append(subclass)
                yield subclass

    def _choose(self, candidates: list[str], definition: Definition, owner: str = "") -> PublicName:
        """The best of several names; among equals that of the class which defines it comes before its subclasses'."""
        if not candidates:
            return PublicName(f"{definition.module}.{definition.qualname}", (), public=False)
        ranked = sorted(dict.fromkeys(candidates), key=lambda name: self._rank(name, definition.name, owner))
        return PublicName(_written(ranked[0]), tuple(ranked[1 : _MAX_ALSO + 1]))

    def _rank(self, name: str, own: str, owner: str) -> tuple[bool, int, int, bool, bool, int, str]:
        top = name.partition(".")[0]
        preference = self.packages.index(top) if top in self.packages else len(self.packages)
        return (
            top not in self.packages,
            name.count("."),
            preference,
            name.rpartition(".")[2] != own,
            name.rpartition(".")[0] != owner,
            len(name),
            name,
        )


def _written(name: str) -> str:
    """A name as it is written: builtins need no module."""
    return name.removeprefix("builtins.")


def _bound_by_star(module: Module) -> Iterator[str]:
    """The names that `from module import *` binds, except those from star imports of that module."""
    if module.exported is not None:
        yield from module.exported
        return
    yield from (name for name in module.definitions if "." not in name and not name.startswith("_"))
    yield from (name for name in module.imports if not name.startswith("_"))


def _is_public_path(module: str) -> bool:
    return not any(part.startswith("_") for part in module.split("."))


def _is_package(module: Module) -> bool:
    return module.path.endswith(("__init__.py", "__init__.pyi"))
