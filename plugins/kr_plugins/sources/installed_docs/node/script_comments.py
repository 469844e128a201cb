"""What the comments in a package's code document, for a package without type declarations.

A comment as JSDoc has it (https://jsdoc.app) belongs to what is defined right below it. It counts if one of its tags says
that it is for users (`@static`, `@public`, `@memberOf`), or if what it documents is exported or a member of a class.
Exported functions and methods of exported classes without a comment are read too, so that KR calls none missing.
"""

from __future__ import annotations

import bisect
import os
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import read_text
from kr_plugins.sources.installed_docs.node import tsdoc
from kr_plugins.sources.installed_docs.node.declarations import Declaration, DeclaredParameter

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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
_MOST_PARAMETERS = 200
"""Of the constructor of a class, all its comments together."""
_PARAMETER = re.compile(r"@param\s++(?:\{[^}]*+\}\s*+)?+(\[?)([\w$]++)(?!\.)")
_CONSTRUCTOR = "constructor"
_NO_METHODS = frozenset("if for while switch catch return constructor function with".split())


_TAKEN = r"\((?P<{}>(?:[^()\n]|\([^()\n]{{0,100}}\)){{0,500}})\)"
_BARE = re.compile(
    rf"""^(?:export[ ]++(?:default[ ]++)?+(?:async[ ]++)?+function\b[ ]*+\*?+[ ]*+(?P<exported>{_NAME})[ ]*+{_TAKEN.format("a")}
    |(?:async[ ]++)?+function\b[ ]*+\*?+[ ]*+(?P<function>{_NAME})[ ]*+{_TAKEN.format("b")}
    |(?P<owner>(?:{_NAME}\.)+)(?P<assigned>{_NAME})[ ]*+=[ ]*+(?:async[ ]++)?+function\b[^(\n]{{0,80}}{_TAKEN.format("c")}
    |(?:export[ ]++)?+(?:default[ ]++)?+class[ ]++(?P<class>{_NAME})[^\n]{{0,200}}\{{[ ]*+$
    |(?P<indent>[ ]{{1,4}}|\t)(?:static[ ]++)?+(?:async[ ]++)?+\*?+(?P<method>{_NAME})[ ]*+{_TAKEN.format("d")}[ ]*+\{{
    |(?P<end>\}}))""",
    re.VERBOSE | re.MULTILINE,
)
"""What a line begins with: a function, a method, the head of a class, or the end of one."""
_IMPORTED = re.compile(
    r"""(?:\bfrom\s*+|^import\s++|\brequire\(\s*+)(["'])(\.{1,2}/[\w./-]{1,200})\1""", re.MULTILINE
)
_DEEPEST = 3
"""How far imports are followed from the entry of a package."""
_MOST_FOLLOWED = 40
_LONGEST_ABOVE = 2_000
_PRIVATE = re.compile(r"@(?:private|internal|hidden|ignore|api[ \t]+private)\b")
_SPREAD = re.compile(r"[,\s]*+(\.\.\.)?+([A-Za-z_$][\w$]*+)[ ]*+(=?)")


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


def imported_files(package: NodePackage, known: Collection[Path]) -> list[Path]:
    """What the entry imports of its own package beyond the known files: users meet the objects of its classes."""
    waiting = [(path, 0) for path in [*known][:2]]
    found: list[Path] = []
    while waiting and len(found) < _MOST_FOLLOWED:
        path, depth = waiting.pop(0)
        try:
            text = read_text(path, limit=LARGEST_SCRIPT, within=package.within, errors="replace")
        except (OSError, ValueError):
            continue
        for _quote, target in _IMPORTED.findall(text):
            there = Path(os.path.normpath(path.parent / target))
            candidates = [
                there,
                *(there.with_name(there.name + suffix) for suffix in SCRIPTS),
                there / "index.js",
            ]
            other = next((one for one in candidates if one.suffix in SCRIPTS and one.is_file()), None)
            if other is None or other in found or package.folder not in other.parents:
                continue
            found.append(other)
            if depth < _DEEPEST:
                waiting.append((other, depth + 1))
    return [path for path in found if path not in known]


def _scripts_in(folder: Path) -> list[Path]:
    """The scripts of a folder that do not say by their names that they are internal, or made from others."""
    try:
        names = sorted(path for path in folder.iterdir() if path.suffix in SCRIPTS)
    except OSError:
        return []
    return [path for path in names if not path.name.startswith(("_", ".")) and ".min." not in path.name]


