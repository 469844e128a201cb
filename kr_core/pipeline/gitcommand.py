"""Git's plumbing in one repository, by commands that run no hook, ask nothing and take the user's files as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Change", "Git", "RefusedError"]

_SECONDS = 60.0
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",  # it would start a program, too
    "core.safecrlf=false",  # KR's files have plain line ends; `core.autocrlf` still does what it does
    "commit.gpgSign=false",
    "i18n.commitEncoding=UTF-8",
)
_OURS = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_",
    "GIT_EXEC_",
)
_NEVER = "GIT_CONFIG_PARAMETERS"
"""What an outer `git -c key=value` hands to its hooks."""
_UNKNOWN_IDENTITY = (
    "tell me who you are",
    "auto-detect",
    "ident name",
    "no email was given",
    "no name was given",
)
_NO_FILE = b"0"


class RefusedError(Exception):
    """Git cannot or will not; the message says why, fit to be shown."""


class Change(NamedTuple):
    """What happened to a path: mode and object, before and after; mode 0 where there is none."""

    before: tuple[bytes, bytes]
    after: tuple[bytes, bytes]


class Git:
    """Git in one work tree.

    Args:
        program: the path of git.
        environ: its environment, already rid of what leads elsewhere.
        top: the work tree.
        folder: the repository's own folder, the work tree's part of it where there are several.
    """

    def __init__(self, program: str, environ: Mapping[str, str], top: Path, folder: Path) -> None:
        self._program = program
        self._environ = environ
        self.top = top
        self.folder = folder

    @classmethod
    def open(cls, where: Path, environ: Mapping[str, str]) -> Git | None:
        """Open the work tree that a folder lies in; None where it lies in none, as in a bare repository.

        Raises:
            RefusedError: git is not installed, or does not read the repository.
        """
        program = shutil.which("git", path=environ.get("PATH"))
        if program is None:
            raise RefusedError(
                "git is not installed; install it, or set knowledge_research.git_commit to off"
            )
        git = cls(program, _environment(environ), where, where)
        said = git("rev-parse", "--is-inside-work-tree", "--absolute-git-dir")
        inside, _, folder = said.partition(b"\n")
        if inside != b"true":
            return None
        top = git("rev-parse", "--show-toplevel")
        return cls(program, git._environ, *(Path(os.fsdecode(line[:-1])) for line in (top, folder)))

    def __call__(
        self, *arguments: str, stdin: bytes = b"", index: Path | None = None, ok: tuple[int, ...] = (0,)
    ) -> bytes:
        """What a git command prints.

        Args:
            arguments: the command and what follows it.
            stdin: what it reads.
            index: the index that it works on; the user's if not given.
            ok: exit codes that are no failure.

        Raises:
            RefusedError: it failed, or took too long.
        """
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        environ = {**self._environ, **({"GIT_INDEX_FILE": str(index)} if index else {})}
        try:
            done = subprocess.run(  # noqa: S603  no shell; names go through standard input
                [self._program, *settings, *arguments],
                check=False, capture_output=True, input=stdin, cwd=self.top, env=environ, timeout=_SECONDS,
                start_new_session=True,  # no terminal to ask on, and no part in our Ctrl-C
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RefusedError(f"`git {arguments[0]}` took longer than {_SECONDS:g} s") from None
        if done.returncode not in ok:
            raise RefusedError(_said(arguments[0], done.stderr.decode("utf-8", "replace")))
        return done.stdout

    def text(self, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> str:
        """A line that a command prints.

        Raises:
            RefusedError: it failed.
        """
        return self(*arguments, stdin=stdin, index=index).decode().strip()

    # -- trees and indexes -------------------------------------------------------------------------------

    def head(self) -> str:
        """The commit that HEAD is; empty before the first one."""
        return self("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1)).decode().strip()

    def tree_of(self, commit: str) -> str:
        """The tree of a commit; the empty tree for no commit."""
        if commit:
            return self.text("rev-parse", f"{commit}^{{tree}}")
        return self.text("hash-object", "-t", "tree", "-w", "--stdin")

    def tree(self, index: Path) -> str:
        """Write what an index holds as a tree."""
        return self.text("write-tree", index=index)

    def changes(self, before: str, after: str) -> dict[bytes, Change]:
        """The paths in which two trees differ."""
        return _changes(self("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after))

    def staged(self, tree: str, index: Path) -> dict[bytes, Change]:
        """The paths in which an index differs from a tree; what is only intended to be added does not count."""
        raw = ("-z", "--raw", "--no-renames", "--no-abbrev", "--ita-invisible-in-index")
        return _changes(self("diff-index", "--cached", *raw, tree, index=index))

    def enter(self, entries: Mapping[bytes, tuple[bytes, bytes]], *, index: Path) -> None:
        """Put mode and object of each path into an index; mode 0 removes it."""
        if entries:
            lines = (b"%s %s\t%s\0" % (mode, id_, path) for path, (mode, id_) in entries.items())
            self("update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)

    def merged(self, mine: bytes, *, base: bytes, other: bytes) -> bytes | None:
        """The object of a text with the changes from `base` to `other` made in it too; None where they conflict."""
        with tempfile.TemporaryDirectory() as scratch:
            names = [Path(scratch, name) for name in ("mine", "base", "other")]
            for name, id_ in zip(names, (mine, base, other), strict=True):
                name.write_bytes(self("cat-file", "blob", id_.decode()))
            try:
                text = self("merge-file", "-p", "-q", *map(str, names))
            except RefusedError:  # the number of conflicts, or not text
                return None
        return self("hash-object", "-w", "--stdin", stdin=text).strip()


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what an outer git command leads its hooks by: its repository, index, objects."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or (name.startswith(_OURS) and name != _NEVER)
    }
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }


def _changes(raw: bytes) -> dict[bytes, Change]:
    """Git's raw differences: `:100644 100755 1a2b 3c4d M`, the path, and so on, each ended by NUL."""
    fields = raw.split(b"\0")[:-1]
    found = {}
    for line, path in zip(fields[::2], fields[1::2], strict=True):
        mode_before, mode_after, before, after, _status = line.removeprefix(b":").split()
        found[path] = Change((_mode(mode_before), before), (_mode(mode_after), after))
    return found


def _mode(mode: bytes) -> bytes:
    return mode if mode.strip(b"0") else _NO_FILE


def _said(command: str, stderr: str) -> str:
    if any(said in stderr for said in _UNKNOWN_IDENTITY):
        return "git does not know who you are; `git config --global user.name NAME` and `user.email ADDRESS`"
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:"))] or stderr.split(
        "\n"
    )
    return printable(f"`git {command}` failed: {lines[0].strip()}")
