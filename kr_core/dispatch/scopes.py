"""What a role may write: sets of patterns, where deny wins, over paths as git names them.

A pattern is relative to the repository, with `/` between its parts: `*` and `?` match within a part, `**` any number of
parts. One without `*` and `?` covers what lies below it, too: `tests/`, `tests` and `tests/**` are the same.
A pattern to deny that has no `/` counts in every folder.

A path is compared part by part, byte for byte where it is allowed, and after NFC and case folding where it is denied: on
some systems `SRC/` and `src/` are one folder.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["PRESETS", "REVIEWER", "ROLES", "Scope", "folded", "name_fault", "scope_of"]

ROLES = ("marie", "dede", "gustave", "degaulle")
"""Those who work: tests, code, infrastructure, review."""
REVIEWER = "degaulle"
"""Whose work is what it says."""
PRESETS: dict[str, tuple[str, ...]] = {
    "marie": ("tests/",),
    "dede": ("src/",),
    "gustave": ("k8s/", "argocd/", "kustomize/", "helm/", ".github/workflows/"),
    "degaulle": (),
}
"""What each may write where nothing is configured."""
_NEVER = (".git", ".gitattributes", ".gitmodules", ".kr", "kr.yaml", "kr.yml", "kr.toml")
"""Files and folders in any place that no scope opens: they decide what git and KR do."""
_ONLY_BY_NAME = (
    ".claude", ".github", ".specify", "CODEOWNERS", "AGENTS.md", "CLAUDE.md", ".mcp.json", ".gitignore", "Cargo.lock",
    "Gemfile.lock", "Pipfile.lock", "bun.lockb", "composer.lock", "go.sum", "package-lock.json", "pnpm-lock.yaml", "poetry.lock",
    "uv.lock", "yarn.lock",
)  # fmt: skip
"""Files and folders in any place that only a pattern opens which names them."""
_NOT_GRANTED = frozenset({*_NEVER, ".gitignore"})
"""What git or KR obeys: nobody is asked for it."""
_WILD = re.compile(r"[*?]")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_SHORT = re.compile(r"[^.]{1,7}~[0-9]{1,6}(?:\.[^.]{0,3})?")
"""The form of the second names that Windows gives to files: `GITATT~1` is `.gitattributes` there."""
_IGNORED_BY_HFS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_LONGEST = 4096


class Scope(NamedTuple):
    """What a role may write."""

    role: str
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def fault(self, path: bytes) -> str:
        """Why a path is outside of the scope; empty where it is inside."""
        name = os.fsdecode(path)
        if fault := name_fault(name):
            return fault
        low = [folded(part) for part in name.split("/")]
        if hit := next((one for one in _NEVER if one in low), ""):
            return f"`{hit}` is in no scope"
        closed = next((one for one in _ONLY_BY_NAME if folded(one) in low), "")
        if closed and not self._names(closed):
            return f"`{closed}` is in no scope that does not name it"
        whole = "/".join(low)
        if pattern := next((one for one in self.deny if _matches(one, whole, deny=True)), ""):
            return f"{self.role} must not write `{pattern}`"
        if any(_matches(one, name) for one in self.allow):
            return ""
        return f"outside of what {self.role} may write ({', '.join(self.allow) or 'nothing'})"

    def is_grantable(self, path: str) -> bool:
        """Whether a person may open a path that is outside: a role that writes nothing gets none, and deny wins."""
        low = [folded(part) for part in path.split("/")]
        return (
            bool(self.allow)
            and not name_fault(path)
            and _NOT_GRANTED.isdisjoint(low)
            and not any(_matches(one, "/".join(low), deny=True) for one in self.deny)
        )

    def _names(self, closed: str) -> bool:
        """Whether a pattern names a file or folder that is closed else."""
        return any(closed in pattern.split("/") for pattern in self.allow)


def scope_of(role: str, configured: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> Scope:
    """The scope of a role: the configured one, or that of the preset; nothing for an unknown role.

    Args:
        role: its name.
        configured: for each role that is configured, what it may and must not write.
    """
    allow, deny = configured.get(role, (PRESETS.get(role, ()), ()))
    return Scope(role, allow, deny)


def folded(text: str) -> str:
    """What a name is on a system that takes one case, or one Unicode form, for another."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def name_fault(name: str) -> str:
    """Why no pattern may match a path; empty where its name is plain."""
    if not name or name.startswith("/") or len(name) > _LONGEST:
        return "not a path within the repository"
    if any(0xDC80 <= ord(letter) <= 0xDCFF for letter in name):
        return "its name is not UTF-8"
    if "\\" in name or re.match(r"[A-Za-z]:", name):
        return "its name is a path on another system"
    if any(
        ord(letter) < 32 or 127 <= ord(letter) < 160 or letter in _BIDI for letter in name
    ) or _IGNORED_BY_HFS.search(name):
        return "its name has characters that cannot be seen"
    for part in name.split("/"):
        if part in {"", ".", ".."}:
            return "not a plain path"
        if part.endswith((".", " ")):
            return "its name ends with a dot or a blank, which some systems leave out"
        if _is_git(part):
            return "`.git` is in no scope"
        if _SHORT.fullmatch(part):
            return "on some systems its name is the short one of another file"
    return ""


def _is_git(part: str) -> bool:
    """Whether some system takes a name for `.git`."""
    plain = _IGNORED_BY_HFS.sub("", part).casefold()
    return plain == ".git" or re.fullmatch(r"git~\d+", plain) is not None or plain.startswith(".git:")


def _matches(pattern: str, path: str, *, deny: bool = False) -> bool:
    """Whether a path fits a pattern; one that is to be denied is folded."""
    wanted = _wanted(pattern, deny=deny)
    return wanted != "" and _expression(wanted).fullmatch(f"{path}/") is not None


@lru_cache(maxsize=1024)
def _wanted(pattern: str, *, deny: bool) -> str:
    """A pattern with all that it covers, and without what may be left out; empty where it fits nothing."""
    wanted = [part for part in pattern.removeprefix("./").split("/") if part]
    if not wanted or ".." in wanted:
        return ""
    if deny:
        if len(wanted) == 1 and "/" not in pattern.rstrip("/"):
            wanted = ["**", *wanted]
        wanted = [*map(folded, wanted), "**"]  # what lies below something denied is denied, too
    elif not _WILD.search(pattern) or pattern.endswith("/"):
        wanted.append("**")
    return "/".join(wanted)


@lru_cache(maxsize=1024)
def _expression(wanted: str) -> re.Pattern[str]:
    """What finds the paths of a pattern, with `/` at their ends.

    It takes the first place where something fits, and never tries another one: a pattern with many `*` would take years.
    """
    runs = [""]
    for part in wanted.split("/"):
        if part != "**":
            runs[-1] += _part(part)
        elif runs[-1] or len(runs) == 1:
            runs.append("")
    return re.compile(_in_order(runs, "(?:[^/]++/)*?"))


def _part(wanted: str) -> str:
    pieces = ["[^/]".join(map(re.escape, piece.split("?"))) for piece in re.split(r"\*+", wanted)]
    return f"{_in_order(pieces, '[^/]*?')}/"


def _in_order(runs: Sequence[str], gap: str) -> str:
    """The first run at the start, each other behind a gap, the last where the end is."""
    first, *others = runs
    between = (f"(?>{gap}{run})" for run in others[:-1])
    return "".join([first, *between, *(f"{gap}{run}" for run in others[-1:])])
