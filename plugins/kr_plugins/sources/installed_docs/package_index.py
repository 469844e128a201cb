"""The index of one installed distribution (or of the standard library), made on first use.

It lies in the user's cache folder, keyed by package, version and a fingerprint of the installation. Where the
user's own environment holds the package, all projects share it; what lies in a project has an index for its place alone,
since a clone may bring anything under genuine metadata.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sqlite3
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kr_core.toolkit import INDEX_FORMAT, PassageIndex, build_index, import_names, lies_within, read_text
from kr_plugins.sources.installed_docs.dependencies import Reexports
from kr_plugins.sources.installed_docs.python import builtins as compiled
from kr_plugins.sources.installed_docs.python.code_settings import setting_passages
from kr_plugins.sources.installed_docs.python.error_messages import message_passages
from kr_plugins.sources.installed_docs.python.module_parser import MAX_BYTES, Unreadable, read_module
from kr_plugins.sources.installed_docs.python.module_passages import make
from kr_plugins.sources.installed_docs.python.public_names import PublicNames
from kr_plugins.sources.installed_docs.reading_budget import MOST_BYTES, BudgetSpent, bounded
from kr_plugins.sources.installed_docs.shipped_documents import read_documents
from kr_plugins.sources.installed_docs.text_sections import TextFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from kr_core.toolkit import Distribution, IndexedPassage, OwnFiles
    from kr_plugins.sources.installed_docs.python.definitions import Module
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

READER_FORMAT = 79
"""Raised whenever reading or naming changes, so that older indexes are not used."""
_SKIPPED_FOLDERS = frozenset(
    """tests test testing_tests _tests __pycache__ _vendor vendor vendored _vendored extern externals third_party
    node_modules examples benchmarks site-packages idlelib lib2to3 _examples turtledemo ensurepip pydoc_data __pyinstaller
    conftest""".split()
)
_BEFORE = {"py": (), "pyi": ("py",), "pyx": ("py", "pyi")}
"""The suffixes of sources, each with those of the files that are read instead where they are there."""
_SKIPPED_FILES = frozenset({"conftest.py", "setup.py", "__main__.py"})
_MOST_SERVICES = 20
_MAX_TEXT_BYTES = 400_000
_MAX_FILES = 100_000
"""KR looks at this many files of a package; the largest known ones have a tenth."""
_EXTENSIONS = (".so", ".pyd")
_LARGEST_CACHE = 2**30
"""Bytes of all indexes; beyond it KR removes those with the longest time since their last use."""
_DAY_SECONDS = 86_400


@dataclass(slots=True)
class Material:
    """What is to be indexed.

    Args:
        label: the name in the cache: distribution or project.
        version: its version.
        roots: top-level packages and modules: (path, dotted name), the preferred one first.
        texts: README and documentation files.
        fingerprint: changes when the files do.
        base: the folder that locators are relative to.
        within: the folders in one of which each source must really lie; anywhere if not given.
    """

    label: str
    version: str
    base: Path
    roots: list[tuple[Path, str]]
    texts: list[TextFile]
    fingerprint: str
    notes: list[str] = field(default_factory=list)
    compiled: bool = False
    """Add what the running interpreter says of its compiled modules."""
    within: Sequence[Path] | None = None
    dependencies: Sequence[Distribution] = ()
    """The distributions that it requires; what it re-exports of them is its own."""
    requirements: IndexedPassage | None = None
    """What its metadata says that it requires."""
    own_files: OwnFiles | None = None
    """Says which files belong to others, and are left out; all are read if not given."""

    @property
    def empty(self) -> str | None:
        """Why there is nothing to read; None where there is something."""
        return None if self.roots or self.texts else "no Python source or text to read"

    def has_models(self) -> bool:
        """Whether it, or what it requires, makes methods at run time from models of services (botocore's `data`)."""
        folders = [
            *(root for root, _name in self.roots if root.is_dir()),
            *(one.site / name for one in self.dependencies for name in import_names(one)),
        ]
        allowed = (one for one in folders if self.within is None or lies_within(one, self.within))
        return any(_has_model(one / "data") for one in allowed)

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """Read the sources and make their passages; with them notes about what could not be read.

        Raises:
            Cancelled: the consultation was given up.
        """
        modules, notes = _read(self, progress, budget)
        try:
            names = budget.portion(lambda: self._named(modules, budget.check))
        except BudgetSpent:
            budget.left_out.append("all definitions")
            modules, names = {}, PublicNames({}, [])
        texts = list(self.texts)
        for root, name in self.roots:
            if root.is_dir():
                cited = f"{root.relative_to(self.base).as_posix()}/"
                try:
                    documents = budget.portion(
                        partial(
                            read_documents, root, cited, name, self.within, budget.check, texts, self.is_own
                        )
                    )
                except BudgetSpent:
                    budget.left_out.append(f"the texts of {cited}")
                    continue
                texts += documents.texts
                notes += documents.notes
        passages = make(modules, names, budget, texts, partial(bounded, notes=notes))
        more = [
            *budget.up_to("messages", message_passages(modules.values(), notes)),
            *budget.up_to("settings", setting_passages(modules.values(), passages, notes)),
        ]
        notes += self._laid_by_others()
        return [*passages, *more, *([self.requirements] if self.requirements else [])], notes

    def is_own(self, file: Path) -> bool:
        """Whether a file is not one that another distribution has laid there."""
        return self.own_files is None or file in self.own_files

    def _laid_by_others(self) -> Iterator[str]:
        """Notes on the files of others in its packages; a folder without an `__init__` is shared as it should be."""
        if self.own_files is None:
            return
        left_out = self.own_files.left_out
        for top in sorted({path.partition("/")[0] for path in left_out}):
            whose = [other for path, other in left_out.items() if path.startswith(f"{top}/")]
            if f"{top}/__init__.py" in self.own_files.recorded:
                names = sorted(set(whose))
                more = f" and {len(names) - 3} more" if len(names) > 3 else ""
                files = f"{len(whose)} {'file' if len(whose) == 1 else 'files'}"
                yield f"{self.label}: {files} of {', '.join(names[:3])}{more} in {top}/ left out"

    def _named(self, modules: dict[str, Module], check: Callable[[], None]) -> PublicNames:
        """The public names of the modules, to which it adds those of dependencies that they hand on."""
        Reexports(modules, self.dependencies, self.within, check).add()
        return PublicNames(modules, [name for _path, name in self.roots])


def _has_model(data: Path) -> bool:
    """Whether one of the first folders has a model of a service in a folder for its version."""
    with suppress(OSError), os.scandir(data) as services:
        return any(
            service.is_dir(follow_symlinks=False) and any(Path(service.path).glob("*/service-2.json*"))
            for service in itertools.islice(services, _MOST_SERVICES)
        )
    return False


class Readable(Protocol):
    """What an index can be made of: Python sources, an npm package, or pages."""

    @property
    def label(self) -> str:
        """The name in the cache."""

    @property
    def version(self) -> str:
        """Its version."""

    @property
    def fingerprint(self) -> str:
        """Changes when what is read does."""

    @property
    def notes(self) -> list[str]:
        """What is known beforehand not to be readable."""

    @property
    def empty(self) -> str | None:
        """Why there is nothing to read; None where there is something."""

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """All passages that the budget allows, and notes; raises `Cancelled` soon after the consultation was given up."""


def open_index(
    cache_folder: Path,
    material: Readable,
    progress: Callable[[int, int], None],
    budget: ReadingBudget,
) -> tuple[PassageIndex, list[str]]:
    """The index of the material, made now if it is not there, and notes about what could not be read.

    A cache folder that cannot be written is a note: the index is then made in memory.

    Raises:
        Cancelled: the consultation was given up.
    """
    path = cache_folder / "installed" / _file_name(material)
    try:
        index = PassageIndex(path)
        _mark_used(path)
        return index, [note for note in index.meta.get("notes", "").split("\n") if note]
    except (sqlite3.Error, OSError):
        pass
    passages, notes = material.passages(progress, budget)
    notes = [*material.notes, *notes]
    meta = {"label": material.label, "version": material.version, **made_for(material)}

    def afforded() -> Iterator[IndexedPassage]:
        yield from budget.up_to(f"some of {len(passages):,} passages", passages)
        meta["notes"] = "\n".join([*budget.note(material.label), *notes])  # stored after the passages

    try:
        index = build_index(path, afforded(), meta)
        _make_room(path)
        extra = []
    except (OSError, sqlite3.Error) as error:
        index = build_index(None, afforded(), meta)
        extra = [f"index of {material.label} kept in memory only: {path.parent}: {error}"]
    return index, [*budget.note(material.label), *notes, *extra]


def made_for(material: Readable) -> dict[str, str]:
    """How and for which place an index is made: an index of another place says nothing about this package."""
    within = getattr(material, "within", None)
    place = "" if within is None else os.path.realpath(getattr(material, "base", ""))
    return {"reader": str(READER_FORMAT), "place": place}


def placed_key(fingerprint: str, folders: Sequence[Path], within: Sequence[Path]) -> str:
    """A fingerprint that holds in one place alone, and there only until something else is laid in it.

    A folder's time of change is set by the system when the folder is made, and by nobody else: another clone in the same
    place has another.

    Args:
        fingerprint: of the files, as far as it is known without reading them.
        folders: whose real place and time count; one that is a link counts as the link.
        within: whose real place alone counts.
    """
    states = [[os.path.realpath(folder), _changed(folder)] for folder in folders]
    told = json.dumps([fingerprint, states, [os.path.realpath(folder) for folder in within]])
    return hashlib.sha256(told.encode()).hexdigest()


def _changed(path: Path) -> int:
    try:
        return path.lstat().st_ctime_ns
    except OSError:
        return 0


def _mark_used(path: Path) -> None:
    """Note the day of use in the time of access, which not every file system keeps by itself."""
    with suppress(OSError):
        status = path.stat()
        if time.time() - status.st_atime > _DAY_SECONDS:
            os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))


