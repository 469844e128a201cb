"""Definitions turned into passages that can be cited."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.evidence.citations import folded
from kr_plugins.sources.installed_docs.parameters import with_site
from kr_plugins.sources.installed_docs.python.module_parser import read_module
from kr_plugins.sources.installed_docs.python.module_passages import make
from kr_plugins.sources.installed_docs.python.public_names import PublicNames
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget
from kr_plugins.sources.installed_docs.text_sections import TextFile, text_passages

HTTP = {
    "__init__.py": "from ._api import get, post, request\nfrom ._client import Client\nfrom ._config import Limits, Timeout\n",
    "_api.py": '''\
        from ._config import DEFAULT_TIMEOUT
        from ._types import TimeoutTypes

        def request(
            method: str,
            url: str,
            *,
            timeout: TimeoutTypes = DEFAULT_TIMEOUT,
            **more: object,
        ) -> str:
            """
            Sends a request to a server.

            **Parameters:**

            * **method** - The verb of the request.
            * **timeout** - *(optional)* How long to wait for an answer.

            Usage:

            ```
            >>> box.request("GET", "https://example.org", timeout=5)
            <Response>
            ```
            """

        def get(url: str, *, timeout: TimeoutTypes = DEFAULT_TIMEOUT) -> str:
            """
            Sends a `GET` request.

            **Parameters**: See `box.request`.
            """

        def post(url: str, *, timeout: TimeoutTypes = DEFAULT_TIMEOUT) -> str:
            """
            Sends a `POST` request.

            **Parameters**: See `box.request`.
            """
        ''',
    "_client.py": '''\
        class Client:
            """Keeps connections open."""

            def close(self) -> None:
                """Close all of the connections at once."""

            def aclose(self) -> None:
                """Close all of the connections at once."""

        class Pool:
            """Holds connections that are idle."""

            def close(self) -> None:
                """Close all of the connections at once."""
        ''',
    "_config.py": '''\
        class Timeout:
            """
            How long to wait.

                Timeout(5.0)  # for everything
            """

            def __init__(self, timeout: float) -> None: ...

        class Limits:
            """How many at once.

            Args:
                most: The most at once.
            """

            def __init__(self, most: int | None = None) -> None: ...

        DEFAULT_TIMEOUT = Timeout(timeout=5.0)
        ''',
    "_types.py": "from typing import Union\nTimeoutTypes = Union[float, 'Timeout', None]\nfrom ._config import Timeout\n",
}


@pytest.fixture
def box(package):
    return package(HTTP)


@pytest.mark.req("R18")
def test_there_is_a_passage_for_each_symbol_and_documented_parameter(box):
    """Symbols and their parameters are passages of their own, under the names that users write."""
    assert {
        "box.request",
        "box.request(timeout)",
        "box.request(method)",
        "box.Timeout",
        "box.Limits(most)",
    } <= set(box.titles)


def test_a_parameter_has_what_a_caller_must_know(box):
    """Annotation, default, what else is needed, and the words that document it."""
    passage = box.passage("box.request(timeout)")
    assert (passage.data["annotation"], passage.data["default"]) == ("TimeoutTypes", "DEFAULT_TIMEOUT")
    assert passage.data["site"]["required"] == ["method", "url"]
    assert passage.lead == "How long to wait for an answer."


def test_parameters_are_left_out_of_the_symbol(box):
    """What parameters' own passages say, the symbol's does not repeat."""
    text = box.passage("box.request").text
    assert "How long to wait" not in text
    assert text.startswith("def request(\n    method: str,\n")
    assert "Usage:" in text


def test_constants_and_type_aliases_are_followed(box):
    """From annotation and default lead links to the class and to `Timeout(timeout=5.0)`."""
    data = box.passage("box.request(timeout)").data
    assert "box.Timeout" in data["types"]
    by_symbol = {passage.symbol: passage for passage in box.passages if not passage.parameter}
    assert [by_symbol[name].text for name in data["defaults"][:1]] == [
        "DEFAULT_TIMEOUT = Timeout(timeout=5.0)"
    ]
    assert [by_symbol[name].text for name in data["types"][:1]] == [
        "TimeoutTypes = Union[float, 'Timeout', None]"
    ]


@pytest.mark.req("R5")
def test_see_is_followed(box):
    """`get` and `post` say "See `box.request`": its parameter names them, and they have no empty passage of their own."""
    sites = [site["symbol"] for site in box.passage("box.request(timeout)").data["sites"]]
    assert sites == ["box.get", "box.post"]
    assert "box.get(timeout)" not in box.titles
    assert box.passage("box.get").data["see"] == ["box.request"]


def test_clones_become_one_passage(box):
    """The same words under many names are one passage that names the others; public before private."""
    closes = [passage for passage in box.passages if passage.lead == "Close all of the connections at once."]
    assert [passage.title for passage in closes] == ["box.Client.close", "box.Client.aclose"]


def test_clones_of_a_parameter_keep_their_signatures(package):
    """A parameter that several functions document alike is one passage with the place of each."""
    box = package({
        "__init__.py": "def put(thing: int):\n    '''Put it in.\n\n    Args:\n        thing: What is put in there.\n    '''\n"
        "def add(thing: int = 2):\n    '''Add it there.\n\n    Args:\n        thing: What is put in there.\n    '''\n"
    })  # fmt: skip
    parameters = [passage for passage in box.passages if passage.parameter]
    assert len(parameters) == 1
    symbols = [parameters[0].symbol, *parameters[0].data["also"]]
    assert sorted(symbols) == ["box.add", "box.put"]
    assert [site["source"] for site in parameters[0].data["sites"]] in (["thing: int = 2"], ["thing: int"])


@pytest.mark.req("A7")
def test_an_instance_that_is_called_is_a_function(package):
    """`fail = _Fail()` has the documentation of its class and the parameters of `__call__`."""
    box = package(
        {
            "__init__.py": "from .outcomes import fail\n",
            "outcomes.py": """\
                class _Fail:
                    \"\"\"Explicitly fail a test.

                    :param reason: What to show.
                    \"\"\"

                    def __call__(self, reason: str = "") -> None: ...

                fail: _Fail = _Fail()
                """,
        }
    )
    (passage,) = (one for one in box.passages if one.title == "box.fail")
    assert passage.lead == "Explicitly fail a test."
    assert passage.data["parameters"] == [("reason", '""')]
    assert "box.fail(reason)" in box.titles


def test_undocumented_private_things_are_no_passages(package):
    box = package(
        {"__init__.py": "def _hidden(): ...\ndef shown(): ...\nclass A:\n    def __init__(self, x): ...\n"}
    )
    assert box.titles == ["box.shown", "box.A", "box.A(x)"]


def test_sections_of_texts_are_cited_by_file_and_line():
    """A README that begins on a later line of METADATA is cited there; housekeeping counts for less."""
    text = TextFile(
        "README",
        "METADATA",
        "# Box\n\nHow to install the box.\n\n## License\n\nMIT, as all of the boxes are.\n",
        11,
    )
    first, last = text_passages(text)
    assert (first.title, first.locator) == ("README § Box", "METADATA:13")
    assert (last.title, last.locator) == ("README § Box § License", "METADATA:17")
    assert last.prior < first.prior


KINDS = [
    'def {n}({a}: int = {d}, *rest: str, key="a" "b",\n    **more: object) -> "dict[str, int]":\n    """{doc}"""\n',
    "@decorated(\n    key=1)\nasync def {n}(\n    {a},\n    /,\n    b: str = 'x',  # why\n    *,\n    c,\n) -> None:\n    r'''{doc}'''\n",
    'class {n}(Base[int],\n        metaclass=Meta):\n    """{doc}"""\n\n    {a}: int = {d}\n    """{short}"""\n\n    def __init__(self, {a}: "int | None" = None, more=()):\n        """{doc}"""\n\n    @property\n    def size(self) -> int:\n        "{short}"\n',
    '@dataclass\nclass {n}:\n    """{doc}"""\n\n    {a}: int  #: {short}\n    b: "str" = field(\n        default={d})\n    """{short}"""\n',
    "def {n}(\n    {a}: Annotated[\n        int,\n        Doc(\n            '''\n            {short}\n            '''\n        ),\n    ] = {d},\n    b: Annotated[str, Doc('{short}')] = \"x\",\n): ...\n",
    "#: {short}\n#: More.\n{n} = Timeout({a}={d})\n",
    "{n}: int = {d}  #: {short}\n",
    "{n} = Union[int,\n    None]\n'''{short}'''\n",
    "class {n}:\n    é = 'ü'; {a}: int = {d}\n    '''{short}'''\n    class Inner:\n        def m(self, {a}='ä', b='ö'): '''{doc}'''\n",
    "def {n}({a}={d}): '''{short}'''\n",
]
DOCS = [
    "Do the thing now.\n\n    Args:\n        {a} (int): What is put\n            into it.\n        b: Other, as in::\n\n                f(1)\n\n    Returns:\n        Nothing.\n    ",
    "\n    Do the thing now.\n\n    Parameters\n    ----------\n    {a} : int\n        What it is.\n    b, c : str\n        Others.\n\n    Examples\n    --------\n    >>> f(1)\n    2\n    ",
    "Do it. \n\n    :param {a}: What\n        it is.\n    :type {a}: int\n    :returns: x\n    ",
    "\\\n    Do the thing now, with an escape: \\\\n, \\n and \\x41.\n\n    **Parameters:**\n\n    * **{a}** - *(optional)* What it is.\n    * `b` - Other.\n\n    Text after it.\n\n    ```python\n    # a comment\n    f(1)\n    ```\n    ",
    'Do the thing \\\n    over lines.\n\n    Split at "\\n" always.\n\n    Args:\n        {a}: What it is.\n    ',
    "Ü: Do the thing now — or 漢字.\n\n    See `other` for more.\n    ",
]  # fmt: skip


def texts_with_lines(passage):
    """Each line of a passage's text with the line of the file on which it stands, as citations say."""
    if passage.kind == "parameter":
        data = passage.data
        for site in [
            data["site"],
            *(one for one in data.get("sites", ()) if one["path"] == data["site"]["path"]),
        ]:
            yield from lines_of(*with_site(data["doc"], data["doc_line"], site))
    else:
        yield from lines_of(passage.text, passage.data["lines"])


