"""The attributes that a class lists under `Attributes`, as NumPy and Google write it: no call takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_plugins.sources.installed_docs.python import docstrings
from kr_plugins.sources.installed_docs.python.definitions import LONGEST_NAME, Definition

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINES = 40


def documented_attributes(definition: Definition) -> Iterator[Definition]:
    """The attributes that a class documents and that its constructor does not take."""
    doc = definition.doc
    taken = {parameter.name for parameter in definition.parameters}
    for entry in doc.parameters if doc is not None else ():
        qualname = f"{definition.qualname}.{entry.name}"
        if not entry.is_attribute or entry.name in taken or len(qualname) > LONGEST_NAME:
            continue
        assert doc is not None
        first, *rest = doc.lines[entry.line : min(entry.end, entry.line + _MOST_LINES)]
        name, _colon, said = first.strip().partition(":")
        said = said.strip()
        is_type = said == entry.type_text  # NumPy's form; in Google's the description begins behind the colon
        lines, cut = docstrings.clean("\n".join(["" if is_type else said, *rest]))
        if lines:
            yield Definition(
                "attribute",
                definition.module,
                qualname,
                definition.path,
                definition.doc_line + entry.line,
                first.strip() if is_type else name.strip(),
                docstrings.parse(lines),
                definition.doc_line + entry.line + cut,
                returns=entry.type_text or None,
            )
