"""What changed between two versions of a package is read from their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kr_core.search.passage_index import IndexedPassage, build
from kr_plugins.sources.installed_docs.changes import difference, earlier_index

if TYPE_CHECKING:
    from pathlib import Path

    from kr_core.search.passage_index import PassageIndex

pytestmark = pytest.mark.req("E10")

Parameters = dict[str, str | None]


def index(names: dict[str, Parameters], **deprecated: str) -> PassageIndex:
    """An index of callables of the package `box`, each with its parameters and their defaults."""
    return build(None, [of(name, parameters, deprecated.get(name)) for name, parameters in names.items()])


def of(name: str, parameters: Parameters, deprecated: str | None = None) -> IndexedPassage:
    data: dict[str, Any] = {"parameters": list(parameters.items()), "deprecated": deprecated, "public": True}
    return IndexedPassage(
        "symbol",
        f"box.{name}",
        f"Does {name}.",
        f"box.py:{len(name)}",
        symbol=f"box.{name}",
        name=name,
        data=data,
    )


def told(before: PassageIndex, after: PassageIndex) -> list[tuple[str, str]]:
    return [(one.name, one.told) for one in difference(before, after)]


def test_a_name_that_is_gone_comes_before_one_that_is_new() -> None:
    """What breaks a program is what one looks for."""
    assert told(index({"pack": {}, "seal": {}}), index({"seal": {}, "wrap": {}})) == [
        ("box.pack", "It is no longer there"),
        ("box.wrap", "It is new"),
    ]


def test_parameters_that_came_and_went_are_told_with_the_callable() -> None:
    """One without a default breaks each call."""
    before, after = (
        index({"seal": {"lid": None, "force": None}}),
        index({"seal": {"lid": None, "tape": None}}),
    )
    assert told(before, after) == [
        ("box.seal", "parameter `force` is gone; parameter `tape` is new and has no default")
    ]


def test_a_parameter_that_a_callable_may_hand_on_is_not_said_to_be_gone() -> None:
    """`**kwargs` may take it."""
    before, after = index({"seal": {"force": "False"}}), index({"seal": {"**kwargs": None}})
    assert told(before, after) == [("box.seal", "parameter `force` is no longer named")]


def test_a_default_that_changed_is_told_with_the_one_before() -> None:
    before, after = index({"seal": {"lid": "None"}}), index({"seal": {"lid": "True"}})
    assert told(before, after) == [("box.seal", "the default of `lid` is `True`, and was `None`")]


def test_only_what_was_not_deprecated_before_is_newly_so() -> None:
    old, new = (
        index({"seal": {}, "pack": {}}, pack="Use wrap."),
        index({"seal": {}, "pack": {}}, pack="Use wrap.", seal="Use tape."),
    )
    assert told(old, new) == [("box.seal", "It is newly deprecated")]


def kept(folder: Path, version: str, **meta: str) -> None:
    """Keep an index of `box` in a cache folder."""
    known = {"label": "box", "version": version, "reader": "1", "place": "", **meta}
    path = folder / "installed" / f"box-{version}-{'0' * 16}.sqlite"
    path.parent.mkdir(exist_ok=True)
    build(path, [of("seal", {})], known).close()


@pytest.mark.parametrize(
    ("asked", "version"), [("3", "3.26.1"), ("3.26", "3.26.1"), ("3.2", None), ("4", None)]
)
def test_an_earlier_version_is_found_by_as_much_of_it_as_the_question_says(
    tmp_path: Path, asked: str, version: str | None
) -> None:
    """3.2 is not 3.26, and the installed version is no earlier one."""
    kept(tmp_path, "3.26.1")
    kept(tmp_path, "4.0.0")
    found = earlier_index(tmp_path, "box", asked, "4.0.0", {"reader": "1", "place": ""})
    assert (found and found[0]) == version
    if found:
        found[1].close()


@pytest.mark.parametrize("other", [{"reader": "0"}, {"place": "/elsewhere"}, {"label": "fox"}])
def test_an_index_of_another_place_or_another_reader_is_not_compared(
    tmp_path: Path, other: dict[str, str]
) -> None:
    """What a clone elsewhere has under the same name says nothing of this project, and older readers named otherwise."""
    kept(tmp_path, "3.26.1", **other)
    assert earlier_index(tmp_path, "box", "3", "4.0.0", {"reader": "1", "place": ""}) is None
