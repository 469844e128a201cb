"""What a question names comes first, and what the library does not have is said."""

import asyncio

import pytest

from kr_core.model import ResearchQuery
from kr_core.project.project import LocalProject
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.index_answer import answer
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.package_index import open_index

BOX = {
    "box/__init__.py": '''\
        """Boxes, and how things are put into them and taken out."""

        from ._box import Box, BigBox, open_all, get, with_lid_on
        from ._errors import BoxError
        ''',
    "box/_errors.py": '''\
        class BoxError(Exception):
            """Something does not fit into a box."""
        ''',
    "box/_box.py": '''\
        class Base:
            """What all boxes have in common."""

            def close(self) -> None:
                """Close the lid."""

            def send(self, thing: str, *, retries: int = 3) -> None:
                """Send a thing away.

                Args:
                    thing: What is sent.
                    retries: How often it is tried again.
                """

        class Box(Base):
            """A box for things.

            Args:
                size: How much room there is.
                timeout: Seconds to wait for room.
            """

            def __init__(self, size: int = 10, timeout: float = 5.0) -> None:
                self.size = size

            def get(self, name: str, strict: bool = True) -> str:
                """Take a thing out of the box by its name.

                Args:
                    name: What it is called.
                    strict: Fail where nothing has that name.
                """

            def to_all_if_any(self) -> None:
                """Hand the things round."""

        class BigBox(Box):
            """A box that holds many boxes, and is opened by two people."""

        def open_all(boxes: list, *, timeout: float = 1.0) -> None:
            """Open many boxes.

            Args:
                boxes: Which boxes.
                timeout: Seconds until somebody gives up.
            """

        def get(name: str, timeout: float = 2.0) -> str:
            """Take a thing out of any box; it says nothing of the words of the question.

            Args:
                name: What it is called.
                timeout: Seconds until it gives up.
            """

        def with_lid_on(box) -> None:
            """Shut it."""
        ''',
    "box/core.py": '''\
        def get(name: str) -> str:
            """Take a thing out of any box, without checks, faster."""
        ''',
}
README = """# Box

## Upgrade from 3.3 to 3.4

Boxes have lids when you upgrade. Call with_lid_on for each box.

## Upgrade from 4 to 5

Boxes have lids when you upgrade from 4 to 5. Upgrade the lids. Upgrade all boxes.
"""


@pytest.fixture
def box(install, project, tmp_path):
    """Answers questions from the package `box`."""
    install("box", BOX, readme=README)
    found = find("box", project())
    index, _notes = open_index(tmp_path / "cache", found.material, lambda _done, _total: None, lambda: False)
    yield lambda question, *proposed: answer(index, question, found.names, found.origin, (), proposed)
    index.close()


def _pinned(told):
    return [passage.title for passage in told.passages if passage.pinned]


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("question", "pinned"),
    [
        ("What does box.Box.get do?", ["box.Box.get"]),
        ("What does Box.get do in box?", ["box.Box.get"]),
        ("What does get do in box?", ["box.get"]),
        ("What does with_lid_on do?", ["box.with_lid_on"]),
        ("What does to_all_if_any() do?", ["box.Box.to_all_if_any"]),
        ("What does `open_all` do?", ["box.open_all"]),
        ("What is BigBox?", ["box.BigBox"]),
        ("What does bigBox do?", ["box.BigBox"]),
        ("What does bx.Box do?", ["box.Box"]),
        ("What does BigBox.close do?", ["box.Box.close"]),
        ("What is the default of timeout in Box?", ["box.Box(timeout)"]),
        ("What is the default of timeout in open_all?", ["box.open_all(timeout)"]),
        ("default of retries in Box.send", ["box.Box.send(retries)"]),
        ("What is the default timeout of open_all?", ["box.open_all(timeout)"]),
        ("What does `strict=` do?", ["box.Box.get(strict)"]),
        ("What does strict do in Box.get?", ["box.Box.get(strict)"]),
        ("What is the difference between Box and BigBox?", ["box.Box", "box.BigBox"]),
        ("get vs open_all", ["box.get", "box.open_all"]),
        ("When is BoxError raised?", ["box.BoxError"]),
        ("How do I use open_all?", ["box.open_all"]),
    ],
)
def test_what_is_asked_about_comes_first(box, question, pinned):
    """Whole names, suffixes, import aliases, inherited members and parameters are found, all of them first."""
    told = box(question)
    assert [passage.title for passage in told.passages][: len(pinned)] == pinned
    assert _pinned(told)[: len(pinned)] == pinned
    assert told.passages[0].coverage > 0.9
    assert told.unresolved == ()


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question",
    [
        "Can I call os.remove or os.get on it?",
        "What is box?",
        "How do I wait longer in open_all?",
        "How do I avoid BoxError?",
        "I get TypeError when I fill it",
        "Does it work instead of BigBox?",
        "How do I put a thing in?",
    ],
)
def test_what_is_only_mentioned_is_not_pinned(box, question):
    """The library's own name, other modules, builtins, the way round, and what a how-to starts from."""
    told = box(question)
    assert _pinned(told) == []
    assert told.unresolved == ()


