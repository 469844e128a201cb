"""`kr versions`: which version of what is in use, and where that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.cli.output import as_json, tell
from kr_core.project.project import KnownVersion
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

NO_CONTENT = 4
_NONE = "no versions are known in this project"


def run(options: argparse.Namespace) -> int:
    """Show the version of one package, or of all, and return the exit code: 4 where none is known.

    Notes, about files that cannot be read and about what is installed against what is locked, go to standard error.
    """
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        project = pipeline.project
    if options.name:
        found = project.version_of(options.name)
        rows = [KnownVersion(options.name, *found, direct=False)] if found else []
        differing = project.disagreement(options.name)
        notes = [differing] if differing else []
    else:
        rows = project.listed()
        differences = (project.disagreement(each.name) for each in rows if each.direct)
        notes = [*dict.fromkeys(filter(None, differences))]
    if options.json:
        listed = [{"name": name, "version": version, "from": where} for name, version, where, _ in rows]
        print(as_json(listed))
    elif rows:
        print(_table(rows))
    else:
        print(f"{printable(options.name)}: not known in this project" if options.name else _NONE)
        looked = ", ".join(project.looked_in()) or "this folder and those above it"
        notes = [f"looked in {looked}; install it, or name its version in a lock file"]
    if not options.quiet:
        tell([*project.warnings, *notes])
    return 0 if rows or options.json else NO_CONTENT


def _table(rows: list[KnownVersion]) -> str:
    """Names and versions in columns; what the project itself asks for is marked `direct`."""
    shown = [tuple(map(printable, (row.name, row.version, row.where))) for row in rows]
    names = max(len(name) for name, _, _ in shown)
    versions = max(len(version) for _, version, _ in shown)
    return "\n".join(
        f"{name:<{names}} {version:<{versions}} ({where})" + (" direct" if row.direct else "")
        for row, (name, version, where) in zip(rows, shown, strict=True)
    )
