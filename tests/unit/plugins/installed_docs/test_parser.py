"""Python source read without importing it."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.evidence.citations import folded
from kr_plugins.sources.installed_docs.python.module_parser import Unreadable, read_module


def arguments(module, name):
    return [
        (one.star + one.name, one.source, one.annotation, one.default, one.required, one.line)
        for one in module.definitions[name].parameters
    ]


@pytest.mark.req("R18")
def test_a_signature_is_kept_as_it_is_written(read):
    """A head over several lines is kept verbatim, from `def` to its colon, decorators left out."""
    source = '''\
    import functools

    @functools.cache
    @other(
        key=":"
    )
    async def send(
        address: str,  # where: to
        /,
        count: int = 1,
        *extra: bytes,
        options: dict[str, int] = {"a":
            1},
        **more: object,
    ) -> dict[
        str, int
    ]:
        # A comment.
        """Send it."""
    '''
    found = read(source).definitions["send"]
    assert found.line == 7
    assert found.signature.startswith("async def ")
    assert found.signature == textwrap.dedent(source).partition("    # A")[0].partition(")\n")[2].rstrip()
    assert folded(found.returns) == "dict[ str, int ]"


def test_arguments_are_read_with_their_lines(read):
    """Every kind of argument has its verbatim text, annotation, default and line."""
    module = read("""\
        def send(address: str, /, count=1, *extra: bytes, timeout: float = 5.0, deep: dict[str, int] = {
            "a": 1,
        }, **more): ...
        """)
    assert arguments(module, "send") == [
        ("address", "address: str", "str", None, True, 1),
        ("count", "count=1", None, "1", False, 1),
        ("*extra", "extra: bytes", "bytes", None, False, 1),
        ("timeout", "timeout: float = 5.0", "float", "5.0", False, 1),
        ("deep", 'deep: dict[str, int] = { "a": 1, }', "dict[str, int]", '{\n"a": 1,\n}', False, 1),
        ("**more", "more", None, None, False, 3),
    ]


@given(st.text(st.characters(codec="utf-8", exclude_characters='"\\\n\r', exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=12))  # fmt: skip
def test_text_outside_ascii_moves_nothing(tmp_path_factory, text):
    """`ast` counts bytes: what stands after any text on a line is still cut out exactly."""
    folder = tmp_path_factory.getbasetemp()
    (folder / "u.py").write_text(f'def send(a: str = "{text}", b: int = 2): ...\n', encoding="utf-8")
    module = read_module(folder / "u.py", "u", "u.py")
    assert [one.source for one in module.definitions["send"].parameters] == [
        f'a: str = "{text}"',
        "b: int = 2",
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["unix", "dos", "old mac"])
def test_lines_end_in_any_way(read, newline):
    """Files of other systems are read with the same lines and texts."""
    source = 'def send(\n    a=(1,\n       2),\n):\n    """Send it.\n\n    More."""\n\n\ndef take():\n    "Take it."\n'
    module = read(source.replace("\n", newline))
    assert module.definitions["send"].signature == "def send(\n    a=(1,\n       2),\n):"
    assert module.definitions["send"].doc.lines == ("Send it.", "", "More.")
    assert module.definitions["take"].doc_line == 11


def test_methods_leave_out_what_python_passes(read):
    """`self` and `cls` are no parameters; a static method's first one is."""
    module = read("""\
        class Box:
            def put(self, thing): ...
            @classmethod
            def make(cls, size): ...
            @staticmethod
            def check(thing): ...
            def any(*things, **named): ...
            @property
            def size(self): ...
            @size.setter
            def size(self, value): ...
        """)
    assert [one.name for one in module.definitions["Box.put"].parameters] == ["thing"]
    assert [one.name for one in module.definitions["Box.make"].parameters] == ["size"]
    assert [one.name for one in module.definitions["Box.check"].parameters] == ["thing"]
    assert [one.name for one in module.definitions["Box.any"].parameters] == ["things", "named"]
    assert module.definitions["Box.size"].kind == "property"