@pytest.mark.req("A1")
def test_the_parameters_of_what_a_how_to_names_compete(box):
    """The answer is how to call what is named, and of several parameters its own."""
    told = box("How do I set the timeout of box.get?")
    assert told.passages[0].title == "box.get(timeout)"


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("question", "name", "nearest"),
    [
        ("What does box.open_al do?", "box.open_al", "box.open_all"),
        ("What does `open_alls` do in box?", "open_alls", "box.open_all"),
        ("What does Box.gets do?", "Box.gets", "box.Box.get"),
        ("TypeError: Box.__init__() got an unexpected keyword argument 'timeouts'", "timeouts", "box.Box(timeout)"),
        ("AttributeError: module 'box' has no attribute 'open_alll'", "open_alll", "box.open_all"),
        ("AttributeError: 'BigBox' object has no attribute 'boxes'", "BigBox.boxes", None),
    ],
)  # fmt: skip
def test_what_the_library_does_not_have_is_said(box, question, name, nearest):
    """A name that clearly belongs to the library and is not there is told with the nearest ones."""
    (told,) = box(question).unresolved
    assert told.name == name
    assert len(told.nearest) <= 3
    assert nearest is None or told.nearest[0] == nearest


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question",
    [
        "What does os.removes do?",
        "What does my_function do?",
        "How do I pass my_thing to open_all?",
        "Does box work with GraphQL?",
        "```\nmy_box.fill_it(some_thing)\n```\nWhy is it slow?",
        "What does json.dumpz do?",
        "'NoneType' object has no attribute 'put_it'",
    ],
)
def test_nothing_is_said_of_names_that_are_others(box, question):
    """The user's own names, other modules' and products' are not the library's to have."""
    assert box(question).unresolved == ()


@pytest.mark.req("A14")
def test_names_that_the_asker_expects_are_looked_up(box):
    """Those that exist compete, those that do not are told, and those of other modules are left alone."""
    told = box("strict name of a thing", "box.Box.get", "box.Box.fetch_all", "os.remove", "")
    assert told.passages[0].symbol == "box.Box.get"
    assert told.passages[0].pinned, [(one.title, one.coverage, one.pinned) for one in told.passages]
    assert [one.name for one in told.unresolved] == ["box.Box.fetch_all"]
    assert box("wait for room", "box.with_lid_on").passages[0].symbol != "box.with_lid_on"


@pytest.mark.req("A14")
def test_the_source_hands_the_names_on(install, project, tmp_path):
    """Names of a request reach the index, and what is missing reaches the finding."""
    install("box", BOX)
    query = ResearchQuery(
        framework="box", framework_version="1.2.0", topic="t", tags=(), question="open many", names=("box.unpack_all",)
    )  # fmt: skip

    class Context:
        deadline = 0.0

        def __init__(self):
            self.project = project()
            assert isinstance(self.project, LocalProject)

        def emit(self, kind, data):
            pass

    found = asyncio.run(InstalledDocs(tmp_path / "cache").query(query, Context()))
    assert [one.name for one in found.unresolved] == ["box.unpack_all"]


@pytest.mark.req("A6")
def test_a_passage_about_other_versions_does_not_come_first(box):
    """A guide for the versions that were asked about comes before one that says more of the other words."""
    told = box("upgrade boxes from 3.3 to 3.4")
    assert "3.3 to 3.4" in told.passages[0].title
    other = next(passage for passage in told.passages if "4 to 5" in passage.title)
    assert other.coverage < 0.61
    assert "4 to 5" in box("upgrade boxes from 4 to 5").passages[0].title


@pytest.mark.req("A13")
def test_a_question_pasted_whole_is_answered_like_its_one_line_form(box):
    """Code, data and a story around the question do not change what comes first."""
    text = (
        "We have a service with many workers and lids, and people who look after them.\n\n"
        "```python\nimport box\nb = box.Box(size=3)\nb.close()\n```\n\n"
        '{"lid": 1, "people": 2}\n{"lid": 3, "people": 4}\n\n'
        "What does open_all do?\n"
    )
    assert box(text).passages[0].title == box("What does open_all do?").passages[0].title == "box.open_all"
