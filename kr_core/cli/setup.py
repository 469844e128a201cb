"""Commands about the installation and the project: `kr plugins`, `kr doctor`, `kr init`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kr_core import __version__
from kr_core.config import load
from kr_core.errors import ConfigError, KRError
from kr_core.files import write_atomically
from kr_core.knowledge.project import LocalProject
from kr_core.pipeline import Pipeline

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

CONFIGURATION = """\
# KR's configuration; every key and its default: docs/reference/configuration.md
knowledge_research:
  knowledge_base_path: knowledge-base
  # sources: [installed_docs]      # asked in this order; without it, what is installed
  # max_calls_per_story: 3         # calls that leave the machine
  # cache_ttl_days: 30
  # version_match: auto            # auto: another minor version is stale too; major: only another major
"""


def run(options: argparse.Namespace) -> int:
    """Run one of them and return the exit code."""
    return {"plugins": _plugins, "doctor": _doctor, "init": _init}[options.command](options)


def _plugins(options: argparse.Namespace) -> int:
    pipeline = Pipeline(load(_folder(options), options.config))
    active = _active(pipeline)
    rows = []
    for plugin in pipeline.registry.installed():
        row: dict[str, Any] = {"name": plugin.name, "distribution": plugin.distribution, "version": plugin.version,
               "module": plugin.module, "active": plugin.name in active}  # fmt: skip
        if options.verbose:
            try:
                row["kinds"] = list(pipeline.registry.kind_of(plugin.name))
            except KRError as error:
                row["fault"] = str(error)
        rows.append(row)
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
        return 0
    for row in rows:
        mark = "active" if row["active"] else "      "
        more = f"  {', '.join(row['kinds'])}" if "kinds" in row else ""
        more = f"  BROKEN: {row['fault']}" if "fault" in row else more
        print(f"{row['name']:<16} {mark}  {row['distribution']} {row['version']}{more}")
    return 0


def _active(pipeline: Pipeline) -> set[str]:
    settings = pipeline.config.settings
    sources = settings.knowledge_research.sources
    if sources is None:
        from kr_core.config.naming import DEFAULT_CHAIN

        sources = DEFAULT_CHAIN
    named = {settings.store, settings.journal, settings.scorer, settings.renderer, *settings.logs, *sources}
    return {pipeline.config.plugin_of(name) for name in named}


class Check(NamedTuple):
    """One line of `kr doctor`."""

    name: str
    state: Literal["ok", "note", "fault"]
    said: str


def _doctor(options: argparse.Namespace) -> int:
    checks = list(_checks(options))
    if options.json:
        print(json.dumps([check._asdict() for check in checks], ensure_ascii=False, indent=2))
    else:
        for check in checks:
            print(f"{check.state:<5}  {check.name}: {check.said}")
    return 2 if any(check.state == "fault" for check in checks) else 0


def _checks(options: argparse.Namespace) -> Iterator[Check]:
    yield Check("kr", "ok", f"{__version__} on Python {sys.version.split()[0]}, {sys.prefix}")
    try:
        config = load(_folder(options), options.config)
    except ConfigError as error:
        yield Check("configuration", "fault", str(error))
        return
    yield Check("configuration", "ok", str(config.file) if config.file else f"defaults, in {config.root}")
    waiting = {"git_commit": "off", "agent": None, "escalate_below": None}
    for key, default in waiting.items():
        value = getattr(config.settings.knowledge_research, key)
        if value != default:
            yield Check(f"knowledge_research.{key}", "note", f"{value!r} has no effect in this version")
    with Pipeline(config, project=LocalProject(config.root, _folder(options), config.environ)) as pipeline:
        try:
            pipeline.check_names()
        except ConfigError as error:
            yield Check("plugins", "fault", str(error))
        yield from _project_checks(pipeline)
        yield from _plugin_checks(pipeline)
        yield from _store_checks(pipeline)


def _folder(options: argparse.Namespace) -> Path:
    return (options.folder or Path.cwd()).resolve()


def _project_checks(pipeline: Pipeline) -> Iterator[Check]:
    environments = [environment for environment in pipeline.project.environments() if not environment.own]
    for environment in environments:
        yield Check("environment", "ok", f"{environment.label} ({environment.prefix})")
    if not environments:
        yield Check(
            "environment", "note", "none found; make a .venv, or set VIRTUAL_ENV: KR's own serves meanwhile"
        )
    for warning in pipeline.project.warnings:
        yield Check("versions", "note", warning)


def _plugin_checks(pipeline: Pipeline) -> Iterator[Check]:
    settings = pipeline.config.settings
    named = [
        ("store", settings.store),
        ("journal", settings.journal),
        ("scorer", settings.scorer),
        ("renderer", settings.renderer),
    ]
    named += [("log", name) for name in settings.logs]
    installed = {plugin.name for plugin in pipeline.registry.installed()}
    sources = settings.knowledge_research.sources
    named += [
        ("source", name)
        for name in (sources if sources is not None else ("installed_docs",))
        if sources is not None or name in installed
    ]
    for noun, name in named:
        try:
            pipeline.registry.build(noun, name)  # type: ignore[call-overload]  # the overloads name each noun
        except KRError as error:
            yield Check(f"{noun} {name}", "fault", str(error))
        else:
            yield Check(f"{noun} {name}", "ok", "built")


def _store_checks(pipeline: Pipeline) -> Iterator[Check]:
    try:
        entries = pipeline.store.entries()
    except KRError as error:
        yield Check("knowledge base", "fault", str(error))
        return
    gone = [entry.id for entry in entries if pipeline.store.read(entry) is None]
    yield Check("knowledge base", "ok", f"{len(entries)} entries in {pipeline.config.knowledge_base}")
    for name in gone:
        yield Check(
            "knowledge base",
            "note",
            f"{name}: its report is gone or empty; it is researched again when asked for",
        )


def _init(options: argparse.Namespace) -> int:
    folder = _folder(options)
    path = folder / "kr.yaml"
    if path.exists() and not options.force:
        raise ConfigError("is there already", where=str(path), todo="edit it, or overwrite it with --force")
    try:
        write_atomically(path, CONFIGURATION)
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror or error}", where=str(path)) from error
    print(f"wrote {path}")
    print('next: kr research "How do I ... in LIBRARY?"')
    return 0
