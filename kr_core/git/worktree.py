"""Which git repository a folder belongs to, found without git: the one of the nearest `.git`, if it really belongs there.

Git itself takes more for a repository: any folder with `HEAD`, `objects` and `refs`, and whatever a `.git` file leads to. The
settings of a repository name programs for git to run, and such a folder comes with a clone like any other. So KR takes

- a `.git` folder,
- a `.git` file of a linked worktree, whose repository has it on its list (gitrepository-layout(5): `worktrees/<id>/gitdir`),
- a `.git` file of a submodule, whose repository lies in `modules` of the one above.

What git would write must lie in the repository itself: a link in the place of `logs/HEAD` could lead to any file of the user's.
What it would read must end: git waits for ever for a pipe that has no writer.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from contextlib import suppress
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.files import lies_within, read_bytes
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "GitRefusedError",
    "WorkTree",
    "bare_repositories",
    "describe_bare",
    "find_work_tree",
    "require_ending",
    "require_plain",
    "shown",
]

_LONGEST = 16_384
"""In bytes: of a file that holds one path or the name of one ref."""
_DEPTH = 5
"""How many refs may lead from one to the next: git follows no more."""
_FOLDERS = 5_000
"""How many folders are looked into for bare repositories."""
_ENTRIES = 200_000
"""How many files and folders of a repository are looked at for pipes."""
_ALTERNATES = 20
"""From how many other folders a repository may take objects."""
_LINKS = 40
"""How many links may lead from one to the next: the system follows no more."""
_ENDLESS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
_PROCESS_OWN = ("/proc", "/dev/fd")
"""Where a name means another file to each process, such as what it reads and writes."""
_YES = ("1", "true", "yes", "on")


class GitRefusedError(Exception):
    """Git cannot or will not, or KR will not have it; the message says why, fit to be shown."""


class WorkTree(NamedTuple):
    """A work tree and its repository; all paths are real ones."""

    top: Path
    folder: Path
    """The repository's folder, the work tree's own part of it where there are several."""
    common: Path
    """The part that all its work trees share; the same folder where there is one."""
    is_submodule: bool = False

    @property
    def is_linked(self) -> bool:
        """Whether it was made by `git worktree add`."""
        return self.folder != self.common


def find_work_tree(where: Path, environ: Mapping[str, str]) -> WorkTree | None:
    """Find the work tree that a folder lies in, as git finds it; None where it lies in none.

    Args:
        where: the folder, by its real path.
        environ: may set bounds to the search: `GIT_CEILING_DIRECTORIES`, `GIT_DISCOVERY_ACROSS_FILESYSTEM`.

    Raises:
        RefusedError: there is a repository that does not belong to the folder it lies in.
        OSError: a file of it cannot be read.
    """
    for folder in _upwards(where, environ):
        if os.path.lexists(folder / ".git"):
            found = _work_tree(folder)
            _require_own(found)
            return found
        if _is_bare(folder):
            raise GitRefusedError(describe_bare(folder))
    return None


def bare_repositories(*roots: Path) -> list[Path]:
    """The folders below some others, and these themselves, that git would take for a bare repository; links are not followed.

    Of a large tree only the folders nearest to its root are looked into, 5,000 in all.
    """
    found = []
    waiting = deque(dict.fromkeys(Path(os.path.realpath(root)) for root in roots))
    seen = set(waiting)
    for _number in range(_FOLDERS):
        if not waiting:
            break
        folder = waiting.popleft()
        if _is_bare(folder) and not os.path.lexists(folder / ".git"):
            found.append(folder)
            continue
        try:
            with os.scandir(folder) as entries:
                below = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        new = [one for one in sorted(below) if one.name != ".git" and one not in seen]
        waiting.extend(new)
        seen.update(new)
    return found


def describe_bare(folder: Path) -> str:
    """Say what a bare repository among a project's files is, and what to do."""
    hint = "remove it unless you made it, and keep the knowledge base out of it"
    return f"{shown(folder)} is laid out as a bare git repository, and its config names what git runs there; {hint}"


def shown(name: Path | str) -> str:
    """A path on one line, without what a terminal would take for a command."""
    return printable(str(name)).replace("\n", "\\n")


# -- where to look ---------------------------------------------------------------------------------------


