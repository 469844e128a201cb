"""Messages of errors in the code of an npm package, looked for when a question quotes one.

They are not indexed: to read all code of a large package takes longer than to index what it documents. A search for a few
words of the message finds the files that may hold it.
"""

from __future__ import annotations

import bisect
import os
import re
from itertools import islice
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, read_bytes
from kr_plugins.sources.installed_docs.node.script_comments import SCRIPTS
from kr_plugins.sources.installed_docs.python.error_messages import HOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kr_plugins.sources.installed_docs.node.package import NodePackage

_MOST_BYTES = 30_000_000
_LARGEST = 3_000_000
_MOST_FILES = 5_000
_MOST_MESSAGES = 20
_MOST_LOOKED_AT = 2_000
"""Lines of one file that hold words of the message; most may be comments."""
_SKIPPED = frozenset({"node_modules", "test", "tests", "__tests__", "docs", "examples", "benchmarks"})
_BUILT = frozenset({"dist", "build", "browser", "umd", "esm", "cjs"})
_RUNS, _MOST_RUNS, _LEAST_RUN = (4, 3, 2), 12, 8
"""KR looks for a message by runs of this number of words; characters at least."""
_LONGEST_LINE = 2_000
"""Characters of a line; a longer one is of code that was made small."""
_MOST_PARTS = 20
_MOST_LINES = 8
_FURTHEST_FUNCTION = 200
"""Lines above a message in which the function that holds it is looked for."""
_PUT_IN = re.compile(r"(?<!\S)[^\s`\"\d(/]*+[`\"\d(/]\S*+")
_QUOTE = re.compile(r"['\"`]")
_QUOTED = {
    "'": re.compile(r"'((?:[^'\\\n]|\\.){0,1500}+)"),
    '"': re.compile(r"\"((?:[^\"\\\n]|\\.){0,1500}+)"),
    "`": re.compile(r"`((?:[^`\\]|\\.){0,1500}+)"),
}
"""What a quote opens, as far as it goes; the same quote may follow, and close it."""
_VALUE = re.compile(r"\s*+\+\s*+(?!['\"`])[\w$.]++(?:\([^()\n]{0,80}\))?")
_JOIN = re.compile(r"\s*+\+\s*+(?=['\"`])")
_FILLED = re.compile(r"\$\{[^{}]{0,200}\}")
_ESCAPED = re.compile(r"\\(['\"`])")
_ERROR = re.compile(r"\b((?:[A-Z]\w{0,80})?(?:Error|Exception|Warning))\b")
_FUNCTION = re.compile(
    r"(?:async )?function\b[ *]{0,3}([\w$]++)|(?<![\w$])([\w$]++) ?\([^()]*+\) ?\{$"
    r"|(?<![\w$.])([\w$.]++) ?[=:] ?(?:async ?)?(?:function\b|\([^()]*+\) ?=>|[\w$]++ ?=>)"
)
_CLASS = re.compile(r"\s*+(?:export )?(?:default )?class ([\w$]++)")
_GOES_ON = re.compile(r"[(+?=&|]$")
_CONTINUES = re.compile(r"\s*+(?:[+?.&|]|: )")
_CONDITION = re.compile(r"\s*+(?:\} ?)?(?:if|else|case)\b")
_NO_FUNCTION = frozenset(
    {"exports", "if", "for", "while", "switch", "catch", "else", "do", "try", "return", "function"}
)


class _Literal(NamedTuple):
    text: str
    start: int
    error: str = ""
    """The class that is raised with it."""


