"""Markers and fields: `[NEEDS CLARIFICATION: question]`, fields that stand as NEEDS CLARIFICATION, and what only looks open."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from kr_core.speckit.lines import plain
from kr_core.speckit.spec_question import MarkerPlace, SpecQuestion, topic_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.speckit.lines import FileLine

__all__ = ["MOST_MARKED", "OpenField", "marker_questions", "open_fields"]

MOST_MARKED = 1_000
"""Markers and fields of a file that are questions; a line with one more is named as open."""

_MARK = re.compile(
    r"\[NEEDS CLARIFICATION\s*[:–—-]\s*+((?:[^\[\]\n]|\n(?!\s*\n)|\[(?:[^\[\]\n]|\n(?!\s*\n))*+\])++|(?<=\s))\]",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`++")
_BREAK = re.compile(r"\n(?=[ \t\r]*+\n)")
"""The end of a paragraph."""
_LONGEST_CODE = 2_000
_BARE = re.compile(r"\[?\bNEEDS CLARIFICATION\b(?!\s*[:–—-][^\]]{0,2000}\])\]?", re.IGNORECASE)
"""A mark without a question, which would end within 2,000 characters."""
_IN_BRACKETS = re.compile(r"(?P<open>[\[({<])\s*NEEDS CLARIFICATION\s*[\])}>]", re.IGNORECASE)
_WITH_QUESTION = re.compile(
    r"(?P<open>[\[({<])\s*NEEDS CLARIFICATION\s*(?:[:–—-][^\[\](){}<>\n]*+)?[\])}>]", re.IGNORECASE
)
_FIELD = re.compile(r"\s*+(?:[-*+]\s++)?\*\*([^*]+?):?\*\*\s*+:?\s*+(.*)$")
_PLAIN_FIELD = re.compile(r"\s*[-*+]\s+([A-Z][\w /]{1,40}):\s*(\[?NEEDS CLARIFICATION\b.*)$")
_NAMES = re.compile(r"\*\*[^*\n]+?(?::\*\*|\*\*\s*+:)")
_UNDECIDED = re.compile(r"[\[({<]*+\s*+(?:e\.g\.|NEEDS CLARIFICATION)", re.IGNORECASE)
_NAMED = re.compile(r"\bNEEDS CLARIFICATION\b", re.IGNORECASE)
_AT_ITS_END = re.compile(r"[\[({<]\s*NEEDS CLARIFICATION\b|[:,–—-]\s*NEEDS CLARIFICATION\W*$", re.IGNORECASE)
"""A value of which something is open: the mark in brackets, or after a dash at its end. In a sentence it is talked about."""
_REQUIREMENT = re.compile(r"[A-Z]{2,}-\d+")
_CHECKBOX = re.compile(r"\s*[-*+]\s+\[[ xX]\]")
_SAMPLES = {"question", "specific question", "question text", "specific question needed", "...", "…"}
"""The text of a marker where spec-kit explains markers."""
_OTHER_MARK = re.compile(
    r"(?<!\w)(?:NEEDS CLARIFICATION|(?<=[\[({<])NEEDS [A-Z]{3,}|TO BE (?:CLARIFIED|DECIDED|DEFINED|DETERMINED)"
    r"|(?:CLARIFICATION|DECISION) NEEDED|CLARIFY(?=:)|OPEN QUESTION|UNRESOLVED(?=:)|TBD|TBC|TODO(?=[:\])}>]))(?!\w)"
)
"""Marks that spec-kit does not have today, and its own where KR reads no question: in capitals."""
_SPOKEN_OF = re.compile(
    r"\b(?:all|any|each|every|no|remaining|unresolved|the|these|as|zero|\d)\W*$", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"\[(?![ xX]\]|[^\]]*\]\()[^\]]*\]|\{[^}]*\}+|<(?!\w+:|/?\w+>)[^>]*>|⟨[^⟩]*⟩|【[^】]*】|«[^»]*»|\?{2,}"
)
"""A value that is nothing but brackets; not a link, a checkbox or a tag."""
_MAX_SAID = 5_000
"""Characters of the lines around a question; all those in one long line would have all of it."""
_MAX_PART = 20_000
_MAX_MARKS = 20
"""Of a part of a line: each is asked with all of it."""
_MAX_SHOWN = 100
_MAX_OPEN = 100


class OpenField(NamedTuple):
    """What looks as if an answer were missing, in a form that KR does not ask."""

    line: int
    text: str


def marker_questions(lines: Sequence[FileLine], about: str) -> list[SpecQuestion]:
    """The questions of the first 1,000 markers and fields, in order.

    Args:
        lines: of the file; those that may not ask are blank.
        about: what the file is about, for the context of each question.
    """
    whole = "\n".join(line.text for line in lines)
    code, marks = _code_and_marks(whole)
    ends = [found.start() for found in re.finditer(r"\n", whole)]
    shown = _blanked(whole, [*code, *(found.span() for found in marks)]).split("\n")
    found = list(islice(_marked(lines, marks, ends, about), MOST_MARKED))
    for index, line in enumerate(lines):
        if len(found) == MOST_MARKED:
            break
        if line.level == 0 and not _CHECKBOX.match(line.text) and _BARE.search(shown[index]):
            fields = _bare(line, shown[index], index, _context(about, line, [line]))
            found += islice(fields, MOST_MARKED - len(found))
    return sorted(found, key=lambda one: one.place or ())


def _code_and_marks(whole: str) -> tuple[list[tuple[int, int]], list[re.Match[str]]]:
    """Where code is, and the marks outside of it that say what is asked."""
    code = _code_in(whole)
    marks = (found for found in _MARK.finditer(whole) if plain(found[1]))
    return code, [found for found in marks if not _lies_in(code, found.span())]


def _code_in(whole: str) -> list[tuple[int, int]]:
    """Where code within paragraphs is, from a run of backticks to the next one as long; a marker in it is talked about."""
    runs = [found.span() for found in _TICKS.finditer(whole)]
    breaks = [found.start() for found in _BREAK.finditer(whole)]
    closing: list[int | None] = [None] * len(runs)
    later: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        closing[number] = later.get(end - start)
        later[end - start] = number
    found, number = [], 0
    while number < len(runs):
        last, (start, end) = closing[number], runs[number]
        number += 1
        if last is None or runs[last][0] - end > _LONGEST_CODE:
            continue
        if bisect_left(breaks, end) == bisect_left(breaks, runs[last][0]):  # no paragraph ends between them
            found.append((start, runs[last][1]))
            number = last + 1
    return found


def _lies_in(spans: Sequence[tuple[int, int]], span: tuple[int, int]) -> bool:
    before = bisect_left(spans, span) - 1
    return before >= 0 and span[1] < spans[before][1]


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text with blanks in place of its spans; lines stay lines."""
    parts, place = [], 0
    for start, end in sorted(spans):
        parts += [text[place:start], re.sub(r"[^\n]", " ", text[max(start, place) : end])]
        place = max(place, end)
    return "".join([*parts, text[place:]])


