"""A change of a user's file: shown as a difference before it is made, and made only where the file is still as it was."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, NamedTuple

from kr_core.errors import ConfigError
from kr_core.files import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FileEdit", "check_writable", "difference", "text_of"]

_LARGEST = 200_000
_MOST_LINES = 2_000
"""Of a file that is changed: to compare many lines that are alike takes hours."""
_BY_HAND = "change it by hand"


class FileEdit(NamedTuple):
    """A file as it is, and as it shall be; None where there is none. Only a text of KR's own is removed."""

    path: Path
    before: str | None
    after: str | None


def text_of(folder: Path, path: Path, limit: int = _LARGEST) -> str | None:
    """The text of a file of the project, with its line ends; None where there is none.

    Raises:
        ConfigError: it leads out of the folder or into `.git`, is not a regular file, or cannot be read.
    """
    try:
        target = path.resolve()
        if not target.is_relative_to(folder.resolve()):
            raise ConfigError(f"leads out of the project, to {target}", where=str(path), hint=_BY_HAND)
        if ".git" in map(str.casefold, target.relative_to(folder.resolve()).parts):
            raise ConfigError("leads into a `.git` folder, which is git's alone", where=str(path))
        if not target.exists():
            if path.is_symlink():
                raise ConfigError(
                    f"is a link to {target}, which is not there", where=str(path), hint=_BY_HAND
                )
            return None
        if not target.is_file():  # a pipe would be waited for
            raise ConfigError("is not a regular file", where=str(path), hint=_BY_HAND)
        return read_bytes(target, limit=limit, within=folder).decode()
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", where=str(path), hint="save it in UTF-8") from error
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        said = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot be read: {said}", where=str(path)) from error


def check_writable(path: Path) -> None:
    """A file that is protected is not replaced by another one, though the folder would allow it.

    Raises:
        ConfigError: it is protected.
    """
    target = path.resolve()
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise ConfigError("may not be written", where=str(path), hint="allow it, and run this again")


def difference(folder: Path, change: FileEdit) -> str:
    """The change as a unified diff.

    Raises:
        ConfigError: the file has too many lines.
    """
    name = os.path.relpath(change.path, folder)
    before, after = (
        (text or "").removeprefix("\ufeff").replace("\r\n", "\n").splitlines(keepends=True)
        for text in (change.before, change.after)
    )
    if len(before) + len(after) > _MOST_LINES:
        raise ConfigError("has too many lines to show what would change", where=name, hint=_BY_HAND)
    old, new = (
        "/dev/null" if text is None else f"{side}/{name}"
        for text, side in ((change.before, "a"), (change.after, "b"))
    )
    lines = difflib.unified_diff(before, after, old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
