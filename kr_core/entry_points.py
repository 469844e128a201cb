"""The plugins that are installed, read from the metadata beside their code; none of them is imported.

`importlib.metadata` tells the same, and is asked where code is kept in anything but plain folders. To import it takes
about as long as everything else that `kr plugins` does, so plain folders are read here.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from importlib.metadata import Distribution

__all__ = ["GROUP", "InstalledPlugin", "installed"]

GROUP = "kr"
"""The entry-point group that plugins are found in."""

_VALUE = re.compile(r"(?P<module>\w+(?:\.\w+)*)\s*(?::\s*(?P<attribute>\w+(?:\.\w+)*)\s*)?(?:\[.*\]\s*)?")
_LARGEST = 20_000_000
_METADATA = ("METADATA", "PKG-INFO")


class InstalledPlugin(NamedTuple):
    """An entry point of the group `kr`, and the distribution that has it."""

    name: str
    module: str
    """Where the plugin is, as its entry point says."""
    distribution: str
    """The distribution that ships it; empty where that is not known."""
    version: str
    metadata: str = ""
    """The folder of the distribution's metadata; empty where it has none."""

    @property
    def shipped_by(self) -> str:
        """`kr-notes 1.2`, for messages."""
        return f"{self.distribution} {self.version}" if self.distribution else self.module

    @property
    def package(self) -> str:
        """The import package, or the module, that it is in."""
        return self.module.partition(":")[0].partition(".")[0].strip()

    def load(self) -> object:
        """Import the plugin.

        Raises:
            ValueError: the entry point names no module.
            Exception: whatever the plugin's module raises.
        """
        from importlib import import_module

        found = _VALUE.fullmatch(self.module)
        if found is None:
            raise ValueError(f"its entry point {self.module!r} names no module")
        value: object = import_module(found["module"])
        for part in (found["attribute"] or "").split("."):
            value = getattr(value, part) if part else value
        return value

    def about(self) -> Distribution | None:
        """The distribution's metadata in full, as `importlib.metadata` has it."""
        if not self.metadata:
            return None
        from importlib.metadata import PathDistribution
        from pathlib import Path

        return PathDistribution(Path(self.metadata))


def require(module: str, extra: str) -> None:
    """Check that an optional library is installed, without importing it.

    Raises:
        PluginError: the library is not installed; the message has the command to install it.
    """
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise PluginError(f"needs {module}, which is not installed", hint=f'pip install "kr-core[{extra}]"')


def installed() -> list[InstalledPlugin]:
    """All installed plugins, by name and then distribution; two of one name are both there."""
    found = _in_folders(sys.path) if _all_folders() else _anywhere()
    return sorted(dict.fromkeys(found))


def _all_folders() -> bool:
    """Whether everything that can be imported lies in plain folders, as it does but for zip files and old eggs."""
    if any(path.endswith(".egg") or os.path.isfile(path) for path in sys.path):
        return False
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return all(getattr(finder, "__name__", "") == "PathFinder" for finder in finders)


def _in_folders(folders: Iterable[str]) -> Iterator[InstalledPlugin]:
    seen: set[str] = set()
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if not name.lower().endswith((".dist-info", ".egg-info")):
                continue
            stem = name.rpartition(".")[0]
            distribution = re.sub(r"[-_.]+", "-", stem.partition("-")[0]).lower()
            if distribution not in seen:  # the first one on the path is the one that is imported
                seen.add(distribution)
                yield from _of(os.path.join(folder, name), stem)


def _of(metadata: str, stem: str) -> Iterator[InstalledPlugin]:
    """The plugins of one distribution."""
    declared = list(_declared(_text(os.path.join(metadata, "entry_points.txt"))))
    if not declared:
        return
    head = next(filter(None, (_text(os.path.join(metadata, name)) for name in _METADATA)), "")
    distribution, _, version = stem.partition("-")
    for line in head.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(":")
        distribution = value.strip() if key == "Name" else distribution
        version = value.strip() if key == "Version" else version
    for name, module in declared:
        yield InstalledPlugin(name, module, distribution, version, metadata)


def _declared(text: str) -> Iterator[tuple[str, str]]:
    """Name and module of each entry point of the group."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == GROUP and "=" in line and not line.startswith("#"):
            name, _, module = line.partition("=")
            yield name.strip(), module.strip()


def _text(path: str) -> str:
    """A file's text; what is missing or damaged has none, since it must not stop the others."""
    try:
        if not os.path.isfile(path):  # a pipe would be waited for
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""


def _anywhere() -> Iterator[InstalledPlugin]:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        dist = point.dist
        metadata = str(getattr(dist, "_path", ""))  # where it is has no public name
        yield InstalledPlugin(
            point.name, point.value, dist.name if dist else "", dist.version if dist else "", metadata
        )
