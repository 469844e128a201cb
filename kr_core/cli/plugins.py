"""`kr plugins`: what is installed, and what of it is active; no plugin is imported, and little else, but with `-v`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.config import config_file
from kr_core.config.config_file import find
from kr_core.config.plugin_names import named_in, plugin_of
from kr_core.entry_points import installed
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from kr_core.entry_points import InstalledPlugin

_FAULTS = {
    "twice": "two plugins have this name; uninstall one",
    "missing": "no installed plugin has this name; install it, or take it out of the configuration",
}


def run(options: argparse.Namespace) -> int:
    """List the plugins."""
    rows = _rows(installed(), _active(options))
    if options.verbose:
        _look_into(rows, options)
    if options.json:
        from kr_core.cli.output import as_json

        print(as_json(rows))
    else:
        _print(rows)
    return 0


def _active(options: argparse.Namespace) -> dict[str, bool]:
    """The plugins that the configuration names, and whether it says so itself.

    The names are read from the file as it stands: the schema would take longer than all the rest.
    """
    folder = (options.folder or Path.cwd()).resolve()
    found = find(folder, options.config)
    values: dict[str, Any] = {}
    if found.file is not None:
        values = config_file.read(found.file, config_file.shown(found.file, folder)).values
    try:
        return _named(values)
    except TypeError:  # the schema knows what may be written in another way, and what is wrong
        from kr_core.config import load

        return _named(load(folder, options.config).settings.model_dump())


def _named(values: dict[str, Any]) -> dict[str, bool]:
    return {plugin_of(values, one.name): not one.by_default for one in named_in(values)}


def _rows(plugins: list[InstalledPlugin], active: dict[str, bool]) -> list[dict[str, Any]]:
    names = [plugin.name for plugin in plugins]
    rows = [
        {
            "name": plugin.name,
            "state": "twice" if names.count(plugin.name) > 1 else "installed",
            "active": plugin.name in active,
            "distribution": plugin.distribution,
            "version": plugin.version,
            "module": plugin.module,
        }
        for plugin in plugins
    ]
    rows += [
        {"name": name, "state": "missing", "active": True, "distribution": "", "version": "", "module": ""}
        for name, asked_for in active.items()
        if asked_for and name not in names
    ]
    return sorted(rows, key=lambda row: row["name"])


def _look_into(rows: Iterable[dict[str, Any]], options: argparse.Namespace) -> None:
    """Import each plugin, and add what it provides, or what is wrong with it."""
    import sys
    from contextlib import redirect_stdout

    from kr_core.config import load
    from kr_core.errors import KRError
    from kr_core.research import Pipeline

    registry = Pipeline(load((options.folder or Path.cwd()).resolve(), options.config)).registry
    for row in rows:
        try:
            with redirect_stdout(sys.stderr):  # a plugin may print while it is imported
                row["kinds"] = list(registry.kind_of(row["name"]))
        except KRError as error:
            row["state"] = "broken" if row["state"] == "installed" else row["state"]
            row["fault"], row["hint"] = error.what, error.hint


def _print(rows: list[dict[str, Any]]) -> None:
    table = [
        (
            row["name"],
            "active" if row["active"] and row["state"] == "installed" else row["state"],
            f"{row['distribution']} {row['version']}".strip() or "-",
            row["module"] or "-",
        )
        for row in rows
    ]
    widths = [max((len(line[column]) for line in table), default=0) for column in range(4)]
    for row, line in zip(rows, table, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print(printable(f"{cells}  {', '.join(row.get('kinds', ()))}".rstrip()))
        if "fault" in row:
            print(printable(f"    {row['fault']}" + (f"; {row['hint']}" if row["hint"] else "")))
        elif row["state"] in _FAULTS:
            print(f"    {_FAULTS[row['state']]}")
