"""What is put into the full-text index, and asked of it: words as SQLite's tokenizer takes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS, WEAK_WORDS, content_words, split_identifier, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_CAMEL = re.compile(r"(?<![A-Za-z0-9])[A-Z]*+[a-z0-9]++[A-Z][A-Za-z0-9]*+")
"""A word in which a capital follows a small letter; nothing of it is looked at twice."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_parts = lru_cache(65_536)(split_identifier)
_TELLING, _WEAK = 3, 2
_MOST_WORDS = 60
"""A longer question is a text; what it is about stands at its beginning."""
_DATA = re.compile(r"[A-Za-z0-9+/=]{60}")
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
    split = text.split()
    if max(map(len, split), default=0) >= _FAR_WORD:
        split = [word for word in split if len(word) < _FAR_WORD or not _is_data(word)]
    kept = " ".join([word for word in split if word not in STOP_WORDS])
    joined = _CAMEL.findall(" ".join([word for word in split if not word.islower()]))
    if not joined:
        return kept
    parts = [part for word in dict.fromkeys(joined) if len(word) <= _FAR_WORD for part in _parts(word)]
    return f"{kept} {' '.join(parts)}"


def _is_data(word: str) -> bool:
    """Whether a long word is no text: a key, a picture, a checksum."""
    return _DATA.search(word) is not None and not (word.islower() or word.isalpha())


class Asked(NamedTuple):
    """The words of a question."""

    words: tuple[str, ...]
    """Each once, in order."""
    telling: int
    """How many of them are no everyday words."""

    def query(self, times: int = 1, more: Sequence[str] = ()) -> str:
        """As FTS5 reads it. A word that stands there more often weighs more: everyday ones two thirds, `more` the least."""
        weighed = [
            f'"{word}"'
            for word in self.words
            for _ in range(times * (_WEAK if word in WEAK_WORDS else _TELLING))
        ]
        return " OR ".join([*weighed, *(f'"{word}"' for word in more)])


def asked(question: str) -> Asked:
    """The words of a question that say what it is about."""
    found = content_words(question)[:_MOST_WORDS]
    return Asked(tuple(found), sum(word not in WEAK_WORDS for word in found))
