"""A file that the user names on the command line: a plain one, standard input, or what a shell hands over (`<(command)`)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kr_core import yaml_text
from kr_core.errors import ConfigError
from kr_core.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["document", "lines_of", "place_of", "text_of"]

LARGEST = 20_000_000
"""Bytes of a request or a batch: some 10,000 questions of a page each."""
_HANDED = re.compile(r"/dev/stdin|/(?:dev|proc/(?:self|\d+))/fd/\d+")
"""Where a shell puts a pipe; who names such a path means to have it read to its end."""


def text_of(name: str, folder: Path | None, root: Path) -> str:
    """The text of a file, whose name counts from the folder given with `-C`, or of standard input for `-`.

    Args:
        name: of the file.
        folder: the one that `-C` gives.
        root: of the project, out of which no link in it may lead.

    Raises:
        ConfigError: it cannot be read, is too large, is a pipe or device that was not handed over, lies behind a link out of
            the project, or has no UTF-8 text.
    """
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(LARGEST + 1)
        else:
            path = (folder or Path.cwd()).resolve() / name
            place_of(path, root)
            with _opened(path) as file:
                raw = file.read(LARGEST + 1)
        _check_size(name, raw)
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", where=name, hint="save it in UTF-8") from error
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise ConfigError(said, where=name, hint="name a file that can be read") from error


def document(name: str, text: str) -> Any:
    """What a file of requests or questions says: JSON is YAML too, so one reader serves both.

    Raises:
        ConfigError: it is neither; with the line.
    """
    try:
        return yaml_text.load(text)
    except (yaml_text.YAMLError, ValueError, RecursionError) as error:
        line = yaml_text.error_line(error) if isinstance(error, yaml_text.YAMLError) else None
        problem = str(getattr(error, "problem", None) or error)
        raise ConfigError(
            f"is neither YAML nor JSON: {problem}",
            where=f"{name}:{line}" if line else name,
            hint="mend it and ask again",
        ) from error


def lines_of(name: str) -> Iterator[str]:
    """The lines of a file, or of standard input for `-`, each as soon as it is there; what is not UTF-8 is replaced.

    Raises:
        ConfigError: it cannot be read, has a line that is too long, or is a pipe or device that was not handed over.
    """
    try:
        with sys.stdin.buffer if name == "-" else _opened(Path(name)) as file:
            while line := file.readline(LARGEST + 1):
                _check_size(name, line)
                yield line.decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=name) from None


def place_of(path: Path, root: Path) -> Path:
    """Where a file or folder really is that the user names; a link in the project may not lead out of it.

    Args:
        path: as it was given, from the working folder on.
        root: of the project.

    Raises:
        ConfigError: the path is in the project, and a link in it leads outside.
    """
    named = Path(os.path.normpath(path))
    place = Path(os.path.realpath(path))
    project = os.path.realpath(root)
    if not place.is_relative_to(project) and project in map(os.path.realpath, named.parents):
        here = Path.cwd()
        raise ConfigError(
            f"is in the project, and a link leads to {place}, outside of it",
            where=str(named.relative_to(here) if named.is_relative_to(here) else named),
            hint="give that path itself if you mean it",
        )
    return place


def _opened(path: Path) -> BinaryIO:
    return path.open("rb") if _HANDED.fullmatch(str(path)) else open_regular(path)


def _check_size(name: str, raw: bytes) -> None:
    if len(raw) > LARGEST:
        raise ConfigError(f"larger than {LARGEST:,} bytes", where=name, hint="divide it, or shorten it")
