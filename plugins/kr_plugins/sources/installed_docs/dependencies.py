"""The direct dependencies of an installed package: what it re-exports is answered as its own, the rest beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.toolkit import OwnFiles, import_names, read_text
from kr_plugins.sources.installed_docs.python.module_parser import Unreadable, read_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.toolkit import Distribution, LocalProject
    from kr_plugins.sources.installed_docs.metadata import Metadata
    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module

_MAX_RECORD = 20_000_000
_MAX_MODULES = 60
"""At most this many modules of dependencies are read for the re-exports of a package."""
_MAX_SOURCES = 250
"""Python files of a dependency that is read beside the library that was asked about."""
_MAX_WANTED = 3000
_NEVER_ASKED = frozenset({"typing-extensions", "certifi", "tzdata", "colorama"})
"""Dependencies that hand nothing on that is asked about."""


def installed_requirements(
    distribution: Distribution, metadata: Metadata | None, project: LocalProject
) -> list[Distribution]:
    """The distributions that a distribution requires without an extra, as they are installed in the same environment."""
    found: dict[str, Distribution] = {}
    for name in metadata.required() if metadata is not None else ():
        one = project.distribution(name, own=False)
        same = one is not None and one.environment.prefix == distribution.environment.prefix
        if one is not None and same and one.name not in {distribution.name, *_NEVER_ASKED}:
            found.setdefault(one.name, one)
    return list(found.values())


def package_url(distribution: Distribution) -> str:
    """The package URL of a distribution, `pkg:pypi/httpx@0.28.1`."""
    return f"pkg:pypi/{distribution.name}@{distribution.version}"


def is_small(distribution: Distribution) -> bool:
    """Whether a distribution is read in a second or so; a larger one is asked only by its own name."""
    try:
        record = read_text(
            distribution.metadata_folder / "RECORD",
            limit=_MAX_RECORD,
            within=distribution.environment.bounds,
            errors="replace",
        )
    except OSError:
        return False
    return record.count(".py,") <= _MAX_SOURCES


class Reexports:
    """Reads from dependencies what a package offers under its own name, and the classes that its own are made of.

    Args:
        modules: of the package; what is read is added to them.
        dependencies: the distributions that may be read.
        within: the folders in one of which each source must really lie; anywhere if not given.
        check: called before each file; raises to stop.
    """

    def __init__(
        self,
        modules: dict[str, Module],
        dependencies: Sequence[Distribution],
        within: Sequence[Path] | None,
        check: Callable[[], None],
    ) -> None:
        self._modules = modules
        self._own = frozenset(name.partition(".")[0] for name in modules)
        self._within = within
        self._check = check
        self._providers: Mapping[str, Distribution] = {
            top: one for one in dependencies for top in import_names(one) if top not in self._own
        }
        self._own_files = {one.name: OwnFiles(one) for one in self._providers.values()}
        self._read_modules: dict[str, Module | None] = {}

    def add(self) -> None:
        """Read the modules of dependencies that define what is handed on, each once, up to a limit."""
        if not self._providers:
            return
        waiting = list(self._offered())
        seen = set(waiting)
        while waiting and len(seen) < _MAX_WANTED:
            source, name = waiting.pop()
            for following in self._follow(source, name):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)

    def _offered(self) -> Iterator[tuple[str, str]]:
        """Module and name of what own public modules hand on on purpose, and of the bases of the classes on top."""
        for module in self._modules.values():
            if any(part.startswith("_") for part in module.name.split(".")):
                continue
            for name, (source, imported) in module.imports.items():
                handed_on = name in module.reexported or name in (module.exported or ())
                if imported is not None and handed_on and self._provides(source):
                    yield source, imported
            for name in module.exported or ():
                known = module.definitions.get(name)
                if known is not None and known.kind == "constant":
                    yield from self._spoken_of(module, (known.value or "",))
        for module, definition in self._on_top():
            yield from self._spoken_of(module, definition.bases)

    def _on_top(self) -> Iterator[tuple[Module, Definition]]:
        """The classes that the package itself offers, and their own bases."""
        waiting = [
            found
            for top in sorted(self._own)
            if top in self._modules
            for found in (
                (top, name) for name in (*self._modules[top].imports, *self._modules[top].definitions)
            )
        ]
        seen: set[tuple[str, str]] = set()
        while waiting and len(seen) < _MAX_WANTED:
            place = waiting.pop()
            module = self._modules.get(place[0])
            if module is None or place in seen:
                continue
            seen.add(place)
            definition = module.definitions.get(place[1])
            if definition is not None and definition.kind == "class":
                yield module, definition
                waiting += [(module.name, base) for base in definition.bases]
            source, imported = module.imports.get(place[1], ("", None))
            if imported is not None:
                waiting.append((source, imported))

    def _follow(self, source: str, name: str) -> Iterator[tuple[str, str]]:
        """What else has to be read to know a name of a dependency's module."""
        module = self._module(source)
        if module is None:
            return
        definition: Definition | None = module.definitions.get(name)
        if definition is not None:
            yield from self._spoken_of(module, definition.bases)
        elif name in module.imports:
            there, imported = module.imports[name]
            if imported is not None and self._provides(there):
                yield there, imported
        else:
            yield from ((star, name) for star in module.stars if self._provides(star))

    def _spoken_of(self, module: Module, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Where plain or dotted names come from, if that is a dependency."""
        for name in names:
            head, _dot, rest = name.partition(".")
            source, imported = module.imports.get(head, ("", None))
            if imported is None and rest.isidentifier() and self._provides(source):
                yield source, rest
            elif imported is not None and not rest and self._provides(source):
                yield source, imported
            elif not source and not rest and name in module.definitions and module.origin:
                yield module.name, name

    def _provides(self, source: str) -> bool:
        return source.partition(".")[0] in self._providers

    def _module(self, name: str) -> Module | None:
        if name not in self._read_modules:
            self._read_modules[name] = (
                self._read(name) if sum(map(bool, self._read_modules.values())) < _MAX_MODULES else None
            )
        return self._read_modules[name]

    def _read(self, name: str) -> Module | None:
        self._check()
        provider = self._providers[name.partition(".")[0]]
        if not all(part.isidentifier() for part in name.split(".")):
            return None
        path = provider.site.joinpath(*name.split("."))
        candidates = (
            path / "__init__.py",
            path.with_suffix(".py"),
            path / "__init__.pyi",
            path.with_suffix(".pyi"),
        )
        for file in candidates:
            if file not in self._own_files[provider.name]:
                continue
            try:
                module = read_module(file, name, file.relative_to(provider.site).as_posix(), self._within)
            except Unreadable:
                continue
            module.origin = (package_url(provider), provider.version)
            self._modules[name] = module
            return module
        return None