def messages_like(
    package: NodePackage, quotes: Sequence[str], check: Callable[[], None]
) -> list[IndexedPassage]:
    """The strings in a package's code that hold words of a quote, each with the statement around it.

    Args:
        package: whose code is read, the files nearest to its `package.json` first.
        quotes: what may be messages.
        check: called before each file; raises to stop.
    """
    runs = list(dict.fromkeys(run for quote in quotes for run in _runs(quote)))
    found: dict[str, IndexedPassage] = {}
    left = _MOST_BYTES
    for path in _scripts(package.folder) if runs else ():
        check()
        try:
            size = path.stat().st_size
            if size > _LARGEST:
                continue
            left -= size
            if left < 0:
                break
            content = read_bytes(path, limit=_LARGEST, within=package.within)
        except OSError:
            continue
        if not any(run in content for run in runs):
            continue
        where = f"{package.name}/{path.relative_to(package.folder).as_posix()}"
        for passage in _passages(content.decode("utf-8", "replace"), where, runs):
            found.setdefault(passage.text, passage)
            if len(found) >= _MOST_MESSAGES:
                return list(found.values())
    return list(found.values())


def _runs(quote: str) -> list[bytes]:
    """The longest runs of words of a quote that the code may have as they are: what is quoted or has a figure was put in."""
    pieces = [piece.split() for piece in _PUT_IN.split(quote)]
    for length in _RUNS:
        runs = (
            " ".join(words[at : at + length]).rstrip(".,:").encode()
            for words in pieces
            for at in range(len(words) - length + 1)
        )
        known = [run for run in runs if len(run) >= _LEAST_RUN]
        if known:
            return known[:_MOST_RUNS]
    return []


def _scripts(folder: Path) -> Iterator[Path]:
    """The scripts of a package, the nearest to its top first; those that are built from others come last."""
    found: list[tuple[tuple[bool, int], str]] = []
    for here, folders, names in islice(os.walk(folder), _MOST_FILES):
        folders[:] = sorted(set(folders) - _SKIPPED)
        parts = Path(here).relative_to(folder).parts
        order = not _BUILT.isdisjoint(parts), len(parts)
        found += [
            (order, os.path.join(here, name))  # noqa: PTH118  thousands of files
            for name in sorted(names)
            if name.endswith(SCRIPTS) and ".min." not in name
        ]
        if len(found) > _MOST_FILES:
            break
    yield from (Path(path) for _built, path in sorted(found))


def _passages(text: str, where: str, runs: Sequence[bytes]) -> Iterator[IndexedPassage]:
    breaks = [match.start() for match in re.finditer("\n", text)]
    lines = text.split("\n")
    strings = _Strings(text)
    seen: set[int] = set()
    for run in runs:
        place = text.find(run.decode("utf-8", "replace"))
        while place >= 0 and len(seen) < _MOST_LOOKED_AT:
            number = bisect.bisect_left(breaks, place)
            if number not in seen and len(lines[number]) <= _LONGEST_LINE:
                first, last = _statement(lines, number)
                seen.update(range(number, last))
                starts = (breaks[line - 1] + 1 if line else 0 for line in (first, number))
                literal = next(
                    filter(None, (_literal_at(text, strings, start, place) for start in starts)), None
                )
                if literal is not None:
                    begun = bisect.bisect_left(breaks, literal.start)
                    column = literal.start - (breaks[begun - 1] + 1 if begun else 0)
                    before = "\n".join([*lines[first:begun], lines[begun][:column]])
                    error = _error(lines, begun, before)
                    yield _passage(lines, begun, (first, last), literal._replace(error=error), where)
            place = text.find(run.decode("utf-8", "replace"), place + 1)


