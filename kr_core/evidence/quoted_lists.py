"""Lists and tables of a section, which say in items and cells what others say in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.evidence.citations import plain
from kr_core.evidence.sentences import prose, sentences, steps
from kr_core.markup.tables import rows
from kr_core.text import stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.evidence.asked_words import AskedWords
    from kr_core.markup.tables import TableRow
    from kr_core.model import Passage

_STEPS = 12
"""A longer list is not an answer that a person reads at once."""
_ROWS = 3
_ITEM = re.compile(r"\s*[-*+•]\s+(\S.*)")
_STEP = re.compile(r"\d{1,3}[.)]\s")


def told_rows(passage: Passage, shown: Sequence[str], asked: AskedWords) -> list[TableRow]:
    """The rows of a section's tables that say more of what was asked than any of its sentences does."""
    said = max((_held(sentence, asked) for run in shown for sentence in sentences(run)), default=0)
    held = [(_held(row.message, asked), row) for row in rows(passage.text)]
    most = max((count for count, _row in held), default=0)
    return [] if most <= max(said, 1) else [row for count, row in held if count == most][:_ROWS]


def told_steps(passage: Passage, shown: Sequence[str], asked: AskedWords) -> list[tuple[str, list[str]]]:
    """All the steps of a section's ordered list, where it or one of them is the answer: a step alone would mislead.

    Returns:
        Texts and what each quotes, with what is shown around the steps; empty where the steps are not the answer.
    """
    items = steps(passage.text)
    said = {plain(sentence) for item in items for sentence in sentences(item)}
    chosen = [sentence for run in shown for sentence in sentences(run)]
    headed = all(_held(sentence, asked) <= _held(passage.title, asked) for sentence in chosen)
    if not items or len(items) > _STEPS or not (headed or said & {plain(one) for one in chosen}):
        return []
    beside = [one for one in chosen if plain(one) not in said and plain(items[0]) not in plain(one)]
    return _with_steps(passage, items, beside)


def _with_steps(passage: Passage, items: Sequence[str], beside: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The steps, with the sentences beside them where they were."""
    text, first = plain(prose(passage.text)), plain(items[0])
    before = [one for one in beside if text.find(plain(one)) < text.find(first)]
    told = [(" ".join(map(plain, before)), before)] if before else []
    told += [(f"{number}. {plain(item)}", [item]) for number, item in enumerate(items, 1)]
    return told + [(plain(one), [one]) for one in beside if one not in before]


def without_steps(runs: Sequence[str]) -> list[str]:
    """What is shown of a section beside a surer answer: no step, since one alone would mislead."""
    return [run for run in runs if not _STEP.match(run)]


def items_below(passage: Passage, heads: re.Pattern[str]) -> tuple[str, list[str]]:
    """The line of a passage that heads a list (`The main differences are:`), and the first paragraph of each item.

    Args:
        passage: whose text is looked through.
        heads: what the heading line says.

    Returns:
        Empty where no line heads a list.
    """
    lines = passage.text.split("\n")
    for number, line in enumerate(lines):
        if line.rstrip().endswith(":") and heads.search(plain(line)):
            items = _items(lines[number + 1 :])
            if len(items) > 1:
                return line.strip(), items[:_STEPS]
    return "", []


def _items(lines: Sequence[str]) -> list[str]:
    """The items of the list with which some lines begin, each as its first paragraph."""
    items: list[str] = []
    depth = -1
    is_open = False
    for line in lines:
        own = len(line) - len(line.lstrip())
        found = _ITEM.match(line)
        if found and depth in {-1, own}:
            depth, is_open = own, True
            items.append(found[1])
        elif not line.strip():
            is_open = False
        elif own <= depth or depth < 0:
            break
        elif is_open:
            items[-1] += f"\n{line.strip()}"
    return items


def _held(text: str, asked: AskedWords) -> int:
    return len(stems(text) & asked.stems)
