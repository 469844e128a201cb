"""Commands that read: `kr verify`, `kr versions`, `kr cache`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.errors import ConfigError
from kr_core.pipeline import Pipeline

if TYPE_CHECKING:
    import argparse

    from kr_core.model import Entry


def run(options: argparse.Namespace) -> int:
    """Run one of them and return the exit code."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        if options.command == "verify":
            return _verify(pipeline, options)
        if options.command == "versions":
            return _versions(pipeline, options)
        return _list(pipeline, options) if options.action == "list" else _show(pipeline, options)


def _verify(pipeline: Pipeline, options: argparse.Namespace) -> int:
    from kr_core.evidence.verifying import not_checked, verify

    path = _report(pipeline, options.report, options.folder)
    beside = path.with_suffix(".evidence.json")
    try:
        report, evidence = path.read_text("utf-8"), json.loads(beside.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"no evidence beside it: KR keeps it in {beside.name}" if path.exists() else "no such file",
            where=str(path),
            todo="research anew with --refresh if it is lost",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(
            f"cannot be verified: {reason}", where=str(path),
            todo=f"KR keeps its evidence in {beside.name}; research anew with --refresh if that is lost",
        ) from error  # fmt: skip
    problems = verify(report, evidence)
    for problem in problems:
        print(f"false: {problem.where}: {problem.what}")
    for passed_over in not_checked(report):
        print(f"not checked: {passed_over}")
    if not problems:
        claims = sum(len(evidence[part]) for part in ("summary", "details", "caveats"))
        print(f"verified: {claims} sentences and {len(evidence['citations'])} quotes hold in {path.name}")
    return 1 if problems else 0


def _report(pipeline: Pipeline, name: str, folder: Path | None) -> Path:
    """A report by its file, its path in the knowledge base, or its entry's id."""
    base = pipeline.config.knowledge_base
    for path in ((folder or Path()) / name, base / name):
        if os.path.isfile(path):  # noqa: PTH113  False, not an error, for a name that no file can have
            return path
    for entry in pipeline.store.entries():
        if entry.id == name:
            return base / entry.path
    raise ConfigError("no such report", where=name, todo="`kr cache list` shows what there is")


def _versions(pipeline: Pipeline, options: argparse.Namespace) -> int:
    project = pipeline.project
    if options.name:
        found = project.version_of(options.name)
        rows = [(options.name, *found)] if found else []
    else:
        rows = project.versions()
    if options.json:
        _print_json([{"name": name, "version": version, "from": where} for name, version, where in rows])
    else:
        for name, version, where in rows:
            print(f"{name} {version} ({where})")
        if not rows:
            print(
                f"{options.name}: not known in this project"
                if options.name
                else "no versions are known in this project"
            )
    if options.name and not options.json:
        disagreement = project.disagreement(options.name)
        if disagreement:
            print(f"note: {disagreement}")
    return 0 if rows or options.json else 4


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
