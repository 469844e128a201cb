"""The core metadata of a distribution, read once: its long description, what it says that it requires, and the questions that this answers.

Its form is that of https://packaging.python.org/en/latest/specifications/core-metadata/: fields, an empty line, the long
description.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import IndexedPassage, metadata_field, read_text
from kr_plugins.sources.installed_docs.cited_passages import passage_of
from kr_plugins.sources.installed_docs.text_sections import TextFile

if TYPE_CHECKING:
    from kr_core.toolkit import Distribution, ParsedQuestion, PassageIndex
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin

REQUIREMENTS = "requirements"
"""The kind of the passage that holds the fields below."""
_MAX_BYTES = 20_000_000
_MOST_LINES = 200
_MOST_REQUIRED = 60
_FIELD = re.compile(
    r"Requires-Python: [\w .,<>=!~*+-]{1,200}|Provides-Extra: [\w.-]{1,80}|Requires-Dist: [\w .,<>=!~*+()\[\];'\"@:/-]{1,300}"
)
"""A value of any other form is left out, since it is shown as it is."""
_REQUIRED = re.compile(r"^Requires-Dist:[ \t]*+([A-Za-z0-9][\w.-]{0,200})([^\n]*)$", re.MULTILINE)
_OF_EXTRA = re.compile(r"\bextra\s*+==")


class Metadata(NamedTuple):
    """METADATA, or PKG-INFO, of a distribution."""

    title: str
    path: str
    """As it is cited: below the site-packages, or alone where the folder lies elsewhere."""
    fields: str
    description: str | None
    """None where no empty line ends the fields."""

    def readme(self) -> TextFile | None:
        """The long description, with the line of the file that it begins on."""
        if self.description is None:
            return None
        return TextFile("README", self.path, self.description, self.fields.count("\n") + 3)

    def requirements(self) -> IndexedPassage | None:
        """The versions of Python that are supported, the extras and the dependencies, as lines of the file."""
        lines = enumerate(self.fields.split("\n"), start=1)
        kept = [(number, line) for number, line in lines if _FIELD.fullmatch(line)][:_MOST_LINES]
        if not kept:
            return None
        return IndexedPassage(
            kind=REQUIREMENTS,
            title=self.title,
            text="\n".join(line for _number, line in kept),
            locator=f"{self.path}:{kept[0][0]}",
            data={
                "kind": "section",
                "what": REQUIREMENTS,
                "lines": [[place, number] for place, (number, _line) in enumerate(kept)],
            },
        )

    def required(self) -> list[str]:
        """The names of the distributions that are required without an extra."""
        found = _REQUIRED.findall(self.fields)[:_MOST_REQUIRED]
        return [name for name, rest in found if not _OF_EXTRA.search(rest)]


def read_metadata(distribution: Distribution) -> Metadata | None:
    """The metadata of a distribution; None where no file of it can be read."""
    folder = distribution.metadata_folder
    for name in ("METADATA", "PKG-INFO"):
        try:
            text = read_text(
                folder / name, limit=_MAX_BYTES, within=distribution.environment.bounds, errors="replace"
            )
        except OSError:
            continue
        fields, blank, description = text.partition("\n\n")
        path = f"{folder.name}/{name}" if folder.parent == distribution.site else name
        return Metadata(name, path, fields, description if blank else None)
    return None


def about_requirements(
    index: PassageIndex, parsed: ParsedQuestion, answered: IndexAnswer, origin: Origin
) -> IndexAnswer:
    """The metadata as the answer, where the question asks for what it says."""
    field = metadata_field(parsed.asking)
    found = [passage_of(one, origin) for one in index.unsearched(REQUIREMENTS)] if field else []
    if not found or f"{field}: " not in found[0].text:
        return answered
    told = found[0].model_copy(update={"coverage": 1.0, "pinned": True})
    return answered._replace(passages=(told,), support=(), missing=(), unresolved=())
