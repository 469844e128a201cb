"""Answers from documents of your own: what `kr docs index` has indexed for the project.

Nothing leaves the machine, unless the embedder that is configured is a service. A passage is cited by its file, and by the
line, anchor, page or cell in it; files outside of the project by the name that their folder was indexed under.
"""

from __future__ import annotations

import asyncio
import re
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import kr_core
from kr_core import ConfigError, Documents, Finding, Outcome, Passage, Provider, Settings, StorageError
from kr_plugins.sources.stating import Stated, stated

if TYPE_CHECKING:
    from collections.abc import Callable

    from kr_core import DocumentHit, Embedder, ResearchQuery, Setup, SourceContext

_SHOWN = 6
_ABOUT = 0.4
"""A passage that holds less of the question is not about it."""
_FENCED = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)\n\1[ \t]*$", re.MULTILINE | re.DOTALL)
_OF_VERSION = re.compile(rb"\bv?(\d{1,4}(?:\.\d{1,4}){1,3}\w{0,6}) [Dd]ocumentation\b")
_SITE = re.compile(r"\s+[\u2014\u2013|-]\s+[^\u2014\u2013|]*\b[Dd]ocumentation$")
"""What the pages of built documentation put behind their own titles."""
_HEAD = 8192
"""Bytes of a file that are looked at for what it says of itself."""
_TEXTS = frozenset((".md", ".markdown", ".mdx", ".rst", ".txt"))
_LONG_TITLE = 80
_HEADING = re.compile(r"\s*(?:#{1,6} |`[^`]+`$|[=~^*-]{3,}$)")


class LocalDocsSettings(Settings):
    """Settings of the source `local_docs`."""

    official: bool = False
    """Whether the documents are the authority on what they describe; else no answer from them is rated better than `low`."""


class LocalDocs:
    """The source.

    Args:
        root: the project.
        state_folder: its `.kr/`, where the index lies.
        embedder: gives what makes vectors, or None.
        official: whether passages count as official documentation.
    """

    external = False
    timeout_seconds = 60.0

    def __init__(
        self,
        root: Path,
        state_folder: Path,
        embedder: Callable[[], Embedder | None] | None,
        *,
        official: bool,
    ) -> None:
        self._root = root.resolve()
        self._state_folder = state_folder
        self._embedder = embedder
        self._official = official
        self._documents: Documents | None = None
        self._lock = threading.Lock()

    @property
    def unready(self) -> str:
        """Why nothing can be looked up: nothing is indexed, or nothing of it is there any more. Reads the index."""
        try:
            return self._opened().unready
        except ConfigError as error:
            return str(error)
        except StorageError:  # perhaps for a moment alone; each search tells it
            return ""

    async def query(self, query: ResearchQuery, context: SourceContext) -> Finding:
        """Search the documents in a thread."""
        del context
        return await asyncio.to_thread(self._look_up, query.question)

    def _opened(self) -> Documents:
        with self._lock:
            if self._documents is None:
                self._documents = Documents(self._state_folder, self._embedder)
            return self._documents

    def _look_up(self, question: str) -> Finding:
        try:
            documents = self._opened()
        except ConfigError as error:
            return Finding(outcome=Outcome.unavailable, reason=str(error), reached=False)
        hits = documents.search(question, _SHOWN)
        if not hits and (unready := documents.unready):
            return Finding(outcome=Outcome.unavailable, reason=unready, reached=False)
        said = documents.coverage(question, hits)
        passages = tuple(
            self._passage(hit, share, covered)
            for hit, share, covered in zip(hits, said.shares, said.covered, strict=True)
            if share >= _ABOUT
        )
        return Finding(
            outcome=Outcome.ok if passages else Outcome.empty,
            reason="" if passages else "nothing about the question in the documents that are indexed",
            passages=tuple(sorted(passages, key=lambda passage: -passage.coverage)),
            missing=said.missing,
            notes=tuple(documents.notes),
            url=passages[0].url if passages else None,
        )

    def _passage(self, hit: DocumentHit, coverage: float, covered: frozenset[str]) -> Passage:
        stored = hit.stored
        path = Path(hit.path)
        if path.is_relative_to(self._root):
            place = path.relative_to(self._root).as_posix()
            url = f"file:{place}"
        else:
            place = f"{stored.collection}/{stored.path}".rstrip("/")
            url = f"docs:{place}"
        said = _stated(path, _changed(path))
        line = int(hit.locator[1:]) if hit.locator.startswith(":") else None
        before = hit.text[: len(hit.text) - len(stored.body)].count("\n")
        text = f"```\n{hit.text}\n```" if stored.code else hit.text
        return Passage(
            text=text,
            url=url,
            locator=f"{place}{hit.locator}",
            lines=() if line is None else ((before + stored.code, line),),
            title=_title(stored.title or path.stem, stored.outer, stored.name),
            version=said.version,
            dated=said.dated,
            lead="" if stored.code else _lead(stored.body),
            kind="section",
            code=(stored.body,)
            if stored.code
            else tuple(found[2] for found in _FENCED.finditer(stored.body)),
            official=self._official,
            coverage=min(1.0, coverage),
            covered=covered,
        )


def _title(page: str, outer: str, name: str) -> str:
    """The headings that lead to a passage, behind the page's title where they do not say what the page is about."""
    page = _SITE.sub("", page)
    headings = [part for heading in (outer, name) for part in heading.split(" / ") if part]
    title = page.casefold()
    alike = any(part.casefold() in title or title in part.casefold() for part in headings)
    return " / ".join(headings if headings and (alike or len(page) > _LONG_TITLE) else [page, *headings])


@lru_cache(maxsize=1024)
def _stated(path: Path, changed: int) -> Stated:
    """What a file says of itself: a page of built documentation its version (`Python 3.11.2 documentation`), a text more.

    Args:
        path: the file.
        changed: when it was; what it said before is not told again.
    """
    del changed
    page = path.suffix in {".html", ".htm", ".xhtml"}
    if not page and path.suffix not in _TEXTS:
        return Stated()
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:  # moved since it was indexed
        return Stated()
    if not page:
        return stated(head.decode("utf-8", errors="replace"))
    found = _OF_VERSION.search(head)
    return Stated(found[1].decode() if found else None)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _lead(body: str) -> str:
    """The first paragraph of prose, folded into one line."""
    for paragraph in re.split(r"\n\s*\n", body):
        lines = [line for line in paragraph.split("\n") if not _HEADING.match(line)]
        if lines and not paragraph.startswith(
            ("```", "~~~", "|", "+-", "==", ".. list-table::", "    ", "<")
        ):
            return " ".join(" ".join(lines).split())
    return ""


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """The documents that were indexed for the project."""

    def build(settings: LocalDocsSettings, setup: Setup) -> LocalDocs:
        return LocalDocs(setup.project.root, setup.state_folder, setup.embedder, official=settings.official)

    return Provider(build, LocalDocsSettings)
