"""The local index: passages in SQLite, found by FTS5 (BM25, Porter stems, identifiers split).

What the index holds: passages with the words by which they are found.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tempfile
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.search.name_lookup import NameEntry, NameTable
from kr_core.text import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class IndexedPassage(NamedTuple):
    """A passage as the index stores and returns it.

    `name` (what a reader would call the passage) and `lead` (its first paragraph) weigh more than `text`. `prose`
    replaces `text` in the search if `text` contains noise. `words` are further search words that do not occur in the
    passage. `prior` (0-1) says how likely users are to ask for it: public before private, documented before
    undocumented. `data` belongs to the source: JSON values that come back with the passage; `also` in it (other names)
    and `needed` (a parameter without default) help to rank symbols; `body` is the line at which a function's code
    begins. A passage of kind `message` (what an error says),
    `setting` (code that reads one) or `requirements` (of a distribution) is not searched: `PassageIndex.unsearched`
    returns it.
    """

    kind: str
    title: str
    text: str
    locator: str
    symbol: str | None = None
    parameter: str | None = None
    name: str = ""
    lead: str = ""
    code: tuple[str, ...] = ()
    words: str = ""
    prior: float = 1.0
    data: dict[str, Any] = {}  # noqa: RUF012  never changed; NamedTuple has no default factory
    prose: str | None = None

    @property
    def documentation(self) -> str:
        """The text without a function's code, which speaks of more than the function does."""
        body = self.data.get("body")
        return self.text if body is None else "\n".join(self.text.split("\n")[:body])


FORMAT = 6
"""Incremented whenever the tables change; KR rebuilds an index of another format."""

_TABLES = """
create table passages (
    id integer primary key, kind text not null, title text not null, symbol text, parameter text,
    locator text not null, text text not null, name text not null, lead text not null, code text not null,
    words text not null, prior real not null, data text not null
);
create virtual table postings using fts5(
    name, lead, body, words, code, content='', tokenize='porter unicode61 remove_diacritics 2'
);
create virtual table vocabulary using fts5vocab(postings, instance);
create table names (
    word text not null, name text not null, parameter text not null, own integer not null, standing real not null,
    passage integer not null
);
create table meta (key text primary key, value text not null);
"""
_COLUMNS = "kind, title, text, locator, symbol, parameter, name, lead, code, words, prior, data"
_LETTERS = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
)
"""Latin letters that are no letter with an accent: SQLite's stemmer, which counts bytes, would take each for two."""
_FIELDS = ("name", "lead", "body", "words", "code")
_FIELD_WEIGHTS = (6.0, 3.0, 1.0, 0.6, 0.6)
"""BM25 weights of name, lead, body, words and code."""


_MOST_NAMED = 2_000
_MOST_SPOKEN, _CLEARLY = 60, 1.5
"""How many passages KR counts for a name, and how much more often than the first one it must occur."""
_NOT_SEARCHED = frozenset({"message", "setting", "requirements"})


class Hit(NamedTuple):
    """A passage and its number."""

    id: int
    passage: IndexedPassage