def test_a_class_takes_what_its_constructor_takes(read):
    """A class has the parameters of `__init__`, and its documentation where it has none itself."""
    module = read("""\
        class Box(Base[int], metaclass=Meta):
            def __init__(self, size: int = 1):
                '''A box of a size.'''
            class Lid:
                '''Closes it.'''
        """)
    box = module.definitions["Box"]
    assert box.signature == "class Box(Base[int], metaclass=Meta):"
    assert box.constructor == (2, "def __init__(self, size: int = 1):")
    assert box.bases == ("Base",)
    assert [one.name for one in box.parameters] == ["size"]
    assert (box.doc.lead, box.doc_line) == ("A box of a size.", 3)
    assert module.definitions["Box.Lid"].doc.lead == "Closes it."


@pytest.mark.parametrize(
    "head",
    ["@dataclass\nclass Box:", "@attrs.define(slots=True)\nclass Box:", "class Box(TypedDict, total=False):", "class Box(NamedTuple):",
     "class Box(pydantic.BaseModel):"],
)  # fmt: skip
def test_fields_are_what_a_constructor_takes(read, head):
    """The annotated attributes of a dataclass and its like are its parameters; class variables are not."""
    module = read(f'''{head}
    """A box."""
    size: int
    """How large it is."""
    lid: "str = 1" = field(default=3)
    most: Annotated[int, Field(gt=0)]
    kind: ClassVar[str] = "box"
    _: KW_ONLY
    loose = 4
''')
    found = [
        (one.name, one.default, one.required, one.doc and one.doc.lead)
        for one in module.definitions["Box"].parameters
    ]
    assert found == [
        ("size", None, True, "How large it is."),
        ("lid", "field(default=3)", False, None),
        ("most", None, True, None),
    ]  # fmt: skip


def test_attributes_are_documented_in_three_ways(read):
    """A string below, `#:` lines above and a `#:` comment beside an attribute document it, with their lines."""
    module = read("""\
        BELOW = 1
        '''Stands below.'''
        #: Stands above,
        #: over two lines.
        ABOVE = 2
        BESIDE = 3  #: Stands beside.
        NONE = 4  # not this
        TEXT = "#: nor this"
        """)
    found = {name: (one.doc and one.doc.lead, one.doc_line) for name, one in module.definitions.items()}
    assert found == {
        "BELOW": ("Stands below.", 2),
        "ABOVE": ("Stands above, over two lines.", 3),
        "BESIDE": ("Stands beside.", 6),
        "NONE": (None, 0),
        "TEXT": (None, 0),
    }


def test_attributes_that_a_constructor_documents_are_read(read):
    """In the three ways in which those of a class are; what it does not document is its own affair."""
    module = read(
        """\
        class Kiln:
            def __init__(self):
                #: Degrees beyond which it is switched off.
                self.most = 1300
                self.least = 20  #: Degrees at which it may be opened.
                self.pots: list = []
                '''What it holds.'''
                self.plain = 1
        """
    )
    found = {name: one.doc.lead for name, one in module.definitions.items() if one.kind == "attribute"}
    assert found == {
        "Kiln.most": "Degrees beyond which it is switched off.",
        "Kiln.least": "Degrees at which it may be opened.",
        "Kiln.pots": "What it holds.",
    }


@pytest.mark.req("A7")
def test_a_class_without_a_docstring_is_described_by_its_own_attribute(read):
    """As settings of gunicorn and commands of Django have it; a docstring comes before it, and a word says nothing."""
    source = """
        class Reload:
            name = "reload"
            desc = '''\
                Restart workers when code changes.

                Only for development.
                '''

        class Told:
            "Its docstring."
            help = "What the command says of itself."

        class Short:
            help = "short"
        """
    found = read(textwrap.dedent(source)).definitions
    assert found["Reload"].doc.lead == "Restart workers when code changes."
    assert found["Told"].doc.lead == "Its docstring."
    assert found["Short"].doc is None


