"""Documentation that a declaration file lost, in the source that the package ships.

TypeScript leaves out the comment of an implementation that has overloads, and some packages strip all comments. A source
map (https://tc39.es/ecma426/) names the source; otherwise it is the JavaScript beside the declarations.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.node.lexer import TokenStream
from kr_plugins.sources.installed_docs.node.package import TYPINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.tsdoc import TSDocComment

LARGEST = 300_000
"""Bytes of a source or a map; bundles are larger."""
_SOURCE = re.compile(r"\.(?:[cm]?[jt]s|[jt]sx)$")
_SCRIPTS = {".d.ts": (".js", ".mjs", ".cjs"), ".d.mts": (".mjs",), ".d.cts": (".cjs",)}
_MODIFIERS = frozenset({"export", "declare", "default", "async"})
_DECLARES = frozenset({"function", "const", "let", "var"})
_TYPE_GOES_ON = frozenset({":", "|", "&", "=>", "<", ",", "extends", "?", "is"})
"""After one of these a `{` begins a type, not a body."""
_MAX_HEAD = 400
"""Words of a return type."""


class DocumentedSource(NamedTuple):
    """A function or constant of a source: where it begins, its head as written, and its comment."""

    line: int
    signature: str
    comment: TSDocComment


def source_map(declarations: Path) -> Path:
    """Where the map of a declaration file lies."""
    return declarations.with_name(f"{declarations.name}.map")


def sources(declarations: Path, mapped: str, base: Path) -> Iterator[Path]:
    """The files that may be the source of a declaration file, the likeliest first.

    Args:
        declarations: the declaration file.
        mapped: the text of its source map; empty for none.
        base: the folder of the package, which a source may not leave.
    """
    try:
        told = json.loads(mapped) if mapped else {}
    except (ValueError, RecursionError):
        told = {}
    named = told.get("sources") if isinstance(told, dict) else None
    for name in named[:1] if isinstance(named, list) else ():
        if isinstance(name, str) and _SOURCE.search(name) and "\0" not in name and not name.startswith("/"):
            path = declarations.parent
            for part in name.split("/"):
                path = path.parent if part == ".." else path / part
            if base in path.parents:
                yield path
    ending = next((each for each in TYPINGS if declarations.name.endswith(each)), "")
    for script in _SCRIPTS.get(ending, ()):
        yield declarations.with_name(declarations.name.removesuffix(ending) + script)


def documented(text: str) -> dict[str, DocumentedSource]:
    """The documented functions and constants at the top level of a source; of overloads the head of the first."""
    stream = TokenStream(text)
    heads: dict[str, tuple[int, str]] = {}
    found: dict[str, DocumentedSource] = {}
    number, end = 0, len(stream.words)
    while number < end:
        place = number
        while stream.at(place) in _MODIFIERS:
            place += 1
        if stream.at(place) not in _DECLARES:
            number = max(stream.jump(number, end), place)
            continue
        name = stream.at(place + 1)
        last = _head_end(stream, place, end)
        heads.setdefault(name, (stream.line(number), stream.verbatim(number, last)))
        comment = stream.comment(number)
        if comment is not None and comment.prose and not comment.hidden and not comment.deprecated:
            found.setdefault(name, DocumentedSource(*heads[name], comment))
        number = max(last, place + 1)
    return found


def _head_end(stream: TokenStream, place: int, end: int) -> int:
    """The word before which the head of a function or constant ends: its body, its value or its `;`."""
    number = place + 2
    for _step in range(_MAX_HEAD):
        word = stream.at(number)
        is_body = word == "{" and stream.at(number - 1) not in _TYPE_GOES_ON
        if number >= end or word in {"", ";", "="} or is_body:
            return number
        number = stream.jump(number, end)
    return place + 2
