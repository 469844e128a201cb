"""Whatever a plugin raises, said as that plugin's fault, with what to do about it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError, PluginError, StorageError
from kr_core.plugin_calls import fault_line, place_in
from kr_core.registry import contract

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.entry_points import InstalledPlugin

__all__ = ["attributed", "fault_of", "twice"]

_PATH = re.compile(r" \((?:/|[A-Za-z]:)[^()]*\)$")
"""What Python adds to an ImportError: where this machine keeps the module."""


def fault_of(plugin: InstalledPlugin, what: str, hint: str = "", name: str = "") -> PluginError:
    """A plugin's fault.

    Args:
        plugin: whose fault it is.
        what: what is wrong.
        hint: what to do about it.
        name: the name that the configuration uses, where it is an instance.
    """
    alias = f" as `{name}`" if name not in {"", plugin.name} else ""
    return PluginError(what, where=f"plugin `{plugin.name}`{alias} ({plugin.shipped_by})", hint=hint)


def twice(plugins: Sequence[InstalledPlugin]) -> PluginError:
    """What is wrong where several distributions have a plugin of one name."""
    one, *others = plugins
    shipped = " and ".join(plugin.shipped_by for plugin in plugins)
    return PluginError(
        f"two plugins have this name: from {shipped}",
        where=f"plugin `{one.name}`",
        hint=f"uninstall one: `pip uninstall {others[0].distribution or others[0].package}`",
    )


@contextmanager
def attributed(plugin: InstalledPlugin, phase: str, name: str = "") -> Iterator[None]:
    """Turn whatever a plugin raises into an error that names the plugin and what it was doing.

    Raises:
        ConfigError: the plugin found its configuration wrong itself.
        PluginError: anything else.
    """
    try:
        yield
    except (ConfigError, PluginError, KeyboardInterrupt):  # whose interrupt it is cannot be told
        raise
    except StorageError as error:
        what = f"failed to {phase}: {f'{error.where}: ' if error.where else ''}{error.what}"
        raise fault_of(plugin, what, error.hint, name) from error
    except BaseException as error:  # a module may call sys.exit, skip itself as a test, or panic in Rust
        raise fault_of(plugin, *_told(plugin, phase, error), name) from error


def _told(plugin: InstalledPlugin, phase: str, error: BaseException) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    said = _PATH.sub("", str(error)) if isinstance(error, ImportError) else ""
    line = (
        f"{type(error).__name__}: {said}{place_in(error, plugin.package)}"
        if said
        else fault_line(error, plugin.package)
    )
    what = f"failed to {phase}: {line}"
    other = contract.mismatch(plugin) if phase == "import" else None
    if other is not None:  # what fails in a plugin for another contract is most likely just that
        return other
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] == "kr_core":
        return what, contract.other_door(error) or contract.upgrade(plugin)
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return what, "upgrade it, or tell its authors"
    package = error.name.split(".")[0]
    if package == plugin.package:
        again = f"reinstall it: `pip install --force-reinstall {plugin.distribution}`"
        return f"its module `{error.name}` is not there", again if plugin.distribution else ""
    hint = f"`{_install_command(plugin, package)}`"
    return f"it needs the module `{error.name}`, which is not installed", hint


def _install_command(plugin: InstalledPlugin, module: str) -> str:
    """The command that installs a missing module: through an extra of the plugin's distribution if it has one.

    Requirements name distributions, not modules; where the two differ, the module's name is the best guess.
    """
    from packaging.utils import canonicalize_name

    for requirement in contract.requirements(plugin):
        if canonicalize_name(requirement.name) != canonicalize_name(module):
            continue
        about, marker = plugin.about(), requirement.marker
        for extra in (about.metadata.get_all("Provides-Extra") if about else None) or ():
            if marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}):
                return f'pip install "{plugin.distribution}[{extra}]"'
        return f"pip install {requirement.name}"
    return f"pip install {module}"
