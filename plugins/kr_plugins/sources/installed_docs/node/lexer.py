"""The words and marks of a declaration file with their places, its brackets matched and its doc comments beside them."""

from __future__ import annotations

import bisect
import re
import textwrap

from kr_plugins.sources.installed_docs.node import tsdoc

_LEXEME = re.compile(
    r"""(/\*.*?(?:\*/|\Z)|//[^\n]*)                                              # a comment
    |("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)              # a string
    |([\w$\#]+|=>|\.\.\.|[^\s])                                                  # a name, an arrow, a mark""",
    re.DOTALL | re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CLOSES = frozenset(_CLOSING.values())
_FAR = 48
"""So many brackets outwards the one is looked for that a bracket closes."""
_WIDE = 200
"""No indentation is wider; what stands further right follows something else."""


class TokenStream:
    """The words of a text: names, strings, arrows and single marks; comments are none.

    Args:
        text: the file; its lines end with a line feed alone.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.starts: list[int] = []
        self.comments: dict[int, tuple[int, int]] = {}
        """The doc comment that stands right before a word."""
        self.closing: dict[int, int] = {}
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._scan()

    def _scan(self) -> None:
        opened: list[int] = []
        for match in _LEXEME.finditer(self.text):
            if match[1]:
                if match[1].startswith("/**") and len(match[1]) > 4:
                    self.comments[len(self.words)] = match.span()
                continue
            word = match[0]
            if word in _CLOSING:
                opened.append(len(self.words))
            elif word in _CLOSES:
                self._close(word, opened)
            elif word == ";":  # a `<` before it was none that is closed
                while opened and self.words[opened[-1]] == "<":
                    opened.pop()
            self.words.append(word)
            self.starts.append(match.start())

    def _close(self, word: str, opened: list[int]) -> None:
        """Match a closing bracket; those inside it that are never closed belong to what cannot be read."""
        far = 1 if word == ">" else _FAR
        for place in range(len(opened) - 1, max(-1, len(opened) - 1 - far), -1):
            if _CLOSING[self.words[opened[place]]] == word:
                self.closing[opened[place]] = len(self.words)
                del opened[place:]
                return

    # -- places --

    def at(self, number: int) -> str:
        return self.words[number] if 0 <= number < len(self.words) else ""

    def line(self, number: int) -> int:
        return bisect.bisect_left(self._breaks, self.starts[number]) + 1

    def new_line(self, number: int) -> bool:
        """Whether a word is the first of its line."""
        return (
            0 < number < len(self.starts) and "\n" in self.text[self.starts[number - 1] : self.starts[number]]
        )

    def verbatim(self, first: int, last: int) -> str:
        """The text of words from `first` to `last` (not included), dedented, without a `;` at its end."""
        if last <= first:
            return ""
        begin = self.starts[first]
        end = self.starts[last - 1] + len(self.words[last - 1])
        before = bisect.bisect_left(self._breaks, begin)
        margin = begin - (self._breaks[before - 1] + 1 if before else 0)
        block = " " * min(margin, _WIDE) + self.text[begin:end]
        return textwrap.dedent(block).strip().rstrip(";, ").rstrip()

    def jump(self, number: int, end: int) -> int:
        """The word after this one, a bracket taken as a whole."""
        closing = self.closing.get(number)
        return number + 1 if closing is None else min(closing + 1, end)

    def split(self, first: int, end: int, mark: str) -> list[tuple[int, int]]:
        """The pieces between marks, brackets taken as a whole; empty ones left out."""
        pieces, begin, number = [], first, first
        while number < end:
            if self.words[number] == mark:
                pieces.append((begin, number))
                begin = number = number + 1
            else:
                number = self.jump(number, end)
        return [(one, other) for one, other in [*pieces, (begin, end)] if other > one]

    def comment(self, number: int) -> tsdoc.TSDocComment | None:
        span = self.comments.get(number)
        if span is None:
            return None
        line = bisect.bisect_left(self._breaks, span[0]) + 1
        return tsdoc.parse(self.text[span[0] : span[1]], line)
