"""Several agents asked the same: whether they agree, and what that is worth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model.questions import Answer, Question

__all__ = ["Weighed", "agree", "raised", "weigh"]

ALIKE = 0.7
"""The share of words that two answers in free text have in common where they say the same."""
INDEPENDENT = 0.25
"""How much of another agent's confidence counts as evidence of its own. Models are wrong together: of pairs of five models
over 12,000 questions of MMLU-Pro, two that gave the same answer at 70 to 79 were right in half of the cases, at 80 to 89 in
three quarters, at 90 and more in 94 of 100 (where a quarter of two wrong answers are taken to be the same).
"""
MOST = 95
"""Agreement makes no answer surer than this."""

_NEGATIONS = frozenset(
    "no not never none neither nor without cannot don doesn isn aren won avoid instead".split()
)
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b(?:\w*[A-Z]\w*|\w*[0-9_]\w*)\b", re.MULTILINE)
"""What names something: a capital letter inside a sentence, a digit, an underscore."""
_ENDING = re.compile(r"n['’]t\b")


class Weighed(NamedTuple):
    """What the answers of all agents that were asked come to."""

    answer: Answer | None
    """The one to go on with; None where there is none, or where they do not agree."""
    alternatives: tuple[Answer, ...] = ()
    """Those that do not agree, in the order in which the agents were named."""
    said: str = ""
    """What came of comparing them; empty where there were not two."""


def weigh(question: Question, answers: Sequence[Answer]) -> Weighed:
    """Compare the answers of several agents to one question; pure.

    Where all say what the surest one says, its confidence is raised. Else a human chooses: a majority decides nothing, since
    models are often wrong together.
    """
    if len(answers) < 2:
        return Weighed(answers[0] if answers else None)
    names = [answer.agent for answer in answers]
    best = max(answers, key=lambda answer: answer.confidence)
    if not all(agree(question, best, one) for one in answers):
        return Weighed(None, tuple(answers), f"{_listed(names)} do not agree")
    confidence = raised(best.confidence, [one.confidence for one in answers if one is not best])
    said = f"{_listed(names)} agree"
    if confidence > best.confidence:
        said += f": confidence {best.confidence} raised to {confidence}"
    return Weighed(
        best.model_copy(update={"confidence": confidence, "notes": (*best.notes, said)}), said=said
    )


def raised(best: int, others: Sequence[int]) -> int:
    """The confidence of an answer with which others agree, 0 to 100.

    `1 - (1 - best) * product(1 - INDEPENDENT * other)`: each other takes a quarter of its confidence off what is doubtful; the
    independent part of its evidence (noisy-or; Pearl 1988). At most `MOST`, and never less than `best`.
    """
    doubt = 1 - best / 100
    for other in others:
        doubt *= 1 - INDEPENDENT * other / 100
    return max(best, min(MOST, int(100 * (1 - doubt) + 1e-9)))


def agree(question: Question, one: Answer, other: Answer) -> bool:
    """Whether two answers say the same; False where that is not certain.

    Of choices: the same one. In free text, what the question says itself left out: seven of ten words in common, the same
    negations and numbers, and no name on either side that the other one lacks (`Redis` and `Postgres` in two answers that are
    otherwise equal are a conflict).
    """
    if question.choices or one.content == other.content:
        return " ".join(one.content.split()).casefold() == " ".join(other.content.split()).casefold()
    asked = frozenset(map(stem, words(question.text)))
    first, second = _said(one.content) - asked, _said(other.content) - asked
    if not first or not second:
        return first == second
    named, named_too = _named(one.content) - asked, _named(other.content) - asked
    return (
        first & _NEGATIONS == second & _NEGATIONS
        and _numbers(first) == _numbers(second)
        and (named <= second or named_too <= first)
        and len(first & second) >= ALIKE * max(len(first), len(second))
    )


def _said(text: str) -> frozenset[str]:
    plain = _ENDING.sub(" not", text)
    return frozenset(
        stem(word) if word not in _NEGATIONS else word
        for word in words(plain)
        if word in _NEGATIONS or word not in STOP_WORDS
    )


def _named(text: str) -> frozenset[str]:
    return frozenset(stem(word) for name in _NAME.findall(text) for word in words(name))


def _numbers(said: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in said if any(sign.isdigit() for sign in word))


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
