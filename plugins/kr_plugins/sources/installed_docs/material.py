"""What there is to read about a framework: an installed package, the standard library, built pages, or the project itself."""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import re
import sys
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import (
    OwnFiles,
    fold_name,
    gap,
    import_names,
    is_python,
    lies_within,
    load_toml,
    module_roots,
    read_bytes,
    read_text,
    source_address,
)
from kr_plugins.sources.installed_docs import package_index
from kr_plugins.sources.installed_docs.cited_passages import Origin
from kr_plugins.sources.installed_docs.dependencies import installed_requirements, is_small, package_url
from kr_plugins.sources.installed_docs.metadata import read_metadata
from kr_plugins.sources.installed_docs.node.node_material import NodeMaterial
from kr_plugins.sources.installed_docs.node.package import (
    NodePackage,
    entries,
    find_package,
    read_package,
    types_package,
)
from kr_plugins.sources.installed_docs.node.readmes import DependencyReadmes, dependencies_of
from kr_plugins.sources.installed_docs.package_index import Material
from kr_plugins.sources.installed_docs.pages.page_material import PageMaterial, in_distribution, in_folders
from kr_plugins.sources.installed_docs.python import builtins

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kr_core.toolkit import Distribution, LocalProject
    from kr_plugins.sources.installed_docs.metadata import Metadata
    from kr_plugins.sources.installed_docs.package_index import Readable
    from kr_plugins.sources.installed_docs.pages.page_material import Documentation

_EVERYDAY_MODULES = frozenset(
    """abc array ast calendar cmd code codecs copy email enum fractions gc glob graphlib html imp keyword locale mailbox
    numbers operator parser pipes platform profile queue sched select selectors shelve signal site stat statistics string
    struct symbol test textwrap this threading time token trace turtle types uuid warnings wave zipapp""".split()
)
"""Modules whose names are also plain words: only `the time module`, `time.sleep` or backticks mean them."""
_DOC_FOLDERS = ("docs", "doc")
_DOC_SUFFIXES = (".md", ".rst", ".txt")
_MAX_TEXTS = 500
_MAX_SEEN = 20_000
"""KR looks at this many files below `docs`."""
_MAX_DEPENDENCIES = 8
_LARGEST_PROJECT = 5_000_000
_LARGEST_METADATA = 20_000_000
"""Bytes of a RECORD; one of 100,000 files has some ten million."""


@dataclass(slots=True)
class LocatedMaterial:
    """Material, and how to speak of it."""

    material: Readable
    names: tuple[str, ...]
    """Names of the whole, which say nothing about one passage."""
    origin: Origin
    where: str
    """The environment or file the version was read from."""
    modules: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    """What a reader must know of all of it, and which no index keeps."""
    dependencies: Callable[[], Sequence[LocatedMaterial]] = tuple
    """The material of direct dependencies, for what the library itself does not say."""
    came_along: Callable[[Collection[str]], Mapping[str, str]] = lambda _names: {}
    """The packages of these names beside it that came with the project's repository: a note for the package URL of each."""

    def modules_in(self, question: str) -> tuple[str, ...]:
        """The top-level modules that a question names, so that `json` is looked for in `json`."""
        named = []
        for module in self.modules:
            marked = re.search(
                rf"`{module}\b|\b{module}\.\w|\b{module} module\b|\bmodule {module}\b|\bimport {module}\b",
                question,
            )
            plain = module not in _EVERYDAY_MODULES and re.search(
                rf"(?i)(?<![\w.-]){module}(?![\w-])", question
            )
            if marked or plain:
                named.append(module)
        return tuple(sorted(named))


class PageFolders(NamedTuple):
    """Where built documentation is looked for."""

    folders: Sequence[Path] = ()
    vouched: bool = True
    """Whether pages in the project count as documentation of the project that they name: the user trusts who says so."""


_NO_FOLDERS = PageFolders()
_MOST_NOTES = 3


