"""A question that spec-kit left in a file, and where its answer goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.speckit.lines import key

if TYPE_CHECKING:
    from kr_core.speckit.lines import FileLine

__all__ = ["BEGINS", "MarkerPlace", "SpecQuestion", "topic_of"]

BEGINS = re.compile(
    r"""\s*+(?:
        \#{1,6}\s*+(?:Question|Q)\s*+\[?(?P<n1>\d{1,9})?\]?(?:\s*+(?:of|/)\s*+\d+)?\s*+(?:[:.–—-]\s*+(?P<topic>.*))?$
        |\*\*(?:Question|Q)\s*+\[?(?P<n2>\d{1,9})?\]?(?:\s*+(?:of|/)\s*+\d+)?\s*+:?\*\*\s*+:?\s*+(?P<text>.*)$
        |Q(?P<n3>\d{1,9})?:\s++(?P<plain>(?>.*?\?).*)$
    )""",
    re.VERBOSE,
)
"""`## Question 1: Topic`, `**Question:** text`, `**Q2**: text`, `Q3: text?`."""


class MarkerPlace(NamedTuple):
    """What an answer replaces in its file: from a line and column to another, all counted from 0."""

    line: int
    column: int
    last_line: int
    end: int


class SpecQuestion(NamedTuple):
    """A question in a file."""

    line: int
    text: str
    topic: str
    """The headings above it, or what its own says: `Requirements/Functional Requirements`."""
    context: str
    number: int | None = None
    """Of a block, as it is replied to (`Q2: A`)."""
    options: tuple[tuple[str, str], ...] = ()
    """Letter and answer."""
    custom: str = ""
    """What spec-kit calls an answer that is none of them: `Custom` or nothing."""
    place: MarkerPlace | None = None
    """The marker; a block has none, for its answer is a reply."""
    by_itself: bool = True
    """Whether the question reads the same when another marker of its line is answered."""

    @property
    def key(self) -> str:
        """What tells it from others."""
        return key(self.text)


def topic_of(line: FileLine) -> str:
    """The headings above a line, without those of blocks."""
    titles = (title.replace("/", " ") for title in line.path)
    return "/".join(title for title in titles if not BEGINS.match(f"# {title}"))
