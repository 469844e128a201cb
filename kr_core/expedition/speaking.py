"""Which installed packages speak of a thing that a question spells as a name, in their own sources: `server-sent events`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kr_core.files import read_bytes, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from kr_core.knowledge.distributions import Distribution

__all__ = ["speaking"]

_MOST_BYTES = 40_000_000
"""Of sources that are read for one question: about half a second."""
_LARGEST = 400_000
"""Bytes of a file; what is larger is a table or was generated."""
_LARGEST_RECORD = 50_000_000
_PASSED_OVER = re.compile(r"(?:^|/)(?:tests?|testing|_?vendor(?:ed)?|examples?)/|\.\./")
_BETWEEN = rb"[-_\s]?"


def speaking(names: Iterable[str], packages: Sequence[Distribution]) -> list[str]:
    """The packages whose sources hold one of these names, however it is joined (`ServerSentEvent`); in the order given.

    Reads files; call it off the event loop.

    Args:
        names: as the question spells them.
        packages: the likeliest first: what comes after the limit of bytes is not read.
    """
    forms = [_BETWEEN.join(re.escape(part.encode()) for part in _parts(name)) for name in names]
    if not forms:
        return []
    wanted = re.compile(b"|".join(forms), re.IGNORECASE)
    left = _MOST_BYTES
    found: list[str] = []
    for one in packages:
        for path in _sources(one):
            try:
                size = path.stat().st_size
                if size > _LARGEST:
                    continue
                left -= size
                if left < 0:
                    return found
                held = wanted.search(read_bytes(path, limit=_LARGEST, within=one.environment.bounds))
            except OSError:  # taken away meanwhile
                continue
            if held:
                found.append(one.name)
                break
    return found


def _parts(name: str) -> list[str]:
    """The parts of a name, a plural's `s` aside."""
    parts = [part for part in re.split(r"[\W_]+", name) if part]
    parts[-1:] = [re.sub(r"(?<=\w{3})s$", "", part) for part in parts[-1:]]
    return parts


def _sources(one: Distribution) -> Iterator[Path]:
    """The Python files that a distribution says it has brought."""
    try:
        listed = read_text(
            one.metadata_folder / "RECORD",
            limit=_LARGEST_RECORD,
            within=one.environment.bounds,
            errors="replace",
        )
    except OSError:
        return
    for line in listed.split("\n"):
        name = line.partition(",")[0]
        if name.endswith((".py", ".pyi")) and not _PASSED_OVER.search(name):
            yield one.site / name
