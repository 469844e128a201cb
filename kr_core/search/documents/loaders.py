"""From a file to its passages: which reader reads it, in which encoding, and why it is passed over."""

from __future__ import annotations

import codecs
import re
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from kr_core.markup import html_blocks, markdown, rst
from kr_core.search.documents import notebook, source_code
from kr_core.search.documents.chunking import Chunk, divided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.markup.blocks import Block
    from kr_core.search.documents.pdf import PdfTime

__all__ = ["LoadedDocument", "SkippedFile", "kind_of", "limit_of", "read"]

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
_MAX_PASSAGES = 200_000
"""Of one file; the largest text that is read has some 20,000, unless it was crafted."""
_NUL_LOOK = 8192
_CHARSET = re.compile(rb"(?:charset|coding|encoding)\s*[:=]\s*[\"']?([\w.-]{2,30})", re.IGNORECASE)
_CHARSETS = frozenset(
    """big5 big5hkscs cp437 cp850 cp852 cp866 cp874 cp932 cp949 cp950 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256
    cp1257 cp1258 euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk iso2022_jp iso8859-1 iso8859-2 iso8859-3
    iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 iso8859-15
    iso8859-16 koi8-r koi8-t koi8-u mac-cyrillic mac-roman shift_jis shift_jis_2004 shift_jisx0213 tis-620""".split()
)
"""Encodings that a file may say it is in, as Python names them: others of Python's make no text, or half characters."""
_PICTURE = re.compile(r"(data:[\w/+.-]{0,80};base64,)[A-Za-z0-9+/=%]{40,}+")
"""A picture in the text of a page: nobody reads it, and it is longer than the page."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class SkippedFile(Exception):  # noqa: N818  it is no error of the program: a file is passed over, and that is noted
    """A file is passed over.

    Args:
        why: the reason.
        for_now: whether the same file may be read another time: something is not installed.
    """

    def __init__(self, why: str, *, for_now: bool = False) -> None:
        self.for_now = for_now
        super().__init__(why)


class LoadedDocument(NamedTuple):
    """What a file says."""

    pieces: Iterator[Chunk]
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


def read(name: str, data: bytes, pdf_time: PdfTime | None = None) -> LoadedDocument:
    """The passages of a file, as they are asked for.

    Args:
        name: the file's name; its ending says what reads it.
        data: what it holds.
        pdf_time: what it shares with the files that are read with it.

    Raises:
        SkippedFile: it cannot be read, with the reason; also while the passages are taken.
    """
    kind = kind_of(name)
    if kind == "notebook":
        return LoadedDocument(_guarded(map(_writable, divided(notebook.blocks(data)))))
    if kind == "pdf":
        return LoadedDocument(_guarded(map(_writable, divided(_pdf(data, pdf_time)))))
    text, note = decoded(data)
    if kind == "python":
        if len(text) > source_code.LARGEST_TREE:
            note = "; ".join([*([note] if note else []), "is divided as text: too large to be parsed"])
        return LoadedDocument(_guarded(source_code.python_pieces(text)), note=note)
    if kind == "code":
        return LoadedDocument(_guarded(source_code.pieces(text)), note=note)
    if kind == "html":
        return LoadedDocument(_guarded(divided(html_blocks.blocks(text))), html_blocks.title(text), note)
    reader = {"markdown": markdown.blocks, "rst": rst.blocks}.get(kind or "", markdown.plain_blocks)
    return LoadedDocument(_guarded(divided(reader(text))), note=note)


def _pdf(data: bytes, pdf_time: PdfTime | None) -> Iterator[Block]:
    from kr_core.search.documents import pdf

    yield from pdf.blocks(data, pdf_time)


def _guarded(pieces: Iterator[Chunk]) -> Iterator[Chunk]:
    """The passages; whatever is wrong with the file is a reason to pass it over, and no other file suffers for it."""
    try:
        yield from islice(pieces, _MAX_PASSAGES)
        if next(pieces, None) is not None:
            raise ValueError(f"it has more than {_MAX_PASSAGES:,} passages")
    except ImportError:
        raise SkippedFile("PDF needs the extra: pip install 'kr-core[pdf]'", for_now=True) from None
    except ValueError as error:
        raise SkippedFile(_whole(f"cannot be read: {error}")) from None
    except Exception as error:  # a stranger's file and a stranger's parser: what they raise is in no list
        raise SkippedFile(_whole(f"cannot be read: {type(error).__name__}: {error}").rstrip(": ")) from None


def _writable(piece: Chunk) -> Chunk:
    """A passage as it can be written: JSON and PDF can hold half of a character, which nothing can write."""
    return piece._replace(
        outer=_whole(piece.outer), name=_whole(piece.name), text=_whole(piece.text), head=_whole(piece.head)
    )


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a file with line feeds alone, and a note where its encoding had to be guessed.

    Raises:
        SkippedFile: it is no text.
    """
    text, note = _decoded(data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or "\f" in text or "\x1f" in text:
        # a form feed ends no line where lines are counted; one at a line's start would hide what is defined there
        text = text.replace("\n\f", "\n").translate({0: " ", 12: " ", 31: " "})
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
            raise SkippedFile("is no text")
        return data.decode(wide, "replace"), f"read as {wide.upper()}"
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        pass
    declared = _CHARSET.search(data[:2048])
    if declared:
        try:
            encoding = codecs.lookup(declared[1].decode("ascii")).name
            if encoding in _CHARSETS:
                return data.decode(encoding), ""
        except (LookupError, ValueError):
            pass
    if sum(byte < 9 or 13 < byte < 27 for byte in head) > len(head) // 100:
        raise SkippedFile("is no text")
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
