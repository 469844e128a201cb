"""What changed between versions of a package: as it says itself in its changelog and documentation, and as their indexes tell it.

The index of an earlier version is there if KR has read that version before, for the same place or in an environment of the user's own.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.toolkit import PassageIndex, versions_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from kr_core.toolkit import Hit, IndexedPassage

_HEADING = re.compile(
    r"(?:^|§ )(?:version |release )?\[?v?(\d+(?:\.\d+){1,3})(?:[a-z]\w*)?(?![\w.])", re.IGNORECASE
)
_MARK = re.compile(
    r"(version-?(?:added|changed|removed)|deprecated(?:-removed)?|(?:added|changed|new|deprecated|removed) (?:in|since))[:|\s]{1,6}"
    r"(?:(?:in|since|version|release)\s){0,3}v?(\d+(?:\.\d+){0,3})(?![\w.]*\w)",
    re.IGNORECASE,
)
_MARKS = (
    "versionadded",
    "version-added",
    "versionchanged",
    "version-changed",
    "deprecated",
    "new in ",
    "added in ",
    "changed in ",
)
_WEIGHT = {"depr": 3, "remo": 3, "chan": 2}
"""What breaks something comes first; the text of a mark says whether it is `versionchanged` or `versionadded`."""
_MOST = 3_000
_NEWEST = 3
"""Versions of a changelog that a survey shows if its question names none."""
Change = Literal["removed", "deprecated", "changed", "added"]

_LEAST_STANDING = 4.0
"""Below this a name is not public."""
_ORDER: tuple[Change, ...] = ("removed", "changed", "deprecated", "added")
"""What breaks a program comes first."""
_MOST_INDEXES = 200
_SHOWN = 6
"""Changes to show of one signature."""


def changelog_entries(index: PassageIndex, versions: Sequence[str]) -> list[Hit]:
    """The sections of changelogs about versions, as they stand; what stands below a version's heading is of that version."""
    wanted = versions_between(versions)
    found: list[int] = []
    version, file, newest = "", "", list[str]()
    for number, title, where in index.headings():
        version = version if where == file else ""
        file = where
        told = _HEADING.search(title)
        if told:
            version = told[1]
            if version not in newest and len(newest) < _NEWEST:
                newest.append(version)
        is_new = bool(versions) or version in newest
        if version and is_new and wanted(version):
            found.append(number)
    return index.get(found[:_MOST])


def marked_changes(index: PassageIndex, versions: Sequence[str]) -> list[Hit]:
    """The symbols and parameters that say of themselves in which version they came, changed or were deprecated."""
    wanted = versions_between(versions)
    marked = [
        hit
        for hit in index.with_text(_MARKS, _MOST)
        if hit.passage.symbol and hit.passage.data.get("public", True)
    ]
    told: list[tuple[int, float, Hit]] = []
    for hit in marked:
        found = [what.lower() for what, version in _MARK.findall(hit.passage.text) if wanted(version)]
        if found:
            told.append(
                (
                    max(_WEIGHT.get(what.replace("version", "").lstrip("-")[:4], 1) for what in found),
                    hit.passage.prior,
                    hit,
                )
            )
    known = {hit.id for *_worth, hit in told}
    told += [(1, hit.passage.prior, hit) for hit in index.deprecated(_MOST) if hit.id not in known]
    return [hit for _weight, _prior, hit in sorted(told, key=lambda entry: entry[:2], reverse=True)]


class ChangedName(NamedTuple):
    """A public name that is not what it was."""

    name: str
    change: Change
    told: str
    """What changed, as a sentence about the name."""
    passage: IndexedPassage
    """Its documentation: as it is now, or as it was where the name is gone."""


