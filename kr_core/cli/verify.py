"""`kr verify`: whether a report's quotes stand in the passages that were kept with it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kr_core.errors import ConfigError
from kr_core.files import read_text, too_many_values
from kr_core.model import SKELETON_MARK
from kr_core.research import Pipeline
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    import argparse

    from kr_core.protocols import Store

_LARGEST = 20_000_000


def run(options: argparse.Namespace) -> int:
    """Check each report and return the exit code: 1 where a quote is false."""
    with Pipeline.open(options.config, folder=options.folder) as pipeline:
        base, store = pipeline.config.knowledge_base, pipeline.store
        several = len(options.reports) > 1
        codes = [_code(report, options.folder, base, store, several=several) for report in options.reports]
        return max(codes)


def _code(report: str, folder: Path | None, base: Path, store: Store, *, several: bool) -> int:
    """What came of a report; where several are to be checked, one that cannot be keeps none of the others from it."""
    try:
        return _checked(report, folder, base, store, several=several)
    except ConfigError as error:
        if not several:
            raise
        print(f"kr: {printable(str(error))}", file=sys.stderr)
        return error.exit_code


def _checked(name: str, folder: Path | None, base: Path, store: Store, *, several: bool) -> int:
    from kr_core.evidence.verification import not_checked, verify

    file = _file(name, folder, base)
    report, evidence = _kept(store, name) if file is None else _read(file)
    shown = file.name if file else name
    if evidence is None:
        print(f"nothing to check: {shown} says that there was no answer")
        return 0
    problems = verify(report, evidence)
    which = f"{shown}: " if several else ""
    for problem in problems:
        print(printable(f"false: {which}{problem.where}: {problem.what}"))
    for passed_over in not_checked(report):
        print(printable(f"not checked: {which}{passed_over}"))
    if not problems:
        claims = sum(len(evidence[part]) for part in ("summary", "details", "caveats"))
        print(f"verified: {claims} sentences and {len(evidence['citations'])} quotes hold in {shown}")
    return 1 if problems else 0


def _file(name: str, folder: Path | None, base: Path) -> Path | None:
    """The report's file, by its name or its path in the knowledge base; None for a name that is no file."""
    places = ((folder or Path()) / name, base / name)
    return next(
        (path for path in places if os.path.isfile(path)),  # noqa: PTH113  False for a name that no file can have
        None,
    )


def _read(path: Path) -> tuple[str, Any]:
    beside = path.with_suffix(".evidence.json")
    try:
        report = read_text(path, limit=_LARGEST)
        if not beside.exists() and SKELETON_MARK in report:
            return report, None
        evidence = read_text(beside, limit=_LARGEST)
        if too_many_values(evidence):
            raise ValueError("it has too many values")
        return report, json.loads(evidence)
    except FileNotFoundError as error:
        raise ConfigError(
            f"no evidence beside it: KR keeps it in {beside.name}",
            where=str(path),
            hint="research it again with --refresh if it is lost",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ConfigError(
            f"cannot be verified: {reason}", where=str(path),
            hint=f"KR keeps its evidence in {beside.name}; research it again with --refresh if that is lost",
        ) from error  # fmt: skip


def _kept(store: Store, name: str) -> tuple[str, Any]:
    """What the store keeps under an entry's id, whichever store it is."""
    entry = next((entry for entry in store.entries() if entry.id == name), None)
    if entry is None:
        raise ConfigError("no such report", where=name, hint="`kr cache list` shows what there is")
    stored = store.read(entry)
    if stored is None:
        raise ConfigError("its report is gone or empty", where=name, hint="research the question again")
    if not stored[1]:
        raise ConfigError("has no stored evidence", where=name, hint="research it again with --refresh")
    return stored
