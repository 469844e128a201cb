"""What a library is called: by its packages and modules, and by users."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.question.spelled_names import BUILTIN_NAMES
from kr_core.question.vocabulary import IMPORTED_AS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W\d]\w*")


class LibraryNames:
    """The names of one library.

    Args:
        names: what the library is called, its top-level modules included.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)
        self._plain = frozenset(_plain(name) for name in names)
        self._tops = frozenset(name.replace("-", "_") for name in names if name.isidentifier() or "-" in name)
        self.is_python = "python" in self._plain

    def __contains__(self, name: str) -> bool:
        """Whether a name is the library's, letter by letter."""
        return name in self._names

    def is_like(self, word: str) -> bool:
        """Whether a word is a name of the library as people vary it."""
        return _plain(word) in self._plain

    def is_root(self, root: str) -> bool:
        """Whether a dotted name that begins so is the library's."""
        return root in self._tops or bool(self.imported_as(root))

    def imported_as(self, root: str) -> str:
        """The library's module that users import under a short name; empty for none."""
        module = IMPORTED_AS.get(root, "")
        return module if module in self._tops else ""

    def is_builtin(self, name: str) -> bool:
        """Whether a name of the standard library needs no import: `open`, which is defined in `io`."""
        return self.is_python and name.removeprefix("io.") in BUILTIN_NAMES

    def is_named_in(self, text: str) -> bool:
        """Whether a text names the library."""
        if any(self.is_like(word) for word in _WORD.findall(text)):
            return True
        spelled = {part for name in self._names if not name.isidentifier() for part in _ways_to_name(name)}
        return any(
            re.search(rf"(?<![\w@/-]){re.escape(one)}(?![\w-])", text, re.IGNORECASE) for one in spelled
        )


def _ways_to_name(name: str) -> Iterator[str]:
    """A library's name that is more than one word, and what else users call a scoped one: `TanStack` for `@tanstack/...`."""
    scope, _slash, rest = name.rpartition("/")
    yield name
    if scope.startswith("@"):
        yield from (scope[1:], rest)


def _plain(name: str) -> str:
    """A library's name as people vary it: `BeautifulSoup`, `beautifulsoup4`."""
    return re.sub(r"[\W_]", "", name.lower()).rstrip("0123456789") or name.lower()