def _upwards(where: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """A folder and those above it, as far as git goes up."""
    ceilings = {
        os.path.realpath(one) for one in environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if one
    }
    anywhere = environ.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "").lower() in _YES
    device = where.stat().st_dev
    for folder in (where, *where.parents):
        if folder != where and (str(folder) in ceilings or (not anywhere and folder.stat().st_dev != device)):
            return
        yield folder


def _is_bare(folder: Path) -> bool:
    if not os.path.lexists(folder / "HEAD"):
        return False
    shares = os.path.lexists(folder / "commondir")  # the rest lies in another folder
    return shares or all((folder / name).is_dir() for name in ("objects", "refs"))


# -- whether it belongs there ----------------------------------------------------------------------------


def _work_tree(top: Path) -> WorkTree:
    mark = top / ".git"
    mode = mark.lstat().st_mode
    if stat.S_ISLNK(mode):
        raise GitRefusedError(
            f"{shown(mark)} is a link, and KR follows none to a repository; commit yourself"
        )
    if stat.S_ISDIR(mode):
        if os.path.lexists(mark / "commondir"):
            raise GitRefusedError(
                f"{shown(mark)} has a file `commondir`, as no repository of its own has; remove that"
            )
        return WorkTree(top, mark, mark)
    said = _path_in(mark, after=b"gitdir: ")
    folder = _resolved(top, said)
    if not folder.is_dir():
        raise GitRefusedError(
            f"{shown(mark)} leads to {shown(folder)}, which is not a folder; remove the file, or mend it"
        )
    if lies_within(folder, top):
        raise _elsewhere(mark, folder, "among the files of the work tree itself; remove the file")
    return (_linked if os.path.lexists(folder / "commondir") else _submodule)(top, folder)


def _linked(top: Path, folder: Path) -> WorkTree:
    common = _resolved(folder, _path_in(folder / "commondir"))
    back = _resolved(folder, _path_in(folder / "gitdir"))
    if back != top / ".git" or folder.parent != common / "worktrees" or lies_within(common, top):
        hint = "which knows of no work tree here; `git worktree repair` if you moved it, else remove the file"
        raise _elsewhere(top / ".git", folder, hint)
    return WorkTree(top, folder, common)


def _submodule(top: Path, folder: Path) -> WorkTree:
    above = next((one for one in top.parents if os.path.lexists(one / ".git")), None)
    outer = _work_tree(above) if above else None
    if outer is None or not any(lies_within(folder, one / "modules") for one in (outer.folder, outer.common)):
        hint = (
            "which belongs to no linked worktree and no submodule here; commit yourself, or remove the file"
        )
        raise _elsewhere(top / ".git", folder, hint)
    return WorkTree(top, folder, folder, is_submodule=True)


def _elsewhere(mark: Path, folder: Path, said: str) -> GitRefusedError:
    return GitRefusedError(f"{shown(mark)} leads to {shown(folder)}, {said}")


def _path_in(file: Path, *, after: bytes = b"") -> str:
    raw = read_bytes(file, limit=_LONGEST)
    path = raw.removeprefix(after).rstrip(b"\r\n")
    if not raw.startswith(after) or not path or b"\0" in path:
        raise GitRefusedError(f"{shown(file)} is not as git writes it; mend or remove it")
    return os.fsdecode(path)


def _resolved(folder: Path, path: str) -> Path:
    return Path(os.path.realpath(folder / path))


# -- whether what git writes stays in it -----------------------------------------------------------------


def _require_own(tree: WorkTree) -> None:
    """Check that git reads plain files there, and writes into the repository itself."""
    require_plain(tree.common, "config")
    require_plain(tree.common, "packed-refs")
    require_plain(tree.folder, "config.worktree")
    require_plain(tree.folder, "index")
    for home in dict.fromkeys((tree.folder, tree.common)):
        _require_own_tables(home)
    _require_ending_below(tree)
    require_plain(tree.common, "shallow")  # a line of it that git does not know is in what git says
    require_plain(tree.common, "objects")
    with os.scandir(tree.common / "objects") as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                require_plain(tree.common, f"objects/{entry.name}")
    ref = "HEAD"
    for _number in range(_DEPTH):
        for home in dict.fromkeys((tree.folder, tree.common)):
            require_plain(home, ref)
            require_plain(home, f"logs/{ref}")
        ref = _next_ref(tree, ref)
        if not ref:
            return


