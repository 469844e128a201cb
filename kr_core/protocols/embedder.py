"""What an embedder must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Turns texts into vectors; texts with the same meaning have vectors close to each other."""

    identity: str
    """The model and everything else that the vectors depend on. KR stores vectors under it, and never compares them
    with others.
    """

    def embed(self, texts: Sequence[str]) -> Any:
        """The vectors of the texts, in order: an array [n, d] of float32, or n sequences of d numbers.

        Raises:
            RequestError: the model's service does not answer.
        """
