"""Answers that show what stands beside a passage: members, names formed alike, what takes a parameter that is handed on."""

import asyncio
from functools import partial

import pytest
from support.source_context import SourceContext

from kr_core.model import ResearchQuery
from kr_plugins.sources.installed_docs import InstalledDocs

DOCK = '''\
"""Docks, and what is unloaded there."""

from dock.sessions import Session

TRIM_LINES = False


class Runner:
    """Runs a crane in a test, apart from others."""

    def __init__(self, charset: str = "utf-8") -> None:
        self.charset = charset

    def invoke(self, crane: str, input: str | None = None) -> int:
        """Invokes a crane in an isolated place."""

    def isolate(self, input: str | None = None) -> None:
        """Sets up the place for a crane."""

    def forget(self) -> None:
        """Removes what was written."""


class Client:
    """A client of docks."""

    def __init__(self, *, first_mooring_of_the_day=None, second_mooring_of_the_day=None, third_mooring_of_the_day=None, fourth_mooring_of_the_day=None, event_hooks=None) -> None:
        pass


class AsyncClient:
    """An asynchronous client of docks."""


class TextRenderer:
    """Renders a bill of lading as text."""


class JsonRenderer:
    """Renders a bill of lading as JSON."""


class TableRenderer:
    """Renders a bill of lading as a table."""


class CargoKind:
    """The base of what is carried."""


class Grain(CargoKind):
    """Carried loose."""


class Oil(CargoKind):
    """Carried in tanks."""


class Cars(CargoKind):
    """Carried on wheels."""


class Yard:
    """A yard with gates."""

    def __init__(self, trim_lines: bool = TRIM_LINES) -> None:
        """Open a yard.

        Args:
            trim_lines: Whether the first line after a gate is removed.
        """

    def holds(self, crate: str, prelabelled: bool | None = None) -> bool:
        """Return whether a crate is in the yard.

        Args:
            prelabelled: Whether crates with an early label count. If `None`, they count.
        """


def rank(fleet: str, *, alpha: float = 0.85, tol: float = 1e-6) -> None:
    """Rank the ships of a fleet.

    Args:
        alpha: Damping parameter of the ranking.
        tol: Error tolerance.
    """


def moor(*, pool: str | None = None, pool_size: int = 5, port: int | None = None) -> None:
    """Moor ships.

    Args:
        pool: A basin made before.
        pool_size: The number of ships to keep inside the basin.
        port: Where ships are moored. Defaults to 5000.
    """


def get(address: str, **kwargs) -> None:
    """Send a ship.

    Args:
        address: Where to.
        **kwargs: Optional arguments that ``request`` takes.
    """
    return request("get", address, **kwargs)


def request(method: str, address: str, **kwargs) -> None:
    """Send a ship by a method.

    Args:
        method: How.
        address: Where to.
        timeout: How many hours to wait for the ship.
        verify: Whether papers are checked. Defaults to `True`.
    """
    with Session() as session:
        return session.request(method=method, address=address, **kwargs)


def define(cls):
    """Make a ship from a class.

    The main differences to the classic `build` are:

    - Ropes are checked.
    - *slots=True*

      It has few effects in harbour.

    - Anchors come last.
    """


def tar(hull: str) -> None:
    """Tar the hull of a ship, and paint it."""


def build(cls):
    """Make a ship from a class, as it always was."""
'''

SESSIONS = '''\
"""Sessions."""


class Session:
    """A session with a dock."""

    def request(self, method, address, timeout=None, verify=None) -> None:
        """Send a ship in a session."""
'''


LEGACY = '''\
"""What docks were before."""


def paint(hull: str) -> None:
    """Paint the hull of a ship with tar."""


class Slip:
    """A slip is deprecated, use `dock.Yard`.

    .. deprecated:: 1.1
       Use `dock.Yard`.
    """

    def haul(self, hull: str) -> None:
        """Haul the hull of a ship ashore by rope."""
'''


@pytest.fixture
def ask(install, ask_about):
    """Asks about the package `dock`: the answer as a reader sees it, and its level."""
    install("dock", {"dock/__init__.py": DOCK, "dock/sessions.py": SESSIONS, "dock/v1/__init__.py": LEGACY})
    return partial(ask_about, "dock")


@pytest.mark.req("A2", "A3")
def test_a_class_that_comes_closest_shows_its_members(ask):
    """Those nearest to the question with what they do, the others by name."""
    text, level = ask("how do I run a crane in a test and type the answer that it waits for")
    assert level == "low"
    assert "`dock.Runner.invoke(crane, input=None)`: Invokes a crane in an isolated place." in text
    assert "`dock.Runner.isolate(" in text
    assert "forget" in text


@pytest.mark.req("A2")
def test_a_callable_that_comes_closest_names_all_that_it_takes(ask):
    """The head is short, and what it leaves out may be the answer."""
    text, _level = ask("how do I have a client tell me of each thing it does with docks")
    assert "`dock.Client` also takes" in text
    assert "`event_hooks`" in text


@pytest.mark.req("A9")
def test_what_does_the_same_for_async_code_is_left_out_unless_asked_for(ask):
    """It would stand in the place of something else."""
    assert "AsyncClient" not in ask("how do I have a client tell me of each thing it does with docks")[0]
    assert "AsyncClient" in ask("how do I have an async client tell me of each thing it does with docks")[0]


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("what renderers does dock ship", ("TextRenderer", "JsonRenderer", "TableRenderer")),
        ("which kinds of cargo does dock have", ("Grain", "Oil", "Cars")),
    ],
)
def test_a_question_for_all_that_there_are_is_answered_by_their_names(ask, question, named):
    """By a part of the name that the question says, or by the class that they derive from."""
    text, _level = ask(question)
    line = next(line for line in text.split("\n") if line.startswith("Of this kind, by their names: "))
    assert all(f"`dock.{name}`" in line for name in named)


