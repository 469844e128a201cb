"""Which passages are about what the asker expects in the answer (A14)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kr_core.model import Passage, ResearchQuery
    from kr_core.question.parsed_question import ParsedQuestion


def is_named(query: ResearchQuery, passage: Passage) -> bool:
    """Whether the request names what a passage is about, by its last part."""
    lasts = {name.rpartition(".")[2] for name in (passage.symbol, *passage.also, *passage.aliases) if name}
    wanted = {passage.parameter} if passage.parameter else lasts
    return not wanted.isdisjoint(re.split(r"\W+", " ".join(query.names)))


def is_expected(query: ResearchQuery, asked: ParsedQuestion, passage: Passage) -> bool:
    """Whether the names of the request lead to a passage, and the question does not spell what it is about.

    Args:
        query: with the names.
        asked: its question.
        passage: what was found.
    """
    names = [name for name in (passage.symbol, *passage.also, *passage.aliases) if name]
    if not query.names or not names or asked.spells(names):
        return False
    lasts = {name.rpartition(".")[2] for name in names} | {passage.parameter or ""}
    return not lasts.isdisjoint(re.split(r"\W+", " ".join(query.names)))
