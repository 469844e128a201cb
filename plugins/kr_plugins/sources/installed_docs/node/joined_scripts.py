"""What the comments in a package's scripts say of what its declarations declare.

Declarations of `@types` often say less than the JSDoc of the code: no defaults, or nothing at all. A script belongs to a
declared name if it documents that name and takes a parameter of the same name; bundled and minified files are passed over.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.node.package import TYPINGS
from kr_plugins.sources.installed_docs.node.script_comments import (
    documented_names,
    imported_files,
    script_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.declarations import Declaration
    from kr_plugins.sources.installed_docs.node.package import NodePackage

_LARGEST = 300_000
"""Characters of a script; bundles are larger."""
_WIDEST = 200
"""Characters of an average line; minified code has longer ones."""
_MOST = 4_000_000
"""Characters of all scripts that are read."""
_DEFAULTS = re.compile(r"@param\s++\{[^}\n]{0,300}+\}\s++\[[\w$.]++=")
_WORD = re.compile(r"[^\W_]++")
_EMPTY = frozenset(
    "a an the of for class object function instance create creates constructor representing represents".split()
)
_KINDS = frozenset({"function", "class"})


class ScriptComment(NamedTuple):
    """What a script documents, and where."""

    path: Path
    declaration: Declaration


class JoinedScripts:
    """What the scripts of one package document, by the names that users write.

    Args:
        package: whose.
        read: returns the text of a file; None where it cannot be read.
        called: the name that users give to the package.
        check: called before each file; raises to stop.
    """

    def __init__(
        self,
        package: NodePackage,
        read: Callable[[Path], str | None],
        called: str,
        check: Callable[[], None],
    ) -> None:
        self._package = package
        self._read = read
        self._called = called
        self._check = check
        self._found: dict[str, list[ScriptComment]] | None = None

    def of(self, names: Iterable[str], declared: Iterable[Declaration]) -> ScriptComment | None:
        """What a script says of something declared; None where none does, or more than one.

        Args:
            names: how users write it, the likeliest name first.
            declared: its declarations.
        """
        if self._found is None:
            self._found = {}
            for name, told in self._documented():
                self._found.setdefault(name, []).append(told)
        known = self._found
        listed = [one for one in declared if one.kind in _KINDS or one.kind == "constant"]
        found = next((known[name] for name in names if name in known), []) if known and listed else []
        found = [one for one in found if _takes_the_same(one.declaration, listed)]
        if len(found) > 1:  # `debounce.js` documents `debounce`, whatever else speaks of it
            last = found[0].declaration.name
            found = [one for one in found if one.path.name.partition(".")[0] == last]
        return found[0] if len(found) == 1 else None

    def _documented(self) -> Iterator[tuple[str, ScriptComment]]:
        left = _MOST
        for path in self._scripts():
            self._check()
            text = self._read(path)
            if text is None or "/**" not in text or len(text) > _LARGEST:
                continue
            left -= len(text)
            if left < 0:
                return
            if len(text) > _WIDEST * (1 + text.count("\n")):
                continue
            if not _DEFAULTS.search(text) and _is_declared(path):
                continue
            for name, declaration, aliases in documented_names(text, self._called):
                told = ScriptComment(path, _telling(declaration))
                if declaration.kind in _KINDS:
                    yield from ((one, told) for one in dict.fromkeys((name, *aliases)))

    def _scripts(self) -> Iterator[Path]:
        """The scripts that users call, each once: `add.cjs` says what `add.js` does."""
        entered = script_files(self._package)
        seen: set[Path] = set()
        for path in [*entered, *imported_files(self._package, entered)]:
            if path.with_suffix("") not in seen:
                seen.add(path.with_suffix(""))
                yield path


def _telling(one: Declaration) -> Declaration:
    """A declaration without a description that only repeats its name: `Class representing a ship`."""
    if one.comment is None:
        return one
    said = [word.lower() for line in one.comment.prose for word in _WORD.findall(line.text)]
    if "".join(word for word in said if word not in _EMPTY) not in one.name.lower():
        return one
    return replace(one, comment=one.comment._replace(prose=()))


def _is_declared(path: Path) -> bool:
    """Whether declarations lie beside a script: they have its comments, or KR reads those with them."""
    return any(path.with_name(path.stem + ending).is_file() for ending in TYPINGS)


def _takes_the_same(told: Declaration, declared: Iterable[Declaration]) -> bool:
    """Whether what a script documents has a parameter of what is declared; nothing contradicts where one names none."""
    ours = {one.name for one in told.parameters if one.name}
    calls = [
        call
        for one in declared
        for call in (one, *one.calls, *(each for each in one.members if each.name == "constructor"))
    ]
    theirs = {one.name for call in calls for one in call.parameters if one.name}
    return not ours or not theirs or not ours.isdisjoint(theirs)
