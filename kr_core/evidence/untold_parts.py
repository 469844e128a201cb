"""Which parts of a question for several things an answer leaves out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.question.analysis import subject_of
from kr_core.question.parsed_question import parse_question
from kr_core.text import stems

if TYPE_CHECKING:
    from kr_core.model import Draft, ResearchQuery

HARDLY, HALF = 0.3, 0.5
"""An answer that says less than 0.3 of a part's telling words leaves it out; half of them is not surely the part."""
_LONG_NAME = 8
"""Letters of a cited name that no part says by chance."""
_LEAST_WORDS = 3
"""A part with fewer telling words is about what the other says: "and what to use"."""


def untold_parts(query: ResearchQuery, draft: Draft, share: float) -> list[str]:
    """The parts of a question of whose telling words the answer says at most a share; none where that is all of them.

    A part that spells what the answer cites counts as told.

    Args:
        query: what is asked.
        draft: the answer.
        share: of the words, from 0 to 1.
    """
    parts = parse_question(query.question).parts
    subjects = [stems(" ".join(subject_of(part))) - stems(query.framework) for part in parts]
    said = " ".join([*(claim.text for claim in draft.summary), *(one.code for one in draft.summary_code)])
    for symbol in sorted({one.symbol for one in draft.citations if one.symbol}, key=len, reverse=True):
        said = re.sub(
            rf"(?<!\w){re.escape(symbol)}(?!\w)", " ", said
        )  # what a thing is called answers nothing
    told = stems(said)
    cited = (name for one in draft.passages.values() for name in (one.symbol, one.parameter) if name)
    named = {last for name in cited if len(last := name.rpartition(".")[2]) >= _LONG_NAME}
    untold = [
        part
        for part, subject in zip(parts, subjects, strict=True)
        if len(subject) >= _LEAST_WORDS
        and len(subject & told) <= share * len(subject)
        and named.isdisjoint(re.findall(r"\w+", part))
    ]
    return untold if len(untold) < len(parts) else []
