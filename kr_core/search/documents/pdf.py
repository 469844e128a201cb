"""PDF by pypdf (extra `pdf`): the text of each page, in paragraphs."""

from __future__ import annotations

import io
import logging
import re
from typing import TYPE_CHECKING

from kr_core.markup.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_PAGES = 5_000
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
        for number, page in enumerate(reader.pages[:_MAX_PAGES], start=1):
            text = _HYPHEN.sub(r"\1", page.extract_text())
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
