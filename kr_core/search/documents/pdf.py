"""PDF by pypdf (extra `pdf`): the text of each page, in paragraphs."""

from __future__ import annotations

import io
import logging
import re
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kr_core.markup.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_PAGES = 5_000
_MAX_CHARACTERS = 30_000_000
_MAX_SECONDS = 60.0
"""Processor time for one document; a book of a thousand pages takes a third of it."""
_MIN_SECONDS = 10.0
_SECONDS_PER_BYTE = 10 / 1_000_000
"""A small document gets less time: a crafted one of a few kilobytes can draw the same thing a thousand times."""
_SMALL = 1_000_000
"""Bytes; a larger document earns its time by its size alone."""
_SMALL_SECONDS_PER_BYTE = 20 / 1_000_000
"""What a small one may take without a share; 653 manuals and papers of 200 MB together took 0.2 seconds more."""
_SHARED_SECONDS = 20.0
"""Beyond that, for all small documents that are read together: a folder can hold a thousand crafted ones."""
_MAX_ASCII85 = 10_000_000
"""Bytes of one stream in ASCII85. Python takes a hundred times as much memory to decode it, and pypdf has no limit there."""
_MAX_PAGE_BYTES = 10_000_000
"""Of what draws one page, unpacked; a page of text has some ten thousand."""
_HYPHEN = re.compile(r"(\w)-\n(?=[a-z])")
_here = threading.local()
"""Whether this thread reads a document for KR: a program that embeds KR may read other ones with pypdf."""


class PdfTime:
    """The processor time of documents that one process reads, by one thread; a document that is read alone has its own."""

    def __init__(self) -> None:
        self._left = _SHARED_SECONDS

    def allowed(self, size: int) -> float:
        """The seconds that a document of this size may take."""
        if size >= _SMALL:
            return min(_MAX_SECONDS, _MIN_SECONDS + size * _SECONDS_PER_BYTE)
        more = max(0.0, min(_MIN_SECONDS, self._left))
        return min(_MAX_SECONDS, more + size * _SMALL_SECONDS_PER_BYTE)

    def took(self, size: int, seconds: float) -> None:
        """Count what a document took."""
        if size < _SMALL:
            self._left -= max(0.0, seconds - size * _SMALL_SECONDS_PER_BYTE)


class _TimeSpent(BaseException):
    """A document takes too long; pypdf passes over other errors inside of a page."""


def blocks(data: bytes, time_of_all: PdfTime | None = None) -> Iterator[Block]:
    """The blocks of a document, placed by page.

    Args:
        data: the document.
        time_of_all: what it shares with the documents that are read with it.

    Raises:
        ImportError: the extra is not installed.
        ValueError: it cannot be read, or only with a password.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every fault that it mends
    shared, began = time_of_all or PdfTime(), time.thread_time()
    try:
        with _limited_ascii85():
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise ValueError("it needs a password")
            pages = reader.pages[:_MAX_PAGES]
        seconds = shared.allowed(len(data))
        check, characters = _deadline(seconds), 0
        for number, page in enumerate(pages, start=1):
            try:
                check()
                with _limited_ascii85():
                    text = _text_of(page, number, check)
            except _TimeSpent:
                raise ValueError(f"it takes more than {seconds:.3g} seconds, to page {number}") from None
            characters += len(text)
            if characters > _MAX_CHARACTERS:
                raise ValueError(f"it has more than {_MAX_CHARACTERS // 1_000_000} million characters")
            for paragraph in re.split(r"\n\s*\n", text):
                if paragraph.strip():
                    yield Block("prose", paragraph.strip(), f"#page={number}")
    except ValueError:
        raise
    except (
        PyPdfError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OSError,
        NotImplementedError,
        MemoryError,
    ) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    finally:
        shared.took(len(data), time.thread_time() - began)


def _text_of(page: Any, number: int, check: Callable[..., None]) -> str:
    contents = page.get_contents()
    if contents is not None and len(contents.get_data()) > _MAX_PAGE_BYTES:
        raise ValueError(f"page {number} has more than {_MAX_PAGE_BYTES // 1_000_000} MB of drawing")
    return _HYPHEN.sub(r"\1", page.extract_text(visitor_operand_before=check))


def _deadline(seconds: float) -> Callable[..., None]:
    """What raises an error once the thread has worked for so long; pypdf calls it before each operator of a page."""
    end = time.thread_time() + seconds

    def check(*_operator: object) -> None:
        if time.thread_time() > end:
            raise _TimeSpent

    return check


@contextmanager
def _limited_ascii85() -> Iterator[None]:
    """Refuse large streams in ASCII85 in this thread."""
    from pypdf import filters

    decode = filters.ASCII85Decode.decode
    if not hasattr(decode, "limited"):

        def limited(data: Any, *rest: Any, **options: Any) -> bytes:
            if getattr(_here, "reading", False) and len(data) > _MAX_ASCII85:
                raise MemoryError(f"a stream of more than {_MAX_ASCII85 // 1_000_000} MB in ASCII85")
            return decode(data, *rest, **options)

        limited.limited = True  # type: ignore[attr-defined]  # a mark, so that it is done once
        filters.ASCII85Decode.decode = staticmethod(limited)  # type: ignore[method-assign]  # pypdf has no setting for it
    _here.reading = True
    try:
        yield
    finally:
        _here.reading = False
