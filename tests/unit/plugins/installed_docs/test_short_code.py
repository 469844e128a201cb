"""What the documentation leaves to the code: short bodies, calls at the top of a module, types and keywords of a class."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.req("A3")
BOX = '''\
    """Boxes."""

    def close(box):
        # twice does nothing
        if box.closed:
            return False
        box.lid.press()
        return True

    def shut(box):
        """Shut a box."""
        return close(box)

    def long(box):
        """Do many things.

        First.
        Second.
        Third.
        Fourth.
        Fifth.
        Sixth.
        Seventh.
        """
        return box

    def planned(box):
        raise NotImplementedError

    class _Folding:
        def __init__(self, edge=None, twice=False): ...

    def fold(*args, **kwargs):
        return _Folding(*args, **kwargs) if args or kwargs else None

    def paint(colours=None, coats=1):
        """Paint a box.

        Args:
            colours: Which.
            coats: How many.
        """

    painted = paint(colours=["red", "blue"])
    '''


def test_the_code_of_a_short_function_without_documentation_is_its_text(package):
    """With its comments, and the lines of the file."""
    passage = package({"__init__.py": BOX}).passage("box.close")
    assert passage.text.split("\n")[:4] == [
        "def close(box):", "```python", "    # twice does nothing", "    if box.closed:",
    ]  # fmt: skip
    assert passage.text.endswith("    box.lid.press()\n    return True\n```")
    assert passage.data["lines"] == [[0, 3], [1, 3]]
    assert not passage.lead


def test_beside_a_short_docstring_the_code_is_a_block(package):
    """So no sentence is taken from it."""
    found = package({"__init__.py": BOX})
    assert (
        found.passage("box.shut").text == "def shut(box):\nShut a box.\n```python\n    return close(box)\n```"
    )
    assert "return box" not in found.passage("box.long").text
    assert found.passage("box.planned").text == "def planned(box):"


def test_a_docstring_s_parameters_do_not_count_as_documentation_of_what_it_does(package):
    """They are passages of their own."""
    listed = "".join(f"\n        part{number}: One." for number in range(12))
    found = package(
        {"__init__.py": f'def ask(box):\n    """Ask.\n\n    Args:{listed}\n    """\n    return None\n'}
    )
    assert found.passage("box.ask").text.endswith("    return None\n```")


def test_long_code_stays_away(package):
    lines = "\n".join(f"    step{number}()" for number in range(30))
    assert package({"__init__.py": f"def run():\n{lines}\n"}).passage("box.run").text == "def run():"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def run(): return 1\n", "def run(): return 1"),
        ("def run():\n    ...\n", "def run():"),
        ("def run():\n    pass\n", "def run():"),
        ('def run():\n    """Run."""\n', "def run():\nRun."),
        ("def run():\n    @wrap\n    def inner(): ...\n    return inner\n",
         "def run():\n```python\n    @wrap\n    def inner(): ...\n    return inner\n```"),
        ("def run():\n    return '\u00e4\u00f6'\n", "def run():\n```python\n    return '\u00e4\u00f6'\n```"),
        ("if True:\n    def run():\n        return 1\n", "def run():\n```python\n    return 1\n```"),
    ],
)  # fmt: skip
def test_bodies_of_every_form(package, code, text):
    assert package({"__init__.py": code}).passage("box.run").text == text


def test_what_a_function_hands_all_its_arguments_to_is_shown_though_it_is_private(package):
    """A signature of stars says nothing; that it asks whether there are any does not count as another use."""
    found = package({"__init__.py": BOX})
    assert found.passage("box.fold").data["takers"] == ["box._Folding"]
    assert "edge=None, twice=False" in found.passage("box._Folding").text


def test_the_class_that_a_function_only_makes_is_shown_with_how_it_is_used(ask_about, install):
    """`lock` says nothing, its class tells that it serves as a decorator."""
    install(
        "shed",
        {
            "shed/__init__.py": '''\
            """Sheds."""

            def lock(name, ttl=None):
                return _Lock(name, ttl)

            class _Lock:
                """Keeps others out."""

                def __init__(self, name, ttl=None): ...

                def __call__(self, function):
                    return self.around(function)

                def __enter__(self):
                    return self.acquire()
            '''
        },
    )
    told, _level = ask_about("shed", "How do I keep a second worker out?", "lock")
    assert "`shed._Lock(name, ttl=None)`: Keeps others out." in told


def test_a_call_at_the_top_of_a_module_is_an_example(package):
    assert package({"__init__.py": BOX}).passage("box.painted").code == (
        'painted = paint(colours=["red", "blue"])',
    )


@pytest.mark.parametrize(
    "cls",
    [
        (
            "class Meta(type):\n    def __new__(mcls, name, bases, space, /, *, rename: Literal['camel'] | None = None): ...\n\n"
            "class Crate(metaclass=Meta):\n    '''A crate.'''\n"
        ),
        "class Crate:\n    '''A crate.'''\n    def __init_subclass__(cls, rename: Literal['camel'] | None = None, **more): ...\n",
    ],
)
def test_what_the_statement_of_a_subclass_may_give(package, cls):
    """`class User(Struct, rename="camel")`: the metaclass takes it, or `__init_subclass__`."""
    passage = package({"__init__.py": cls}).passage("box.Crate(rename)")
    assert passage.data["what"] == "keyword"
    assert "camel" in passage.words
    assert not [
        one for one in package({"__init__.py": cls}).titles if one in {"box.Crate(name)", "box.Crate(more)"}
    ]


def test_a_value_that_a_type_allows_leads_to_its_parameter(ask_about, install):
    """And a keyword of a class is shown as a subclass gives it."""
    install(
        "crate",
        {
            "crate/__init__.py": """\
            from typing import Literal

            class Meta(type):
                def __new__(mcls, name, bases, space, /, *, frozen: bool = False, rename: Literal["camel", "kebab"] | None = None): ...

            class Crate(metaclass=Meta):
                def __init__(self, *args, **kwargs): ...
            """
        },
    )
    told, _level = ask_about("crate", "How do I write all fields of a Crate in camelCase?", "Crate")
    assert "`class ...(crate.Crate, rename=...)`" in told
    assert "says nothing of" not in told


def test_a_short_message_between_quotation_marks_is_found_in_the_code(ask_about, install):
    """What is raised, and when; the whole message must be quoted."""
    install(
        "pool",
        {
            "pool/__init__.py": """\
            class PoolError(Exception):
                \"""Anything that goes wrong.\"""

            def open_pool(again=False):
                if STATE:
                    if again:
                        return False
                    raise PoolError("Already opened.")
            """
        },
    )
    told, _level = ask_about("pool", "pool keeps raising 'Already opened', how do I avoid it?")
    assert "PoolError in pool.open_pool: Already opened." in told
    assert "return False" in told
    told, _level = ask_about("pool", "pool keeps raising 'Already', how do I avoid it?")
    assert "PoolError in" not in told


