"""What a default of `None` means, read from the body of a function."""

import textwrap

import pytest

from kr_plugins.sources.installed_docs.python import module_parser


@pytest.fixture
def meaning(tmp_path):
    """What `None` means for `depth`: the line, the statement and the value; None where that is not certain."""

    def read(body, head="def put(thing, depth=None, lid=None):", qualname="put"):
        file = tmp_path / "box.py"
        file.write_text(f"{head}\n{textwrap.indent(body, '    ')}\n", "utf-8")
        module = module_parser.read_module(file, "box", "box.py")
        return next(one.meant for one in module.definitions[qualname].parameters if one.name == "depth")

    return read


@pytest.mark.req("A2", "A7")
@pytest.mark.parametrize(
    ("body", "line", "value"),
    [
        ("if depth is None:\n    # a comment\n    depth = min(3, room() + 1)", 4, "min(3, room() + 1)"),
        ("if lid:\n    raise ValueError\nif depth is None:\n    depth = thing.depth", 5, "thing.depth"),
        ("if depth is None:\n    depth = 3\nelif depth < 0:\n    raise ValueError", 3, "3"),
        ("if depth is None:\n    depth: int = DEPTH", 3, "DEPTH"),
        ("depth = depth or 3", 2, "3"),
        ("depth = 3 if depth is None else depth", 2, "3"),
        ("depth = depth if depth is not None else {}", 2, "{}"),
        ("self._depth = depth or 3", 2, "3"),
        ("if depth is None:\n    self._depth = DEPTH\n    if lid:\n        warn(lid)", 3, "DEPTH"),
    ],
)
def test_a_value_that_replaces_none_is_read_with_its_line(meaning, body, line, value):
    told = meaning(body)
    assert (told.line, told.value) == (line, value)
    assert told.value in told.statement


@pytest.mark.req("A2", "A7")
@pytest.mark.parametrize(
    "body",
    [
        "if depth is None:\n    if lid:\n        depth = 3",
        "if depth is None and lid:\n    depth = 3",
        "if depth is None:\n    depth = 3\n    depth = 4",
        "if depth is None:\n    half = room()\n    depth = half * 2",
        "half = room()\ndepth = depth or half",
        "depth = normal(depth)\nif depth is None:\n    depth = 3",
        "if lid:\n    depth = 3\ndepth = depth or 4",
        "depth = lid or 3",
        "if depth is None:\n    depth = None",
        "if depth is not None:\n    depth = 3",
        "if depth is None:\n    depth = depth + 1",
        "for depth in ():\n    pass\ndepth = depth or 3",
        "other = depth or 3",
        "def inner():\n    if depth is None:\n        depth = 3",
        "depth = depth or '" + "x" * 200 + "'",
        "depth, lid = depth or 3, 4",
        "depth = lid = depth or 3",
        "pass",
    ],
)
def test_what_is_not_certain_is_not_told(meaning, body):
    """Another condition, a second assignment, or a value that the body has computed before."""
    assert meaning(body) is None


@pytest.mark.req("A2")
def test_only_a_default_of_none_is_replaced(meaning):
    assert meaning("if depth is None:\n    depth = 3", head="def put(depth=5):") is None


@pytest.mark.req("A2")
def test_the_body_of_a_constructor_speaks_for_the_class(meaning):
    body = "def __init__(self, depth=None):\n    if depth is None:\n        depth = 3"
    assert meaning(body, head="class Box:", qualname="Box").value == "3"


@pytest.mark.req("A2")
@pytest.mark.parametrize(
    "body",
    [
        "if depth is UNSET:\n    depth = 3",
        "if depth is UNSET or depth is None:\n    self._depth = 3",
        "depth = 3 if depth is UNSET else depth",
    ],
)
def test_a_mark_that_nothing_was_given_is_replaced_like_none(meaning, body):
    """`UNSET`, `sentinel`, `NOT_GIVEN`: the signature says nothing, the body does."""
    assert meaning(body, head="def put(thing, depth=UNSET, lid=None):").value == "3"


@pytest.mark.req("A2")
def test_the_default_is_what_the_body_takes_where_the_signature_has_a_mark(install, ask_about):
    """With the value of the constant, as for a default in the signature."""
    source = '''\
        """Kilns."""

        class Wait:
            """How long to wait."""

            def __init__(self, total):
                self.total = total

        sentinel = object()
        LONG_WAIT = Wait(total=300)

        class Kiln:
            """A kiln."""

            def __init__(self, wait=sentinel):
                """Open a kiln.

                Args:
                    wait: How long to wait until it is hot.
                """
                if wait is sentinel or wait is None:
                    self._wait = LONG_WAIT
        '''
    install("kiln", {"kiln/__init__.py": source})
    text, _level = ask_about("kiln", "What is the default wait of kiln.Kiln?")
    assert text.startswith("The default of `wait` in `kiln.Kiln` is `LONG_WAIT`")
