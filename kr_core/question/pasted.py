"""A question as it was pasted: its prose apart from code, tracebacks and data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Place = Literal["prose", "code", "traceback"]

_LONGEST_WORD = 80
"""Longer runs of characters are data: keys, hashes, images."""
_LONGEST_PROSE = 1_500
"""Characters of prose that count as asking where no sentence asks."""
_LONGEST_ERROR = 300
_LONGEST_LINE = 2_000
"""Characters of a line of code or of a traceback in which names are looked for."""
_TRACEBACK = re.compile(r"\s*+(?:[|+\-]\s*+)*+(?:Exception Group )?+Traceback \(most recent call last\)")
_ERROR_LINE = re.compile(
    r"\s*+(?:E\s++)?+(?:Uncaught |Unhandled )?+(?:[A-Za-z_]\w*+\.)*+[A-Z]\w*+(?<=Error|rning|ption|valid|Found|Exist|meout)(?:\s\[[\w-]++\])?+(?::\s|\s*+$)"
)
_LAST_LINE = re.compile(r"(?:\s*+[|]\s?+)?+(?:[A-Za-z_]\w*+\.)*+[A-Z]\w*+(?:\s\[[\w-]++\])?+(?::\s|\s*+$)")
_PRINTED_ERROR = re.compile(
    r"\s*+(?:\w{1,40} )?(?:(?:[A-Za-z_]\w{0,60}\.){1,9}[A-Z]\w{0,60}|[A-Z]\w{0,60}(?:Error|Exception|Warning)): "
)
"""How a text begins that is an error as it was printed."""
_OWN_WORDS = re.compile(r"\b(?:[Ww]hat|[Hh]ow|[Ww]hy|[Ww]here|[Ww]hich|I|my|we)\b")
"""What a question has that its asker wrote; "Did you mean" and "Do you need" are an error's."""
_NODE_FRAME = re.compile(r"\s++at \S")
_PYTHON_FRAME = re.compile(r'\s*+File "[^"]*+", line \d')
_STATEMENT = re.compile(
    r"\s*+(?:>>> |\.\.\. |\$ |import [\w{*]|from [\w.]++ import\b|(?:async )?+def \w++\(|class \w++[(:]|@\w[\w.]*+(?:\(|\s*+$)|return\b.*[(\[{;]|(?:export )?+(?:const|let|var) [\w{\[]"
    r"|(?:if|for|while|with|elif|except|async for|async with)\b(?:[^(\[=<>\n]*+[(\[=<>].*| \w++ in \w++|[^ ]*+ \w++(?: as \w++)?+):\s*+$|(?:try|else|finally):\s*+$|(?:await )?+[A-Za-z_][\w.\[\]\"']*+(?:: [\w.\[\],|]++)?+ [-+*/|]?+= ?\S|(?:await )?+[A-Za-z_][\w.]*+\(|#\s*include|//|/\*)"
)
_CODE_END = re.compile(r"(?:[{;]|\}\)?,?|\]\)?,?|\)\s*+\{)\s*+$")
_DATA = re.compile(r"\s*+(?:[\[{}\]<]|\"[^\"]*+\"\s*+:|\d++[,;|\t])")
_SENTENCE_END = re.compile(r"(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.?!])[\"')\]]*+\s++")
_ASKS = re.compile(
    r"\?[\s\"')\]]*+$|\b(?:how (?:do|does|did|can|could|should|would|to|come|is|are|many|much|long)|how'd|what|which|whats|where (?:do|does|can|is|are|did)|when (?:do|does|should|is|are)|why"
    r"|(?:is|are) there (?:a|an|any)|any way to|i(?:'d| would) like|i(?:'m| am) (?:trying|looking)|(?:i|we) (?:want|need|wish)|trying to|looking for|(?:can|could|should|may) (?:i|we|you|one)|(?:want|need|like) to"
    r"|help me|wondering|explain|tell me|show me|difference between|best way)\b",
    re.IGNORECASE,
)
_LONG_RUN = re.compile(rf"\S{{{_LONGEST_WORD},}}+")


class PastedPart(NamedTuple):
    """Lines of a text that are of one sort."""

    text: str
    place: Place


