"""What the docstrings of a callable say of its parameters, and which of them they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import marks_nothing
from kr_plugins.sources.installed_docs.python import docstrings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_plugins.sources.installed_docs.python.definitions import Definition, Module, Parameter

_MAX_LOOKED_AT = 200_000
"""Lines of a docstring times parameters that are looked for in it."""


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
    """The parameters that a docstring describes, with what it belongs to: a class's own, or its constructor's."""
    found = {}
    constructors = ("__init__", "__new__") if definition.kind == "class" else ()
    for name in (*constructors, ""):
        one = module.definitions.get(f"{definition.qualname}.{name}") if name else definition
        for entry in one.doc.parameters if one is not None and one.doc is not None else ():
            assert one is not None
            found[entry.name.lstrip("*")] = entry, one
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