def _marked(
    lines: Sequence[FileLine], marks: Sequence[re.Match[str]], ends: Sequence[int], about: str
) -> Iterator[SpecQuestion]:
    for match in marks:
        text = plain(match[1])
        if _is_sample(text):
            continue
        (first, column), (last, end) = _position(ends, match.start()), _position(ends, match.end())
        line = lines[first]
        yield SpecQuestion(
            line.number,
            text,
            topic_of(line),
            _context(about, line, lines[first : last + 1]),
            place=MarkerPlace(first, column, last, end),
        )


def _is_sample(text: str) -> bool:
    return text.casefold() in _SAMPLES


def _position(ends: Sequence[int], offset: int) -> tuple[int, int]:
    """The line and the column of an offset, from 0."""
    line = bisect_left(ends, offset)
    return line, offset - (ends[line - 1] + 1 if line else 0)


# -- fields, and marks without a question -------------------------------------------------------------------


def _bare(line: FileLine, shown: str, index: int, context: str) -> Iterator[SpecQuestion]:
    """The questions of the fields of a line, and of its marks; a line may have several of both.

    Args:
        line: as it reads.
        shown: the same, with blanks in place of code and of marks with a question.
        index: of the line.
        context: of each question.
    """
    later = [found.start() for found in _NAMES.finditer(shown)][1:]
    for start, stop in pairwise([0, *later, len(shown)]):
        part = shown[start:stop].rstrip(" \t,;|")
        if len(part) > _MAX_PART:  # each question quotes all of it; it is named as open
            continue
        field = _FIELD.match(part) or (_PLAIN_FIELD.match(part) if start == 0 else None)
        marks = list(_BARE.finditer(part))
        is_open = (
            field is not None
            and not _REQUIREMENT.match(plain(field[1]))
            and bool(_is_undecided(field[2]) or _AT_ITS_END.search(field[2]))
        )
        if is_open and field is not None and len(marks) == 1:
            begin, end = _replaced(field, part)
            yield SpecQuestion(
                line.number,
                _asked(plain(field[1]), line.text[start + field.start(2) : start + len(part)]),
                f"technical/{plain(field[1]).replace('/', ' ')}",
                context,
                place=MarkerPlace(index, start + begin, index, start + end),
                by_itself=_marks_in(line.text[start:stop]) == 1,
            )
        else:
            said = line.text[start : start + len(part)]
            yield from _in_sentences(line, said, part, (index, start), context, any_mark=is_open)


