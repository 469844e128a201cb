"""A model of the form of all-MiniLM-L6-v2 with weights by chance: what is computed is right or wrong, not wise."""

from __future__ import annotations

import json
import string
from functools import cache

import numpy as np
from safetensors.numpy import save

_SIZE, _WIDE = 384, 1536


def make_model(folder):
    """Write `model.safetensors` and `tokenizer.json`, some 40 MB; they are made once."""
    folder.mkdir(parents=True)
    tokenizer, tensors = _model()
    (folder / "tokenizer.json").write_text(tokenizer, "utf-8")
    (folder / "model.safetensors").write_bytes(tensors)


@cache
def _model():
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "parcel", "timeout", "seconds", "swallow", "autumn", "given", "up", "after",
             "the", "a", "of", "in", "as", "pass", "number", "south", "flies", "is", *string.punctuation, *string.ascii_lowercase,
             *(f"##{letter}" for letter in string.ascii_lowercase)]  # fmt: skip
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate(dict.fromkeys(words))},
        },
    }  # fmt: skip
    chance = np.random.default_rng(7)

    def weights(*shape):
        return (chance.standard_normal(shape) * 0.05).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": weights(len(words), _SIZE) * 20,
        "embeddings.position_embeddings.weight": weights(512, _SIZE),
        "embeddings.token_type_embeddings.weight": weights(2, _SIZE),
    }
    linear = {"attention.self.query": (_SIZE, _SIZE), "attention.self.key": (_SIZE, _SIZE), "attention.self.value": (_SIZE, _SIZE),
              "attention.output.dense": (_SIZE, _SIZE), "intermediate.dense": (_WIDE, _SIZE), "output.dense": (_SIZE, _WIDE)}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
        for name, (wide, narrow) in linear.items():
            tensors |= {f"{at}.{name}.weight": weights(wide, narrow), f"{at}.{name}.bias": weights(wide)}
    for name in norms:
        tensors |= {f"{name}.weight": np.ones(_SIZE, np.float32), f"{name}.bias": weights(_SIZE)}
    return json.dumps(tokenizer), save(tensors)
