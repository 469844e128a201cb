"""What is put into the full-text index, and asked of it: words as SQLite's tokenizer takes them."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import filterfalse
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, NamedTuple

from kr_core.text import STOP_WORDS, WEAK_WORDS, content_words, split_identifier, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_TELLING, _WEAK = 3, 2
_LITERAL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[_.]++[A-Za-z0-9]++)++")
"""`use_answer`, `json.dumps`, `3.11`: its parts side by side, even those that say nothing alone."""
_MAX_WORDS = 60
"""A longer question is a text; what it is about stands at its beginning."""
_MAX_LITERALS = 10
_MAX_BESIDE = 1
"""Words beside a name with which it is still looked for as a whole: `subprocess.run timeout`. Chosen on one half of ODEX."""
_DATA = re.compile(r"[A-Za-z0-9+/=]{60}")
_FAR_WORD = 60
"""A longer run of letters is data; its parts say nothing."""


def _table(kinds: dict[bytes, str]) -> bytes:
    """For `bytes.translate`: letters of each kind become one letter, all else a space."""
    table = bytearray(b" " * 256)
    for shown, letters in kinds.items():
        for letter in letters:
            table[ord(letter)] = shown[0]
    return bytes(table)


_CASES = _table({b"a": ascii_lowercase + digits, b"A": ascii_uppercase})
_RUNS = _table({b"x": ascii_letters + digits + "+/="})
_FAR_RUN = b"x" * _FAR_WORD


def searchable(text: str) -> str:
    """A text for the index: stop words left out, the parts of identifiers added, CJK in pairs of characters.

    It is a pure function of the text, since what is taken out of the index must be told again, letter by letter. The
    tokenizer divides at underscores, dots and dashes by itself, folds case and takes stems. Stop words would count in a
    passage's length. A hundred megabytes should take seconds: so letters are translated to their kinds, and looked for
    there, which is ten times as fast as a pattern.
    """
    plain = text.encode("ascii", "replace")  # a letter for a letter: places are the same in both
    if b"?" in plain and not text.isascii() and _CJK.search(text):
        return " ".join(words(text))
    said = filterfalse(STOP_WORDS.__contains__, text.split())  # a third faster than a comprehension
    if _FAR_RUN in plain.translate(_RUNS):
        said = filterfalse(_is_data, said)
    text = " ".join(said)
    cases = text.encode("ascii", "replace").translate(_CASES)
    found = cases.find(b"aA")
    if found < 0:
        return text
    joined: dict[str, None] = {}
    while found >= 0:
        end = cases.find(b" ", found)
        end = end if end >= 0 else len(cases)
        joined[text[cases.rfind(b" ", 0, found) + 1 : end]] = None
        found = cases.find(b"aA", end)
    return f"{text} {' '.join([_parts(word) for word in joined if len(word) <= _FAR_WORD])}"


@lru_cache(65_536)
def _parts(word: str) -> str:
    return " ".join(split_identifier(word))


def _is_data(word: str) -> bool:
    """Whether a long word is no text: a key, a picture, a checksum."""
    return (
        len(word) >= _FAR_WORD and _DATA.search(word) is not None and not (word.islower() or word.isalpha())
    )


class QueryWords(NamedTuple):
    """The words of a question."""

    words: tuple[str, ...]
    """Each once, in order."""
    telling: int
    """How many of them are no everyday words."""
    literals: tuple[str, ...] = ()
    """Names of several parts, as they were written, where at most one word more is asked for."""

    def query(self, times: int = 1, more: Sequence[str] = ()) -> str:
        """As FTS5 reads it. A word that stands there more often weighs more: everyday ones two thirds, `more` the least."""
        weighed = [
            f'"{word}"'
            for word in self.words
            for _ in range(times * (_WEAK if word in WEAK_WORDS else _TELLING))
        ]
        literals = [f'"{literal}"' for literal in self.literals for _ in range(times * _TELLING)]
        return " OR ".join([*weighed, *literals, *(f'"{word}"' for word in more)])


def asked(question: str) -> QueryWords:
    """The words of a question that say what it is about."""
    found = content_words(question)[:_MAX_WORDS]
    literals = tuple(dict.fromkeys(_LITERAL.findall(question)))[:_MAX_LITERALS]
    beside = set(found) - set(words(" ".join(literals)))
    if len(beside) > _MAX_BESIDE:  # those in a longer question are mostly of the asker's own data
        literals = ()
    return QueryWords(tuple(found), sum(word not in WEAK_WORDS for word in found), literals)
