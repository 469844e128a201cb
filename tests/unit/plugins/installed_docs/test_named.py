"""What a question names comes first, and what the library does not have is said."""

import asyncio
import sys

import pytest

from kr_core.model import ResearchQuery
from kr_core.project.project import LocalProject
from kr_plugins.sources.installed_docs import InstalledDocs
from kr_plugins.sources.installed_docs.index_answer import answer
from kr_plugins.sources.installed_docs.material import find
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

BOX = {
    "box/__init__.py": '''\
        """Boxes, and how things are put into them and taken out."""

        from ._box import Box, BigBox, FoodTin, Tin, open_all, get, with_lid_on
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

            def weigh(self) -> int:
                """Weigh the box."""

        class Tin(Box):
            """A box of metal."""

            def weigh(self) -> int:
                """Weigh the tin."""

        class FoodTin(Tin):
            """A tin for food."""

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
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
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
        ("What does `weigh` do?", ["box.Box.weigh"]),
        ("What does Tin.weigh do in box?", ["box.Tin.weigh"]),
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
        ("box Box size vs timeout", ["box.Box(size)", "box.Box(timeout)"]),
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
def test_meaning_counts_only_where_nothing_is_named(box, monkeypatch):
    """A question that names what it asks about does not read the table of word vectors."""
    monkeypatch.setitem(sys.modules, "kr_core.search.word_vectors", None)
    assert _pinned(box("What does box.Box.get do?")) == ["box.Box.get"]
    with pytest.raises(ImportError):
        box("How do I take a thing out of a box?")


@pytest.mark.req("A1")
def test_the_parameters_of_what_a_how_to_names_compete(box):
    """The answer is how to call what is named, and of several parameters its own."""
    told = box("How do I set the timeout of box.get?")
    assert told.passages[0].title == "box.get(timeout)"


@pytest.mark.req("A1")
def test_a_parameter_that_must_be_passed_anyway_does_not_compete(box):
    """A how-to that says its word in prose asks for something else of the callable."""
    assert box("How do I take a name off with Box.get?").passages[0].title == "box.Box.get"
    assert box("How do I tell which boxes box.open_all left closed?").passages[0].title == "box.open_all"
    assert box("How do I set the timeout of open_all?").passages[0].title == "box.open_all(timeout)"


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("question", "name", "nearest"),
    [
        ("What does box.open_al do?", "box.open_al", "box.open_all"),
        ("How do I use the open_codes parameter of box.open_all?", "box.open_all(open_codes)", None),
        ("Which value should I give the `lid_codes` option of Box in box?", "lid_codes", None),
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


@pytest.mark.req("A1")
def test_a_function_that_a_how_to_spells_out_competes(box):
    """Nothing else is called so; what says more of the other words comes behind it, and no pin says that it is the answer."""
    told = box("box with_lid_on many boxes opened")
    assert told.passages[0].symbol == "box.with_lid_on"
    assert _pinned(told) == []


ROOTED = {
    "rooted/__init__.py": '''\
        """Models, and tables."""

        from rooted.models import Base, Rooty
        from rooted.joins import merge
        from rooted.tables import Table

        __all__ = ("Late", "Base", "Rooty", "Table", "merge")

        def __getattr__(name):
            if name == "Late":
                from .late import Late as late
                return late
            raise AttributeError(name)
        ''',
    "rooted/late.py": '''\
        class Late:
            """What is imported when it is asked for."""
        ''',
    "rooted/models.py": '''\
        class Base:
            """A model of a thing."""

            def validate(self):
                """Validate the values of a model."""

            def construct(self, **values):
                """Construct a model from values that are trusted."""

        class Rooty(Base):
            """A model of one value."""

            def construct(self, root):
                """Construct a model from one value, without any check of it."""
        ''',
    "rooted/joins.py": '''\
        def merge(left, right, how: str = "inner"):
            """Merge two tables.

            Args:
                left: One table.
                right: The other table.
                how: Which rows of the two tables stay.
            """
        ''',
    "rooted/tables.py": '''\
        class Table:
            """A table of rows."""

            def merge(self, right, how: str = "inner"):
                """Merge with another table.

                Args:
                    right: The other table.
                    how: Which rows of the two tables stay.
                """
        ''',
}


@pytest.fixture
def rooted(install, project, tmp_path):
    """Answers questions from the package `rooted`."""
    install("rooted", ROOTED)
    found = find("rooted", project())
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
    yield lambda question: answer(index, question, found.names, found.origin)
    index.close()


@pytest.mark.req("A1")
def test_two_names_take_the_owner_that_defines_both(rooted):
    """A class that takes one of them over is not meant."""
    told = rooted("difference between validate and construct in rooted")
    assert _pinned(told) == ["rooted.Base.validate", "rooted.Base.construct"]


@pytest.mark.req("A1", "A2")
def test_compared_names_take_the_owner_that_documents_both(install, project, tmp_path):
    """Another class that has both names documents one of them better, and says nothing of the other."""
    source = '''\
        """Jobs."""

        class Task:
            """A task."""

            def send(self):
                """Send a task."""

            def delay(self):
                """Send a task later."""

        class Zmap:
            """Several tasks in one."""

            def send(self):
                return self

            def delay(self):
                """Send several tasks later."""
        '''
    install("jobs", {"jobs/__init__.py": source})
    found = find("jobs", project())
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
    told = answer(index, "What is the difference between send and delay in jobs?", found.names, found.origin)
    index.close()
    assert _pinned(told) == ["jobs.Task.send", "jobs.Task.delay"]


@pytest.mark.req("A1")
@pytest.mark.parametrize("name", ["Table.merge", "rooted.merge"])
def test_a_parameter_goes_by_the_name_that_was_asked_for(rooted, name):
    """Of copies in two files the one that the question names leads, not the one whose text is quoted."""
    first = rooted(f"default of how in {name}").passages[0]
    symbol = f"rooted.{name.removeprefix('rooted.')}"
    assert (first.title, first.symbol, first.default) == (f"{symbol}(how)", symbol, '"inner"')


@pytest.mark.req("A1")
def test_what_a_package_imports_late_goes_by_its_short_name(rooted):
    """`__getattr__` of a package imports names when they are asked for."""
    assert rooted("What is Late?").passages[0].symbol == "rooted.Late"


KEYED = {
    "keyed/__init__.py": '''\
        """Things that take arguments by name."""
        import functools
        import typing


        def fetch(url, **kwargs):
            """Fetch a page."""
            with Session() as session:
                return session.request(url, **kwargs)

        def loose(url, **options):
            """Take options of which one is looked at."""
            options.pop("colour", None)
            return fetch(url, **options)

        def made(**attrs):
            """Make an option, of a class of your own."""
            cls = Choice

            def decorator(f):
                return cls(**attrs)

            return decorator

        @functools.partial
        def wrapped(url):
            """Take what a decorator makes of it."""

        class Session:
            """A session.

            A longer story of it.
            """

            def __init__(self, expire=True, adapter=None):
                """Make a session.

                :param expire: Defaults to ``True``. When true, all things expire
                    after each commit.
                :param adapter=None: What is asked.
                """

            def request(self, url, *, timeout=3, skip_blank_lines=True):
                """Send a request."""

        class Adapter:
            """What tries again."""

            def __init__(self, max_retries: int = 3):
                """Make one."""

        class Base:
            """The base of options."""

            def __init__(self, required=False):
                """Make one."""

        class Choice(Base):
            """An option."""

            def __init__(self, values=(), **attrs):
                super().__init__(**attrs)

        @typing.overload
        def retry(func: typing.Callable) -> typing.Callable: ...

        @typing.overload
        def retry(*, sleep: float = 1.0, reraise: bool = False) -> typing.Callable: ...

        def retry(*args, **kw):
            """Wrap a function.

            :param args: what is handed on
            :param kw: what is handed on by name
            """

        def choose(select: str, limit: int = 0) -> list:
            """Choose tags.

            :param selector: A CSS selector.
            :param limit: How many are found.
            :param ghost: Nothing takes this.
            """

        def pick(select: str, limit: int = 0) -> list:
            """Pick tags.

            :param selector: A selector of tags.
            :param limit: How many are picked.
            """

        class Retrying:
            """What tries again and again."""

            def copy(self, reraise: bool = True) -> "Retrying":
                """Copy it.

                :param reraise: Whether the copy raises the last error.
                """
        ''',
}


@pytest.fixture
def keyed(install, project, tmp_path):
    """Answers questions from the package `keyed`."""
    install("keyed", KEYED)
    found = find("keyed", project())
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
    yield lambda question: answer(index, question, found.names, found.origin)
    index.close()


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("question", "name", "nearest"),
    [
        ("What does keyed.fetch(url, max_retries=5) do?", "keyed.fetch(max_retries)", ("keyed.Adapter(max_retries)",)),
        ("How do I retry with keyed.fetch(url, max_retries=f(x=1))?", "keyed.fetch(max_retries)", ("keyed.Adapter(max_retries)",)),
        ("keyed.Session(retries=3)", "keyed.Session(retries)", ()),
        ("How do I use the retries parameter of keyed.Session?", "keyed.Session(retries)", ()),
        ("Why does `keyed.fetch(url, skip_blank=True)` fail?", "keyed.fetch(skip_blank)", ("keyed.fetch(skip_blank_lines)",)),
        ("```\nkeyed.made(require=True)\n```\nWhy is it slow?", "keyed.made(require)", ("keyed.made(required)",)),
        ("keyed.retry(raising=True)", "keyed.retry(raising)", ()),
    ],
)  # fmt: skip
def test_an_argument_that_a_callable_does_not_take_is_said(keyed, question, name, nearest):
    """Calls are compared with the signature, and with what the callable hands its keywords on to."""
    told = {one.name: one.nearest for one in keyed(question).unresolved}
    if "raising" in question:  # what an implementation takes by `**kw` is not certain
        assert told == {}
        return
    assert told[name][: len(nearest)] == nearest


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    "question",
    [
        "What does keyed.fetch(url, timeout=5) do?",
        "keyed.made(required=True, values=[1])",
        "keyed.loose(url, colour=3, odd=4)",
        "keyed.wrapped(url, odd=4)",
        "keyed.retry(reraise=True)",
        "keyed.Session(expire=False)",
        "print('keyed.fetch(url, max_retries=5)')",
        "my.fetch(url, max_retries=5)",
        "keyed.fetch(url == 3, dict(max_retries=5))",
    ],
)
def test_an_argument_that_a_callable_may_take_is_not_missed(keyed, question):
    """What is handed on, looked at or changed by a decorator may be taken; quotes and other calls are no calls of it."""
    assert not [one for one in keyed(question).unresolved if "(" in one.name]


@pytest.mark.req("A1")
def test_a_constructor_describes_the_parameters_of_its_class(keyed):
    """The class has a docstring of its own, and `name=default` in a field names the parameter."""
    (first, *_rest) = keyed("What does expire do in keyed.Session?").passages
    assert first.title == "keyed.Session(expire)"
    assert first.lead.startswith("Defaults to ``True``. When true, all things expire after each commit.")
    (first, *_rest) = keyed("What does adapter do in keyed.Session?").passages
    assert (first.title, first.lead) == ("keyed.Session(adapter)", "What is asked.")


@pytest.mark.req("A1")
def test_the_parameters_of_overloads_are_those_of_the_callable(keyed):
    """A callable that takes anything takes what its overloads name, before another's parameter of that name."""
    (first, *_rest) = keyed("in keyed.retry, what does reraise do").passages
    assert (first.title, first.default) == ("keyed.retry(reraise)", "False")


@pytest.mark.req("A1")
def test_a_docstring_alone_makes_no_parameter(keyed):
    """A name that the signature lacks is not a parameter, but for the one whose place says which is meant."""
    titles = {
        one.title
        for question in ("keyed.choose ghost selector", "keyed.pick(select)")
        for one in keyed(question).passages
    }
    assert "keyed.pick(select)" in titles
    assert titles.isdisjoint({"keyed.choose(ghost)", "keyed.choose(selector)", "keyed.pick(selector)"})


@pytest.mark.req("A14")
def test_names_that_the_asker_expects_are_looked_up(box):
    """Those that exist come first, those that do not are told, and those of other modules are left alone."""
    told = box("strict name of a thing", "box.Box.get", "box.Box.fetch_all", "os.remove", "")
    assert told.passages[0].symbol == "box.Box.get"
    assert told.passages[0].pinned, [(one.title, one.coverage, one.pinned) for one in told.passages]
    assert [one.name for one in told.unresolved] == ["box.Box.fetch_all"]
    belief = box("wait for room", "box.with_lid_on").passages[0]
    assert belief.symbol == "box.with_lid_on"
    assert not belief.pinned, "it says nothing of the question"
    assert belief.coverage == 0.0


@pytest.mark.req("A14")
@pytest.mark.parametrize(
    ("question", "names", "first"),
    [
        ("wait longer", ["open_all", "timeout"], ["box.open_all(timeout)", "box.open_all"]),
        ("wait longer", ["timeout", "open_all"], ["box.open_all(timeout)", "box.open_all"]),
        ("wait longer", ["Box.timeout"], ["box.Box(timeout)", "box.Box"]),
        ("wait longer", ["open_all(timeout=3)"], ["box.open_all(timeout)", "box.open_all"]),
        ("wait longer", ["new Box(timeout)"], ["box.Box(timeout)", "box.Box"]),
        ("hand things round", ["crate.to_all_if_any"], ["box.Box.to_all_if_any"]),
        ("hand things round", ["Box#to_all_if_any"], ["box.Box.to_all_if_any"]),
        ("How many kilos is it?", ["FoodTin.weigh"], ["box.Tin.weigh"]),
        ("What does Box.get do?", ["Box.weigh"], ["box.Box.get", "box.Box.weigh"]),
        ("What happened to Box.fetch?", ["Box.get"], ["box.Box.get"]),
    ],
)
def test_expected_names_are_looked_up_beside_each_other(box, question, names, first):
    """A parameter belongs to the callable named with it; what the question itself asks about stays first."""
    shown = [passage.title for passage in box(question, *names).passages]
    assert shown[: len(first)] == first


@pytest.mark.req("A14")
def test_an_expected_name_may_be_a_heading(box):
    """A README or a guide tells of it where no symbol has it."""
    told = box("what is new", "Upgrade")
    assert told.passages[0].kind == "section"
    assert "Upgrade" in told.passages[0].title


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


@pytest.mark.req("A1")
def test_of_members_with_one_name_that_is_meant_which_passages_speak_of_most(install, project, tmp_path):
    """Many subclasses make a member no likelier: they only repeat it."""
    derived = "\n".join(f'class Shelf{n}(Shelf):\n    """A shelf."""' for n in range(6))
    source = f'''
"""Crates are filled and sorted: `Crate.sort` by weight. See `Crate.sort` and `Crate.sort` again, also Crate.sort."""

class Shelf:
    """A shelf."""

    def sort(self) -> None:
        """Sort the shelf."""

{derived}

class Crate:
    """A crate; call `Crate.sort` when it is full."""

    def sort(self) -> None:
        """Sort the crate."""

    def fill(self) -> None:
        """Fill it, then call `Crate.sort`."""

    def close(self) -> None:
        """Close it after `Crate.sort`."""
'''
    install("crates", {"crates/__init__.py": source})
    found = find("crates", project())
    index, _notes = open_index(
        tmp_path / "cache", found.material, lambda _done, _total: None, ReadingBudget()
    )
    told = answer(index, "What does sort do in crates?", found.names, found.origin)
    index.close()
    assert told.passages[0].symbol == "crates.Crate.sort"