def lines_of(text, runs):
    lines = text.split("\n")
    ends = [start for start, _line in runs[1:]] + [len(lines)]
    for (start, first), end in zip(runs, ends, strict=True):
        for number in range(start, end):
            yield lines[number], first + number - start


@pytest.mark.req("R18")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), newline=st.sampled_from(["\n", "\r\n"]))
def test_every_citation_resolves(tmp_path_factory, seed, newline):
    """Each line of each passage is found in its file on the line that a citation names, white space folded.

    A part that runs over several lines begins there. Escaped backslashes and quotes are shown as they read.
    """
    chance = random.Random(seed)
    source = '"""The module of many things, so that it is long enough.\n\nNotes\n-----\nMore words about the module are here.\n"""\n'
    for number in range(8):
        doc = chance.choice(DOCS).replace("{a}", f"a{number}")
        source += "\n" * chance.randint(0, 3) + chance.choice(KINDS).format(
            n=f"thing{number}", a=f"a{number}", d=chance.choice(["1", "None", "(1,\n        2)", "{'x': 1}"]),
            doc=doc, short=f"The short words of {number}.",
        )  # fmt: skip
    folder = tmp_path_factory.mktemp("many")
    (folder / "many.py").write_text(source, encoding="utf-8", newline=newline)
    module = read_module(folder / "many.py", "many", "many.py")
    passages = make({"many": module}, PublicNames({"many": module}, ["many"]), ReadingBudget())
    assert len(passages) > 8
    file = source.split("\n")
    for passage in passages:
        path, _colon, line = passage.locator.rpartition(":")
        assert path == "many.py"
        assert 1 <= int(line) <= len(file)
        for text, place in texts_with_lines(passage):
            there = folded(" ".join(file[place - 1 : place + 12])).replace("\\", "")
            begins = folded(file[place - 1]).replace("\\", "")
            wanted = folded(text).replace("\\", "")
            assert wanted in there, (passage.title, place, text)
            assert not wanted or wanted.split(" ")[0] in begins, (passage.title, place, text)


