"""The files that may name versions, in the order in which they are asked, and the reader of each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from kr_core.project.lockfiles.pins import (
    HAND_LIMIT_BYTES,
    LIMIT_BYTES,
    LockFile,
    ProjectView,
    UnreadableError,
    alike,
    merged,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kr_core.project.lockfiles.pins import Ecosystem, Pin

    Reader = Callable[[str, ProjectView], Iterator[Pin]]


class Format(NamedTuple):
    """A kind of file: its name, whose it is, the module that reads it, and whether it only says what is wished."""

    name: str
    ecosystem: Ecosystem
    module: str
    wish: bool = False
    limit_bytes: int = LIMIT_BYTES


_MAX_REQUIREMENTS_FILES = 100
CATALOGUE = "gradle/libs.versions.toml"
REQUIREMENTS = "requirements.txt"
FORMATS = (
    Format("uv.lock", "python", "uv"),
    Format("poetry.lock", "python", "python"),
    Format("pdm.lock", "python", "python"),
    Format("Pipfile.lock", "python", "python"),
    Format("pylock.toml", "python", "python"),
    Format(REQUIREMENTS, "python", "requirements", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("pyproject.toml", "python", "pyproject", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("npm-shrinkwrap.json", "node", "npm"),
    Format("package-lock.json", "node", "npm"),
    Format("pnpm-lock.yaml", "node", "pnpm"),
    Format("yarn.lock", "node", "yarn"),
    Format("bun.lock", "node", "bun"),
    Format("package.json", "node", "npm", wish=True),
    Format("Cargo.lock", "rust", "cargo"),
    Format("Cargo.toml", "rust", "cargo", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("go.mod", "go", "go", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("pom.xml", "java", "maven", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("build.gradle", "java", "gradle", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("build.gradle.kts", "java", "gradle", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format(CATALOGUE, "java", "gradle", wish=True, limit_bytes=HAND_LIMIT_BYTES),
    Format("Gemfile.lock", "ruby", "bundler", limit_bytes=HAND_LIMIT_BYTES),
    Format("composer.lock", "php", "composer"),
    Format("composer.json", "php", "composer", wish=True),
)
"""In one folder the first that names a package is believed. What stands in a wish exactly counts as chosen where
no tool of its ecosystem writes a lock file beside it (`requirements.txt`, `go.mod`, `pom.xml`, `build.gradle`)."""

_BY_NAME = {each.name: each for each in FORMATS}
NODE_LOCKS = {each.name: each.module for each in FORMATS if each.ecosystem == "node" and not each.wish}
"""The lock files of Node with the tool that writes each."""
NODE_UNREAD = {"bun.lockb": "bun"}
"""Those that are no text."""
PYTHON_LOCKS = {each.name: each.name for each in FORMATS if each.ecosystem == "python" and not each.wish}
"""The lock files of Python; each is of another tool, or of none."""
_CHOSEN = frozenset({"requirements", "go", "maven", "gradle"})


def candidates(folder: Path) -> list[Path]:
    """List the files of a folder that may name versions, in order, those that are absent included."""
    found: list[Path] = []
    for each in FORMATS:
        found.append(folder / each.name)
        if each.name == REQUIREMENTS:
            found += _other_requirements(folder)
    return found


def _other_requirements(folder: Path) -> list[Path]:
    """The first hundred files of requirements by name; of several links to one file only the first."""
    names = sorted({path.name for path in folder.glob("requirements*.txt")} - {REQUIREMENTS})
    by_place = {
        os.path.realpath(folder / name): folder / name for name in reversed(names[:_MAX_REQUIREMENTS_FILES])
    }
    by_place.pop(os.path.realpath(folder / REQUIREMENTS), None)
    return [*reversed(by_place.values())]


def format_of(path: Path) -> Format:
    """The kind of one of the candidates."""
    if path.suffix == ".txt":
        return _BY_NAME[REQUIREMENTS]
    return _BY_NAME[CATALOGUE if CATALOGUE.endswith("/" + path.name) else path.name]


def names_choices(path: Path) -> bool:
    """Whether exact versions in one of the candidates are those in use, as far as files can tell."""
    kind = format_of(path)
    return not kind.wish or kind.module in _CHOSEN


def names_direct(path: Path) -> bool:
    """Whether one of the candidates says what the project itself asks for, without a manifest to be read beside it."""
    kind = format_of(path)
    return kind.wish or kind.module == "bundler"


def read(
    path: Path,
    *,
    working_folder: Path | None = None,
    top: Path | None = None,
    workspace: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> LockFile | None:
    """Read one of the candidates, or return None where there is no such file.

    Args:
        path: the file.
        working_folder: the folder it is read for: a workspace's lock file may hold several versions of a package.
        top: the highest folder of the project; files above it are not read.
        workspace: a folder that links may lead into; beside it only that of the file, or of the project it belongs to.
        environment: the values of environment markers, where the project's Python is known.

    Raises:
        UnreadableError: it cannot be understood; the message says why, and `line` where.
        OSError: it cannot be read.
    """
    import importlib

    if not path.is_file():
        return None
    kind = format_of(path)
    module = importlib.import_module(f"kr_core.project.lockfiles.{kind.module}")
    reader: Reader = module.READERS[kind.name]
    folder = path.parents[kind.name.count("/")]  # not `gradle` of the catalogue: that may itself be a link
    within = (folder,) if workspace is None else (folder, workspace)
    view = ProjectView(path, working_folder or path.parent, top or path.parent, within, environment)
    try:
        pins = merged(reader(text_of(path, kind.limit_bytes, within=within), view), view, kind.ecosystem)
    except RecursionError:
        raise UnreadableError("nested too deeply") from None
    notes, files = tuple(view.notes), tuple(view.files)
    return LockFile(
        path, kind.ecosystem, kind.wish, pins, notes, files, view.tool, view.governed, alike(pins)
    )
