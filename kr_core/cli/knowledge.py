"""`kr cache`: what is kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kr_core.errors import ConfigError
from kr_core.pipeline import Pipeline

if TYPE_CHECKING:
    import argparse

    from kr_core.model import Entry


def run(options: argparse.Namespace) -> int:
    """Run an action and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        return _list(pipeline, options) if options.action == "list" else _show(pipeline, options)


def _list(pipeline: Pipeline, options: argparse.Namespace) -> int:
    entries = pipeline.store.entries()
    if options.json:
        _print_json([entry.model_dump(mode="json") for entry in entries])
        return 0
    for entry in entries:
        print(
            f"{entry.id}  {entry.framework} {entry.framework_version}  {entry.status}  used {entry.last_accessed}  {entry.path}"
        )
    if not entries:
        print("the knowledge base is empty")
    return 0


def _show(pipeline: Pipeline, options: argparse.Namespace) -> int:
    entry = _entry(pipeline, options.id)
    stored = pipeline.store.read(entry)
    if stored is None:
        raise ConfigError("its report is gone or empty", where=entry.id, todo="research the question again")
    print(stored[0], end="" if stored[0].endswith("\n") else "\n")
    return 0


def _entry(pipeline: Pipeline, name: str) -> Entry:
    import difflib

    entries = {entry.id: entry for entry in pipeline.store.entries()}
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name, entries, 1)
    raise ConfigError(
        "no such entry", where=name, todo=f"did you mean {near[0]}?" if near else "`kr cache list` shows all"
    )


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))
