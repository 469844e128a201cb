"""What every embedder keeps to (`kr_core.plugin.Embedder`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from kr_core.testing.checks import raises_nothing
from kr_core.testing.plugin_contract import PluginContract
from kr_core.testing.samples import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TEXTS = (
    "Pass a number of seconds as the timeout of a parcel.",
    "A parcel is given up after the timeout, in seconds.",
    "The swallow flies south in autumn.",
)
_CLOSE = 1e-3
"""By how much numbers may differ that should be the same: texts may be computed together."""


class EmbedderContract(PluginContract):
    """The rules for embedders, tested with short, long and hostile texts."""

    noun = "embedder"

    def test_it_has_an_identity(self, project: Path) -> None:
        """The embedder has a name, under which KR stores its vectors."""
        identity = self.build(project).identity
        assert isinstance(identity, str), "`identity` is no text; set it to the model's name"
        assert identity.strip(), "`identity` is empty; set it to the model's name: vectors are kept under it"

    def test_each_text_has_its_vector(self, project: Path) -> None:
        """Each text has a vector, in order; all have one length, and finite numbers that are not all zero."""
        embedder = self.build(project)
        vectors = self._vectors(embedder, _TEXTS)
        assert len({len(vector) for vector in vectors}) == 1, (
            "the vectors have different lengths; they cannot be compared"
        )
        for text, vector in zip(_TEXTS, vectors, strict=True):
            assert all(map(math.isfinite, vector)), f"the vector of {text!r} holds what is no finite number"
            assert any(vector), f"the vector of {text!r} is all zero; it is near nothing"
            (alone,) = self._vectors(embedder, [text])
            assert _near(alone, vector), (
                f"{text!r} has another vector by itself than among others; return the vectors in the order of the texts, "
                "and let each depend on its text alone"
            )

    def test_the_same_text_has_the_same_vector(self, project: Path) -> None:
        """A text has the same vector in this process and the next, because KR stores vectors."""
        first, again = (self._vectors(self.build(project), _TEXTS) for _ in range(2))
        assert all(_near(one, other) for one, other in zip(first, again, strict=True)), (
            "the same text was given another vector the second time; let it depend on the text and the model alone "
            "(`hash()` of a text differs from process to process)"
        )

    def test_what_means_the_same_is_near(self, project: Path) -> None:
        """Two texts about the same thing are closer to each other than to a third about something else."""
        one, other, third = self._vectors(self.build(project), _TEXTS)
        assert _cosine(one, other) > _cosine(one, third), (
            "two texts about a parcel's timeout are no nearer to each other than to one about swallows; vectors are compared "
            "by their cosine"
        )

    def test_no_text_has_no_vector(self, project: Path) -> None:
        """An empty list of texts gives an empty list of vectors."""
        assert len(self._made(self.build(project), [])) == 0, "without texts there are vectors; return none"

    @pytest.mark.parametrize("kind", HOSTILE)
    def test_any_text_has_a_vector(self, project: Path, kind: str) -> None:
        """Any text has a vector, because documents may contain anything."""
        embedder = self.build(project)
        (usual, strange) = self._vectors(embedder, [_TEXTS[0], HOSTILE[kind]])
        assert len(usual) == len(strange), f"the vector of a hostile text ({kind}) has another length"
        assert all(map(math.isfinite, strange)), (
            f"the vector of a hostile text ({kind}) holds no finite numbers"
        )

    def _made(self, embedder: Any, texts: Sequence[str]) -> Any:
        shown = [text[:60] for text in texts]
        with raises_nothing("the embedder", "every text has a vector", f"for {shown!r}"):
            return embedder.embed(texts)

    def _vectors(self, embedder: Any, texts: Sequence[str]) -> list[list[float]]:
        made = self._made(embedder, texts)
        assert len(made) == len(texts), (
            f"there are {len(made)} vectors for {len(texts)} texts; return one for each, in their order"
        )
        return [[float(value) for value in vector] for vector in made]


def _near(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(abs(a - b) <= _CLOSE for a, b in zip(one, other, strict=True))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other) or 1.0)
