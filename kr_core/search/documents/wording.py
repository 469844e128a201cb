"""What is put into the full-text index, and asked of it: words as SQLite's tokenizer takes them."""

from __future__ import annotations

import re

from kr_core.text import STOP_WORDS, content_words, split_identifier, words

_CAMEL = re.compile(r"[a-z][A-Z]")
_CAMEL_WORD = re.compile(r"[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_FAR_WORD = 60
"""A longer run of letters is data; its parts say nothing."""


def searchable(text: str) -> str:
    """A text for the index: stop words left out, the parts of identifiers added, CJK in pairs of characters.

    It is a pure function of the text, since what is taken out of the index must be told again, letter by letter. The
    tokenizer divides at underscores, dots and dashes by itself, folds case and takes stems. Done word by word for ASCII
    only where it must be: a hundred megabytes should take seconds.
    """
    if not text.isascii() and _CJK.search(text):
        return " ".join(words(text))
    kept = " ".join([word for word in text.split() if word not in STOP_WORDS])
    if _CAMEL.search(kept) is None:
        return kept
    parts = [
        part
        for word in dict.fromkeys(_CAMEL_WORD.findall(kept))
        if len(word) <= _FAR_WORD
        for part in split_identifier(word)
    ]
    return f"{kept} {' '.join(parts)}"


def asked(question: str) -> list[str]:
    """The words of a question that say what it is about, each once."""
    return content_words(question)
