"""From a file to its passages: which reader reads it, in which encoding, and why it is passed over."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from kr_core.search.documents import html, markdown, notebook, restructured, source
from kr_core.search.documents.pieces import Piece, divided

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kr_core.search.documents.pieces import Block

__all__ = ["Passed", "Reading", "kind_of", "limit_of", "read"]

_MARKDOWN = frozenset("md markdown mdown mkd mdx rmd qmd".split())
_HTML = frozenset("html htm xhtml".split())
_RST = frozenset("rst rest".split())
_PLAIN = frozenset("txt text adoc asciidoc org tex textile pod man me".split())
_CODE = frozenset(
    """c h cc cpp cxx hpp hh m mm rs go java kt kts scala swift cs js mjs cjs jsx ts tsx mts cts rb php pl pm lua r jl ex exs
    erl hs ml clj groovy dart sh bash zsh fish ps1 sql proto graphql thrift zig nim vue svelte toml yaml yml cfg ini""".split()
)
_BARE = frozenset(
    "readme changes changelog news todo authors copying license install hacking contributing faq".split()
)
"""Names of files without an ending that are text."""
_LARGEST = {"notebook": 150_000_000, "pdf": 100_000_000}
_LARGEST_TEXT = 20_000_000
"""Bytes; a larger text is a log or an export, and nobody reads it by the passage."""
_NUL_LOOK = 8192
_CHARSET = re.compile(rb"(?:charset|coding|encoding)\s*[:=]\s*[\"']?([\w.-]{2,30})", re.IGNORECASE)
_PICTURE = re.compile(r"(data:[\w/+.-]{0,80};base64,)[A-Za-z0-9+/=%]{40,}+")
"""A picture in the text of a page: nobody reads it, and it is longer than the page."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Passed(Exception):  # noqa: N818  it is no error of the program: a file is passed over, and that is noted
    """A file is passed over.

    Args:
        why: the reason.
        for_now: whether the same file may be read another time: something is not installed.
    """

    def __init__(self, why: str, *, for_now: bool = False) -> None:
        self.for_now = for_now
        super().__init__(why)


class Reading(NamedTuple):
    """What a file says."""

    pieces: Iterator[Piece]
    title: str = ""
    """What the file calls itself; empty where that is not known, or stands in its passages."""
    note: str = ""


def kind_of(name: str) -> str | None:
    """What reads a file of this name; None where nothing does."""
    path = PurePath(name)
    ending = path.suffix[1:].lower()
    for kind, endings in (
        ("markdown", _MARKDOWN),
        ("html", _HTML),
        ("rst", _RST),
        ("plain", _PLAIN),
        ("code", _CODE),
    ):
        if ending in endings:
            return kind
    if ending in {"py", "pyi", "pyw"}:
        return "python"
    if ending in {"ipynb", "pdf"}:
        return {"ipynb": "notebook", "pdf": "pdf"}[ending]
    if not ending and path.name.lower() in _BARE:
        return "plain"
    return None


def limit_of(kind: str) -> int:
    """Bytes; a larger file is passed over."""
    return _LARGEST.get(kind, _LARGEST_TEXT)


def read(name: str, data: bytes) -> Reading:
    """The passages of a file, as they are asked for.

    Args:
        name: the file's name; its ending says what reads it.
        data: what it holds.

    Raises:
        Passed: it cannot be read, with the reason; also while the passages are taken.
    """
    kind = kind_of(name)
    if kind == "notebook":
        return Reading(_guarded(lambda: notebook.blocks(data)))
    if kind == "pdf":
        return Reading(_guarded(lambda: _pdf(data)))
    text, note = decoded(data)
    if kind == "python":
        return Reading(source.python_pieces(text), note=note)
    if kind == "code":
        return Reading(source.pieces(text), note=note)
    if kind == "html":
        return Reading(divided(html.blocks(text)), html.title(text), note)
    reader = {"markdown": markdown.blocks, "rst": restructured.blocks}.get(kind or "", markdown.plain_blocks)
    return Reading(divided(reader(text)), note=note)


def _pdf(data: bytes) -> Iterator[Block]:
    from kr_core.search.documents import pdf

    return pdf.blocks(data)


def _guarded(blocks: Callable[[], Iterator[Block]]) -> Iterator[Piece]:
    try:
        for piece in divided(blocks()):
            # JSON can hold half of a character, which nothing can write
            yield piece._replace(
                text=piece.text.encode("utf-8", "replace").decode(),
                name=piece.name.encode("utf-8", "replace").decode(),
            )
    except ImportError:
        raise Passed("PDF needs the extra: pip install 'kr-core[pdf]'", for_now=True) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Passed(f"cannot be read: {error or type(error).__name__}") from None


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file with line feeds alone, and a note where its encoding had to be guessed.

    Raises:
        Passed: it is no text.
    """
    text, note = _decoded(data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or "\f" in text or "\x1f" in text:
        text = text.translate({0: " ", 12: "\n", 31: " "})
    if "base64," in text:
        text = _PICTURE.sub(r"\1...", text)
    return text, note


def _decoded(data: bytes) -> tuple[str, str]:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), ""
    head = data[:_NUL_LOOK]
    if b"\0" in head:
        wide = _wide(head)
        if wide is None:
            raise Passed("is no text")
        return data.decode(wide, "replace"), f"read as {wide.upper()}"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        pass
    declared = _CHARSET.search(data[:2048])
    if declared:
        try:
            return data.decode(declared[1].decode("ascii"), "strict"), ""
        except (LookupError, UnicodeError, ValueError):
            pass
    if sum(byte < 9 or 13 < byte < 27 for byte in head) > len(head) // 100:
        raise Passed("is no text")
    return data.decode("cp1252", "replace"), "is not UTF-8; read as Windows-1252"


def _wide(head: bytes) -> str | None:
    """The form of UTF-16 without a mark in which every other byte of Latin text is 0."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) // 2 or 1
    if odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.4 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None
