"""One parameter: where it is taken, and what its documentation says of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import marks_nothing, sentences
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter
    from kr_plugins.sources.installed_docs.python.public_names import PublicName

_MAX_REQUIRED = 100
"""Parameters of a callable among which those that it requires are named beside each of them."""
_ADVISED_AGAINST = re.compile(
    r"\b(?:(?:should not|shouldn't|do not|don't)\s+use\s+(?:it|this(?:\s+(?:method|function|parameter|class))?)(?:\s+directly)?\s*+(?:[.,;!]|but\b|instead\b|$)"
    r"|use\s+of\s+this\s+(?:method|function|parameter|class)\s+is\s+discouraged)",
    re.IGNORECASE,
)
_READ = 6_000
_OPTIONAL = re.compile(r"^\*?\(optional\)\*?[:,.]?\s+|^Optional[.:]\s+(?=[A-Z])", re.IGNORECASE)
_BEGINS = r"[*+-]?\s*[`*]*{name}[`*]*(?: [^\s:]++){{6}}[^:]*+$"
"""A line that says something of a parameter: its name, some words and no colon."""
_MAX_LOOKED_AT = 200_000
"""Lines of a docstring times parameters that are looked for in it."""


def site_of(definition: Definition, naming: PublicName, parameter: Parameter | None) -> dict[str, Any]:
    """Where a callable takes a parameter: what a citation of the signature needs."""
    header = re.match(r"(?:async )?(?:def|class) \w+", definition.signature)
    return {
        "symbol": naming.name,
        "path": definition.path,
        "header": header[0] if header else definition.name,
        "line": definition.line,
        "source": parameter.source if parameter else "",
        "source_line": parameter.line if parameter else 0,
        "default": parameter.default if parameter else None,
        "tail": list(parameter.tail) if parameter and parameter.tail else None,
        "meant": list(parameter.meant) if parameter and parameter.meant else None,
        "required": [other.name for other in definition.parameters[:_MAX_REQUIRED] if other.required],
    }


def with_site(doc: str, doc_line: int, site: dict[str, Any]) -> tuple[str, list[list[int]]]:
    """A parameter's documentation, the head of the callable and the argument itself, as one text with its lines."""
    parts = doc.split("\n") if doc else []
    lines = [[0, doc_line]] if parts else []
    lines.append([len(parts), site["line"]])
    parts.append(site["header"])
    if site["source"]:
        lines.append([len(parts), site["source_line"]])
        parts.extend(site["source"].split("\n"))
    if site["tail"]:
        lines.append([len(parts), site["tail"][0]])
        parts.extend(site["tail"][1].split("\n"))
    if site.get("meant"):
        lines.append([len(parts), site["meant"][0]])
        parts.extend(site["meant"][1].split("\n"))
    return "\n".join(parts), lines


def description(lines: list[str], type_text: str, name: str) -> str:
    """What a parameter's documentation says, without the name and type that introduce it.

    A paragraph about more than the parameter is read from the first sentence that says its name.
    """
    if not lines:
        return ""
    first, *rest = [line.strip() for line in lines]
    begins = re.match(_BEGINS.format(name=re.escape(name)), first)  # a sentence whose next lines are indented
    if (type_text and first.endswith(f": {type_text}")) or (
        not (type_text or begins)
        and len(lines) > 1
        and _depth(lines[1]) > _depth(lines[0])
        and re.fullmatch(r"[\w*,` ]+:?", first)
    ):
        while rest and first.endswith(("\\", ",")):  # the type goes on in the next line
            first = rest.pop(0)
        return docstrings.lead(rest)  # NumPy: the name and its type have a line of their own
    first = re.sub(r"^([\w*, ]+): \(([^)]*)\): ", r"\1 (\2): ", first)
    field = re.match(r"^:\w++\s[^:]++:\s*+(.*)$", first)
    bullet = re.match(r"^[*+-]\s+(?:\*\*|`{1,2})[^*`]+(?:\*\*|`{1,2})[^-–—:]*+[-:–—]++\s*+(.*)$", first)
    google = re.match(r"^[\w*, ]++(?:\([^)]*+\)\s*+|\s*+):\s++(.*)$", first)
    dashed = re.match(r"^[*+-]?\s*+[\w*`]++\s++(?:--|[–—])\s++(.*)$", first)
    item = re.match(rf"^[*+-]\s+{re.escape(name)}\s*+:\s++(.*)$", first)
    for match in (field, bullet, google, dashed, item):
        if match:
            said = docstrings.lead([match[1], *rest] if match[1] else rest)
            return _OPTIONAL.sub("", said)
    if begins or len(lines) == 1 or _depth(lines[1]) <= _depth(lines[0]):
        said = docstrings.lead([first, *rest])
        parts = sentences(said)
        start = next((part for part in parts if name in part), said)
        return said[said.index(start) :]
    return docstrings.lead(rest) or first


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def advises_against(documentation: str) -> bool:
    """Whether documentation advises against any use of what it describes."""
    return _ADVISED_AGAINST.search(documentation[:_READ]) is not None


