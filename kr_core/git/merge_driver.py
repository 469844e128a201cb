"""Git's merge driver for the index: `kr init` sets it up, and git runs `kr cache merge` where both branches changed the index.

Two things are needed. Which files are merged so is a line of `.gitattributes` in the knowledge base, and comes with every clone. What
git runs is a setting of the clone, which does not travel with it: each person makes it with `kr init --git`. Without it git merges
the index by lines, as any text.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kr_core.errors import ConfigError, StorageError
from kr_core.files import lies_within, read_text, write_atomically
from kr_core.git.repository import Git
from kr_core.git.worktree import GitRefusedError, shown

if TYPE_CHECKING:
    from kr_core.config import Config

__all__ = ["DRIVER", "describe_missing_driver", "set_up_merge_driver"]

DRIVER = "kr cache merge %O %A %B"
"""What git runs: the names of three files that git makes, and nothing that comes from the repository."""
_ATTRIBUTES = ".gitattributes"
_NAME = "merge.kr-index.name"
_SETTING = "merge.kr-index.driver"
_MARK = "merge=kr-index"
_LINES = (f"index.yaml {_MARK}", f"_archived-index.yaml {_MARK}")
_LARGEST = 1024 * 1024


def set_up_merge_driver(config: Config) -> list[str]:
    """Name the files, and tell git what merges them; returns what was done, nothing outside a work tree.

    Raises:
        ConfigError: the knowledge base lies outside the work tree, or git refuses.
        StorageError: a file cannot be written.
    """
    base = Path(os.path.realpath(config.knowledge_base))
    try:
        git = Git.open(Path(os.path.realpath(config.root)), config.environ)
        if git is None:
            return []
        if not lies_within(base, git.top):
            hint = "set it up in the work tree of the knowledge base"
            raise ConfigError("the knowledge base lies outside this work tree", where=shown(base), hint=hint)
        done = _name_files(base / _ATTRIBUTES)
        if _driver(git) != DRIVER:
            git("config", "--local", _NAME, "KR merges the index by its entries")
            git("config", "--local", _SETTING, DRIVER)
            done.append(f"git merges the index with `{DRIVER}` in this clone")
    except GitRefusedError as refused:
        raise ConfigError(f"the merge driver was not set up: {refused}", where=shown(config.root)) from None
    except OSError as error:
        where = shown(error.filename or base)
        raise StorageError(f"cannot be written: {error.strerror or error}", where=where) from error
    except UnicodeDecodeError:
        where, hint = shown(base / _ATTRIBUTES), "save it in UTF-8"
        raise StorageError("is not UTF-8 text", where=where, hint=hint) from None
    return done


def describe_missing_driver(config: Config) -> str:
    """What `kr doctor` says of a clone that names the driver and has not set it up; empty where all is well."""
    try:
        if not any(line in _lines(config.knowledge_base / _ATTRIBUTES) for line in _LINES):
            return ""
        git = Git.open(Path(os.path.realpath(config.root)), config.environ)
        if git is None or _driver(git) == DRIVER:
            return ""
    except (GitRefusedError, OSError, UnicodeError):
        return ""
    return (
        "git merges index.yaml line by line in this clone, and two new answers conflict; run `kr init --git`"
    )


def _driver(git: Git) -> str:
    return git("config", "--get", _SETTING, ok=(0, 1)).decode("utf-8", "replace").strip()


def _lines(file: Path) -> list[str]:
    """The lines of a file of attributes, none if it is not there; git follows no link to one, and nor does KR.

    Raises:
        OSError: it cannot be read, or is a link, which could lead to any file of the user's.
    """
    if file.is_symlink():
        raise OSError(errno.ELOOP, "it is a link; put a file in its place", str(file))
    try:
        return read_text(file, limit=_LARGEST, within=file.parent).splitlines()
    except FileNotFoundError:
        return []


def _name_files(file: Path) -> list[str]:
    """Add the lines that the file lacks; the others stay."""
    lines = _lines(file)
    if lacking := [line for line in _LINES if line not in lines]:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, "".join(f"{line}\n" for line in [*lines, *lacking]))
        return [f"wrote {file}; commit it"]
    return []
