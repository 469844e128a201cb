"""What of an agent's work may land: a verdict for each path, from two manifests of raw hashes.

Nothing that an agent can change is asked: not its index, not its ignore rules, not its attributes. What lands is read once more,
file by file, without following a link, and is compared with the hash that the verdict was about.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.dispatch.manifest import LARGEST, changes, scan
from kr_core.dispatch.scopes import folded
from kr_core.dispatch.workspace import CHANGEABLE
from kr_core.git.raw_checkout import GITLINK, LINK, tree_entries
from kr_core.git.worktree import GitRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kr_core.dispatch.manifest import Change, Manifest, Node
    from kr_core.dispatch.scopes import Scope
    from kr_core.dispatch.workspace import Workspace
    from kr_core.git.repository import Entry, Git

__all__ = [
    "CACHES",
    "Refusal",
    "Verdict",
    "judge",
    "objects_of",
    "patch_of",
    "require_own_names",
    "without_ignored",
]

CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "node_modules"}
)
"""Folders that tools fill beside the work. They never land, and are not held against anyone."""
_TOLD = 500
"""Changed paths, and refused ones, that are on record."""
_LITTLE = 8192
"""Bytes of the files of git that are read: a path and a line end at most."""
_GROWTH = 2 * 2**30
"""Bytes that a worktree may grow by; files with holes could keep KR reading for ever."""
_NO_FILE = b"0"
_ODD_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_KINDS = {
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Refusal(NamedTuple):
    """A path that an agent may not have changed, and why."""

    path: str
    """As a person reads it; relative to the worktree."""
    reason: str


class Verdict(NamedTuple):
    """What an agent has changed."""

    allowed: tuple[Change, ...]
    """Files and links inside the scope; they land if nothing is refused."""
    refused: tuple[Refusal, ...]
    all: tuple[Change, ...]
    """Every file and link that differs, wherever it is."""

    @property
    def told(self) -> list[dict[str, str]]:
        """What was refused as the record has it: an agent may have changed a million files."""
        more = len(self.refused) - _TOLD
        last = [Refusal("...", f"and {more:,} more")] if more > 0 else []
        return [one._asdict() for one in (*self.refused[:_TOLD], *last)]

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths that would land, as the record has them."""
        more = len(self.allowed) - _TOLD
        last = [f"... and {more:,} more"] if more > 0 else []
        return (*(_shown(change.path) for change in self.allowed[:_TOLD]), *last)


def judge(workspace: Workspace, scope: Scope, granted: Iterable[str] = ()) -> Verdict:
    """Look at a worktree after its agent has ended, and say what may land.

    Args:
        workspace: as it was before.
        scope: of the agent's role.
        granted: paths that a person has granted for this task.

    Raises:
        OSError: the worktree cannot be read.
    """
    after = scan(workspace.tree, workspace.before, skip=(".git",), growth=_GROWTH)
    differing = [one for one in changes(workspace.before, after) if not _is_cache(one.path, workspace.before)]
    files = [one for one in differing if not _is_folder(one)]
    judgement = _Judgement(workspace, scope, frozenset(granted), after)
    refused = [*judgement.of_repository()]
    allowed = []
    for change in files:
        fault = judgement.fault(change)
        if fault:
            refused.append(Refusal(_shown(change.path), fault))
        elif judgement.is_content(change):
            allowed.append(change)
    above = {parent for one in files for parent in _parents(one.path)}
    folders = [one for one in differing if _is_folder(one) and one.path not in above]
    faults = ((one.path, judgement.fault_of_folder(one)) for one in folders)
    refused += [Refusal(_shown(path), fault) for path, fault in faults if fault]
    return Verdict(tuple(allowed), tuple(refused), tuple(files))


def without_ignored(git: Git, verdict: Verdict) -> Verdict:
    """The verdict without the new files that the project's git ignores: they do not land, as `git add` would not take them.

    Raises:
        GitRefusedError: git cannot say.
    """
    ignored = git.ignored(os.fsencode(one.path) for one in verdict.allowed if one.before is None)
    return verdict._replace(
        allowed=tuple(one for one in verdict.allowed if os.fsencode(one.path) not in ignored)
    )


