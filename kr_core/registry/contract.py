"""Whether a plugin and this KR go together: the contract it was written for, and the kr-core it asks for."""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kr_core.files import read_text
from kr_core.hookspecs import CONTRACT_VERSION, NOUNS, OLDEST_CONTRACT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement

    from kr_core.entry_points import InstalledPlugin

__all__ = ["MARK", "check_hooks", "mismatch", "offered", "requirements", "running", "unmet", "upgrade"]

_LARGEST = 10_000_000
MARK = "KR_CONTRACT"
"""The name by which a plugin's module says what it was written for; where it does not, 1."""
_ASSIGNED = re.compile(rf"^{MARK}(?:\s*:[^=\n]*)?\s*=\s*(\d+)", re.MULTILINE)


def offered() -> str:
    """The versions of the contract that this KR offers, for messages."""
    return (
        str(CONTRACT_VERSION)
        if OLDEST_CONTRACT == CONTRACT_VERSION
        else f"{OLDEST_CONTRACT} to {CONTRACT_VERSION}"
    )


def mismatch(plugin: InstalledPlugin, module: object = None) -> tuple[str, str] | None:
    """What is wrong and what to do where a plugin was written for a contract that this KR does not offer.

    Args:
        plugin: the plugin.
        module: what was imported; without it the contract is read from the source, since a plugin for a later
            contract may fail before it can say so.
    """
    version = _in_source(plugin) if module is None else getattr(module, MARK, 1)
    if not isinstance(version, int) or isinstance(version, bool):
        return f"its {MARK} is {version!r}", "it must be a whole number, such as 1"
    if version > CONTRACT_VERSION:
        what = f"it is written for contract {version}, this KR offers {offered()}"
        return what, "upgrade KR: `pip install -U kr-core`"
    if version < OLDEST_CONTRACT:
        what = f"it is written for contract {version}, this KR offers {offered()}"
        return what, f"upgrade the plugin: `pip install -U {plugin.distribution or plugin.package}`"
    return None


def _in_source(plugin: InstalledPlugin) -> int:
    from importlib.util import find_spec
    from pathlib import Path

    try:
        spec = find_spec(plugin.module.partition(":")[0])
        found = (
            _ASSIGNED.search(read_text(Path(spec.origin), limit=_LARGEST)) if spec and spec.origin else None
        )
    except Exception:  # to find a module imports the packages above it, which may be broken as well
        found = None
    return int(found.group(1)) if found else 1


def requirements(plugin: InstalledPlugin) -> Iterator[Requirement]:
    """What the plugin's distribution requires; what cannot be read is left out."""
    from packaging.requirements import InvalidRequirement, Requirement

    about = plugin.about()
    for text in (about.requires if about else None) or ():
        try:
            yield Requirement(text)
        except InvalidRequirement:
            continue


def unmet(plugin: InstalledPlugin) -> str:
    """The plugin's requirement on kr-core, if the version that runs does not meet it; else empty."""
    from packaging.utils import canonicalize_name

    for requirement in requirements(plugin):
        if canonicalize_name(requirement.name) != "kr-core":
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if not requirement.specifier.contains(running(), prereleases=True):
            return f"kr-core{requirement.specifier}"
    return ""


def running() -> str:
    """The version of kr-core that runs, as its metadata has it; "0" where it has none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kr-core")
    except PackageNotFoundError:
        return "0"


def upgrade(plugin: InstalledPlugin) -> str:
    """What to do where a plugin looks for something in KR that is not there."""
    wanted = unmet(plugin)
    if wanted:
        return f'it asks for {wanted}, and this is {running()}: `pip install -U "{wanted}"`'
    both = f"`pip install -U kr-core {plugin.distribution}`".rstrip()
    return f"upgrade KR and the plugin, so that they go together: {both}"


def check_hooks(module: Any) -> None:
    """Refuse functions that look like hooks and are none: pluggy would pass over them, or call them wrongly.

    Raises:
        TypeError: one is not marked, takes arguments, or is async.
    """
    for name in dir(module):
        hook = getattr(module, name, None) if name.startswith("kr_") else None
        if not isinstance(hook, FunctionType):
            continue
        if not hasattr(hook, "kr_impl"):
            from difflib import get_close_matches

            near = get_close_matches(name, NOUNS.values(), n=1, cutoff=0.8)
            if near:
                raise TypeError(f"{name} is not marked; write @kr_core.hookimpl above `def {near[0]}()`")
        elif name in NOUNS.values() and inspect.signature(hook).parameters:
            raise TypeError(
                f"{name}{inspect.signature(hook)}: a hook takes no arguments; settings come to `build`"
            )
        elif inspect.iscoroutinefunction(hook):
            raise TypeError(f"{name} is async; a hook only says how to build, so write `def {name}()`")
