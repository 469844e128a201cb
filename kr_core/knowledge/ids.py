"""Names of things in the knowledge base: slugs, folders, ids and paths that cannot leave it."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SLUG_LIMIT = 80
FOLDER_LIMIT = 100

_SAFE_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, whatever the extension (Microsoft, "Naming Files, Paths")."""

_ORDINARY = re.compile(r"[a-z0-9\s\-_.,;:!?'\"()/`‐-―‘’“”…]*")
_TELLING_MARK = re.compile(r"(?:^|\s)[-_.]+(?=[a-z0-9])|__|[a-z0-9]_+(?:\s|$)")
"""Marks that belong to a name, as in `--lf`, `.env` or `__init__`: without them it is another topic."""
_LOOKS_HASHED = re.compile(r"(?:^|-)[0-9a-f]{8}$")
_SEPARATORS = re.compile(r"[-_.\s/]+")


def slug(topic: str) -> str:
    """Turn a topic in any script into a distinct, non-empty file name of at most 80 ASCII characters.

    Plain English keeps its words (`virtual-scrolling-configuration`), with case and ordinary punctuation
    folded. Where more than that is lost (another script, symbols, length), eight digits of the sha256 of the
    whole topic follow, so that `C`, `C++` and `C#` have files of their own.
    """
    text = " ".join(unicodedata.normalize("NFKC", topic).lower().split())
    kebab = _kebab(text)
    lossless = (
        _ORDINARY.fullmatch(text) is not None
        and not _TELLING_MARK.search(text)
        and 0 < len(kebab) <= SLUG_LIMIT
        and not _LOOKS_HASHED.search(kebab)
        and not _DEVICE.fullmatch(kebab)
    )
    return kebab if lossless else _hashed(kebab, text)


def framework_folder(framework: str) -> str:
    """Name the folder of a framework: the name itself where every file system takes it, else a hashed slug."""
    safe = (
        len(framework) <= FOLDER_LIMIT
        and _SAFE_FOLDER.fullmatch(framework) is not None
        and ".." not in framework
        and not framework.endswith(".")
        and not _DEVICE.fullmatch(framework)
    )
    if safe:
        return framework
    text = " ".join(unicodedata.normalize("NFKC", framework).lower().split())
    return _hashed(_kebab(text), text)


def entry_id(framework: str, topic: str) -> str:
    """Compose the id of an entry, `{framework}-{topic-kebab}`.

    Two entries of different frameworks may have the same id (`vue` and `router guards`, `vue-router` and
    `guards`), but never the same path.
    """
    return f"{framework_folder(framework)}-{slug(topic)}"


def report_path(framework: str, topic: str) -> str:
    """Compose the path of a report, relative to the knowledge base, with forward slashes."""
    return f"frameworks/{framework_folder(framework)}/{slug(topic)}.md"


def inside(base: Path, relative: str) -> Path | None:
    """Resolve a path from an index, or return None if it leaves the base folder.

    Symbolic links are followed first. The base folder itself is not inside.
    """
    try:
        home = base.resolve()
        resolved = (home / relative).resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL, a loop of links
        return None
    return resolved if home in resolved.parents else None


def fold_name(name: str) -> str:
    """Normalise case and separators of a framework's name, so that `vue_easytable` equals `Vue-EasyTable`."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return _SEPARATORS.sub("-", text).strip("-") or text


def _kebab(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode("ascii")
    return "-".join(re.findall(r"[a-z0-9]+", plain.replace("'", "")))


def _hashed(kebab: str, text: str) -> str:
    # A lone surrogate is no text that UTF-8 knows, and yet a caller may hand one over.
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    room = SLUG_LIMIT - len(digest) - 1
    if len(kebab) > room:
        kebab = kebab[:room].rsplit("-", 1)[0] if "-" in kebab[:room] else kebab[:room]
    return f"{kebab or 'topic'}-{digest}"