def earlier_index(
    cache_folder: Path, label: str, version: str, current: str, known: dict[str, str]
) -> tuple[str, PassageIndex] | None:
    """The index of an earlier version with that version, and its number in full; None where KR has not kept it.

    Args:
        cache_folder: where KR stores the indexes.
        label: of the package.
        version: as the question has it: `3`, `3.26`.
        current: the version that is installed.
        known: what the index's own notes on how and where it was made must be.
    """
    named = re.compile(rf"{re.escape(label)}-{re.escape(version)}(?:[.\w]*)-[0-9a-f]{{16}}\.sqlite")
    found = [path for path in (cache_folder / "installed").glob("*.sqlite") if named.fullmatch(path.name)]
    for path in sorted(found, key=_newest, reverse=True)[:_MOST_INDEXES]:
        try:
            index = PassageIndex(path)
        except (sqlite3.Error, OSError):
            continue
        meta = index.meta
        belongs = re.match(rf"{re.escape(version)}(?![\d])", meta.get("version", "")) is not None
        if (
            meta.get("label") == label and belongs and meta["version"] != current
            and all(meta.get(key) == value for key, value in known.items())
        ):  # fmt: skip
            return meta["version"], index
        index.close()
    return None


def _newest(path: Path) -> list[int]:
    return [int(part[:9]) for part in re.findall(r"\d+", path.name.rpartition("-")[0])]


def difference(before: PassageIndex, after: PassageIndex) -> list[ChangedName]:
    """The public names that are gone, new, newly deprecated, or take other parameters; what breaks something first."""
    old, new = _public(before), _public(after)
    found: list[tuple[float, ChangedName]] = []
    for name, (standing, passage) in old.items():
        if name not in new and not _is_there(after, name):
            found.append((standing, ChangedName(name, "removed", "It is no longer there", passage)))
    for name, (standing, passage) in new.items():
        was = old.get(name)
        if was is None:
            if not _is_there(before, name):
                found.append((standing, ChangedName(name, "added", "It is new", passage)))
            continue
        if passage.data.get("deprecated") and not was[1].data.get("deprecated"):
            found.append((standing, ChangedName(name, "deprecated", "It is newly deprecated", passage)))
        if told := list(_of_parameters(was[1], passage)):
            found.append((standing, ChangedName(name, "changed", "; ".join(told[:_SHOWN]), passage)))
    found.sort(key=lambda one: (_ORDER.index(one[1].change), -one[0]))
    return [one for _standing, one in found]


def _public(index: PassageIndex) -> dict[str, tuple[float, IndexedPassage]]:
    """The public names, each with how likely it is meant and its passage."""
    entries = [
        entry for entry in index.public_names(_LEAST_STANDING)
        if not entry.parameter and not entry.name.rpartition(".")[2].startswith("_")
    ]  # fmt: skip
    passages = {hit.id: hit.passage for hit in index.get(list({entry.passage for entry in entries}))}
    return {
        entry.name: (entry.standing, passages[entry.passage])
        for entry in entries
        if entry.passage in passages
    }


def _is_there(index: PassageIndex, name: str) -> bool:
    return any(entry.name == name for entry in index.named(name.rpartition(".")[2]))


def _of_parameters(old: IndexedPassage, new: IndexedPassage) -> Iterator[str]:
    """What is so of a callable's parameters now and was not, or the reverse."""
    before, after = dict(old.data.get("parameters", ())), dict(new.data.get("parameters", ()))
    takes_any = any(name.startswith("**") for name in after)
    named, now = ({name for name in some if not name.startswith("*")} for some in (before, after))
    for name in sorted(named - now):
        yield f"parameter `{name}` is {'no longer named' if takes_any else 'gone'}"
    for name in sorted(now - named):
        yield f"parameter `{name}` is new" if after[name] else f"parameter `{name}` is new and has no default"
    for name in sorted(named & now):
        if before[name] != after[name]:
            yield f"the default of `{name}` is {_shown(after[name])}, and was {_shown(before[name])}"


def _shown(default: str | None) -> str:
    return f"`{default}`" if default else "none"
