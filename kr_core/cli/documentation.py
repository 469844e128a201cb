"""The documentation behind an answer, as its authors wrote it, cut to about two screens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.terminal_text import fence_around
from kr_core.text import STOP_WORDS, root_of, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kr_core.model import ResultPassage

__all__ = ["documentation"]

_MOST_LINES, _FIRST, _OTHERS = 80, 40, 20
"""Lines of all passages together, of the best one, and of each of the others."""
_AT_ONCE = 3
"""KR always shows the first three passages where you gave names: these lead to them."""
_LEAST = 8
"""A longer passage must have room for this many lines: a few of them tell little."""
_PARAMETER = re.compile(r"\s+(?:\*{0,2}(?P<name>\w+)\s*+(?:[:=].*)?|[*/]),")
"""A line of a signature that has one parameter."""
_MANY, _FIRST_FEW = 10, 4
"""From ten lines of parameters on, KR shows only the first four and those that the question speaks of."""
_SHORT, _NEAR = 4, 0.5
"""A passage of at most four lines needs one word of the question, a longer one half as many as the best; what is named needs none."""
_DECLARED = re.compile(r"(?:class|(?:async )?def|function) \w+")
"""The first of the lines behind a parameter's documentation that declare it."""
_SAID = 0.2
"""With no larger a share of new words, a passage only repeats the answer."""
_FEW = 2
"""New words that do not count: an article, a mark."""
_BEGINNING = 2
"""How many more words of the question a later run of a passage must hold than its beginning."""
_TITLE = re.compile(
    r"\s*(?:\*\*)?(?:Args|Arguments|Parameters|Attributes|Returns|Raises|Yields|Usage|Examples?)(?::|\*\*:|:\*\*)\s*"
)
"""A heading without a line below it."""
_OPENS = re.compile(r"\s*(?:\.\. [\w-]+(?::[\w-]+)*::.*)?")
"""A line at the end of a run that says nothing without the next: a blank one, the mark of a directive."""
_NAME = re.compile(r"[\w$]+")
_DERIVED = re.compile(r"class \w+\((?!object\))")
_TYPE = re.compile(r"\s*:r?type\b")
"""The type of a parameter, which the signature has or its own passage."""
_RULE = re.compile(r"\s*(?:-{3,}|={3,}|~{3,})\s*")
"""The line below a heading."""


def documentation(
    passages: Sequence[ResultPassage], question: str, said: str, names: Iterable[str] = ()
) -> list[str]:
    """Show the passages as lines of Markdown, best first, without those that the answer or another passage repeats.

    Args:
        passages: what the answer was found in.
        question: decides which lines of a long passage are shown.
        said: the answer.
        names: what the asker expects in the answer.
    """
    expected = tuple(names)
    always = _AT_ONCE if expected else 0
    named = frozenset(_NAME.findall(" ".join([question, *expected])))
    roots = frozenset(root_of(word) for word in words(question) if word not in STOP_WORDS)
    held = [len(roots.intersection(map(root_of, words(one.text)))) for one in passages]
    known = set(words(said))
    shown: list[str] = []
    left = _MOST_LINES
    for number, (one, count) in enumerate(zip(passages, held, strict=True)):
        lines = list(_without_parameters(_without_empty_parts(_prose(one.text)), roots))
        # what it is derived from says what catches it, and no sentence does
        is_derived = number < _AT_ONCE and _DERIVED.match(one.text) is not None
        is_named = number < always or is_derived or (one.symbol or "").rpartition(".")[2] in named
        is_beside = not is_named and count < (_NEAR * max(held) if len(lines) > _SHORT else 1)
        told = set(words("\n".join(lines)))
        is_said = len(told - known) <= max(_SAID * len(told) if len(lines) > _SHORT else 0, _FEW)
        if left < min(len(lines), _LEAST) or is_beside or (is_said and not is_derived):
            continue
        run = _best_run(lines, min(left, _OTHERS if shown else _FIRST), roots)
        left -= len(run) - run.count("...")
        known |= set(words("\n".join(run)))
        fence = fence_around(one.text)
        shown += [f"`{one.symbol or one.kind}`, {one.locator or one.url}:", "", fence, *run, fence, ""]
    return ["Documentation:", "", *shown] if shown else []


def _prose(text: str) -> list[str]:
    """The lines of a passage; of a documented parameter without its declaration."""
    lines = [line for line in text.strip().split("\n") if not _TYPE.match(line)]
    declared = next((place for place, line in enumerate(lines) if place and _DECLARED.fullmatch(line)), None)
    return lines[:declared]


def _without_empty_parts(lines: Sequence[str]) -> Iterator[str]:
    """The lines without empty sections: parameters have passages of their own."""
    place = 0
    while place < len(lines):
        after = place + _heading(lines, place)
        while place < after < len(lines) and not lines[after].strip():
            after += 1
        if after > place and (after == len(lines) or _heading(lines, after)):
            place = after
            continue
        yield lines[place].rstrip()
        place += 1


def _heading(lines: Sequence[str], place: int) -> int:
    """How many lines a heading takes that begins here: two with a rule below it, else one; 0 where there is none."""
    if place + 1 < len(lines) and _RULE.fullmatch(lines[place + 1]) and lines[place].strip():
        return 2
    return int(_TITLE.fullmatch(lines[place]) is not None)


def _without_parameters(lines: Iterable[str], roots: frozenset[str]) -> Iterator[str]:
    """The lines; of many parameters in a row only those with a word of the question, and dots for the others."""
    run: list[str] = []
    for line in lines:
        if _PARAMETER.fullmatch(line):
            run.append(line)
            continue
        left_out = False
        for number, each in enumerate(run):
            found = _PARAMETER.fullmatch(each)
            name = (found and found["name"]) or ""
            is_asked = not roots.isdisjoint(root_of(word) for word in words(name.replace("_", " ")))
            if len(run) < _MANY or number < _FIRST_FEW or is_asked:
                yield each
                left_out = False
            elif not left_out:
                yield "    ...,"
                left_out = True
        run = []
        yield line
    yield from run


def _best_run(lines: Sequence[str], most: int, roots: frozenset[str]) -> list[str]:
    """The first run of `most` lines with most words of the question; dots mark what comes before and after it."""
    if len(lines) <= most:
        return list(lines)
    held = [frozenset(map(root_of, words(line))) & roots for line in lines]
    counts = [len(frozenset().union(*held[at : at + most])) for at in range(len(lines) - most + 1)]
    best = max(counts)
    start = 0 if counts[0] + _BEGINNING > best else counts.index(best)
    run = lines[start : start + most]
    while run and _OPENS.fullmatch(run[-1]):
        run = run[:-1]
    before, after = ["..."] if start else [], ["..."] if start + len(run) < len(lines) else []
    return [*before, *run, *after]
