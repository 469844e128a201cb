"""What an embedder must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Embedder"]


class Embedder(Protocol):
    """Makes vectors of texts: those that mean the same lie near each other."""

    identity: str
    """The model, and whatever else the vectors depend on: vectors are kept under it, and never compared with others."""

    def embed(self, texts: Sequence[str]) -> Any:
        """The vectors of texts, in their order: an array [n, d] of float32, or as many sequences of d numbers.

        Raises:
            RequestError: the model is a service that does not answer.
        """
