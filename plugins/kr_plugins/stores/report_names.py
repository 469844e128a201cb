"""Which names reports may have, the same in every store, and when two entries are about the same."""

from __future__ import annotations

import hashlib
import itertools
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kr_core.toolkit import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kr_core.plugin import Entry

__all__ = ["is_about", "is_report_path", "paths_for"]


@lru_cache(maxsize=4096)  # each change of an index asks of all its entries
def is_report_path(path: str) -> bool:
    """Whether a path can be that of a report of this knowledge base; links are followed elsewhere."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    strange = not path.endswith(".md") or "\\" in path or parts[:1] == ["lessons"] or path.startswith("/")
    return not strange and not any(part.startswith(".") for part in parts)


def is_about(known: Entry, entry: Entry) -> bool:
    """Whether two entries are about the same topic of the same framework."""
    return fold_name(known.framework) == fold_name(entry.framework) and fold_name(known.topic) == fold_name(
        entry.topic
    )


def paths_for(entry: Entry) -> Iterator[str]:
    """The entry's path, and then the same with one suffix after another, for where it is not free."""
    path = PurePosixPath(entry.path)
    digests = (hashlib.sha256(f"{entry.id}\0{n}".encode()).hexdigest()[:8] for n in itertools.count())
    yield path.as_posix()
    yield from (path.with_stem(f"{path.stem}-{digest}").as_posix() for digest in digests)
