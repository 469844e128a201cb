"""In which repository on GitHub a library is made, as what is installed of it says."""

from __future__ import annotations

import json
import re
import sys
from email.parser import HeaderParser
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.toolkit import LocalProject, is_python, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kr_core.plugin import Project

_NAME = r"[A-Za-z0-9_.-]+"
_ADDRESS = re.compile(rf"(?:^|[/@.])github\.com[/:](?P<owner>{_NAME})/(?P<name>{_NAME})", re.IGNORECASE)
_SHORT = re.compile(rf"(?:github:)?(?P<owner>{_NAME})/(?P<name>{_NAME})")
_NO_OWNERS = frozenset(
    "about apps features marketplace orgs search settings site sponsors topics users".split()
)
"""What stands at the place of an owner in addresses that lead to no repository."""
_LABELS = (
    "source", "sourcecode", "repository", "github", "code", "repo", "homepage", "issues", "issuetracker",
    "bugtracker", "tracker", "bugreports", "changelog", "documentation",
)  # fmt: skip
"""Labels of a project's addresses, those first that lead to where it is made, and not to another's place
(https://packaging.python.org/en/latest/specifications/well-known-project-urls/)."""
_LARGEST = 20_000_000
_CPYTHON = "python/cpython"


class MadeIn(NamedTuple):
    """Where a framework is made."""

    repository: str | None
    """`owner/name`, or None where nothing tells it."""
    notes: tuple[str, ...] = ()
    """Why what its package says of it does not count."""


def repository_of(framework: str, project: Project) -> MadeIn:
    """Find the repository of a framework.

    The package in the project's `node_modules` or the distribution in its environment is asked, as for its version, but not
    one that came with the project's repository: its author may name his own. A framework may also be called by its
    repository itself.
    """
    name = framework.strip()
    if is_python(name):
        return MadeIn(_CPYTHON)
    if isinstance(project, LocalProject):
        if module := project.module(name):
            folder = module.folder / module.name
            said = _said_by_package(folder / "package.json", module.bounds)
            return _believed(said, project.folder_in_repository(folder), name)
        if installed := project.distribution(name):
            said = _said_by_metadata(installed.metadata_folder, installed.environment.bounds)
            return _believed(said, project.folder_in_repository(installed), name)
    if name.partition(".")[0] in sys.stdlib_module_names:
        return MadeIn(_CPYTHON)
    return MadeIn(_first([name]) or _named(_SHORT.fullmatch(name)))


def _believed(said: str | None, folder: str | None, name: str) -> MadeIn:
    """What a package says, which lies in this folder of the project's repository, or was installed."""
    if said is None or folder is None:
        return MadeIn(said)
    return MadeIn(
        None,
        (f"`{folder}` is part of this repository: KR does not use the address that it gives for {name}",),
    )


def _first(addresses: Iterable[str]) -> str | None:
    """The first repository that an address leads to."""
    return next(filter(None, (_named(_ADDRESS.search(address)) for address in addresses)), None)


def _named(found: re.Match[str] | None) -> str | None:
    if found is None or found["owner"].lower() in _NO_OWNERS:
        return None
    name = found["name"].removesuffix(".").removesuffix(".git")
    return f"{found['owner']}/{name}" if name.strip(".") else None


def in_project_urls(labelled: Iterable[tuple[str, str]]) -> str | None:
    """The repository that a Python project's labelled addresses lead to, the likeliest label first."""
    return _first(address for _label, address in sorted(labelled, key=lambda pair: _rank(pair[0])))


def in_package(said: Mapping[str, Any]) -> str | None:
    """The repository in a `package.json` (https://docs.npmjs.com/cli/configuring-npm/package-json)."""
    return _first(_addresses_in(said))


def _said_by_metadata(folder: Path, within: Sequence[Path] | None) -> str | None:
    """The repository in a distribution's core metadata."""
    text = _text(folder / "METADATA", within) or _text(folder / "PKG-INFO", within)
    head = HeaderParser().parsestr(re.split(r"\r?\n\r?\n", text, maxsplit=1)[0])
    parts = [str(value).partition(",") for value in head.get_all("Project-URL", [])]
    labelled = [(label, address) for label, _comma, address in parts]
    labelled += [("homepage", str(value)) for value in head.get_all("Home-page", [])]
    labelled += [("other", str(value)) for value in head.get_all("Download-URL", [])]
    return in_project_urls(labelled)


def _rank(label: str) -> int:
    known = re.sub(r"[^a-z]", "", label.lower())
    return _LABELS.index(known) if known in _LABELS else len(_LABELS)


def _said_by_package(file: Path, within: Sequence[Path]) -> str | None:
    try:
        said = json.loads(_text(file, within) or "{}")
    except (ValueError, RecursionError):
        return None
    return in_package(said) if isinstance(said, dict) else None


def _addresses_in(said: Mapping[str, Any]) -> Iterator[str]:
    """The addresses in a `package.json`, the likeliest first."""
    for key in ("repository", "homepage", "bugs"):
        address = _address(said.get(key))
        # `owner/name` alone is one on GitHub
        short = _SHORT.fullmatch(address) if key == "repository" else None
        yield f"github.com/{short['owner']}/{short['name']}" if short else address


def _address(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("url")
    return value if isinstance(value, str) else ""


def _text(file: Path, within: Sequence[Path] | None) -> str:
    try:
        return read_text(file, limit=_LARGEST, within=within, errors="replace")
    except (OSError, ValueError):
        return ""
