"""The exit gate: what a run or a command changed in the knowledge base becomes a commit, where `git_commit` is `auto`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kr_core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from kr_core.config import Config
    from kr_core.model import Report
    from kr_core.protocols import Kept

__all__ = ["commit_changes", "commit_report"]

_SUBJECT = 72
"""What `git log --oneline` and the forges show of a subject."""


def commit_changes(
    config: Config, files: Sequence[Path], subject: str, facts: Iterable[str] = ()
) -> tuple[str, ...]:
    """Commit changed files of the knowledge base, and nothing else; returns notes on what was not committed.

    No git is started where nothing has changed, nor with `git_commit: off`.

    Args:
        config: says whether to commit, and where the knowledge base is.
        files: what was written or removed.
        subject: of the commit's message, which begins with "KR: ".
        facts: further lines of the message.
    """
    if not files or config.settings.knowledge_research.git_commit != "auto":
        return ()
    from kr_core.pipeline.gitgate import commit

    first = textwrap.shorten(printable(f"KR: {subject}"), _SUBJECT, placeholder="...")
    lines = [" ".join(printable(fact).split()) for fact in facts]
    message = "\n".join([first, *([""] if lines else []), *lines, ""])
    return commit(files, message, folder=config.knowledge_base).notes


def commit_report(config: Config, kept: Kept, report: Report, replaced: str | None) -> tuple[str, ...]:
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
