"""What a distribution's metadata says: the versions of Python that it supports, its extras, what it depends on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.toolkit import IndexedPassage, metadata_field, read_text
from kr_plugins.sources.installed_docs.cited_passages import passage_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kr_core.toolkit import ParsedQuestion, PassageIndex
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

KIND = "requirements"
_MAX_METADATA_BYTES = 20_000_000
_MOST_LINES = 200
_FIELD = re.compile(
    r"Requires-Python: [\w .,<>=!~*+-]{1,200}|Provides-Extra: [\w.-]{1,80}|Requires-Dist: [\w .,<>=!~*+()\[\];'\"@:/-]{1,300}"
)
"""The fields as the core metadata specification has them; a value of any other form is left out, since it is shown as it is."""


def about_requirements(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The metadata as the answer, where the question asks for what it says."""
    field = metadata_field(parsed.asking)
    found = [passage_of(one, origin) for one in index.unsearched(KIND)] if field else []
    if not found or f"{field}: " not in found[0].text:
        return answered
    told = found[0].model_copy(update={"coverage": 1.0, "pinned": True})
    return answered._replace(passages=(told,), support=(), missing=(), unresolved=())


def requirements_of(folder: Path, cited: str, within: Sequence[Path] | None) -> IndexedPassage | None:
    """The lines of a distribution's metadata about what it requires.

    Args:
        folder: the one that holds METADATA, or PKG-INFO.
        cited: that folder, as it is cited.
        within: the folders in one of which the file must really lie; anywhere if not given.
    """
    for name in ("METADATA", "PKG-INFO"):
        try:
            text = read_text(folder / name, limit=_MAX_METADATA_BYTES, within=within, errors="replace")
        except OSError:
            continue
        head = text.partition("\n\n")[0].split("\n")
        kept = [(number, line) for number, line in enumerate(head, start=1) if _FIELD.fullmatch(line)]
        kept = kept[:_MOST_LINES]
        if not kept:
            return None
        return IndexedPassage(
            kind=KIND,
            title=name,
            text="\n".join(line for _number, line in kept),
            locator=f"{cited}{name}:{kept[0][0]}",
            data={
                "kind": "section",
                "what": KIND,
                "lines": [[place, number] for place, (number, _line) in enumerate(kept)],
            },
        )
    return None
