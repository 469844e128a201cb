"""What to search for next, without a language model: relevance feedback from the passages that matter most so far.

The first cycle asks the question itself, and its parts. A later one asks for what those passages speak of and the question
does not: names that stand in them, together with the words of the question that they leave open, and their telling words.
No query is asked twice.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from kr_core.evidence.citations import plain
from kr_core.expedition.passage_pool import title_of
from kr_core.model.expedition import SubQuery
from kr_core.question.analysis import asked_words, asks_denied, asks_since, parts_of, subject_of
from kr_core.text import STOP_WORDS, content_words, is_weak, root_of, words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kr_core.expedition.passage_pool import PassagePool, PoolEntry

__all__ = ["about_subjects", "expand", "first_queries"]

MAX_QUERIES = 4
"""Of one cycle."""
_FEEDBACK = 4
"""Passages that are learned from."""
_NAMES_EACH = 3
_WORDS = 5
_TELLING_WORDS = 3
_NAME = re.compile(
    r"`([^`\n]{2,60})`|\b([A-Za-z_]\w*+(?:\.\w++)++)"
    r"|((?:[A-Z][\w'’.-]*|\d{4})(?:\s++(?:(?:of|the|de|von|van|for|and|&)\s*+)?(?:[A-Z][\w'’.-]*|\d{4}))*)"
)
_MIN_LETTERS = 3
_NO_NAMES = frozenset(
    "True False None Returns Return Raises Args Note Notes Example Examples Warning See README".split()
)
_HISTORY = "changelog added in version"
"""What is searched for beside the subject where a question asks since when."""
_LIMITS = "restrictions limitations not supported"
"""The same where it asks for what is not so: pages call it so."""


def first_queries(question: str) -> list[SubQuery]:
    """The question, and its parts where it has several."""
    found = [SubQuery(text=question, why="the question", survey=True)]
    found += [SubQuery(text=part, why="a part of the question") for part in parts_of(question)]
    return found[:MAX_QUERIES]


def about_subjects(subjects: Sequence[str], asked: Collection[str]) -> list[SubQuery]:
    """A query for each of the first subjects that was not asked about."""
    left = [one for one in subjects if one not in asked and "§" not in one and "(" not in one]
    return [SubQuery(text=one, why="one of its subjects", subject=one) for one in left[:MAX_QUERIES]]


def expand(question: str, pool: PassagePool, asked: Collection[str]) -> list[SubQuery]:
    """What to search for after a cycle; nothing where the passages speak of nothing else.

    Args:
        question: the expedition's.
        pool: what was gathered so far.
        asked: what was searched for already.
    """
    best = [one for _score, one in pool.ranked()[:_FEEDBACK]]
    if not best:
        return _loosened(question, asked)
    found: list[SubQuery] = []
    seen = {_key(text) for text in asked}

    def offer(text: str, why: str, *, private: bool = False) -> None:
        key = _key(text)
        if key and key not in seen and len(found) < MAX_QUERIES:
            seen.add(key)
            found.append(SubQuery(text=text, why=why, private=private))

    if asks_since(question):
        offer(f"{' '.join(subject_of(question)[:_WORDS])} {_HISTORY}", "the question asks for versions")
    if asks_denied(question):
        offer(f"{' '.join(subject_of(question)[:_WORDS])} {_LIMITS}", "the question asks for what is not so")
    for one in best:
        missing = _open_words(question, pool, one)
        names = _names_in(one, question)[:_NAMES_EACH]
        title = title_of(one.passage) or one.source
        for name in names[: 2 if one is best[0] else 1]:
            offer(" ".join([name, *missing]), f"named in {title}", private=one.private)
    telling = _telling(pool, best)
    if telling:
        offer(
            " ".join([*asked_words(question)[:_WORDS], *telling]),
            "words of what was found",
            private=any(one.private for one in best),
        )
    return found


def _loosened(question: str, asked: Collection[str]) -> list[SubQuery]:
    """Where nothing was found: the telling words of the question in pairs, then one by one."""
    telling = [word for word in asked_words(question) if not is_weak(word)]
    pairs = [" ".join(pair) for pair in itertools.pairwise(telling)]
    seen = {_key(text) for text in asked}
    left = [text for text in dict.fromkeys([*pairs, *telling]) if _key(text) not in seen]
    return [SubQuery(text=text, why="fewer words, since nothing was found") for text in left[:MAX_QUERIES]]


def _open_words(question: str, pool: PassagePool, one: PoolEntry) -> list[str]:
    """The words of the question that a passage leaves open; all of them where it leaves none."""
    telling = asked_words(question)
    left = [word for word in telling if not _held(word, one) and not is_weak(word)]
    chosen = sorted(left or telling, key=lambda word: (-pool.rarity(root_of(word)), telling.index(word)))
    return list(dict.fromkeys([*pool.focus_words, *chosen]))[:_WORDS]


def _held(word: str, one: PoolEntry) -> bool:
    """Whether a passage has a word of the question, or the numbers of a version."""
    return all(root_of(part) in one.counts for part in words(word))


def _names_in(one: PoolEntry, question: str) -> list[str]:
    """The names in a passage that the question does not have, the title's own and early ones first."""
    text = plain(one.passage.text[:3000])
    known = {root_of(word) for word in words(question)}
    counted: Counter[str] = Counter()
    for found in _NAME.finditer(text):
        name = next(filter(None, found.groups())).strip(" .,'’")
        parts = [word for word in words(name) if word not in STOP_WORDS]
        if (
            name in _NO_NAMES
            or len(name) < _MIN_LETTERS
            or not parts
            or {root_of(part) for part in parts} <= known
        ):
            continue
        if found.group(3) and " " not in name and (_opens(text, found.start()) or name.isdigit()):
            continue
        counted[name] += 1
    order = list(counted)
    title = title_of(one.passage)
    ranked = sorted(order, key=lambda name: (name == title, -min(counted[name], 3), order.index(name)))
    own = [title] if title and not {root_of(word) for word in words(title)} <= known else []
    return [*dict.fromkeys([*own, *ranked])]


def _opens(text: str, start: int) -> bool:
    """Whether a word only opens a sentence."""
    return start == 0 or re.search(r"[.!?:\n]\s{0,3}$", text[max(0, start - 3) : start]) is not None


def _telling(pool: PassagePool, best: Sequence[PoolEntry]) -> list[str]:
    """The words that the best passages share, or say often, and the question does not have."""
    weight: dict[str, float] = {}
    spelled: dict[str, str] = {}
    for place, one in enumerate(best):
        for word in words(one.passage.text[:3000]):
            root = root_of(word)
            if word in STOP_WORDS or is_weak(word) or root in pool.asked or len(word) < _MIN_LETTERS:
                continue
            spelled.setdefault(root, word)
            if not word.isdigit():
                weight[root] = weight.get(root, 0.0) + pool.rarity(root) / (1 + place)
    best_first = sorted(weight, key=lambda root: -weight[root])
    return [spelled[root] for root in best_first[:_TELLING_WORDS]]


def _key(text: str) -> str:
    return " ".join(sorted({root_of(word) for word in content_words(text)}))
