"""The shortest real code that shows what was asked."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import TYPE_CHECKING

from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kr_core.model import Passage

_MAX_LINES = 12
_WARNING = re.compile(
    r"\b(?:careful|beware|avoid|do not|don't|never|wrong|incorrect|will not work|anti-?pattern)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*+(?:`{3,}+|~{3,}+)(.*)$")
_ALSO_PYTHON = frozenset({"py", "python3", "pycon"})
_NOISE = re.compile(r"#\s*doctest:.*$")


def language_of(text: str, code: str) -> str:
    """The language of a piece of code, as the fence around it says; else Python where it is Python.

    A fence that names no language, and code that is no Python, give an empty one.
    """
    first = next(line.strip() for line in code.split("\n") if line.strip())
    fence: str | None = None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark:
            fence = mark[1].strip() if fence is None else None
        elif fence is not None and first in line:
            named = re.match(r"\w[\w+#-]*", fence)
            language = named[0].lower() if named else ""
            return "python" if language in _ALSO_PYTHON or (fence and not named) else language
    return "python" if _is_python(code) else ""


def _is_python(code: str) -> bool:
    if ">>>" in code:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other people's code
        try:
            ast.parse(textwrap.dedent(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def shortest_example(
    passage: Passage, candidates: Sequence[Passage], asked: frozenset[str]
) -> tuple[Passage, str] | None:
    """The shortest piece of documented code that uses the passage's parameter or symbol, and where it stands.

    Code that passes the parameter to the symbol beats code that passes it elsewhere, that beats code that makes its
    type, and that beats code that only calls the symbol; among equals, code with more of the question's words, then
    the shorter.
    """
    best: tuple[tuple[int, int, int], Passage, str] | None = None
    spoken = _types_spoken_of(passage, candidates)
    for candidate in candidates:
        for block in candidate.code:
            for piece in _pieces(block):
                use = _use(passage, candidate, piece, spoken)
                if use == 0 or _only_imports(piece) or _warned_of(candidate.text, piece):
                    continue
                rank = (use, min(3, len(stems(piece) & asked)), -len(piece))
                if best is None or rank > best[0]:
                    best = (rank, candidate, piece)
    return None if best is None else (best[1], best[2])


def _use(passage: Passage, candidate: Passage, code: str, spoken: str) -> int:
    """How well code shows the passage: 4 passes the parameter to the symbol, 3 passes it, 2 makes its type, 1 calls the symbol."""
    names = [name for name in (passage.symbol, *passage.also, *passage.aliases) if name]
    at_home = candidate is passage or (candidate.symbol is not None and candidate.symbol == passage.symbol)
    if not passage.parameter:
        if passage.symbol and passage.what:
            return int(any(_calls(name, code, loosely=at_home) for name in names))
        return int(candidate is passage)
    if re.search(rf"\b{re.escape(passage.parameter)}\s*=", code):
        if any(_calls(name, code) for name in names):
            return 4
        return 3 if at_home else 0
    return 2 if _makes_type(candidate, code, spoken) else 0


def _makes_type(candidate: Passage, code: str, spoken: str) -> bool:
    """Whether code makes an object of the candidate's type, which is one of those spoken of."""
    maker = (candidate.symbol or "").rpartition(".")[2]
    if not maker or not re.search(rf"\b{re.escape(maker)}\b", spoken):
        return False
    return candidate.kind == "type" and _calls(candidate.symbol or "", code)


def _types_spoken_of(passage: Passage, candidates: Sequence[Passage]) -> str:
    """A parameter's annotation and what its alias stands for: the types whose examples show what to pass."""
    annotation = passage.annotation or ""
    aliases = [
        one.text
        for one in candidates
        if one.what == "constant"
        and one.symbol
        and re.search(rf"\b{re.escape(one.symbol.rpartition('.')[2])}\b", annotation)
    ]
    return " ".join([annotation, *aliases])


def _calls(name: str, code: str, *, loosely: bool = False) -> bool:
    """Whether code uses a dotted name: its last part, and for a method its class too, in some spelling.

    `get` alone may be anybody's; `client.get` is likely `Client.get`. In the symbol's own documentation the last
    part will do.
    """
    *_rest, owner, last = ["", *name.split(".")]
    if not re.search(rf"(?:(?<=\.)|(?<![\w.])|@){re.escape(last)}\b", code):
        return False
    if loosely or last[:1].isupper() or not owner[:1].isupper():
        return (
            loosely
            or bool(re.search(rf"(?:\b{re.escape(owner)}\.|(?<![\w.])|@){re.escape(last)}\(", code))
            or last[:1].isupper()
        )
    return owner.lower() in code.lower()


def _warned_of(text: str, code: str) -> bool:
    """Whether the words before an example say that it is how not to do it."""
    first = next((line.strip() for line in code.split("\n") if line.strip()), "")
    place = text.find(first)
    comments = " ".join(line for line in code.split("\n") if line.lstrip().startswith("#"))
    before = text[max(0, place - 300) : max(0, place)]
    return bool(_WARNING.search(comments) or _WARNING.search(before))


def _only_imports(code: str) -> bool:
    return all(re.match(r"\s*(?:import |from |#|$)", line) for line in code.split("\n"))


def _pieces(block: str) -> Iterable[str]:
    """A short block whole; of a longer one its paragraphs."""
    cleaned = "\n".join(_NOISE.sub("", line).rstrip() for line in block.split("\n"))
    if cleaned.count("\n") < _MAX_LINES:
        yield cleaned
    for paragraph in re.split(r"\n\s*\n", cleaned):
        if paragraph.strip() and paragraph != cleaned and paragraph.count("\n") < _MAX_LINES:
            yield paragraph.strip("\n")
