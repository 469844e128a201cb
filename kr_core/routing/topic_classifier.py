"""A topic proposed for a question that has none: from the rules' examples and the words of their topics.

It only proposes. Whoever reads the proposal may ask again with the topic; no question goes anywhere because of it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kr_core.routing.patterns import below, folded, is_exact
from kr_core.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kr_core.model.routing import RoutingRule

__all__ = ["Proposer"]

LONGEST = 5000
"""Characters of a question that are looked at; what it is about stands at its beginning."""
LIKE_ENOUGH = 0.25
"""The least likeness, 0 to 1, at which a topic is proposed. With 20 examples for each of CLINC150's 150 intents, a proposal is
made for three quarters of the questions, and right for four of five; of questions about none of them, one in ten gets one.
"""


class Proposer:
    """Proposes topics of rules by the words that a question shares with their examples; pure and deterministic.

    The likeness is the cosine between the question's words and those of all a topic's examples, its name among them; each
    word weighs by its rarity among the topics (a centroid classifier over tf-idf; Han & Karypis, PKDD 2000).

    Args:
        rules: those for one topic, or for one with all below it; a glob is no topic that could be proposed.
    """

    def __init__(self, rules: Iterable[RoutingRule]) -> None:
        counted: dict[str, Counter[str]] = defaultdict(Counter)
        for rule in rules:
            pattern = folded(rule.topic)
            topic = pattern if is_exact(pattern) else below(pattern)
            if topic is not None:
                for text in (topic.replace("/", " ").replace("-", " "), *rule.examples):
                    counted[topic].update(sorted(_words(text)))
        topics_of = Counter(word for count in counted.values() for word in count)
        self._rarity = {word: math.log(1 + len(counted) / topics_of[word]) for word in topics_of}
        self._rarest = math.log(1 + len(counted))
        self._weights: dict[str, list[tuple[str, float]]] = defaultdict(list)
        """The topics of a word, with what it says of each."""
        for topic, count in counted.items():
            weighed = {word: (1 + math.log(times)) * self._rarity[word] for word, times in count.items()}
            length = _length(weighed)
            for word, weight in weighed.items():
                self._weights[word].append((topic, weight / length))

    def propose(self, text: str) -> str | None:
        """The topic that a question is most like; None where none is like it enough."""
        asked = {
            word: self._rarity.get(word, self._rarest)
            for word in sorted(
                _words(text[:LONGEST])
            )  # in one order, so that sums are the same in every process
            if word in self._rarity or word not in STOP_WORDS
        }
        likeness: dict[str, float] = defaultdict(float)
        for word, weight in asked.items():
            for topic, share in self._weights.get(word, ()):
                likeness[topic] += weight * share
        length = _length(asked)
        best = max(likeness, key=likeness.__getitem__, default=None)
        return best if best is not None and likeness[best] >= LIKE_ENOUGH * length else None


def _words(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights.values()))
