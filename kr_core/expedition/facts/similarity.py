"""Which statements mean the same by their vectors, where an embedder is configured; decided once, and kept as a step."""

from __future__ import annotations

from math import sqrt
from operator import mul
from typing import TYPE_CHECKING, Any

from kr_core.expedition.facts.comparison import ALIKE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kr_core.model.expedition import Axiom
    from kr_core.protocols import Embedder

__all__ = ["alike"]


def alike(
    embedder: Callable[[], Embedder | None], fresh: Sequence[Axiom], known: Iterable[Axiom]
) -> dict[str, Any]:
    """The pairs of ids of axioms whose statements lie near each other, and a note where they could not be compared.

    It may load a model or ask a service; call it off the event loop.

    Args:
        embedder: gives what makes vectors, or None.
        fresh: what was found now; each is compared with the others and with what is known.
        known: what was known before.
    """
    pairs: list[list[str]] = []
    try:
        made = embedder()
        if made is None or not fresh:
            return {"pairs": pairs, "notes": []}
        axioms = list({axiom.id: axiom for axiom in (*fresh, *known)}.values())
        vectors = [_normal(vector) for vector in made.embed([axiom.statement for axiom in axioms])]
        if len(vectors) != len(axioms):
            raise ValueError(f"{len(vectors)} vectors for {len(axioms)} texts")
        new = len({axiom.id for axiom in fresh})
        pairs = [
            [axioms[place].id, axioms[other].id]
            for place in range(new)
            for other in range(place + 1, len(axioms))
            if sum(map(mul, vectors[place], vectors[other])) >= ALIKE
        ]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything; words are compared in any case
        return {"pairs": [], "notes": [f"embedder: {error}; statements are compared by their words alone"]}
    return {"pairs": pairs, "notes": []}


def _normal(vector: Iterable[float]) -> list[float]:
    values = [float(value) for value in vector]
    length = sqrt(sum(value * value for value in values))
    return [value / length for value in values] if length else values