def _make_room(made: Path) -> None:
    """Remove the indexes that were not used for longest, while all together are too large; never the one just made."""
    found = []
    with suppress(OSError):
        for path in made.parent.glob("*.sqlite"):
            status = path.lstat()
            found.append((path == made, status.st_atime, status.st_size, path))
    excess = sum(size for _made, _used, size, _path in found) - _LARGEST_CACHE
    for is_made, _used, size, path in sorted(found):
        if excess <= 0 or is_made:
            return
        with suppress(OSError):
            path.unlink()
            excess -= size


def _file_name(material: Readable) -> str:
    python = ".".join(map(str, sys.version_info[:2]))  # a newer one may read files that an older one does not
    key = f"{INDEX_FORMAT}.{READER_FORMAT}.{python}\0{material.fingerprint}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    label = "".join(c if c.isalnum() or c in "._-" else "_" for c in f"{material.label}-{material.version}")
    return f"{label[:100]}-{digest}.sqlite"


def _read(
    material: Material, progress: Callable[[int, int], None], budget: ReadingBudget
) -> tuple[dict[str, Module], list[str]]:
    within, is_own = material.within, material.is_own
    files = [found for root, name in material.roots for found in python_files(root, name, within, is_own)]
    modules: dict[str, Module] = {}
    notes: list[str] = []
    including: Counter[Path] = Counter()
    sizes = [_bytes_to_read(file) for file, _name in files]
    budget.allow(sum(sizes))
    named = {name for _file, name in files}
    stage = budget.half()
    left = MOST_BYTES
    for number, (file, name) in enumerate(files):
        progress(number, len(files))
        left -= sizes[number]
        if left < 0:
            said = (
                f"more than {MOST_BYTES // 1_000_000} MB of sources, {len(files) - number:,} files not read"
            )
            notes.append(f"{material.label}: {said}")
            break
        path = file.relative_to(material.base).as_posix()
        try:
            modules[name] = stage.portion(partial(read_module, file, name, path, material.within, including))
            _add_stub(modules[name], file, path, named, material.within, is_own)
        except Unreadable as reason:
            notes.append(str(reason))
        except BudgetSpent:
            budget.left_out.append(path)
    for definition in [one for module in modules.values() for one in module.added]:
        if definition.module in modules:
            modules[definition.module].definitions.setdefault(definition.qualname, definition)
    if material.compiled:
        for module in compiled.modules():
            known = modules.get(module.name)
            if known is None:
                modules[module.name] = module
            else:  # a Python module whose fast parts are compiled: what it says itself comes first
                known.definitions = {**module.definitions, **known.definitions}
    progress(len(files), len(files))
    return modules, notes


