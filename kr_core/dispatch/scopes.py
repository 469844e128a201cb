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
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
        parts = name.split("/")
        low = [folded(part) for part in parts]
        if hit := next((one for one in _NEVER if one in low), ""):
            return f"`{hit}` is in no scope"
        closed = next((one for one in _ONLY_BY_NAME if folded(one) in low), "")
        if closed and not self._names(closed):
            return f"`{closed}` is in no scope that does not name it"
        if pattern := next((one for one in self.deny if _matches(one, parts, deny=True)), ""):
            return f"{self.role} must not write `{pattern}`"
        if any(_matches(one, parts) for one in self.allow):
            return ""
        return f"outside of what {self.role} may write ({', '.join(self.allow) or 'nothing'})"

    def is_grantable(self, path: str) -> bool:
        """Whether a person may open a path that is outside: a role that writes nothing gets none, and deny wins."""
        parts = path.split("/")
        return (
            bool(self.allow)
            and not name_fault(path)
            and _NOT_GRANTED.isdisjoint(map(folded, parts))
            and not any(_matches(one, parts, deny=True) for one in self.deny)
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


def _matches(pattern: str, parts: Iterable[str], *, deny: bool = False) -> bool:
    wanted = [part for part in pattern.removeprefix("./").split("/") if part]
    if not wanted or ".." in wanted:
        return False
    names = list(parts)
    if deny:
        wanted, names = [folded(part) for part in wanted], [folded(part) for part in names]
        if len(wanted) == 1 and "/" not in pattern.rstrip("/"):
            wanted = ["**", *wanted]
        return _fits([*wanted, "**"], names)  # what lies below something denied is denied, too
    if not _WILD.search(pattern) or pattern.endswith("/"):
        wanted.append("**")
    return _fits(wanted, names)


def _fits(wanted: list[str], names: list[str]) -> bool:
    """Whether a path fits a pattern, part by part; without recursion, since a pattern may have many `**`."""
    reached = {0}
    for name in names:
        nxt = set()
        for at in reached:
            position = at
            while position < len(wanted) and wanted[position] == "**":
                nxt.add(position)
                position += 1
            if position < len(wanted) and _part(wanted[position]).fullmatch(name):
                nxt.add(position + 1)
        reached = nxt
        if not reached:
            return False
    return any(all(part == "**" for part in wanted[at:]) for at in reached)


def _part(pattern: str) -> re.Pattern[str]:
    text = "".join(
        ".*" if c == "*" else "." if c == "?" else re.escape(c) for c in re.sub(r"\*+", "*", pattern)
    )
    return re.compile(text, re.DOTALL)
