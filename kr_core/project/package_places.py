"""Where an installed distribution really lies: an editable install, and one of a workspace, lie in the project itself."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from kr_core.files import lies_within, read_text
from kr_core.project.distributions import import_names
from kr_core.project.package_names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.project.distributions import Distribution

_ADDRESS = re.compile(r"[\w./:~+%-]{1,200}", re.ASCII)
"""What is shown of an address: a user, a port or a query may say more than it should."""
_LARGEST_URL = 100_000
"""Bytes of a `direct_url.json`, which has some hundred."""


def module_roots(distribution: Distribution, names: Iterable[str]) -> list[tuple[Path, str]]:
    """Find the files and folders of a distribution's top-level modules, each with its name, and first what is called like it.

    They lie beside each other. A name that is not there may be another's elsewhere: many list `tests`.

    Args:
        distribution: whose modules.
        names: as `import_names` lists them.
    """
    found = [root for name in names for root in _roots(distribution, name)]
    found.sort(key=lambda root: normalise(root[1]) != distribution.name)
    return [root for root in found if root[0].parent == found[0][0].parent]


def places_beside(distribution: Distribution) -> Iterator[Path]:
    """Find the places outside of its environment in which a distribution lies, or from which it was installed."""
    prefix = distribution.environment.prefix
    if any(not lies_within(site, prefix) for site in distribution.environment.site_packages):
        modules = [root for root, _name in module_roots(distribution, import_names(distribution))]
        yield from (
            place for place in (*modules, distribution.metadata_folder) if not lies_within(place, prefix)
        )
    source = _installed_from(distribution)
    if source is not None and not lies_within(source, prefix):
        yield source


def source_address(distribution: Distribution) -> str:
    """Name the address on the network that a distribution was installed from, without secrets; empty for an index or a file."""
    parts = urlsplit(_direct_url(distribution))
    if parts.scheme in {"", "file"}:
        return ""
    address = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    return address if _ADDRESS.fullmatch(address) else "another address"


def _installed_from(distribution: Distribution) -> Path | None:
    """The file or folder that a distribution was installed from; None where it is from elsewhere, or from an index."""
    parts = urlsplit(_direct_url(distribution))
    place = unquote(parts.path)
    if parts.scheme != "file" or not place.startswith("/") or "\0" in place:
        return None
    return Path(place[1:] if os.name == "nt" else place)


def _direct_url(distribution: Distribution) -> str:
    """The address that a distribution was installed from (PEP 610); empty where it is from an index."""
    file = distribution.metadata_folder / "direct_url.json"
    try:
        said = json.loads(
            read_text(file, limit=_LARGEST_URL, within=distribution.environment.bounds, errors="replace")
        )
        url = said["url"]
        urlsplit(url)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return url if isinstance(url, str) else ""


def _roots(distribution: Distribution, top: str) -> Iterator[tuple[Path, str]]:
    folders = [
        distribution.site,
        *(site for site in distribution.environment.site_packages if site != distribution.site),
    ]
    relative = Path(*top.split("."))
    for folder in folders:
        if (folder / relative).is_dir() and _may_enter(folder / relative, distribution):
            yield folder / relative, top
            return
        for suffix in (".py", ".pyi"):
            if (folder / relative).with_suffix(suffix).is_file():
                yield (folder / relative).with_suffix(suffix), top
                return


def _may_enter(folder: Path, distribution: Distribution) -> bool:
    bounds = distribution.environment.bounds
    return bounds is None or lies_within(folder, bounds)
