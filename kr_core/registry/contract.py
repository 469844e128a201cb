"""Whether a plugin and this KR go together: the contract it was written for, and the kr-core it asks for."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kr_core import hookspecs
from kr_core.entry_points import installed
from kr_core.errors import KRError
from kr_core.files import read_text
from kr_core.hookspecs import CONTRACT_VERSION, NOUNS, OLDEST_CONTRACT, STAGE_HOOKS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from packaging.requirements import Requirement

    from kr_core.entry_points import InstalledPlugin

__all__ = [
    "DOORS",
    "MARK",
    "check_hooks",
    "mismatch",
    "names_hook",
    "offered",
    "other_door",
    "private_imports",
    "requirements",
    "running",
    "taken",
    "unmet",
    "upgrade",
]

_LARGEST = 10_000_000
MARK = "KR_CONTRACT"
"""The name by which a plugin's module says what it was written for; without it, the contract that KR offers."""
_NAME = re.compile(r"cannot import name '(\w+)'")
DOORS = ("kr_core", "kr_core.plugin", "kr_core.toolkit")
_MAX_FILES = 500
"""So many files of a plugin's package are looked at."""
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
    version = _in_source(plugin) if module is None else getattr(module, MARK, CONTRACT_VERSION)
    if not isinstance(version, int) or isinstance(version, bool):
        return f"its {MARK} is {version!r}", f"it must be a whole number, such as {CONTRACT_VERSION}"
    if version > CONTRACT_VERSION:
        what = f"it is written for contract {version}, this KR offers {offered()}"
        return what, "upgrade KR: `pip install -U kr-core`"
    if version < OLDEST_CONTRACT:
        what = f"it is written for contract {version}, this KR offers {offered()}"
        return what, f"upgrade the plugin: `pip install -U {plugin.distribution or plugin.package}`"
    return None


def _in_source(plugin: InstalledPlugin) -> int:
    found = _ASSIGNED.search(_source(plugin))
    return int(found.group(1)) if found else CONTRACT_VERSION


def names_hook(plugin: InstalledPlugin, hooks: Sequence[str]) -> bool:
    """Whether the source code of a plugin's module names one of these hooks; imports nothing."""
    return re.search(rf"\b(?:{'|'.join(hooks)})\b", _source(plugin)) is not None


def _source(plugin: InstalledPlugin) -> str:
    """The source code of a plugin's module; empty where it cannot be read."""
    file = _file(plugin)
    try:
        return read_text(file, limit=_LARGEST) if file else ""
    except Exception:  # whatever is wrong with it is told when it is imported
        return ""


def _file(plugin: InstalledPlugin) -> Path | None:
    """The file of a plugin's module, found without importing the packages above it."""
    from importlib.util import find_spec
    from pathlib import Path

    top, *below = plugin.module.partition(":")[0].strip().split(".")
    try:
        spec = find_spec(top)
    except Exception:
        spec = None
    if spec is None:
        return None
    if not below:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        place = Path(folder).joinpath(*below)
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
    return None


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


def other_door(error: ImportError) -> str:
    """What to do where a plugin looks for a name at the wrong door, or in a module that is not public; empty for others."""
    from kr_core._door import names_of

    home, match = error.name or "", _NAME.search(str(error))
    if home not in DOORS:
        hint = "use names of kr_core, kr_core.plugin and kr_core.toolkit"
        return f"`{home}` is not public; {hint}, and upgrade the plugin" if home else ""
    name = match[1] if match else ""
    for door in DOORS:
        if name and name in names_of(import_module(door).__name__):
            return f"it is written for contract 1: write `from {door} import {name}`, or upgrade the plugin"
    return ""


def private_imports(plugin: InstalledPlugin) -> list[str]:
    """The modules of KR that a plugin imports though they are not public, each with the file and line; imports nothing.

    What KR's own plugins import from each other is theirs.
    """
    place = _file(plugin)
    if place is None:
        return []
    files = sorted(place.parent.rglob("*.py"))[:_MAX_FILES] if place.name == "__init__.py" else [place]
    own = {one.package for one in installed() if one.distribution == "kr-core"}
    private = {"kr_core", *own} - {plugin.package}
    return [f"{module} ({file.name}:{line})" for file in files for module, line in _private(file, private)]


def _private(file: Path, packages: Collection[str]) -> Iterator[tuple[str, int]]:
    import ast

    from kr_core._door import names_of

    try:
        tree = ast.parse(read_text(file, limit=_LARGEST))
    except (OSError, SyntaxError, ValueError, RecursionError, KRError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            named = [node.module or ""]
            if node.module == "kr_core":
                known = {*names_of("kr_core"), "testing"}
                named = [f"kr_core.{alias.name}" for alias in node.names if alias.name not in known]
        else:
            continue
        for module in named:
            package, _, below = module.partition(".")
            is_public = module in DOORS or (package == "kr_core" and below.partition(".")[0] == "testing")
            if package in packages and not is_public:
                yield module, node.lineno


def check_hooks(module: Any) -> None:
    """Refuse functions that look like hooks and are none: pluggy would pass over them, or call them wrongly.

    Raises:
        TypeError: one is not marked, takes arguments that it does not get, or is async.
    """
    for name in dir(module):
        hook = getattr(module, name, None) if name.startswith("kr_") else None
        if not isinstance(hook, FunctionType):
            continue
        if not hasattr(hook, "kr_impl"):
            from difflib import get_close_matches

            near = get_close_matches(name, [*NOUNS.values(), *STAGE_HOOKS], n=1, cutoff=0.8)
            if near:
                taken = "" if near[0] in NOUNS.values() else "..."
                raise TypeError(
                    f"{name} is not marked; write @kr_core.hookimpl above `def {near[0]}({taken})`"
                )
        elif name in NOUNS.values() and inspect.signature(hook).parameters:
            raise TypeError(
                f"{name}{inspect.signature(hook)}: a hook takes no arguments; settings come to `build`"
            )
        elif inspect.iscoroutinefunction(hook):
            why = "hooks around a stage are sync" if name in STAGE_HOOKS else "a hook only says how to build"
            raise TypeError(f"{name} is async; {why}, so write `def {name}`")
        elif name in STAGE_HOOKS:
            _check_arguments(name, hook)


def _check_arguments(name: str, hook: FunctionType) -> None:
    """Refuse arguments that KR does not pass to a hook around a stage.

    Raises:
        TypeError: the hook takes one.
    """
    passed = list(inspect.signature(getattr(hookspecs, name)).parameters)
    wrong = [argument for argument in taken(hook) if argument not in passed]
    if wrong:
        raise TypeError(
            f"{name} takes `{wrong[0]}`, which KR does not pass; its arguments are {', '.join(passed)}, each by its name"
        )


def taken(hook: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments that a hook takes, as pluggy sees them: what has a default is the plugin's own."""
    return tuple(
        name
        for name, parameter in inspect.signature(hook).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    )