def find(framework: str, project: LocalProject, folders: PageFolders = _NO_FOLDERS) -> LocatedMaterial | None:
    """The material for a framework, or None where nothing of it is installed.

    Args:
        framework: by any of its names.
        project: where it is looked for.
        folders: where built documentation is looked for.
    """
    if is_python(framework):
        return _with_pages(framework, _standard_library(project), project, None, folders)
    module = project.module(framework)
    package = (
        read_package(module.name, module.folder / module.name, module.bounds) if module is not None else None
    )
    if package is not None:
        known = project.version_of(framework)
        return _node_package(framework, project, package, known[1] if known else "node_modules")
    distribution = project.distribution(framework)
    if distribution is not None:
        metadata = read_metadata(distribution)
        required = installed_requirements(distribution, metadata, project)
        found = _distribution(framework, project, distribution, metadata, required)
        return _with_pages(framework, found, project, distribution, folders)
    if fold_name(framework) == fold_name(own_name(project.root)):
        own = _own_documentation(project)
        if own is not None:
            return own
    return _with_pages(framework, None, project, None, folders)


def _with_pages(
    framework: str,
    found: LocatedMaterial | None,
    project: LocalProject,
    distribution: Distribution | None,
    folders: PageFolders,
) -> LocatedMaterial | None:
    """What was found with the built documentation of it; that of another major version is left out, and noted."""
    shipped = list(in_distribution(distribution)) if distribution is not None else []
    listed = [
        *shipped,
        *(
            one
            for one in _placed(in_folders(folders.folders), project.root)
            if _is_about(one.head.project, framework, distribution, project)
        ),
    ]
    if not listed:
        return found
    if found is None:
        first = listed[0]
        name = fold_name(first.head.project)
        url = f"pkg:generic/{name}@{first.head.version}" if first.head.version else f"pkg:generic/{name}"
        official = folders.vouched or not first.place
        said = () if official else (_own_pages(first, "not rated as official"),)
        material = PageMaterial(f"pages-{name}", first.head.version or "unknown", listed[:1])
        names = tuple(dict.fromkeys((framework, first.head.project, name)))
        origin = Origin(f"file:{first.place}" if first.place else url, first.head.version or None, official)
        return LocatedMaterial(material, names, origin, _place(first.folder, project.root), notes=said)
    version = found.material.version
    own = [one for one in listed if one.place and not folders.vouched]
    listed = [one for one in listed if one not in own]
    fitting = [one for one in listed if gap(one.head.version, version) != "major"]
    notes = [
        f"{_place(one.folder, project.root)}: documentation of {found.material.label} {one.head.version} left out, {version} is installed"
        for one in listed
        if one not in fitting
    ]
    material = PageMaterial(
        found.material.label, version, fitting, found.material, [*found.material.notes, *notes]
    )
    left_out = (_own_pages(one, "left out") for one in own[:_MOST_NOTES])
    return replace(found, material=material, notes=(*found.notes, *left_out))


def _placed(found: Iterable[Documentation], root: Path) -> Iterator[Documentation]:
    """Documentations, those in the project with their paths in it."""
    for one in found:
        inside = lies_within(one.folder, root)
        yield replace(one, place=_place(one.folder, root) or ".") if inside else one


def _own_pages(one: Documentation, what: str) -> str:
    return (
        f"{one.place}: pages of this project that call themselves documentation of {one.head.project} {one.head.version}: {what};"
        " allow `plugins.installed_docs.folders` with `kr trust`"
    )


def _is_about(
    documented: str, framework: str, distribution: Distribution | None, project: LocalProject
) -> bool:
    """Whether an inventory's project is the framework: by name, or by what the project calls the same distribution."""
    name = re.sub(r"(?i)(?<!\s)\s++(?:docs?|documentation)$", "", documented).strip()
    if not name:
        return False
    if is_python(framework) or is_python(name):
        return is_python(framework) and is_python(name)
    if fold_name(name) == fold_name(framework):
        return True
    known = project.distribution(name) if distribution is not None else None
    return known is not None and distribution is not None and known.name == distribution.name


def _place(folder: Path, root: Path) -> str:
    """A folder as people are told of it: below the project by its path there, else by its own name and its parent's."""
    try:
        return folder.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return "/".join(folder.parts[-2:])


def _part_of_repository(folder: str, name: str) -> str:
    return f"`{folder}` is part of this repository: its author wrote what KR tells of {name}"


