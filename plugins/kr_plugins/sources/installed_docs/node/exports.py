"""What an npm package offers, by the names that its users write.

From the files that users enter by, `export * from` and `export { a as b } from` are followed, also into another package
that lies beside it. What nothing exports is not offered.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import gap, read_text
from kr_plugins.sources.installed_docs.node import declarations_parser as typings
from kr_plugins.sources.installed_docs.node.declarations import ModuleDeclarations
from kr_plugins.sources.installed_docs.node.joined_scripts import JoinedScripts
from kr_plugins.sources.installed_docs.node.package import (
    NodePackage,
    declaration_file,
    entries,
    find_package,
    is_alias,
    types_beside,
    types_package,
)
from kr_plugins.sources.installed_docs.node.script_comments import (
    LARGEST_SCRIPT,
    bare_names,
    documented_names,
    imported_files,
    script_files,
)
from kr_plugins.sources.installed_docs.node.source_comments import (
    LARGEST,
    DocumentedSource,
    documented,
    source_map,
    sources,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.declarations import Declaration

_LARGEST = 3_000_000
MOST_BYTES = 12_000_000
"""Of all declaration files that are read."""
_MAX_FILES = 4000
_MAX_STEPS = 16
_MOST_STEPS = 500_000
"""The limit of steps from name to name and file to file; large packages need some 100,000."""
_CHECKED_STEPS = 1_000
_MAX_PACKAGES = 500
"""The limit of other packages that an export may come from."""
_DEEPEST_NAMESPACE = 2
"""The largest number of dots in a name: `z.core.x`, not `z.core.util.x`."""


_MOST_CITED = 1_000


class File(NamedTuple):
    """A declaration file that was read, and the package that it belongs to."""

    path: Path
    package: NodePackage
    typings: ModuleDeclarations

    @property
    def locator(self) -> str:
        """The path as it is cited: `zod/lib/types.d.ts`."""
        return _cited(self.path, self.package.name, self.package.folder)


@lru_cache(maxsize=_MOST_CITED)
def _cited(path: Path, package: str, folder: Path) -> str:
    """The path of a file as it is cited; each of the thousands of declarations in it asks for that."""
    return f"{package}/{path.relative_to(folder).as_posix()}"


class ExportedName(NamedTuple):
    """Declarations of one name (overloads, or an interface and a constant), and how users call them."""

    name: str
    file: File
    declarations: tuple[Declaration, ...]
    subpath: str = ""
    """What follows the package's name in the import: `middleware` of `zustand/middleware`."""
    default: bool = False
    aliases: tuple[str, ...] = ()
    """Further names, such as `z.string` beside `string`."""
    renamed: tuple[File, int, str] | None = None
    """Where the name is given, if the declaration has another: the file, the line, and `stringType as string`."""

    @property
    def key(self) -> tuple[Path, int]:
        """Where it is declared."""
        return self.file.path, self.declarations[0].line


class _Source(NamedTuple):
    """The source of a declaration file, and what it documents."""

    path: Path
    found: dict[str, DocumentedSource]