class PassageIndex:
    """A read-only index, made by `build_index`. Any thread may use it, but one at a time.

    Raises:
        sqlite3.DatabaseError: the file is not an index.
    """

    def __init__(self, path: Path | None, connection: sqlite3.Connection | None = None) -> None:
        if connection is None:
            assert path is not None
            connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
        connection.execute("pragma trusted_schema=off")
        self._connection = connection
        self.meta = dict(connection.execute("select key, value from meta"))
        if self.meta.get("format") != str(FORMAT):
            raise sqlite3.DatabaseError("an index of another format")
        self.size = int(self.meta["size"])
        self._postings: dict[str, list[tuple[int, str]]] = {}
        self._priors: dict[int, float] = {}

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def postings(self, root: str) -> list[tuple[int, str]]:
        """Where a stem, or a version number's parts side by side, occurs: (passage, field), with the field name, lead, body, words or code."""
        if not root.isascii():
            root = stem(_folded(root))
        if root not in self._postings and " " in root and root.replace(" ", "").isdigit():
            self._postings[root] = [
                (int(number), field)
                for field in _FIELDS
                for (number,) in self._connection.execute(
                    "select rowid from postings where postings match ?", (f'{field} : "{root}"',)
                )
            ]
        elif root not in self._postings:
            self._postings[root] = self._connection.execute(
                "select distinct doc, col from vocabulary where term = ?", (root,)
            ).fetchall()
        return self._postings[root]

    def names(self, root: str) -> bool:
        """Whether a stem occurs in any passage's name."""
        return any(field == "name" for _number, field in self.postings(root))

    def priors(self) -> dict[int, float]:
        """The prior of each passage."""
        if not self._priors:
            self._priors = dict(self._connection.execute("select id, prior from passages"))
        return self._priors

    def bm25(self, query: Sequence[str]) -> dict[int, float]:
        """The BM25 score of each passage that contains any of the words; larger is better."""
        parts = _parts(query)
        if not parts:
            return {}
        weights = ", ".join(str(weight) for weight in _FIELD_WEIGHTS)
        rows = self._connection.execute(
            f"select rowid, -bm25(postings, {weights}) from postings where postings match ?",
            (" OR ".join(map(_quoted, parts)),),
        )
        return {int(number): float(score) for number, score in rows}

    def get(self, numbers: Sequence[int]) -> list[Hit]:
        """The passages with these numbers, in order."""
        return [Hit(number, passage) for number, passage in self._by_id(numbers)]

    def by_symbol(self, symbol: str, parameter: str | None = None) -> list[Hit]:
        """The passages about a symbol itself, or about one of its parameters."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where symbol = ? and parameter is ?",
            (symbol, parameter),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def named(self, word: str) -> list[NameEntry]:
        """The public names and parameters whose last part is this word, however it is capitalised."""
        rows = self._connection.execute(
            "select name, parameter, own, standing, passage from names where word = ? limit ?",
            (word.lower(), _MOST_NAMED),
        )
        return [
            NameEntry(str(name), str(parameter), bool(own), float(standing), int(passage))
            for name, parameter, own, standing, passage in rows
        ]

    def affixed(self, part: str) -> list[NameEntry]:
        """The public names, parameters aside, whose last part begins or ends with a part."""
        rows = self._connection.execute(
            "select name, parameter, own, standing, passage from names where parameter = '' and (substr(word, 1, ?) = ? or substr(word, ?) = ?) limit ?",
            (len(part), part.lower(), -len(part), part.lower(), _MOST_NAMED),
        )
        return [
            NameEntry(str(name), str(parameter), bool(own), float(standing), int(passage))
            for name, parameter, own, standing, passage in rows
        ]

    def public_names(self, least: float) -> list[NameEntry]:
        """The names under which symbols are known first and that have at least this standing, parameters aside."""
        rows = self._connection.execute(
            "select name, parameter, own, standing, passage from names where parameter = '' and own and standing >= ?",
            (least,),
        )
        return [
            NameEntry(str(name), str(parameter), bool(own), float(standing), int(passage))
            for name, parameter, own, standing, passage in rows
        ]

    def files(self) -> list[str]:
        """The files that define symbols."""
        rows = self._connection.execute(
            "select distinct rtrim(rtrim(locator, '0123456789'), ':') from passages where kind = 'symbol' and parameter is null"
        )
        return [str(file) for (file,) in rows if file]

    def modules(self) -> list[Hit]:
        """The beginnings of the docstrings of modules."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where kind = 'section' and instr(title, ' ') = 0 and instr(title, '.') > 0"
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def defined_in(self, file: str, most: int) -> list[Hit]:
        """The symbols that a file defines."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where kind = 'symbol' and substr(locator, 1, ?) = ? limit ?",
            (len(file) + 1, f"{file}:", most),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def with_text(self, parts: Sequence[str], most: int) -> list[Hit]:
        """The passages whose text has one of these parts, letter by letter except for capitals."""
        if not parts:
            return []
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where {' or '.join(['instr(lower(text), ?)'] * len(parts))} order by id limit ?",
            (*(part.lower() for part in parts), most),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def deprecated(self, most: int) -> list[Hit]:
        """The public symbols and parameters that say of themselves that they are deprecated."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where json_extract(data, '$.deprecated') is not null"
            " and json_extract(data, '$.public') is not 0 order by prior desc limit ?",
            (most,),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def headings(self) -> list[tuple[int, str, str]]:
        """The numbers, titles and files of all sections, in their order."""
        rows = self._connection.execute(
            "select id, title, rtrim(rtrim(locator, '0123456789'), ':') from passages where kind in ('section', 'page') order by id"
        )
        return [(int(number), str(title), str(file)) for number, title, file in rows]

    def below_heading(self, heading: str, most: int) -> list[Hit]:
        """The sections whose titles go on after a heading, and the section itself."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where kind in ('section', 'page') and (title = ? or substr(title, 1, ?) = ?) order by id limit ?",
            (heading, len(heading) + 3, f"{heading} § ", most),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def like_words(self, word: str, most: int) -> list[str]:
        """The last parts of names that have about the length of a word and begin or end as it does."""
        word = word.lower()
        margin = max(2, len(word) // 3)
        rows = self._connection.execute(
            "select distinct word from names where length(word) between ? and ? and (substr(word, 1, 2) = ? or substr(word, -3) = ? or instr(word, ?)) limit ?",
            (len(word) // 2, len(word) + 2 * margin, word[:2], word[-3:], word[1:-1], most),
        )
        return [str(found) for (found,) in rows]

    def saying(self, phrase: str, most: int) -> list[Hit]:
        """The passages that hold the words of a name side by side."""
        return self.get(self._saying(phrase, most))

    def _saying(self, phrase: str, most: int) -> list[int]:
        parts = words(_folded(phrase))
        if not parts:
            return []
        rows = self._connection.execute(
            "select rowid from postings where postings match ? limit ?",
            ('"' + " ".join(part.replace('"', '""') for part in parts) + '"', most),
        )
        return [int(row[0]) for row in rows]

    def most_spoken_of(self, symbols: Sequence[str]) -> str:
        """The one of several members that passages name most often with its owner; the first, unless another is clearly ahead."""
        counted = {
            symbol: len(self._saying(" ".join(symbol.split(".")[-2:]), _MOST_SPOKEN)) for symbol in symbols
        }
        first, most = symbols[0], max(counted, key=lambda each: counted[each])
        return most if counted[most] >= _CLEARLY * (1 + counted[first]) else first

    def unsearched(self, kind: str) -> list[IndexedPassage]:
        """The passages of a kind that no search finds; the name of a setting leads to its own."""
        rows = self._connection.execute(
            f"select {_COLUMNS} from passages where kind = ? order by id", (kind,)
        )
        return [_passage(row) for row in rows]

    def parameters_of(self, symbol: str) -> list[Hit]:
        """The passages about the parameters of a symbol."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where symbol = ? and parameter is not null",
            (symbol,),
        ).fetchall()
        return [Hit(int(row[0]), _passage(row[1:])) for row in rows]

    def members_of(self, symbol: str, most: int) -> list[Hit]:
        """The passages about the methods and attributes of a class."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where symbol > ? and symbol < ? and parameter is null limit ?",
            (f"{symbol}.", f"{symbol}/", most),
        ).fetchall()
        hits = [Hit(int(row[0]), _passage(row[1:])) for row in rows]
        return [hit for hit in hits if "." not in (hit.passage.symbol or "")[len(symbol) + 1 :]]

    def subclasses_of(self, name: str, most: int) -> list[Hit]:
        """The passages about the classes whose definition names a class as a base."""
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where kind = 'symbol' and text like ? limit ?",
            (f"class %({'%'}{name}%", most),
        ).fetchall()
        base = re.compile(rf"class \w+(?:\[[^\]]*\])?\([^)]*(?<!\w){re.escape(name)}(?!\w)")
        hits = [Hit(int(row[0]), _passage(row[1:])) for row in rows]
        return [hit for hit in hits if base.match(hit.passage.text)]

    def with_code(self, identifiers: Sequence[str], limit: int = 30) -> list[Hit]:
        """Passages whose code examples contain all of the identifiers, the most specific first."""
        parts = _parts(identifiers)
        if not parts:
            return []
        query = " AND ".join(map(_quoted, parts))
        rows = self._connection.execute(
            "select rowid, bm25(postings) from postings where postings match ? order by 2 limit ?",
            (f"code : ({query})", limit),
        ).fetchall()
        return [Hit(number, passage) for number, passage in self._by_id(int(row[0]) for row in rows)]

    def _by_id(self, numbers: Iterable[int]) -> list[tuple[int, IndexedPassage]]:
        wanted = list(numbers)
        marks = ",".join("?" * len(wanted))
        rows = self._connection.execute(
            f"select id, {_COLUMNS} from passages where id in ({marks})",
            wanted,
        ).fetchall()
        found = {int(row[0]): _passage(row[1:]) for row in rows}
        return [(number, found[number]) for number in wanted]


def build(
    path: Path | None, passages: Iterable[IndexedPassage], meta: dict[str, str] | None = None
) -> PassageIndex:
    """Build an index, in one file that appears complete or not at all, or in memory if `path` is None.

    Raises:
        OSError: the folder cannot be written.
        sqlite3.Error: the index cannot be written, for example because the disk is full.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        _fill(connection, passages, meta or {})
        return PassageIndex(None, connection)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:60]}.", suffix=".tmp")
    os.close(handle)
    try:
        connection = sqlite3.connect(name, isolation_level=None)
        try:
            # Durability comes from the rename: a build that dies leaves only a temporary file behind.
            connection.execute("pragma journal_mode=off")
            connection.execute("pragma synchronous=off")
            _fill(connection, passages, meta or {})
        finally:
            connection.close()
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return PassageIndex(path)