def _node_package(framework: str, project: LocalProject, package: NodePackage, where: str) -> LocatedMaterial:
    bare = package.name.rpartition("/")[2]
    names = (framework, package.name, bare, bare.replace("-", " "), f"{bare}.js", "npm")
    declares = any(not subpath for subpath, _path in entries(package))
    types = None if declares else types_package(package)
    read = [package.folder, *([types.folder] if types is not None else [])]
    tracked = [folder for one in read if (folder := project.folder_in_repository(one))]
    material, origin = NodeMaterial(package), Origin(package.url, package.version, not tracked)

    def further() -> list[LocatedMaterial]:
        readmes = DependencyReadmes(package, material.fingerprint)
        return [] if readmes.empty else [LocatedMaterial(readmes, (), origin, where)]

    def came_along(names: Collection[str]) -> dict[str, str]:
        named = (find_package(name, package.folder, package.within) for name in names)
        others = [one for one in (*named, *dependencies_of(package)) if one is not None]
        folders = [(one, project.folder_in_repository(one.folder)) for one in others]
        return {one.url: _part_of_repository(folder, one.name) for one, folder in folders if folder}

    notes = [_part_of_repository(folder, package.name) for folder in tracked]
    if package.data_name != package.name:
        notes.append(f"{package.name} is {package.data_name} here: an alias installed it by this name")
    return LocatedMaterial(
        material,
        tuple(dict.fromkeys(names)),
        origin,
        where,
        notes=tuple(notes),
        dependencies=further,
        came_along=came_along,
    )


def own_name(root: Path) -> str:
    """The name of the project in a folder: of its pyproject.toml, else the folder's."""
    try:
        text = read_text(root / "pyproject.toml", limit=_LARGEST_PROJECT, within=root)
        project = load_toml(text).get("project")
    except (OSError, ValueError, RecursionError):
        project = None
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) and name else root.resolve().name


def _distribution(
    framework: str,
    project: LocalProject,
    distribution: Distribution,
    metadata: Metadata | None,
    dependencies: Sequence[Distribution] = (),
) -> LocatedMaterial:
    site, within = distribution.site, distribution.environment.bounds
    tops = import_names(distribution)
    roots = module_roots(distribution, tops)
    notes = []
    if not roots and distribution.environment.refused:
        notes.append(
            f"{distribution.name}: its sources may lie outside of the project, where nothing is read; `kr doctor` names the folders"
        )
    elif not any(True for root, name in roots for _file in package_index.python_files(root, name, within)):
        binary = (
            any(package_index.has_extensions(root) for root, _name in roots if root.is_dir()) or not roots
        )
        if binary:
            notes.append(
                f"{distribution.name}: compiled modules without stubs, only the README could be read"
            )
        roots = []
    readme = metadata.readme() if metadata is not None else None
    texts = [readme] if readme else []
    material = Material(
        distribution.name, distribution.version, roots[0][0].parent if roots else site, roots, texts,
        _key(distribution, [root for root, _name in roots], dependencies, notes), notes, within=within,
        dependencies=dependencies, requirements=metadata.requirements() if metadata is not None else None,
        own_files=OwnFiles(distribution),
    )  # fmt: skip
    names = tuple(dict.fromkeys([framework, distribution.name, distribution.name.replace("-", " "), *tops]))
    tracked = project.folder_in_repository(distribution)
    origin = Origin(package_url(distribution), distribution.version, tracked is None)

    def further() -> list[LocatedMaterial]:
        small = [one for one in dependencies if is_small(one)][:_MAX_DEPENDENCIES]
        return [_distribution(one.name, project, one, read_metadata(one)) for one in small]

    def came_along(names: Collection[str]) -> dict[str, str]:
        folders = [(one, project.folder_in_repository(one)) for one in dependencies if one.name in names]
        return {package_url(one): _part_of_repository(folder, one.name) for one, folder in folders if folder}

    said = [_part_of_repository(tracked, distribution.name)] if tracked else []
    if address := source_address(distribution):
        said.append(f"{distribution.name} was installed from {address}, not from an index")
    where = distribution.environment.label
    return LocatedMaterial(
        material, names, origin, where, notes=tuple(said), dependencies=further, came_along=came_along
    )