class _Judgement:
    """What the verdict on each path rests on."""

    def __init__(self, workspace: Workspace, scope: Scope, granted: frozenset[str], after: Manifest) -> None:
        self._workspace = workspace
        self._scope = scope
        self._granted = granted
        self._after = after
        self._modules = {
            os.fsdecode(path) for path, entry in workspace.entries.items() if entry[0] == GITLINK
        }
        self._names: dict[str, set[str]] | None = None

    def of_repository(self) -> list[Refusal]:
        """What has changed in the worktree's own repository: hooks, settings, branches."""
        own = self._workspace.tree / ".git"
        if own.is_symlink() or not own.is_dir():
            return [Refusal(".git", "the repository of the worktree was removed or replaced")]
        now = scan(own, self._workspace.repository, skip=CHANGEABLE, growth=_GROWTH)
        found = []
        for change in changes(self._workspace.repository, now):
            if _is_folder(change) and change.path.split("/")[0] in {"refs", "hooks", "info"}:
                continue  # git makes and removes empty ones
            if change.path == "HEAD" and _is_commit(_little(own / "HEAD")):
                continue  # it has committed; the files decide
            what = (
                "a branch or tag"
                if change.path.startswith(("refs/", "packed-refs", "HEAD"))
                else "hooks, settings or rules of git"
            )
            found.append(Refusal(_shown(f".git/{change.path}"), f"it changed {what}"))
        same = _little(own / "objects/info/alternates") == os.fsencode(self._workspace.objects) + b"\n"
        return (
            found
            if same
            else [*found, Refusal(".git/objects/info/alternates", "it changed where git finds objects")]
        )

    def fault(self, change: Change) -> str:
        """Why a file or link may not change like this; empty where it may."""
        path, node = change.path, change.after
        if outside := self._outside(path):
            return outside
        parents = _parents(path)
        if module := next((one for one in (*parents, path) if one in self._modules), ""):
            return f"`{module}` is a submodule"
        if any(stat.S_ISLNK(self._after.nodes[one][0]) for one in parents if one in self._after.nodes):
            return "a folder on its way is a link"
        if node is None:
            return ""
        mode, size = node[0], node[1]
        if what := _KINDS.get(stat.S_IFMT(mode)):
            return f"it is {what}"
        if stat.S_ISLNK(mode):
            return self._fault_of_link(path)
        if node[5] != 1:
            return "it has another name as well (a hard link)"
        if mode & _ODD_BITS:
            return "it would run with the rights of its owner or group"
        if size > LARGEST:
            return f"it is larger than {LARGEST // 2**20} MB"
        if node[6] is not None and node[6].startswith(b"unreadable:"):
            return "it cannot be read"
        return self._collision(path) if change.before is None else ""

    def fault_of_folder(self, change: Change) -> str:
        """Why a folder without changed files may not be made, removed or changed like this."""
        return self._outside(change.path) or (
            "a folder is a submodule" if change.path in self._modules else ""
        )

    @staticmethod
    def is_content(change: Change) -> bool:
        """Whether git would see the change: of permissions it knows only whether a file can be run."""
        old, new = change.before, change.after
        if old is None or new is None or stat.S_IFMT(old[0]) != stat.S_IFMT(new[0]):
            return True
        return old[6] != new[6] or (stat.S_ISREG(new[0]) and bool((old[0] ^ new[0]) & stat.S_IXUSR))

    def _outside(self, path: str) -> str:
        if path in self._granted and self._scope.is_grantable(path):
            return ""
        return self._scope.fault(os.fsencode(path))

    def _fault_of_link(self, path: str) -> str:
        try:
            target = str((self._workspace.tree / path).readlink())
        except OSError:
            return "it cannot be read"
        if target.startswith("/"):
            return "it is a link out of the repository"
        steps = [step for step in target.split("/") if step not in {"", "."}]
        if ".." in steps[next((n for n, step in enumerate(steps) if step != ".."), len(steps)) :]:
            return "it is a link that goes up behind another one"
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120  by the words alone
        if place.startswith("../") or place == ".." or self._outside(place):
            return f"it is a link to `{_shown(target)[:200]}`, outside of the scope"
        return self._collision(path)

    def _collision(self, path: str) -> str:
        """Why a new name is another one on some systems: it differs only in case or Unicode form."""
        if self._names is None:
            self._names = {}
            for one in self._after.nodes:
                self._names.setdefault(folded(one), set()).add(one)
        for part in (path, *_parents(path)):
            if other := self._names.get(folded(part), set()) - {part}:
                return f"on some systems its name is that of `{_shown(min(other))}`"
        return ""


def _little(file: Path) -> bytes:
    """The content of a small file; empty for all else: a pipe would keep KR waiting, a link lead to what has no end."""
    try:
        with os.fdopen(os.open(file, _FILE), "rb") as opened:
            return opened.read(_LITTLE) if stat.S_ISREG(os.fstat(opened.fileno()).st_mode) else b""
    except OSError:
        return b""


def _is_commit(head: bytes) -> bool:
    text = head.strip()
    return len(text) in {40, 64} and set(text) <= set(b"0123456789abcdef")