class _Strings:
    """The strings in a text; what comes after a quote that nothing closes is read once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._unclosed = dict.fromkeys(_QUOTED, (0, 0))
        """Where each kind of quote was last opened and not closed, and how far it was read: all such quotes in between
        are escaped, and nothing closes those either."""

    def first(self, start: int, end: int) -> re.Match[str] | None:
        """The first string that begins in a part of the text, without the quote that closes it."""
        begun = (self.at(quote.start()) for quote in _QUOTE.finditer(self._text, start, end))
        return next(filter(None, begun), None)

    def at(self, start: int) -> re.Match[str] | None:
        """The string that a quote opens."""
        quote = self._text[start]
        opened, end = self._unclosed[quote]
        found = None if opened <= start < end else _QUOTED[quote].match(self._text, start)
        if found is None or self._text.startswith(quote, found.end()):
            return found
        self._unclosed[quote] = found.span()
        return None


def _literal_at(text: str, strings: _Strings, start: int, place: int) -> _Literal | None:
    """The string around a place, with those that are added to it; None in a comment."""
    found = strings.first(start, place + 1)
    while found is not None:
        parts, end = [_plain(found)], found.end() + 1
        for _part in range(_MOST_PARTS):
            value = _VALUE.match(text, end)
            if value:
                parts.append(HOLE)
                end = value.end()
            following = _JOIN.match(text, end)
            literal = strings.at(following.end()) if following else None
            if literal is None:
                break
            parts.append(_plain(literal))
            end = literal.end() + 1
        if end > place:
            return _Literal("".join(parts).strip(), found.start())
        found = strings.first(end, place + 1)
    return None


def _plain(string: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", _FILLED.sub(HOLE, string[1]))


def _passage(
    lines: Sequence[str], number: int, around: tuple[int, int], literal: _Literal, where: str
) -> IndexedPassage:
    first, last = around
    code = dedent("\n".join(lines[first:last]))
    function = _function(lines, number)
    place = f"{where}: {function}" if function else where
    after = literal.text.count("\n") + 3
    return IndexedPassage(
        kind="message", title=f"{literal.error or 'Message'} in {place}", text=f"{literal.text}\n\n```js\n{code}\n```",
        locator=f"{where}:{number + 1}", lead=literal.text, prose=literal.text, prior=0.1,
        data={
            "kind": "section", "what": "message", "message": True, "error": literal.error,
            "lines": [[0, number + 1], [after, first + 1]], "module": where, "where": function, "raised": code,
        },
    )  # fmt: skip


def _error(lines: Sequence[str], number: int, before: str) -> str:
    """The class that a message is raised with: named before it, or the one whose constructor hands it on."""
    named = _ERROR.findall(before)
    if named or not re.search(r"\bsuper\(", before):
        return named[-1] if named else ""
    above = reversed(lines[max(0, number - _FURTHEST_FUNCTION) : number])
    return next((found[1] for line in above if (found := _CLASS.match(line))), "")


def _statement(lines: Sequence[str], number: int) -> tuple[int, int]:
    """The lines of the statement that holds a line, from the condition right above it on."""
    first = number
    while first > 0 and number - first < _MOST_LINES // 2 and len(lines[first - 1]) <= _LONGEST_LINE:
        above = lines[first - 1].rstrip()
        is_beside = above.endswith(",") and _depth(above) == _depth(lines[number])
        if is_beside or _GOES_ON.search(above) or _CONTINUES.match(lines[first]):
            first -= 1
            continue
        is_condition = _depth(above) < _depth(lines[first]) and _CONDITION.match(above)
        first -= 1 if is_condition else 0
        break
    last = number + 1
    opened = _opened(lines[first:last])
    while (
        last < len(lines) and opened > 0 and last - first < _MOST_LINES and len(lines[last]) <= _LONGEST_LINE
    ):
        opened += _opened([lines[last]])
        last += 1
    return first, last


def _opened(lines: Sequence[str]) -> int:
    bare = map(_without_strings, lines)
    return sum(sum(map(line.count, "([{")) - sum(map(line.count, ")]}")) for line in bare)


def _without_strings(line: str) -> str:
    strings, bare, end = _Strings(line), "", 0
    while found := strings.first(end, len(line)):
        bare += line[end : found.start()]
        end = found.end() + 1
    return bare + line[end:]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _function(lines: Sequence[str], number: int) -> str:
    """The name of the function around a line; empty where none is near."""
    depth = _depth(lines[number])
    for line in reversed(lines[max(0, number - _FURTHEST_FUNCTION) : number]):
        if not line.strip() or _depth(line) >= depth or len(line) > _LONGEST_LINE:
            continue
        depth = _depth(line)
        found = _FUNCTION.search(line.strip())
        name = next((one for one in found.groups() if one), "") if found else ""
        name = name.rpartition(".")[2]
        if name and name not in _NO_FUNCTION:
            return str(name)
    return ""
