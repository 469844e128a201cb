"""Which folder is the project and which file its configuration.

The project root is the nearest folder upwards with a `kr.yaml`, a `[tool.kr]` in its `pyproject.toml` or a
`_bmad/`, in this order within one folder; else the working folder. One file wins, nothing is merged. A bare
`pyproject.toml` or `.git` makes no project.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from kr_core.config.config_file import has_table, shown

__all__ = ["BMAD_FILE", "DiscoveredProject", "find"]

BMAD_FILE = Path("_bmad", "bso", "config.yaml")


class DiscoveredProject(NamedTuple):
    """A project: its root, its configuration file and what was looked at to find them."""

    root: Path
    file: Path | None
    """None where the defaults hold."""
    bmad: bool
    """Whether the file is BMAD's own, which has other readers and so keys that KR does not know."""
    looked_at: tuple[Path, ...]
    """Every path that decided, whether it exists or not: while none changes, the answer is the same."""


def find(working_folder: Path, file: Path | None = None) -> DiscoveredProject:
    """Find the project of a working folder.

    Args:
        working_folder: where to start.
        file: the file that the user names (relative to the working folder); the project is then its folder,
            or the one that holds `_bmad/` for BMAD's own file. It need not exist.

    Raises:
        ConfigError: a `pyproject.toml` with `[tool.kr` is not TOML.
    """
    start = Path(os.path.abspath(working_folder))  # noqa: PTH100  resolve() would follow symlinks
    if file is not None:
        return _named(Path(os.path.abspath(start / file)))  # noqa: PTH100  links are kept as they were named
    looked_at: list[Path] = []
    for folder in (start, *start.parents):
        own, pyproject, bmad = folder / "kr.yaml", folder / "pyproject.toml", folder / BMAD_FILE
        looked_at.append(own)
        if os.path.lexists(own):  # also a folder or a dangling link: reading it says what is wrong
            return DiscoveredProject(folder, own, bmad=False, looked_at=tuple(looked_at))
        looked_at.append(pyproject)
        if has_table(pyproject, shown(pyproject, start)):
            return DiscoveredProject(folder, pyproject, bmad=False, looked_at=tuple(looked_at))
        looked_at += [folder / "_bmad", bmad]
        if os.path.isdir(folder / "_bmad"):  # noqa: PTH112  False, not an error, in a closed folder
            there = os.path.lexists(bmad)
            return DiscoveredProject(folder, bmad if there else None, bmad=there, looked_at=tuple(looked_at))
    return DiscoveredProject(start, None, bmad=False, looked_at=tuple(looked_at))


def _named(file: Path) -> DiscoveredProject:
    bmad = file.parts[-3:] == BMAD_FILE.parts
    root = file.parents[2] if bmad else file.parent
    return DiscoveredProject(root, file, bmad=bmad, looked_at=(file,))