def test_annotated_documentation_is_read(read):
    """`Annotated[type, Doc("...")]` gives type, default and documentation, each with its line."""
    module = read('''\
        def send(
            timeout: Annotated[
                float,
                Doc(
                    """
                    Seconds to wait.
                    """
                ),
            ] = 5.0,
            *,
            safe: Annotated[bool, "other", typing_extensions.Doc("Whether it is safe.")],
        ):
            """Send it."""
        ''')
    timeout, safe = module.definitions["send"].parameters
    assert (timeout.annotation, timeout.default, timeout.tail) == ("float", "5.0", (9, "5.0"))
    assert (timeout.doc.lead, timeout.doc_line) == ("Seconds to wait.", 6)
    assert (safe.doc.lead, safe.doc_line, safe.required) == ("Whether it is safe.", 11, True)


def test_overloads_count_only_where_there_is_nothing_else(read):
    """An implementation replaces its overloads; a stub has the first of them."""
    overloads = "@overload\ndef f(a: int) -> int: ...\n@typing.overload\ndef f(a: str) -> str: ...\n"
    assert read(overloads).definitions["f"].returns == "int"
    assert read(overloads + "def f(a):\n    'Do it.'\n").definitions["f"].line == 5


def test_definitions_behind_conditions_are_found(read):
    """What `if`, `try` and `with` hold counts, and so do imports behind `TYPE_CHECKING`."""
    module = read("""\
        if TYPE_CHECKING:
            from . import types
            from .names import *
        try:
            import fast as slow
        except ImportError:
            def parse(): "Slowly."
        else:
            def quick(): "Quickly."
        finally:
            def last(): "At last."
        with lock:
            def held(): "Held."
        """, name="box.part")  # fmt: skip
    assert set(module.definitions) == {"parse", "quick", "last", "held"}
    assert module.imports == {"types": ("box", "types"), "slow": ("fast", None)}
    assert module.stars == ["box.names"]


@pytest.mark.parametrize(
    ("source", "exported"),
    [
        ("__all__ = ['a', 'b']", {"a", "b"}),
        ("__all__: list[str] = ['a']\n__all__ += ['b']", {"a", "b"}),
        ("__all__ = ('a',)\n__all__.extend(['b', 'c'])\n__all__.append('d')", {"a", "b", "c", "d"}),
        ("__all__ = [*others]\n__all__ = ['a'] + others", None),
        ("__all__ = ['a']\n__all__ += others.__all__", None),
        ("x = 1", None),
    ],
)
def test_what_a_module_exports_is_read_where_it_is_plain(read, source, exported):
    """`__all__` counts in all its plain forms; where a part of it is computed it is unknown."""
    assert read(source).exported == (None if exported is None else frozenset(exported))


def test_relative_imports_are_resolved(read):
    """Dots count from the package: for `__init__` that is the module itself."""
    assert read("from . import a\nfrom .b import c\nfrom .. import d", name="box.sub", file="sub/__init__.py").imports == {
        "a": ("box.sub", "a"), "c": ("box.sub.b", "c"), "d": ("box", "d"),
    }  # fmt: skip
    assert read("from . import a\nfrom .b import c", name="box.sub").imports == {
        "a": ("box", "a"), "c": ("box.b", "c"),
    }  # fmt: skip