def _is_cache(path: str, before: Manifest) -> bool:
    """Whether a path is in a folder of a tool, which the branch does not have."""
    parts = path.split("/")
    at = next((number for number, part in enumerate(parts) if part in CACHES), None)
    return at is not None and "/".join(parts[: at + 1]) not in before.nodes


def _is_folder(change: Change) -> bool:
    """Whether it was a folder and is one, or is gone or new as one."""
    nodes = [node for node in (change.before, change.after) if node is not None]
    return all(stat.S_ISDIR(node[0]) for node in nodes)


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts))]


def _shown(path: str) -> str:
    """A path as a person, or JSON, reads it: odd bytes by their numbers."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# -- what lands, and what is kept aside ---------------------------------------------------------------------


def require_own_names(git: Git, workspace: Workspace, found: Iterable[Change]) -> None:
    """Check that the names of new files are on no system those of files that have come to the branch since.

    Raises:
        GitRefusedError: one is.
    """
    new, head = [one.path for one in found if one.before is None], git.head()
    if not new or head == workspace.base:
        return
    names: dict[str, set[str]] = {}
    for entry in tree_entries(git, head):
        path = os.fsdecode(entry)
        for part in (path, *_parents(path)):
            names.setdefault(folded(part), set()).add(part)
    for path in new:
        for part in (path, *_parents(path)):
            if other := min(names.get(folded(part), set()) - {part}, default=""):
                said = f"on some systems the name of {_shown(path)} is that of {_shown(other)}"
                raise GitRefusedError(f"{said}, which has come to the branch meanwhile")


def objects_of(
    git: Git, workspace: Workspace, found: Sequence[Change], *, exact: bool = True
) -> dict[bytes, Entry]:
    """Put changed files into the project's repository, as the bytes that the verdict was about.

    Args:
        git: of the project.
        workspace: where they lie.
        found: files and links.
        exact: refuse what is not as it was; without it, leave out what git cannot hold.

    Raises:
        GitRefusedError: one has changed since.
        OSError: one cannot be read.
    """
    entries: dict[bytes, Entry] = {}
    with tempfile.TemporaryDirectory() as scratch:
        files: dict[bytes, tuple[bytes, Path]] = {}
        for change in found:
            path = os.fsencode(change.path)
            node = change.after
            if node is None or stat.S_ISDIR(
                node[0]
            ):  # of a file that is a folder now, what lies in it is another change
                entries[path] = (_NO_FILE, git.no_object)
                continue
            content = _content(workspace.tree, change.path, node)
            if content is None:
                if exact:
                    raise GitRefusedError(f"{_shown(change.path)} has changed while KR looked at it")
                continue
            mode = LINK if stat.S_ISLNK(node[0]) else b"100755" if node[0] & stat.S_IXUSR else b"100644"
            place = Path(scratch, str(len(files)))
            place.write_bytes(content)
            files[path] = (mode, place)
        ids = git.written(place for _mode, place in files.values())
        entries |= {path: (mode, id_) for (path, (mode, _place)), id_ in zip(files.items(), ids, strict=True)}
    return entries


def _content(tree: Path, path: str, node: Node) -> bytes | None:
    """The bytes of a file, or where a link leads; None where they are not those of the manifest."""
    parts = path.split("/")
    handle = os.open(tree, _FOLDER)
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = below
        if stat.S_ISLNK(node[0]):
            content = os.fsencode(os.readlink(parts[-1], dir_fd=handle))
        elif not stat.S_ISREG(node[0]) or node[1] > LARGEST:
            return None
        else:
            with os.fdopen(os.open(parts[-1], _FILE, dir_fd=handle), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                content = file.read(LARGEST + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return content if hashlib.sha256(content).digest() == node[6] else None


def patch_of(git: Git, workspace: Workspace, found: Sequence[Change]) -> bytes:
    """The difference of a task as a patch that `git apply` reads; special files and too large ones are not in it.

    Raises:
        GitRefusedError: git does not make it.
    """
    plain = [one for one in found if ".git" not in one.path.casefold().split("/")]
    entries = objects_of(git, workspace, plain, exact=False)
    with tempfile.TemporaryDirectory() as scratch:
        index = Path(scratch, "index")
        git("read-tree", workspace.base, index=index)
        for part in _accepted_by_git(entries):
            git.enter(part, index=index)
        tree = git.tree(index)
        form = (
            "-p",
            "-r",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
        )
        return git("diff-tree", *form, workspace.base, tree, index=index)


def _accepted_by_git(entries: Mapping[bytes, Entry]) -> list[dict[bytes, Entry]]:
    """Entries in the order in which an index takes them: what goes makes room for what comes."""
    gone = {path: entry for path, entry in entries.items() if entry[0] == _NO_FILE}
    return [gone, {path: entry for path, entry in entries.items() if path not in gone}]
