"""The questions that spec-kit leaves in its files, in the three shapes that it has for them.

- `[NEEDS CLARIFICATION: question]` in a specification (`templates/commands/specify.md`); without a question in older ones.
- Blocks with a table of options, which `specify` writes all at once (`| Option | Answer | Implications |`) and `clarify` one by
  one (`| Option | Description |`), or with a short answer asked for in place of a table (`templates/commands/clarify.md`).
- Fields of a plan's technical context that stand as NEEDS CLARIFICATION (`templates/commands/plan.md`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from kr_core.speckit.lines import FileLine, key, lines_of, plain, section
from kr_core.speckit.markers import OpenField, marker_questions, open_fields
from kr_core.speckit.spec_question import BEGINS, SpecQuestion, topic_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["CLARIFICATIONS", "SpecFile", "SpecQuestion", "answers_in", "read", "unanswered"]

CLARIFICATIONS = "Clarifications"
_ANSWERED = re.compile(
    r"\s*+[-*+]\s++Q:(?:(?P<q>.*?)→\s*+A:\s*+(?P<a>.*)|(?P<q2>.*?)->\s*+A:\s*+(?P<a2>.*))$"
)
"""With spec-kit's arrow, or one that was typed; what KR writes has the former only once."""
_TABLE = re.compile(r"\s*+(?:\|\s*+)?\**+Option\**+\s*+\|", re.IGNORECASE)
_RULE = re.compile(r"(?=[\s:|]*+-)[\s:|-]*+$")
_NAMED = re.compile(r"\s*+\*\*(?P<name>[^*]+?):?\*\*\s*+:?\s*+(?P<value>.*)$")
_OPEN_CHOICE = re.compile(r"_*\[.*\]_*|[_\s.…]*|<.*>")


class SpecFile(NamedTuple):
    """What a file asks, and what it answers itself."""

    asked: list[SpecQuestion]
    """All questions in order, also those with an answer and those that the file has twice."""
    answers: dict[str, str]
    """Those under `## Clarifications`, by the keys of their questions."""
    open_fields: list[OpenField]
    """What looks open, and is not one of the questions."""


def read(text: str) -> SpecFile:
    """Read a file; a block whose choice is made asks nothing."""
    lines = lines_of(text)
    there = section(lines, CLARIFICATIONS)
    if there is not None:
        blank = [line._replace(text="", level=0) for line in lines[slice(*there)]]
        lines = [*lines[: there[0]], *blank, *lines[there[1] :]]
    blocks, within = _blocks(lines)
    rest = [line._replace(text="") if line.number in within else line for line in lines]
    marked = marker_questions(rest, _about(lines))
    asked = sorted([*blocks, *marked], key=lambda one: one.line)
    return SpecFile(asked, answers_in(text), open_fields(rest, marked))


def unanswered(file: SpecFile) -> list[SpecQuestion]:
    """The questions of a file that has no choice or answer to them, in order, each once."""
    return list({one.key: one for one in reversed(file.asked) if one.key not in file.answers}.values())[::-1]


def answers_in(text: str) -> dict[str, str]:
    """The answers under `## Clarifications`, by the keys of their questions."""
    lines = lines_of(text)
    there = section(lines, CLARIFICATIONS)
    matches = [] if there is None else map(_ANSWERED.match, (line.text for line in lines[slice(*there)]))
    return {
        key((match["q"] or match["q2"] or "").strip()): (match["a"] or match["a2"] or "").strip()
        for match in matches
        if match is not None
    }


def _about(lines: Sequence[FileLine]) -> str:
    """What the file is about: its title, and the user's own description where it has one."""
    title = next((line.text.lstrip("# ").strip() for line in lines if line.level == 1), "")
    given = next((line.text.strip() for line in lines if line.text.lstrip().startswith("**Input**")), "")
    return "\n\n".join(part[:2000] for part in (plain(title), given) if part)


# -- blocks -------------------------------------------------------------------------------------------------


def _blocks(lines: Sequence[FileLine]) -> tuple[list[SpecQuestion], set[int]]:
    """The blocks that ask, and the numbers of all lines that belong to one."""
    starts = [number for number, line in enumerate(lines) if _begins(line)]
    tables = [number for number in range(len(lines)) if _is_table(lines, number)]
    found: list[SpecQuestion] = []
    within: set[int] = set()
    for first, end in _regions(lines, starts, tables):
        index = bisect_left(tables, first)
        table = tables[index] if index < len(tables) and tables[index] < end else None
        one = _block(lines[first:end], None if table is None else table - first, len(found) + 1)
        if one is not None:
            found.append(one)
            within |= {line.number for line in lines[first:end]}
    return [one for one in found if one.text], within


def _begins(line: FileLine) -> bool:
    match = BEGINS.match(line.text)
    if match is None:
        return False
    heading = line.level > 0
    return bool(match["n1"] or match["topic"]) if heading else bool(match["text"] or match["plain"])


def _regions(lines: Sequence[FileLine], starts: list[int], tables: list[int]) -> Iterator[tuple[int, int]]:
    """From where to where each block goes: to the next one, or to a heading that is no part of it."""
    begins = list(starts)
    paragraphs = _paragraphs(lines)
    for number, table in enumerate(tables):  # older files have a table alone: the paragraph before it asks
        before = bisect_left(starts, table) - 1
        if (
            before < 0
            or (number and tables[number - 1] > starts[before])
            or _ended(lines, starts[before], table)
        ):
            begins.append(_paragraph_before(lines, table, paragraphs))
    begins = sorted(set(begins))
    merged: list[int] = []
    for begin in begins:  # `## Question 1: Topic` and `**Question:** text` below it are one
        if (
            merged
            and lines[merged[-1]].level
            and not lines[begin].level
            and bisect_right(tables, merged[-1]) == bisect_left(tables, begin)
        ):
            continue
        merged.append(begin)
    for number, begin in enumerate(merged):
        limit = merged[number + 1] if number + 1 < len(merged) else len(lines)
        yield begin, next((one for one in range(begin + 1, limit) if lines[one].level), limit)


