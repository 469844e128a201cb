"""The main text of a page as Markdown, its code verbatim; needs the extra `web`."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from kr_core.markup.html import (
    HTMLPart,
    PreBlock,
    beginning,
    fenced,
    markdown,
    parts,
    simplified,
    tidy,
    with_blocks,
)

if TYPE_CHECKING:
    from kr_core.model import Page

__all__ = ["main_text"]

_FEWEST = 200
"""Characters; where no more is found to be the main text, all that can be read serves."""
_MAX_PARTS = 20_000
"""Tags and texts; for so many trafilatura takes two seconds, for ten times as many a minute. A longer page is written as plain
Markdown."""
_ESCAPED = re.compile(r"\\(_|\[|\](?!\())")
"""What trafilatura escapes though it would be read as it is: the marks of names and indexes."""


async def main_text(page: Page) -> str:
    """The main text of a page as Markdown, without menus, advertisements and the like.

    `<pre>` blocks become verbatim fenced blocks that name their language if the page does. Text that is not HTML is
    returned unchanged. It runs in a thread, and takes a few seconds at most.

    Args:
        page: from `SourceContext.fetch`.
    """
    return await asyncio.to_thread(_read, page)


def _read(page: Page) -> str:
    return _WIDE.sub(" ", _text(page))


_WIDE = re.compile(r"[ \t]{200,}")
"""So many blanks in a row hold nothing but up who searches the text for words."""


def _text(page: Page) -> str:
    if "html" not in page.media_type:
        return page.text.replace("\r\n", "\n")
    begun = list(beginning(parts(page.text)))
    read = list(with_blocks(begun))
    text = _extracted(read) if len(begun) <= _MAX_PARTS else ""
    return text if len(text) >= _FEWEST else max(text, markdown(read), key=len)


def _extracted(read: list[HTMLPart | PreBlock]) -> str:
    from trafilatura import extract

    placeholder = "krblock"
    while any(isinstance(part, HTMLPart) and placeholder in part.data.lower() for part in read):
        placeholder += "q"
    html, blocks = simplified(read, placeholder)
    # It tells its log what it thinks of a page; a log that nobody has set up goes to the terminal.
    logging.getLogger("trafilatura").addHandler(logging.NullHandler())
    try:
        found = extract(
            html,
            output_format="markdown",
            include_tables=True,
            include_formatting=True,
            include_links=False,
            include_images=False,
            include_comments=False,
            favor_recall=True,
            fast=True,
        )
    except Exception:  # whatever a page provokes in it, there is the plain text
        return ""
    return _restored(tidy(found or ""), blocks, placeholder)


def _restored(text: str, blocks: list[PreBlock], placeholder: str) -> str:
    """The text with its blocks in place of what stands for them."""
    mark = re.compile(rf"(?:```\n|`)?{placeholder}(\d{{1,7}})x(?:\n```|`)?")
    pieces = mark.split(text)
    pieces[::2] = [_ESCAPED.sub(r"\1", piece).strip("\n").rstrip() for piece in pieces[::2]]
    pieces[1::2] = [fenced(blocks[int(number)]) for number in pieces[1::2]]
    return "\n\n".join(piece for piece in pieces if piece.strip())
