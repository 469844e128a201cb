"""Built documentation (Sphinx's HTML with its `objects.inv`) that lies on this machine, as passages.

It is looked for among the files of the installed distribution, and below the folders that a setting names.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, inside, read_text
from kr_plugins.sources.installed_docs.pages import html_sections as pages
from kr_plugins.sources.installed_docs.pages import inventory
from kr_plugins.sources.installed_docs.python import docstrings
from kr_plugins.sources.installed_docs.reading_budget import BudgetSpent, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kr_core.toolkit import Distribution
    from kr_plugins.sources.installed_docs.package_index import Readable
    from kr_plugins.sources.installed_docs.pages.inventory import Head, Target
    from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

FORMAT = 3
"""Raised whenever reading changes, so that older indexes are not used."""
INVENTORY = "objects.inv"
_DEEPEST = 4
"""So many folders below a configured one an inventory is looked for."""
_MAX_FOLDERS = 4000
_LARGEST_PAGE = 5_000_000
_LARGEST_RECORD = 50_000_000
_LONG = 6000
_ASIDE = re.compile(
    r"(?:^|/)(?:changelog|genindex|search|py-modindex|contents|license|copyright|bugs|about)\.html$"
)
_OLD = re.compile(
    r"(?:^|/)(?:change\w*|whatsnew|news|history|releases?|migration|upgrading)(?:/|\b)", re.IGNORECASE
)
_WHAT = {"function": "function", "method": "function", "classmethod": "function", "staticmethod": "function", "class": "class",
         "exception": "class"}  # fmt: skip


@dataclass(slots=True)
class Documentation:
    """Pages of one project: the folder of their inventory, what its head says, and the folders that its files must lie in."""

    folder: Path
    head: Head
    within: Sequence[Path] | None = None
    place: str = ""
    """The path in the project, of pages that lie in it: they are cited by it, since anybody may have named their project."""


@dataclass(slots=True)
class PageMaterial:
    """Pages to be indexed, alone or beside what else is known of the framework.

    Args:
        label: the name in the cache.
        version: of what else is known; of the pages themselves where they stand alone.
        documentations: whose pages.
        beside: the sources and texts that are read first.
        notes: what was left out.
    """

    label: str
    version: str
    documentations: list[Documentation]
    beside: Readable | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def empty(self) -> str | None:
        """There is always an inventory to read."""
        return None

    @property
    def fingerprint(self) -> str:
        """Changes when an inventory or what is read beside it does: Sphinx writes it anew with the pages."""
        parts = [str(FORMAT), self.beside.fingerprint if self.beside else ""]
        for one in self.documentations:
            file = one.folder / INVENTORY
            status = file.stat()
            parts.append(f"{file}:{one.place}:{status.st_size}:{status.st_mtime_ns}")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> tuple[list[IndexedPassage], list[str]]:
        """The passages of what is read beside, then those of the pages; and notes about what could not be read.

        Raises:
            Cancelled: the consultation was given up.
        """
        found, notes = self.beside.passages(progress, budget) if self.beside is not None else ([], [])
        for one in self.documentations:
            try:
                targets = budget.portion(partial(inventory.read_targets, one.folder / INVENTORY, one.within))
            except (OSError, ValueError) as error:
                notes.append(f"{INVENTORY} of {one.head.project}: {error}")
                continue
            except BudgetSpent:
                budget.left_out.append(f"the pages of {one.head.project}")
                continue
            found += bounded(_Pages(one, targets).passages(progress, budget), notes)
        return found, notes


class _Pages:
    """The pages of one inventory."""

    def __init__(self, documentation: Documentation, targets: list[Target]) -> None:
        self.documentation = documentation
        self.by_page: dict[str, dict[str, Target]] = {}
        for target in targets:
            anchors = self.by_page.setdefault(target.page, {})
            known = anchors.get(target.anchor)
            if (
                known is None or known.domain == "std"
            ):  # an object's own entry tells more than a label at its place
                anchors[target.anchor] = target

    def passages(
        self, progress: Callable[[int, int], None], budget: ReadingBudget
    ) -> Iterator[IndexedPassage]:
        names = [
            page for page in self.by_page if page.endswith((".html", ".htm")) and not _ASIDE.search(page)
        ]
        for number, name in enumerate(names):
            progress(number, len(names))
            html = self._read(name)
            if html is not None:
                budget.allow(len(html))
                yield from budget.up_to(name, self._of(name, html))
        progress(len(names), len(names))

    def _read(self, name: str) -> str | None:
        path = inside(self.documentation.folder, name)
        try:
            if path is None:
                return None
            return read_text(path, limit=_LARGEST_PAGE, within=self.documentation.within, errors="replace")
        except OSError:
            return None

    def _of(self, page: str, html: str) -> Iterator[IndexedPassage]:
        targets = self.by_page[page]
        title = ""
        for piece in pages.pieces(pages.parse(html)):
            target = next((targets[anchor] for anchor in piece.anchors if anchor in targets), None)
            if not piece.described:
                title = title or piece.heading
            passage = (
                self._described(page, piece, target) if piece.described else self._section(page, piece, title)
            )
            if passage is not None:
                yield passage

    def _described(self, page: str, piece: pages.PageSection, target: Target | None) -> IndexedPassage | None:
        if target is None:
            return None
        body = piece.text.partition("\n\n")[2]
        if target.domain == "std" and target.role == "term":
            return self._passage(page, piece, "page", target.name, "section", body)
        signature = piece.heading
        what = _WHAT.get(target.role, "attribute")
        parameters = _parameters(signature) if what == "function" else []
        last = target.name.rpartition(".")[2]
        if re.search(rf"(?<!\w){re.escape(last)}(?!\w)", signature) is None:
            return self._passage(page, piece, "page", target.name, "section", body)
        made = self._passage(page, piece, "symbol", target.name, None, body)
        data = {
            **made.data, "what": what, "signature": signature, "public": True,
            "parameters": [(one.name, one.default) for one in parameters],
            "required": [one.name for one in parameters if one.required],
        }  # fmt: skip
        return made._replace(symbol=target.name, name=target.name.partition(".")[2] or target.name, data=data)

    def _section(self, page: str, piece: pages.PageSection, title: str) -> IndexedPassage | None:
        if len(piece.text.split()) < 8:
            return None
        shown = piece.heading if piece.heading == title or not title else f"{title} § {piece.heading}"
        made = self._passage(page, piece, "page", shown, "section", piece.text)
        return made._replace(name=f"{title} {piece.heading}" if piece.heading != title else title)

    def _passage(
        self, page: str, piece: pages.PageSection, kind: str, title: str, shown_as: str | None, body: str
    ) -> IndexedPassage:
        text = _cut(piece.text)
        head = self.documentation.head
        name = re.sub(r"\W+", "-", head.project.lower()).strip("-")
        place = self.documentation.place and f"{self.documentation.place}/{page}"
        url = (
            f"file:{place}"
            if place
            else f"pkg:generic/{name}@{head.version}"
            if head.version
            else f"pkg:generic/{name}"
        )
        lines = body.split("\n")
        prior = 0.35 if _OLD.search(page) else 0.9 if kind == "symbol" else 0.8
        return IndexedPassage(
            kind=kind, title=title, text=text, locator=f"{place or page}#{piece.anchors[0]}", name=title, lead=docstrings.lead(lines),
            code=tuple(code for code in piece.code if code in text), prose=_cut(body), words=page.removesuffix(".html").replace("/", " "),
            prior=prior,
            data={
                "url": url,
                "version": head.version or None,
                **({"kind": shown_as} if shown_as else {}),
            },
        )  # fmt: skip


def in_distribution(distribution: Distribution) -> Iterator[Documentation]:
    """The documentation that a distribution installed, as its RECORD lists it."""
    within = distribution.environment.bounds
    try:
        record = read_text(
            distribution.metadata_folder / "RECORD", limit=_LARGEST_RECORD, within=within, errors="replace"
        )
    except OSError:
        return
    for listed in re.findall(rf'^"?([^",\n]*/{re.escape(INVENTORY)})"?,', record, re.MULTILINE):
        file = Path(os.path.normpath(distribution.site / listed))
        if distribution.environment.prefix not in file.parents:
            continue
        head = inventory.read_head(file, within)
        if head is not None:
            yield Documentation(file.parent, head, within)


def in_folders(folders: Iterable[Path]) -> Iterator[Documentation]:
    """The documentations below folders, each once, sorted by path; links are followed, but never in circles.

    Nor are they followed out of the folder that was named: it may have come with a project, and they may lead anywhere.
    """
    seen: set[str] = set()
    for folder in folders:
        top = Path(os.path.realpath(folder))
        within = (top,)
        waiting = [(folder, 0)]
        while waiting and len(seen) < _MAX_FOLDERS:
            here, depth = waiting.pop(0)
            place = os.path.realpath(here)
            if place in seen or not Path(place).is_relative_to(top):
                continue
            seen.add(place)
            head = inventory.read_head(here / INVENTORY, within)
            if head is not None:
                yield Documentation(here, head, within)
            elif depth < _DEEPEST:
                waiting += [(here / name, depth + 1) for name in _folders(here)]


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name for entry in entries if not entry.name.startswith(".") and _is_folder(entry)
            )
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that points to itself
        return False


class _ListedParameter(NamedTuple):
    name: str
    default: str | None
    required: bool


def _parameters(signature: str) -> list[_ListedParameter]:
    """The parameters of `name(a, b=1, *, c=None[, d]) -> x`, as far as they are plain."""
    inner = signature.partition("(")[2].rpartition(")")[0]
    found = []
    depth, start = 0, 0
    for place, character in enumerate([*inner, ","]):
        if character == "," and not depth:
            part = inner[start:place]
            name, _equals, default = part.partition("=")
            plain = name.partition(":")[0].strip(" []")
            if re.fullmatch(r"\*{0,2}[A-Za-z_]\w*", plain):
                optional = bool(default) or plain.startswith("*") or "[" in inner[: inner.find(plain)]
                found.append(_ListedParameter(plain, default.strip(" []") or None, not optional))
            start = place + 1
        depth += (character in "({") - (character in ")}")
    return found


def _cut(text: str) -> str:
    """A long text up to a paragraph, its last fence closed by leaving out what it began."""
    if len(text) <= _LONG:
        return text
    kept = text[:_LONG].rpartition("\n\n")[0] or text[:_LONG]
    while kept.count("```") % 2:
        kept = kept[: kept.rfind("```")].rstrip()
    return kept
