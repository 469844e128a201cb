"""HTML as blocks: the page's own text without what stands around it, whether its elements are closed or not."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from kr_core.markup.blocks import LARGE_TABLE, Block, table_parts
from kr_core.markup.html import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?:(?i:!doctype)\b|\?)[^<>]*>|<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,30}+)((?:[^<>\"']|\"[^\"]{0,4000}+\"|'[^']{0,4000}+')*+)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]{1,20})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_DROPPED = frozenset(
    "script style svg template noscript iframe nav form button select head aside footer math".split()
)
"""Elements that are no text of the page."""
_AROUND = frozenset(
    """sphinxsidebar related headerlink navheader navfooter toc toctree-wrapper breadcrumbs sidebar navbar menu footer
    contents local toc-backref navigation skip-link cookie-banner""".split()
)
"""Classes of what stands around a page's text, in the forms in which documentation is built."""
_LINKS = "toctree-wrapper"
"""The class of Sphinx's links to the pages below one; where there is little else, they are what the page says."""
_AROUND_IDS = frozenset("toc column2".split())
_AROUND_DIVISIONS = frozenset("sidebar sidebarbutton footer hd ft".split())
"""The same by their names; the latter only of a `div` that is no section, since headings give sections their names."""
_BLOCKS = frozenset(
    """address article blockquote body br caption center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6
    header hr html li main ol option p pre section summary table tbody td tfoot th thead title tr ul""".split()
)
_INLINE = re.compile(
    r"</?(?:span|em|code|strong|b|i|tt|var|kbd|samp|cite|small|u|q|font|mark|wbr)(?:\s+class=[\"'](?!headerlink)[\w -]{0,80}[\"'])?>"
)
"""Most tags of a page, which say nothing here; without line breaks, so that lines are counted alike without them."""
_SPACES = re.compile(r"\s+")
_HEADING = re.compile(r"h[1-6]")
_MAIN = re.compile(r"<main\b|<[a-z]{1,30}+[^<>]{0,200}\srole=[\"']main[\"']", re.IGNORECASE)
_DEFINED = 7
"""The level of a defined symbol among headings; one within another is a level below."""
_DEEPEST = 20
"""Levels of symbols within each other; what is deeper is on the last of them."""
_SOME, _LITTLE, _LEAST = 4_000, 200, 100
"""Characters of a page, and of its text: where so much comes to so little, its links are kept; where it comes to the least,
all that stands around the text."""
_LONGEST_ANCHOR = 200
"""Characters; no person follows a longer `id`, and each block below would repeat it."""
_MAX_NAMES = 40
"""Names of elements that are left out of one page; for each, the page is searched once for its tags."""


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page."""
    text = _INLINE.sub("", text)
    main = _MAIN.search(text)
    start = main.start() if main else 0
    found = list(_Page(text).blocks(start))
    if len(text) > _SOME and _size(found) < _LITTLE:
        linking = list(_Page(text, around=_AROUND - {_LINKS}).blocks(start))
        if _size(linking) > _size(found):
            found = linking
        elif _size(found) < _LEAST:  # it is built in some other way
            found = list(_Page(text, around=None).blocks(0))
    yield from found


def _size(found: list[Block]) -> int:
    return sum(len(block.text) for block in found)


class _Page:
    """One walk over the tags of a page; nothing is assumed to be closed."""

    def __init__(self, text: str, *, around: frozenset[str] | None = _AROUND) -> None:
        self._text = text
        self._around = around
        """Classes of what is left out; None where nothing is, but what is never text."""
        self._ends: dict[str, dict[int, int]] = {}
        self._lines = [found.start() for found in re.finditer("\n", text)]
        self._words: list[str] = []
        self._anchor = ""
        """With its mark: one text for all blocks below it."""
        self._place = ""
        self._tag = ""
        self._rows: list[str] = []
        self._row_places: list[str] = []
        self._row_place = ""
        self._cells: list[str] = []
        self._heads: Counter[str] = Counter()
        self._in_table = 0
        self._depth = 0

    def blocks(self, start: int) -> Iterator[Block]:
        text, position = self._text, start
        while found := _TAG.search(text, position):
            if found.start() > position:
                self._say(text[position : found.start()], position)
            position = found.end()
            if found[2] is None:
                continue
            name, closing = found[2].lower(), bool(found[1])
            attributes = _attributes(found[3]) if not closing and found[3] else {}
            if not closing and (
                name in _DROPPED or (self._around is not None and _is_around(name, attributes, self._around))
            ):
                position = self._after(name, found)
                continue
            anchor = attributes.get("id") or (attributes.get("name", "") if name == "a" else "")
            if 0 < len(anchor) <= _LONGEST_ANCHOR:
                self._anchor = f"#{anchor}"
                if self._words and _HEADING.fullmatch(
                    self._tag
                ):  # some put the mark behind the heading's text
                    self._place = self._anchor
            if name == "pre" and not closing:
                yield from self._said()
                end = self._closing("pre", found.end())
                yield from self._code(text[found.end() : end], found.start())
                position = end
            elif name in _BLOCKS:
                yield from self._block(name, found.start(), attributes, closing=closing)
        if text[position:].strip():
            self._say(text[position:], position)
        yield from self._table_ended()
        yield from self._said()

    def _block(self, name: str, place: int, attributes: dict[str, str], *, closing: bool) -> Iterator[Block]:
        if name == "br":
            self._words.append("\n")
        elif name == "table":
            yield from self._table_edge(closing=closing)
        elif self._in_table:
            self._table_part(name, place, closing=closing)
        else:
            yield from self._said()
            if name == "dl":
                self._depth = max(0, self._depth + (-1 if closing else 1))
            is_symbol = name == "dt" and ("sig" in attributes.get("class", "") or "id" in attributes)
            self._tag = "" if closing else "sig" if is_symbol else name
            self._place = "" if closing else self._where(place)

    def _table_edge(self, *, closing: bool) -> Iterator[Block]:
        if not self._in_table:
            yield from self._said()
        self._in_table = max(0, self._in_table + (-1 if closing else 1))
        if not self._in_table:
            yield from self._table_ended()

    def _table_part(self, name: str, place: int, *, closing: bool) -> None:
        """A tag within a table."""
        if name in {"td", "th", "tr"}:
            self._cell_ended()
        if not closing and name in {"td", "th", "thead"} and not self._rows:
            self._heads[name] += 1
        if name == "tr":
            self._row_ended()
            self._row_place = self._where(place)
        elif name not in {"td", "th"}:
            self._words.append(" ")

    def _say(self, raw: str, position: int) -> None:
        if not self._words and not raw.strip():
            return
        if not self._place:
            self._place = self._where(position)
        self._words.append(_SPACES.sub(" ", unescaped(raw) if "&" in raw else raw))

    def _said(self) -> Iterator[Block]:
        """What was said since the last block began."""
        said = "\n".join(" ".join(line.split()) for line in "".join(self._words).split("\n")).strip()
        said = (
            said.rstrip("¶#").rstrip() if self._tag in {"sig", "h1", "h2", "h3", "h4", "h5", "h6"} else said
        )
        self._words = []
        if not said:
            return
        tag, place = self._tag, self._place or ":1"
        self._place = ""
        if tag[0:1] == "h" and tag[1:].isdigit():
            folded = " ".join(said.split())
            yield Block("heading", f"{'#' * int(tag[1])} {folded}", place, int(tag[1]), folded)
        elif tag == "sig":
            folded = " ".join(said.split())
            yield Block(
                "heading",
                f"`{folded}`",
                place,
                _DEFINED + min(self._depth, _DEEPEST),
                folded.partition("(")[0],
            )
        else:
            yield Block("prose", f"- {said}" if tag == "li" else said, place)

    def _code(self, raw: str, place: int) -> Iterator[Block]:
        code = unescaped(_TAG.sub("", raw)).strip("\n").rstrip()
        if code.strip():
            fence = "````" if "```" in code else "```"
            where = self._where(place)
            yield Block("code", f"{fence}\n{code}\n{fence}", where)

    def _cell_ended(self) -> None:
        said = " ".join("".join(self._words).split())
        self._words = []
        if said:
            self._cells.append(said.replace("|", "\\|"))

    def _row_ended(self) -> None:
        if self._cells:
            where = self._row_place or self._place or ":1"
            row = f"| {' | '.join(self._cells)} |"
            if self._rows:
                self._rows.append(row)
                self._row_places.append(where)
            else:  # Markdown has no table without heads: where a page gives it none, they are empty
                rule, bare = "|" + "---|" * len(self._cells), "|" + "  |" * len(self._cells)
                headed = self._heads["thead"] or self._heads["th"] > self._heads["td"]
                self._rows = [row, rule] if headed else [bare, rule, row]
                self._row_places = [where] * len(self._rows)
        self._cells = []

    def _table_ended(self) -> Iterator[Block]:
        self._cell_ended() if self._in_table or self._rows else None
        self._row_ended()
        self._in_table = 0
        if self._rows:
            self._row_places[0] = self._place or ":1"
            whole = "\n".join(self._rows)
            if len(whole) > LARGE_TABLE:
                yield from table_parts(self._rows, self._row_places)
            else:
                yield Block("table", whole, self._row_places[0])
        self._rows, self._row_places, self._place, self._row_place = [], [], "", ""
        self._heads.clear()

    def _where(self, position: int) -> str:
        return self._anchor or f":{bisect_right(self._lines, position) + 1}"

    def _after(self, name: str, opened: re.Match[str]) -> int:
        """Where an element ends that is left out; where it is never closed, it is not left out."""
        if name not in self._ends:
            self._ends[name] = _ends(name, self._text) if len(self._ends) < _MAX_NAMES else {}
        return self._ends[name].get(opened.start(), opened.end())

    def _closing(self, name: str, position: int) -> int:
        found = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(self._text, position)
        return found.start() if found else len(self._text)


def _ends(name: str, text: str) -> dict[int, int]:
    """Where each element of a name ends, by where it begins; those that are never closed are not in it.

    All are found at once: to look for the end of each would take the square of the page's length where none is closed.
    """
    ends: dict[int, int] = {}
    opened: list[int] = []
    for found in re.finditer(rf"<(/?){re.escape(name)}(?![\w:-])[^<>]*>?", text, re.IGNORECASE):
        if not found[1]:
            opened.append(found.start())
        elif opened:
            ends[opened.pop()] = found.end()
    return ends


def _attributes(raw: str) -> dict[str, str]:
    return {
        found[1].lower(): unescaped(found[2] or found[3] or found[4] or "")
        for found in _ATTRIBUTE.finditer(raw)
    }


def _is_around(name: str, attributes: dict[str, str], around: frozenset[str]) -> bool:
    if name == "body" or not attributes:
        return False
    if attributes.get("role") == "navigation" or attributes.get("aria-hidden") == "true":
        return True
    classes = attributes.get("class", "").lower().split()
    if not around.isdisjoint(classes) or attributes.get("id") in _AROUND_IDS:
        return True
    return name == "div" and attributes.get("id") in _AROUND_DIVISIONS and "section" not in classes


def title(text: str) -> str:
    """The title that a page gives itself."""
    found = re.search(r"<title[^<>]*>([^<]{1,300})", text, re.IGNORECASE)
    return " ".join(unescaped(found[1]).split()) if found else ""
