"""The names of a question, as a library's index lets them be read: which are its own, and what stands behind them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from kr_core.question.question_names import BUILTIN_NAMES, Identifier, Role
from kr_core.question.vocabulary import NOT_LIBRARIES
from kr_core.search.name_lookup import spelled_level
from kr_core.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kr_core.question.parsed_question import ParsedQuestion, QuestionKind
    from kr_core.search.name_lookup import LibraryNames, NameEntry, NameLookup

MOST_WORDS = 40
MOST_JOINED = 3
"""Words that may spell one name together."""
DOCUMENTED = 4.9
"""Below this standing a name is not public, or not documented."""
_ABOUT_MEMBERS = frozenset({"meaning", "yes_no", "difference"})
"""Kinds of questions in which a word behind a class is a member rather than a parameter."""
_BEGINNING = 6
"""Letters of a word with which a longer name may begin."""
_WORD = re.compile(r"[^\W\d]\w*")
_RUN = re.compile(r"(?=(?<!\w)(\w*) ([^\W\d][\w-]*) ([^\W\d]\w{2,})(?![\w.]))")
"""A word, and the two words behind it."""
_OWNED = re.compile(r"(?<![\w.-])([^\W\d][\w-]*+)['\u2019]s @?([^\W\d]\w{2,})(?![\w.'\u2019-])")
"""A name with `'s`, and the word behind it."""
_NO_CALL = frozenset(
    """make let have get help a an the my our your this that each every any some one""".split()
)
"""Behind these the word behind the library is what it is to do, or a thing: "make numpy load a file", "from a click command"."""


class Resolved(NamedTuple):
    """A name of the question, and what it means in the index."""

    identifier: Identifier
    entry: NameEntry


class AskedNames:
    """The names of one question.

    Args:
        lookup: where names are looked up.
        library: what the library is called.
        parsed: the question.
        modules: top-level modules that the question names.
    """

    def __init__(
        self, lookup: NameLookup, library: LibraryNames, parsed: ParsedQuestion, modules: Sequence[str] = ()
    ) -> None:
        self._lookup = lookup
        self._library = library
        self._modules = frozenset(modules)
        self.kind: QuestionKind = parsed.kind
        is_whether = parsed.kind == "yes_no" and "default" in parsed.kinds
        self.value_asked = is_whether or parsed.kind in {"default", "options"}
        self.text = parsed.asking
        self.whole = parsed.text
        self.text_words = _WORD.findall(self.text)
        names = [self._role(self._with_member(self._joined(one))) for one in parsed.identifiers]
        if self.value_asked and all(one.role == "ignored" or self.is_library(one) for one in names):
            names += self._spelled_in_words()
        behind = self._behind_library()
        names = [*(one for one in names if one.name not in {each.last for each in behind}), *behind]
        self.names = [one for one in names if one.role != "ignored"]
        self.spelled = frozenset(part for one in self.names for part in one.name.split("."))
        said = (*self.text_words, *self.spelled)
        self._words = frozenset(word.lower() for word in said if not library.is_like(word))

    def is_foreign(self, one: Identifier) -> bool:
        """Whether a name belongs to another module (`os.remove`) or to the language."""
        root = one.name.partition(".")[0]
        if self._library.is_python or self._library.is_root(root):
            return False
        if "." not in one.name:
            return one.name in BUILTIN_NAMES and one.role != "subject"
        if root not in sys.stdlib_module_names and root not in BUILTIN_NAMES:
            return False
        return not any(
            spelled_level(entry, one.name.split("."), strong=False) for entry in self._lookup.named(one.last)
        )

    def is_library(self, one: Identifier) -> bool:
        """Whether a name is the library's own; a class that is called so is meant only beside another."""
        if "." in one.name or not self._library.is_like(one.name):
            return False
        return self.kind != "difference" or one.name in self._library

    def is_in_message(self, one: Identifier) -> bool:
        return bool(
            re.search(
                rf"(?:no attribute|argument:?|import name|member) ['\"`]{re.escape(one.name)}['\"`]",
                self.text,
            )
        )

    def owner_named(self, entry: NameEntry) -> int:
        """How much of a name's owner the question says; what is at the top of a library also lies where it is defined: `websockets.serve` in `asyncio.server`."""
        names = [entry.name]
        if entry.name.count(".") == 1:
            names += [name.partition("(")[0] for name in self._lookup.passage(entry).data.get("aliases", ())]
        return max(map(self._owner_said, names))

    def _owner_said(self, name: str) -> int:
        *rest, last = name.split(".")
        top, *owners = rest or [""]
        if top and not (self._library.is_python or self._library.is_root(top)):
            owners = rest  # `debounce.leading`: names of an npm package do not begin with the package's own
        said = sum(2 if owner in self.spelled else self._says(owner) for owner in owners if owner != last)
        return said + (top in self._modules)

    def _says(self, owner: str) -> bool:
        """Whether the question says the name of a module or class, or how it begins: "postgres" for `postgresql`."""
        word = owner.lower()
        return word in self._words or any(
            len(one) >= _BEGINNING and word.startswith(one) for one in self._words
        )

    def taker_named(self, entry: NameEntry) -> int:
        """How much of what takes a parameter the question says."""
        taker = entry.name.rpartition(".")[2].lower()
        return self.owner_named(entry) + (taker in self._words and taker != entry.parameter.lower())

    # -- roles that need the library --

    def _joined(self, one: Identifier) -> Identifier:
        """A plain word with those behind it, where they spell a parameter together: `pool_size` for "the default pool size"."""
        if one.form != "weak" or not one.name.isidentifier():
            return one
        words = self.text_words
        places = [place for place, word in enumerate(words) if word == one.name]
        found = (self._together(words[place:]) for place in places[:MOST_JOINED])
        return one._replace(name=next(filter(None, found), one.name))

    def _with_member(self, one: Identifier) -> Identifier:
        """A class with the plain word behind it, if that is a documented member: `CancelScope.shield` for "CancelScope shield"."""
        if self.kind not in _ABOUT_MEMBERS or not one.last[:1].isupper() or one.place != "prose":
            return one
        behind = re.search(rf"(?<!\w){re.escape(one.name)}[`'\"]?(?:'s)?\s++[`'\"]?([a-z_]\w*+)", self.text)
        word = behind[1] if behind else ""
        is_member = word not in STOP_WORDS and any(
            each.standing >= DOCUMENTED
            and not each.parameter
            and f".{each.name}".endswith(f".{one.last}.{word}")
            for each in (self._lookup.named(word) if word else ())
        )
        return one._replace(name=f"{one.name}.{word}") if is_member else one

    def _behind_library(self) -> list[Identifier]:
        """The library with the word behind it, if that is a function or class of its top: `humanize.naturalsize` for "humanize naturalsize"."""
        for before, library, word in _RUN.findall(f" {self.text}"):
            # "httpx request hooks" are no call of `httpx.request`
            is_plain = before.lower() in _NO_CALL or word in NOT_LIBRARIES
            if (
                (is_plain and word.islower())
                or word.lower() in STOP_WORDS
                or not self._library.is_like(library)
            ):
                continue
            role: Role = "context" if self.kind in {"how_to", "error"} else "subject"
            for name in self._at_top(word):
                return [Identifier(name, "dotted", "prose", role)]
        return self._of_library() if self.kind in {"meaning", "default"} else []

    def _of_library(self) -> list[Identifier]:
        """A plain word that the question calls the library's, if that is a function or class of its top: "tenacity's @retry"."""
        for library, word in _OWNED.findall(self.text):
            for name in self._at_top(word) if self._library.is_like(library) else ():
                return [Identifier(name, "dotted", "prose", "subject")]
        return []

    def _at_top(self, word: str) -> Iterator[str]:
        """The documented functions and classes at the top of the library that a word names."""
        for each in self._lookup.named(word):
            top, _dot, last = each.name.partition(".")
            is_public = each.standing >= DOCUMENTED and not each.parameter
            if last == word and self._library.is_root(top) and is_public:
                yield each.name

    def _spelled_in_words(self) -> list[Identifier]:
        """A parameter that several plain words spell, where a question for a value names nothing: "max keepalive connections"."""
        words = self.text_words[:MOST_WORDS]
        found = (self._together(words[place:]) for place in range(len(words)))
        return [Identifier(name, "weak", "prose", "subject") for name in filter(None, found)][:1]

    def _together(self, words: Sequence[str]) -> str:
        """The longest name of a parameter that the first of some words spell together; empty where there is none."""
        for length in range(min(MOST_JOINED, len(words)), 1, -1):
            name = "_".join(words[:length]).lower()
            if any(each.parameter == name for each in self._lookup.named(name)):
                return name
        return ""

    def _role(self, one: Identifier) -> Identifier:
        if self.is_library(one):
            return one._replace(role="context" if not self._library.is_python else "ignored")
        if self._library.is_python and one.name in BUILTIN_NAMES and one.form in {"code", "call"}:
            is_asked = self.kind not in {"how_to", "error"} and one.place == "prose"
            return one._replace(role="subject" if is_asked else "context")
        return one._replace(role="ignored") if self.is_foreign(one) else one