def _fill(connection: sqlite3.Connection, passages: Iterable[IndexedPassage], meta: dict[str, str]) -> None:
    connection.executescript(_TABLES)
    connection.execute("begin")
    size = 0
    names = NameTable()
    for number, passage in enumerate(passages, start=1):
        try:
            _insert(connection, number, passage)
            names.add(number, passage)
        except (
            UnicodeEncodeError
        ):  # a string literal of code may spell half of a surrogate pair, which no file can hold
            readable = IndexedPassage(*map(_replaced, passage))
            _insert(connection, number, readable)
            names.add(number, readable)
        size += passage.kind not in _NOT_SEARCHED
    connection.execute("create index passages_symbol on passages (symbol, parameter)")
    connection.executemany("insert into names values (?,?,?,?,?,?)", names.rows())
    connection.execute("create index names_word on names (word)")
    connection.executemany(
        "insert into meta values (?, ?)", [*meta.items(), ("format", str(FORMAT)), ("size", str(size))]
    )
    connection.execute("commit")


def _insert(connection: sqlite3.Connection, number: int, passage: IndexedPassage) -> None:
    connection.execute(
        f"insert or replace into passages (id, {_COLUMNS}) values (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            number,
            *passage[:8],
            json.dumps(passage.code, ensure_ascii=False),
            passage.words,
            passage.prior,
            json.dumps(passage.data, ensure_ascii=False),
        ),
    )
    if passage.kind in _NOT_SEARCHED:
        return
    connection.execute(
        "insert into postings (rowid, name, lead, body, words, code) values (?,?,?,?,?,?)",
        (
            number,
            searchable(passage.name),
            searchable(passage.lead),
            searchable(passage.text if passage.prose is None else passage.prose),
            searchable(passage.words),
            searchable("\n".join(passage.code)),
        ),
    )


