"""What humans keep adding: phrases that come back in their replies and were not in the questions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kr_core.retro.logged_questions import AskedQuestion, HumanReply

__all__ = ["AddedContext", "often_added"]

_LONGEST = 3
"""Words of a phrase."""
_MOST = 500
"""Phrases that are given: each is compared with those before it."""
_SHORTEST = 3
"""Letters of a single word that says something by itself."""


class AddedContext(NamedTuple):
    """A phrase that humans added again and again."""

    phrase: str
    """As it was written most often."""
    replies: tuple[HumanReply, ...]
    """One for each question that it was added to."""
    lift: float
    """How many times more often it is in what humans wrote than in what was asked."""


def often_added(questions: Sequence[AskedQuestion], *, minimum: int, lift: float) -> list[AddedContext]:
    """Phrases that humans added to several questions, the most frequent first.

    Words are compared without their endings. Of phrases that the same replies hold, the longest is given.

    Args:
        questions: of a feature.
        minimum: questions that a phrase must have been added to.
        lift: how many times more often than in the questions themselves.
    """
    added: dict[tuple[str, ...], dict[str, HumanReply]] = defaultdict(dict)
    written: dict[tuple[str, ...], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    answered = 0
    for question in questions:
        replies = [one for one in question.replies if one.action in {"add_context", "correct", "chat"}]
        answered += bool(replies)
        for reply in replies:
            for stems, shown in _phrases(reply.content):
                added[stems].setdefault(question.question_id, reply)
                written[stems][shown] += 1
    asked = _counted(
        stems for question in questions for stems in {stems for stems, _ in _phrases(question.text)}
    )
    found = []
    for stems, by_question in added.items():
        if len(by_question) < minimum:
            continue
        share_asked = (asked.get(stems, 0) + 0.5) / (len(questions) + 1)
        gained = len(by_question) / answered / share_asked
        if gained >= lift:
            shown = max(sorted(written[stems]), key=written[stems].__getitem__)
            found.append((stems, AddedContext(shown, tuple(by_question.values()), gained)))
    found.sort(key=lambda one: (-len(one[1].replies), -len(one[0]), one[1].phrase))
    return _widest(found)


def _widest(found: Iterable[tuple[tuple[str, ...], AddedContext]]) -> list[AddedContext]:
    """Without phrases that are part of one that as many replies hold, nor those that wrap such a one."""
    kept: list[AddedContext] = []
    holding: dict[str, list[frozenset[str]]] = defaultdict(list)
    for stems, one in found:
        evidence = frozenset(reply.entry_id for reply in one.replies)
        if not any(evidence <= wider for word in stems for wider in holding[word]):
            kept.append(one)
            for word in dict.fromkeys(stems):
                holding[word].append(evidence)
        if len(kept) == _MOST:
            break
    return kept


def _phrases(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each run of up to three telling words: (their stems, as written)."""
    run: list[str] = []
    for word in [*words(text.casefold()), ""]:
        if word and word not in STOP_WORDS and not word.isdigit():
            run.append(word)
            continue
        for start in range(len(run)):
            for end in range(start + 1, min(start + _LONGEST, len(run)) + 1):
                part = run[start:end]
                if len(part) > 1 or len(part[0]) >= _SHORTEST:
                    yield tuple(stem(one) for one in part), " ".join(part)
        run = []


def _counted(found: Iterable[tuple[str, ...]]) -> Mapping[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for one in found:
        counts[one] += 1
    return counts
