"""What changed between two versions of a package, as their indexes tell it: names, deprecations, parameters and defaults.

The index of an earlier version is there if KR has read that version before, for the same place or in an environment of the user's own.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Literal, NamedTuple

from kr_core.toolkit import PassageIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kr_core.toolkit import IndexedPassage

Change = Literal["removed", "deprecated", "changed", "added"]

_LEAST_STANDING = 4.0
"""Below this a name is not public."""
_ORDER: tuple[Change, ...] = ("removed", "changed", "deprecated", "added")
"""What breaks a program comes first."""
_MOST_INDEXES = 200
_SHOWN = 6
"""Changes to show of one signature."""


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
