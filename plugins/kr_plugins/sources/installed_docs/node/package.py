"""An npm package as it lies in `node_modules`: its `package.json`, its texts, and which declaration files users enter by."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from kr_core.toolkit import read_text
from kr_plugins.sources.installed_docs.text_sections import TextFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TYPINGS = (".d.ts", ".d.mts", ".d.cts")
_CODE = re.compile(r"\.(?:[cm]?js|jsx|[cm]?tsx?)$")
_TYPES_OF = {".mjs": (".d.mts", ".d.ts"), ".cjs": (".d.cts", ".d.ts"), ".js": TYPINGS, ".jsx": TYPINGS}
_CONDITIONS = ("types", "import", "module", "node", "default", "require", "browser")
"""In this order the branches of `exports` are tried; the first that leads to declarations is taken."""
_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w~-][\w.~-]*")
_GROUPS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_DEEPEST = 6
_MAX_ENTRIES = 120
_LONGEST_NAME = 300
_README = re.compile(r"readme(?:\.(?:md|markdown|mkd|txt|rst))?", re.IGNORECASE)
_LARGEST_README = 1_000_000
LARGEST_JSON = 2_000_000


class NodePackage(NamedTuple):
    """A package: the name it is imported by, its version, where it lies, its `package.json`, and where its files must lie."""

    name: str
    version: str
    folder: Path
    data: dict[str, Any]
    within: Sequence[Path] | None = None
    """The folders in one of which its files must really lie; anywhere if not given."""

    @property
    def url(self) -> str:
        """The package URL (https://github.com/package-url/purl-spec), `pkg:npm/zod@3.22.0`."""
        return f"pkg:npm/{quote(self.data_name)}@{quote(self.version)}"

    @property
    def data_name(self) -> str:
        """The name that the package gives itself; another than its folder's where an alias installed it."""
        name = self.data.get("name")
        is_name = isinstance(name, str) and len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
        return str(name) if is_name else self.name


def read_package(name: str, folder: Path, within: Sequence[Path] | None = None) -> NodePackage | None:
    """The package in a folder, or None where its `package.json` is absent, broken, elsewhere or without a version."""
    try:
        data = json.loads(read_text(folder / "package.json", limit=LARGEST_JSON, within=within))
    except (OSError, ValueError, RecursionError):
        return None
    version = data.get("version") if isinstance(data, dict) else None
    if not isinstance(version, str) or len(version) > _LONGEST_NAME:
        return None
    return NodePackage(name, version, folder, data, within)


def find_package(name: str, folder: Path, within: Sequence[Path] | None = None) -> NodePackage | None:
    """The package that a file in a folder would import, as Node looks for it: in each `node_modules` upward.

    pnpm lays the dependencies of a package beside the folder that its link leads to, so links are followed first.
    """
    if not _NAME.fullmatch(name):
        return None
    try:
        here = folder.resolve()
    except (OSError, RuntimeError):
        return None
    for parent in (here, *here.parents):
        modules = parent if parent.name == "node_modules" else parent / "node_modules"
        if (modules / name / "package.json").is_file():
            return read_package(name, modules / name, within)
    return None


def types_package(package: NodePackage) -> NodePackage | None:
    """The package of DefinitelyTyped that declares another (`@types/express`, `@types/babel__core`)."""
    types = types_beside(package)
    return None if types is None or is_alias(types, package) else types


def types_beside(package: NodePackage) -> NodePackage | None:
    """What lies where the types of a package would: an alias may have laid any other package there."""
    name = package.name.removeprefix("@").replace("/", "__")
    if package.name.startswith("@types/"):
        return None
    return _beside(package, f"@types/{name}") or find_package(
        f"@types/{name}", package.folder, package.within
    )


def is_alias(found: NodePackage, asking: NodePackage) -> bool:
    """Whether a package has another name, by which neither the one that imports it nor the folder above asks for it.

    npm lays the alias of any dependency (`"@types/express": "npm:other@4"`) where all others find it.
    """
    if found.data_name == found.name or _asks_for(found.name, asking.data):
        return False
    above = found.folder.parents[found.name.count("/")].parent
    try:
        data = json.loads(read_text(above / "package.json", limit=LARGEST_JSON, within=found.within))
    except (OSError, ValueError, RecursionError):
        return True
    return not _asks_for(found.name, data)


def _asks_for(name: str, data: object) -> bool:
    groups = [data.get(group) for group in _GROUPS] if isinstance(data, dict) else []
    return any(isinstance(group, dict) and name in group for group in groups)


def _beside(package: NodePackage, name: str) -> NodePackage | None:
    """A package in the same `node_modules` as the link to this one."""
    modules = package.folder.parents[package.name.count("/")]
    return read_package(name, modules / name, package.within)


def readme_of(folder: Path) -> Path | None:
    """The README, however its name is written; translations are left out."""
    try:
        names = sorted((path for path in folder.iterdir() if _README.fullmatch(path.name)), key=_readme_rank)
    except OSError:
        return None
    return next((path for path in names if path.is_file()), None)


def readme_text(package: NodePackage, title: str) -> TextFile | None:
    """The README of a package as a text under a title; None where there is none or it cannot be read."""
    path = readme_of(package.folder)
    if path is None:
        return None
    try:
        text = read_text(path, limit=_LARGEST_README, within=package.within, errors="replace")
    except OSError:
        return None
    return TextFile(title, f"{package.name}/{path.name}", text)


def _readme_rank(path: Path) -> tuple[bool, str]:
    return path.suffix.lower() not in {".md", ".markdown", ".mkd"}, path.name


def entries(package: NodePackage) -> Iterator[tuple[str, Path]]:
    """The declaration files that users enter by, each with the path after the package's name ("" for the package itself).

    They are named by `exports`, `types` or `typings`, or lie beside what `main` names.
    """
    exports = package.data.get("exports")
    subpaths: list[tuple[str, object]] = []
    main: object = exports
    if isinstance(exports, dict) and any(isinstance(key, str) and key.startswith(".") for key in exports):
        main = exports.get(".")
        subpaths = [(key, value) for key, value in exports.items() if isinstance(key, str) and key != "."]
        subpaths.sort(key=lambda one: one[0].count("/"))  # `./pg-core` exports what `./pg-core/db` does
    data = package.data
    tried = [data.get("types"), data.get("typings"), *_targets(main), data.get("main"), "index.d.ts"]
    found = next((path for target in tried if (path := _declares(package.folder, target)) is not None), None)
    if found is not None:
        yield "", found
    count = 0
    for key, value in subpaths:
        if "*" in key or len(key) > _LONGEST_NAME or count >= _MAX_ENTRIES:
            continue
        path = next(
            (path for target in _targets(value) if (path := _declares(package.folder, target)) is not None),
            None,
        )
        if path is not None and path != found:
            count += 1
            yield key.removeprefix("./"), path


def _targets(value: object, depth: int = 0) -> Iterator[str]:
    """The files that a branch of `exports` may lead to, the likeliest first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for each in value:
            yield from _targets(each, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        known = [value[key] for key in _CONDITIONS if key in value]
        for each in [*known, *(other for key, other in value.items() if key not in _CONDITIONS)]:
            yield from _targets(each, depth + 1)


def _declares(folder: Path, target: object) -> Path | None:
    """The declaration file that a target names, or that lies beside it; never one outside the package."""
    if not isinstance(target, str) or not target or "*" in target or "\0" in target:
        return None
    return declaration_file(folder, target.removeprefix("./"), folder)


def declaration_file(folder: Path, target: str, base: Path) -> Path | None:
    """What `import "./target"` in a folder means to TypeScript, or None; `base` is the package that it may not leave."""
    parts = Path(target).parts
    path = folder
    for part in parts:
        if part == "..":
            path = path.parent
        elif part != ".":
            path /= part
    if path != base and base not in path.parents:
        return None
    ending = _CODE.search(path.name)
    candidates = [path] if path.name.endswith(TYPINGS) else []
    if ending and not candidates:
        stem = path.name[: ending.start()]
        candidates = [path.with_name(stem + suffix) for suffix in _TYPES_OF.get(ending[0], TYPINGS)]
    candidates += [path.with_name(path.name + suffix) for suffix in TYPINGS if path != base]
    candidates += [path / f"index{suffix}" for suffix in TYPINGS]
    return next((each for each in candidates if _is_file(each)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