def _is_undecided(value: str) -> bool:
    """Whether nothing of a field's value is decided: it is an example of the template, or the mark, in any brackets."""
    if _UNDECIDED.match(value):
        return True
    if value[:1] not in set("[({<") or not _NAMED.search(value):
        return False
    words = len(value)
    while words and not (value[words - 1].isalnum() or value[words - 1] == "_"):
        words -= 1
    return any(bracket in value[words:] for bracket in "])}>")


def _marks_in(text: str) -> int:
    return text.upper().count("NEEDS CLARIFICATION")


def _asked(name: str, value: str) -> str:
    hint = re.sub(r"([\[({<])\s*[:–—-]\s*", r"\1", plain(_BARE.sub("", value)))
    for empty in ("()", "{}", "<>"):
        hint = hint.replace(empty, "")
    hint = hint.strip(" []{}:,–—-")
    hint = re.sub(r"(?:,|(?<!\s))\s*+\bor$", "", hint)
    hint = hint[1:-1] if hint[:1] + hint[-1:] in {"()", "<>"} else hint
    return f"{name}: what should it be?" + (f" ({hint})" if hint else "")


def _replaced(field: re.Match[str], part: str) -> tuple[int, int]:
    """What of a field an answer replaces: its value, or the mark in it alone where something is decided."""
    if _is_undecided(field[2]):
        return field.start(2), len(part)
    bracketed = _WITH_QUESTION.search(part, field.start(2))
    mark = _BARE.search(part, field.start(2))
    if bracketed is not None and bracketed["open"] == "(":  # what it belongs to goes on around it
        return bracketed.start() + 1, bracketed.end() - 1
    if bracketed is not None:
        return bracketed.span()
    return (field.start(2), len(part)) if mark is None else mark.span()


def _in_sentences(
    line: FileLine, said: str, part: str, at: tuple[int, int], context: str, *, any_mark: bool
) -> Iterator[SpecQuestion]:
    """A question for each mark of a part of a line: what should replace it."""
    index, start = at
    pattern = _BARE if any_mark else _IN_BRACKETS
    marks = [found.span() for found in islice(pattern.finditer(part), _MAX_MARKS)]
    for begin, end in marks:
        dotted = said
        for other in reversed(marks):
            dotted = dotted[: other[0]] + ("..." if other[0] == begin else "(open)") + dotted[other[1] :]
        text = _MARK.sub(r"(open: \1)", dotted.strip().lstrip("-*+ "))
        yield SpecQuestion(
            line.number,
            f"What should replace the dots in: {plain(_BARE.sub('(open)', text))}",
            topic_of(line),
            context,
            place=MarkerPlace(index, start + begin, index, start + end),
            by_itself=_marks_in(said) == 1,
        )


def _context(about: str, line: FileLine, said: Sequence[FileLine]) -> str:
    where = f"Section: {' / '.join(line.path)}" if line.path else ""
    text = "\n".join(one.text for one in said)[:_MAX_SAID].strip()
    return "\n\n".join(part for part in (about, where, text) if part)


# -- what only looks open -----------------------------------------------------------------------------------


def open_fields(lines: Sequence[FileLine], asked: Sequence[SpecQuestion]) -> list[OpenField]:
    """What looks open in lines of text and is not asked, at most one of a line and 100 of a file.

    Args:
        lines: of the file; those that may not ask are blank.
        asked: the questions of its markers.
    """
    whole = "\n".join(line.text for line in lines)
    code, marks = _code_and_marks(whole)
    starts = [0, *(found.end() for found in re.finditer(r"\n", whole))]
    samples = [found.span() for found in marks if _is_sample(plain(found[1]))]
    places = [one.place for one in asked if one.place is not None]
    questions = [(starts[one.line] + one.column, starts[one.last_line] + one.end) for one in places]
    shown = _blanked(whole, [*code, *samples, *questions]).split("\n")
    found = []
    for index, line in enumerate(lines):
        if line.level or _CHECKBOX.match(line.text) or not _looks_open(shown[index]):
            continue
        said = plain(line.text)
        cut = said if len(said) <= _MAX_SHOWN else f"{said[: _MAX_SHOWN - 3]}..."
        found.append(OpenField(line.number, cut))
        if len(found) == _MAX_OPEN:
            break
    return found


def _looks_open(text: str) -> bool:
    """Whether a line has a field that is nothing but a placeholder, or a mark that no text is about."""
    for mark in _OTHER_MARK.finditer(text):
        if not _SPOKEN_OF.search(text[max(0, mark.start() - 20) : mark.start()]):
            return True
    if text.lstrip().startswith("|"):
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")][1:]
        return any(_PLACEHOLDER.fullmatch(cell) for cell in cells)
    field = _FIELD.match(text)
    return field is not None and _PLACEHOLDER.fullmatch(field[2].strip()) is not None
