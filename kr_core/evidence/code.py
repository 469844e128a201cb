"""The shortest real code that shows what was asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Passage

_MAX_LINES = 12
_NOISE = re.compile(r"#\s*doctest:.*$")


def shortest_example(
    passage: Passage, candidates: Sequence[Passage], asked: frozenset[str]
) -> tuple[Passage, str] | None:
    """The shortest piece of documented code that uses the passage's parameter or symbol, and where it stands.

    Code that passes the parameter beats code that makes its type, which beats code that only calls the symbol;
    among equals, code with more of the question's words, then the shorter.
    """
    best: tuple[tuple[int, int, int], Passage, str] | None = None
    for candidate in candidates:
        for block in candidate.code:
            for piece in _pieces(block):
                use = _use(passage, candidate, piece)
                if use == 0:
                    continue
                rank = (use, min(3, len(stems(piece) & asked)), -len(piece))
                if best is None or rank > best[0]:
                    best = (rank, candidate, piece)
    return None if best is None else (best[1], best[2])


def _use(passage: Passage, candidate: Passage, code: str) -> int:
    """How well code shows the passage: 4 passes the parameter to the symbol, 3 passes it, 2 makes its type, 1 calls the symbol."""
    names = [passage.symbol or "", *passage.also]
    calls = any(_calls(name, code) for name in names if name)
    if passage.parameter:
        if re.search(rf"\b{re.escape(passage.parameter)}\s*=", code):
            return 4 if calls else 3
        maker = (candidate.symbol or "").rpartition(".")[2]
        if (
            maker
            and candidate is not passage
            and re.search(rf"\b{re.escape(maker)}\b", passage.annotation or "")
            and _calls(maker, code)
        ):
            return 2
        if maker and candidate.kind == "type" and _calls(maker, code):
            return 2
        return 0
    if passage.symbol and passage.what:
        return 1 if calls else 0
    return 1 if candidate is passage else 0


def _calls(name: str, code: str) -> bool:
    last = name.rpartition(".")[2]
    return bool(re.search(rf"(?:(?<=\.)|(?<![\w.])|@){re.escape(last)}\b", code))


def _pieces(block: str) -> Iterable[str]:
    """A short block whole; of a longer one its paragraphs."""
    cleaned = "\n".join(_NOISE.sub("", line).rstrip() for line in block.split("\n"))
    if cleaned.count("\n") < _MAX_LINES:
        yield cleaned
    for paragraph in re.split(r"\n\s*\n", cleaned):
        if paragraph.strip() and paragraph != cleaned and paragraph.count("\n") < _MAX_LINES:
            yield paragraph.strip("\n")
