"""A how-to that names a callable is answered by its parameters, the nearest to the question first."""

import asyncio

import pytest
from support.source_context import SourceContext

from kr_core.model import ResearchQuery
from kr_plugins.sources.installed_docs import InstalledDocs

DOCK = '''\
"""Ships, and where they lie."""


def load_ship(name: str, *, holds: object = None, crew: int = 3, old: object = None) -> None:
    """Load a ship with goods.

    Args:
        name: What the ship is called.
        holds: The rooms that are to be filled; all others stay empty.
        crew: How many people carry the goods.
        old: Deprecated: fill only some rooms.
    """


def fill_rooms(rooms: list) -> None:
    """Fill only some rooms of a house with goods."""


def paint(colour: str = "red") -> None:
    """Paint a ship.

    Args:
        colour: The paint that is used.
    """


def request(form: str = "") -> None:
    """Ask for a boat."""


def tow(boat: str, rope_length: int = 5, steady: bool = True) -> None:
    """Pull a boat."""


class Crane:
    """Lifts goods.

    Args:
        reach: How far the arm goes out.
    """

    def __init__(self, reach: int = 7) -> None: ...

    def lift(self, slowly: bool = False) -> None:
        """Lift goods out of a ship.

        Args:
            slowly: Take care of what breaks.
        """
'''


WINCH = '''\
class Winch:
    """Holds ropes.

    Args:
        pace: Whether it is in a hurry.
    """

    def __init__(self, pace: bool = False) -> None: ...
'''


@pytest.fixture
def first(install, project, tmp_path):
    """What the first passages of an answer are about."""
    install("dock", {"dock/__init__.py": DOCK, "dock/winch.py": WINCH})
    source = InstalledDocs(tmp_path / "cache")

    def asking(question, count=2):
        query = ResearchQuery(
            framework="dock", framework_version="1.2.0", topic="t", tags=("t",), question=question
        )
        found = asyncio.run(source.query(query, SourceContext(project())))
        return [one.title.removeprefix("dock.") for one in found.passages[:count]]

    return asking


@pytest.mark.req("A1", "A3")
@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("how do I use load_ship to fill only some rooms", ["load_ship(holds)", "load_ship"]),
        ("dock.load_ship with more people", ["load_ship(crew)", "load_ship"]),
        ("dock.tow with a longer rope", ["tow(rope_length)", "tow"]),
        ("How can I let Crane.lift take care of glass that breaks?", ["Crane.lift(slowly)", "Crane.lift"]),
        ("how do I make dock.Crane go far out with its arm", ["Crane(reach)", "Crane"]),
        ("Can dock.load_ship fill only some rooms?", ["load_ship(holds)", "load_ship"]),
        ("How do I let a dock Winch pull in a hurry?", ["winch.Winch(pace)", "winch.Winch"]),
        ("dock tow with a longer rope", ["tow(rope_length)", "tow"]),
        ("Can dock load_ship fill only some rooms?", ["load_ship(holds)", "load_ship"]),
    ],
)
def test_the_nearest_parameter_of_the_named_callable_comes_first(first, question, titles):
    """What other callables say of rooms is not what was asked."""
    assert first(question) == titles


@pytest.mark.req("A1")
def test_the_callable_comes_first_where_it_says_as_much(first):
    assert first("how do I paint a ship with dock.paint", 1) == ["paint"]


@pytest.mark.req("A5")
def test_a_deprecated_parameter_of_the_named_callable_is_not_offered(first):
    assert "load_ship(old)" not in first("how do I use load_ship to fill only some rooms", 4)


@pytest.mark.req("A1")
@pytest.mark.parametrize("before", ["after", "instead of", "like"])
def test_a_callable_that_is_only_mentioned_is_not_what_is_asked(first, before):
    assert "paint" not in first(f"how do I fill only some rooms {before} dock.paint", 1)[0]


@pytest.mark.req("A1")
def test_a_method_may_be_what_is_asked_of_a_class(first):
    """Only a parameter that is near comes before the members of a class."""
    assert first("how do I use dock.Crane to lift goods out of a ship", 1) == ["Crane.lift"]


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question",
    [
        "make dock tow load a ship with goods",
        "load a ship with goods in a dock tow",
        "use dock request forms to load a ship with goods",
    ],
)
def test_a_word_behind_the_library_may_be_what_it_does_or_a_thing(first, question):
    """Neither asks for the function that is called so."""
    assert first(question, 1) == ["load_ship"]
