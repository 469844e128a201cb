"""Where the project's page is served, so that whoever shows a case can say where it is answered.

A server holds a lock on `.kr/serve.lock` for as long as it lives, also if it is killed; `.kr/serve.json` says what it is.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kr_core.files import is_locked, read_text, try_lock, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["present", "served_at"]

_LOCK, _FILE = "serve.lock", "serve.json"
_LARGEST = 10_000
_SECONDS = 1.0
_PAUSE = 0.01


@contextmanager
def present(state_folder: Path, url: str) -> Iterator[bool]:
    """Say where the page is served while this lasts; False where another server of the project says so already.

    Args:
        state_folder: the project's `.kr/`.
        url: the page's, without a slash at its end.

    Raises:
        OSError: the folder cannot be written.
    """
    end = time.monotonic() + _SECONDS
    while True:
        with try_lock(state_folder / _LOCK) as mine:
            if mine:
                write_atomically(state_folder / _FILE, json.dumps({"url": url, "pid": os.getpid()}))
            elif time.monotonic() < end:  # somebody may only be looking
                time.sleep(_PAUSE)
                continue
            yield mine
            return


def served_at(state_folder: Path) -> str | None:
    """The address of the project's page, without a trailing slash; None if no server runs."""
    try:
        if not is_locked(state_folder / _LOCK):
            return None
        url = json.loads(read_text(state_folder / _FILE, limit=_LARGEST))["url"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # it has ended, or is just beginning
        return None
    return url if isinstance(url, str) else None
