"""The settings of one repository, and those with which KR leaves it alone: they run a program, or lead to other files.

Some settings cannot be turned off from outside: hooks that the configuration itself defines (git 2.54), and extensions that
put the refs into another repository. KR refuses a repository that has them, with any version of git.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.git.worktree import GitRefusedError, WorkTree, require_ending, require_plain, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_USERS = ("system", "global", "command")
"""Whose settings are the user's own; those of any other scope came with the repository."""
_RUNS = ("hook.", "core.virtualfilesystem", "core.usegvfshelper")
"""How the names of settings begin that run a program, and that no other setting turns off; the last two are Microsoft's."""
_EXTENSIONS = {
    "objectformat": "sha1|sha256",
    "compatobjectformat": "sha1|sha256",
    "refstorage": "files|reftable",  # one with an address leads to another repository
    "partialclone": ".*",
    "preciousobjects": r"\w*",
    "relativeworktrees": r"\w*",
    "submodulepathconfig": r"\w*",
    "worktreeconfig": r"\w*",
    "noop": ".*",
    "noop-v1": ".*",
}
"""The extensions of a repository that do no harm, and what each may be."""
_CONDITIONS = ("gitdir:", "gitdir/i:", "onbranch:", "hasconfig:")
"""When a file is included: what these say is the same for each of our commands; the work tree, say, is not."""
_INCLUDES = 50
"""How many files a repository's settings may include."""


class _Setting(NamedTuple):
    """A line of git's configuration, and where it stands."""

    scope: str
    file: str
    name: str
    """In small letters, except the part in the middle."""
    value: str


def harmless_settings(
    git: Callable[..., bytes], tree: WorkTree, environ: Mapping[str, str]
) -> dict[str, str]:
    """What git is set to in a repository whose settings do no harm, in small letters except for the work tree.

    Args:
        git: runs a command of git there, and returns what it prints.
        tree: the work tree.
        environ: the environment; its HOME is what `~` means.

    Raises:
        RefusedError: a setting runs a program, leads git to another repository, or cannot be read.
    """
    _require_ending_includes(git, tree, environ)
    settings = _settings(git)
    for one in settings:
        if one.scope not in _USERS:
            _require_harmless(one, tree, environ)
    by_name = {one.name: one.value if one.name == "core.worktree" else one.value.lower() for one in settings}
    _check_work_tree(by_name.get("core.worktree"), tree)
    return by_name


def _settings(git: Callable[..., bytes], *options: str) -> list[_Setting]:
    """All settings that git sees here, those of included files too; the last one of a name counts.

    Args:
        git: in the repository.
        options: more options of `git config`.
    """
    form = ("--list", "-z", "--show-scope", "--show-origin")
    fields = os.fsdecode(git("config", *options, *form)).split("\0")[:-1]
    found = []
    for scope, origin, line in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        name, _, value = line.partition("\n")
        found.append(_Setting(scope, origin.removeprefix("file:"), name, value))
    return found


def _require_ending_includes(git: Callable[..., bytes], tree: WorkTree, environ: Mapping[str, str]) -> None:
    """Check that the files that the repository's own settings include can be read, before git includes them.

    Raises:
        RefusedError: one cannot, or they are too many.
    """
    waiting = [one for one in _settings(git, "--no-includes") if one.scope not in _USERS]
    seen: set[Path] = set()
    left = _INCLUDES
    while waiting:
        one = waiting.pop()
        section, _, rest = one.name.partition(".")
        if section not in {"include", "includeif"} or not one.name.endswith(".path"):
            continue
        if not left:
            said = f"{shown(tree.common / 'config')} includes more than {_INCLUDES} files"
            raise GitRefusedError(f"{said}; commit yourself, or include fewer")
        left -= 1
        place = _require_plain_include(one, tree.top / one.file, rest, environ)
        if place not in seen and place.is_file():
            seen.add(place)
            waiting += _settings(git, "--no-includes", "--file", str(place))


def _require_harmless(one: _Setting, tree: WorkTree, environ: Mapping[str, str]) -> None:
    """Check that a setting of the repository runs nothing, and leads git to no other repository.

    Raises:
        RefusedError: it does, or KR does not know it well enough.
    """
    section, _, rest = one.name.partition(".")
    file = tree.top / one.file
    if one.name.startswith(_RUNS):
        raise _refused_setting(one, file, "makes git run a program")
    if section == "extensions" and not re.fullmatch(_EXTENSIONS.get(rest, "(?!)"), one.value, re.DOTALL):
        raise _refused_setting(
            one, file, "changes how git keeps the repository, in a way that KR does not know"
        )
    if section in {"include", "includeif"} and one.name.endswith(".path"):
        _require_plain_include(one, file, rest, environ)
    if one.name == "core.excludesfile":
        require_ending(_named_place(one, file, tree.top, "names", environ))


def _require_plain_include(one: _Setting, file: Path, rest: str, environ: Mapping[str, str]) -> Path:
    """Check that each of our commands includes the same file: a link by `/proc/self` leads each to another."""
    if rest != "path" and not rest.startswith(_CONDITIONS):
        raise _refused_setting(one, file, "includes a file on a condition that KR does not know")
    place = _named_place(one, file, file.parent, "includes", environ)
    require_plain(Path(place.anchor), str(place.relative_to(place.anchor)))
    return place


def _named_place(one: _Setting, file: Path, base: Path, verb: str, environ: Mapping[str, str]) -> Path:
    """The file that a setting names."""
    home = environ.get("HOME", "")
    path = f"{home}/{one.value[2:]}" if home and one.value.startswith("~/") else one.value
    if path.startswith(("~", "%")):
        raise _refused_setting(one, file, f"{verb} a file from a place that KR does not know")
    return base / path


def _refused_setting(one: _Setting, file: Path, said: str) -> GitRefusedError:
    hint = "remove the setting unless you made it; if you did, commit yourself"
    return GitRefusedError(f"{shown(one.name)} in {shown(file)} {said}; {hint}")


def _check_work_tree(named: str | None, tree: WorkTree) -> None:
    """Check that the repository says of itself what work tree it has; a linked one knows its own, which was looked at."""
    if tree.is_linked or (named is None and not tree.is_submodule):
        return
    place = os.path.realpath(tree.folder / (named or ""))
    if place != str(tree.top):
        hint = f"commit yourself, or mend the setting in {shown(tree.folder / 'config')}"
        raise GitRefusedError(f"core.worktree is {shown(place)}, and not {shown(tree.top)}; {hint}")
