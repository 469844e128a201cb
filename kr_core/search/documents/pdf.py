"""PDF by pypdf (extra `pdf`): the text of each page, in paragraphs."""

from __future__ import annotations

import io
import logging
import re
import time
from typing import TYPE_CHECKING

from kr_core.markup.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_PAGES = 5_000
_MAX_CHARACTERS = 30_000_000
_MAX_SECONDS = 60.0
"""Processor time for one document; a book of a thousand pages takes a third of it."""
_MAX_PAGE_BYTES = 10_000_000
"""Of what draws one page, unpacked; a page of text has some ten thousand."""
_HYPHEN = re.compile(r"(\w)-\n(?=[a-z])")


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
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("it needs a password")
        start, characters = time.thread_time(), 0
        for number, page in enumerate(reader.pages[:_MAX_PAGES], start=1):
            if time.thread_time() - start > _MAX_SECONDS:
                raise ValueError(f"it takes more than {_MAX_SECONDS:g} seconds, to page {number}")
            contents = page.get_contents()
            if contents is not None and len(contents.get_data()) > _MAX_PAGE_BYTES:
                raise ValueError(f"page {number} has more than {_MAX_PAGE_BYTES // 1_000_000} MB of drawing")
            text = _HYPHEN.sub(r"\1", page.extract_text())
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
    ) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
