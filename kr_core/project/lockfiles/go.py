"""`go.mod`, after the Go Modules Reference, with the `go.work` that it belongs to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.project.lockfiles.pins import Pin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.project.lockfiles.pins import ProjectView

_BLOCK = re.compile(r"(?P<verb>\w+)\s*\(")
_REQUIRE = re.compile(r"(?P<path>\S+)\s+(?P<version>v\d\S*)")
_REPLACE = re.compile(
    r"(?P<path>\S+)(?:\s+(?P<only>v\d\S*))?\s+=>\s+(?P<other>\S+)(?:\s+(?P<version>v\d\S*))?"
)
_MOST_DIGITS = 99


class _Module(NamedTuple):
    """What one `go.mod` says, or a `go.work` of replacements."""

    path: str
    required: dict[str, tuple[str, bool]]
    """The version of each, and whether the module itself imports it."""
    replaced: dict[tuple[str, str | None], str]
    used: tuple[str, ...]


def read(text: str, view: ProjectView) -> Iterator[Pin]:
    """Read what is required, as `replace` has it; an `// indirect` one is not a direct dependency.

    In a workspace (`go.work`), Go builds with the highest version that any of its modules requires, with the replacements
    of all, and with the modules themselves as they lie there.
    """
    own = _module(text)
    work, others = _workspace(view)
    modules = (own, *others)
    places = (work.replaced, *(each.replaced for each in modules))
    beside = {each.path for each in others}
    for path, (version, direct) in own.required.items():
        asked = [each.required[path][0] for each in modules if path in each.required]
        chosen = max(asked, key=_order) if len(asked) > 1 else version
        keys = ((path, chosen), (path, None))  # the replacement of one version comes before that of all
        found = (place[key] for place in places for key in keys if key in place)
        yield Pin(path, "" if path in beside else next(found, chosen), direct=direct)


def _module(text: str) -> _Module:
    path = ""
    required: dict[str, tuple[str, bool]] = {}
    replaced: dict[tuple[str, str | None], str] = {}
    used: list[str] = []
    for verb, line, comment in _directives(text):
        if verb == "require" and (found := _REQUIRE.fullmatch(line)):
            required[_plain(found["path"])] = found["version"], not comment.startswith("indirect")
        elif verb == "replace" and (other := _REPLACE.fullmatch(line)):
            # a folder has no version
            replaced[_plain(other["path"]), other["only"]] = other["version"] or ""
        elif verb == "use":
            used.append(_plain(line))
        elif verb == "module":
            path = _plain(line)
    return _Module(path, required, replaced, tuple(used))


def _workspace(view: ProjectView) -> tuple[_Module, list[_Module]]:
    """The nearest `go.work` above that lists this module, and the other modules of it; nothing where it is in none."""
    above = "."
    while (text := view.beside(f"{above}/go.work")) is None and _place(above, view) != view.top:
        above += "/.."
    work = _module(text or "")
    used = dict.fromkeys(_place(f"{above}/{folder}", view) for folder in work.used)
    if view.folder not in used:
        return _module(""), []
    texts = (view.beside(f"{folder}/go.mod") for folder in used if folder != view.folder)
    return work, [_module(each) for each in texts if each is not None]


def _place(relative: str, view: ProjectView) -> Path:
    return Path(os.path.normpath(view.folder / relative))


def _plain(text: str) -> str:
    return text.strip('"`')


def _order(version: str) -> tuple[list[int], bool, list[tuple[bool, int, str]]]:
    """What versions of Go are ordered by, as Semantic Versioning says."""
    numbers, _, before = version[1:].partition("+")[0].partition("-")
    parts = [(not part.isdecimal(), _number(part), part) for part in before.split(".")]
    return [_number(part) for part in numbers.split(".")], not before, parts


def _number(text: str) -> int:
    return int(text[:_MOST_DIGITS]) if text.isdecimal() else 0


def _directives(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the verb, what follows it, and the comment of each line; lines of a block have the block's verb."""
    verb = ""
    for raw in text.splitlines():
        line, _, comment = (part.strip() for part in raw.partition("//"))
        if opened := _BLOCK.fullmatch(line):
            verb = opened["verb"]
        elif line == ")":
            verb = ""
        elif line:
            first, *rest = line.split(None, 1)
            yield (verb, line, comment) if verb else (first, "".join(rest), comment)


READERS = {"go.mod": read}
