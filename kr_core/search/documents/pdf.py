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
_MAX_ASCII85 = 10_000_000
"""Bytes of one stream in ASCII85. Python takes a hundred times as much memory to decode it, and pypdf has no limit there."""
_MAX_PAGE_BYTES = 10_000_000
"""Of what draws one page, unpacked; a page of text has some ten thousand."""
_HYPHEN = re.compile(r"(\w)-\n(?=[a-z])")
_here = threading.local()
"""Whether this thread reads a document for KR: a program that embeds KR may read other ones with pypdf."""


class _TimeSpent(BaseException):
    """A document takes too long; pypdf passes over other errors inside of a page."""


def blocks(data: bytes) -> Iterator[Block]:
    """The blocks of a document, placed by page.

    Raises:
        ImportError: the extra is not installed.
        ValueError: it cannot be read, or only with a password.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every fault that it mends
    try:
        with _limited_ascii85():
            reader = PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise ValueError("it needs a password")
            pages = reader.pages[:_MAX_PAGES]
        seconds = min(_MAX_SECONDS, _MIN_SECONDS + len(data) * _SECONDS_PER_BYTE)
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
        filters.ASCII85Decode.decode = staticmethod(limited)  # type: ignore[method-assign]
    _here.reading = True
    try:
        yield
    finally:
        _here.reading = False