def _ended(lines: Sequence[FileLine], start: int, table: int) -> bool:
    return any(line.level for line in lines[start + 1 : table])


def _paragraphs(lines: Sequence[FileLine]) -> list[int]:
    """For each line, the one in which its paragraph begins: behind an empty line, or a heading."""
    found: list[int] = []
    goes_on = False
    for number, line in enumerate(lines):
        found.append(found[-1] if goes_on else number)
        goes_on = bool(line.text.strip()) and not line.level
    return found


def _paragraph_before(lines: Sequence[FileLine], table: int, paragraphs: Sequence[int]) -> int:
    """Where the last paragraph before a table begins that ends with a question mark; else the table itself."""
    number = table - 1
    while number >= 0 and not lines[number].level and not _RULE.match(lines[number].text):
        if lines[number].text.rstrip(" *").endswith("?"):
            return paragraphs[number]
        number -= 1
    return table


def _is_table(lines: Sequence[FileLine], number: int) -> bool:
    return (
        bool(_TABLE.match(lines[number].text))
        and number + 1 < len(lines)
        and bool(_RULE.match(lines[number + 1].text))
    )


def _block(lines: Sequence[FileLine], table: int | None, place: int) -> SpecQuestion | None:
    """A block's question; its text is empty where it has its choice, and None where it asks nothing."""
    beginning = BEGINS.match(lines[0].text)
    named = _named(lines[: len(lines) if table is None else table])
    text = _asks(lines[:table], beginning, named)
    if (table is None and beginning is None) or not text or (text.startswith("[") and text.endswith("]")):
        return None
    options, others = _options(lines[table:]) if table is not None else ((), ())
    bare = table is None and not lines[0].text.lstrip().startswith("**")
    if bare and not options and "what we need to know" not in named:
        return None
    return SpecQuestion(
        line=lines[0].number,
        text="" if _is_chosen(_named(lines).get("your choice")) else text,
        topic=(plain(beginning["topic"] or "") if beginning else "") or topic_of(lines[0]),
        context=_field_context(named),
        number=_number(beginning, place),
        options=options,
        custom="Custom" if "custom" in others else "",
    )


def _number(beginning: re.Match[str] | None, place: int) -> int:
    """The number that a block names, else its place."""
    numbers = (beginning[name] for name in ("n1", "n2", "n3")) if beginning else ()
    return next((int(number) for number in numbers if number), place)


def _field_context(named: dict[str, str]) -> str:
    """What a block's fields say beside the question."""
    titles = ("Context", "Why it matters", "Recommended", "Suggested")
    return "\n".join(f"{title}: {named[key]}" for title in titles if named.get(key := title.casefold()))


def _is_chosen(choice: str | None) -> bool:
    """Whether the field for the choice has one; what the template has there is none."""
    if choice is None:
        return False
    return not _OPEN_CHOICE.fullmatch(plain(choice)) and not _OPEN_CHOICE.fullmatch(choice.strip())


def _asks(lines: Sequence[FileLine], beginning: re.Match[str] | None, named: dict[str, str]) -> str:
    """What a block asks: what its own line says, or its field, or its last sentence with a question mark."""
    own = plain((beginning["text"] or beginning["plain"] or "") if beginning else "")
    fields = (named.get(name, "") for name in ("what we need to know", "question"))
    paragraphs = "\n".join(line.text for line in lines).split("\n\n")
    asking = [
        plain(one) for one in paragraphs if plain(one).endswith("?") and not one.lstrip().startswith("#")
    ]
    if own:
        following = [line.text.strip() for line in lines[1:2] if not _NAMED.match(line.text)]
        return (
            plain(f"{own} {following[0]}")
            if following and following[0] and not own.rstrip(")").endswith("?")
            else own
        )
    return next((plain(value) for value in fields if value), asking[-1] if asking else "")


def _named(lines: Sequence[FileLine]) -> dict[str, str]:
    """The fields of a block: `**Context**: text`, with the lines that go on with it."""
    found: dict[str, list[str]] = {}
    current = ""
    for line in lines:
        match = _NAMED.match(line.text)
        if match is not None:
            current = plain(match["name"]).casefold()
            found[current] = [match["value"].strip()]
        elif not line.text.strip() or line.text.lstrip().startswith("|"):
            current = ""
        elif current:
            found[current].append(line.text.strip())
    return {name: " ".join(said).strip() for name, said in found.items()}


def _options(lines: Sequence[FileLine]) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """The rows of a table of options with a letter, and the names of the others."""
    options: list[tuple[str, str]] = []
    others: set[str] = set()
    for line in lines[2:]:
        if "|" not in line.text:
            break
        cells = [
            plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line.text.strip().strip("|"))
        ]
        letter = cells[0].strip("()[]. ")
        if re.fullmatch(r"[A-Z]", letter) and len(cells) > 1 and cells[1]:
            options.append((letter, cells[1]))
        else:
            others.add(letter.casefold())
    return tuple(options), frozenset(others)