def _require_ending_below(tree: WorkTree) -> None:
    """Check that git waits for nothing in a repository, and in those whose objects it shares; links are followed.

    Hooks do not count: git runs none for KR.
    """
    homes = dict.fromkeys(str(home) for home in (tree.folder, tree.common, *_shared_objects(tree.common)))
    waiting, seen = list(homes), {*homes, *(str(home / "hooks") for home in (tree.folder, tree.common))}
    left = _ENTRIES
    while waiting and left > 0:
        with suppress(PermissionError), os.scandir(waiting.pop()) as entries:
            for entry in islice(entries, left):
                left -= 1
                if entry.is_file(follow_symlinks=False):
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    require_ending(Path(entry.path))
                place = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if place not in seen and entry.is_dir():
                    seen.add(place)
                    waiting.append(place)


def _shared_objects(common: Path) -> list[Path]:
    """The folders of objects that a repository shares with others, and those that these share."""
    found: dict[Path, None] = {common / "objects": None}
    waiting = list(found)
    while waiting:
        objects = waiting.pop()
        listed = objects / "info/alternates"
        require_ending(listed)
        lines = read_bytes(listed, limit=_LONGEST).split(b"\n") if listed.is_file() else []
        for line in map(os.fsdecode, lines):
            place = Path(os.path.realpath(objects / line))
            is_known = not line or line.startswith("#") or place in found or not place.is_dir()
            holds_objects = is_known or (place / "pack").is_dir() or (place / "info").is_dir()
            if line.startswith('"') or len(found) > _ALTERNATES or not holds_objects:
                hint = "commit yourself, or name few folders of objects there, without quotes"
                raise GitRefusedError(f"{shown(listed)} names folders that KR does not look into; {hint}")
            if is_known:
                continue
            found[place] = None
            waiting.append(place)
    return list(found)


def require_ending(place: Path) -> None:
    """Check that a file that git reads is not a pipe or a device, by whatever links, if it is there.

    Raises:
        RefusedError: git could wait for it for ever.
    """
    what = _endless(place)
    if what:
        hint = "remove it, or put a file in its place"
        raise GitRefusedError(f"{shown(place)} is {what}, and git could wait for it for ever; {hint}")


def _endless(place: Path) -> str:
    step = place
    for _number in range(_LINKS):
        try:
            mode = step.lstat().st_mode
        except OSError:
            return ""
        if not stat.S_ISLNK(mode):
            what = "" if str(step) == os.devnull else _ENDLESS.get(stat.S_IFMT(mode), "")
            return f"a link to {what}" if what and step != place else what
        step = Path(os.path.realpath(step.parent), step.readlink())
        if any(lies_within(Path(os.path.realpath(step.parent)), Path(own)) for own in _PROCESS_OWN):
            return f"a link into {step.parent}"
    return ""


def _require_own_tables(home: Path) -> None:
    """Check the same of refs that are kept as tables (reftable); git removes the tables that it has merged."""
    listed = home / "reftable/tables.list"
    require_plain(home, "reftable/tables.list")
    names = read_bytes(listed, limit=_LONGEST).split(b"\n") if listed.exists() else []
    for name in map(os.fsdecode, names):
        if "/" in name or "\0" in name:
            raise GitRefusedError(f"{shown(listed)} leads to {shown(name)}, which lies elsewhere; mend it")
        require_plain(home, f"reftable/{name}")


def require_plain(home: Path, name: str) -> None:
    """Check that a file or folder, and each that it lies in, is what it seems, if it is there.

    Raises:
        RefusedError: it is a link, a pipe or the like.
    """
    for place in accumulate(Path(name).parts, Path.joinpath, initial=home):
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
            hint = "commit yourself, or put a file or folder in its place"
            raise GitRefusedError(f"{shown(place)} is {what}, and git would follow it; {hint}")


def _next_ref(tree: WorkTree, ref: str) -> str:
    """The ref that a ref leads to; empty if it is a commit, or none yet."""
    file = next((home / ref for home in (tree.folder, tree.common) if (home / ref).is_file()), None)
    raw = read_bytes(file, limit=_LONGEST) if file else b""
    if not raw.startswith(b"ref:"):
        return ""
    name = os.fsdecode(raw.removeprefix(b"ref:").strip())
    if not name.startswith("refs/") or ".." in name or "\0" in name:
        raise GitRefusedError(
            f"{shown(file or ref)} leads to {shown(name)}, which is no branch; check out one"
        )
    return name
