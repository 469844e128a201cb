"""A source for KR: answers from a folder of Markdown notes in the project.

knowledge_research:
  sources: [notes, installed_docs]
plugins:
  notes: {folder: docs/team}
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pydantic import Field

from kr_core import ConfigError
from kr_core.plugin import Finding, Outcome, Passage, Provider, Settings, Source, hookimpl
from kr_source_example.search import Hit, Index, Place
from kr_source_example.sections import Section, sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kr_core.plugin import ResearchQuery, Setup, SourceContext

__all__ = ["Notes", "NotesSettings", "kr_source"]

Item = TypeVar("Item")

KR_CONTRACT = 2
"""The version of KR's plugin contract that this is written for."""

_SUFFIXES = (".md", ".markdown")
_LARGEST = 1_000_000
"""Bytes; a larger file is an export or a log, not a note."""
_SHOWN = 5
_ABOUT = 0.4
"""A section that holds less of the question is not about it."""
_NOTED = 3
"""So many files that were passed over are named; of the others the number is told."""


class NotesSettings(Settings):
    """Settings of the source, `plugins.notes` in `kr.yaml`."""

    folder: str = Field(default="notes", description="The folder of the notes, in the project.")
    official: bool = Field(
        default=False,
        description="Whether the notes are the authority on what they describe; else no answer from them "
        "is rated better than `low`.",
    )


class _Note(NamedTuple):
    """A note as it was read, or why it was passed over."""

    stamp: tuple[int, int]
    """Time of the last change and size: while they stay, the file need not be read again."""
    sections: tuple[Section, ...] = ()
    fault: str = ""


class Notes:
    """The source; the notes are read again as they change.

    Args:
        root: the project.
        folder: the folder of the notes, relative to it.
        official: whether the passages count as official documentation.

    Raises:
        ConfigError: the folder is not in the project.
    """

    external = False
    timeout_seconds = 60.0

    def __init__(self, root: Path, folder: str, *, official: bool) -> None:
        self._root = root.resolve()
        self._folder = (self._root / folder).resolve()
        self._official = official
        self._notes: dict[str, _Note] = {}
        self._index = Index(())
        self._lock = threading.Lock()
        if not self._folder.is_relative_to(self._root):
            raise ConfigError(
                f"the folder `{folder}` is not in the project", hint="set `folder` to one below the project"
            )

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Search the notes in a thread that stops reading once the call is cancelled."""
        del context
        given_up = threading.Event()
        try:
            return await asyncio.to_thread(self._look_up, query.question, given_up)
        finally:
            given_up.set()

    def _look_up(self, question: str, given_up: threading.Event) -> Finding:
        shown = self._relative(self._folder)
        if not self._folder.is_dir():
            return Finding(outcome=Outcome.unavailable, reason=f"there is no folder {shown} in the project")
        with self._lock:  # two questions may come at once
            self._refresh(given_up)
            found, missing = self._index.search(question, _SHOWN)
            faults = [f"{path}: {note.fault}" for path, note in self._notes.items() if note.fault]
        hits = [hit for hit in found if hit.coverage >= _ABOUT]
        more = [f"{len(faults) - _NOTED} more files were passed over"] if len(faults) > _NOTED else []
        return Finding(
            outcome=Outcome.ok if hits else Outcome.empty,
            reason="" if hits else f"nothing about the question in {shown}",
            passages=tuple(map(self._passage, hits)),
            missing=missing,
            notes=(*faults[:_NOTED], *more),
            url=f"file:{shown}",
        )

    def _passage(self, hit: Hit) -> Passage:
        path, section = hit.location
        return Passage(
            text=section.text,
            url=f"file:{path}",
            locator=f"{path}:{section.line}",
            lines=((0, section.line),),
            title=section.title,
            lead=section.lead,
            kind="section",
            code=section.code,
            official=self._official,
            coverage=hit.coverage,
            covered=hit.covered,
        )

    def _refresh(self, given_up: threading.Event) -> None:
        """Read what is new or changed, and make the index anew if anything is."""
        notes: dict[str, _Note] = {}
        for path, name, stamp in _until(given_up, self._files()):
            known = self._notes.get(name)
            notes[name] = known if known and known.stamp == stamp else _read(path, stamp)
        if notes != self._notes:
            places = (Place(path, section) for path, note in notes.items() for section in note.sections)
            index = Index(_until(given_up, places))
            self._index.close()
            self._notes, self._index = notes, index

    def _files(self) -> Iterator[tuple[Path, str, tuple[int, int]]]:
        """Each note's path, its path in the project, and its stamp.

        Symbolic links are passed over: one that leads out of the folder is not followed, and what one leads to
        inside it is read there already. So are hidden folders.
        """
        for folder, folders, files in os.walk(self._folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if not name.lower().endswith(_SUFFIXES):
                    continue
                path = Path(folder, name)
                try:
                    status = path.lstat()
                except OSError:  # gone since the folder was listed
                    continue
                if stat.S_ISREG(status.st_mode):
                    yield path, self._relative(path), (status.st_mtime_ns, status.st_size)

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()


def _until(given_up: threading.Event, items: Iterable[Item]) -> Iterator[Item]:
    """The items, as long as somebody waits for what is made of them."""
    for item in items:
        if given_up.is_set():
            raise TimeoutError("given up while the notes were being read")
        yield item


def _read(path: Path, stamp: tuple[int, int]) -> _Note:
    if stamp[1] > _LARGEST:
        return _Note(stamp, fault=f"passed over: larger than {_LARGEST // 1000} kB")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return _Note(stamp, fault="passed over: not UTF-8")
    except OSError as error:
        return _Note(stamp, fault=f"passed over: {error.strerror}")
    return _Note(stamp, tuple(sections(text, path.stem.replace("-", " ").replace("_", " "))))


@hookimpl
def kr_source() -> Provider[Source]:
    """Provide the source."""

    def build(settings: NotesSettings, setup: Setup) -> Notes:
        return Notes(setup.project.root, settings.folder, official=settings.official)

    return Provider(build, NotesSettings)
