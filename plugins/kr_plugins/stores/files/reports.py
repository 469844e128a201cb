"""The reports on disk: where one goes, and the entries that they make for an index that was lost.

What a report does not say is taken from its place, `frameworks/{framework}/{topic}.md`; the framework always is.
"""

from __future__ import annotations

import os
import re
import stat
from codecs import BOM_UTF8
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from kr_core import StorageError
from kr_core.plugin import SKELETON_MARK, STALE_MARK, Entry
from kr_core.toolkit import inside, is_framework_of, lies_within, read_bytes
from kr_plugins.stores.files import report_files
from kr_plugins.stores.files.report_files import LARGEST, plain_content
from kr_plugins.stores.report_names import is_about, paths_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from kr_plugins.stores.files.folder import KnowledgeFolder
    from kr_plugins.stores.files.index import Index

_TITLE_PARTS = re.compile(r"(?<![ \t])[ \t]++[-\N{EN DASH}\N{EM DASH}][ \t]++")


def readable_text(file: Path) -> str | None:
    """The text of a report, or None if it is gone, empty or not text."""
    try:
        return as_text(read_bytes(file, limit=LARGEST))
    except OSError:
        return None


def as_text(raw: bytes) -> str | None:
    """The text of a report's bytes, or None if there is none in them."""
    try:
        text = raw.removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeError:
        return None
    return text if text and not text.isspace() and "\0" not in text else None


