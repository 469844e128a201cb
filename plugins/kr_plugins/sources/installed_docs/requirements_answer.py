"""Questions that the metadata of a distribution answers: versions of Python, extras, dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kr_core.toolkit import metadata_field
from kr_plugins.sources.installed_docs.cited_passages import passage_of
from kr_plugins.sources.installed_docs.metadata import REQUIREMENTS

if TYPE_CHECKING:
    from kr_core.toolkit import ParsedQuestion, PassageIndex
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer, Origin


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
