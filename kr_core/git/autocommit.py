"""The exit gate: what a run or a command changed in the knowledge base becomes a commit, where `git_commit` is `auto`."""

from __future__ import annotations

import json
import os
import textwrap
from contextlib import suppress
from typing import TYPE_CHECKING

from kr_core.files import lock, make_state_folder, read_text, write_atomically
from kr_core.knowledge.ids import inside
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.model import Report
    from kr_core.protocols import WriteResult

__all__ = ["commit_changes", "commit_pending", "commit_report"]

_SUBJECT = 72
"""What `git log --oneline` and the forges show of a subject."""
_INDEXES = ("index.yaml", "_archived-index.yaml")
"""In the knowledge base: a hit changes them and is no commit of its own."""
_WAITING = "uncommitted.json"
"""In the state folder: files whose commit failed, relative to the knowledge base."""
_LARGEST = 4 * 1024 * 1024
"""In bytes: of that list."""


def commit_changes(
    config: Config, files: Sequence[Path], subject: str, facts: Iterable[str] = ()
) -> tuple[str, ...]:
    """Commit changed files of the knowledge base, and nothing else; returns notes on what was not committed.

    No git is started where nothing has changed, nor with `git_commit: off`. Files whose commit fails are remembered, and
    follow the next commit that succeeds in one of their own.

    Args:
        config: says whether to commit, and where the knowledge base is.
        files: what was written or removed.
        subject: of the commit's message, which begins with "KR: ".
        facts: further lines of the message.
    """
    if not files or config.settings.knowledge_research.git_commit != "auto":
        return ()
    from kr_core.git.commit import commit

    first = textwrap.shorten(printable(f"KR: {subject}"), _SUBJECT, placeholder="...")
    lines = [" ".join(printable(fact).split()) for fact in facts]
    message = "\n".join([first, *([""] if lines else []), *lines, ""])
    notes = commit(files, message, folder=config.knowledge_base).notes
    if notes:
        _remember(config, files)
    elif waiting := _waiting(config):
        late = "KR: what could not be committed before\n"
        notes = commit(
            [config.knowledge_base / name for name in waiting], late, folder=config.knowledge_base
        ).notes
        if not notes:
            _forget(config, waiting)
    return notes


def commit_report(config: Config, kept: WriteResult, report: Report, replaced: str | None) -> tuple[str, ...]:
    """Commit a report that was kept, with its evidence and its entry; returns notes on what was not committed.

    Args:
        config: says whether to commit.
        kept: what the store wrote.
        report: what the message tells of: its subject, how sure it is, what it rests on.
        replaced: why an earlier report was researched anew; None where there was none.
    """
    query = report.query
    subject = f"{query.framework} {query.framework_version} - {query.topic}"
    facts = [f"Report: {kept.path}"]
    if kept.entry is None:
        facts.append("Nothing was found; the report holds the question only.")
    else:
        facts.append(f"Confidence: {report.score.level} ({report.score.score}/100)")
        facts.append(f"Sources: {', '.join(dict.fromkeys(source.via for source in report.sources))}")
    if replaced:
        facts.append(f"Researched anew: {replaced}")
    return commit_changes(config, tuple(kept.files), subject, facts)


def commit_pending(config: Config) -> tuple[str, ...]:
    """Commit what changed and waits for a commit: the days of use in the index, and what could not be committed before.

    Returns:
        Notes on what was not committed.
    """
    if config.settings.knowledge_research.git_commit != "auto":
        return ()
    base = config.knowledge_base
    waiting = _waiting(config)
    index = [base / name for name in _INDEXES if (base / name).exists()]
    files = [*index, *(base / name for name in waiting)]
    if not files:
        return ()
    from kr_core.git.commit import commit

    notes = commit(files, "KR: what was used, and what was not committed before\n", folder=base).notes
    if waiting and not notes:
        _forget(config, waiting)
    return notes


# -- what waits for a commit -------------------------------------------------------------------------------


def _waiting(config: Config) -> tuple[str, ...]:
    """The files whose commit failed, as far as KR can have written them: the list may have come with the project."""
    try:
        names = json.loads(read_text(config.state_folder / _WAITING, limit=_LARGEST))
    except (OSError, ValueError, RecursionError):
        return ()
    known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return tuple(name for name in known if _is_ours(name) and inside(config.knowledge_base, name))


def _is_ours(name: str) -> bool:
    """Whether a file has a name that KR gives: an index, a report with its evidence, lessons; none is hidden."""
    hidden = any(part.startswith(".") for part in name.split("/"))
    return name in _INDEXES or (name.endswith((".md", ".evidence.json")) and not hidden)


def _remember(config: Config, files: Sequence[Path]) -> None:
    names = [os.path.relpath(file, config.knowledge_base) for file in files]
    with suppress(OSError):  # then a person commits them; the note says that they were not
        make_state_folder(config.state_folder)
        with lock(config.state_folder):
            _write(config, (*_waiting(config), *names))


def _forget(config: Config, names: Sequence[str]) -> None:
    with suppress(OSError), lock(config.state_folder):
        _write(config, [name for name in _waiting(config) if name not in names])


def _write(config: Config, names: Iterable[str]) -> None:
    write_atomically(config.state_folder / _WAITING, json.dumps(list(dict.fromkeys(names))))