class ParameterDoc(NamedTuple):
    """What is written about a parameter."""

    lines: list[str]
    line: int
    """Where it begins in the file; 0 where nothing is written."""
    type_text: str
    """The type that it gives; empty for none."""
    default: str = ""
    """The default that it gives; empty for none."""

    @classmethod
    def of(cls, lines: Sequence[str], line: int, type_text: str = "", default: str = "") -> ParameterDoc:
        """With the blank lines at the end left out."""
        written = list(lines)
        while written and not written[-1].strip():
            written.pop()
        return cls(written, line, type_text, default)


def documented_parameters(
    module: Module, definition: Definition
) -> dict[str, tuple[docstrings.DocumentedParameter, Definition]]:
    """The parameters that a docstring describes, with what it belongs to: a class's own, or its constructor's.

    What it lists below `**kwargs` are parameters too.
    """
    found: dict[str, tuple[docstrings.DocumentedParameter, Definition]] = {}
    constructors = ("__init__", "__new__") if definition.kind == "class" else ()
    named = (module.definitions.get(f"{definition.qualname}.{name}") for name in constructors)
    described = [one for one in (*named, definition) if one is not None]
    keywords = {each.name for one in described for each in one.parameters if each.star == "**"}
    for one in described:
        for entry in one.doc.parameters if one.doc is not None else ():
            name = entry.name.lstrip("*")
            found[name] = entry, one
            if name in keywords and one.doc is not None:
                listed = docstrings.listed(one.doc.lines, entry)
                found |= {each.name: (each, one) for each in listed if each.name not in found}
    return found


def misnamed_parameters(documented: Sequence[str], definition: Definition) -> dict[str, str]:
    """The parameter that a docstring calls by another name: the only one, and in the same place among the others."""
    taken = [parameter.name for parameter in definition.parameters if not parameter.star]
    places = {name: number for number, name in enumerate(taken)}
    missing = [name for name in taken if name not in documented]
    stars = {parameter.name for parameter in definition.parameters if parameter.star}
    others = [name for name in documented if name not in places and name not in stars]
    if definition.kind != "function" or len(taken) < 2 or len(missing) != 1 or len(others) != 1:
        return {}
    return {others[0]: missing[0]} if documented.index(others[0]) == places[missing[0]] else {}


def takes_no_other(definition: Definition) -> bool:
    """Whether a function takes by name nothing but what its signature names."""
    return (
        definition.kind == "function"
        and bool(definition.parameters)
        and not definition.wrapped
        and not any(parameter.star for parameter in definition.parameters)
    )


def described_outside(definition: Definition, name: str) -> ParameterDoc:
    """What a docstring says of a parameter outside of its sections; empty where it says nothing."""
    doc = definition.doc
    if doc is None or len(doc.lines) * len(definition.parameters) > _MAX_LOOKED_AT:
        return ParameterDoc.of((), 0)
    place = docstrings.described(doc.lines, name)
    if place is None:
        return ParameterDoc.of((), 0)
    return ParameterDoc.of(doc.lines[place[0] : place[1]], definition.doc_line + place[0])


def declared_values(parameter: Parameter | None, doc: ParameterDoc) -> dict[str, Any]:
    """What the signature says of a parameter; of one that is documented alone, what its documentation says."""
    typed = "" if doc.type_text.endswith(("|", ",")) else doc.type_text  # it goes on in the next line
    if parameter is None:
        return {
            "annotation": typed or None, "default": doc.default or None, "needed": False, "star": "",
        }  # fmt: skip
    return {
        "annotation": parameter.annotation or typed or None,
        "default": doc.default or parameter.default
        if parameter.default in {None, "..."} or (doc.default and marks_nothing(parameter.default))
        else parameter.default,
        "needed": parameter.required or bool(parameter.star),
        "star": parameter.star,
    }