class ReportList:
    """The reports in the folders of a knowledge base's frameworks, and their evidence, as they were when they were listed.

    Links to folders elsewhere are not followed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[str] = []
        self._plain: set[str] = set()
        """Regular files, in folders that are not links either."""
        frameworks = folder / "frameworks"
        if not lies_within(frameworks, folder):
            return
        for name in _names(frameworks):
            if lies_within(frameworks / name, folder):
                has_links = frameworks.is_symlink() or (frameworks / name).is_symlink()
                self._add(f"frameworks/{name}", is_plain=not has_links)

    def _add(self, top: str, *, is_plain: bool) -> None:
        left = [top]
        while left:
            here = left.pop()
            try:
                with os.scandir(f"{self._folder}/{here}") as found:
                    for one in found:
                        if one.is_dir():
                            left += [] if one.is_symlink() else [f"{here}/{one.name}"]
                        elif one.name.endswith((".md", ".evidence.json")):
                            path = f"{here}/{one.name}"
                            self._paths.append(path)
                            if is_plain and one.is_file(follow_symlinks=False):
                                self._plain.add(path)
            except OSError:
                continue

    def reports(self, *, besides: Collection[str] = ()) -> Iterator[tuple[str, Path]]:
        """The reports by path, relative and whole, besides some; links that lead out are left out."""
        found = (path for path in self._paths if path.endswith(".md") and path not in besides)
        for path in _by_folder(path for path in found if not path.rpartition("/")[2].startswith(".")):
            if path in self._plain or lies_inside(self._folder, path):
                yield path, self._folder / path

    def evidence_alone(self) -> list[str]:
        """The evidence whose report is gone."""
        ending = ".evidence.json"
        found = (path for path in self._paths if path.endswith(ending))
        return _by_folder(path for path in found if not self._exists(f"{path.removesuffix(ending)}.md"))

    def _exists(self, path: str) -> bool:
        return path in self._plain or os.path.exists(f"{self._folder}/{path}")  # noqa: PTH110

    def text(self, path: str) -> str | None:
        """The text of a report that needs no links to reach; None for everything else."""
        # A hidden folder holds no reports.
        is_plain = path in self._plain and "/." not in path and "\\" not in path
        return as_text(plain_content(f"{self._folder}/{path}")) if is_plain else None


def _by_folder(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=lambda path: path.split("/"))


def lies_inside(folder: Path, path: str) -> bool:
    """Whether a path of a knowledge base really lies in it; where it has no links that needs no look at all links above."""
    place = os.fspath(folder)
    parts = path.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        return inside(folder, path) is not None
    try:
        for part in parts:
            place = f"{place}/{part}"
            if stat.S_ISLNK(os.lstat(place).st_mode):
                return inside(folder, path) is not None
    except FileNotFoundError:
        return True  # what is not there leads nowhere
    except (OSError, ValueError):
        return inside(folder, path) is not None
    return True


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  names are enough
    except OSError:
        return []


def written_on(file: Path) -> date:
    """The day on which a file was last written."""
    return datetime.fromtimestamp(file.stat().st_mtime, UTC).date()


def entry_of(path: str, text: str, *, undated: date) -> Entry | None:
    """The entry of one report, or None if the text has neither a title nor a framework line.

    Its framework is the one of the folder in which it lies, spelled as the report spells it. When it was last read is not known:
    the research date replaces it.
    """
    from kr_core.toolkit import content_words, report_facts

    _, folder, *below = path.removesuffix(".md").split("/")
    facts = report_facts(text, folder)
    if not facts.title and not facts.framework:
        return None
    named = [facts.framework] if facts.framework else []
    if not any(facts.title.casefold().startswith(name.casefold()) for name in named):
        named += [name for name in [report_facts(text).framework] if name]  # as its own line spells it
    framework, topic = _title_parts(facts.title, named, folder)
    topic = facts.topic or topic or " ".join(below).replace("-", " ")
    day = facts.researched or undated
    return Entry(
        id="-".join((folder, *below)),
        framework=facts.framework or framework or folder,
        framework_version=facts.framework_version or "latest",
        topic=topic,
        tags=tuple(content_words(topic)),
        path=path,
        created=day,
        last_accessed=day,
        status="stale" if STALE_MARK in text else "fresh",
    )


def _title_parts(title: str, named: list[str], folder: str) -> tuple[str, str]:
    """The framework and the topic of a title; the framework is empty where the title is the topic alone."""
    for framework in named:
        if title.casefold().startswith(framework.casefold()):
            rest = _TITLE_PARTS.split(title[len(framework) :], maxsplit=1)
            return framework, rest[1].strip().removeprefix("\\") if len(rest) == 2 else title
    parts = _TITLE_PARTS.split(title, maxsplit=1)
    if len(parts) == 2 and is_framework_of(parts[0].strip(), folder):
        return parts[0].strip(), parts[1].strip()
    return "", title


class ReportPaths:
    """The places of reports in a knowledge base.

    Args:
        folder: where they lie.
        archived: tells the paths of archived entries, whose reports stay; asked where a file is in the way.
    """

    def __init__(self, folder: KnowledgeFolder, archived: Callable[[], frozenset[str]]) -> None:
        self._folder = folder
        self._archived = archived

    def placed(self, entry: Entry, index: Index, position: int | None) -> Entry:
        """The entry as it will stand in the index: a known one keeps its id, path and creation date."""
        if position is None:
            return entry.model_copy(update={"path": self.free(entry, index)})
        known = index.entry_at(position)
        is_usable = self._folder.report(known.path) and not self._folder.why_unreadable(known.path)
        keeps = known.path if is_usable else self.free(entry, index)
        return entry.model_copy(update={"id": known.id, "created": known.created, "path": keeps})

    def free(self, entry: Entry, index: Index) -> str:
        """The entry's path, or one with a suffix where that holds what is not this entry's.

        Raises:
            StorageError: no report can have the path.
        """
        if self._folder.report(entry.path) is None:
            raise StorageError(
                f"the report of {entry.id!r} would lie outside the knowledge base's reports",
                where=entry.path,
                hint="a report's path is relative to the knowledge base and ends with .md",
            )
        return next(
            place
            for place in paths_for(entry)
            if place not in index.paths and self._may_replace(place, entry)
        )

    def _may_replace(self, path: str, entry: Entry) -> bool:
        """Whether nothing is lost if a report without an entry makes way for this entry's.

        KR's own are a skeleton, and a report on the same subject, with evidence, whose writer was killed
        before it could write the index. What a person put there stays.
        """
        file = self._folder.root / path
        if not os.path.lexists(file):
            return True
        text = readable_text(file)
        if text is None:
            return file.is_file() and not file.stat().st_size
        if SKELETON_MARK in text:
            return True
        left = entry_of(path, text, undated=entry.created)
        same = left is not None and is_about(left, entry)
        return same and report_files.current_evidence(file).exists() and path not in self._archived()
