"""Names that the asker expects: each is shown, or told as missing, as not taken, as mentioned, or with its replacement."""

from __future__ import annotations

import pytest

from kr_plugins.sources.installed_docs.index_answer import answer
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

pytestmark = pytest.mark.req("A14")
SHIP = {
    "ship/__init__.py": '''\
        """Ships."""

        import warnings

        def load(crate, *, weight: float = 1.0) -> None:
            """Load a crate.

            Args:
                crate: What is loaded.
                weight: In tons.
            """

        def unload(crate, *, port: str = "here") -> None:
            """Unload a crate.

            Args:
                crate: What is unloaded.
                port: Where.
            """

        def stow(crate) -> None:
            """Put a crate below deck.

            .. deprecated:: 2.0
                Use `load` instead.
            """
            warnings.warn("use load instead", DeprecationWarning)

        class Crew:
            """Who sails."""

            def sail(self) -> None:
                """Leave the harbour."""

            def rest(self) -> None:
                """Stay in the harbour."""

        class Berth:
            """Where a ship lies; its length in feet decides what it costs.

            Args:
                length: In feet.
            """

            def __init__(self, length: int = 30) -> None: ...

            def moor(self, rope) -> None:
                """Moor at a berth."""

        class Voyage:
            """A journey."""

            def __init__(self, crew, berth: Berth | None = None) -> None: ...

        def tow(tug): ...
        ''',
}


@pytest.fixture
def ship(install, project, tmp_path):
    """Answers questions from the package `ship`."""
    install("ship", SHIP, readme="# Ship\n\nOlder ships had an `Anchor`, now they float.\n")
    found = find("ship", project())
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
    yield lambda question, *names: answer(index, question, found.names, found.origin, (), names)
    index.close()


def test_each_expected_name_comes_before_what_is_only_near(ship):
    """Also the fourth and fifth, and those before parameters that nobody named."""
    names = ("Crew.rest", "unload", "load", "Crew.sail", "Crew")
    shown = [passage.title for passage in ship("how does it move", *names).passages[:5]]
    assert set(shown) == {"ship.Crew.rest", "ship.unload", "ship.load", "ship.Crew.sail", "ship.Crew"}


@pytest.mark.req("A5")
def test_what_is_deprecated_comes_behind_its_replacement(ship):
    """The replacement is shown though the asker does not know of it, and no parameter of the old one."""
    shown = ship("how do I put a crate below deck", "stow").passages
    assert [one.title for one in shown[:2]] == ["ship.load", "ship.stow"]
    shown = ship("how do I put a crate below deck", "stow", "load").passages
    assert [one.title for one in shown if one.symbol in {"ship.load", "ship.stow"} and not one.parameter] == [
        "ship.load",
        "ship.stow",
    ]


def test_a_parameter_that_what_is_named_does_not_take_is_told(ship):
    """With what takes it; the callable itself stays the answer."""
    told = ship("choose where to load", "load", "port")
    assert [(one.name, one.nearest[:1]) for one in told.unresolved] == [
        ("load(port)", ("ship.unload(port)",))
    ]
    assert told.passages[0].symbol == "ship.load"


def test_a_member_that_a_class_does_not_have_is_missing(ship):
    """Though another class or function has such a name."""
    told = ship("put a crate on board", "Crew.load")
    assert [one.name for one in told.unresolved] == ["Crew.load"]
    assert not told.unresolved[0].mentioned


def test_a_name_that_is_only_mentioned_is_told_as_such(ship):
    """It may exist: KR does not deny it."""
    told = ship("hold the ship", "Anchor", "Mast")
    assert {one.name: one.mentioned for one in told.unresolved} == {"Anchor": True, "Mast": False}
    assert "README" in told.passages[0].title


def test_what_takes_the_other_expected_name_is_shown(ship):
    """`Voyage(berth=Berth())`: the type of the parameter says so."""
    shown = [one.title for one in ship("plan where the journey ends", "Berth", "Voyage").passages]
    assert {"ship.Berth", "ship.Voyage", "ship.Voyage(berth)"} <= set(shown[:4])


def test_a_parameter_may_be_that_of_the_class_of_a_method(ship):
    """`moor` does not take `length`, its `Berth` does."""
    told = ship("moor a long ship", "Berth.moor", "length")
    assert told.unresolved == ()
    assert "ship.Berth(length)" in [one.title for one in told.passages[:3]]


def test_where_a_name_is_imported_from_is_not_missing(ship):
    """As `hono/cors` of an npm package."""
    assert ship("load it", "load", "ship/loading").unresolved == ()


@pytest.mark.req("A3")
def test_the_answer_shows_each_expected_name(install, ask_about):
    """Also one without documentation, and what is said of one that has no entry; the whole of a short documentation."""
    install("ship", SHIP, readme="# Ship\n\nOlder ships had an `Anchor`, now all of them float.\n")
    text, _level = ask_about("ship", "what does a berth cost", "Berth", "tow", "Anchor")
    assert "its length in feet decides what it costs" in text
    assert "`ship.tow(tug)`" in text
    assert "Older ships had an `Anchor`, now all of them float." in text
