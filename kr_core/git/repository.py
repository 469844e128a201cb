"""Git's plumbing in one repository, by commands that run nothing, ask nothing and take the user's files as they are.

A repository's settings, and the attributes of its files, name programs: filters, hooks, monitors, helpers that fetch what is
missing. The project's author may have written them too. So this runs only commands that have no use for such a program,
with the rest turned off; a file enters as the bytes that it has, never through `git add` or `git update-index PATH`.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from kr_core.files import read_bytes
from kr_core.git.repository_settings import harmless_settings
from kr_core.git.worktree import GitRefusedError, WorkTree, find_work_tree, require_ending, shown
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Entry", "Git", "GitRefusedError"]

_SECONDS = 60.0
_READ_SECONDS = 10.0
"""For a command that only reads: of a few files, in a repository of any size."""
_READS = frozenset({"cat-file", "check-ignore", "config", "diff-index", "rev-parse", "var"})
_LARGEST = 256 * 1024 * 1024
"""In bytes: of a file that is committed."""
_SETTINGS = (
    "safe.bareRepository=explicit",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.fsmonitor=false",  # it would start a program, too
    "core.untrackedCache=keep",  # it names the work tree, which an index of ours has not got
    "commit.gpgSign=false",
    "credential.helper=",
    "fetch.bundleURI=",  # would be loaded before the protocol is looked at
    "i18n.commitEncoding=UTF-8",
)
_YES = ("true", "yes", "on", "1", "")
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
Entry: TypeAlias = tuple[bytes, bytes]
"""Mode and object of a path; mode 0 where there is no file."""


class Git:
    """Git in one work tree.

    Args:
        program: the path of git.
        environ: its environment, already rid of what leads elsewhere.
        top: the work tree.
        folder: the repository's own folder, the work tree's part of it where there are several.
        common: the part that all work trees share; not given where there is one.
    """

    def __init__(
        self, program: str, environ: Mapping[str, str], top: Path, folder: Path, common: Path | None = None
    ) -> None:
        self._program = program
        self._environ = environ
        self.top = top
        self.folder = folder
        self.common = folder if common is None else common
        self._settings: Mapping[str, str] = {}

    @classmethod
    def open(cls, where: Path, environ: Mapping[str, str]) -> Git | None:
        """Open the work tree that a folder lies in; None where it lies in none.

        Raises:
            RefusedError: git is not installed, does not read the repository, or must not.
            OSError: a file of the repository cannot be read.
        """
        tree = find_work_tree(where, environ)
        if tree is None:
            return None
        program = shutil.which("git", path=environ.get("PATH"))
        if program is None or not Path(program).is_absolute():  # another one could lie in the project
            raise GitRefusedError(
                "git is not installed; install it, or set knowledge_research.git_commit to off"
            )
        ours = _environment(environ)
        led = {**ours, "GIT_DIR": str(tree.folder), "GIT_WORK_TREE": str(tree.top)}
        git = cls(program, led, tree.top, tree.folder, tree.common)
        git._settings = harmless_settings(git, tree, environ)
        return None if _is_bare(cls(program, ours, tree.top, tree.folder), tree) else git

    def __call__(
        self, *arguments: str, stdin: bytes = b"", index: Path | None = None, ok: tuple[int, ...] = (0,)
    ) -> bytes:
        """What a git command prints.

        Args:
            arguments: the command and what follows it.
            stdin: what it reads.
            index: the index that it works on; the user's if not given. The command then sees no files of the work tree: whoever
                writes an index compares files that are as old as it is with their objects, through their filters.
            ok: exit codes that are not a failure.

        Raises:
            RefusedError: it failed, or took too long.
        """
        environ, cwd = dict(self._environ), self.top
        seconds = _READ_SECONDS if arguments[0] in _READS else _SECONDS
        if index:
            cwd = index.with_name("no-files")
            cwd.mkdir(exist_ok=True)
            environ |= {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(cwd)}
        try:
            done = subprocess.run(  # noqa: S603  no shell; names go through standard input
                self._argv(arguments),
                check=False, capture_output=True, input=stdin, cwd=cwd, env=environ, timeout=seconds,
                start_new_session=True,  # no terminal to ask on, and no part in our Ctrl-C
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise GitRefusedError(f"`git {arguments[0]}` took longer than {seconds:g} s") from None
        if done.returncode not in ok:
            raise GitRefusedError(_said(arguments[0], done.stderr.decode("utf-8", "replace")))
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command that is talked with by pipes; it ends at the end of what it reads."""
        return subprocess.Popen(  # noqa: S603  no shell
            self._argv(arguments),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.top, env=dict(self._environ),
            start_new_session=True,
        )  # fmt: skip

    def _argv(self, arguments: Iterable[str]) -> list[str]:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return [self._program, "--no-pager", *settings, *arguments]

    def text(self, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> str:
        """A line that a command prints.

        Raises:
            RefusedError: it failed.
        """
        return self(*arguments, stdin=stdin, index=index).decode().strip()

    def ignored(self, paths: Iterable[bytes]) -> set[bytes]:
        """Those of some paths that git ignores.

        Raises:
            RefusedError: git cannot say, or would wait for a `.gitignore`.
        """
        lines = list(paths)
        for folder in {above for path in lines for above in PurePosixPath(os.fsdecode(path)).parents}:
            require_ending(self.top / folder / ".gitignore")
        told = self(
            "check-ignore", "-z", "--stdin", stdin=b"".join(b"%s\0" % line for line in lines), ok=(0, 1)
        )
        return set(told.split(b"\0")[:-1])

    def exclude_rules(self) -> bytes:
        """What the user's own files say that git ignores: `core.excludesFile`, and `info/exclude` of the repository.

        Raises:
            RefusedError: git would wait for one of them.
            OSError: one cannot be read.
        """
        named = self._settings.get("core.excludesfile")
        configuration = Path(
            self._environ.get("XDG_CONFIG_HOME") or Path(self._environ.get("HOME", "/"), ".config")
        )
        place = (
            configuration / "git/ignore"
            if named is None
            else Path(self.text("config", "--path", "core.excludesFile"))
        )
        found = []
        for file in (self.top / place, self.common / "info/exclude"):
            require_ending(file)
            if file.is_file():
                found.append(read_bytes(file, limit=_LARGEST))
        return b"\n".join(found)

    # -- trees and indexes -------------------------------------------------------------------------------

    def branch(self) -> str:
        """The full name of the branch that is checked out; empty where HEAD is a commit."""
        return self("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).decode("utf-8", "surrogateescape").strip()

    def head(self) -> str:
        """The commit that HEAD is; empty before the first one."""
        return self("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1)).decode().strip()

    def has_commit(self, head: str, commit: str) -> bool:
        """Whether a commit is that of a branch, or before it."""
        return self.text("rev-list", "--max-count=1", "--ignore-missing", commit, f"^{head}") == ""

    def tree_of(self, commit: str) -> str:
        """The tree of a commit; the empty tree for no commit."""
        if commit:
            return self.text("rev-parse", f"{commit}^{{tree}}")
        return self.text("hash-object", "-t", "tree", "-w", "--stdin")

    def tree(self, index: Path) -> str:
        """Write what an index holds as a tree."""
        return self.text("write-tree", "--missing-ok", index=index)  # a partial clone has not got all of HEAD

    def staged(self, tree: str, index: Path) -> dict[bytes, Entry]:
        """What a tree holds of the paths in which an index differs; what is only intended to be added does not count."""
        form = ("-z", "--raw", "--no-renames", "--no-abbrev", "--ita-invisible-in-index")
        fields = self("diff-index", "--cached", *form, tree, index=index).split(b"\0")[:-1]
        found = {}
        for line, path in zip(
            fields[::2], fields[1::2], strict=True
        ):  # `:100644 100755 1a2b 3c4d M`, the path
            mode, _, object_id, *_ = line.removeprefix(b":").split()
            found[path] = (mode if mode.strip(b"0") else _NO_FILE, object_id)
        return found

    def enter(self, entries: Mapping[bytes, Entry], *, index: Path) -> None:
        """Put mode and object of each path into an index; mode 0 removes it."""
        if entries:
            lines = (b"%s %s\t%s\0" % (mode, id_, path) for path, (mode, id_) in entries.items())
            self("update-index", "-z", "--index-info", stdin=b"".join(lines), index=index)

    def objects(self, paths: Iterable[bytes]) -> dict[bytes, Entry]:
        """Mode and object of each file as it is now, by no filter; mode 0 where it is gone, links as themselves.

        Raises:
            RefusedError: git does not take it.
            OSError: it cannot be read, is too large, or is neither a file nor a link.
        """
        found = dict.fromkeys(paths, (_NO_FILE, self.no_object))
        there = []
        with tempfile.TemporaryDirectory() as scratch:
            for path in found:
                if (mode_and_text := self._read(self.top / os.fsdecode(path))) is not None:
                    there.append((path, mode_and_text[0]))
                    place = Path(scratch, str(len(there)))  # its own name could be two lines
                    place.write_bytes(mode_and_text[1])
            names = "".join(f"{scratch}/{number}\n" for number in range(1, len(there) + 1))
            ids = self("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=os.fsencode(names)).split()
        return found | {path: (mode, id_) for (path, mode), id_ in zip(there, ids, strict=True)}

    def written(self, files: Iterable[Path]) -> list[bytes]:
        """Put the bytes of files into the repository, by no filter; their names have no line end.

        Raises:
            RefusedError: git does not take them.
        """
        names = b"".join(os.fsencode(file) + b"\n" for file in files)
        return (
            self("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).split() if names else []
        )

    @property
    def no_object(self) -> bytes:
        """The id that means no object, in the length of the repository's hashes."""
        return b"0" * (64 if self._settings.get("extensions.objectformat") == "sha256" else 40)

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        return "sha256" if len(self.no_object) > 40 else "sha1"

    def _read(self, file: Path) -> tuple[bytes, bytes] | None:
        try:
            mode = file.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(mode):  # the file is gone, and there are others in its place
            return None
        if stat.S_ISLNK(mode):
            return b"120000", os.fsencode(file.readlink())
        text = read_bytes(file, limit=_LARGEST, within=self.top)
        if self._settings.get("core.autocrlf") in (*_YES, "input") and b"\0" not in text:
            text = text.replace(b"\r\n", b"\n")  # as git would, or it would show the file as changed
        executable = mode & stat.S_IXUSR and self._settings.get("core.filemode", "true") in _YES
        return b"100755" if executable else b"100644", text


def _is_bare(git: Git, tree: WorkTree) -> bool:
    """Whether git, left to find the repository itself, finds it bare; it refuses one that another user owns.

    Raises:
        RefusedError: it refuses it, or finds another.
    """
    bare, _, folder = git("rev-parse", "--is-bare-repository", "--absolute-git-dir").partition(b"\n")
    if os.path.realpath(os.fsdecode(folder[:-1])) != str(tree.folder):
        raise GitRefusedError(f"git takes another repository for {shown(tree.top)} than {shown(tree.folder)}")
    return bare == b"true"


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what an outer git command leads its hooks by (its repository, index, objects), and no way out."""
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
        "GIT_NO_LAZY_FETCH": "1",  # which older ones do not know
        "GIT_ALLOW_PROTOCOL": os.urandom(16).hex(),  # none; a known one may have an alias for its helper
    }


_QUOTING = re.compile(r"(\b(?:bad|invalid|unexpected|malformed)[\w ]{1,40}(?:line|data)\b).*")
"""Where git quotes a line of a file that it does not know: it may be any file's, by a link."""


def _said(command: str, stderr: str) -> str:
    if any(said in stderr for said in _UNKNOWN_IDENTITY):
        return "git does not know who you are; `git config --global user.name NAME` and `user.email ADDRESS`"
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:"))] or stderr.split(
        "\n"
    )
    said = _QUOTING.sub(r"\1", lines[0].strip())
    return printable(f"`git {command}` failed: {said}")