def test_a_module_that_is_expected_is_not_denied(ask_about, install):
    install(
        "crane",
        {
            "crane/__init__.py": '"""Cranes."""\n',
            "crane/ext/__init__.py": 'def lift(load):\n    """Lift a load."""\n',
        },
    )
    told, _level = ask_about("crane", "How do I lift a load?", "lift", "crane.ext")
    assert "found nothing named" not in told


def test_what_resembles_a_name_that_is_gone_comes_first_where_its_successor_is_asked_for(ask_about, install):
    install(
        "frames",
        {
            "frames/__init__.py": '''\
            """Frames."""

            class Frame:
                """A table of columns and rows, made of data.

                Args:
                    data: The rows.
                """

                def __init__(self, data=None): ...

                def with_row_index(self, name="index"):
                    """Add a column that numbers what is there."""
            '''
        },
    )
    told, level = ask_about("frames", "What replaced with_row_count in frames?", "with_row_count", "Frame")
    assert told.index("with_row_index(") < told.index("`frames.Frame(")
    assert "Frame(with_row_count)" not in told
    assert level == "low"


@pytest.mark.req("A7")
def test_a_guide_for_migration_comes_after_what_holds_now(ask_about, install):
    """Unless the question is about a change."""
    page = "# Lamps\n\n## Light a lamp\n\n{} a lamp with a match and a candle of wax.\n"
    install(
        "lantern",
        {
            "lantern/__init__.py": '"""Lanterns."""\n',
            "lantern/docs/migration-guides/v2.md": page.format("Light since version 2"),
            "lantern/docs/lamps.md": page.format("Light"),
        },
    )
    told, _level = ask_about("lantern", "How do I light a lamp with a match and a candle of wax?")
    assert told.index("Light a lamp with a match") < told.index("since version 2")


def test_functions_of_the_same_documentation_are_one_passage_whatever_their_code(package):
    said = '    """Open the box with care and a key."""\n'
    code = f"class A:\n    def open(self):\n    {said}        return 1\n\nclass B:\n    def open(self):\n    {said}        return 2\n"
    titles = package({"__init__.py": code}).titles
    assert len([one for one in titles if one.endswith(".open")]) == 1


def test_a_parameter_of_which_only_the_code_speaks_comes_first(ask_about, install):
    """The code of a function does not document the parameters that it uses."""
    install(
        "crew",
        {
            "crew/__init__.py": """\
            def sail(tries=0):
                def inner(crew):
                    return repeat(crew, tries=tries)
                return inner
            """
        },
    )
    told, _level = ask_about("crew", "Can crew.sail have more tries?", "crew.sail", "tries")
    assert told.index("`crew.sail(tries=...)`") < told.index("`crew.sail(tries=0)`")