def _replaced(value: Any) -> Any:
    """A value whose texts have a question mark for each lone surrogate."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return type(value)(map(_replaced, value))
    if isinstance(value, dict):
        return {_replaced(key): _replaced(one) for key, one in value.items()}
    return value


def searchable(text: str) -> str:
    """A text as the tokenizer should see it: lower-case words with the parts of identifiers added."""
    return " ".join(words(_folded(text)))


def _folded(text: str) -> str:
    """A text without accents, and without characters that SQLite does not count among letters and digits.

    Its tokenizer knows Unicode 6.1; all that Unicode 3.2 calls a letter is one there too.
    """
    if text.isascii():
        return text
    plain = "".join(
        c for c in unicodedata.normalize("NFD", text.translate(_LETTERS)) if not "\u0300" <= c <= "\u036f"
    )
    return "".join(
        c if c.isascii() or c == "’" or unicodedata.ucd_3_2_0.category(c)[0] in "LN" else " "
        for c in unicodedata.normalize("NFC", plain)
    )


def _parts(texts: Iterable[str]) -> list[str]:
    """The words of queries, each once: FTS5 takes a word that it would split for a phrase, and has no index of these."""
    return list(dict.fromkeys(word for text in texts for word in words(_folded(text))))


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _passage(row: tuple[object, ...]) -> IndexedPassage:
    kind, title, text, locator, symbol, parameter, name, lead, code, found_by, prior, data = row
    return IndexedPassage(
        str(kind), str(title), str(text), str(locator),
        None if symbol is None else str(symbol), None if parameter is None else str(parameter),
        str(name), str(lead), tuple(json.loads(str(code))), str(found_by), float(str(prior)), json.loads(str(data)),
    )  # fmt: skip
