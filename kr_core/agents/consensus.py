"""Several agents asked the same: whether they agree, and what that is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model.questions import Answer, Question

__all__ = ["Consensus", "agree", "combine", "raised", "same"]

ALIKE = 0.7
"""The share of a longer answer's words that a shorter one must have, where it says the same in fewer words."""
INDEPENDENT = 0.25
"""How much of another agent's confidence counts as evidence of its own. Models are wrong together: of pairs of five models
over 12,000 questions of MMLU-Pro, two that gave the same answer at 70 to 79 were right in half of the cases, at 80 to 89 in
three quarters, at 90 and more in 94 of 100 (where a quarter of two wrong answers are taken to be the same).
"""
MOST = 95
"""Agreement makes no answer surer than this."""

_FILLING = frozenset(
    "a an the this that it is are be we you our your i should would please use using".split()
)
"""Words without which an answer says the same."""
_TURNING = frozenset(
    """no not never none neither nor without cannot avoid instead only except unless until almost hardly rarely seldom
    sometimes or""".split()
)
"""Words with which an answer says something else."""
_AROUND = "\"'`“”‘’()[]{},;:."


class Consensus(NamedTuple):
    """What the answers of all agents that were asked come to."""

    answer: Answer | None
    """The one to go on with; None where there is none, or where they do not agree."""
    alternatives: tuple[Answer, ...] = ()
    """Those that do not agree, in the order in which the agents were named."""
    message: str = ""
    """What came of comparing them; empty where there were not two."""


def combine(question: Question, answers: Sequence[Answer]) -> Consensus:
    """Compare the answers of several agents to one question; pure.

    Where all say the same as the surest one, its confidence is raised; where some say it in fewer or more words, it stands for
    itself. Else a human chooses: a majority decides nothing, since models are often wrong together.
    """
    if len(answers) < 2:
        return Consensus(answers[0] if answers else None)
    names = [answer.agent for answer in answers]
    best = max(answers, key=lambda answer: answer.confidence)
    if not all(agree(question, best, one) for one in answers):
        return Consensus(None, tuple(answers), f"{_listed(names)} do not agree")
    others = [one for one in answers if one is not best]
    if not all(same(question, best, one) for one in others):
        said = f"{_listed(names)} agree, but not word for word: confidence {best.confidence} not raised"
        return Consensus(best.model_copy(update={"notes": (*best.notes, said)}), message=said)
    confidence = raised(best.confidence, [one.confidence for one in others])
    said = f"{_listed(names)} agree"
    if confidence > best.confidence:
        said += f": confidence {best.confidence} raised to {confidence}"
    return Consensus(
        best.model_copy(update={"confidence": confidence, "notes": (*best.notes, said)}), message=said
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


def same(question: Question, one: Answer, other: Answer) -> bool:
    """Whether two answers are the same: the same choice, or the same words in the same order, but for those that say nothing."""
    if question.choices:
        return " ".join(one.content.split()).casefold() == " ".join(other.content.split()).casefold()
    first, second = _said(one.content), _said(other.content)
    return bool(first or one.content == other.content) and _folded(first) == _folded(second)


def agree(question: Question, one: Answer, other: Answer) -> bool:
    """Whether two answers do not contradict each other; False where that is not certain.

    They are the same, or one (not of choices) has all words of the other in the same order and a few more, none of which is
    a name, a number or turns the meaning. As soon as each has a word that the other lacks they are a conflict: `before` and
    `after`, `enable` and `disable`, `Redis` and `Postgres` may be all in which two long answers differ.
    """
    if question.choices or same(question, one, other):
        return same(question, one, other)
    short, long = sorted((_said(one.content), _said(other.content)), key=len)
    more = _beyond(short, long)
    return more is not None and len(short) >= ALIKE * len(long) and not any(map(_tells, more))


def _said(text: str) -> list[str]:
    """The words of an answer that say something, as they are written; signs stay (`C++` is not `C#`)."""
    bare = [written.strip(_AROUND).rstrip("!?") for written in text.split()]
    if bare and bare[0].istitle():  # the capital letter of a sentence
        bare[0] = bare[0].lower() if len(bare[0]) > 1 else bare[0]
    return [word for word in bare if word and word not in _FILLING]


def _folded(said: Sequence[str]) -> list[str]:
    return [word.casefold() for word in said]


def _beyond(short: Sequence[str], long: Sequence[str]) -> list[str] | None:
    """What the longer one has more; None where the shorter one is no part of it in the same order."""
    left, more = _folded(short)[::-1], []
    for word in long:
        if left and left[-1] == word.casefold():
            left.pop()
        else:
            more.append(word)
    return None if left else more


def _tells(word: str) -> bool:
    """Whether a word names or counts something, or turns the meaning."""
    folded = word.casefold()
    return (
        folded != word
        or not folded.isalpha()  # a number, an operator, `isn't`
        or folded in _TURNING
    )


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
