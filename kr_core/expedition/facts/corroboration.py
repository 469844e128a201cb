"""Which signals speak for themselves: those of one site are one voice, so are copies of one text, and what a project's authors wrote."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kr_core.net import domains
from kr_core.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kr_core.model.expedition import Signal

__all__ = ["confidence_of", "document_of", "is_of_project", "site_of", "voices", "where"]

_COPIED = 8
"""Words that two writers do not choose alike: a longer quote that stands in two places was copied."""
_LINE = re.compile(r":\d+(?:-\d+)?$")
_INDEXED = re.compile(r"(docs:[^/#]+)")
"""What was indexed under one name."""
_DEBIAN = re.compile(r"/usr/share/doc/([^/]+)")


def document_of(url: str, locator: str) -> str:
    """The document that a passage stands in: its address without fragment, or the file of a package."""
    address = url.partition("#")[0].rstrip("/")
    if not url.startswith("pkg:"):
        return address
    file = _LINE.sub("", locator) if _LINE.search(locator) else ""
    return f"{address}/{file}" if file else address


def site_of(signal: Signal) -> str:
    """Who speaks: a site, a package, a person, a model. Files of one folder of documentation are one voice."""
    source = signal.source
    if signal.type == "INFERENCE":
        return f"INFERENCE:{signal.found_by}"
    if signal.type in {"USER", "SESSION"}:
        return f"{signal.type}:{source}"
    if source.startswith("pkg:"):
        return source.rpartition("@")[0].casefold() if "@" in source[4:] else source.casefold()
    if found := _INDEXED.match(source):
        return found[1]
    if found := _DEBIAN.search(source):
        return f"debian:{found[1]}"
    if site := domains.site_of(source):
        return site
    return source.partition("#")[0].rpartition("/")[0] or source


def is_of_project(signal: Signal) -> bool:
    """Whether only the project's authors vouch for it: a document of the project, or a package that came with the repository."""
    return not signal.official and signal.source.startswith(("file:", "pkg:"))


def where(signal: Signal) -> str:
    """Where a signal stands, in one line: its source and the place in it, the file named once."""
    if signal.locator.startswith(
        signal.source.partition(":")[2].partition("#")[0]
    ) and signal.source.startswith(("docs:", "file:")):
        return signal.locator
    return f"{signal.source} {signal.locator}".strip()


def voices(signals: Sequence[Signal]) -> list[list[Signal]]:
    """The signals in groups that do not depend on each other, in the order of their first ones."""
    groups: list[list[Signal]] = []
    for signal in signals:
        near = [group for group in groups if any(_depend(signal, other) for other in group)]
        if not near:
            groups.append([signal])
            continue
        near[0].append(signal)
        for other in near[1:]:  # it joins what had nothing to do with each other
            near[0].extend(other)
            groups.remove(other)
    return groups


def confidence_of(signals: Sequence[Signal]) -> float:
    """`1 - prod(1 - weight)` over independent signals; of those that depend on each other the weightiest counts."""
    doubt = 1.0
    for group in voices(signals):
        doubt *= 1 - max(signal.weight for signal in group)
    return round(1 - doubt, 4)


def _depend(one: Signal, other: Signal) -> bool:
    if site_of(one) == site_of(other) or (one.sha256 and one.sha256 == other.sha256):
        return True
    if is_of_project(one) and is_of_project(other):
        return True
    if "USER" in {one.type, other.type}:
        return False  # who states it may have read it there, and stands for it all the same
    ours, theirs = _said(one.quote), _said(other.quote)
    if not ours or not theirs:
        return False
    shorter, longer = sorted((ours, theirs), key=len)
    return len(shorter) >= _COPIED and _holds(longer, shorter)


@lru_cache(maxsize=4096)
def _said(quote: str) -> tuple[str, ...]:
    return tuple(words(quote))


def _holds(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    return f" {' '.join(shorter)} " in f" {' '.join(longer)} "
