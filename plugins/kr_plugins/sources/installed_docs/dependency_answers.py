"""Answers of direct dependencies, asked where a library's own documentation does not answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kr_core.toolkit import COVERED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kr_core import Passage
    from kr_plugins.sources.installed_docs.cited_passages import IndexAnswer

_WEIGHT = 0.7
"""What a dependency's passage counts beside one of the library itself."""
_LEAST = _WEIGHT * COVERED
"""A passage that does not answer by itself is left out: any package has its words."""
_OWN_FIRST = 0.6
"""The library's own best comes first if it says so much of what a dependency's best says."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*+")
_MOST_LOOKED_AT = 8
_MOST = 3
"""Passages of dependencies that are shown."""


_REFERS = re.compile(
    r"\b(?:(?:is )?(?:based|built) on|wrapper (?:around|for|of)|wraps|re-?exported from|passed (?:along )?to) `?@?[\w./-]+",
    re.IGNORECASE,
)


def is_answered(own: IndexAnswer, expected: Collection[str] = (), *, hands_on: bool = False) -> bool:
    """Whether a library's own documentation says enough of a question that nothing else is asked.

    Args:
        own: what it says.
        expected: the names of the request; one that its documentation only mentions may be a dependency's.
        hands_on: whether it may document what it hands on only by name, as `express` does `express.static`: then
            what the question names is not enough.
    """
    if not own.passages or (hands_on and any(map(_refers, own.passages))):
        return False
    if any(one.mentioned and one.name in expected for one in own.unresolved):
        return False
    if own.unresolved and (hands_on or not own.passages[0].pinned):
        return False
    return (own.passages[0].pinned and not hands_on) or own.passages[0].coverage >= COVERED


def _refers(passage: Passage) -> bool:
    """Whether what a question names is documented elsewhere, as the documentation says."""
    return passage.pinned and _REFERS.search(passage.text) is not None


def merge(
    own: IndexAnswer, others: Iterable[IndexAnswer], framework: str, expected: Iterable[str] = ()
) -> IndexAnswer:
    """The library's passages with those of its dependencies that say more of the question, each with its origin.

    Args:
        own: what the library itself says.
        others: what its dependencies say.
        framework: the name of the library.
        expected: the names of the request; a function or class of a dependency with one of them counts.
    """
    pinned, expected = _asked_about(own), tuple(expected)
    absent = dict.fromkeys((name.name for name in own.unresolved), False)
    absent |= {name: True for name in expected if name in absent}
    names = {name.rpartition(".")[2] for name in expected}
    namesakes = {name.lower() for name in names}  # `Router` is that of `router`
    told = " ".join([*(f"{passage.lead} {passage.text}" for passage in pinned), *sorted(namesakes)])
    best = max((passage.coverage for passage in own.passages), default=0.0)
    found = [each for answered in others for each in _telling(answered, told, best, framework, absent)]
    if not found:
        return own

    def order(one: tuple[Passage, IndexAnswer]) -> tuple[bool, int, float]:
        said = names.intersection(_NAME.findall(one[0].text)) if name_of(one[0]) in namesakes else ()
        return not _is_absent(one[0], absent), -len(said), -one[0].coverage

    found = sorted(found, key=order)[:_MOST]
    used = [answered for _passage, answered in found]
    added = [passage for passage, _answered in found]
    said = "\n".join(f"{passage.title}\n{passage.text}" for passage in added)
    kept = pinned
    if not pinned and not _is_absent(added[0], absent):
        kept = [one for one in own.passages[:1] if one.coverage >= _OWN_FIRST * added[0].coverage]
    return own._replace(
        unresolved=tuple(name for name in own.unresolved if name.name not in said),
        passages=(*kept, *added, *(one for one in own.passages if one not in kept)),
        support=(*used[0].support, *own.support),
        missing=_in_all([own.missing, *(one.missing for one in used)]),
    )


def _asked_about(own: IndexAnswer) -> list[Passage]:
    """What the question names; of that what refers to another package, where anything does."""
    pinned = [passage for passage in own.passages if passage.pinned]
    return [passage for passage in pinned if _refers(passage)] or pinned


def _telling(
    answered: IndexAnswer, told: str, best: float, framework: str, absent: Mapping[str, bool]
) -> Iterator[tuple[Passage, IndexAnswer]]:
    """The passages of a dependency that say more than the library's best; of one that it refers to, all that answer.

    What the question names and the library does not have is there if the dependency has it.

    Args:
        answered: what the dependency says.
        told: what the library says of what the question names.
        best: the most of the question that a passage of the library covers.
        framework: the name of the library.
        absent: the names that it does not have, and whether the asker expects each.
    """
    for passage in answered.passages[:_MOST_LOOKED_AT]:
        package = name_of(passage)
        is_referred_to = _is_named(package, told)
        weighted = passage.model_copy(
            update={
                "coverage": (1.0 if is_referred_to else _WEIGHT) * passage.coverage,
                "notes": (*passage.notes, f"from {package}, which {framework} uses"),
            }
        )
        if _is_absent(passage, absent) or weighted.coverage > (
            _LEAST if is_referred_to else max(best, _LEAST)
        ):
            yield weighted, answered


def _is_absent(passage: Passage, absent: Mapping[str, bool]) -> bool:
    """Whether a passage is about what the question names and the library does not have: a setting, a parameter, a function."""
    name = passage.parameter or (passage.symbol or passage.title.rpartition(" § ")[2]).rpartition(".")[2]
    return any(
        one in absent and (passage.pinned or (absent[one] and not passage.parameter))
        for one in (name, passage.symbol or "")
    )


def _is_named(package: str, text: str) -> bool:
    """Whether a text names a package: `is based on serve-static`."""
    return bool(package) and re.search(rf"(?<![\w-]){re.escape(package)}(?![\w-])", text) is not None


def name_of(passage: Passage) -> str:
    """The package of a passage, from its package URL: `pkg:npm/%40scope/name@1.0`."""
    name = (passage.url or "").partition("/")[2].rpartition("@")[0]
    return unquote(name)


def _in_all(missing: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    first, *rest = missing
    return tuple(word for word in first if all(word in other for other in rest))
