"""What the comments in a package's code document, for a package without type declarations.

A comment as JSDoc has it (https://jsdoc.app) belongs to what is defined right below it. It counts if one of its tags says
that it is for users (`@static`, `@public`, `@memberOf`), or if what it documents is exported or a member of a class.
"""

from __future__ import annotations

import bisect
import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from kr_plugins.sources.installed_docs.node import tsdoc
from kr_plugins.sources.installed_docs.node.declarations import Declaration, DeclaredParameter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kr_plugins.sources.installed_docs.node.package import NodePackage

SCRIPTS = (".js", ".cjs", ".mjs")
LARGEST_SCRIPT = 1_000_000
_MOST_SCRIPTS = 1_000
_MOST_NAMES = 5_000
_LONGEST_COMMENT = 20_000
_FOLDERS = ("lib", "src")
_NAME = r"[A-Za-z_$][\w$]*+"
_DEFINED = re.compile(
    rf"""\s*+(?:export[ ]++)?+(?:default[ ]++)?+
    (?:(?:async[ ]++)?+function\b[ ]*+\*?+[ ]*+(?P<function>{_NAME})
    |(?:const|let|var)[ ]++(?P<constant>{_NAME})[ ]*+=(?P<value>[^\n]{{0,200}})
    |class[ ]++(?P<class>{_NAME})
    |(?P<owner>(?:{_NAME}\.)+)(?P<assigned>{_NAME})[ ]*+=(?!=)(?P<given>[^\n]{{0,200}})
    |(?:static[ ]++)?+(?:async[ ]++)?+\*?+[ ]*+(?P<method>{_NAME})[ ]*+\([^()\n]*+\)[ ]*+\{{)""",
    re.VERBOSE,
)
_CALLABLE = re.compile(rf"[ ]*+(?:async\b[ ]*+)?+(?:function\b|\([^()\n]*+\)[ ]*+=>|{_NAME}[ ]*+=>)")
_EXPORTING = re.compile(r"\bexports?\b[^;{\n]{0,200}+(?:\{[^{}]{0,5000}+\})?+")
_TAG = re.compile(r"@(name|memberOf|memberof|alias)[ \t]++(\S++)")
_FOR_USERS = re.compile(r"@(?:static|public|memberOf|memberof|alias|name|api[ \t]+public)\b")
_CLASS = re.compile(rf"^(?:export[ ]++)?+(?:default[ ]++)?+class[ ]++({_NAME})", re.MULTILINE)
_WORD = re.compile(_NAME)
_PARAMETER = re.compile(r"@param\s++(?:\{[^}]*+\}\s*+)?+(\[?)([\w$]++)(?!\.)")
_NO_METHODS = frozenset("if for while switch catch return constructor function with".split())


class DocumentedName(NamedTuple):
    """What code defines below a comment, how users write it, and under which other names."""

    name: str
    declaration: Declaration
    aliases: tuple[str, ...] = ()


def script_files(package: NodePackage) -> list[Path]:
    """The code that users of a package call: its entry, what lies beside its `package.json`, and in `lib` and `src`."""
    folder = package.folder
    named = (package.data.get(key) for key in ("module", "main"))
    entry = [
        folder / name for name in named if isinstance(name, str) and ".." not in name and "\0" not in name
    ]
    found = [
        *entry,
        *_scripts_in(folder),
        *(path for name in _FOLDERS for path in _scripts_in(folder / name)),
    ]
    return list(dict.fromkeys(path for path in found if path.suffix in SCRIPTS))[:_MOST_SCRIPTS]


def _scripts_in(folder: Path) -> list[Path]:
    """The scripts of a folder that do not say by their names that they are internal, or made from others."""
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix in SCRIPTS)
    except OSError:
        return []
    return [path for path in names if not path.name.startswith(("_", ".")) and ".min." not in path.name]


def documented_names(text: str, called: str) -> Iterator[DocumentedName]:
    """What a file defines below comments for users, in order.

    Args:
        text: the code.
        called: the name that users give to what the file exports by itself.
    """
    breaks = [match.start() for match in re.finditer("\n", text)]
    classes = [(found.start(), found[1]) for found in _CLASS.finditer(text)]
    exported = {word for found in _EXPORTING.findall(text) for word in _WORD.findall(found)}
    for start, end in islice(_comments(text), _MOST_NAMES):
        defined = _DEFINED.match(text, end)
        comment = text[start:end]
        if defined is None or len(comment) > _LONGEST_COMMENT:
            continue
        place = bisect.bisect_left(classes, (start, "")) - 1
        name = _name(defined, classes[place][1] if place >= 0 else "", called)
        last = name.rpartition(".")[2]
        is_member = "." in name or name == called
        if (
            not name
            or last.startswith("_")
            or not (is_member or last in exported or _FOR_USERS.search(comment))
        ):
            continue
        told = tsdoc.parse(comment, bisect.bisect_left(breaks, start) + 1)
        if told.prose and not told.hidden:
            yield _documented(name, defined, comment, told, bisect.bisect_left(breaks, _begin(defined)) + 1)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Where the comments with two stars begin and end."""
    start = text.find("/**")
    while start >= 0:
        end = text.find("*/", start + 3)
        if end < 0:
            return
        yield start, end + 2
        start = text.find("/**", end)


def _begin(defined: re.Match[str]) -> int:
    """Where the definition itself begins."""
    return defined.start() + len(defined[0]) - len(defined[0].lstrip())


def _name(defined: re.Match[str], inside: str, called: str) -> str:
    """How users write what is defined; empty for what they cannot."""
    plain = defined["function"] or defined["constant"] or defined["class"]
    if (defined["value"] or "").lstrip().startswith("require("):
        return ""
    if plain:
        return str(plain)
    if defined["method"]:
        return f"{inside}.{defined['method']}" if inside and defined["method"] not in _NO_METHODS else ""
    owner = defined["owner"].rstrip(".").removesuffix(".prototype")
    if owner in {"exports", "module.exports"}:
        return called if defined["assigned"] == "default" else str(defined["assigned"])
    if owner == "module":
        return called
    return "" if owner == "this" else f"{owner}.{defined['assigned']}"


def _documented(
    name: str, defined: re.Match[str], comment: str, told: tsdoc.TSDocComment, line: int
) -> DocumentedName:
    tags = dict(_TAG.findall(comment))
    name = tags.get("name", name)
    of = (tags.get("memberOf") or tags.get("memberof") or "").partition("#")[0].removesuffix(".prototype")
    aliases: tuple[str, ...] = (tags["alias"],) if _WORD.fullmatch(tags.get("alias", "")) else ()
    aliases += (f"{of}.{name}",) if _WORD.fullmatch(of) and "." not in name else ()
    value = defined["value"] or defined["given"] or ""
    is_callable = bool(
        defined["function"] or defined["method"] or _CALLABLE.match(value) or "@param" in comment
    )
    taken = dict.fromkeys((found[2], not found[1]) for found in _PARAMETER.finditer(comment))
    declaration = Declaration(
        kind="class" if defined["class"] else "function" if is_callable else "constant",
        name=name.rpartition(".")[2],
        line=line,
        signature=defined.string[_begin(defined) :].partition("\n")[0].rstrip(" {"),
        comment=told,
        parameters=tuple(DeclaredParameter(one, required) for one, required in taken),
    )
    return DocumentedName(name, declaration, tuple(dict.fromkeys(aliases)))
