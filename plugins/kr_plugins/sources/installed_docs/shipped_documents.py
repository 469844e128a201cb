"""The documentation files that a package ships beside its code, the telling ones first, within limits.

README, `docs`, `dist/docs`, migration guides, changelog, `llms.txt`, `AGENTS.md` and skills. KR quotes all of it, and follows no
instruction in it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import lies_within, read_text
from kr_plugins.sources.installed_docs.text_sections import CHANGES, TextFile, without_front_matter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FOLDERS = ("docs", "doc", "dist/docs", ".agents/skills", "skills")
_SUFFIXES = (".md", ".markdown", ".mdx", ".rst")
_FOR_AGENTS = frozenset({"llms.txt", "llms-full.txt"})
_FIRST = re.compile(
    r"troubleshoot|migrat|upgrad|breaking|faq|common[-_ ](?:errors|mistakes|problems)", re.IGNORECASE
)
_ASIDE = re.compile(
    r"licen[cs]e|contribut|security|conduct|authors|maintainers|governance|support|sponsors|backers|readme|i18n|third[-_]party|notice",
    re.IGNORECASE,
)
"""Files that say nothing of use, translations, and the README, which is read apart."""
_SKIPPED = frozenset(
    {
        "node_modules",
        "__tests__",
        "test",
        "tests",
        "benchmarks",
        "examples",
        "coverage",
        "i18n",
        "translations",
    }
)
_TRANSLATED = re.compile(r"(?!en)(?:[a-z]{2})(?:[-_](?:[A-Za-z]{2}|Hans|Hant))?")
_LANGUAGES = frozenset(
    "ar az bn cs da de el es fa fi fr he hi hu id it ja ko nb nl no pl pt ro ru sv th tr uk ur uz vi yo zh".split()
)
MAX_TEXTS = 800
_MAX_BYTES = 12_000_000
"""Of all texts of a package."""
_MAX_SEEN = 20_000
"""KR looks at this many files below the folders of a package."""
_LARGEST = 1_000_000
_LONGEST_CHANGES = 100_000
"""Characters of a changelog: it begins with the newest versions."""


class Documents(NamedTuple):
    """The texts of a package, and notes on what was left out."""

    texts: list[TextFile]
    notes: list[str]


def read_documents(
    folder: Path,
    cited: str,
    label: str,
    within: Sequence[Path] | None,
    check: Callable[[], None] = lambda: None,
    others: Sequence[TextFile] = (),
    is_own: Callable[[Path], bool] = lambda _file: True,
) -> Documents:
    """The documentation files of a package besides its README.

    Args:
        folder: of the package.
        cited: how the folder is named in locators.
        label: the package's name, for the notes.
        within: the folders in one of which each file must really lie; anywhere if not given.
        check: called before each file; raises to stop.
        others: what was read of the same distribution before, which counts towards the limits.
        is_own: whether a file is the package's own; what is not is passed over.
    """
    if within is not None and not lies_within(folder, within):
        return Documents([], [])
    inside = (folder,)  # a link may lead out of the package, though not out of the environment
    found, left_out = _listed(folder, inside)
    texts: list[TextFile] = []
    size = sum(len(one.text) for one in others)
    for path in filter(is_own, found):
        check()
        has_room = len(texts) + len(others) < MAX_TEXTS and size < _MAX_BYTES
        text = _read(path, inside) if has_room else None
        if text is None:
            left_out += 1
            continue
        size += len(text)
        title, body, first_line = without_front_matter(text)
        if CHANGES.match(path.stem) and len(body) > _LONGEST_CHANGES:
            body = body[:_LONGEST_CHANGES].rpartition("\n")[0]
        relative = path.relative_to(folder).as_posix()
        texts.append(TextFile(title or path.stem, f"{cited}{relative}", body, first_line))
    notes = (
        [f"{label}: {left_out} of {len(texts) + left_out} documentation files left out"] if left_out else []
    )
    return Documents(texts, notes)


def _read(path: Path, within: Sequence[Path]) -> str | None:
    try:
        text = read_text(path, limit=_LARGEST, within=within, errors="replace")
    except OSError:
        return None
    return None if "\0" in text else text


def _listed(folder: Path, within: Sequence[Path]) -> tuple[list[Path], int]:
    """The files in the order in which they are read, and how many more there are at least."""
    found = [path for path in _beside(folder) if path.suffix.lower() in _SUFFIXES or path.name in _FOR_AGENTS]
    seen = 0
    beyond = 0
    for name in _FOLDERS:
        place = folder / name
        if not place.is_dir() or not lies_within(place, within):
            continue
        for path in _below(place):
            seen += 1
            if seen > _MAX_SEEN:
                beyond += 1
            else:
                found.append(path)
            if beyond > _MAX_SEEN:
                break
    return sorted(found, key=lambda path: _order(path, folder)), beyond


def _beside(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if _is_file(entry))
    except OSError:
        return []
    return [folder / name for name in names if not _ASIDE.search(name.rpartition(".")[0])]


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that points to itself
        return False


def _below(folder: Path) -> Iterator[Path]:
    """The texts below a folder, translations and tests left out; links to folders are not followed."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not _is_translation(name))
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES) and not (
                _ASIDE.search(name.rpartition(".")[0]) and here == str(folder)
            ):
                yield Path(here, name)


def _is_translation(name: str) -> bool:
    return bool(_TRANSLATED.fullmatch(name)) and name[:2] in _LANGUAGES


def _order(path: Path, folder: Path) -> tuple[int, int, str]:
    """What is never dropped first: help with errors and upgrades, then what lies on top, the changelog last."""
    relative = path.relative_to(folder).as_posix()
    if CHANGES.match(path.stem):
        return 4, 0, relative
    if _FIRST.search(relative):
        return 0, 0, relative
    if "skills/" in relative:
        return 3, 0, relative
    return 1 + ("/" in relative), relative.count("/"), relative
