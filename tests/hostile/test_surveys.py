"""A package of very many files or classes, each called as the question says, does not make a survey of it long."""

from __future__ import annotations

import pytest

from kr_core.search.passage_index import IndexedPassage, build
from kr_core.toolkit import question_terms
from kr_plugins.sources.installed_docs.families import FamilyFinder

pytestmark = pytest.mark.req("Z8")


def families(names: dict[str, str]) -> list[str]:
    """The names of the families that are found among symbols, each with its file."""
    passages = [
        IndexedPassage("symbol", name, "Opens.", f"{file}:1", symbol=name, name=name, lead="Opens.")
        for name, file in names.items()
    ]
    index = build(None, passages)
    return [family.name for family in FamilyFinder(index, question_terms(index, "open")).find([])]


def test_of_very_many_files_that_fit_some_are_looked_into() -> None:
    """Each takes a pass over the index; 15,000 files took half a minute for each search."""
    found = families({f"box.m{n}{each}.send": f"box/open_{n}.py" for n in range(150) for each in "ab"})
    assert len([name for name in found if name.endswith(".py` defines")]) <= 100


def test_of_very_many_owners_that_fit_some_are_looked_into() -> None:
    """The members of each are looked up by themselves."""
    found = families(
        {f"box.open_{n}.{each}": f"box/{n}{each}.py" for n in range(500) for each in ("send", "take")}
    )
    assert 0 < len(found) <= 300


def test_of_very_many_families_the_best_are_compared() -> None:
    """Each class has one of methods that are called alike, and KR compares families with one another."""
    found = families({f"box.Door{n}.open_{each}": "box/doors.py" for n in range(500) for each in "ab"})
    assert 0 < len(found) <= 400