@pytest.mark.req("A7")
@pytest.mark.parametrize(
    "said",
    [
        "Keyword arguments passed on to `pack`.",
        "Forwarded to :func:`~box.pack` as they are.",
        "Optional arguments that ``pack`` takes.",
        "See `pack`.",
    ],
)
def test_keyword_arguments_are_those_of_the_callable_that_their_documentation_names(package, said):
    """A function that takes `**kwargs` for another takes its parameters, with their defaults."""
    found = package(
        {
            "__init__.py": f'''\
            def pack(thing, *, force: int = 3):
                """Pack a thing.

                Args:
                    thing: What is packed.
                    force: How hard it is pressed into the box.
                """

            def send(thing, **options):
                """Send a thing.

                Args:
                    thing: What is sent.
                    **options: {said}
                """
                box = pack(thing, **options)
                return box
            '''
        }
    )
    force = found.passage("box.pack(force)")
    assert force.data["default"] == "3"
    assert "box.send" in force.data["also"]


def test_keyword_arguments_that_go_elsewhere_are_nobodys(package):
    """Where the documentation names no callable of the package, nothing is added."""
    found = package(
        {
            "__init__.py": '''\
            def pack(thing, *, force: int = 3):
                """Pack a thing.

                Args:
                    force: How hard it is pressed into the box.
                """

            def send(thing, **options):
                """Send a thing, as `pack` does.

                Args:
                    **options: Passed to `shutil.move`.
                """
            '''
        }
    )
    assert not found.passage("box.pack(force)").data.get("also")