def _add_stub(
    module: Module,
    file: Path,
    path: str,
    known: Collection[str],
    within: Sequence[Path] | None,
    is_own: Callable[[Path], bool],
) -> None:
    """What the stub beside a module says of those names that the module takes from a compiled one.

    Args:
        module: what was read of the file; the definitions are added to it.
        file: the file.
        path: of the file, as it is cited.
        known: the modules that have a source, or a stub of their own.
        within: the folders in one of which the stub must really lie; anywhere if not given.
        is_own: whether a file is the package's own; another stub is not read.
    """
    top = module.name.partition(".")[0]
    missing = {
        name
        for name, (source, taken) in module.imports.items()
        if taken is not None
        and source.partition(".")[0] == top
        and source not in known
        and f"{source}.{taken}" not in known
    }
    stub = file.with_suffix(".pyi")
    if not missing or file.suffix != ".py" or not stub.is_file() or not is_own(stub):
        return
    with suppress(Unreadable):
        told = read_module(stub, module.name, Path(path).with_suffix(".pyi").as_posix(), within)
        for name, definition in told.definitions.items():
            if name.partition(".")[0] in missing:
                module.definitions.setdefault(name, definition)


def _bytes_to_read(file: Path) -> int:
    try:
        size = file.stat().st_size
    except OSError:
        return 0
    return size if size <= MAX_BYTES else 0


