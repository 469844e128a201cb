"""Which parts of a question for several things an answer leaves out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.question.analysis import subject_of
from kr_core.question.parsed_question import parse_question
from kr_core.text import stems

if TYPE_CHECKING:
    from kr_core.model import Draft, ResearchQuery

_TOLD, _HARDLY = 0.5, 0.3
"""A part of a question is told if the answer says more than half of its telling words, and left out if less than 0.3."""
_LONG_NAME = 8
"""Letters of a cited name that no part says by chance."""
_LEAST_WORDS = 3
"""A part with fewer telling words is about what the other says: "and what to use"."""


def untold_parts(query: ResearchQuery, draft: Draft, *, surely: bool) -> list[str]:
    """The parts whose telling words the answer hardly says; none where it says no part.

    Args:
        query: what is asked.
        draft: the answer.
        surely: whether only those are meant that it clearly leaves out; otherwise also those of which it says just half.
    """
    parts = parse_question(query.question).parts
    subjects = [stems(" ".join(subject_of(part))) - stems(query.framework) for part in parts]
    said = " ".join([*(claim.text for claim in draft.summary), *(one.code for one in draft.summary_code)])
    for symbol in sorted({one.symbol for one in draft.citations if one.symbol}, key=len, reverse=True):
        said = re.sub(
            rf"(?<!\w){re.escape(symbol)}(?!\w)", " ", said
        )  # what a thing is called answers nothing
    told = stems(said)
    cited = [one.symbol for one in draft.passages.values() if one.symbol]
    cited += [one.parameter for one in draft.passages.values() if one.parameter]
    named = {name for one in cited if len(name := one.rpartition(".")[2]) >= _LONG_NAME}
    untold = [
        part
        for part, subject in zip(parts, subjects, strict=True)
        if len(subject) >= _LEAST_WORDS
        and _is_untold(len(subject & told) / len(subject), surely=surely)
        and not (surely and any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", part) for name in named))
    ]
    return untold if len(untold) < len(parts) else []


def _is_untold(share: float, *, surely: bool) -> bool:
    return share < _HARDLY if surely else share <= _TOLD