def documented_names(text: str, called: str) -> Iterator[DocumentedName]:
    """What a file defines below comments for users, in order; a class with what its constructor takes.

    Args:
        text: the code.
        called: the name that users give to what the file exports by itself.
    """
    breaks = [match.start() for match in re.finditer("\n", text)]
    classes = [(found.start(), found[1]) for found in _CLASS.finditer(text)]
    exported = {word for found in _EXPORTING.findall(text) for word in _WORD.findall(found)}
    waiting: DocumentedName | None = None
    for start, end in islice(_comments(text), _MOST_NAMES):
        defined = _DEFINED.match(text, end)
        comment = text[start:end]
        if defined is None or len(comment) > _LONGEST_COMMENT:
            continue
        place = bisect.bisect_left(classes, (start, "")) - 1
        inside = classes[place][1] if place >= 0 else ""
        name = _name(defined, inside, called)
        if defined["method"] == _CONSTRUCTOR and inside in exported and "@param" in comment:
            told = tsdoc.parse(comment, bisect.bisect_left(breaks, start) + 1)
            made = waiting if waiting and waiting.name == inside else _class(text, *classes[place], breaks)
            waiting = _constructed(made, comment, told)
            continue
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
            if waiting:
                yield waiting
            line = bisect.bisect_left(breaks, _begin(defined)) + 1
            waiting = _documented(name, defined, comment, told, line)
    if waiting:
        yield waiting


def _class(text: str, start: int, name: str, breaks: list[int]) -> DocumentedName:
    """A class without a comment of its own."""
    head = text[start:].partition("\n")[0].rstrip(" {") if start >= 0 else ""
    return DocumentedName(name, Declaration("class", name, bisect.bisect_left(breaks, start) + 1, head))


def _constructed(made: DocumentedName, comment: str, told: tsdoc.TSDocComment) -> DocumentedName:
    """A class with what the comment of its constructor says of the parameters."""
    own = made.declaration.comment or told
    parameters = tuple(dict.fromkeys((*own.parameters, *told.parameters)))[:_MOST_PARAMETERS]
    declaration = replace(
        made.declaration, comment=own._replace(parameters=parameters), parameters=_taken_by(comment)
    )
    return made._replace(declaration=declaration)


def bare_names(text: str, called: str) -> Iterator[DocumentedName]:
    """The exported functions and the methods of exported classes, whether or not a comment says something of them.

    Args:
        text: the code.
        called: the name that users give to the package: `yargs`, whose methods are those of `YargsInstance`.
    """
    exported = {word for found in _EXPORTING.findall(text) for word in _WORD.findall(found)}
    inside, indent = "", ""
    line, read = 1, 0
    for found in islice(_BARE.finditer(text), _MOST_NAMES):
        line += text.count("\n", read, found.start())
        read = found.start()
        name = found["exported"] or ""
        if found["end"]:
            inside = ""
        elif found["class"]:
            inside, indent = (found["class"], "") if found["class"] in exported else ("", "")
        elif found["function"] and found["function"] in exported:
            name = found["function"]
        elif found["owner"]:
            owner = found["owner"].rstrip(".").removesuffix(".prototype")
            own = owner in {"exports", "module.exports"}
            name = found["assigned"] if own else f"{owner}.{found['assigned']}"
            name = "" if owner in {"this", "self", "module"} else name
        elif found["method"] and inside and found["method"] not in _NO_METHODS:
            indent = indent or found["indent"]
            name = f"{inside}.{found['method']}" if found["indent"] == indent else ""
        if name and not name.rpartition(".")[2].startswith("_") and not _is_hidden(text, found.start()):
            spoken = name.lower().startswith(called.lower()) and "." in name
            also = (f"{called}.{name.rpartition('.')[2]}",) if spoken else ()
            yield DocumentedName(name, _bare(name, found, line), also if name not in also else ())


def _is_hidden(text: str, place: int) -> bool:
    """Whether the comment right above a place hides what follows from users."""
    above = text[max(0, place - _LONGEST_ABOVE) : place].rstrip()
    comment = above[above.rfind("/**") :] if above.endswith("*/") and "/**" in above else ""
    return bool(_PRIVATE.search(comment))


def _bare(name: str, found: re.Match[str], line: int) -> Declaration:
    head = found[0].strip().rstrip("{").rstrip()
    taken = next((found[group] for group in "abcd" if found[group] is not None), "")
    parts = [part for part in _outer(taken) if _SPREAD.match(part)]
    named = [match for part in parts if (match := _SPREAD.match(part))]
    return Declaration(
        kind="function",
        name=name.rpartition(".")[2],
        line=line,
        signature=head,
        parameters=tuple(
            DeclaredParameter(one[2], not one[1] and not one[3], rest=bool(one[1])) for one in named
        ),
    )


def _outer(taken: str) -> Iterator[str]:
    """The parameters of a head, each as it is written."""
    depth, start = 0, 0
    for place, character in enumerate(f"{taken},"):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            yield taken[start:place].strip()
            start = place + 1


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
    declaration = Declaration(
        kind="class" if defined["class"] else "function" if is_callable else "constant",
        name=name.rpartition(".")[2],
        line=line,
        signature=defined.string[_begin(defined) :].partition("\n")[0].rstrip(" {"),
        comment=told,
        parameters=_taken_by(comment),
    )
    return DocumentedName(name, declaration, tuple(dict.fromkeys(aliases)))


def _taken_by(comment: str) -> tuple[DeclaredParameter, ...]:
    """The parameters that a comment names."""
    taken = dict.fromkeys((found[2], not found[1]) for found in _PARAMETER.finditer(comment))
    return tuple(DeclaredParameter(one, required) for one, required in taken)