class Exports:
    """The exports of one package.

    Args:
        package: whose.
        progress: called with the number of files read so far.
        check: called before each file; raises to stop.
    """

    def __init__(
        self, package: NodePackage, progress: Callable[[int], None], check: Callable[[], None]
    ) -> None:
        self.package = package
        self.notes: list[str] = []
        self.is_typed = False
        """Whether there are declarations; without them the comments in the code tell what is offered."""
        self._progress = progress
        self._check = check
        self._files: dict[Path, File | None] = {}
        self._bytes = 0
        self._steps = 0
        self._sources: dict[Path, _Source | None] = {}
        self._resolved: dict[tuple[Path, int, str], File | None] = {}
        self._packages: dict[tuple[str, Path], tuple[NodePackage, dict[str, Path]] | None] = {}
        self._scripts = JoinedScripts(
            package, lambda path: self._text(path, package, LARGEST_SCRIPT), self.called(), check
        )

    def offered(self) -> Iterator[ExportedName]:
        """Everything that is exported, the package's main entry first; what that has is not told again of others."""
        declaring, found = self._entries()
        seen: set[str] = set()
        self.is_typed = any(not subpath for subpath, _path in found)
        if not self.is_typed:
            yield from self._commented()
        for subpath, path in found:
            file = self.file(path, declaring)
            if file is None:
                continue
            listed = [*self._of(file), *self._added(file), *self._parts(file)]
            for each in listed:
                if each.name not in seen:
                    yield each._replace(subpath=subpath)
            seen.update(each.name for each in listed)

    def _commented(self) -> Iterator[ExportedName]:
        """What the comments in the code document; each name once, that of the entry first."""
        seen: set[str] = set()
        bare: dict[str, ExportedName] = {}
        entered = script_files(self.package)
        for path in [*entered, *imported_files(self.package, entered)]:
            self._check()
            whole = path in entered
            text = self._text(path, self.package, LARGEST_SCRIPT)
            if text is None:
                continue
            self._bytes += len(text)
            file = File(path, self.package, ModuleDeclarations())
            for name, declaration, aliases in documented_names(text, self.called()):
                if name not in seen and (whole or "." in name):
                    seen.add(name)
                    yield ExportedName(name, file, (declaration,), aliases=aliases)
            for name, declaration, aliases in bare_names(text, self.called()):
                if whole or "." in name:
                    bare.setdefault(name, ExportedName(name, file, (declaration,), aliases=aliases))
        yield from (each for name, each in bare.items() if name not in seen)

    def _entries(self) -> tuple[NodePackage, list[tuple[str, Path]]]:
        found = list(entries(self.package))
        if any(not subpath for subpath, _path in found):
            return self.package, found
        types = types_package(self.package)
        if types is None:
            if other := types_beside(self.package):
                self.notes.append(f"{other.name} left out: it is {other.data_name} {other.version}")
            return self.package, found
        if gap(types.version, self.package.version) == "major" and not self._is_before(types):
            self.notes.append(
                f"{types.name} {types.version} left out: {self.package.name} {self.package.version} is installed"
            )
            return self.package, found
        return types, list(entries(types))

    def _is_before(self, types: NodePackage) -> bool:
        """Whether declarations are those of the major version before: the next ones often come late, or never."""
        theirs, ours = (major_of(one.version) for one in (types, self.package))
        return theirs is not None and ours is not None and theirs > 0 and ours == theirs + 1

    def file(self, path: Path, package: NodePackage) -> File | None:
        """A file, read once; None where it cannot be read, is too large, or one too many."""
        if path not in self._files:
            self._check()
            self._files[path] = self._read(path, package)
            self._progress(len(self._files))
        return self._files[path]

    def _read(self, path: Path, package: NodePackage) -> File | None:
        try:
            size = path.stat().st_size
            large = size > _LARGEST or self._bytes + size > MOST_BYTES or len(self._files) > _MAX_FILES
            text = "" if large else read_text(path, limit=_LARGEST, within=package.within, errors="replace")
        except OSError as error:
            self.notes.append(f"{package.name}/{path.name}: cannot be read ({error.strerror})")
            return None
        if large:
            self.notes.append(f"{package.name}/{path.name}: too large, left out")
            return None
        self._bytes += size
        try:
            return File(path, package, typings.read(text))
        except RecursionError:
            self.notes.append(f"{package.name}/{path.name}: nested too deep, left out")
            return None

    def documented(self, each: ExportedName) -> ExportedName:
        """An export with the documentation that its source has, where its declarations have none."""
        if not all(_is_bare(one) for one in each.declarations):
            return each
        known = self._source(each.file)
        found = known.found.get(each.declarations[0].name) if known is not None else None
        if known is None or found is None:
            return each
        told = replace(
            each.declarations[0], line=found.line, signature=found.signature, comment=found.comment
        )
        return each._replace(file=each.file._replace(path=known.path), declarations=(told,))

    def scripted(
        self, names: Iterable[str], declared: Sequence[Declaration]
    ) -> tuple[File, Declaration] | None:
        """What a script of the package documents of something declared, as a declaration in that script."""
        told = self._scripts.of(names, declared) if self.is_typed else None
        if told is None:
            return None
        return File(told.path, self.package, ModuleDeclarations()), told.declaration

    def _source(self, file: File) -> _Source | None:
        """What the source of a declaration file documents; None where the package does not ship one."""
        if file.path not in self._sources:
            self._check()
            self._sources[file.path] = self._read_source(file)
        return self._sources[file.path]

    def _read_source(self, file: File) -> _Source | None:
        mapped = self._text(source_map(file.path), file.package) or ""
        for path in sources(file.path, mapped, file.package.folder):
            text = self._text(path, file.package)
            if text is not None:
                self._bytes += len(text)
                return _Source(path, documented(text)) if "/**" in text else None
        return None

    def _text(self, path: Path, package: NodePackage, limit: int = LARGEST) -> str | None:
        if self._bytes > MOST_BYTES:
            return None
        try:
            return read_text(path, limit=limit, within=package.within, errors="replace")
        except (OSError, ValueError):
            return None

    # -- following --

    def _may_go_on(self) -> bool:
        """Count a step, and check from time to time if the caller gave up; False after too many steps."""
        self._steps += 1
        if self._steps % _CHECKED_STEPS == 0:
            self._check()
        if self._steps == _MOST_STEPS:
            self.notes.append(f"{self.package.name}: too many exports, the rest left out")
        return self._steps < _MOST_STEPS

    def _of(self, file: File) -> Iterator[ExportedName]:
        """What a file that users enter by offers."""
        own = file.typings
        blocks = [own.modules[name] for name in (file.package.name, self.package.name) if name in own.modules]
        if blocks and not (own.exports or own.stars or own.reexports or own.assigned):
            # `declare module "express" { ... }` is the package itself, but in a module it only adds to it
            file = file._replace(typings=blocks[0])
        names: dict[str, ExportedName] = {}
        self._collect(file, names, 0, set())
        for each in self._assigned(file):
            names.setdefault(each.name, each)
        best: dict[tuple[Path, int], str] = {}
        for name, each in sorted(names.items(), key=lambda item: _strangeness(*item)):
            best.setdefault(each.key, name)
        aliases: dict[str, list[str]] = {}
        for name, each in names.items():
            if best[each.key] != name:
                aliases.setdefault(best[each.key], []).append(name)
        for name, each in names.items():
            if best[each.key] == name:
                yield each._replace(aliases=tuple(aliases.get(name, ())[:4]))

    def _added(self, file: File) -> Iterator[ExportedName]:
        """The members that files beside it add to the type of its default export, as those of `lodash` do."""
        local = file.typings.assigned
        kinds = [one.type_name for one in file.typings.declarations.get(local or "", ()) if one.type_name]
        wanted = {kind.rpartition(".")[2] for kind in kinds}
        for path in dict.fromkeys(file.typings.references) if wanted else ():
            other = self.resolve(file, path)
            for source, block in other.typings.modules.items() if other is not None else ():
                if other is None or not source.startswith(".") or not self._may_go_on():
                    continue
                there = declaration_file(other.path.parent, source, other.package.folder)
                found = [one for name in wanted for one in block.declarations.get(name, ())]
                if there == file.path and found:
                    aliases = (local,) if local and local != self.called() else ()
                    inner = other._replace(typings=block)
                    yield ExportedName(self.called(), inner, tuple(found), default=True, aliases=aliases)

    def _parts(self, file: File) -> Iterator[ExportedName]:
        """What files that a declaration file refers to declare of the same module, as those of `mongoose` do: `declare module 'mongoose'` in each."""
        names = {file.package.name, self.package.name}
        found: dict[str, ExportedName] = {}
        for path in dict.fromkeys(file.typings.references) if names & set(file.typings.modules) else ():
            other = self.resolve(file, path)
            for source, block in other.typings.modules.items() if other is not None else ():
                if other is not None and source in names and self._may_go_on():
                    for each in self._of(other._replace(typings=block)):
                        found.setdefault(each.name, each)
        yield from found.values()

    def _collect(
        self, file: File, names: dict[str, ExportedName], depth: int, visited: set[Path], dots: int = 0
    ) -> None:
        """Add what a file exports; its own exports before those of `export *`. `dots` counts the dots of the prefix."""
        if depth > _MAX_STEPS or file.path in visited or not self._may_go_on():
            return
        visited.add(file.path)
        for exported, local in file.typings.exports.items():
            found = self._local(file, local, depth)
            if found is not None:
                names.setdefault(exported, _called(found, file, exported))
            elif file.typings.imports.get(local, ("", ""))[1] == "*":
                target = self.resolve(file, file.typings.imports[local][0])
                self._namespace(target, exported, names, depth, dots)
        for source, name, exported in file.typings.reexports:
            target = self.resolve(file, source)
            if name == "*":
                self._namespace(target, exported, names, depth, dots)
            if target is None or name == "*":
                continue
            found = self._exported(target, name, depth + 1)
            if found is not None:
                names.setdefault(exported, _called(found, file, exported)._replace(default=False))
        for source in file.typings.stars:
            target = self.resolve(file, source)
            if target is not None:
                self._collect(target, names, depth + 1, visited, dots)

    def _namespace(
        self, file: File | None, prefix: str, names: dict[str, ExportedName], depth: int, dots: int
    ) -> None:
        """Add what a file exports as members of an object (`import * as z`, `export * as z`)."""
        inner: dict[str, ExportedName] = {}
        if file is not None and dots < _DEEPEST_NAMESPACE:
            self._collect(file, inner, depth + 1, set(), dots + 1)
        for name, each in inner.items():
            if name.count(".") < _DEEPEST_NAMESPACE and self._may_go_on():
                names.setdefault(f"{prefix}.{name}", each._replace(name=f"{prefix}.{name}"))

    def _local(
        self, file: File, name: str, depth: int, seen: set[tuple[Path, int, str]] | None = None
    ) -> ExportedName | None:
        declared = file.typings.declarations.get(name)
        if declared:
            return ExportedName(name, file, tuple(declared))
        if name not in file.typings.imports or depth > _MAX_STEPS or not self._may_go_on():
            return None
        source, imported = file.typings.imports[name]
        target = self.resolve(file, source) if imported != "*" else None
        return self._exported(target, imported, depth + 1, seen) if target is not None else None

    def _exported(
        self, file: File, name: str, depth: int, seen: set[tuple[Path, int, str]] | None = None
    ) -> ExportedName | None:
        """Find what a file exports by a name; `seen` holds the files that KR searched for it."""
        seen = set() if seen is None else seen
        asked = file.path, id(file.typings), name
        if depth > _MAX_STEPS or asked in seen or not self._may_go_on():
            return None
        seen.add(asked)
        if name == "default":
            return next(iter(self._assigned(file, depth, seen)), None)
        if name in file.typings.exports:
            return self._local(file, file.typings.exports[name], depth, seen)
        for source, there, exported in file.typings.reexports:
            if exported == name and there != "*" and (target := self.resolve(file, source)) is not None:
                return self._exported(target, there, depth + 1, seen)
        for source in file.typings.stars:
            target = self.resolve(file, source)
            found = self._exported(target, name, depth + 1, seen) if target is not None else None
            if found is not None:
                return found
        return None

    def _assigned(
        self, file: File, depth: int = 0, seen: set[tuple[Path, int, str]] | None = None
    ) -> list[ExportedName]:
        """What `export default` or `export =` names, and the members of its namespace."""
        local = file.typings.assigned
        if local is None:
            return []
        found = self._local(file, local, depth, seen)
        if found is None:
            return []
        name = self.called() if len(local) < 3 or local.startswith("_") or local == "default" else local
        return [found._replace(name=name, default=True), *self._lent(found, depth, seen)]

    def _lent(
        self, found: ExportedName, depth: int, seen: set[tuple[Path, int, str]] | None
    ) -> Iterator[ExportedName]:
        """What a namespace exports of the file around it: `namespace knex { export { knex, Knex } }`."""
        for one in found.declarations:
            for exported, local in one.inner.exports.items() if one.inner is not None else ():
                if one.inner is None or local in one.inner.declarations or local == found.name:
                    continue
                lent = self._local(found.file, local, depth, seen)
                if lent is not None:
                    yield lent._replace(name=exported)

    def called(self) -> str:
        """The name that users give to what the package exports by default: `express`, `isPlainObject`."""
        first, *rest = self.package.name.rpartition("/")[2].replace(".", "-").split("-")
        return first + "".join(part.capitalize() for part in rest)

    def local(self, file: File, name: str) -> ExportedName | None:
        """What a name means inside a file; `core.Request` is what another file exports."""
        head, _dot, last = name.rpartition(".")
        source, imported = file.typings.imports.get(head, ("", ""))
        if imported == "*" and (target := self.resolve(file, source)) is not None:
            return self._exported(target, last, 0)
        for one in file.typings.declarations.get(head, ()) if head else ():
            if one.inner is not None and last in one.inner.declarations:
                return ExportedName(name, file, tuple(one.inner.declarations[last]))
        return self._local(file, last, 0)

    def resolve(self, file: File, source: str) -> File | None:
        """The file that an import means: beside it, or the entry of another package."""
        key = (file.path, id(file.typings), source)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(file, source)
        return self._resolved[key]

    def _resolve(self, file: File, source: str) -> File | None:
        if source in {"", "."} or source.startswith("."):
            path = declaration_file(file.path.parent, source, file.package.folder)
            return self.file(path, file.package) if path is not None else None
        parts = source.split("/")
        count = 2 if source.startswith("@") else 1
        other = self._other("/".join(parts[:count]), file.package)
        if other is None:
            block = file.typings.modules.get(source)
            return file._replace(typings=block) if block is not None else None
        declaring, found = other
        path = found.get("/".join(parts[count:]))
        return self.file(path, declaring) if path is not None else None

    def _other(self, name: str, package: NodePackage) -> tuple[NodePackage, dict[str, Path]] | None:
        """Find the package that another one imports by a name, and the files that users enter it by."""
        key = (name, package.folder)
        if key not in self._packages:
            self._check()
            room = len(self._packages) < _MAX_PACKAGES
            other = find_package(name, package.folder, package.within) if room else None
            if (
                other is None and room and not name.startswith("@")
            ):  # `@types/express` imports from such packages
                other = find_package(f"@types/{name}", package.folder, package.within)
            if other is None or is_alias(other, package):
                self._packages[key] = None
                if other is not None:
                    self.notes.append(f"{other.name} left out: it is {other.data_name} {other.version}")
                return None
            found = list(entries(other))
            if not found and (types := types_package(other)) is not None:
                other, found = types, list(entries(types))
            self._packages[key] = other, dict(reversed(found))  # the first of a name counts
        return self._packages[key]


def _is_bare(one: Declaration) -> bool:
    """Whether a function or constant has no documentation, or only that it is deprecated."""
    is_value = one.kind == "function" or (one.kind == "constant" and not one.type_name and not one.members)
    return is_value and not (one.comment and (one.comment.prose or one.comment.hidden))


def major_of(version: str) -> int | None:
    """The major number of a version of npm."""
    number = version.partition(".")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 9 else None


def _called(found: ExportedName, file: File, exported: str) -> ExportedName:
    """What a file exports by a name, with the place where it is given that name."""
    renamed = file.typings.renamed.get(exported)
    return found._replace(name=exported, renamed=(file, *renamed) if renamed else found.renamed)


def _strangeness(name: str, each: ExportedName) -> tuple[bool, bool, int]:
    """How far a name is from what users write: a member of an object, another name than the declared one, long."""
    return "." in name, name != each.declarations[0].name, len(name)