class Pasted(NamedTuple):
    """A text in its parts."""

    parts: tuple[PastedPart, ...]
    error: str = ""
    """The last line of the last traceback, or of an error on a line of its own."""

    @property
    def prose(self) -> str:
        """What is written for people."""
        return "\n".join(part.text for part in self.parts if part.place == "prose")

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but prose."""
        return all(part.place == "prose" for part in self.parts)


def parts_of(text: str) -> Pasted:
    """Tell prose from code, tracebacks and data, line by line; data is left out."""
    lines = [_LONG_RUN.sub(" ", line) for line in text.splitlines()]
    if len([line for line in lines if line.strip()]) < 2:
        prose = " ".join(lines)
        return Pasted((PastedPart(prose, "prose"),) if prose.strip() else ())
    marked = list(_marked(lines))
    errors = [
        line.strip(" |")
        for line, place in marked
        if place == "traceback" and (_ERROR_LINE.match(line) or _LAST_LINE.match(line))
    ]
    return Pasted(tuple(_joined(marked)), errors[-1][:_LONGEST_ERROR] if errors else "")


def is_only_error(text: str) -> bool:
    """Whether a text is an error as it was printed, without a question of its own."""
    return bool(_PRINTED_ERROR.match(text)) and not _OWN_WORDS.search(text)


def asking_sentences(pasted: Pasted) -> str:
    """The sentences that ask, and the error that is asked about; all prose if none asks."""
    sentences = list(_sentences(pasted.prose))
    asking = [sentence for sentence in sentences if _ASKS.search(sentence)]
    if is_only_error(pasted.prose):
        asking = sentences
    chosen = " ".join(asking or sentences)[:_LONGEST_PROSE]
    return " ".join(part for part in (chosen, pasted.error) if part)


def _sentences(prose: str) -> Iterator[str]:
    paragraph: list[str] = []
    for line in [*prose.split("\n"), ""]:
        if line.strip():
            paragraph.append(line.strip())
        elif paragraph:
            yield from (part for part in _SENTENCE_END.split(" ".join(paragraph)) if part.strip())
            paragraph = []


def _joined(marked: Iterable[tuple[str, Place | None]]) -> Iterator[PastedPart]:
    current: list[str] = []
    place: Place | None = None
    for line, its in marked:
        if its != place and current and place is not None:
            yield PastedPart("\n".join(current), place)
        if its != place:
            current, place = [], its
        current.append(line if its == "prose" else line[:_LONGEST_LINE])
    if current and place is not None:
        yield PastedPart("\n".join(current), place)


def _marked(lines: list[str]) -> Iterator[tuple[str, Place | None]]:
    """Each line with its place; None for data."""
    fenced = traced = False
    previous: Place | None = "prose"
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(("```", "~~~")) and "`" not in bare[3:]:
            fenced, traced, previous = not fenced, False, "prose"
            continue
        if _TRACEBACK.match(line):
            traced = True
        place: Place | None
        if traced:
            place = "traceback"
            traced = (
                not bare or line[0].isspace() or bool(_PYTHON_FRAME.match(line) or _TRACEBACK.match(line))
            )
        elif _is_error(line, lines[number + 1] if number + 1 < len(lines) else ""):
            place = "traceback"
        elif fenced:
            place = "code"
        else:
            place = _place(line, previous)
        yield line, place
        previous = place if bare else previous


def _is_error(line: str, following: str) -> bool:
    """Whether a line is an error's own, or the frame of a stack."""
    return bool(
        _ERROR_LINE.match(line)
        or _NODE_FRAME.match(line)
        or _PYTHON_FRAME.match(line)
        or (_NODE_FRAME.match(following) and ": " in line)
    )


def _place(line: str, previous: Place | None) -> Place | None:
    bare = line.strip()
    if not bare:
        return previous
    if _STATEMENT.match(line[:_LONGEST_LINE]) and not _reads(bare):
        return "code"
    indented = line[:4] == "    " or line[:1] == "\t"
    if indented and (previous != "prose" or _CODE_END.search(bare[-20:])):
        return previous or "code"
    if _CODE_END.search(bare[-20:]) and not _reads(bare):
        return "code"
    if _DATA.match(line) and not _reads(bare):
        return "code" if previous == "code" else None
    return "prose"


def _reads(line: str) -> bool:
    """Whether a line ends as a sentence does, or asks."""
    return line.endswith(("?", ".", "!")) or bool(
        re.match(r"(?i)(?:how|what|why|which|can|is|does|i) ", line)
    )
