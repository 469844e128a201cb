"""Answers from your own documents, indexed for the project by `kr docs index`.

Nothing leaves the machine, unless the configured embedder is a service. A citation names the file and the line, anchor,
page or cell in it; for a file outside the project, the name under which its folder was indexed.
"""

from __future__ import annotations

import asyncio
import re
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import kr_core
from kr_core import ConfigError, StorageError
from kr_core.plugin import Family, Finding, Outcome, Passage, Provider, Settings
from kr_core.toolkit import Documents, read_bytes
from kr_plugins.sources.document_metadata import DocumentMetadata, is_site, stated, stated_by_page
from kr_plugins.sources.document_survey import survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kr_core.plugin import Embedder, ResearchQuery, Setup, SourceContext, SurveyPlan
    from kr_core.toolkit import DocumentHit

_SHOWN = 6
_LOOKED_AT = 30
"""Of these the first are shown that are about what was asked about."""
_ABOUT = 0.4
"""A passage that holds less of the question is not about it."""
_FENCE = re.compile(r"^(`{3,}+|~{3,}+)[^\n`]*+\n", re.MULTILINE)
_CODE = re.compile(r"^(`{3,}+|~{3,}+)[^\n`]*+\n.*?(?:\n\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
"""The same, and what goes on in the next passage."""
_PAGES = frozenset((".html", ".htm", ".xhtml"))
_INDENTED = "    "
_DOCSTRING = re.compile(r"\"{3}\s*+(.+?)(?:\"{3}|\n\s*\n)|'{3}\s*+(.+?)(?:'{3}|\n\s*\n)", re.DOTALL)
_SITE = re.compile(r"(?<!\s)\s++[\u2014\u2013|-]\s++[^\u2014\u2013|]{0,200}\b[Dd]ocumentation$")
"""What the pages of built documentation put behind their own titles."""
_SUFFIX = re.compile(r"(?<=..)(?:js|lang|ql)$")
_LARGEST = 50_000_000
_HEAD = 8192
"""Bytes of a file that are looked at for what it says of itself."""
_TEXTS = frozenset((".md", ".markdown", ".mdx", ".rst", ".txt"))
_LONG_TITLE = 80
_HEADING = re.compile(r"\s*(?:#{1,6} |`[^`]+`$|[=~^*-]{3,}$)")
_FIELD = re.compile(r"[A-Z][\w ]{1,20}:(?: \S{1,20}){1,5}$")
"""`Added in: v18.11.0`, `Stability: 2 - Stable`: what is said of a function before what it does."""


class LocalDocsSettings(Settings):
    """Settings of the source `local_docs`."""

    official: bool = False
    """Whether the documents are the authority on their subject; otherwise KR rates no answer from them better than
    `low`. Those in the project are it only after `kr trust`.
    """
    vouching = ("official",)


class LocalDocs:
    """The source.

    Args:
        root: the project.
        state_folder: its `.kr/`, where the index lies.
        embedder: gives what makes vectors, or None.
        official: whether passages count as official documentation.
        vouched: whether this holds for documents in the project, too.
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
        vouched: bool = True,
    ) -> None:
        self._root = root.resolve()
        self._state_folder = state_folder
        self._embedder = embedder
        self._official = official
        self._vouched = vouched
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
        if query.survey is not None:
            surveyed = await asyncio.to_thread(self._survey, query.question, query.survey)
            if surveyed is not None:
                return surveyed
        return await asyncio.to_thread(self._look_up, query.question, query.framework)

    def _survey(self, question: str, plan: SurveyPlan) -> Finding | None:
        """The sections that a survey is about; None where there are none."""
        try:
            documents = self._opened()
        except ConfigError:
            return None
        sections = survey(documents, question, plan)
        passages = [self._passage(hit, _stated_in(hit), share, frozenset()) for hit, share in sections]
        pages: dict[str, list[str]] = {}
        for passage in passages:
            pages.setdefault(passage.url.partition("#")[0], []).append(passage.title)
        families = [
            Family(
                name=f"sections of {url.partition(':')[2]}",
                kind="sections",
                titles=tuple(dict.fromkeys(titles)),
            )
            for url, titles in pages.items()
            if len(titles) > 1
        ]
        if not passages:
            return None
        return Finding(
            outcome=Outcome.ok,
            passages=tuple(passages),
            overview=True,
            families=tuple(families),
            notes=tuple(documents.notes),
        )

    def _unvouched(self, passages: Iterable[Passage]) -> list[str]:
        """That documents of the project do not count as official, where its configuration says so and is not trusted."""
        if self._vouched or not self._official or all(passage.official for passage in passages):
            return []
        return [
            "documents of this project are not rated as official: allow `plugins.local_docs.official` with `kr trust`"
        ]

    def _opened(self) -> Documents:
        with self._lock:
            if self._documents is None:
                self._documents = Documents(self._state_folder, self._embedder)
            return self._documents

    def _look_up(self, question: str, framework: str) -> Finding:
        try:
            documents = self._opened()
        except ConfigError as error:
            return Finding(outcome=Outcome.unavailable, reason=str(error), reached=False)
        found = documents.search(question, _LOOKED_AT)
        if not found and (unready := documents.unready):
            return Finding(outcome=Outcome.unavailable, reason=unready, reached=False)
        hits = _about([(hit, _stated_in(hit)) for hit in found], framework)[:_SHOWN]
        covers = documents.coverage(
            question, [hit._replace(text=f"{said.product} {hit.text}") for hit, said in hits]
        )
        kept = [
            (said, self._passage(hit, said, share, covered))
            for (hit, said), share, covered in zip(hits, covers.shares, covers.covered, strict=True)
            if share >= _ABOUT
        ]
        passages = tuple(passage for _said, passage in kept)
        return Finding(
            outcome=Outcome.ok if passages else Outcome.empty,
            reason="" if passages else "nothing about the question in the documents that are indexed",
            passages=tuple(sorted(passages, key=lambda passage: -passage.coverage)),
            missing=covers.missing,
            notes=(*documents.notes, *self._unvouched(passages)),
            url=passages[0].url if passages else None,
            version=next((said.version for said, _ in kept if said.product), None) if framework else None,
        )

    def _passage(
        self, hit: DocumentHit, said: DocumentMetadata, coverage: float, covered: frozenset[str]
    ) -> Passage:
        stored = hit.stored
        path = Path(hit.path)
        in_project = path.is_relative_to(self._root)
        if in_project:
            place = path.relative_to(self._root).as_posix()
            url = f"file:{place}"
        else:
            place = f"{stored.collection}/{stored.path}".rstrip("/")
            url = f"docs:{place}"
        line = int(hit.locator[1:]) if hit.locator.startswith(":") else None
        before = stored.head.count("\n") + 1 if stored.head else 0
        text = f"{stored.head}\n{stored.body}" if stored.head else stored.body
        text = f"```\n{text}\n```" if stored.code or _is_code(path, stored.body) else text
        return Passage(
            text=text,
            url=url,
            locator=f"{place}{hit.locator}",
            lines=() if line is None else ((before + stored.code, line),),
            title=_title(stored.title or path.stem, stored.outer, stored.name),
            version=said.version,
            dated=said.dated,
            lead=_documented(stored.body) if stored.code else _lead(stored.body),
            kind="section",
            code=(stored.body,) if stored.code else tuple(_fenced(stored.body)),
            official=self._official and (self._vouched or not in_project),
            coverage=min(1.0, coverage),
            covered=covered,
        )


def _title(page: str, outer: str, name: str) -> str:
    """The headings that lead to a passage, behind the page's title where they do not say what the page is about."""
    page = _SITE.sub("", page)
    headings = [
        part for heading in (outer, name) for part in heading.split(" / ") if part and not is_site(part)
    ]
    title = page.casefold()
    alike = any(part.casefold() in title or title in part.casefold() for part in headings)
    return " / ".join(headings if headings and (alike or len(page) > _LONG_TITLE) else [page, *headings])


def _stated_in(hit: DocumentHit) -> DocumentMetadata:
    path = Path(hit.path)
    return _stated(path, _changed(path))


def _about(
    hits: list[tuple[DocumentHit, DocumentMetadata]], framework: str
) -> list[tuple[DocumentHit, DocumentMetadata]]:
    """Those that may answer: what the manual of another product says is so there, and not in what was asked about.

    Documents that are no manual of a product may be about anything. Where there is no manual of what was asked about, what
    those of others say of it stays, without their version.
    """
    if not framework:
        return hits
    manual = any(_is_of(said, framework) for _hit, said in hits)
    kept = []
    for hit, said in hits:
        if not said.product or _is_of(said, framework):
            kept.append((hit, said))
        elif not manual and framework.casefold() in hit.text.casefold():
            kept.append((hit, said._replace(version=None, product="")))
    return kept


def _is_of(said: DocumentMetadata, framework: str) -> bool:
    return bool(said.product) and _plain(said.product) == _plain(framework)


def _plain(name: str) -> str:
    """A product's name as others may write it: `node` for `Node.js`, `postgres` for `PostgreSQL`, `go` for `golang`."""
    return _SUFFIX.sub("", re.sub(r"[\W_]", "", name.casefold()))


@lru_cache(maxsize=1024)
def _stated(path: Path, changed: int) -> DocumentMetadata:
    """What a file says of itself: a page of built documentation its version (`Python 3.11.2 documentation`), a text more.

    Args:
        path: the file.
        changed: when it was; what it said before is not told again.
    """
    del changed
    page = path.suffix in _PAGES
    if not page and path.suffix not in _TEXTS:
        return DocumentMetadata()
    try:
        head = read_bytes(path, limit=_LARGEST)[:_HEAD]
    except OSError:  # moved since it was indexed
        return DocumentMetadata()
    said = head.decode("utf-8", errors="replace")
    return stated_by_page(said) if page else stated(said)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_code(path: Path, body: str) -> bool:
    """Whether a passage of a page is the middle of long code: no mark says so, but prose of a page is never indented."""
    lines = [line for line in body.split("\n") if line.strip()]
    indented = sum(line.startswith(_INDENTED) for line in lines)
    return path.suffix in _PAGES and not _CODE.search(body) and 2 * indented > len(lines)


def _fenced(body: str) -> Iterator[str]:
    """What stands in fences that are closed: in reStructuredText a line of `~` may be the underline of a heading."""
    start, unclosed = 0, set()
    while (opening := _FENCE.search(body, start)) is not None:
        start = opening.end()
        if opening[1] in unclosed:
            continue
        closing = re.compile(rf"\n{opening[1]}[ \t]*$", re.MULTILINE).search(body, start)
        if closing is None:
            unclosed.add(opening[1])
            continue
        yield body[start : closing.start()]
        start = closing.end()


def _documented(code: str) -> str:
    """The first paragraph of what a Python function, class or module says of itself, folded into one line."""
    found = _DOCSTRING.search(code)
    return " ".join((found[1] or found[2]).split()) if found else ""


def _lead(body: str) -> str:
    """The first paragraph of prose, folded into one line."""
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("\n\n", body)):
        lines = [line for line in paragraph.split("\n") if not _HEADING.match(line)]
        if lines and not paragraph.startswith(
            ("```", "~~~", "|", "+-", "==", ".. list-table::", "    ", "<")
        ):
            lead = " ".join(" ".join(lines).split())
            if not _FIELD.match(lead):
                return lead
    return ""


@kr_core.hookimpl
def kr_source() -> Provider[kr_core.Source]:
    """The documents that were indexed for the project."""

    def build(settings: LocalDocsSettings, setup: Setup) -> LocalDocs:
        return LocalDocs(
            setup.project.root,
            setup.state_folder,
            setup.embedder,
            official=settings.official,
            vouched=setup.trusted,
        )

    return Provider(build, LocalDocsSettings)