@pytest.mark.req("R18")
def test_lines_of_a_docstring_are_those_of_the_file(read):
    """Escaped and joined line breaks move no line, and escapes stay as they are written."""
    module = read(r'''
        def f():
            """\
            Split at "\n" and at \\ or \"x\" \
            and go on.

            The last.
            """

        def g():
            ("One, "
             "and\n"
             "two.")

        def h():
            r"""Raw \n and \
            on."""
        ''')
    first, raw = module.definitions["f"], module.definitions["h"]
    assert list(enumerate(first.doc.lines, first.doc_line)) == [
        (4, r'Split at "\n" and at \ or "x" '.rstrip()), (5, "and go on."), (6, ""), (7, "The last."),
    ]  # fmt: skip
    joined = module.definitions["g"]
    assert [line.strip() for line in joined.doc.lines] == ["One,", r"and\n", "two."]
    assert joined.doc_line == 11
    assert raw.doc.lines == (r"Raw \n and \ ".strip(), "on.")


UNREADABLE = {
    "python 2": b"print 'x'\n",
    "nul bytes": b"x = 1\0\n",
    "binary": bytes(range(256)) * 10,
    "not utf-8 and no cookie": b"x = '\xff'\n",
    "an unknown coding": b"# coding: klingon\nx = '\xff'\n",
    "a coding that is none of text": b"# coding: rot13\nx = '\xff'\n",
    "nested brackets": b"x = " + b"(" * 500 + b")" * 500,
    "signs without end": b"x = " + b"-" * 100_000 + b"1\n",
    "a name of 3,000 parts": b"@" + b".".join([b"a"] * 3000) + b"\ndef f(): pass\n",
}


@pytest.mark.req("R9")
@pytest.mark.parametrize("case", UNREADABLE)
def test_a_file_that_cannot_be_read_says_so(read, case):
    """A file that is no Python, or too deep for it, is one clear exception that names the file, never another."""
    with pytest.raises(Unreadable, match=r"^box\.py: does not parse \("):
        read(UNREADABLE[case])


@pytest.mark.req("R9")
def test_a_huge_file_is_not_read(tmp_path):
    """30 MB in one file are generated data: skipped at once, with its size told."""
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(30_000_000)
    with pytest.raises(Unreadable, match=r"^big\.py: 30 MB in one file, not read$"):
        read_module(tmp_path / "big.py", "big", "big.py")


def test_a_file_that_is_gone_is_unreadable(tmp_path):
    with pytest.raises(Unreadable):
        read_module(tmp_path / "gone.py", "gone", "gone.py")


def test_latin_1_is_read_by_its_cookie(read):
    """An old file names its encoding in its first lines."""
    module = read("# -*- coding: latin-1 -*-\ndef f(a='é', b=2):\n    'Größe.'\n".encode("latin-1"))
    assert module.definitions["f"].doc.lead == "Größe."
    assert module.definitions["f"].parameters[1].source == "b=2"


def test_a_byte_order_mark_moves_nothing(read):
    assert read("\ufeffdef f(): 'Do it.'\n").definitions["f"].signature == "def f(): 'Do it.'"


def test_a_long_chain_of_branches_is_read(read):
    """2,000 `elif` of a generated file do not exhaust the stack."""
    source = "if x == 0:\n    pass\n" + "".join(
        f"elif x == {n}:\n    def f{n}(): ...\n" for n in range(1, 2000)
    )
    assert len(read(source).definitions) == 1999


def test_a_long_value_is_cut_at_a_line(read):
    """A documented table keeps its first lines; one without a word about it is left out."""
    table = "TABLE = [\n" + "    'an entry of the table',\n" * 100 + "]\n"
    assert read(table).definitions == {}
    assert 400 < len(read(f"{table}'''The table.'''\n").definitions["TABLE"].signature) <= 600


def test_deprecation_is_noticed(read):
    """A decorator or the first lines say that a thing is deprecated; a note about a version does not."""
    module = read("""\
        @deprecated("use other")
        def a(): ...
        def b():
            '''Deprecated: use other.'''
        def c():
            '''Do it.

            The option x is deprecated since version 2.
            '''
        """)
    said = [one.deprecated and one.deprecated.said for one in module.definitions.values()]
    assert said == ["use other", "Deprecated: use other.", None]
