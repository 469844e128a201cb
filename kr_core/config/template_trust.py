"""Whether the user trusts the templates of a project: `kr trust`, as for the settings that run or send something.

A template decides what a report says, what a person sees of a case, and what an agent hears. A project may bring its own in
`templates/`, and the project may be anybody's. So they serve only with the very texts that the user has trusted; where one of
them has changed, or another has come, none serves until the user has trusted them again, and KR's own take their place.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kr_core.config import trust_store
from kr_core.config.trust_policy import ALL, VARIABLE
from kr_core.errors import ConfigError
from kr_core.files import read_text
from kr_core.templates import LONGEST, GuardedFolder, bundled_names, search_folders
from kr_core.terminal_text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["forget", "found", "replaced", "template_folders", "trust", "unused_note"]

_FOLDER = "templates"
_PERSONAS = "personas"
_LARGEST = 2 * LONGEST
"""Bytes of a persona, which may be longer than a template."""
_MOST = 200
"""Templates of a project; KR has some thirty of its own."""
_MOST_LOOKED_AT = 10_000
"""Names below `templates/`: the folder may be another program's."""
_QUOTED = re.compile(r"""["']([^"'\n]{1,200})["']""")
"""What may be the name of a template that another one includes."""
_MOST_QUOTED = 1_000
_NAMED = 3
"""Templates that a note names."""
_LONGEST_NAME = 80


@dataclass(frozen=True)
class _Accepted:
    """Which texts a project's templates may have."""

    root: Path

    def __call__(self, name: str, text: str) -> bool:
        trusted = trust_store.trusted_templates(self.root)
        return trusted.get(name) == _hash(text) and not _refused(self.root, trusted)


def template_folders(root: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Where a project's templates are looked for, in order: its `templates/` if the user trusts it, the bundled ones.

    Args:
        root: the project root.
        environ: may have `KR_TRUST`.

    Raises:
        ConfigError: its `templates/` is a link that leads out of the project.
    """
    own, *others = search_folders(root)
    if environ.get(VARIABLE) == ALL:
        return own, *others
    trusted = trust_store.trusted_templates(root) if own.is_dir() else {}
    if not trusted or _refused(root, trusted):
        return tuple(others)
    guarded = GuardedFolder(own)
    guarded.accepts = _Accepted(root)
    return guarded, *others


def unused_note(root: Path, environ: Mapping[str, str]) -> str:
    """One note on the templates of a project that are not used, and what to do about it; empty where there are none."""
    if environ.get(VARIABLE) == ALL or not (root / _FOLDER).is_dir():
        return ""
    trusted = trust_store.trusted_templates(root)
    refused = _refused(root, trusted)
    if not refused:
        return ""
    names = [_shown(name) for name in refused[:_NAMED]]
    names += [f"{len(refused) - _NAMED} more"] if len(refused) > _NAMED else []
    why = "have changed since `kr trust`" if trusted else "are not trusted"
    return (
        f"the project's own templates {why}, so KR uses its own: {', '.join(names)};"
        " read them, then allow them with `kr trust`"
    )


def replaced(root: Path) -> list[str]:
    """The templates of a project that replace KR's own, trusted or not: by name, sorted."""
    folder = root / _FOLDER
    if not folder.is_dir():
        return []
    names = [name for name in bundled_names() if os.path.lexists(folder / name)]
    personas = (f"{_PERSONAS}/{file.name}" for file in (folder / _PERSONAS).glob("*.md"))
    return sorted({*names, *personas})


def found(root: Path) -> dict[str, str]:
    """The templates of a project that `kr trust` is about: the hash of each text by its name.

    They are those that replace KR's own, what they name, and others that a plugin may ask for.

    Raises:
        ConfigError: one of KR's own names cannot be read.
    """
    folder = root / _FOLDER
    if not folder.is_dir():
        return {}
    search_folders(root)  # refuses a folder that leads out
    texts: dict[str, str] = {}
    own = replaced(root)
    waiting = [*own, *_others(folder)]
    while waiting and len(texts) < _MOST:
        name = waiting.pop(0)
        if name in texts:
            continue
        try:
            texts[name] = read_text(folder / name, limit=_LARGEST, within=folder)
        except (OSError, ValueError) as error:
            if name in own:
                what = f"is not read as a template: {getattr(error, 'strerror', None) or error}"
                hint = "put a text file itself there, or remove it"
                raise ConfigError(what, where=_shown(name), hint=hint) from error
            continue
        waiting += _named_in(texts[name])
    return {name: _hash(text) for name, text in sorted(texts.items())}


def trust(root: Path, templates: Mapping[str, str]) -> None:
    """Trust the templates of a project as they were shown.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    trust_store.trust_templates(root, templates)


def forget(root: Path) -> bool:
    """Trust no template of a project any longer; returns whether any was trusted.

    Raises:
        StorageError: the user's state folder cannot be written.
    """
    return trust_store.trust_templates(root, {})


def _refused(root: Path, trusted: Mapping[str, str]) -> list[str]:
    """The templates that are there with another text than the trusted one, or without one."""
    folder = root / _FOLDER
    wanted = {*replaced(root), *(name for name in trusted if os.path.lexists(folder / name))}
    return [name for name in sorted(wanted) if name not in trusted or _hash_of(folder, name) != trusted[name]]


def _hash_of(folder: Path, name: str) -> str | None:
    try:
        return _hash(read_text(folder / name, limit=_LARGEST, within=folder))
    except (OSError, ValueError):
        return None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _others(folder: Path) -> Iterator[str]:
    """Markdown templates of other names, which a plugin may have."""
    walked = (
        os.path.relpath(os.path.join(here, name), folder)  # noqa: PTH118  there may be thousands
        for here, _folders, names in os.walk(folder)
        for name in sorted(names)
    )
    for name in islice(walked, _MOST_LOOKED_AT):
        if name.endswith((".md.j2", ".mdc.j2")):
            yield name.replace(os.sep, "/")


def _named_in(text: str) -> Iterable[str]:
    """The names in a template that may be those of others; names that lead elsewhere are none to Jinja either."""
    names = (match[1] for match in islice(_QUOTED.finditer(text), _MOST_QUOTED))
    return [name for name in names if not {"", ".", ".."} & set(name.split("/"))]


def _shown(name: str) -> str:
    shown = printable(f"{_FOLDER}/{name}").replace("\n", "\\n")
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."