@pytest.mark.req("A1")
def test_a_parameter_spelled_so_comes_before_a_constant_without_documentation(ask):
    """A constant in capitals is the same name only to a machine."""
    text, _level = ask("what does dock trim_lines do")
    assert text.startswith("`dock.Yard(trim_lines=...)`")
    assert "Whether the first line after a gate is removed." in text


@pytest.mark.req("A1")
def test_a_method_named_beside_its_class_is_what_the_question_asks_about(ask):
    """The class only says where it is to be found; a hyphen is no part of a name."""
    text, _level = ask("does dock.Yard holds() count crates that are pre-labelled by default")
    assert text.startswith(
        "The default of `prelabelled` in `dock.Yard.holds` is `None`: If `None`, they count."
    )


@pytest.mark.req("A2")
def test_the_default_of_a_parameter_that_the_question_describes(ask):
    """Its documentation says what the question calls it, and that of no other parameter does."""
    text, _level = ask("what damping parameter does dock.rank use by default")
    assert text.startswith("The default of `alpha` in `dock.rank` is `0.85`.")


@pytest.mark.req("A2")
def test_a_parameter_whose_name_is_said_in_passing_is_not_the_one_asked_for(ask):
    """`pool` is a word of the question; the number of ships is `pool_size`."""
    text, _level = ask("how many ships does dock.moor keep inside the pool by default")
    assert text.startswith("The default of `pool_size` in `dock.moor` is `5`.")


@pytest.mark.req("A2")
def test_a_default_of_none_is_told_with_what_holds_then(ask):
    """The value alone would mislead."""
    text, _level = ask("what is the default of port in dock.moor")
    assert text.startswith("The default of `port` in `dock.moor` is `None`: Defaults to 5000.")


@pytest.mark.req("A2")
def test_the_default_of_a_parameter_that_a_function_hands_on(ask):
    """`get(**kwargs)` takes what `request` documents, and `Session.request` declares its default."""
    text, _level = ask("what is the default timeout in dock.get")
    assert "`dock.get(timeout=...)`: How many hours to wait for the ship." in text
    assert "to which `dock.get` hands it on, is `None`." in text
    assert ask("what is the default of verify in dock.get")[0].startswith(
        "`verify` in `dock.get`: Defaults to `True`."
    )


@pytest.mark.req("A2")
def test_a_difference_that_the_documentation_lists_is_answered_by_the_list(ask):
    """The line above the list names the other side; of each item the first paragraph is told."""
    text, _level = ask("what is the difference between dock.define and dock.build")
    assert text.startswith(
        "`dock.define`: The main differences to the classic `build` are: Ropes are checked; *slots=True*; Anchors come last."
    )


@pytest.mark.req("A8")
def test_an_error_that_nothing_read_raises_is_low(ask):
    """What has its words is not what it is about."""
    _text, level = ask("ValueError: too many ships of a fleet to rank (expected 2)")
    assert level == "low"


@pytest.mark.req("A9")
def test_a_figure_is_no_word_that_the_documentation_lacks(ask):
    """It is the asker's own value; so are two words side by side."""
    text, _level = ask("how do I give up a zeppelin after 4711 hours")
    assert "4711" not in text


@pytest.mark.req("A5")
def test_a_module_for_former_versions_loses_unless_it_is_asked_for(ask):
    """`v1` and `legacy` hold what a library offers in the place of its present names."""
    text, _level = ask("how do I paint the hull of a ship with tar")
    assert "`dock.tar(" in text
    assert "dock.v1.paint" not in text.partition("`dock.tar(")[0]
    text, _level = ask("how do I paint the hull of a ship with tar in v1")
    assert "dock.v1.paint" in text.partition("`dock.tar(")[0]


@pytest.fixture
def ask_crates(tmp_path, install, project):
    """Asks about a package in which two public classes take their members over from a third that is not public."""
    base = (
        '"""What crates share."""\n\n\nclass Shared:\n    """What all have."""\n\n'
        '    def store(self, path, index=True):\n        """Store it in a file.\n\n        Args:\n            index: Whether to write the names.\n        """\n'
    )
    crates = '"""Crates."""\n\nfrom crates.base import Shared\n\n\nclass {name}(Shared):\n    """A {name} of things."""\n'
    install(
        "crates",
        {
            "crates/__init__.py": "from crates.row import Row\nfrom crates.table import Table\n\n__all__ = ['Row', 'Table']\n",
            "crates/base.py": base,
            "crates/row.py": crates.format(name="Row"),
            "crates/table.py": crates.format(name="Table"),
        },
    )

    def asking(question):
        query = ResearchQuery(
            framework="crates", framework_version="1.2.0", topic="t", tags=("t",), question=question
        )
        return asyncio.run(InstalledDocs(tmp_path / "cache").query(query, SourceContext(project()))).passages[
            0
        ]

    return asking


@pytest.mark.req("A1")
@pytest.mark.parametrize("owner", ["Row", "Table"], ids=str)
def test_a_member_that_is_taken_over_bears_the_name_that_was_asked_for(ask_crates, owner):
    """It is that of the class which the question names, not of another that takes it over too."""
    assert ask_crates(f"What does {owner}.store do?").symbol == f"crates.{owner}.store"
    assert (
        ask_crates(f"What is the default of index in {owner}.store?").title == f"crates.{owner}.store(index)"
    )


@pytest.mark.req("A2")
def test_what_happens_where_something_does_not_exist_is_no_question_for_a_list(ask):
    """No names that are formed alike come before what the documentation says of the function that is named."""
    text, _level = ask("what happens if the crane does not exist in dock.rank")
    assert "Of this kind" not in text
