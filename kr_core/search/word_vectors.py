"""Vectors of texts without a model: the sum of their words', from a table that is shipped with KR.

`tools/train_vectors.py` makes the table; `words.vectors.txt` beside it says of what. A vector has 128 small whole numbers. Plain Python
adds them up all at once, as the digits of one large number, so that numpy is not needed to make a vector.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from array import array
from functools import cache
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["DIMENSIONS", "WordTable", "first_sentence", "nearness", "words_in"]

FILE = Path(__file__).with_name("words.vectors")
DIMENSIONS = 128
_MAGIC = b"KRV1"
_HEAD = struct.Struct("<4sIIII")
"""What it is, the numbers of words, of dimensions and of bytes of the words, and the checksum of all that follows."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\x00-\x7f]+")
_LARGEST_SCALE = 26_000
MAX_WORDS = 640
"""Times 255, times the largest scale: what 32 bits hold; each digit of a sum has as many."""
_LANES = 4 * (DIMENSIONS + 1)
_LIFT = 128
"""What is added to each number of a row in the file, and stands behind it among the digits, so that sums know it."""
_MAX_DIGITS = 20_000
"""Words whose numbers are remembered: about 12 MB."""
_HINT = "install kr-core again"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_LONGEST = 600
"""Characters of a passage in which its first sentence is looked for."""
_MOST_WORDS = 60


def tokens(text: str) -> list[str]:
    """The words of a text, and the parts of its names, in order and as they are written."""
    return _WORD.findall(text)


def words_in(text: str) -> list[str]:
    """The words of a text, and the parts of its names, in order and in lower case."""
    return [word.lower() for word in tokens(text)]


def written(words: Sequence[str], rows: Sequence[Sequence[float]]) -> bytes:
    """A table's file: the words, what each row is to be multiplied by, and the rows as whole numbers from -127 to 127."""
    highs = [max(map(abs, row)) or 1.0 for row in rows]
    unit = max(highs) / _LARGEST_SCALE
    scales = [max(1, round(high / unit)) for high in highs]
    numbers = bytearray()
    for row, high in zip(rows, highs, strict=True):
        numbers += bytes(round(value * 127 / high) + _LIFT for value in row)
    told = "\n".join(words).encode()
    body = told + struct.pack(f"<{len(scales)}H", *scales) + bytes(numbers)
    return _HEAD.pack(_MAGIC, len(words), DIMENSIONS, len(told), zlib.crc32(body)) + body


class WordTable:
    """The table: an embedder that needs nothing but Python.

    Raises:
        StorageError: the file is not there, or damaged.
    """

    def __init__(self, file: Path = FILE) -> None:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise StorageError(f"cannot be read: {error.strerror}", where=str(file), hint=_HINT) from None
        magic, count, dimensions, told, check = (
            _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (b"", 0, 0, 0, 0)
        )
        body = memoryview(data)[_HEAD.size :]
        if (magic, dimensions, len(body)) != (
            _MAGIC,
            DIMENSIONS,
            told + count * (2 + DIMENSIONS),
        ) or zlib.crc32(body) != check:
            raise StorageError("is damaged", where=str(file), hint=_HINT)
        self.identity = f"static/{check:08x}"
        places = {word: place for place, word in enumerate(bytes(body[:told]).decode().split("\n"))}
        scales = struct.unpack_from(f"<{count}H", body, told)
        self._digits = _Digits(places, scales, body[told + 2 * count :])

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of the texts, of length 1; zeros where no word is known."""
        made = []
        for text in texts:
            row = row_of(self.total(tokens(text)[:MAX_WORDS]))
            length = sum(value * value for value in row) ** 0.5 or 1.0
            made.append([value / length for value in row])
        return made

    def total(self, words: Iterable[str]) -> int:
        """The sum of the words' vectors, in any letter case; those of no more than `MAX_WORDS` words may be added up."""
        return sum(map(self._digits.__getitem__, words))


class _Digits(dict[str, int]):
    """Words as they are written, and their vectors as digits; made when they are first asked for."""

    def __init__(self, places: dict[str, int], scales: tuple[int, ...], rows: memoryview) -> None:
        self._places, self._scales, self._rows = places, scales, rows

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_DIGITS:
            self.clear()
        place, made = self._places.get(word.lower()), 0
        if place is not None:
            lanes = array("I", self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS].tolist())
            lanes.append(_LIFT)
            made = int.from_bytes(lanes.tobytes(), sys.byteorder) * self._scales[place]
        self[word] = made
        return made


def row_of(total: int) -> array[int]:
    """A sum of vectors as whole numbers from -127 to 127; zeros where no word was known."""
    sums = array("I")
    sums.frombytes(total.to_bytes(_LANES, sys.byteorder))
    lift = sums.pop()
    high = max(max(sums) - lift, lift - min(sums))
    if high <= 0:
        return array("b", bytes(DIMENSIONS))
    factor = 127 / high
    return array("b", [round((value - lift) * factor) for value in sums])


@cache
def word_table() -> WordTable:
    """The shipped table, read once."""
    return WordTable()


@cache
def readable_table() -> WordTable | None:
    """The same; None where it cannot be read."""
    try:
        return word_table()
    except StorageError:  # `kr docs` says so
        return None


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    return _SENTENCE_END.split(text[:_LONGEST].strip(), maxsplit=1)[0]


def nearness(asked: Iterable[str], texts: Sequence[str], *, whole: bool = False) -> list[float]:
    """The cosines of some words and the first sentences of texts; zeros where the table cannot be read.

    Args:
        asked: the telling words of the question.
        texts: what passages say first.
        whole: whether all of each text counts, not its first sentence alone.
    """
    table = readable_table()
    if table is None:
        return [0.0] * len(texts)
    question = row_of(table.total(tokens(" ".join(asked))[:_MOST_WORDS]))
    said = texts if whole else map(first_sentence, texts)
    rows = (row_of(table.total(tokens(text)[:_MOST_WORDS])) for text in said)
    return [_cosine(question, row) for row in rows]


def _cosine(one: array[int], other: array[int]) -> float:
    lengths = sum(map(mul, one, one)) * sum(map(mul, other, other))
    return sum(map(mul, one, other)) / lengths**0.5 if lengths else 0.0