def python_files(
    root: Path,
    name: str,
    within: Sequence[Path] | None = None,
    is_own: Callable[[Path], bool] = lambda _file: True,
) -> Iterator[tuple[Path, str]]:
    """The sources of a package or module with their dotted names; stubs where there is no source.

    Tests, vendored copies and examples are skipped before they are parsed, and so is what is not the package's own. A link
    is followed once, and not where it leads out of `within`.
    """
    if root.is_file():
        if is_own(root):
            yield root, name
        return
    yield from itertools.islice(_below(root, name, within, set(), is_own), _MAX_FILES)


def _below(
    root: Path,
    name: str,
    within: Sequence[Path] | None,
    followed: set[str],
    is_own: Callable[[Path], bool],
) -> Iterator[tuple[Path, str]]:
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    files = {entry.name for entry in entries if _may_be_source(entry) and is_own(root / entry.name)}
    for entry in entries:
        stem, dot, suffix = entry.name.rpartition(".")
        if _is_folder(entry):
            skipped = entry.name in _SKIPPED_FOLDERS or not entry.name.isidentifier()
            if not skipped and (not entry.is_symlink() or _may_follow(entry.path, root, within, followed)):
                yield from _below(root / entry.name, f"{name}.{entry.name}", within, followed, is_own)
        elif not dot or entry.name in _SKIPPED_FILES or not stem.isidentifier() or stem.startswith("test_"):
            continue
        elif entry.name in files and not any(f"{stem}.{other}" in files for other in _BEFORE[suffix]):
            yield root / entry.name, name if stem == "__init__" else f"{name}.{stem}"


def _may_follow(link: str, folder: Path, within: Sequence[Path] | None, followed: set[str]) -> bool:
    """Whether a link to a folder leads neither out, nor round in circles, nor where another has led already."""
    target = os.path.realpath(link)
    if target in followed or _holds(link, folder):
        return False
    followed.add(target)
    return within is None or lies_within(Path(target), within)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that points to itself
        return False


def _may_be_source(entry: os.DirEntry[str]) -> bool:
    return entry.name.rpartition(".")[2] in _BEFORE and not _is_folder(entry)


def _holds(link: str, folder: Path) -> bool:
    """Whether a link leads to a folder that it lies in, and so round in circles."""
    target, here = os.path.realpath(link), os.path.realpath(folder)
    return here == target or here.startswith(target.rstrip(os.sep) + os.sep)


def has_extensions(root: Path) -> bool:
    """Whether a package holds compiled modules (whose documentation cannot be read)."""
    return any(name.endswith(_EXTENSIONS) for _folder, _folders, names in os.walk(root) for name in names)


def text_file(path: Path, base: Path, title: str, within: Sequence[Path] | None = None) -> TextFile | None:
    """A documentation file, or None where it is too large, not text, or lies elsewhere."""
    try:
        text = read_text(path, limit=_MAX_TEXT_BYTES, within=within)
        return TextFile(title, path.relative_to(base).as_posix(), text)
    except (OSError, UnicodeDecodeError, ValueError):
        return None