@pytest.mark.req("A1", "A3")
@pytest.mark.parametrize(
    "listed",
    [
        "Attributes\n    ----------\n    labels_ : list\n        The labels that fitting found.\n",
        "Attributes:\n        labels_: The labels that fitting found.\n        size: How many there are.\n",
    ],
    ids=["numpy", "google"],
)
def test_an_attribute_that_a_class_lists_is_not_a_parameter_of_it(package, listed):
    """No call takes what fitting sets; what the constructor does take stays a parameter."""
    box = package(
        {
            "__init__.py": f'class Box:\n    """A box.\n\n    {listed}    """\n\n    def __init__(self, size=3):\n        pass\n'
        }
    )
    attribute = box.passage("box.Box.labels_")
    assert (attribute.lead, attribute.data["what"]) == ("The labels that fitting found.", "attribute")
    assert "box.Box(labels_)" not in box.titles
    assert "box.Box(size)" in box.titles


@pytest.mark.req("A1", "A5")
def test_what_its_documentation_advises_against_stands_behind_the_rest(package):
    """One may still ask for it by its name; advice about one way to use it is not meant."""
    box = package(
        {
            "__init__.py": '''\
                def lift(low=1, high=2, near=3):
                    """Lift a box.

                    Args:
                        low: How low. **Note**: you probably shouldn't use this parameter, it is inherited.
                        high: How high.
                        near: How near. You should not use this parameter to reach the shelf.
                    """

                def drop():
                    """Drop a box. The use of this function is discouraged."""

                def take():
                    """Take a box. You never lose it that way."""
                '''
        }
    )
    prior = {
        title: box.passage(f"box.{title}").prior
        for title in ("lift(low)", "lift(high)", "lift(near)", "drop", "take")
    }
    assert prior["lift(low)"] < prior["lift(high)"] == prior["lift(near)"]
    assert prior["drop"] < prior["take"]


@pytest.mark.req("A1")
def test_two_names_that_one_line_gives_a_function_are_names_of_it(package):
    """`s = attributes = attrs` makes no constant: `box.s` in a question means the function."""
    box = package(
        {
            "__init__.py": "from ._make import boxes\n\ns = things = boxes\n",
            "_make.py": 'def boxes():\n    """Make boxes."""\n',
        }
    )
    assert {"box.s", "box.things"} <= set(box.passage("box.boxes").data["aliases"])
    assert "box.s" not in box.titles