def _key(
    distribution: Distribution,
    roots: Sequence[Path],
    dependencies: Sequence[Distribution],
    notes: list[str],
) -> str:
    """What an index is kept under: in the user's own environments the fingerprint, elsewhere the place counts too.

    Whoever made an environment in a project may have laid other sources under a RECORD that is genuine, so its index
    serves that place alone, and only as long as the metadata are the folder that they were.
    """
    fingerprint, bounds = _fingerprint(distribution, roots, notes), distribution.environment.bounds
    if dependencies:  # what is re-exported changes with them
        versions = sorted(f"{one.name} {one.version}" for one in dependencies)
        fingerprint = hashlib.sha256("\n".join([fingerprint, *versions]).encode()).hexdigest()
    if bounds is None:
        return fingerprint
    return package_index.placed_key(
        fingerprint,
        [distribution.metadata_folder, *(one.metadata_folder for one in dependencies)],
        [distribution.site, *roots, *bounds],
    )


def _fingerprint(distribution: Distribution, roots: Sequence[Path], notes: list[str]) -> str:
    """Changes when the installation does, and is the same wherever the same files were installed.

    A wheel's RECORD holds the hash of each of its files; sources that are edited in place have none, so each file's
    time counts. What cannot be read of the metadata is noted.
    """
    parts = []
    within = distribution.environment.bounds
    for name in ("RECORD", "METADATA", "PKG-INFO", "SOURCES.txt"):
        try:
            content = read_bytes(distribution.metadata_folder / name, limit=_LARGEST_METADATA, within=within)
        except OSError as error:
            if error.errno != errno.ENOENT:
                notes.append(f"{distribution.name}: {name}: {error.strerror}, not read")
            continue
        # What pip and uv add about themselves differs between equal installations.
        digest = hashlib.sha256()
        for line in BytesIO(content):
            if b".dist-info/" not in line and b"__pycache__" not in line:
                digest.update(line.rstrip(b"\n"))
        parts.append(f"{name}:{digest.hexdigest()}")
    if not parts or any(distribution.site not in root.parents for root in roots):
        parts.extend(
            _times(
                file for root in roots for file, _name in package_index.python_files(root, root.stem, within)
            )
        )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _times(files: Iterator[Path]) -> Iterator[str]:
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        yield f"{file.name}:{status.st_size}:{status.st_mtime_ns}"


def _standard_library(project: LocalProject) -> LocatedMaterial:
    folder, version, where = project.standard_library()
    names = sys.stdlib_module_names
    roots = [
        (path, path.stem)
        for path in sorted(folder.iterdir())
        if path.stem in names and not path.name.startswith("_") and path.name not in {"test", "this.py", "antigravity.py", "idlelib", "lib2to3", "turtledemo", "distutils", "ntpath.py", "nturl2path.py"}
        and (path.suffix == ".py" or path.is_dir())
    ]  # fmt: skip
    same = version.split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    material = Material(
        "python",
        version,
        folder,
        roots,
        [],
        f"{os.path.realpath(folder)}:{version}:{same}",
        compiled=same,
        within=(folder,),
    )
    modules = frozenset(name for _path, name in roots) | (builtins.PUBLIC if same else frozenset())
    return LocatedMaterial(
        material, ("python", "python3"), Origin(f"pkg:generic/python@{version}", version), where, modules
    )


def _documents(folder: Path) -> Iterator[Path]:
    """The texts below a folder; links to folders below it are not followed."""
    seen = 0
    for here, _folders, names in os.walk(folder):
        seen += len(names)
        if seen > _MAX_SEEN:
            return
        yield from (Path(here, name) for name in names if name.endswith(_DOC_SUFFIXES))


def _own_documentation(project: LocalProject) -> LocatedMaterial | None:
    root = project.root
    name = own_name(root)
    files = sorted(path for path in root.glob("*.md")) + sorted(root.glob("*.rst"))
    for folder in _DOC_FOLDERS:
        if lies_within(root / folder, project.workspace):  # a link may lead to everything there is
            files += sorted(itertools.islice(_documents(root / folder), _MAX_SEEN))
    within = (project.workspace,)
    texts = [
        text
        for file in files[:_MAX_TEXTS]
        if (text := package_index.text_file(file, root, file.stem, within)) is not None
    ]
    if not texts:
        return None
    fingerprint = hashlib.sha256(json.dumps([[text.path, text.text] for text in texts]).encode()).hexdigest()
    material = Material(name, "project", root, [], texts, fingerprint)
    return LocatedMaterial(
        material, (name, name.replace("-", " ")), Origin(f"pkg:generic/{name}", None), "this project"
    )
